"""The recorder, with a program that plays vLLM; the real one is started in tests/probe/test_real_vllm.py."""

from __future__ import annotations

import ast
import json
import os
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from logdoctor.probe import questions
from tests.record import Recorder, Recording, main, save, side_file
from tests.recording import scenarios
from tests.recording.cleaning import Cleaner, cleaner
from tests.recording.scenarios import Kill, Scenario

PLAYER = """\
#!{python}
import http.server, json, os, signal, subprocess, sys, time
words = sys.argv[1:]
port = int(words[words.index("--port") + 1])
print("(APIServer pid=1) INFO 11-30 09:44:00 [api_utils.py:345]  version 0.99.0", flush=True)
print("(APIServer pid=1) INFO 11-30 09:44:00 [x.py:1] args", words, os.environ.get("VLLM_X"), __file__, flush=True)
print("(APIServer pid=1) Traceback on stderr", file=sys.stderr, flush=True)
if "--broken" in words:
    sys.exit(1)
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "VLLM::Worker"])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print("asked", body.get("model"), body.get("prompt") or body["messages"][0]["content"], flush=True)
        self.send_response(200 if worker.poll() is None else 500)
        self.send_header("Content-Length", "0"); self.end_headers()
        if worker.poll() is not None:
            print("worker gone", worker.poll(), flush=True)
            os._exit(0)
    def log_message(self, *a): pass
try:
    server = http.server.HTTPServer(("127.0.0.1", port), Handler)
except OSError as error:
    sys.exit(f"OSError: {{error}}")
def stop(*a):
    print("Shutting down", flush=True)
    worker.kill()
    os._exit(0)
signal.signal(signal.SIGTERM, stop)
print("INFO:     Application startup complete.", flush=True)
server.serve_forever()
"""


