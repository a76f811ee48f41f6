"""Join what a probe measured with what a log says: one diagnosis of one server.

The meaning of the measurements is in the signatures. Here is only how two witnesses go together: a log of the same
start lends its facts, a log of another start is kept apart, a dead server's log explains why nobody answers, and an
answer outweighs a log that ends before the server was up.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from logdoctor.database import Database
from logdoctor.database.schema import Signature
from logdoctor.diagnosis.engine import MAX_EVIDENCE, BootObserver
from logdoctor.diagnosis.matching import Matcher
from logdoctor.diagnosis.settling import settle
from logdoctor.diagnosis.templates import as_text
from logdoctor.model import (
    BootDiagnosis,
    Diagnosis,
    Evidence,
    Fact,
    Facts,
    FactValue,
    Finding,
    Phase,
    Role,
    Severity,
    Verdict,
)
from logdoctor.probe.facts import ORIGIN, compare, stand_ins
from logdoctor.wording import joined, own

_DEAD = frozenset({Verdict.FAILED, Verdict.CRASHED})
_UNFINISHED = frozenset({Verdict.STARTING, Verdict.STALLED})
_KNOWN_DOWN = _DEAD | _UNFINISHED | {Verdict.STOPPED}
_ROLE_ORDER = (Role.ROOT_CAUSE, Role.CONTRIBUTING, Role.NOTICE, Role.CONSEQUENCE)


def diagnose_probe(
    probed: Facts, database: Database, log: Diagnosis | None = None, *, given: Mapping[str, Fact] | None = None
) -> Diagnosis:
    """Diagnose the server that a probe measured, together with the diagnosis of its log where there is one."""
    of_log = log.boot if log else None
    compared = compare(probed, of_log.facts) if of_log else {}
    boot = None if "probe.log_disagrees" in compared else of_log
    known = {**stand_ins(probed), **(boot.facts if boot else {}), **_state(probed, boot), **(given or {})}
    facts = {**known, **probed, **compared}
    boots = log.boots if log else ()
    index = boot.index if boot else len(boots) + 1
    entries = _Entries(database)
    found = _found(facts, database, index, boot, entries)
    findings = settle(_joined(boot, found, entries, answers=_true(probed, "probe.reachable")))
    reached = _verdict(probed, findings, boot)
    facts = {**(found.facts if found else facts)}
    joined = replace(
        boot or BootDiagnosis(index, reached, "", (0, 0)),
        verdict=reached,
        phase=_phase(probed, boot),
        summary=_summary(reached, findings, probed, boot),
        facts=dict(sorted(facts.items())),
        findings=findings,
        notes=(*(boot.notes if boot else ()), *_measured(probed), *_neighbours(probed)),
    )
    if boot and log:
        all_boots, leading = tuple(joined if one is boot else one for one in boots), log.leading
    else:
        all_boots, leading = (*boots, joined), len(boots)
    empty = Diagnosis(reached, joined.summary, ())
    return replace(log or empty, verdict=reached, summary=joined.summary, boots=all_boots, leading=leading)


def _state(probed: Facts, boot: BootDiagnosis | None) -> dict[str, Fact]:
    """State how the server stands where no log does, so that entries that ask for it can be decided."""
    if boot is not None or not _true(probed, "probe.reachable"):
        return {}
    values: Mapping[str, FactValue] = {
        "boot.verdict": Verdict.READY.value,
        "boot.ready": True,
        "boot.failed": False,
        "boot.phase": Phase.SERVING.value,
    }
    return {key: Fact(key, value, origin=ORIGIN) for key, value in values.items()}


class _Entries:
    """The entries by id; only those that findings name are made."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers = {row.id: number for number, row in enumerate(database.rows)}

    def get(self, identifier: str) -> Signature | None:
        """Return an entry; None for findings that come from tables."""
        number = self._numbers.get(identifier)
        return None if number is None else self._database.signature(number)


def _found(
    facts: Facts, database: Database, index: int, boot: BootDiagnosis | None, entries: _Entries
) -> BootDiagnosis | None:
    """Evaluate the entries that rest on facts alone; beside a log, those that a measurement decides."""
    found = BootObserver(Matcher(database), index).close(facts)
    if found is None:
        return None
    told = {(finding.id, finding.title) for finding in boot.findings} if boot else set()
    findings = []
    for finding in found.findings:
        evidence = _evidence(finding, facts, entries)
        if (finding.id, finding.title) not in told and (boot is None or evidence):
            findings.append(replace(finding, evidence=(*evidence, *finding.evidence)[:MAX_EVIDENCE]))
    return replace(found, findings=tuple(findings))


def _evidence(finding: Finding, facts: Facts, entries: _Entries) -> tuple[Evidence, ...]:
    """Return the measurements that a finding rests on; no line of a log states them."""
    signature = entries.get(finding.id)
    conditions = {**signature.when, **signature.when_known} if signature else {}
    measured = [fact for key in conditions if (fact := facts.get(key)) and fact.origin == ORIGIN]
    return tuple(Evidence(0, ORIGIN, f"{fact.key} = {_shown(fact.value)}") for fact in measured)


