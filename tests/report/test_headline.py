"""The statements of the first lines, number by number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logdoctor.model import BootDiagnosis, Diagnosis, Fact, FactValue, Verdict
from logdoctor.report.headline import headline, subject
from logdoctor.report.values import clock, duration, number, value_text
from logdoctor.report.words import Words

from .cases import CUTLASS, FAILED, READY, STARTING, STOPPED, diagnosis

WORDS = Words()


def boot(verdict: Verdict = Verdict.FAILED, phase: str = "weights", **values: FactValue) -> BootDiagnosis:
    facts = {key.replace("__", ".", 1): value for key, value in values.items()}
    made = {key: Fact(key, value, 1) for key, value in facts.items()}
    return BootDiagnosis(index=1, verdict=verdict, phase=phase, lines=(1, 2), facts=made)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (4.24, "4.2 s"), (41, "41 s"), (161, "2 min 41 s"), (3599.6, "1 h 0 min"), (7384, "2 h 3 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_clock() -> None:
    assert [clock(s) for s in (31, 112, 3780)] == ["0:31", "1:52", "1:03:00"]
    assert clock(float("nan")) == clock(-5) == "0:00"


def test_values() -> None:
    assert value_text(("a", "b\n c")) == "a, b c"
    assert value_text(True) == "true"
    odd = boot(a__x=True, a__y="7", a__z=float("nan"), a__n=7)
    assert [number(odd, key) for key in ("a.x", "a.y", "a.z", "a.n", "a.none")] == [None, None, None, 7.0, None]


@pytest.mark.parametrize(
    ("made", "statements"),
    [
        (boot(), ("FAILED while loading weights",)),
        (boot(phase="some-new-phase"), ("FAILED some-new-phase",)),
        (boot(phase=""), ("FAILED",)),
        (boot(Verdict.CRASHED, "serving"), ("CRASHED while serving",)),
        (boot(Verdict.STOPPED, "shutdown"), ("STOPPED in good order",)),
        (boot(Verdict.UNDETERMINED), ("UNDETERMINED", "the log does not show whether the server is up")),
        (boot(Verdict.READY, kv_cache__concurrency=2048.0), ("READY", "2,048x concurrency")),
        (
            boot(Verdict.READY, kv_cache__concurrency=1.5, model__max_len=4096),
            ("READY", "1.5x concurrency at 4,096 tokens"),
        ),
        (
            boot(Verdict.STALLED, "graph-capture", graphs__done=3, graphs__total=35),
            ("STALLED while capturing graphs", "graph 3 of 35"),
        ),
        (replace(boot(), seconds=0.2), ("FAILED while loading weights",)),
    ],
)
def test_headlines(made: BootDiagnosis, statements: tuple[str, ...]) -> None:
    assert headline(diagnosis(made), WORDS) == statements


def test_load_time_comes_from_the_phases_where_the_log_does_not_state_it() -> None:
    facts = {key: fact for key, fact in READY.boots[0].facts.items() if key != "start.seconds"}
    timed = replace(READY.boots[0], facts=facts, timeline=FAILED.boots[0].timeline)
    assert headline(diagnosis(timed), WORDS)[0] == "READY after 2 min 41 s"


@pytest.mark.parametrize(
    ("values", "device"),
    [
        ({"gpu__name": "NVIDIA H200", "gpu__compute_capability": "9.0", "gpu__count": 4}, "4 x NVIDIA H200, SM90"),
        ({"gpu__compute_capability": "12.1"}, "SM121"),
        ({"platform": "cpu"}, "CPU"),
        ({}, ""),
    ],
)
def test_devices(values: dict[str, FactValue], device: str) -> None:
    assert subject(boot(**values), WORDS) == ((device,) if device else ())


def test_what_the_log_did_not_state_says_so() -> None:
    assert subject(FAILED.boots[0], WORDS)[-1] == "GB10, SM121 (inferred: 121.7 GiB)"
    given = {"gpu.name": Fact("gpu.name", "GB10", origin="given")}
    assert subject(replace(boot(), facts=given), WORDS) == ("GB10 (given)",)


def test_starting_says_how_far_it_is_and_stopped_how_long_it_ran() -> None:
    assert headline(STARTING, WORDS)[1:] == ("shard 5 of 17", "2 min 26 s after start")
    assert headline(STOPPED, WORDS) == ("STOPPED in good order", "2 h 3 min after start")


def test_another_language_falls_back_word_by_word() -> None:
    assert Words("xx")("verdict.ready") == "READY"
    assert Words().get("phase.unheard-of", "unheard-of") == "unheard-of"


@pytest.mark.parametrize(
    ("stands", "failed", "verdict", "told"),
    [
        ("distributed", "kv-cache", Verdict.FAILED, "while setting up the KV cache"),
        ("distributed", "platform", Verdict.FAILED, "while checking the device"),
        ("profiling", "kernel-selection", Verdict.FAILED, "during profiling (warm-up)"),
        ("weights", "shutdown", Verdict.FAILED, "while loading weights"),
        ("serving", "kv-cache", Verdict.CRASHED, "while serving"),
        ("weights", "of-tomorrow", Verdict.FAILED, "while loading weights"),
    ],
)
def test_the_phase_is_that_of_the_root_cause_where_it_knows_better(
    stands: str, failed: str, verdict: Verdict, told: str
) -> None:
    finding = replace(CUTLASS, phase=failed)
    made = replace(boot(verdict, stands), findings=(finding,))
    assert headline(Diagnosis(verdict, "", (made,)), Words())[0] == f"{verdict.value.upper()} {told}"
