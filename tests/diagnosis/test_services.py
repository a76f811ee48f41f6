"""Several services in one log: whose boot leads the report."""

from __future__ import annotations

import pytest

from logdoctor.diagnosis.services import in_order
from logdoctor.model import BootDiagnosis, Verdict


def boot(first: int, last: int, verdict: Verdict = Verdict.READY) -> BootDiagnosis:
    return BootDiagnosis(1, verdict, "serving", (first, last))


def lines(boots: list[BootDiagnosis]) -> list[tuple[int, int]]:
    return [one.lines for one in boots]


def test_boots_of_one_service_keep_their_order() -> None:
    boots = [boot(1, 10, Verdict.FAILED), boot(11, 20, Verdict.FAILED), boot(21, 30)]
    assert in_order(boots) == boots


@pytest.mark.parametrize("bad", [Verdict.FAILED, Verdict.CRASHED, Verdict.STALLED, Verdict.STARTING, Verdict.DEGRADED])
def test_the_service_in_trouble_comes_last(bad: Verdict) -> None:
    assert lines(in_order([boot(1, 90, bad), boot(5, 95)])) == [(5, 95), (1, 90)]
    assert lines(in_order([boot(1, 90), boot(5, 95, bad)])) == [(1, 90), (5, 95)]


def test_the_boots_of_a_service_stay_together() -> None:
    boots = [boot(1, 40, Verdict.FAILED), boot(41, 90, Verdict.FAILED), boot(5, 95, Verdict.READY)]
    assert lines(in_order(boots)) == [(5, 95), (1, 40), (41, 90)]


def test_a_service_that_has_recovered_is_in_no_trouble() -> None:
    boots = [boot(1, 40, Verdict.FAILED), boot(41, 90), boot(5, 95, Verdict.FAILED)]
    assert lines(in_order(boots))[-1] == (5, 95)


def test_nothing_has_an_order() -> None:
    assert in_order([]) == []
