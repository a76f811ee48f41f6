"""The exit status of every kind of diagnosis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logdoctor.model import Role, Severity, Verdict
from logdoctor.report import EXIT_FAILED, EXIT_FINDING, EXIT_OK, EXIT_UNDETERMINED, exit_status

from .cases import CASES, CUTLASS, ENGINE_INIT, FAILED, READY, RESTART_LOOP, STARTING, UNKNOWN_VARIABLE, diagnosis


def test_the_numbers_are_the_published_ones() -> None:
    assert (EXIT_OK, EXIT_FINDING, EXIT_FAILED, EXIT_UNDETERMINED) == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("failed", 1),
        ("restart-loop", 1),
        ("ready", 0),
        ("ready-after-loop", 0),
        ("degraded", 0),
        ("unknown", 1),
        ("undecidable", 1),
        ("starting", 3),
        ("stopped", 0),
        ("no-boot", 3),
        ("one-line", 3),
    ],
)
def test_status_of_the_cases(name: str, status: int) -> None:
    assert exit_status(CASES[name]) == status


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [(Severity.INFO, 1), (Severity.WARNING, 1), (Severity.ERROR, 0), (Severity.FATAL, 0)],
)
def test_the_threshold_moves_only_the_border_between_0_and_1(fail_on: Severity, status: int) -> None:
    assert exit_status(CASES["degraded"], fail_on) == status
    assert exit_status(CASES["no-boot"], fail_on) == 3


def test_a_finding_counts_even_where_the_verdict_is_open() -> None:
    open_boot = replace(STARTING.boots[0], findings=(replace(CUTLASS, severity=Severity.ERROR),))
    assert exit_status(diagnosis(open_boot)) == 1


def test_consequences_do_not_count_by_themselves() -> None:
    up = replace(READY.boots[0], findings=(ENGINE_INIT,))
    assert exit_status(diagnosis(up)) == 0
    assert exit_status(diagnosis(replace(up, findings=(replace(ENGINE_INIT, role=Role.NOTICE),)))) == 1


def test_a_death_without_a_finding_of_its_own_counts() -> None:
    for verdict in (Verdict.FAILED, Verdict.CRASHED):
        boot = replace(FAILED.boots[0], verdict=verdict, findings=(ENGINE_INIT,))
        assert exit_status(diagnosis(boot), Severity.FATAL) == 1
    warned = replace(FAILED.boots[0], findings=(UNKNOWN_VARIABLE,))
    assert exit_status(diagnosis(warned)) == 0


def test_the_leading_boot_decides() -> None:
    mixed = CASES["ready-after-loop"]
    assert exit_status(replace(mixed, leading=0)) == 1
    assert exit_status(replace(mixed, leading=2)) == 0
    assert exit_status(RESTART_LOOP) == 1
