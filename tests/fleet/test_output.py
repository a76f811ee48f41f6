"""The file of records: whole lines, taken up again where it ends."""

from __future__ import annotations

from pathlib import Path

from logdoctor.fleet.output import OutputFile, read_records
from logdoctor.fleet.sources import key_of
from tests.fleet.build import lines, made

THREE = [made(f"{name}.log") for name in "abc"]


def test_every_line_is_there_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with OutputFile(path, resume=False) as file:
        for count, record in enumerate(THREE, 1):
            file.write(lines([record]))
            assert path.read_bytes().count(b"\n") == count


def test_without_resume_it_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(lines(THREE))
    with OutputFile(path, resume=False) as file:
        assert not file.done
    assert path.read_bytes() == b""


def test_resume_knows_what_is_done_and_cuts_a_half_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    whole = lines(THREE[:2])
    path.write_bytes(whole + lines(THREE[2:])[:-5])
    with OutputFile(path, resume=True) as file:
        assert [file.has(key_of(f"{name}.log")) for name in "abc"] == [True, True, False]
        assert path.read_bytes() == whole
        file.write(lines(THREE[2:]))
    assert [record["source"] for record in read_records(path)] == ["a.log", "b.log", "c.log"]


def test_resume_of_nothing_is_a_new_file(tmp_path: Path) -> None:
    with OutputFile(tmp_path / "out.jsonl", resume=True) as file:
        assert not file.done


def test_lines_that_are_no_records_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"hello\n" + b"x" * 300_000 + b"\n" + lines(THREE[:1]) + b'{"a":1}\n')
    assert [record["source"] for record in read_records(path)] == ["a.log"]
