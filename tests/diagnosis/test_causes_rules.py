"""Rule for rule: how evidence is weighed, which candidate is the root cause, and what becomes of the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from logdoctor.database.schema import Kind
from logdoctor.diagnosis.causes import Candidate, Judged, judge, weigh
from logdoctor.diagnosis.conditions import Truth
from logdoctor.diagnosis.matching import Hit, Match
from logdoctor.facts.milestones import Milestones
from logdoctor.model import Fact, Process, Record, Role, Severity
from tests.database.build import any_of, signature

ANY = any_of("a text that stands here")


def hit(line: int, level: str = "ERROR", lines: int = 1) -> Hit:
    record = Record(tuple((line + n, "x") for n in range(lines)), Process("engine"), level)
    return Hit(record, line, "x", {})


def candidate(id: str, line: int = 5, *, weight: int = 1, level: str = "ERROR", **fields: Any) -> Candidate:
    more = {key: fields.pop(key) for key in ("truth", "in_version", "outlived") if key in fields}
    made = signature(id=id, **{"severity": Severity.FATAL, **fields})
    found = Match(made, (hit(line, level),) if line else (), 1, (), {}, line)
    return Candidate(
        found, more.get("truth", Truth.TRUE), (), more.get("in_version", True), weight, more.get("outlived")
    )


def roles(*candidates: Candidate, failed: bool = True, stop_line: int = 0) -> dict[str, Role]:
    return {one.candidate.id: one.role for one in judge(candidates, failed=failed, stop_line=stop_line)}


def first(*candidates: Candidate, failed: bool = True) -> str:
    ordered = judge(candidates, failed=failed)
    other = judge(candidates[::-1], failed=failed)
    assert [one.candidate.id for one in ordered] == [one.candidate.id for one in other]
    assert ordered[0].role is Role.ROOT_CAUSE
    assert sum(one.role is Role.ROOT_CAUSE for one in ordered) == 1
    return ordered[0].candidate.id


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        (candidate("w", 9, weight=1), candidate("l", 1, weight=2)),
        (candidate("w", 9, weight=0), candidate("l", 1, weight=1)),
        (candidate("w", 9, weight=1), candidate("l", 1, weight=0, kind=Kind.ECHO)),
        (candidate("w", 9, weight=0, kind=Kind.ECHO), candidate("l", 1, weight=2)),
        (candidate("w", 9), candidate("l", 1, truth=Truth.UNKNOWN)),
        (candidate("w", 9), candidate("l", 1, in_version=False)),
        (candidate("w", 9), candidate("l", 1, general=True)),
        (candidate("w", 1), candidate("l", 2)),
        (candidate("w", 9), candidate("l", 0)),  # facts alone stand at the end
        (candidate("w", 5, undecided_with=("x",)), candidate("l", 5)),
        (candidate("a", 5), candidate("b", 5)),
        (candidate("w", 9, truth=Truth.TRUE, in_version=False), candidate("l", 1, truth=Truth.UNKNOWN)),
        (candidate("w", 9, in_version=True, general=True), candidate("l", 1, in_version=False)),
    ],
)  # fmt: skip
def test_the_order_of_root_causes(winner: Candidate, loser: Candidate) -> None:
    assert first(winner, loser) == winner.id


def test_the_line_of_a_candidate_is_that_of_its_decisive_evidence() -> None:
    made = signature(severity=Severity.FATAL)
    found = Match(made, (hit(3, "INFO"), hit(7), hit(9)), 3, (), {}, 9)
    assert Candidate(found, Truth.TRUE, (), True, 1).line == 7
    assert Candidate(Match(made, (hit(4, "INFO"), hit(3, "INFO")), 2, (), {}, 4), Truth.TRUE, (), True, 2).line == 3
    assert Candidate(Match(made, (), 1, (), {}, 0), Truth.TRUE, (), True, 1).line > 10**9


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"severity": Severity.ERROR}, True),
        ({"severity": Severity.WARNING}, False),
        ({"harmless": True}, False),
        ({"kind": Kind.ECHO}, True),
        ({"kind": Kind.CASCADE}, False),
        ({"kind": Kind.NOTICE}, False),
        ({"outlived": Severity.WARNING}, False),
    ],
)
def test_who_may_be_the_root_cause(fields: dict[str, Any], expected: bool) -> None:
    assert candidate("one", **fields).may_be_root() is expected


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        ({"severity": Severity.WARNING}, Role.CONTRIBUTING),
        ({"severity": Severity.INFO}, Role.NOTICE),
        ({"harmless": True}, Role.NOTICE),
        ({"kind": Kind.NOTICE}, Role.NOTICE),
        ({"outlived": Severity.INFO}, Role.NOTICE),
        ({"outlived": Severity.WARNING}, Role.CONTRIBUTING),
        ({"kind": Kind.CASCADE}, Role.CONSEQUENCE),
        ({"kind": Kind.ECHO}, Role.CONSEQUENCE),
        ({"consequence_of": ("root",)}, Role.CONSEQUENCE),
        ({"consequence_of": ("absent",)}, Role.CONTRIBUTING),
        ({"consequence_of": ("other",)}, Role.CONTRIBUTING),
        ({}, Role.CONTRIBUTING),
    ],
)
def test_the_roles_beside_a_root_cause(fields: dict[str, Any], role: Role) -> None:
    root = candidate("root", 1, weight=0)
    found = {one.candidate.id: one for one in judge([candidate("other", 9, **fields), root], failed=True)}
    assert found["root"].role is Role.ROOT_CAUSE
    assert found["other"].role is role
    assert found["other"].explained_by == (("root",) if role is Role.CONSEQUENCE else ())
    assert found["other"].is_consequence is (role is Role.CONSEQUENCE)


def test_consequences_without_a_root_cause() -> None:
    (alone,) = judge([candidate("one", kind=Kind.CASCADE)], failed=True)
    assert (alone.role, alone.explained_by) == (Role.CONSEQUENCE, ())
    assert roles(candidate("one", kind=Kind.ECHO, severity=Severity.WARNING)) == {"one": Role.CONTRIBUTING}
    assert roles(candidate("one", kind=Kind.ECHO)) == {"one": Role.ROOT_CAUSE}


def test_what_explains_an_error_weighs_as_much_as_it() -> None:
    explainer = candidate("explainer", 9, weight=2)
    explained = candidate("explained", 1, weight=0, consequence_of=("explainer",))
    assert roles(explainer, explained, candidate("third", 2, weight=1)) == {
        "explainer": Role.ROOT_CAUSE, "explained": Role.CONSEQUENCE, "third": Role.CONTRIBUTING,
    }  # fmt: skip
    milder = candidate("milder", 3, weight=1, consequence_of=("explainer",))
    found = roles(explainer, explained, milder, candidate("third", 2, weight=0, general=True))
    assert found["explainer"] is Role.ROOT_CAUSE  # the heaviest of what it explains counts, whichever comes last
    heavy = candidate("explainer", 9, weight=0)
    assert (
        roles(heavy, candidate("explained", 1, weight=2, consequence_of=("explainer",)))["explainer"] is Role.ROOT_CAUSE
    )


def test_a_boot_that_serves_has_no_cause_of_what_a_healthy_server_says() -> None:
    assert roles(candidate("one", weight=2), failed=False) == {"one": Role.CONTRIBUTING}
    assert roles(candidate("one", weight=1), failed=False) == {"one": Role.ROOT_CAUSE}
    assert roles(candidate("one", weight=2), failed=True) == {"one": Role.ROOT_CAUSE}
    assert judge([candidate("one", 5)], failed=False)[0].role is Role.ROOT_CAUSE  # no stop was asked for


def test_what_belongs_to_a_stop_alarms_nobody() -> None:
    below, above = candidate("below", 11), candidate("above", 9)
    assert roles(below, above, failed=False, stop_line=10) == {"below": Role.NOTICE, "above": Role.ROOT_CAUSE}
    assert roles(candidate("at", 10), failed=False, stop_line=10) == {"at": Role.ROOT_CAUSE}
    assert roles(below, failed=True, stop_line=10) == {"below": Role.ROOT_CAUSE}
    assert roles(below, failed=False) == {"below": Role.ROOT_CAUSE}
    assert roles(candidate("facts", 0), failed=False, stop_line=10) == {"facts": Role.ROOT_CAUSE}
    cascade = candidate("cascade", 5, kind=Kind.CASCADE)
    (one,) = judge([cascade], failed=False)
    assert (one.role, one.aside, one.severity) == (Role.NOTICE, True, Severity.INFO)
    (one,) = judge([cascade], failed=True)
    assert (one.role, one.aside, one.severity) == (Role.CONSEQUENCE, False, Severity.FATAL)


def test_how_bad_it_is_in_this_boot() -> None:
    assert Judged(candidate("one", outlived=Severity.WARNING), Role.CONTRIBUTING).severity is Severity.WARNING
    assert Judged(candidate("one"), Role.CONTRIBUTING).severity is Severity.FATAL


@pytest.mark.parametrize("named_by", ["root", "rival"])
def test_root_causes_between_which_the_log_does_not_decide(named_by: str) -> None:
    root = candidate("root", 1, undecided_with=("rival",) if named_by == "root" else ())
    rival = candidate("rival", 1, undecided_with=("root",) if named_by == "rival" else ())
    found = judge([candidate("third", 7), rival, root], failed=True)
    assert {one.candidate.id: (one.role, one.undecided) for one in found} == {
        "root": (Role.ROOT_CAUSE, True), "rival": (Role.ROOT_CAUSE, True), "third": (Role.CONTRIBUTING, False),
    }  # fmt: skip


def test_the_order_of_the_report() -> None:
    found = judge(
        [
            candidate("notice", 1, severity=Severity.INFO),
            candidate("about-the-boot", 8, severity=Severity.INFO, when={"boot.verdict": "failed"}),
            candidate("silence", 9, severity=Severity.INFO, when_known={"silence.seconds": ">5"}),
            candidate("consequence", 1, kind=Kind.CASCADE),
            candidate("warning", 2, severity=Severity.WARNING),
            candidate("b-error", 7, severity=Severity.ERROR, weight=2),
            candidate("a-error", 7, severity=Severity.ERROR, weight=2),
            candidate("root", 9, weight=0),
        ],
        failed=True,
    )
    assert [one.candidate.id for one in found] == [
        "root", "a-error", "b-error", "warning", "about-the-boot", "silence", "notice", "consequence",
    ]  # fmt: skip


def test_who_silences_whom() -> None:
    loud = candidate("loud", suppresses=("quiet",))
    assert roles(loud, candidate("quiet")) == {"loud": Role.ROOT_CAUSE}
    for weak in ({"truth": Truth.UNKNOWN}, {"in_version": False}):
        assert set(roles(candidate("loud", suppresses=("quiet",), **weak), candidate("quiet"))) == {"loud", "quiet"}


def test_the_specific_beats_the_general_in_the_same_record() -> None:
    shared = hit(5)

    def of(id: str, one: Hit, truth: Truth = Truth.TRUE, **fields: Any) -> Candidate:
        made = signature(id=id, **{"severity": Severity.FATAL, **fields})
        return Candidate(Match(made, (one,), 1, (), {}, 5), truth, (), True, 1)

    general = of("general", shared, general=True)
    assert set(roles(general, of("specific", shared))) == {"specific"}
    assert set(roles(general, of("specific", hit(5)))) == {"general", "specific"}
    assert set(roles(general, of("specific", shared, Truth.UNKNOWN))) == {"general", "specific"}
    assert set(roles(general, of("echo", shared, kind=Kind.ECHO))) == {"general", "echo"}
    assert set(roles(general, of("mild", shared, severity=Severity.WARNING))) == {"general", "mild"}
    assert set(roles(general, of("other", shared, general=True))) == {"general", "other"}


class Log:
    """What a boot's failures look like to the weighing."""

    def __init__(self, *failures: tuple[int, int, bool, bool]) -> None:
        self._failures = [
            SimpleNamespace(lines=(first, last), fatal_shape=shape, ended=ended)
            for first, last, shape, ended in failures
        ]

    def failures(self) -> list[Any]:
        return self._failures

    def ended(self, failure: Any) -> bool:
        return bool(failure.ended)

    def went_on(self, process: Process, line: int) -> bool:
        return False


