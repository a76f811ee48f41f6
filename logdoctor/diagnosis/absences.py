"""Findings that come from the version knowledge alone: a variable, flag, value or parser that this version lacks.

No entry is written for any name; the tables of `logdoctor.knowledge` say whether a version has it, which one
dropped or will bring it, and what replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from logdoctor.diagnosis import fingerprints, refused
from logdoctor.diagnosis.templates import shell_word
from logdoctor.knowledge.absence import Absence, Presence, describe_absence, describe_value
from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.knowledge.tables import Kind
from logdoctor.model import Basis, Confidence, Evidence, Fact, Facts, Finding, Remedy, Role, Severity
from logdoctor.wording import joined, own

MAX_NAMES = 60
"""Missing names of a boot that are told; nobody reads more of them."""
MAX_ASKED = 200
"""Names in one log that are looked up; looking for the one that was meant takes time."""
REFERENCES = ("https://docs.vllm.ai/en/latest/configuration/",)
_PARSERS = (
    ("args.reasoning_parser", Kind.REASONING_PARSER, "args.reasoning_parser_plugin"),
    ("args.tool_call_parser", Kind.TOOL_PARSER, "args.tool_parser_plugin"),
)
_OWNERS = {Kind.REASONING_PARSER: "--reasoning-parser", Kind.TOOL_PARSER: "--tool-call-parser"}
_WITH_VALUE = ("unknown-value", "unknown-parser")
MAX_TITLE = 8
"""Flags that a title and a cause name; the rest is in the remedies."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A name that the log states and this version lacks."""

    id: str
    severity: Severity
    shown: str
    absence: Absence
    fact: Fact
    phase: str
    value: Fact | None = None
    """Of a variable: what states its value."""


Asked = dict[tuple[str, str, str], "Absence | None"]
"""What the tables said about names: kind or owner, name, version."""


class _Tables:
    """The version knowledge as one boot asks it. What was asked before costs nothing, and new questions have an end."""

    def __init__(self, version: Version | None, asked: Asked) -> None:
        self.version = version
        self._asked = asked

    def name(self, kind: Kind, name: str) -> Absence | None:
        """Describe a name; None too when too many were asked about."""
        return self._ask(kind.value, name, lambda: describe_absence(kind, name, self.version))

    def value(self, owner: str, value: str) -> Absence | None:
        """Describe the value of a flag or variable."""
        return self._ask(owner, value, lambda: describe_value(owner, value, self.version))

    def _ask(self, owner: str, name: str, answer: Callable[[], Absence | None]) -> Absence | None:
        key = owner, name, str(self.version or "")
        if key not in self._asked:
            if len(self._asked) >= MAX_ASKED:
                return None
            self._asked[key] = answer()
        return self._asked[key]


def absences(
    facts: Facts,
    findings: Sequence[Finding],
    general: Collection[str],
    asked: Asked | None = None,
    typed: refused.Typed | None = None,
    lines: Mapping[int, str] | None = None,
) -> list[Finding]:
    """Return the findings of a boot with those about missing names added.

    A specific signature that names the thing tells more, and stays alone. One of the `general` ids (argparse's own
    words) gives its place to the finding that names the thing. `asked` remembers answers from boot to boot; `typed` are
    the values behind the flags of a launch, which a log's own lines tell; `lines` are the texts of a log's lines that
    state facts.
    """
    fact = facts.get("vllm.version")
    tables = _Tables(parse_version(str(fact.value)) if fact else None, {} if asked is None else asked)
    found = _with_flags(facts, findings, general, tables, typed or {})
    told = {finding.id: _told(finding) for finding in found if finding.id not in general}
    named = chain(_variables(facts, tables, lines or {}), _values(facts, tables), _parsers(facts, tables))
    for one in islice(named, MAX_NAMES):
        name = one.shown.casefold()
        if one.id == "unknown-parser":
            # What warns of a parser takes it for one that exists.
            found = [f for f in found if f.severity.rank >= Severity.ERROR.rank or name not in told.pop(f.id, "")]
        if any(name in text for text in told.values()):
            found = [_with_nearest(finding, one) for finding in found]
        else:
            finding = _finding(one, refused.texts_on(found, one.fact.line), (lines or {}).get(one.fact.line, ""))
            told[finding.title] = _told(finding)
            found = _add(found, finding, one, general)
    return found


