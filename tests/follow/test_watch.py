"""Following a log: when the watch looks, when it ends, and what it says on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from logdoctor.api import Diagnoser
from logdoctor.console import CommandFailed
from logdoctor.follow import Ending, FileSource, Pace, Watch
from logdoctor.follow.command import seconds_of, timed_out
from logdoctor.model import Verdict

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
READY = (SAMPLES / "gpu" / "healthy-llama-cold.log").read_bytes()
FAILED = (SAMPLES / "gpu" / "max-model-len-too-long.log").read_bytes()
LOADING = (SAMPLES / "synthetic" / "13-loading-9-of-17-shards-gb10-0.17.1.log").read_bytes()


class Script:
    """A source and a clock in one: each step is bytes, or seconds of silence."""

    def __init__(self, steps: Iterable[bytes | float]) -> None:
        self.steps = list(steps)
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def read(self, timeout: float) -> bytes | None:
        self.now += 0.001
        if not self.steps:
            self.now += timeout
            return None
        step = self.steps[0]
        if isinstance(step, bytes):
            self.steps.pop(0)
            return step
        self.now += timeout
        left = step - timeout
        self.steps[0] = left
        if left <= 0:
            self.steps.pop(0)
        return None

    def close(self) -> None:
        pass


def watch(steps: Iterable[bytes | float], **options: object) -> tuple[Watch, list[Verdict], Script]:
    script = Script(steps)
    made = Watch(script, Diagnoser(), script.clock, **options)  # type: ignore[arg-type]
    return made, [report.verdict for report in made.looks()], script


def upto_ready() -> bytes:
    end = READY.index(b"Application startup complete")
    return READY[: READY.index(b"\n", end) + 1]


def test_a_start_ends_when_it_is_ready() -> None:
    text = upto_ready()
    made, verdicts, script = watch([text[:4000], 3.0, text[4000:], 60.0])
    assert verdicts[-1] is Verdict.READY
    assert Verdict.STARTING in verdicts
    assert made.ending is Ending.SETTLED
    assert script.now < 5, "it does not wait for more once the server is up"


def test_a_failure_ends_when_others_have_noticed_it() -> None:
    made, verdicts, script = watch([FAILED, 60.0])
    assert verdicts == [Verdict.FAILED]
    assert made.ending is Ending.SETTLED
    assert script.now < 0.5


def test_a_traceback_that_is_still_written_is_waited_for() -> None:
    half = FAILED[: FAILED.index(b"\n", FAILED.index(b"EngineCore failed to start")) + 1]
    made, verdicts, _ = watch([half, 1.0, FAILED[len(half) :], 60.0])
    assert verdicts[-1] is Verdict.FAILED
    assert made._diagnoser.report().root_cause.id == "kv-cache-one-request"  # type: ignore[union-attr]


def test_until_ready_goes_on_after_a_failure() -> None:
    made, verdicts, _ = watch([FAILED, 5.0, upto_ready(), 60.0], until_ready=True)
    assert verdicts[-1] is Verdict.READY
    assert made.ending is Ending.SETTLED


def test_stay_goes_on_after_ready_and_ends_with_the_crash() -> None:
    _, verdicts, _ = watch([upto_ready(), 30.0, READY[len(upto_ready()) :], 60.0], stay=True)
    assert Verdict.READY in verdicts
    assert verdicts[-1] is Verdict.STOPPED


def test_a_start_that_does_not_settle_in_time_is_still_starting() -> None:
    made, verdicts, script = watch([LOADING, 5000.0], pace=Pace(timeout=1200))
    assert made.ending is Ending.TIMEOUT
    assert script.now == pytest.approx(1200, abs=2)
    report = timed_out(made._diagnoser.report(), 1200)
    assert report.verdict is Verdict.STARTING
    assert report.exit_status() == 3
    assert "STALLED" not in report.render("text")
    assert "weights" in report.boots[-1].notes[-1]
    assert verdicts[-1] in (Verdict.STARTING, Verdict.STALLED)


def test_the_end_of_the_pipe_ends_the_watch() -> None:
    made, verdicts, _ = watch([LOADING, b""])
    assert made.ending is Ending.END_OF_LOG
    assert len(verdicts) == 1


def test_progress_names_shards_and_says_nothing_twice() -> None:
    made, _, _ = watch([LOADING, b""])
    report = made._diagnoser.report()
    assert "shard 9 of 17" in made.progress(report)
    assert made.progress(report) == ""


def test_a_problem_is_told_once() -> None:
    made, _, _ = watch([FAILED, b""])
    report = made._diagnoser.report()
    assert next(finding.id for finding in made.new_problems(report)) == "kv-cache-one-request"
    assert made.new_problems(report) == []


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("20m", 1200), ("1h30m", 5400), ("0.5s", 0.5)])
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5s", "5 days"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(CommandFailed):
        seconds_of(text)


def test_a_rotated_and_a_truncated_file_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "vllm.log"
    path.write_bytes(b"one\n")
    source = FileSource(str(path))
    assert source.read(0) == b"one\n"
    path.rename(tmp_path / "vllm.log.1")
    assert source.read(0) is None
    path.write_bytes(b"two\n")
    assert source.read(0.2) == b"two\n"
    path.write_bytes(b"3\n")
    assert source.read(0.2) == b"3\n"
    source.close()


def follow(*words: str, stdin: int | None = None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "logdoctor.entry", "--follow", *words]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ})


def test_through_a_pipe_it_ends_by_itself_while_the_pipe_stays_open() -> None:
    process = follow("--format", "json", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(upto_ready())
    process.stdin.flush()
    assert process.wait(timeout=60) == 0
    out, err = process.communicate()
    assert b'"ready"' in out
    assert b"logdoctor: ready" in err


def test_a_file_is_followed_to_its_failure(tmp_path: Path) -> None:
    path = tmp_path / "vllm.log"
    path.write_bytes(FAILED[:9000])
    process = follow(str(path))
    time.sleep(0.2)
    with path.open("ab") as file:
        file.write(FAILED[9000:])
    assert process.wait(timeout=60) == 1
    assert b"kv-cache-one-request" in process.communicate()[0]


def test_a_timeout_ends_with_status_three(tmp_path: Path) -> None:
    path = tmp_path / "vllm.log"
    path.write_bytes(LOADING)
    process = follow(str(path), "--timeout", "1s")
    assert process.wait(timeout=60) == 3
    assert process.communicate()[0].startswith(b"STARTING")
