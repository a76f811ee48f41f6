"""Record the start of a real vLLM as a sample: the log, and beside it what was arranged and what is right.

    python tests/record.py --vllm ~/vllm/bin/vllm --scenario healthy --scenario sigkill_worker_serving
    python tests/record.py --vllm ~/vllm/bin/vllm --scenario my-new-fault.yaml --out samples/cpu/0.33.0
    python tests/record.py --list

A scenario is the side file of a sample (command, environment, `what`, `right`, `expect`), so every sample can be
recorded again with a new version by its name. What is done around the command (requests, a killed process, a taken
port) stands in tests/recording/arranged.yaml, or under `arrange` in a side file of one's own. Commands name models
under /models; tiny random ones are made on first use, with the Python beside `vllm`. Runs on Linux, needs no GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import yaml  # noqa: E402

from logdoctor.commands import Request, run_diagnosis  # noqa: E402
from tests.recording import scenarios  # noqa: E402
from tests.recording.cleaning import SHOWN_MODELS, Cleaner, cleaner  # noqa: E402
from tests.recording.hub import Hub  # noqa: E402
from tests.recording.processes import UP, Server  # noqa: E402
from tests.recording.scenarios import Scenario  # noqa: E402
from tests.sample_logs import complaints  # noqa: E402

AFTER_KILL = 30.0
MODELS_SCRIPT = Path(__file__).parent / "recording" / "models.py"


@dataclass
class Recording:
    """What came of one scenario."""

    log: bytes = b""
    outcome: str = ""
    statuses: list[int | None] = field(default_factory=list)
    answers: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Recorder:
    """An installation of vLLM and where its models are."""

    vllm: tuple[str, ...]
    """The words that stand for `vllm`."""
    models: Path
    limit: float = 300.0
    """Seconds that a start may take."""

    def record(self, scenario: Scenario) -> Recording:
        """Run a scenario and return what the server wrote."""
        recording = Recording()
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="record-")))
            environment = self.environment(scenario)
            hub = stack.enter_context(Hub(scenario.hub)) if scenario.hub else None
            if hub:
                environment["HF_ENDPOINT"] = hub.url
            if scenario.busy:
                stack.enter_context(_taken(scenario.port))
            log = folder / "log"
            for _ in range(scenario.repeat):
                self._once(scenario, environment, log, recording)
            recording.log = self._cleaner(hub.url if hub else "").data(log.read_bytes())
        return recording

    def start(self, scenario: Scenario, log: Path) -> Server:
        """Start the server of a scenario, its output into a file."""
        words = self._words(scenario)
        return Server(words, self.environment(scenario), log, terminal=scenario.terminal, stream=scenario.stream)

    def environment(self, scenario: Scenario) -> dict[str, str]:
        """The whole environment of the server: what the scenario says, and the least that it needs."""
        beside = str(Path(self.vllm[-1]).parent) if "/" in self.vllm[-1] else ""
        path = os.pathsep.join(part for part in (beside, os.environ.get("PATH", "")) if part)
        own = {"PATH": path, "HOME": os.environ.get("HOME", "/root"), "LANG": "C.UTF-8", "VLLM_NO_USAGE_STATS": "1"}
        return {**own, **scenario.environment}

    def _words(self, scenario: Scenario) -> list[str]:
        words = list(self.vllm) if scenario.command[0] == "vllm" else [scenario.command[0]]
        return [*words, *(word.replace(f"{SHOWN_MODELS}/", f"{self.models}/") for word in scenario.command[1:])]

    def _cleaner(self, hub: str = "") -> Cleaner:
        return cleaner(Path(shutil.which(self.vllm[-1]) or self.vllm[-1]).resolve(), self.models, hub)

    def _once(self, scenario: Scenario, environment: Mapping[str, str], log: Path, recording: Recording) -> None:
        words = self._words(scenario)
        server = Server(words, environment, log, terminal=scenario.terminal, stream=scenario.stream)
        try:
            kill = scenario.kill
            if kill and kill.when and server.wait_for(kill.when.encode(), self.limit):
                server.kill(kill.which)
            # Without stderr nobody says that the server is up: then it is asked.
            up = self._answers(scenario, server) if scenario.stream == "stdout" else server.wait_for(UP, self.limit)
            if up:
                recording.outcome = "started"
                self._use(scenario, server, recording)
            elif server.status is None:
                recording.outcome = "did not start within the limit; stopped by SIGTERM"
            else:
                recording.outcome = "exited by itself"
        finally:
            server.stop()
        recording.statuses.append(server.status)

    def _answers(self, scenario: Scenario, server: Server) -> bool:
        url = f"http://127.0.0.1:{scenario.port}/health"
        for _ in range(int(self.limit)):
            if server.wait_end(1):
                return False
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as reply:
                return bool(reply.status == 200)
        return False

    def _use(self, scenario: Scenario, server: Server, recording: Recording) -> None:
        recording.answers += [self.send(scenario, request) for request in scenario.requests]
        if scenario.kill and not scenario.kill.when:
            server.kill(scenario.kill.which)
            server.wait_end(3)
            recording.answers.append(self.send(scenario, {"completion": "hi"}))
            server.wait_end(AFTER_KILL)

    def send(self, scenario: Scenario, request: Mapping[str, Any]) -> tuple[str, int]:
        """Send one request of a scenario; return its path and the status (0: no answer)."""
        path, body = _request(scenario.model.replace(f"{SHOWN_MODELS}/", f"{self.models}/"), request)
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **request.get("headers", {})}
        asked = urllib.request.Request(f"http://127.0.0.1:{scenario.port}{path}", data=data, headers=headers)
        try:
            with urllib.request.urlopen(asked, timeout=120) as reply:
                return path, int(reply.status)
        except urllib.error.HTTPError as error:
            return path, error.code
        except OSError:
            return path, 0


def _request(model: str, request: Mapping[str, Any]) -> tuple[str, Any]:
    tokens = request.get("tokens", 5)
    if "chat" in request:
        messages = [{"role": "user", "content": request["chat"]}]
        return "/v1/chat/completions", {"model": model, "messages": messages, "max_tokens": tokens}
    if "completion" in request:
        prompt = " ".join([request["completion"]] * request.get("times", 1))
        return "/v1/completions", {"model": model, "prompt": prompt, "max_tokens": tokens}
    body = request.get("body")
    return request["path"], body.encode() if isinstance(body, str) else body


@contextlib.contextmanager
def _taken(port: int) -> Iterator[None]:
    with socket.socket() as busy:
        busy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        busy.bind(("0.0.0.0", port))
        busy.listen()
        yield


def make_models(python: str, folder: Path) -> None:
    """Make the tiny models unless they are there."""
    if not (folder / "tiny" / "config.json").exists():
        print(f"making tiny models in {folder}", file=sys.stderr)
        subprocess.run([python, str(MODELS_SCRIPT), str(folder)], check=True)


def side_file(scenario: Scenario, recording: Recording, version: str) -> dict[str, Any]:
    """Return what the new side file says: the old one's words, with the version that was recorded."""
    side = dict(scenario.side)
    old, expect = str(side.get("vllm", "")), side.get("expect", {})
    if old and old != version and isinstance(expect.get("mention"), list):
        renamed = [word.replace(old.replace(".", r"\."), version.replace(".", r"\.")) for word in expect["mention"]]
        expect = {**expect, "mention": renamed}
    head = {"origin": "recorded", "vllm": version, "build": side.get("build", "CPU")}
    return {**head, **{key: value for key, value in side.items() if key not in head}, "expect": expect}


