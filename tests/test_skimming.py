"""A skimmed log gets the same report as the whole one."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.database import load_database
from logdoctor.diagnosis import diagnose_records
from logdoctor.diagnosis.wanted import wanted_texts
from logdoctor.model import Diagnosis, Run
from logdoctor.reading import open_runs, read_lines, read_records
from logdoctor.reading.bars import without_inner_steps
from logdoctor.reading.skim import Skimmer
from tests.benchmarks.serving_log import crash_of_log, healthy_line, start_of_log
from tests.sample_logs import name_of, sample_logs

DATABASE = load_database(environ={})


def diagnose(data: bytes, **skim: int) -> Diagnosis:
    """The diagnosis of a log, skimmed when `skim` tells the sizes of the parts that stay whole."""
    runs = open_runs(["-"], stdin=io.BytesIO(data))
    kept = Skimmer(lambda: wanted_texts(DATABASE), **skim).runs(runs) if skim else iter(runs)
    return diagnose_records(read_records(read_lines(kept)), DATABASE)


@pytest.mark.parametrize("log", sample_logs(), ids=name_of)
def test_a_sample_is_told_the_same_with_and_without(log: Path) -> None:
    data = log.read_bytes()
    whole = diagnose(data)
    assert diagnose(data, head=1 << 20, tail=1 << 18) == whole


@pytest.mark.parametrize("log", sample_logs(), ids=name_of)
def test_a_sample_far_inside_a_long_log_gets_the_same_root_cause(log: Path) -> None:
    data = log.read_bytes()
    whole = diagnose(data)
    # Nothing is kept for its place: every line has to be let through for what it says.
    skimmed = diagnose(data, head=0, tail=0)
    assert skimmed.verdict is whole.verdict
    assert (skimmed.root_cause and skimmed.root_cause.id) == (whole.root_cause and whole.root_cause.id)


def test_a_crash_deep_in_traffic_is_named_with_its_line() -> None:
    import random

    rng = random.Random(3)
    traffic = "".join(healthy_line(rng) for _ in range(40_000)).encode()
    data = start_of_log() + traffic + crash_of_log() + traffic
    skimmer = Skimmer(lambda: wanted_texts(DATABASE), head=1 << 16, tail=1 << 16)
    kept = list(skimmer.runs(open_runs(["-"], stdin=io.BytesIO(data))))
    assert sum(len(run.data) for run in kept) < len(data) / 4
    assert skimmer.bytes_skipped + sum(len(run.data) for run in kept) == len(data)
    diagnosis = diagnose_records(read_records(read_lines(kept)), DATABASE)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.id == "cuda-illegal-memory-access"
    line = diagnosis.root_cause.evidence[0].line
    assert b"illegal memory access" in data.split(b"\n")[line - 1]


@given(
    st.lists(
        st.sampled_from([b"a: %d%% Completed | %d/9 [x]", b"b: 1%% Completed | 1/2 []", b"text", b""]), max_size=60
    )
)
def test_only_inner_steps_of_a_bar_go(shapes: list[bytes]) -> None:
    lines = [shape % ((n,) * shape.count(b"%d")) for n, shape in enumerate(shapes)]
    data = b"\n".join(lines) + b"\n"
    kept = {
        run.first_line + offset: text
        for run in without_inner_steps(Run(1, data))
        for offset, text in enumerate(run.data.removesuffix(b"\n").split(b"\n"))
    }
    assert all(lines[number - 1] == text for number, text in kept.items() if number <= len(lines))
    gone = [number for number in range(1, len(lines) + 1) if number not in kept]
    assert all(b"% Completed | " in lines[n + d - 1] for n in gone for d in (-1, 0, 1))


def test_a_replaced_value_is_no_equal_report() -> None:
    """The comparison above can fail."""
    whole = diagnose(start_of_log())
    assert replace(whole, summary="x") != whole
