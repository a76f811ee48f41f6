"""Several services in one log: whose boot leads the report."""

from __future__ import annotations

import pytest

from logdoctor.diagnosis.services import in_order, signed_by
from logdoctor.model import BootDiagnosis, Process, Record, Verdict


def boot(first: int, last: int, verdict: Verdict = Verdict.READY, service: str = "") -> BootDiagnosis:
    return BootDiagnosis(1, verdict, "serving", (first, last), service=service)


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


def test_services_with_names_are_told_apart_though_one_began_after_the_other_had_died() -> None:
    boots = [boot(1, 10, Verdict.FAILED, "a-1"), boot(11, 20, Verdict.READY, "b-1")]
    assert lines(in_order(boots)) == [(11, 20), (1, 10)]


def test_boots_of_one_name_are_one_service_even_where_their_lines_overlap() -> None:
    boots = [boot(1, 12, Verdict.FAILED, "a-1"), boot(11, 20, Verdict.READY, "a-1")]
    assert in_order(boots) == boots


@pytest.mark.parametrize(
    ("process", "service"),
    [
        (Process("api", "APIServer", "1", host="super-1"), "super-1"),
        (Process(host="super-1"), "super-1"),
        (Process("worker", "RayWorkerProc", "77", host="10.0.0.7"), ""),
        (Process("", "", "77", host="10.0.0.7"), ""),
        (Process("api", "APIServer", "1"), ""),
    ],
)
def test_an_address_that_ray_prints_is_no_service(process: Process, service: str) -> None:
    assert signed_by(Record(((1, "x"),), process)) == service
