"""Check the entries for what the schema cannot see; every complaint names file and line.

A check is a function from a signature and the whole database to complaints in words. `CHECKS` is the list of all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from logdoctor.database import lint_patterns, lint_remedies
from logdoctor.database.draft import TODO
from logdoctor.database.explain import readable
from logdoctor.database.fact_keys import is_fact_key, nearest
from logdoctor.database.issues import Issue
from logdoctor.database.loading import Layer, read_directory, read_shipped
from logdoctor.database.schema import Conditions, Example, MatchItem, Signature, signature_from_dict
from logdoctor.model import Basis, Severity

TITLE_LIMIT = 100
CAUSE_LIMIT = 600
SUMMARY_LIMIT = 200
TEXT_LIMIT = 400
"""Characters of `verify`, `wrong_when` and of what a remedy types."""
OWN_WORDS = 5
"""Words a cause needs beside those of the title and of the message."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]*)(?:\|([^{}]*))?\}")
_ALMOST_PLACEHOLDER = re.compile(r"\{(?!\.)[^{}\"':\n]*\}")  # `{{.State}}` belongs to docker
_WORD = re.compile(r"[a-z]{3,}")
_MARKDOWN = re.compile(r"`|\*\*|\]\(http")
_LOG_PREFIX = re.compile(r"\bpid=|\b(?:INFO|WARNING|ERROR) \\?\d")
_SOURCE_LINE = re.compile(r"\.py\\?:(?:\d|\\d|\[0-9\])")


@dataclass(frozen=True, slots=True)
class Scope:
    """What a check may look at besides the signature itself."""

    signatures: tuple[Signature, ...]
    by_id: Mapping[str, Signature]


Check = Callable[[Signature, Scope], Iterable[str]]


def lint_shipped() -> list[Issue]:
    """Check the shipped files: the schema, and every check over what is sound."""
    return lint_layer(read_shipped())


def lint_directory(directory: Path) -> list[Issue]:
    """Check a user's directory; ids of shipped entries may be named in it."""
    return lint_layer(read_directory(directory), read_shipped(strict=False))


def lint_layer(layer: Layer, below: Layer | None = None) -> list[Issue]:
    """Check one directory laid over another one."""
    own = [signature_from_dict(entry) for entry in layer.entries if not entry.get("disabled")]
    others = [signature_from_dict(entry) for entry in below.entries] if below else []
    return sorted({*layer.issues, *lint_signatures(own, others)})


def lint_signatures(signatures: Iterable[Signature], others: Iterable[Signature] = ()) -> list[Issue]:
    """Run every check over the signatures; `others` are known but not checked."""
    signatures = tuple(signatures)
    by_id = {signature.id: signature for signature in (*others, *signatures)}
    scope = Scope(tuple(by_id.values()), by_id)
    return sorted(
        Issue(signature.file, signature.line, f"{signature.id}: {what}", rule)
        for signature in signatures
        for rule, check in CHECKS.items()
        for what in check(signature, scope)
    )


# --- ids and texts of other entries ---------------------------------------------------------------------------------


