"""A stage for recipes: an empty place with stand-ins for the programs that need a daemon or a cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

INSPECT = [
    {
        "Name": "/nemotron",
        "State": {},
        "Config": {"Image": "vllm/vllm-openai:v0.17.1", "Cmd": ["facebook/opt-125m", "--max-model-len", "4096"]},
        "HostConfig": {},
    }
]
_DOCKER = """\
echo "$@" >> "$STAGE/docker.calls"
[ "${2:-}" != missing ] && [ "${5:-}" != missing ] || { echo "Error: No such container: missing" >&2; exit 1; }
case "$1" in
  inspect) cat "$STAGE/inspect.json" ;;
  logs) cat "$STAGE/printed.txt" ;;
  run) printf '%s\\n' "$@" > "$STAGE/run.words" ;;
esac
"""
_INSTALLED = {"pip": 'echo "$@" >> "$STAGE/pip.calls"', "curl": "exit 0", "sleep": "exit 0"}


class Stage:
    """A directory with a log, stand-ins in front of PATH, and `logdoctor` as it is here."""

    def __init__(self, directory: Path, log: Path) -> None:
        self.directory = directory
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.log = directory / "vllm.log"
        shutil.copy(log, self.log)
        shutil.copy(log, directory / "printed.txt")
        (directory / "inspect.json").write_text(json.dumps(INSPECT), encoding="utf-8")
        self.put("logdoctor", f'exec {sys.executable} -m logdoctor.entry "$@"')
        self.put("python3", f'exec {sys.executable} "$@"')
        self.put("docker", _DOCKER)
        for name, body in _INSTALLED.items():
            self.put(name, body)

    def put(self, name: str, body: str) -> Path:
        """Put a program on PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the directory; the user's own settings are out of sight."""
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("LOGDOCTOR", "DOCKER", "GITHUB"))
        }
        environ = {
            **kept,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "STAGE": str(self.directory),
            "HOME": str(self.directory),
            **environment,
        }
        return subprocess.run(
            words,
            cwd=self.directory,
            env=environ,
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )

    def shell(self, text: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run lines of shell as CI systems do: the first failing line ends it."""
        return self.run("sh", "-e", "-c", text, "sh", *arguments, **environment)
