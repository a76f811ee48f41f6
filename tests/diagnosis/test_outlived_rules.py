"""Rule for rule: how bad an error still is although the server outlived it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from logdoctor.database.schema import Kind
from logdoctor.diagnosis.matching import Hit, Match
from logdoctor.diagnosis.outlived import outlived
from logdoctor.facts.milestones import Event, Milestones
from logdoctor.model import Phase, Process, Record, Severity
from tests.database.build import signature


def event(line: int, kind: str = "startup") -> Event:
    return Event("ready", kind, line, Process(), "")


def match(line: int = 5, level: str = "ERROR", role: str = "engine", **fields: Any) -> Match:
    record = Record(((line, "x"),), Process(role), level)
    made = signature(**{"severity": Severity.FATAL, "phase": Phase.WEIGHTS, **fields})
    return Match(made, (Hit(record, line, "x", {}),), 1, (), {}, line)


def judged(found: Match, stones: Milestones, went_on: bool = False) -> Severity | None:
    return outlived(found, stones, SimpleNamespace(went_on=lambda process, line: went_on))  # type: ignore[arg-type]


WHOLE = Milestones(begin=event(1), last_line=99)
UP = WHOLE._replace(ready=event(10))
WORKS = UP._replace(ready=event(2), last_work_line=20)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (match(), Severity.INFO),
        (match(severity=Severity.ERROR), Severity.WARNING),
        (match(severity=Severity.WARNING), None),
        (match(severity=Severity.ERROR, kind=Kind.ECHO), Severity.WARNING),
        (match(kind=Kind.CASCADE), None),
        (match(severity=Severity.WARNING, kind=Kind.CASCADE), None),
        (match(level="INFO"), None),
        (match(level="INFO", severity=Severity.WARNING), None),
        (match(line=9), Severity.INFO),
        (match(line=10), None),
        (match(line=11), None),
    ],
)
def test_what_stands_before_the_server_came_up(found: Match, expected: Severity | None) -> None:
    assert judged(found, UP) is expected


def test_one_answer_in_an_excerpt_does_not_show_that_the_server_came_up() -> None:
    excerpt = Milestones(ready=event(10, "answered"), last_line=99)
    assert judged(match(), excerpt) is None
    assert judged(match(), excerpt._replace(begin=event(1))) is Severity.INFO
    assert judged(match(), WHOLE) is None
    assert judged(match(), excerpt._replace(ready=event(10, "startup-complete"))) is Severity.INFO


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (match(), Severity.WARNING),
        (match(line=19), Severity.WARNING),
        (match(line=20), None),
        (match(phase=Phase.SERVING), None),
        (match(phase=Phase.SHUTDOWN), None),
        (match(phase=Phase.SERVING, role="worker"), None),
        (match(phase=Phase.SERVING, role="api"), Severity.WARNING),
        (match(phase=Phase.SERVING, role="frontend"), Severity.WARNING),
        (match(phase=Phase.SERVING, role=""), Severity.WARNING),
    ],
)
def test_what_stands_between_answers(found: Match, expected: Severity | None) -> None:
    assert judged(found, WORKS) is expected


def test_a_process_that_wrote_on_outlived_it() -> None:
    assert judged(match(), WHOLE, went_on=True) is Severity.WARNING
    assert judged(match(), WHOLE, went_on=False) is None
    assert judged(match(), WHOLE._replace(failures=(event(50),)), went_on=True) is None
    assert judged(match(line=15), UP, went_on=True) is None
