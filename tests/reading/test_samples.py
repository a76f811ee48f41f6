"""Every recorded log is read whole, and an envelope changes nothing of it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from logdoctor.model import Record
from logdoctor.reading import looks_like_vllm, open_runs, read_lines, read_records
from tests.sample_logs import SAMPLES, name_of, sample_logs

# These hold more or less than the log itself.
_PARTIAL = ("markdown", "tail")
# Written logs may hold several services, or a line that is not vLLM's.
RECORDED = [log for log in sample_logs() if "synthetic" not in log.parts]


def records(log: Path) -> list[tuple[int, Record]]:
    return list(read_records(read_lines(open_runs([str(log)], stdin=io.BytesIO()))))


@pytest.mark.parametrize("log", RECORDED, ids=name_of)
def test_every_line_of_a_recorded_log_is_in_a_record(log: Path) -> None:
    runs = open_runs([str(log)], stdin=io.BytesIO())
    got = list(read_records(read_lines(runs)))
    numbers = [number for _, record in got for number, _ in record.lines]
    assert len(numbers) == len(set(numbers))
    assert runs.lines_read - 40 <= len(numbers) <= runs.lines_read  # empty lines are in no record
    assert runs.notes == ()
    firsts = [record.first_line for _, record in got]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("log", sorted((SAMPLES / "wrapped").glob("*.log")), ids=name_of)
def test_an_envelope_changes_nothing(log: Path) -> None:
    transport, *version, name = log.stem.split(".")
    original = SAMPLES / "cpu" / ".".join(version) / f"{name}.log"
    if transport in _PARTIAL or not original.exists():
        pytest.skip("not the whole log")

    def shape(path: Path) -> list[tuple[object, ...]]:
        return [
            (
                boot,
                r.level,
                r.time,
                r.file,
                r.file_line,
                r.process.name,
                r.process.pid,
                r.process.rank,
                r.message,
                r.quoted,
            )
            for boot, r in records(path)
        ]

    assert shape(log) == shape(original)


@pytest.mark.parametrize("log", RECORDED, ids=name_of)
def test_boots_are_those_of_the_recording(log: Path) -> None:
    boots = {boot for boot, _ in records(log)}
    assert len(boots) == (3 if "restart_loop" in log.name else 1)


@pytest.mark.parametrize("log", RECORDED, ids=name_of)
def test_recorded_servers_look_like_vllm(log: Path) -> None:
    plain_torch = log.name.startswith("torch-")
    assert any(looks_like_vllm(record) for _, record in records(log)) or plain_torch
