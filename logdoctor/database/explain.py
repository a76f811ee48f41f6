"""Explain a signature under fixed headings, from its own text: for the terminal, as Markdown, and as JSON."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from logdoctor.database import explain_words
from logdoctor.database.loading import Database
from logdoctor.database.schema import Conditions, Kind, RemedySpec, Signature
from logdoctor.model import Basis, Confidence

HEADINGS = ("What you see", "Why", "Fix", "Check that it worked", "When this is wrong", "References")
MAX_EXAMPLES = 2
MAX_EXAMPLE_LINES = 12
WIDTH = 80

_SLUG_PART = re.compile(r"[a-z0-9-]+")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_GITHUB_ISSUE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")

_KIND_WORDS = {
    "flag": "add",
    "env": "set",
    "remove": "remove",
    "image": "image",
    "host": "on the host",
    "config": "configuration",
}


@dataclass(frozen=True, slots=True)
class Fix:
    """One remedy in words: what it is, what to type, and when it holds."""

    summary: str
    kind: str
    command: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainPage:
    """Everything that is said about a signature, ready to be printed."""

    id: str
    title: str
    severity: str
    phase: str
    confidence: str
    basis: str
    vllm: str
    seen: tuple[str, ...]
    """Pieces of log, each of one or more lines."""
    conditions: tuple[str, ...]
    why: tuple[str, ...]
    """Paragraphs."""
    fixes: tuple[Fix, ...]
    check: str
    wrong: tuple[str, ...]
    references: tuple[str, ...]
    lang: str = "en"

    def say(self, text: str) -> str:
        """Return one of the fixed texts in the language of the page."""
        if self.lang != "zh":
            return text
        from logdoctor.database.explain_zh import chinese

        return chinese(text)

    @property
    def about(self) -> tuple[str, ...]:
        """Severity, phase, confidence, basis and versions, each in a few words."""
        versions = f"vLLM {spaced(self.vllm)}" if self.vllm else "any version of vLLM"
        told = (self.severity, f"phase {self.phase}", self.confidence, f"basis: {self.basis}", versions)
        return tuple(map(self.say, told))


def find(database: Database, query: str, match_line: Callable[[str], Iterable[str]] | None = None) -> list[Signature]:
    """Return the signatures meant by an id, the beginning of one, or a pasted piece of log.

    `match_line` returns the ids that match a piece of log; it is asked when the query is no beginning of an id.
    An empty list means that nothing fits; several, that the beginning is not unique or the text matches several.
    """
    query = query.strip()
    if query in database.by_id:
        return [database.by_id[query]]
    if _SLUG_PART.fullmatch(query):
        found = [signature for signature in database.signatures if signature.id.startswith(query)]
        if found:
            return found
    if "…" in query or "..." in query:
        shortened = [signature for signature in database.signatures if _shows(signature, query)]
        if shortened:
            return shortened
    if match_line is None or not query:
        return []
    return [database.by_id[name] for name in dict.fromkeys(match_line(query)) if name in database.by_id]


def _shows(signature: Signature, query: str) -> bool:
    """Whether an example of the signature holds a line that the query gives in part, with dots for the rest."""
    pieces = [piece.strip() for piece in re.split(r"…|\.{3,}", " ".join(query.split())) if piece.strip()]
    if not pieces or max(map(len, pieces)) < 12:
        return False
    pattern = re.compile(".*?".join(map(re.escape, pieces)))
    lines = (" ".join(line.split()) for example in signature.examples.match for line in example.log.split("\n"))
    return any(pattern.search(line) for line in lines)


def explain(signature: Signature, lang: str = "en") -> ExplainPage:
    """Put the text of a signature under the headings; `lang` is the language that its text is in."""
    page = _english(signature)
    if lang == "en":
        return page
    said = replace(page, lang=lang)
    return replace(
        said,
        conditions=tuple(map(said.say, page.conditions)),
        why=tuple(map(said.say, page.why)),
        wrong=tuple(map(said.say, page.wrong)),
        check=said.say(page.check),
        fixes=tuple(replace(fix, conditions=tuple(map(said.say, fix.conditions))) for fix in page.fixes),
    )


def _english(signature: Signature) -> ExplainPage:
    logs = [example.log for example in signature.examples.match if example.log]
    return ExplainPage(
        id=signature.id,
        title=readable(signature.title),
        severity=signature.severity.value,
        phase=signature.phase.value,
        confidence=signature.confidence.value,
        basis=signature.basis.value,
        vllm=signature.vllm,
        seen=tuple(map(_excerpt, logs[:MAX_EXAMPLES])),
        conditions=(*in_words(signature.when), *in_words(signature.when_known)),
        why=_why(signature),
        fixes=tuple(map(_fix, signature.remedies)),
        check=readable(signature.verify) or "The line does not come back on the next start.",
        wrong=_wrong(signature),
        references=signature.references,
    )


def _excerpt(log: str) -> str:
    lines = log.strip("\n").split("\n")
    if len(lines) > MAX_EXAMPLE_LINES:
        lines = [*lines[: MAX_EXAMPLE_LINES - 4], "…", *lines[-3:]]
    return "\n".join(printable(line) for line in lines)


def _why(signature: Signature) -> tuple[str, ...]:
    paragraphs = [readable(signature.cause)]
    if signature.harmless:
        paragraphs.append("Harmless: it is never the reason why a server does not start.")
    if signature.kind is Kind.CASCADE:
        paragraphs.append("It follows from another failure; look for the cause above it.")
    if signature.consequence_of:
        paragraphs.append(f"Explained away by: {', '.join(signature.consequence_of)}.")
    if signature.suppresses:
        paragraphs.append(f"More specific than: {', '.join(signature.suppresses)}.")
    return tuple(paragraphs)


def _wrong(signature: Signature) -> tuple[str, ...]:
    paragraphs = [readable(signature.wrong_when)] if signature.wrong_when else []
    if signature.undecided_with:
        others = ", ".join(signature.undecided_with)
        paragraphs.append(
            f"The same log fits {others}. {readable(signature.decide, command=True)} decides; it is this one if "
            f"{readable(signature.decided_when)}."
        )
    if signature.when:
        paragraphs.append("The log may not state the facts it depends on; the report then says which.")
    if signature.basis is Basis.FIELD_REPORT:
        paragraphs.append("The claim rests on field reports, not on vLLM's source or its maintainers.")
    if not paragraphs and signature.confidence is Confidence.CERTAIN:
        paragraphs.append("No case is known.")
    return tuple(paragraphs) or ("It is the most frequent cause of this text, not the only possible one.",)


def _fix(remedy: RemedySpec) -> Fix:
    conditions = [f"vLLM {spaced(remedy.vllm)}"] if remedy.vllm else []
    conditions += [f"if {words}" for words in in_words(remedy.when)]
    conditions += [f"not if {words}" for words in in_words(remedy.not_when)]
    if remedy.conflicts_with:
        conditions.append(f"not together with {', '.join(remedy.conflicts_with)}")
    return Fix(readable(remedy.summary), remedy.kind, readable(remedy.value, command=True), tuple(conditions))


# --- words ----------------------------------------------------------------------------------------------------------


def readable(text: str, *, command: bool = False) -> str:
    """Show a template without a boot: what a log would fill in is named in words."""
    return printable(explain_words.readable(text, command=command))


def printable(text: str) -> str:
    """Replace what would move the cursor or turn the text around; line ends stay."""
    return _CONTROL.sub("�", text.replace("\t", "    "))


def spaced(versions: str) -> str:
    """Write a version range for people: `>=0.17, <0.20`."""
    return ", ".join(part.strip() for part in versions.split(","))


def in_words(conditions: Conditions) -> tuple[str, ...]:
    """Say every condition in words."""
    return tuple(dict.fromkeys(explain_words.condition(key, wanted) for key, wanted in conditions.items()))


# --- forms ----------------------------------------------------------------------------------------------------------


def to_text(page: ExplainPage) -> str:
    """Return the page as plain text, 80 columns; log lines and commands are never broken."""
    out = [page.id, *_wrapped(page.title, ""), *_wrapped(" · ".join(page.about), ""), ""]
    see, why, fix, check, wrong, references = map(page.say, HEADINGS)
    out += [see, *(f"  {line}" for text in page.seen for line in text.split("\n"))]
    out += _bullets([page.say(f"if {condition}") for condition in page.conditions])
    out += ["", why, *_paragraphs(page.why), "", fix]
    for number, one in enumerate(page.fixes, 1):
        out += _wrapped(f"{number}. {one.summary}", "  ", "     ")
        if one.command:
            out.append(f"     {page.say(_KIND_WORDS[one.kind])}: {one.command}")
        if one.conditions:
            out += _wrapped(f"({'; '.join(one.conditions)})", "     ")
    if not page.fixes:
        out.append(f"  {page.say('Nothing to change.')}")
    out += ["", check, *_paragraphs((page.check,)), "", wrong, *_paragraphs(page.wrong), "", references]
    out += [f"  {printable(text)}" for text in page.references] or [f"  {page.say('Field reports only.')}"]
    return "\n".join(out) + "\n"


def _paragraphs(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in _wrapped(text, "  ")]


def _bullets(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in _wrapped(f"- {text}", "  ", "    ")]


def _wrapped(text: str, first: str, following: str | None = None) -> list[str]:
    following = first if following is None else following
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


def to_markdown(page: ExplainPage) -> str:
    """Return the page as Markdown."""
    see, why, fix, check, wrong, references = map(page.say, HEADINGS)
    out = [f"# {page.id}", "", f"**{escaped(page.title)}**", "", escaped(" · ".join(page.about)), ""]
    out += [f"## {see}", ""]
    for text in page.seen:
        out += [fenced(text), ""]
    if page.conditions:
        out += [*(f"- {escaped(page.say(f'if {condition}'))}" for condition in page.conditions), ""]
    out += [f"## {why}", "", *(line for text in page.why for line in (escaped(text), "")), f"## {fix}", ""]
    for number, one in enumerate(page.fixes, 1):
        held = f" ({escaped('; '.join(one.conditions))})" if one.conditions else ""
        out += [f"{number}. {escaped(one.summary)}{held}", ""]
        if one.command:
            out += [textwrap.indent(f"{page.say(_KIND_WORDS[one.kind])}:\n\n{fenced(one.command)}", "   "), ""]
    if not page.fixes:
        out += [page.say("Nothing to change."), ""]
    out += [f"## {check}", "", escaped(page.check), "", f"## {wrong}", ""]
    out += [line for text in page.wrong for line in (escaped(text), "")]
    out += [f"## {references}", "", *(f"- {_link(text)}" for text in page.references)]
    out += [] if page.references else [page.say("Field reports only.")]
    return "\n".join(out) + "\n"


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    text = re.sub(r"[\\`*<\[\]|~&]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)
    return re.sub(r"^(\s*\d*)(?:(?<!\d)([#+>-])|(?<=\d)([.)]))", r"\1\\\2\3", text)


def fenced(text: str) -> str:
    """Return text in a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _link(reference: str) -> str:
    reference = printable(reference)
    issue = _GITHUB_ISSUE.fullmatch(reference)
    if issue:
        return f"[{reference}](https://github.com/{issue[1]}/issues/{issue[2]})"
    if re.fullmatch(r"https?://[^\s<>]+", reference):
        return f"<{reference}>"
    return f"`{reference}`" if re.fullmatch(r"[\w./-]+", reference) else escaped(reference)


def to_dict(page: ExplainPage) -> dict[str, Any]:
    """Return the page for `--format json`."""
    return {
        "id": page.id,
        "title": page.title,
        "severity": page.severity,
        "phase": page.phase,
        "confidence": page.confidence,
        "basis": page.basis,
        "vllm": page.vllm,
        "what_you_see": {"examples": list(page.seen), "conditions": list(page.conditions)},
        "why": list(page.why),
        "fix": [
            {"summary": one.summary, "kind": one.kind, "command": one.command, "conditions": list(one.conditions)}
            for one in page.fixes
        ],
        "check_that_it_worked": page.check,
        "when_this_is_wrong": list(page.wrong),
        "references": list(page.references),
    }
