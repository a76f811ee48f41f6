"""The state of a boot, from its milestones; and what the boot as a whole looks like, as facts for conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from logdoctor.diagnosis.causes import Judged
from logdoctor.facts.milestones import Milestones
from logdoctor.model import Fact, FactValue, Role, Severity, Verdict

STALLED_WAITS = 3
"""Wait lines before a boot can count as stalled; one comes every 60 s."""
_WAIT_SECONDS = 60.0


def outcome(milestones: Milestones, patience: float = 0.0) -> Verdict:
    """Return the verdict that the events alone support.

    `patience` is how many seconds of nothing but wait lines are normal where the boot stands: tuning and compiling
    keep the other processes waiting for as long as they take.
    """
    stones = milestones
    if stones.failed:
        if stones.ready and stones.ready_line < stones.failure_line:
            return Verdict.CRASHED
        return Verdict.FAILED
    if stones.shutdown:
        return Verdict.STOPPED
    if stones.ready:
        return Verdict.READY
    if stones.waits >= STALLED_WAITS and waited(stones) >= patience:
        return Verdict.STALLED
    if stones.begin or stones.engine or stones.logger_lines:
        return Verdict.STARTING
    return Verdict.UNDETERMINED


def waited(stones: Milestones) -> float:
    """Return for how many seconds the boot has shown nothing but wait lines; counted where they have no stamps."""
    if not stones.waits:
        return 0.0
    # Each line tells of the time before it.
    return _WAIT_SECONDS + (stones.wait_seconds or _WAIT_SECONDS * (stones.waits - 1))


def boot_facts(verdict: Verdict, phase: str, milestones: Milestones) -> dict[str, Fact]:
    """Return the state of a boot as facts, which signatures may ask for."""
    values: Mapping[str, FactValue] = {
        "boot.verdict": verdict.value,
        "boot.ready": milestones.ready is not None,
        "boot.failed": verdict in (Verdict.FAILED, Verdict.CRASHED),
        "boot.phase": phase,
        "boot.excerpt": milestones.excerpt,
        "boot.stderr_missing": milestones.stderr_missing,
    }
    lines = {"boot.verdict": milestones.shutdown_line if verdict is Verdict.STOPPED else 0}
    killed = next((event for event in milestones.failures if event.kind == "killed" and "Killed" in event.text), None)
    if killed is not None:
        values = {**values, "boot.killed": True}
        lines["boot.killed"] = killed.line
    return {key: Fact(key, value, lines.get(key, 0), origin="inferred") for key, value in values.items()}


def final(verdict: Verdict, judged: Sequence[Judged], milestones: Milestones) -> Verdict:
    """Let the findings refine the verdict of the events.

    A fatal error that ended its process is a failure even where no cascade was printed (an excerpt, a lost stream);
    an error or a warning about a server that is up makes it degraded.
    """
    root = next((j for j in judged if j.role is Role.ROOT_CAUSE), None)
    if verdict in (Verdict.STARTING, Verdict.STALLED, Verdict.UNDETERMINED):
        if root and root.candidate.signature.severity is Severity.FATAL and root.candidate.weight < 2:
            return Verdict.FAILED
        if root and root.candidate.weight == 0:
            return Verdict.FAILED
        if milestones.excerpt and verdict is Verdict.STARTING and not milestones.engine:
            return Verdict.UNDETERMINED if root else verdict
    if verdict is Verdict.READY and root:
        return Verdict.DEGRADED
    return verdict
