"""Findings that come from the version knowledge alone: a variable, flag, value or parser that this version lacks.

No entry is written for any name; the tables of `logdoctor.knowledge` say whether a version has it, which one
dropped or will bring it, and what replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from logdoctor.diagnosis import fingerprints
from logdoctor.diagnosis.templates import shell_word
from logdoctor.knowledge.absence import Absence, Presence, describe_absence, describe_value
from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.knowledge.tables import Kind
from logdoctor.model import Basis, Confidence, Evidence, Fact, Facts, Finding, Remedy, Role, Severity

MAX_NAMES = 60
"""Missing names of a boot that are told; nobody reads more of them."""
MAX_ASKED = 200
"""Names in one log that are looked up; looking for the one that was meant takes time."""
REFERENCES = ("https://docs.vllm.ai/en/latest/configuration/",)
_PARSERS = (
    ("args.reasoning_parser", Kind.REASONING_PARSER, "args.reasoning_parser_plugin"),
    ("args.tool_call_parser", Kind.TOOL_PARSER, "args.tool_parser_plugin"),
)


@dataclass(frozen=True, slots=True)
class _Named:
    """A name that the log states and this version lacks."""

    id: str
    severity: Severity
    shown: str
    absence: Absence
    fact: Fact
    phase: str


Asked = dict[tuple[str, str, str], "Absence | None"]
"""What the tables said about names: kind or owner, name, version."""


class _Tables:
    """The version knowledge as one boot asks it. What was asked before costs nothing, and new questions have an end."""

    def __init__(self, version: Version | None, asked: Asked) -> None:
        self._version = version
        self._asked = asked

    def name(self, kind: Kind, name: str) -> Absence | None:
        """Describe a name; None too when too many were asked about."""
        return self._ask(kind.value, name, lambda: describe_absence(kind, name, self._version))

    def value(self, owner: str, value: str) -> Absence | None:
        """Describe the value of a flag or variable."""
        return self._ask(owner, value, lambda: describe_value(owner, value, self._version))

    def _ask(self, owner: str, name: str, answer: Callable[[], Absence | None]) -> Absence | None:
        key = owner, name, str(self._version or "")
        if key not in self._asked:
            if len(self._asked) >= MAX_ASKED:
                return None
            self._asked[key] = answer()
        return self._asked[key]


def absences(
    facts: Facts, findings: Sequence[Finding], general: Collection[str], asked: Asked | None = None
) -> list[Finding]:
    """Return the findings of a boot with those about missing names added.

    A specific signature that names the thing tells more, and stays alone. One of the `general` ids (argparse's own
    words) gives its place to the finding that names the thing. `asked` remembers answers from boot to boot.
    """
    fact = facts.get("vllm.version")
    tables = _Tables(parse_version(str(fact.value)) if fact else None, {} if asked is None else asked)
    found = [*findings]
    told = {finding.id: _told(finding) for finding in findings if finding.id not in general}
    named = chain(_variables(facts, tables), _flags(facts, tables), _values(facts, tables), _parsers(facts, tables))
    for one in islice(named, MAX_NAMES):
        name = one.shown.casefold()
        if not any(name in text for text in told.values()):
            finding = _finding(one)
            told[finding.title] = _told(finding)
            found = _add(found, finding, one)
    return found


def _told(finding: Finding) -> str:
    """Return what a finding shows, as one text to look for names in."""
    return "\n".join((finding.title, *(evidence.text for evidence in finding.evidence))).casefold()


def _add(findings: list[Finding], finding: Finding, named: _Named) -> list[Finding]:
    replaced = next((f for f in findings if f.role is Role.ROOT_CAUSE and _on_line(f, named.fact.line)), None)
    if replaced is None or named.severity.rank < Severity.ERROR.rank:
        role = Role.NOTICE if named.severity is Severity.INFO else Role.CONTRIBUTING
        return [*findings, replace(finding, role=role)]
    merged = replace(
        finding,
        role=Role.ROOT_CAUSE,
        # argparse's list of valid values is worth keeping; that it knows no such flag is said already.
        cause=f"{finding.cause} {replaced.cause}" if named.id == "unknown-value" else finding.cause,
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


def _variables(facts: Facts, tables: _Tables) -> Iterator[_Named]:
    unknown = facts.get("env.unknown")
    told = unknown.value if unknown and isinstance(unknown.value, tuple) else ()
    for name in told:
        absence = tables.name(Kind.ENV, name)
        if absence is not None and unknown is not None:
            yield _variable(name, absence, unknown)
    for key, fact in facts.items():
        name = key[4:]
        if not key.startswith("env.VLLM_") or name in told:
            continue
        absence = tables.name(Kind.ENV, name)
        if absence is not None and absence.is_absent:
            yield _variable(name, absence, fact)


def _variable(name: str, absence: Absence, fact: Fact) -> _Named:
    # A note tells of a name that is not meant for vLLM at all, such as what Kubernetes sets for a service.
    severity = Severity.INFO if absence.note else Severity.WARNING
    return _Named("unknown-variable", severity, name, absence, fact, "config")


def _flags(facts: Facts, tables: _Tables) -> Iterator[_Named]:
    fact = facts.get("cli.unrecognized")
    words = fact.value if fact and isinstance(fact.value, tuple) else ()
    for word in words:
        if word.startswith("--") and fact is not None:
            absence = tables.name(Kind.FLAG, word.partition("=")[0])
            if absence is not None and absence.presence is not Presence.EXISTS:
                yield _Named("unknown-flag", Severity.FATAL, word.partition("=")[0], absence, fact, "command-line")


def _values(facts: Facts, tables: _Tables) -> Iterator[_Named]:
    flag, value = facts.get("cli.invalid_flag"), facts.get("cli.invalid_value")
    if flag is None or value is None:
        return
    absence = tables.value(str(flag.value), str(value.value))
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


def _finding(named: _Named) -> Finding:
    absence = named.absence
    version = f"vLLM {absence.version}" if absence.version else "This vLLM"
    what = {
        "unknown-variable": f"{version} does not know the variable {named.shown}, so it has no effect",
        "unknown-flag": f"{version} has no flag {named.shown}",
        "unknown-value": f"{version} does not take {named.shown} for {absence.owner}",
        "unknown-parser": f"{version} has no parser named {named.shown}",
    }[named.id]
    text = f"{named.shown}" if named.fact.origin != "log" else what
    return Finding(
        id=named.id,
        title=what,
        severity=named.severity,
        role=Role.CONTRIBUTING,
        confidence=Confidence.CERTAIN if absence.is_absent else Confidence.LIKELY,
        basis=Basis.SOURCE,
        cause=absence.sentence,
        phase=named.phase,
        evidence=(Evidence(named.fact.line, named.fact.process, text),) if named.fact.line else (),
        remedies=tuple(_remedies(named)),
        references=REFERENCES,
        fingerprint=fingerprints.fingerprint(named.id, absence.name),
    )


def _remedies(named: _Named) -> Iterator[Remedy]:
    absence = named.absence
    use = absence.suggestion
    owner = absence.owner or ("--reasoning-parser" if absence.kind is Kind.REASONING_PARSER else "")
    owner = owner or ("--tool-call-parser" if absence.kind is Kind.TOOL_PARSER else "")
    shown = named.shown
    word = shell_word(shown)
    if use:
        command = f"{owner} {use}" if owner and not use.startswith("-") else use
        kind = "flag" if command.startswith("-") else "env"
        condition = "" if absence.successor else "if the nearest valid name is what was meant"
        yield Remedy(f"Use {use} instead of {shown}", kind, command, condition, named.id)
    remove = f"{owner} {word}" if owner and not shown.startswith("-") else word
    yield Remedy(f"Remove {shown}", "remove", remove, "", named.id)
    if absence.presence is Presence.LATER and absence.introduced:
        yield Remedy(f"Or use vLLM {absence.introduced} or newer, which has it", "advice", "", "", named.id)
    elif absence.presence is Presence.UNKNOWN and absence.introduced and absence.last:
        span = f"{absence.introduced} to {absence.last}"
        yield Remedy(f"Or use a version that has it ({span})", "advice", "", "", named.id)