def diagnose(log: bytes) -> dict[str, Any]:
    """Return logdoctor's JSON report on a recorded log."""
    report: dict[str, Any] = json.loads(run_diagnosis(Request(format="json"), io.BytesIO(log)).text)
    return report


def save(scenario: Scenario, recording: Recording, out: Path | None) -> list[str]:
    """Write log and side file; return what the diagnosis of the log lacks."""
    report = diagnose(recording.log)
    facts = report["boots"][-1]["facts"] if report["boots"] else {}
    version = str(facts["vllm.version"]["value"]) if "vllm.version" in facts else str(scenario.side.get("vllm", ""))
    side = side_file(scenario, recording, version)
    folder = out or ROOT / "samples" / "cpu" / version
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{scenario.name}.log").write_bytes(recording.log)
    text = yaml.safe_dump(side, sort_keys=False, allow_unicode=True, width=140)
    (folder / f"{scenario.name}.yaml").write_text(text, encoding="utf-8")
    print(f"{folder / scenario.name}.log: vLLM {version}, {recording.outcome}, status {recording.statuses}")
    print(f"  requests {recording.answers}" if recording.answers else "  no requests")
    return complaints(side.get("expect", {}), report)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vllm", metavar="CMD", help="what stands for `vllm`, e.g. ~/vllm/bin/vllm")
    parser.add_argument("--scenario", action="append", default=[], metavar="NAME", help="a sample, or a side file")
    parser.add_argument("--out", type=Path, help="folder for log and side file (default: samples/cpu/VERSION)")
    parser.add_argument("--models", type=Path, help="folder of the tiny models (default: one beside the vllm script)")
    parser.add_argument("--python", help="Python with torch and transformers 4 or 5 (default: the one beside vllm)")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a start may take")
    parser.add_argument("--list", action="store_true", help="name the scenarios and leave")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record what the command line asks for; 1 when a diagnosis is not as the side file expects."""
    options = _options(arguments)
    if options.list:
        print("\n".join(scenarios.names()))
        return 0
    if not options.vllm or not options.scenario:
        print("record.py wants --vllm CMD and --scenario NAME; --list names the scenarios", file=sys.stderr)
        return 2
    words = tuple(str(Path(word).expanduser()) if word.startswith("~") else word for word in shlex.split(options.vllm))
    script = Path(shutil.which(words[-1]) or words[-1]).absolute()
    models = (options.models or script.parent.parent / "tiny-models").absolute()
    make_models(options.python or str(script.parent / "python"), models)
    recorder = Recorder((*words[:-1], str(script)), models, options.limit)
    wrong = 0
    for name in options.scenario:
        scenario = scenarios.load(name)
        lacks = save(scenario, recorder.record(scenario), options.out)
        print("\n".join(f"  not as expected: {lack}" for lack in lacks) or "  diagnosed as expected")
        wrong += bool(lacks)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