def weights(log: Log, *hits: Hit, facts: dict[str, Fact] | None = None, **fields: Any) -> list[Candidate]:
    found = Match(signature(**{"severity": Severity.FATAL, **fields}), hits, 1, (), {}, 9)
    return weigh([found], facts or {}, log, Milestones())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("failure", "weight"),
    [
        ((5, 7, True, True), 0), ((1, 5, True, True), 0), ((6, 9, True, True), 0), ((7, 9, True, True), 1),
        ((1, 4, True, True), 1), ((5, 7, False, True), 1), ((5, 7, True, False), 1),
    ],
)  # fmt: skip
def test_evidence_in_the_error_that_ended_its_process_weighs_most(failure: Any, weight: int) -> None:
    (found,) = weights(Log((90, 99, True, True), failure), hit(5, lines=2))
    assert found.weight == weight


def test_evidence_of_a_healthy_line_weighs_least() -> None:
    assert weights(Log((5, 5, True, True)), hit(5, "INFO"))[0].weight == 2
    assert weights(Log(), hit(5, "INFO"), hit(6))[0].weight == 1
    assert (
        weights(Log(), match=None, when={"gpu.name": "x"}, facts={"gpu.name": Fact("gpu.name", "x", 1)})[0].weight == 1
    )


VERSION = {"vllm.version": Fact("vllm.version", "0.17.1", 1)}