def _with_flags(
    facts: Facts, findings: Sequence[Finding], general: Collection[str], tables: _Tables, typed: refused.Typed
) -> list[Finding]:
    """Add what is to be said about flags: of a log all in one finding, for they are refused, and mended, together."""
    specific = [finding for finding in findings if finding.id not in general]
    flags = [
        one
        for one in islice(_flags(facts, tables), MAX_NAMES)
        if not any(refused.names_flag(finding, one.shown) for finding in specific)
    ]
    found = [*findings]
    if flags and flags[0].fact.origin == "log":
        texts = refused.texts_on(findings, flags[0].fact.line)
        return _add(found, _finding_of_flags(flags, refused.typed_values(texts), texts), flags[0], general)
    for one in flags:
        found = _add(found, _finding_of_flags([one], typed), one, general)
    return found


def _told(finding: Finding) -> str:
    """Return what a finding shows, as one text to look for names in."""
    return "\n".join((finding.title, *(evidence.text for evidence in finding.evidence))).casefold()


def _add(findings: list[Finding], finding: Finding, named: _Named, general: Collection[str]) -> list[Finding]:
    roots = (f for f in findings if f.role is Role.ROOT_CAUSE and f.id in general)
    replaced = next((f for f in roots if _on_line(f, named.fact.line)), None)
    if replaced is None or named.severity.rank < Severity.ERROR.rank:
        role = Role.NOTICE if named.severity is Severity.INFO else Role.CONTRIBUTING
        return [*findings, replace(finding, role=role)]
    merged = replace(
        finding,
        role=Role.ROOT_CAUSE,
        # argparse's list of valid values is worth keeping; that it knows no such flag is said already.
        cause=joined(finding.cause, own(" "), replaced.cause) if named.id == "unknown-value" else finding.cause,
        evidence=replaced.evidence or finding.evidence,
        remedies=_merged(finding.remedies, replaced.remedies, keep_all=named.id == "unknown-value"),
        verify=replaced.verify,
    )
    return [merged if f is replaced else f for f in findings]


def _merged(own: Sequence[Remedy], general: Sequence[Remedy], *, keep_all: bool) -> tuple[Remedy, ...]:
    """What the version knowledge advises, then argparse's general advice; the same command once, with its words."""
    kept = [remedy for remedy in general if keep_all or remedy.kind == "advice"]
    said = {(remedy.kind, remedy.command) for remedy in kept if remedy.command}
    mine = [remedy for remedy in own if (remedy.kind, remedy.command) not in said]
    # What can be typed comes before what can only be considered.
    return (*(r for r in mine if r.kind != "advice"), *kept, *(r for r in mine if r.kind == "advice"))


def _on_line(finding: Finding, line: int) -> bool:
    return any(evidence.line == line for evidence in finding.evidence)


def _variables(facts: Facts, tables: _Tables, lines: Mapping[int, str]) -> Iterator[_Named]:
    unknown = facts.get("env.unknown")
    told = unknown.value if unknown and isinstance(unknown.value, tuple) else ()
    for name in told:
        absence = tables.name(Kind.ENV, name)
        if absence is not None and unknown is not None:
            yield _variable(name, absence, _on_its_line(unknown, name, lines), facts.get(f"env.{name}"))
    for key, fact in facts.items():
        name = key[4:]
        if not key.startswith("env.VLLM_") or name in told:
            continue
        absence = tables.name(Kind.ENV, name)
        if absence is not None and absence.is_absent:
            yield _variable(name, absence, fact, fact)


