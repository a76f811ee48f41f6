"""`logdoctor probe` as a person or a health check calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from logdoctor.cli import app
from logdoctor.console import guarded
from logdoctor.probing import Prober, ProbeRequest, seconds
from logdoctor.report import FORMATS
from tests.probe.standin import Plan, StandIn
from tests.sample_logs import SAMPLES

KEY = "correct-horse-battery"
"""No pattern of a redactor knows it: only the client can keep it."""
LOG = SAMPLES / "cpu/0.17.1/sigkill_worker_serving.log"


class Called:
    """What came of a call."""

    def __init__(self, *arguments: str, stdin: bytes = b"") -> None:
        self.status = -1

        def command() -> object:
            result = CliRunner().invoke(app, ["probe", *arguments], input=stdin, standalone_mode=False)
            self.out, self.err = result.stdout, result.stderr
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            return result.return_value if isinstance(result.return_value, int) else result.exit_code

        self.status = guarded(command)


def test_a_server_in_order() -> None:
    with StandIn() as server:
        called = Called(server.url)
    assert called.status == 0
    assert called.out.startswith("READY")
    assert "first token after" in called.out


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_has_the_same_verdict_and_status(format_: str) -> None:
    with StandIn(Plan(thinking="hm", thinking_tokens=700)) as server:
        called = Called(server.url, "--format", format_)
    assert called.status == 1
    assert called.out.strip()


def test_the_json_report_names_the_finding_and_the_measurements() -> None:
    with StandIn(Plan(health=503)) as server:
        called = Called(server.url, "--format", "json")
    report = json.loads(called.out)
    boot = report["boots"][-1]
    assert (report["verdict"], boot["root_cause"]) == ("crashed", "probe-engine-dead")
    assert boot["facts"]["probe.health_status"] == {"value": 503, "line": None, "process": "", "origin": "probe"}
    assert report["source"] == server.url


def test_quiet_says_nothing_and_keeps_the_status() -> None:
    with StandIn(Plan(health=503)) as server:
        called = Called(server.url, "--quiet", "--level", "health")
    assert (called.status, called.out, called.err) == (1, "", "")


def test_fail_on_moves_the_threshold() -> None:
    with StandIn(Plan(content="Paris")) as server:
        assert Called(server.url).status == 0
        assert Called(server.url, "--fail-on", "warning").status == 1


def test_the_report_goes_into_a_file(tmp_path: Path) -> None:
    with StandIn() as server:
        called = Called(server.url, "--output", str(tmp_path / "report.md"), "--format", "markdown")
    assert called.out == ""
    assert (tmp_path / "report.md").read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("plan", [Plan(key=KEY), Plan(chat_status=500, echo=True), Plan(content=f"Bearer {KEY}")])
def test_no_key_passes_in_any_format(plan: Plan, format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_TEST_KEY", KEY)
    with StandIn(plan) as server:
        called = Called(server.url, "--api-key-env", "PROBE_TEST_KEY", "--format", format_)
        assert server.headers[-1]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in called.out + called.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ftp://localhost",), "http://"),
        (("http://user:hunter2@localhost",), "--api-key-env"),
        (("http://localhost", "--level", "much"), "health, answer or load"),
        (("http://localhost", "--timeout", "soon"), "--timeout"),
        (("http://localhost", "--interval", "0"), "--interval"),
        (("http://localhost", "--max-tokens", "0"), "--max-tokens"),
        (("http://localhost", "--api-key-env", "NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE"),
        (("http://localhost", "--format", "pdf"), "unknown format"),
        (("http://localhost", "--fail-on", "bad"), "--fail-on"),
        (("http://localhost", "--fact", "nonsense"), "KEY=VALUE"),
        (("http://localhost", "--log", "a", "--container", "b"), "exclude"),
        (("http://127.0.0.1:9", "--log", "/nonexistent.log"), "nonexistent.log"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    called = Called(*arguments)
    said = capsys.readouterr().err
    assert called.status == 2
    assert words in said
    assert "hunter2" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("way", ["file", "stdin"])
def test_a_log_joins_in(way: str) -> None:
    with StandIn() as server:
        server.stop()
        arguments = (server.url, "--format", "json", "--log", str(LOG) if way == "file" else "-")
        called = Called(*arguments, stdin=LOG.read_bytes() if way == "stdin" else b"")
    report = json.loads(called.out)
    assert (called.status, report["verdict"]) == (1, "crashed")
    assert report["boots"][-1]["root_cause"] == "process-ended-silently"
    assert report["source"].endswith(LOG.name if way == "file" else "stdin")


def _docker(folder: Path, log: Path) -> None:
    program = folder / "docker"
    program.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        'inspect) echo \'[{"Name": "/nemotron", "Config": {"Image": "vllm/vllm-openai:v0.17.1"}}]\' ;;\n'
        f"logs) cat '{log}' ;;\n"
        "esac\n",
        encoding="utf-8",
    )
    program.chmod(0o755)


def test_a_container_joins_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _docker(tmp_path, LOG)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with StandIn() as server:
        server.stop()
        called = Called(server.url, "--format", "json", "--container", "nemotron")
    report = json.loads(called.out)
    assert (called.status, report["verdict"]) == (1, "crashed")


def test_a_container_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Called("http://127.0.0.1:9", "--container", "nemotron").status == 2
    assert "not installed" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "value"), [("30s", 30), ("2m", 120), ("500ms", 0.5), ("1h", 3600), ("7", 7)])
def test_durations(text: str, value: float) -> None:
    assert seconds(text, "--interval") == value


class Rounds:
    """Stops a watch after a number of rounds, and changes the server between them."""

    def __init__(self, *steps: Callable[[], None]) -> None:
        self.steps = list(steps)

    def __call__(self, interval: float) -> None:
        if not self.steps:
            raise KeyboardInterrupt
        self.steps.pop(0)()


def test_watching_prints_on_change_only() -> None:
    shown: list[str] = []
    with StandIn() as server:

        def break_it() -> None:
            server.plan = Plan(health=503)

        def nothing() -> None:
            pass

        prober = Prober(ProbeRequest(server.url), sys.stdin.buffer)
        status = prober.watch(0.01, shown.append, Rounds(nothing, nothing, break_it, nothing))
    assert [text.split()[0] for text in shown] == ["READY", "CRASHED"]
    assert status == 1


def test_watching_asks_for_a_tool_once_where_there_is_none() -> None:
    with StandIn(Plan(tool="off")) as server:
        prober = Prober(ProbeRequest(server.url), sys.stdin.buffer)
        prober.watch(0.01, lambda text: None, Rounds(lambda: None, lambda: None))
    assert sum("tools" in body for body in server.bodies) == 1


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="the tests run where an interrupt is ignored"
)
def test_an_interrupt_ends_a_watch_with_the_last_status() -> None:
    with StandIn(Plan(health=503)) as server:
        words = [sys.executable, "-m", "logdoctor", "probe", server.url, "--interval", "30s", "--quiet"]
        if not (Path(__file__).parents[2] / "logdoctor/__main__.py").exists():
            words[1:3] = ["-c", "from logdoctor.cli import main; main()"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        patience = threading.Event()
        deadline = time.monotonic() + 20
        while ("GET", "/v1/models") not in server.requests and time.monotonic() < deadline:
            patience.wait(0.05)
        patience.wait(0.5)
        process.send_signal(2)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (1, b"", b"")