@pytest.fixture
def port() -> int:
    """A free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    """A recorder of the player."""
    script = tmp_path / "bin" / "vllm"
    script.parent.mkdir()
    script.write_text(PLAYER.format(python=sys.executable), encoding="utf-8")
    script.chmod(0o755)
    return Recorder((str(script),), tmp_path / "models", limit=20)


def scenario(port: int, *words: str, **changes: Any) -> Scenario:
    """A scenario of the player."""
    command = ("vllm", "serve", "/models/tiny", "--port", str(port), *words)
    return Scenario("played", command, {"VLLM_X": "7"}, **changes)


def test_a_start_is_recorded_without_traces_of_the_machine(recorder: Recorder, port: int, tmp_path: Path) -> None:
    requests = ({"completion": "hello"}, {"chat": "hi"}, {"path": "/health"})
    recording = recorder.record(scenario(port, requests=requests))
    log = recording.log.decode()
    assert recording.outcome == "started"
    assert recording.statuses == [0]
    assert recording.answers == [("/v1/completions", 200), ("/v1/chat/completions", 200), ("/health", 200)]
    assert "'/models/tiny'" in log
    assert "asked /models/tiny hello" in log
    assert " 7 " in log
    assert "Traceback on stderr" in log
    assert log.endswith("Shutting down\n")
    assert str(recorder.models) not in log


def test_a_worker_is_killed_while_serving(recorder: Recorder, port: int) -> None:
    recording = recorder.record(scenario(port, kill=Kill("worker")))
    assert "worker gone -9" in recording.log.decode()
    assert recording.answers == [("/v1/completions", 500)]
    assert recording.statuses == [0]


def test_a_start_that_fails_again_and_again(recorder: Recorder, port: int) -> None:
    recording = recorder.record(scenario(port, "--broken", repeat=2))
    assert recording.outcome == "exited by itself"
    assert recording.statuses == [1, 1]
    assert recording.log.count(b"version 0.99.0") == 2


def test_a_port_that_is_taken(recorder: Recorder, port: int) -> None:
    recording = recorder.record(scenario(port, busy=True))
    assert b"Address already in use" in recording.log
    assert recording.statuses == [1]


@pytest.mark.parametrize(
    ("stream", "there", "missing"), [("stdout", b"version", b"stderr"), ("stderr", b"stderr", b"version")]
)
def test_one_stream_alone(recorder: Recorder, port: int, stream: str, there: bytes, missing: bytes) -> None:
    log = recorder.record(scenario(port, "--broken", stream=stream)).log
    assert there in log
    assert missing not in log


def test_a_terminal_ends_its_lines_otherwise(recorder: Recorder, port: int) -> None:
    assert b"\r\n" in recorder.record(scenario(port, "--broken", terminal=True)).log


def test_log_and_side_file_are_written_with_the_version_of_the_log(tmp_path: Path) -> None:
    sample = scenarios.load("enforce_eager")
    old = sample.side["vllm"]
    log = (scenarios.SAMPLES / "cpu" / old / "enforce_eager.log").read_bytes().replace(old.encode(), b"0.98.7")
    lacks = save(sample, Recording(log, "started", [0]), tmp_path)
    side = yaml.safe_load((tmp_path / "enforce_eager.yaml").read_text(encoding="utf-8"))
    assert lacks == []
    assert side["vllm"] == "0.98.7"
    assert r"0\.98\.7" in side["expect"]["mention"]
    assert side["command"] == sample.side["command"]
    assert (tmp_path / "enforce_eager.log").read_bytes() == log


def test_a_diagnosis_that_is_not_as_expected_is_said(tmp_path: Path) -> None:
    sample = scenarios.load("enforce_eager")
    assert save(sample, Recording(b"nothing of vLLM\n", "started", [0]), tmp_path)


def test_the_side_file_keeps_what_the_old_one_says() -> None:
    sample = scenarios.load("api_key")
    side = side_file(sample, Recording(), "0.98.7")
    assert side["secrets"] == sample.side["secrets"]
    assert (side["origin"], side["vllm"]) == ("recorded", "0.98.7")


@pytest.mark.parametrize("name", scenarios.names())
def test_every_sample_is_a_scenario(name: str) -> None:
    loaded = scenarios.load(name)
    assert loaded.command[0] == "vllm"
    assert loaded.model
    assert loaded.side["what"]


def test_arrangements_are_for_scenarios_that_exist() -> None:
    arranged = yaml.safe_load(scenarios.ARRANGED.read_text(encoding="utf-8"))
    assert set(arranged) <= set(scenarios.names())
    assert scenarios.load("sigkill_worker_serving").kill == Kill("worker")


def test_a_scenario_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    side = {"command": "vllm serve /models/tiny", "what": "x", "arrange": {"requests": [{"chat": "hi"}], "repeat": 2}}
    own.write_text(json.dumps(side), encoding="utf-8")
    loaded = scenarios.load(str(own))
    assert (loaded.name, loaded.repeat, loaded.requests) == ("own", 2, ({"chat": "hi"},))


def test_an_unknown_scenario_is_refused() -> None:
    with pytest.raises(SystemExit):
        scenarios.load("no-such-scenario")


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert "healthy" in capsys.readouterr().out
    assert main([]) == 2


def test_longer_paths_are_cleaned_first(tmp_path: Path) -> None:
    made = cleaner(tmp_path / "bin" / "vllm", tmp_path / "models", "http://127.0.0.1:9009")
    text = f"{tmp_path}/models/tiny http://127.0.0.1:9009/x host='127.0.0.1', port=9009"
    assert made.text(text) == "/models/tiny https://huggingface.co/x host='huggingface.co', port=443"


def test_cleaning_keeps_bytes_that_are_no_text() -> None:
    assert Cleaner((("a", "b"),)).data(b"\xffa\r\n\x00") == b"\xffb\r\n\x00"


def test_the_tiny_models_learn_the_questions_that_the_probe_asks() -> None:
    tree = ast.parse((Path(__file__).parent / "models.py").read_text(encoding="utf-8"))
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("ANSWERS", "COUNTING", "TOOL_QUESTION")
    }
    assert set(values["ANSWERS"]) == {question.prompt for question in questions.QUESTIONS}
    assert all(question.is_right(values["ANSWERS"][question.prompt]) for question in questions.QUESTIONS)
    assert values["COUNTING"][0] == questions.CONTINUATION.prompt
    assert values["TOOL_QUESTION"] == questions.TOOL_QUESTION


def test_the_environment_holds_nothing_of_the_caller(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_caller")
    environment = recorder.environment(scenario(1))
    assert set(environment) == {"PATH", "HOME", "LANG", "VLLM_NO_USAGE_STATS", "VLLM_X"}
    assert environment["PATH"].split(os.pathsep)[0] == str(Path(recorder.vllm[0]).parent)
    assert shlex.join(recorder.vllm).endswith("bin/vllm")