def _shown(value: FactValue) -> str:
    return str(value).lower() if isinstance(value, bool) else as_text(value)


def _joined(
    boot: BootDiagnosis | None, found: BootDiagnosis | None, entries: _Entries, *, answers: bool
) -> list[Finding]:
    """Put the findings of both into one order, the root cause first."""
    new = list(found.findings) if found else []
    old = list(boot.findings) if boot else []
    if boot and boot.verdict in _UNFINISHED and answers:
        # The log ends before the server was up. What stopped it there has passed.
        old = [replace(f, role=Role.NOTICE, severity=Severity.INFO) if f.role is Role.ROOT_CAUSE else f for f in old]
    dropped = _suppressed((*old, *new), entries)
    old = [finding for finding in old if finding.id not in dropped]
    new = [finding for finding in new if finding.id not in dropped]
    root = next((finding for finding in old if finding.role is Role.ROOT_CAUSE), None)
    down = boot is not None and boot.verdict in _DEAD and not answers
    new = [_role(finding, old, root, entries, down=down) for finding in new]
    return sorted((*old, *new), key=lambda finding: (_ROLE_ORDER.index(finding.role), -finding.severity.rank))


def _suppressed(findings: Iterable[Finding], entries: _Entries) -> set[str]:
    present = (entries.get(finding.id) for finding in findings if not finding.conditional)
    return {name for signature in present if signature for name in signature.suppresses}


def _role(finding: Finding, old: Sequence[Finding], root: Finding | None, entries: _Entries, *, down: bool) -> Finding:
    """Give a finding of the probe its place beside those of the log."""
    signature = entries.get(finding.id)
    present = {other.id for other in old}
    causes = tuple(name for name in signature.consequence_of if name in present) if signature else ()
    if root is not None and down and finding.severity.rank >= Severity.ERROR.rank:
        # Nobody answers because the server is dead; its log says of what.
        causes = causes or (root.id,)
    if causes:
        return replace(finding, role=Role.CONSEQUENCE, explained_by=causes)
    if root is not None and finding.role is Role.ROOT_CAUSE:
        return replace(finding, role=Role.CONTRIBUTING)
    return finding


def _verdict(probed: Facts, findings: Sequence[Finding], boot: BootDiagnosis | None) -> Verdict:
    if not _true(probed, "probe.reachable"):
        return boot.verdict if boot and boot.verdict in _KNOWN_DOWN else Verdict.FAILED
    health = probed.get("probe.health_status")
    if _true(probed, "probe.died") or (health and isinstance(health.value, int) and health.value >= 500):
        return Verdict.CRASHED
    return Verdict.DEGRADED if any(f.role is Role.ROOT_CAUSE for f in findings) else Verdict.READY


def _phase(probed: Facts, boot: BootDiagnosis | None) -> str:
    if _true(probed, "probe.reachable"):
        return Phase.SERVING.value
    return boot.phase if boot else ""


_HEADS = {
    Verdict.READY: "up and answering",
    Verdict.DEGRADED: "up, but not as it should be",
    Verdict.CRASHED: "died after it was up",
    Verdict.FAILED: "does not answer",
}


def _summary(reached: Verdict, findings: Sequence[Finding], probed: Facts, boot: BootDiagnosis | None) -> str:
    root = next((finding for finding in findings if finding.role is Role.ROOT_CAUSE), None)
    if not _true(probed, "probe.reachable") and boot and boot.verdict in _KNOWN_DOWN:
        return boot.summary
    head = _HEADS[reached]
    if reached is Verdict.READY and not _true(probed, "probe.answer.ok") and not _true(probed, "probe.completion.ok"):
        head = "up; nothing was asked of it"
    if root is not None:
        return joined(own(f"{head}: "), root.title)
    pace = _pace(probed)
    return f"{head}: {pace}" if pace else head


def _pace(probed: Facts) -> str:
    told = (
        ("probe.ttft_seconds", "first token after {} s"),
        ("probe.tokens_per_second", "{} tokens/s"),
        ("probe.load.tokens_per_second", "{} tokens/s for 16 requests at once"),
    )
    return ", ".join(words.format(as_text(probed[key].value)) for key, words in told if key in probed)


def _measured(probed: Facts) -> tuple[str, ...]:
    pace = _pace(probed)
    return (f"Measured, and not judged without a reference: {pace}.",) if pace else ()


def _neighbours(probed: Facts) -> Iterator[str]:
    """Yield the models that an Ollama holds, each with the command that unloads it."""
    loaded = probed["probe.ollama.models"].value if "probe.ollama.models" in probed else ()
    for number, words in enumerate(loaded if isinstance(loaded, tuple) else (), 1):
        name = probed.get(f"probe.ollama.model_{number}")
        command = f"; this unloads it: ollama stop {shlex.quote(str(name.value))}" if name else ""
        yield f"Ollama holds {words}{command}"


def _true(facts: Facts, key: str) -> bool:
    fact = facts.get(key)
    return fact is not None and fact.value is True
