"""What only shows over several starts."""

from __future__ import annotations

from logdoctor.model import Verdict
from tests.diagnosis.build import CASCADE, UP, banner, diagnose, ids, lines, raised, said

BAR = "(EngineCore pid=68) Loading safetensors checkpoint shards:  25% Completed | 4/17 [00:24<01:18,  6.00s/it]"


def start(hour: int) -> str:
    return lines(banner("0.24.0").replace("11-30 10:", f"11-30 {hour}:"), said("Starting to load model acme/m..."), BAR)


def test_starts_that_break_off_one_after_the_other_are_a_loop() -> None:
    made = diagnose(lines(start(10), start(11), start(12)))
    assert [boot.verdict for boot in made.boots] == [Verdict.FAILED, Verdict.FAILED, Verdict.STARTING]
    assert made.root_cause is not None
    assert made.root_cause.id == "starts-cut-off"
    assert made.root_cause.title.startswith("2 starts before this one ended without a word")
    assert [evidence.line for evidence in made.root_cause.evidence] == [boot.lines[1] for boot in made.boots[:2]]


def test_one_restart_may_have_been_meant() -> None:
    made = diagnose(lines(start(10), start(11)))
    assert [boot.verdict for boot in made.boots] == [Verdict.FAILED, Verdict.STARTING]
    assert made.root_cause is None
    assert "broke off" in made.boots[0].notes[-1]


def test_starts_that_failed_with_a_word_are_no_such_loop() -> None:
    failed = lines(banner("0.24.0"), raised("AttributeError: x", "profile_run"), CASCADE)
    assert "starts-cut-off" not in ids(diagnose(lines(failed, failed, start(12))).boots[-1].findings)


def test_a_server_that_came_up_at_last_is_ready() -> None:
    made = diagnose(lines(start(10), start(11), start(12), UP))
    assert (made.verdict, made.root_cause) == (Verdict.READY, None)
