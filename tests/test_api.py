"""The Python interface: one diagnosis whatever way the log comes in, from any number of threads, without a sound."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import logdoctor
from logdoctor import Diagnoser, LogdoctorError, Report, Severity, Verdict, diagnose
from logdoctor.reading import pushed
from logdoctor.report import FORMATS
from logdoctor.report.schema import schema

from .running import report_of
from .sample_logs import SAMPLES

FAILED = SAMPLES / "cpu/0.17.1/max_len_gt_model.log"
HEALTHY = SAMPLES / "cpu/0.17.1/healthy.log"
SOME = [FAILED, HEALTHY, *sorted((SAMPLES / "wrapped").glob("*.log"))[:4]]


def without_source(document: dict[str, object]) -> dict[str, object]:
    """A report without the name of its input, which differs by the way the log came in."""
    return {key: value for key, value in document.items() if key != "source"}


def up() -> bytes:
    """The log of a server that is up and runs on."""
    head, mark, _ = HEALTHY.read_bytes().partition(b"Application startup complete.\n")
    return head + mark


def lines_of(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines()


# -- the report -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", SOME, ids=lambda log: log.stem)
def test_it_is_the_report_of_the_command_line(log: Path) -> None:
    report = diagnose(log)
    assert report.to_dict() == json.loads(report_of(log, "json"))
    assert report.render("json") == report_of(log, "json")
    assert str(report) == report.render("text") == report_of(log, "text")


def test_the_answers_are_at_hand() -> None:
    report = diagnose(str(FAILED))
    assert report.verdict is Verdict.FAILED
    assert report.verdict == "failed"
    assert report.root_cause is not None
    assert report.findings[0] is report.root_cause
    assert report.root_cause.title in report.summary
    assert [boot.index for boot in report.boots] == [1]
    assert report.facts["vllm.version"].value == "0.17.1"
    assert diagnose(b"").launch is None


def test_the_exit_status_is_that_of_the_command_line() -> None:
    assert diagnose(FAILED).exit_status() == 1
    assert diagnose(HEALTHY).exit_status() == 0
    assert diagnose(b"nothing of vLLM's\n").exit_status() == 3
    assert diagnose(FAILED).exit_status("fatal") == diagnose(FAILED).exit_status(Severity.FATAL)
    with pytest.raises(ValueError, match="loud"):
        diagnose(FAILED).exit_status("loud")


def test_to_dict_keeps_the_contract() -> None:
    jsonschema.validate(diagnose(FAILED).to_dict(), schema())


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_can_be_rendered(format: str) -> None:
    assert diagnose(FAILED).render(format, width=60).endswith("\n")


def test_an_unknown_format_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="unknown format 'xml2'"):
        diagnose(HEALTHY).render("xml2")


def test_a_report_is_frozen_and_can_be_pickled() -> None:
    report = diagnose(FAILED)
    with pytest.raises(FrozenInstanceError):
        report.lang = "zh"  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(report))
    assert isinstance(copy, Report)
    assert copy == report
    assert copy.render("json") == report.render("json")


def test_nothing_secret_or_acting_is_in_the_values() -> None:
    log = (
        FAILED.read_bytes() + b"(APIServer pid=1) ERROR 11-30 12:00:00 [x.py:1] hf_" + b"a1B2" * 9 + b" \x1b]0;x\x07\n"
    )
    report = diagnose(log)
    texts = repr(report)
    assert "hf_a1B2" not in texts
    assert "\\x1b]" not in texts.replace("\\\\x1b]", "")


def test_hosts_are_kept_only_when_asked_for() -> None:
    log = b"(APIServer pid=1) INFO 11-30 12:00:00 [api_server.py:1] vLLM API server version 0.17.1\n"
    log += b"(APIServer pid=1) ERROR 11-30 12:00:01 [x.py:1] Traceback (most recent call last):\n"
    log += b"(APIServer pid=1) ERROR 11-30 12:00:01 [x.py:1] OSError: cannot reach 203.0.113.77:5000\n"
    assert "203.0.113.77" not in diagnose(log).render("json")
    assert "203.0.113.77" in diagnose(log, keep_hosts=True).render("json")


# -- the ways in ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", SOME, ids=lambda log: log.stem)
def test_every_way_in_gives_the_same_report(log: Path) -> None:
    data = log.read_bytes()
    want = without_source(diagnose(log).to_dict())
    assert without_source(diagnose(data).to_dict()) == want
    assert without_source(diagnose(memoryview(data)).to_dict()) == want
    assert without_source(diagnose(gzip.compress(data)).to_dict()) == want
    with log.open("rb") as file:
        assert without_source(diagnose(file).to_dict()) == want
    assert without_source(diagnose(data.decode("utf-8", "surrogateescape").encode("utf-8", "replace")).to_dict())


def test_lines_may_lack_their_ends() -> None:
    want = without_source(diagnose(FAILED).to_dict())
    assert without_source(diagnose(lines_of(FAILED)).to_dict()) == want
    assert without_source(diagnose(line.encode() for line in lines_of(FAILED)).to_dict()) == want


def test_the_source_is_named_without_its_directory() -> None:
    assert diagnose(FAILED).to_dict()["source"] == "max_len_gt_model.log"
    assert diagnose(FAILED.read_bytes()).to_dict()["source"] == "bytes"
    assert diagnose(lines_of(FAILED)).to_dict()["source"] == "lines"


def test_a_text_is_never_taken_for_a_log() -> None:
    with pytest.raises(ValueError, match="give its text as bytes or as lines"):
        diagnose(FAILED.read_text(encoding="utf-8"))


def test_a_dash_is_no_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LogdoctorError, match="does not exist"):
        diagnose("-")


@pytest.mark.parametrize("name", ["missing.log", "."])
def test_what_cannot_be_read_is_one_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(LogdoctorError) as caught:
        diagnose(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_broken_signatures_are_an_error_or_notes(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("- id: own-entry\n", encoding="utf-8")
    with pytest.raises(LogdoctorError, match=r"own\.yaml:1"):
        diagnose(HEALTHY, signatures=[tmp_path])
    notes = diagnose(HEALTHY, signatures=[tmp_path], ignore_broken=True).signature_notes
    assert any("own.yaml:1" in note for note in notes)
    with pytest.raises(TypeError, match="sequence"):
        diagnose(HEALTHY, signatures=str(tmp_path))


# -- facts and the launch ---------------------------------------------------------------------------------------------


def test_given_facts_keep_their_type_and_say_so() -> None:
    report = diagnose(HEALTHY, facts={"gpu.name": "GB10", "prompt.tokens": 24000, "args.enforce_eager": True})
    assert (report.facts["gpu.name"].value, report.facts["gpu.name"].origin) == ("GB10", "given")
    assert report.facts["prompt.tokens"].value == 24000
    assert report.facts["args.enforce_eager"].value is True


def test_a_fact_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match=r"the fact gpu\.name wants"):
        diagnose(HEALTHY, facts={"gpu.name": object()})
    with pytest.raises(ValueError, match=r"did you mean gpu\.name"):
        diagnose(HEALTHY, facts={"gpu": "GB10"})


def test_words_of_the_report_print_as_their_words() -> None:
    report = diagnose(HEALTHY)
    assert f"{report.verdict}" == str(report.verdict) == report.verdict.value == report.to_dict()["verdict"]
    assert str(Severity.FATAL) == "fatal"
    assert f"{Severity.FATAL:>6}" == " fatal"
    assert repr(Verdict.FAILED) == "<Verdict.FAILED: 'failed'>"
    assert pickle.loads(pickle.dumps(Verdict.FAILED)) is Verdict.FAILED


IMAGE = "vllm/vllm-openai:v0.17.1"
LAUNCH = f"docker run --gpus all {IMAGE} /models/tiny --max-model-len 1048576\n"


@pytest.mark.parametrize("as_file", [False, True], ids=["text", "file"])
def test_a_launch_lends_its_facts_and_comes_back_corrected(as_file: bool, tmp_path: Path) -> None:
    launch: str | Path = LAUNCH
    if as_file:
        launch = tmp_path / "run.sh"
        launch.write_text(LAUNCH, encoding="utf-8")
    report = diagnose(FAILED, launch=launch)
    assert (report.facts["image.name"].value, report.facts["image.name"].origin) == (IMAGE, "launch")
    assert report.launch is not None
    assert report.launch.original.strip() == LAUNCH.strip()
    jsonschema.validate(report.to_dict(), schema())


def test_a_launch_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LogdoctorError):
        diagnose(FAILED, launch="ls -l /tmp")
    with pytest.raises(LogdoctorError, match="cannot be read"):
        diagnose(FAILED, launch=tmp_path / "missing.yaml")


# -- streams ----------------------------------------------------------------------------------------------------------


def pieces(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    """The data cut at the given places."""
    edges = [0, *sorted({cut % (len(data) + 1) for cut in cuts}), len(data)]
    return (data[start:end] for start, end in pairwise(edges))


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(cuts=st.lists(st.integers(0, 1 << 20), max_size=12), log=st.sampled_from(SOME))
def test_a_stream_may_be_cut_anywhere(cuts: list[int], log: Path) -> None:
    data = log.read_bytes()
    diagnoser = Diagnoser()
    for piece in pieces(data, cuts):
        diagnoser.feed(piece)
    assert without_source(diagnoser.finish().to_dict()) == without_source(diagnose(data).to_dict())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_stream_may_be_asked_at_any_time(encoding: str) -> None:
    data = FAILED.read_bytes().decode().encode(encoding)
    diagnoser = Diagnoser()
    for start in range(0, len(data), 101):
        diagnoser.feed(data[start : start + 101])
        assert diagnoser.verdict in Verdict
    assert without_source(diagnoser.finish().to_dict()) == without_source(diagnose(data).to_dict())


def test_the_verdict_follows_the_log() -> None:
    lines = HEALTHY.read_bytes().splitlines(keepends=True)
    ready = next(n for n, line in enumerate(lines) if b"Application startup complete" in line)
    diagnoser = Diagnoser()
    assert diagnoser.verdict is Verdict.UNDETERMINED
    diagnoser.feed(b"".join(lines[: ready // 2]))
    assert diagnoser.verdict is Verdict.STARTING
    diagnoser.feed(b"".join(lines[ready // 2 : ready]))
    assert diagnoser.verdict is Verdict.STARTING
    diagnoser.feed(lines[ready])
    assert diagnoser.verdict is Verdict.READY
    assert diagnoser.report() is diagnoser.report()


def test_nothing_can_be_fed_after_the_end() -> None:
    diagnoser = Diagnoser()
    diagnoser.feed(FAILED.read_bytes())
    assert diagnoser.finish() is diagnoser.finish()
    with pytest.raises(ValueError, match="after finish"):
        diagnoser.feed(b"more\n")


def long_log(lines: int) -> bytes:
    """A server's log that goes on for long after its start."""
    access = b'(APIServer pid=1) INFO:     127.0.0.1:50000 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    return up() + access * lines


