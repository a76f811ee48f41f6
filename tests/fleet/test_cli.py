"""The command: what goes to standard output, what to standard error, and the exit status."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from logdoctor.cli import app
from logdoctor.console import guarded
from tests.fleet.build import READY, SHARD, unknown, write


class Ran(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Run the command in a directory with some logs."""
    write(
        tmp_path,
        {"logs/a.log": READY, "logs/b.log": SHARD, "logs/n/c.log": unknown(), "logs/b.yaml": "x: 1", "up/a.log": READY},
    )
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = guarded(lambda: app(["fleet", "-j", "1", *words], standalone_mode=False))
        out, err = capfdbinary.readouterr()
        return Ran(status, out.decode(), err.decode())

    return run


def test_without_output_the_records_go_out_and_the_summary_beside_them(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("logs")
    assert [record["source"] for record in ran.records] == ["logs/a.log", "logs/b.log", "logs/n/c.log"]
    assert "ROOT CAUSES (1)" in ran.err and "UNKNOWN FAILURES" in ran.err
    assert ran.status == 1


def test_with_output_the_summary_goes_out_in_its_form(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("logs", "-o", "out.jsonl", "--format", "json")
    assert json.loads(ran.out)["logs"] == 3
    assert len(Path("out.jsonl").read_text().splitlines()) == 3
    assert ran.err == ""


@pytest.mark.parametrize(
    ("paths", "status"),
    [(["up"], 0), (["logs/b.log"], 1), (["up", "gone.log"], 2), (["logs", "gone.log"], 2), (["b.txt"], 3)],
)
def test_the_status_is_over_all_logs(run, paths: list[str], status: int) -> None:  # type: ignore[no-untyped-def]
    Path("b.txt").write_text("nothing of vLLM\n")
    assert run(*paths).status == status


def test_as_many_records_as_logs_unreadable_ones_too(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("logs", "gone.log", "none/*.log")
    assert len(ran.records) == 5
    assert [record["error"] for record in ran.records][-2:] == ["does not exist"] * 2


def test_resume_does_only_what_is_left(run) -> None:  # type: ignore[no-untyped-def]
    run("logs/a.log", "-o", "out.jsonl")
    first = Path("out.jsonl").read_bytes()
    ran = run("logs", "-o", "out.jsonl", "--resume", "--format", "json")
    assert "1 logs have a record" in ran.err
    done = Path("out.jsonl").read_bytes()
    assert done.startswith(first)
    assert done.count(b"\n") == 3
    assert json.loads(ran.out)["logs"] == 3
    again = run("logs", "-o", "out.jsonl", "--resume", "--format", "json")
    assert Path("out.jsonl").read_bytes() == done
    assert json.loads(again.out)["causes"] == json.loads(ran.out)["causes"]
    assert again.status == ran.status == 1


def test_records_without_what_together_needs_are_named(run) -> None:  # type: ignore[no-untyped-def]
    run("up", "-o", "out.jsonl")
    ran = run("up", "logs/b.log", "-o", "out.jsonl", "--resume", "--together")
    assert "1 of them were diagnosed without --together" in ran.err
    assert "STARTS OF THE DEPLOYMENT (1)" in ran.out


def test_a_baseline_says_what_is_new(run) -> None:  # type: ignore[no-untyped-def]
    run("logs/b.log", "-o", "earlier.jsonl")
    ran = run("logs", "-o", "out.jsonl", "--baseline", "earlier.jsonl")
    assert "1 cause is new against the baseline of 1 log" in ran.out


def test_a_list_of_paths_on_standard_input(run) -> None:  # type: ignore[no-untyped-def]
    assert [record["source"] for record in run("-", stdin=b"up/a.log\nlogs/b.log\n").records] == [
        "up/a.log",
        "logs/b.log",
    ]


def test_the_same_bytes_every_time(run) -> None:  # type: ignore[no-untyped-def]
    assert run("logs", "-j", "3") == run("logs", "-j", "2")


def test_together_names_node_and_rank(run) -> None:  # type: ignore[no-untyped-def]
    from tests.fleet.test_together import FLUX, GONE, node

    write(Path("dep"), {"a/0.log": node(0, fails=GONE), "b/0.log": node(1, fails=FLUX)})
    ran = run("--together", "dep", "-o", "out.jsonl")
    assert "began on b, node rank 1, rank 3, process Worker_TP3" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "usage"),
        (["logs", "--resume"], "--output"),
        (["logs", "--engine", "spark"], "pool, ray"),
        (["logs", "--format", "pdf"], "terminal, markdown, html, json"),
        (["logs", "--jobs", "-1"], "--jobs"),
        (["logs", "--fail-on", "never"], "--fail-on"),
        (["logs", "--baseline", "gone.jsonl"], "gone.jsonl"),
        (["logs", "--baseline", "logs/b.yaml"], "no records"),
        (["logs", "-o", "none/out.jsonl"], "cannot write"),
        (["logs", "--fact", "x"], "KEY=VALUE"),
        (["logs/n/empty"], "no logs"),
        (["logs", "-o", "/dev/full"], "cannot write /dev/full: No space left"),
    ],
)
def test_mistakes_are_one_line_and_status_two(run, words: list[str], said: str) -> None:  # type: ignore[no-untyped-def]
    Path("logs/n/empty").mkdir()
    ran = run(*words)
    assert ran.status == 2
    assert said in ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err


def test_a_reader_that_goes_ends_it_quietly(tmp_path: Path) -> None:
    write(tmp_path, {f"{n}.log": SHARD for n in range(200)})
    command = [sys.executable, "-m", "logdoctor.cli", "fleet", str(tmp_path), "-j", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 2


def test_the_summary_speaks_the_language_asked_for(run) -> None:  # type: ignore[no-untyped-def]
    done = run("logs", "--lang", "zh", "-o", "records.jsonl")
    assert done.out.startswith("3 份日志 · ")
    assert "根本原因" in run("logs", "--lang", "zh").err
    assert run("logs", "--lang", "xx").status == 2


def test_colour_can_be_forced_for_the_summary_beside_the_records(run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in run("logs").err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("logs").err
