"""The state of a boot, from its milestones; and what the boot as a whole looks like, as facts for conditions."""

from __future__ import annotations

from collections.abc import Sequence

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
    stones = milestones
    stated: list[tuple[str, FactValue, int]] = [
        ("boot.verdict", verdict.value, stones.shutdown_line if verdict is Verdict.STOPPED else 0),
        ("boot.ready", stones.ready is not None, 0),
        ("boot.failed", verdict in (Verdict.FAILED, Verdict.CRASHED), 0),
        ("boot.phase", phase, 0),
        ("boot.excerpt", stones.excerpt, 0),
        ("boot.stderr_missing", stones.stderr_missing, 0),
    ]
    if stones.ready is not None and stones.wait is not None:
        stated.append(("boot.waited_seconds", round(waited(stones)), stones.wait.line))
    killed = next((event for event in stones.failures if event.kind == "killed" and "Killed" in event.text), None)
    if killed is not None:
        stated.append(("boot.killed", True, killed.line))
    return {key: Fact(key, value, line, origin="inferred") for key, value, line in stated}


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