def test_a_long_stream_is_diagnosed_as_the_file_is(tmp_path: Path) -> None:
    data = (
        long_log(60_000) + b"(EngineCore_DP0 pid=9) ERROR 11-30 12:00:00 [core.py:1] EngineCore failed\n" + long_log(9)
    )
    path = tmp_path / "long.log"
    path.write_bytes(data)
    diagnoser = Diagnoser()
    for start in range(0, len(data), 10_007):
        diagnoser.feed(data[start : start + 10_007])
    assert without_source(diagnoser.finish().to_dict()) == without_source(diagnose(path).to_dict())


def test_a_stream_without_end_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushed, "KEPT_HEAD", 1 << 20)
    monkeypatch.setattr(pushed, "KEPT_TAIL", 1 << 20)
    # Lines that the skimming wants to keep, again and again in another form.
    diagnoser = Diagnoser()
    diagnoser.feed(HEALTHY.read_bytes())
    for number in range(40):
        start = b"(APIServer pid=1) INFO 11-30 12:00:00 [api_server.py:1] vLLM API server version 0.17.1\n"
        diagnoser.feed(start + b"(APIServer pid=1) INFO 11-30 12:00:01 [x.py:1] filler %d\n" % number * 4000)
    stream = diagnoser._stream
    kept = sum(len(run.data) for run in stream.runs())
    assert kept < 6 << 20
    report = diagnoser.finish()
    assert any("were let go" in note for note in report.notes)


