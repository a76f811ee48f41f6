"""The verdict of the events alone, the state of a boot as facts, and what findings change about the verdict."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from logdoctor.diagnosis.verdict import boot_facts, final, outcome, waited
from logdoctor.facts.milestones import Event, Milestones
from logdoctor.model import Process, Role, Severity, Verdict


def event(line: int, kind: str = "x", text: str = "") -> Event:
    return Event("e", kind, line, Process(), text)


@pytest.mark.parametrize(
    ("stones", "patience", "expected"),
    [
        (Milestones(failures=(event(9),)), 0, Verdict.FAILED),
        (Milestones(failures=(event(9),), ready=event(5)), 0, Verdict.CRASHED),
        (Milestones(failures=(event(9),), ready=event(9)), 0, Verdict.FAILED),
        (Milestones(failures=(event(9),), ready=event(10)), 0, Verdict.FAILED),
        (Milestones(failures=(event(9),), shutdown=event(10)), 0, Verdict.FAILED),
        (Milestones(shutdown=event(9), ready=event(5)), 0, Verdict.STOPPED),
        (Milestones(ready=event(5), waits=9), 0, Verdict.READY),
        (Milestones(waits=3), 0, Verdict.STALLED),
        (Milestones(waits=2, begin=event(1)), 0, Verdict.STARTING),
        (Milestones(waits=3), 180, Verdict.STALLED),
        (Milestones(waits=3, begin=event(1)), 180.5, Verdict.STARTING),
        (Milestones(begin=event(1)), 0, Verdict.STARTING),
        (Milestones(engine=event(1)), 0, Verdict.STARTING),
        (Milestones(logger_lines=1), 0, Verdict.STARTING),
        (Milestones(), 0, Verdict.UNDETERMINED),
    ],
)
def test_the_events_alone(stones: Milestones, patience: float, expected: Verdict) -> None:
    if not patience:
        assert outcome(stones) is expected
    assert outcome(stones, patience) is expected


@pytest.mark.parametrize(
    ("waits", "seconds", "expected"),
    [(0, None, 0), (0, 500.0, 0), (1, None, 60), (3, None, 180), (3, 300.0, 360), (3, 0.0, 180)],
)
def test_how_long_nothing_moved(waits: int, seconds: float | None, expected: float) -> None:
    assert waited(Milestones(waits=waits, wait_seconds=seconds)) == expected


def test_the_state_of_a_boot_as_facts() -> None:
    facts = boot_facts(Verdict.FAILED, "weights", Milestones(first_line=1, last_line=9, failures=(event(9),)))
    assert {key: (fact.key, fact.value, fact.line, fact.origin) for key, fact in facts.items()} == {
        key: (key, value, 0, "inferred")
        for key, value in {
            "boot.verdict": "failed", "boot.ready": False, "boot.failed": True, "boot.phase": "weights",
            "boot.excerpt": True, "boot.stderr_missing": False,
        }.items()
    }  # fmt: skip
    stones = Milestones(begin=event(1), ready=event(5), shutdown=event(8), last_line=9, logger_lines=5)
    facts = boot_facts(Verdict.STOPPED, "shutdown", stones)
    assert facts["boot.verdict"].line == 8
    assert [facts[f"boot.{key}"].value for key in ("ready", "failed", "excerpt", "stderr_missing")] == [
        True, False, False, True,
    ]  # fmt: skip
    assert boot_facts(Verdict.READY, "serving", stones)["boot.verdict"].line == 0
    assert boot_facts(Verdict.CRASHED, "serving", stones)["boot.failed"].value is True


def test_a_process_that_was_killed_is_a_fact_with_its_line() -> None:
    stones = Milestones(
        failures=(event(3), event(4, "killed", "died"), event(5, "x", "Killed"), event(6, "killed", "Killed"))
    )
    fact = boot_facts(Verdict.FAILED, "weights", stones)["boot.killed"]
    assert (fact.key, fact.value, fact.line, fact.origin) == ("boot.killed", True, 6, "inferred")
    assert "boot.killed" not in boot_facts(Verdict.FAILED, "weights", Milestones(failures=stones.failures[:3]))


def judged(role: Role, severity: Severity = Severity.FATAL, weight: int = 0) -> Any:
    return SimpleNamespace(
        role=role, candidate=SimpleNamespace(signature=SimpleNamespace(severity=severity), weight=weight)
    )


ROOT, OTHER = Role.ROOT_CAUSE, Role.CONTRIBUTING
WHOLE = Milestones(begin=event(1), last_line=9)
EXCERPT = Milestones(last_line=9)


@pytest.mark.parametrize(
    ("verdict", "findings", "stones", "expected"),
    [
        (Verdict.STARTING, [], WHOLE, Verdict.STARTING),
        (Verdict.STARTING, [judged(ROOT)], WHOLE, Verdict.FAILED),
        (Verdict.STARTING, [judged(OTHER), judged(ROOT)], WHOLE, Verdict.FAILED),
        (Verdict.STARTING, [judged(OTHER)], WHOLE, Verdict.STARTING),
        (Verdict.STALLED, [judged(ROOT, weight=1)], WHOLE, Verdict.FAILED),
        (Verdict.STALLED, [judged(ROOT, weight=2)], WHOLE, Verdict.STALLED),
        (Verdict.STALLED, [judged(ROOT, Severity.ERROR, 0)], WHOLE, Verdict.FAILED),
        (Verdict.STALLED, [judged(ROOT, Severity.ERROR, 1)], WHOLE, Verdict.STALLED),
        (Verdict.UNDETERMINED, [judged(ROOT)], EXCERPT, Verdict.FAILED),
        (Verdict.UNDETERMINED, [judged(ROOT, weight=2)], EXCERPT, Verdict.UNDETERMINED),
        (Verdict.STARTING, [judged(ROOT, Severity.WARNING, 2)], EXCERPT, Verdict.UNDETERMINED),
        (Verdict.STARTING, [judged(ROOT, Severity.WARNING, 2)], WHOLE, Verdict.STARTING),
        (Verdict.STARTING, [judged(ROOT, Severity.WARNING, 2)], EXCERPT._replace(engine=event(2)), Verdict.STARTING),
        (Verdict.STALLED, [judged(ROOT, Severity.WARNING, 2)], EXCERPT, Verdict.STALLED),
        (Verdict.STARTING, [], EXCERPT, Verdict.STARTING),
        (Verdict.READY, [judged(ROOT, Severity.WARNING, 2)], WHOLE, Verdict.DEGRADED),
        (Verdict.READY, [judged(OTHER)], WHOLE, Verdict.READY),
        (Verdict.CRASHED, [judged(ROOT)], WHOLE, Verdict.CRASHED),
        (Verdict.STOPPED, [judged(ROOT)], WHOLE, Verdict.STOPPED),
        (Verdict.FAILED, [], WHOLE, Verdict.FAILED),
    ],
)
def test_what_findings_change(verdict: Verdict, findings: list[Any], stones: Milestones, expected: Verdict) -> None:
    assert final(verdict, findings, stones) is expected