def unknown_ids(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about ids that no entry has, and about an entry that names itself."""
    named = (
        ("consequence_of", signature.consequence_of),
        ("suppresses", signature.suppresses),
        ("undecided_with", signature.undecided_with),
    )
    for key, ids in named:
        for name in ids:
            if name not in scope.by_id:
                yield f"{key} names {name}, which does not exist"
            elif name == signature.id:
                yield f"{key} names the entry itself"
            elif len(set(ids)) < len(ids) and ids.count(name) > 1:
                yield f"{key} names {name} twice"


def circles(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about two entries that explain, or drop, each other."""
    for key in ("consequence_of", "suppresses"):
        for name in getattr(signature, key):
            other = scope.by_id.get(name)
            if other and other.id != signature.id and signature.id in getattr(other, key):
                yield f"{key} goes in a circle with {name}"


def rivals(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about two causes between which the log does not decide and that cannot both be shown."""
    for name in signature.undecided_with:
        other = scope.by_id.get(name)
        if other is None:
            continue
        if not other.decided_when:
            yield f"undecided_with names {name}, which does not say decided_when"
        explained = name in signature.consequence_of or signature.id in other.consequence_of
        if explained or name in signature.suppresses or signature.id in other.suppresses:
            yield f"undecided_with names {name}, and one of the two explains or drops the other"


def same_text(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about a text that another entry looks for under the same conditions, unless one declares the other."""
    own = _alternatives(signature)
    if signature.match and len(set(signature.match.any)) < len(signature.match.any):
        yield "looks for the same text twice"
    for other in scope.signatures:
        if other.id == signature.id or _related(signature, other) or _conditions(signature) != _conditions(other):
            continue
        for item in own & _alternatives(other):
            yield f"looks for the same text as {other.id} ({other.place}): {item.text!r}"


def _alternatives(signature: Signature) -> set[MatchItem]:
    """Return the items of which one alone makes the entry match."""
    block = signature.match
    if block is None or block.all or block.sequence:
        return set()
    return set(block.any)


def _related(one: Signature, other: Signature) -> bool:
    declared = (
        (other.id, one.consequence_of + one.suppresses + one.undecided_with),
        (one.id, other.consequence_of + other.suppresses + other.undecided_with),
    )
    return any(name in ids for name, ids in declared)


def _conditions(signature: Signature) -> tuple[object, ...]:
    none = signature.match.none if signature.match else ()
    return signature.vllm, dict(signature.when), dict(signature.when_known), none


# --- texts ----------------------------------------------------------------------------------------------------------


def placeholders(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about names in braces that nothing can fill."""
    items = signature.match.positive if signature.match else ()
    captures = lint_patterns.captures(items)
    certain = lint_patterns.certain_captures(signature.match)
    for text in signature.texts():
        for found in _PLACEHOLDER.finditer(text):
            name, fallback = found[1], found[2]
            if name not in captures and not is_fact_key(name):
                yield f"{{{name}}} is neither a capture nor a fact{_meant(name)}"
            elif name in captures and name not in certain and fallback is None and not is_fact_key(name):
                yield f"{{{name}}} is not set by every alternative; write {{{name}|what to say without it}}"
        for almost in _ALMOST_PLACEHOLDER.findall(_PLACEHOLDER.sub("", text)):
            yield f"{almost} looks like a placeholder but is none"


def fact_names(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about conditions on facts that no boot can have."""
    conditions: list[tuple[str, Conditions]] = [("when", signature.when), ("when_known", signature.when_known)]
    for remedy in signature.remedies:
        conditions += [("a remedy's when", remedy.when), ("a remedy's not_when", remedy.not_when)]
    for place, keys in conditions:
        for key in keys:
            if not is_fact_key(key):
                yield f"{place}: {key} is not a fact{_meant(key)}"
            elif key.startswith("args.") and not lint_remedies.is_argument(key[len("args.") :]):
                yield f"{place}: {key}: no vLLM release has such an argument"
    for example in (*signature.examples.match, *signature.examples.no_match):
        yield from (f"examples: {key} is not a fact{_meant(key)}" for key in example.facts if not is_fact_key(key))


def _meant(key: str) -> str:
    near = nearest(key)
    return f"; did you mean {near}?" if near else ""


def lengths(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about texts that a report cannot show in full; placeholders count as their name or fallback."""
    limits = [("title", signature.title, TITLE_LIMIT), ("cause", signature.cause, CAUSE_LIMIT)]
    limits += [("verify", signature.verify, TEXT_LIMIT), ("wrong_when", signature.wrong_when, TEXT_LIMIT)]
    limits += [("decide", signature.decide, SUMMARY_LIMIT), ("decided_when", signature.decided_when, SUMMARY_LIMIT)]
    for remedy in signature.remedies:
        limits += [("a remedy's summary", remedy.summary, SUMMARY_LIMIT), (remedy.kind, remedy.value, TEXT_LIMIT)]
    for name, text, limit in limits:
        if len(readable(text)) > limit:
            yield f"{name} has {len(readable(text))} characters, {limit} are allowed"


def plain_text(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about Markdown: the tool escapes it, and the reader would see the marks."""
    for text in signature.texts():
        found = _MARKDOWN.search(text)
        if found:
            yield f"write plain text, no Markdown: {text[max(0, found.start() - 10) : found.end() + 20]!r}"


def cause_says_more(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about a cause that only repeats the title or the message."""
    items = signature.match.positive if signature.match else ()
    said = set(_WORD.findall(" ".join([signature.title, *(item.text for item in items)]).lower()))
    if len(set(_WORD.findall(signature.cause.lower())) - said) < OWN_WORDS:
        yield "the cause only repeats the title or the message; say why it happens"


# --- proof ----------------------------------------------------------------------------------------------------------


def examples(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about missing examples, and about one that stands on both sides."""
    proof = signature.examples
    for name, listed in (("match", proof.match), ("no_match", proof.no_match)):
        if not listed:
            yield f"needs at least one example under {name}"
    for example in proof.match:
        if example in proof.no_match:
            yield f"the example {_short(example)} stands under match and no_match"


def _short(example: Example) -> str:
    text = " ".join(example.log.split())
    return repr(text if len(text) <= 60 else text[:59] + "…")


def sources(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about a claim without a place where a person can check it."""
    if not signature.references and signature.basis is not Basis.FIELD_REPORT:
        yield f"basis {signature.basis.value} needs a reference"


def a_way_out(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about a failure that leaves the reader alone."""
    serious = signature.severity in (Severity.FATAL, Severity.ERROR) and signature.kind in ("cause", "echo")
    if serious and not signature.remedies:
        yield f"a cause of severity {signature.severity.value} needs a remedy"


# --- patterns -------------------------------------------------------------------------------------------------------


def pattern_shape(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about patterns that are too vague, too costly, or look at what is not part of the message."""
    for item in lint_patterns.all_items(signature.match):
        yield from lint_patterns.complaints(item)
        if _SOURCE_LINE.search(item.text):
            yield f"never match file:line numbers, they change with every release: {item.text!r}"
        if _LOG_PREFIX.search(item.text):
            yield f"the prefix of a line (process, level, time) is not part of the message: {item.text!r}"


def remedy_versions(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about remedies that name what a version of their range does not have."""
    return lint_remedies.complaints(signature)


def unfinished(signature: Signature, scope: Scope) -> Iterator[str]:
    """Complain about what a draft left open."""
    logs = (example.log for example in (*signature.examples.match, *signature.examples.no_match))
    items = (item.text for item in lint_patterns.all_items(signature.match))
    texts = (*signature.texts(), *signature.references, *logs, *items)
    yield from (f"is not finished: {text[:60]!r}" for text in texts if text.startswith(TODO))


CHECKS: Mapping[str, Check] = {
    "unfinished": unfinished,
    "unknown-id": unknown_ids,
    "circle": circles,
    "undecided": rivals,
    "duplicate-pattern": same_text,
    "placeholder": placeholders,
    "unknown-fact": fact_names,
    "length": lengths,
    "markdown": plain_text,
    "cause": cause_says_more,
    "examples": examples,
    "references": sources,
    "no-remedy": a_way_out,
    "pattern": pattern_shape,
    "remedy-version": remedy_versions,
}