def test_facts_and_versions_decide_who_is_a_candidate() -> None:
    name = {"gpu.name": Fact("gpu.name", "x", 1)}
    assert weights(Log(), hit(5), when_known={"gpu.name": "x"}) == []
    assert weights(Log(), hit(5), when_known={"gpu.name": "x"}, facts=name)[0].truth is Truth.TRUE
    assert weights(Log(), hit(5), when={"gpu.name": "y"}, facts=name) == []
    (unknown,) = weights(Log(), hit(5), when={"gpu.name": "y"})
    assert unknown.truth is Truth.UNKNOWN and unknown.conditional
    assert weights(Log(), match=None, when={"gpu.name": "y"}) == []
    (known,) = weights(Log(), match=None, when={"gpu.name": "x"}, facts=name)
    assert known.truth is Truth.TRUE and not known.conditional
    for asked, inside in ((">=0.17", True), (">=0.18", False), ("", True)):
        (found,) = weights(Log(), hit(5), vllm=asked, facts=VERSION)
        assert found.in_version is inside
    assert weights(Log(), hit(5), vllm=">=0.18")[0].in_version is True
    facts = {**VERSION, **name}
    assert weights(Log(), match=None, when={"gpu.name": "x"}, vllm=">=0.18", facts=facts) == []
    assert len(weights(Log(), match=None, when={"gpu.name": "x"}, vllm=">=0.17", facts=facts)) == 1


def test_one_that_does_not_hold_leaves_the_others() -> None:
    matches = [
        Match(signature(id=id, severity=Severity.FATAL, **fields), () if "match" in fields else (hit(5),), 1, (), {}, 5)
        for id, fields in (
            ("a", {"when_known": {"gpu.name": "x"}}), ("b", {"when": {"vllm.version": "0.1"}}),
            ("c", {"match": None, "when": {"gpu.name": "x"}}),
            ("d", {"match": None, "when": {"vllm.version": "0.17.1"}, "vllm": ">=0.18"}), ("e", {}),
        )
    ]  # fmt: skip
    assert [one.id for one in weigh(matches, VERSION, Log(), Milestones())] == ["e"]  # type: ignore[arg-type]