# -- surroundings -----------------------------------------------------------------------------------------------------


def test_threads_do_not_disturb_each_other() -> None:
    logs = SOME * 3  # six at a time, as many as there are threads
    want = {log: without_source(diagnose(log).to_dict()) for log in SOME}
    barrier = threading.Barrier(6)

    def one(log: Path) -> tuple[Path, dict[str, object]]:
        barrier.wait(timeout=60)
        return log, without_source(diagnose(log).to_dict())

    with ThreadPoolExecutor(6) as pool:
        for log, report in pool.map(one, logs):
            assert report == want[log]


def test_one_diagnoser_takes_from_several_threads() -> None:
    """Whoever feeds and whoever asks never meet half a state; every line arrives once."""
    head = up()
    diagnoser = Diagnoser()
    diagnoser.feed(head)
    line = b'(APIServer pid=1) INFO:     127.0.0.1:50000 - "GET /v1/models HTTP/1.1" 200 OK\n'
    verdicts: list[Verdict] = []

    def feed() -> None:
        for _ in range(50):
            diagnoser.feed(line)

    def ask() -> None:
        for _ in range(5):
            verdicts.append(diagnoser.verdict)

    threads = [threading.Thread(target=target) for target in (feed, ask, feed, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(verdicts) == {Verdict.READY}
    last = diagnoser.finish().boots[-1].lines[1]
    assert last == head.count(b"\n") + 100


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    diagnose(FAILED).render("terminal")
    Diagnoser().finish()
    with pytest.raises(LogdoctorError):
        diagnose("/no/such/log")
    assert capfd.readouterr() == ("", "")


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys, logdoctor; print(sorted(m for m in sys.modules if m.startswith('logdoctor.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_that_is_promised_is_there() -> None:
    for name in logdoctor.__all__:
        assert getattr(logdoctor, name) is not None
        assert name in dir(logdoctor)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = logdoctor.nothing  # type: ignore[attr-defined]