def _on_its_line(fact: Fact, name: str, lines: Mapping[int, str]) -> Fact:
    """Return the fact with the line that names this one of several; vLLM writes a line for each."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found = (line for line, text in sorted(lines.items()) if line >= fact.line and word.search(text))
    return replace(fact, line=next(found, fact.line))


def _variable(name: str, absence: Absence, fact: Fact, value: Fact | None) -> _Named:
    # A note tells of a name that is not meant for vLLM at all, such as what Kubernetes sets for a service.
    severity = Severity.INFO if absence.note else Severity.WARNING
    return _Named("unknown-variable", severity, name, absence, fact, "config", value)


def _flags(facts: Facts, tables: _Tables) -> Iterator[_Named]:
    fact = facts.get("cli.unrecognized")
    words = fact.value if fact and isinstance(fact.value, tuple) else ()
    for word in dict.fromkeys(word.partition("=")[0] for word in words):
        if fact is None or not refused.is_option(word):
            continue
        absence = tables.name(Kind.FLAG, word)
        if absence is not None and absence.presence is Presence.EXISTS and absence.nearest and fact.origin == "log":
            # An abbreviation that was refused is none in this version.
            absence = absence._replace(presence=Presence.NEVER, note="")
        if absence is not None and absence.presence is not Presence.EXISTS:
            yield _Named("unknown-flag", Severity.FATAL, word, absence, fact, "command-line")


def _values(facts: Facts, tables: _Tables) -> Iterator[_Named]:
    flag, value = facts.get("cli.invalid_flag"), facts.get("cli.invalid_value")
    if flag is None or value is None:
        return
    absence = tables.value(str(flag.value), str(value.value))
    if value.origin == "log" and (absence is None or absence.presence is Presence.EXISTS):
        # Refused all the same: the tables have no list, or are of another build. The message has its own.
        absence = refused.unlisted(str(flag.value), str(value.value), tables.version)
    if absence is not None and absence.presence is not Presence.EXISTS:
        yield _Named("unknown-value", Severity.FATAL, str(value.value), absence, value, "command-line")


def _parsers(facts: Facts, tables: _Tables) -> Iterator[_Named]:
    for key, kind, plugin in _PARSERS:
        fact = facts.get(key)
        if fact is None or not isinstance(fact.value, str) or plugin in facts:
            continue
        absence = tables.name(kind, fact.value)
        if absence is not None and absence.is_absent:
            yield _Named("unknown-parser", Severity.ERROR, fact.value, absence, fact, "command-line")


def _finding(named: _Named, texts: Sequence[str] = (), line: str = "") -> Finding:
    absence = named.absence
    version = f"vLLM {absence.version}" if absence.version else "This vLLM"
    what = {
        "unknown-variable": f"{version} does not know the variable {named.shown}, so it has no effect",
        "unknown-value": f"{version} does not take {named.shown} for {absence.owner}",
        "unknown-parser": f"{version} has no parser named {named.shown}",
    }[named.id]
    listed = refused.listed_values(texts) if named.id == "unknown-value" else ()
    near = _nearest(named, listed)
    cause = absence.sentence
    if named.id in _WITH_VALUE:
        cause = refused.value_sentence(_owner(absence), named.shown, absence, near, listed)
    return replace(
        _bare(named, what, cause),
        evidence=(_evidence(named, line or next(iter(texts), what)),) if named.fact.line else (),
        remedies=tuple(_remedies(named, near, listed)),
        fingerprint=fingerprints.fingerprint(named.id, absence.name),
    )


def _bare(named: _Named, title: str, cause: str) -> Finding:
    return Finding(
        id=named.id,
        title=title,
        severity=named.severity,
        role=Role.CONTRIBUTING,
        confidence=Confidence.CERTAIN if named.absence.is_absent else Confidence.LIKELY,
        basis=Basis.SOURCE,
        cause=cause,
        phase=named.phase,
        references=REFERENCES,
    )


def _evidence(named: _Named, text: str) -> Evidence:
    return Evidence(named.fact.line, named.fact.process, text if named.fact.origin == "log" else named.shown)


def _finding_of_flags(flags: Sequence[_Named], typed: refused.Typed, texts: Sequence[str] = ()) -> Finding:
    """Word one finding about all flags that were refused together."""
    absences = [one.absence for one in flags]
    version = absences[0].version
    names = [one.shown for one in flags]
    which = refused.listing(names[:MAX_TITLE]) + (" and more" if len(names) > MAX_TITLE else "")
    what = f"{f'vLLM {version}' if version else 'This vLLM'} has no flag{'s' if len(names) > 1 else ''} {which}"
    sentence = refused.flag_sentence if flags[0].fact.origin == "log" else (lambda absence: absence.sentence)
    corrections = [refused.correction(one.absence, one.shown, typed.get(one.shown, ""), version) for one in flags]
    return replace(
        _bare(flags[0], what, " ".join(sentence(absence) for absence in absences[:MAX_TITLE])),
        evidence=(_evidence(flags[0], texts[0] if texts else what),) if flags[0].fact.line else (),
        remedies=tuple(refused.flag_remedies(absences, corrections, "unknown-flag")),
        fingerprint=fingerprints.fingerprint("unknown-flag", *(absence.name for absence in absences)),
    )


# -- values and variables ---------------------------------------------------------------------------------------------


def _owner(absence: Absence) -> str:
    return absence.owner or _OWNERS.get(absence.kind, "")


def _nearest(named: _Named, listed: Sequence[str] = ()) -> refused.Nearest | None:
    if named.id not in _WITH_VALUE:
        return None
    return refused.nearest_value(_owner(named.absence), named.shown, listed, named.absence.version)


def _with_nearest(finding: Finding, named: _Named) -> Finding:
    """Let a specific finding about a refused value name the nearest one, if no remedy of it does."""
    if named.id not in _WITH_VALUE or named.shown.casefold() not in _told(finding):
        return finding
    texts = [item.text for item in finding.evidence if named.shown in item.text]
    listed = refused.listed_values(texts)
    near = _nearest(named, listed)
    remedy = refused.value_remedy(_owner(named.absence), named.shown, named.absence, near, finding.id, listed)
    if remedy is None or any(remedy.command == one.command and not one.condition for one in finding.remedies):
        return finding
    others = tuple(one for one in finding.remedies if one.command != remedy.command)
    # What only may be meant comes after what the entry knows.
    return replace(finding, remedies=(*others, remedy) if remedy.condition else (remedy, *others))


def _remedies(named: _Named, near: refused.Nearest | None, listed: Sequence[str]) -> Iterator[Remedy]:
    absence = named.absence
    owner, word = _owner(absence), shell_word(named.shown)
    if owner:
        instead = refused.value_remedy(owner, named.shown, absence, near, named.id, listed)
        if instead is not None:
            yield instead
    elif absence.suggestion:
        typed = None if named.value is None else str(named.value.value)
        kind, use, sure = refused.instead_of_variable(absence, typed)
        condition = "" if sure else "if the nearest valid name is what was meant"
        if kind == "advice":
            yield Remedy(f"Use {use} with its value instead of {named.shown}", kind, "", condition, named.id)
        else:
            yield Remedy(f"Use {use} instead of {named.shown}", kind, use, condition, named.id)
    # A name goes when another takes its place; of a flag that gets another value only the value does.
    both = not owner and bool(absence.suggestion)
    yield Remedy(f"Remove {named.shown}", "remove", f"{owner} {word}" if owner else word, "", named.id, both)
    if absence.introduced is None or (near is not None and near.same):
        return
    if absence.presence is Presence.LATER or (absence.presence is Presence.UNKNOWN and absence.removed is None):
        yield Remedy(f"Or use vLLM {absence.introduced} or newer, which has it", "advice", "", "", named.id)
    elif absence.presence is Presence.UNKNOWN and absence.last:
        span = f"{absence.introduced} to {absence.last}"
        yield Remedy(f"Or use a version that has it ({span})", "advice", "", "", named.id)
