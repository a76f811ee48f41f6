"""Start a server, watch what it writes, find its processes and end them."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

UP = b"Application startup complete"
_POLL = 0.3
_UNTITLED = "multiprocessing.spawn"
"""In the command line of the engine of a vLLM that gives its processes no titles (before 0.10)."""


class Server:
    """A running vLLM whose output goes into a file; everything it starts is in a session of its own."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        terminal: bool = False,
        stream: str = "",
    ) -> None:
        self.log = log
        self._file = log.open("ab")
        self._start = self._file.tell()
        if terminal:
            self._process = self._on_terminal(words, environment)
            return
        lost = subprocess.DEVNULL
        self._process = subprocess.Popen(
            list(words),
            env=dict(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=lost if stream == "stderr" else self._file,
            stderr=self._file if stream == "stderr" else lost if stream == "stdout" else subprocess.STDOUT,
            start_new_session=True,
        )

    def _on_terminal(self, words: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            list(words),
            env=dict(environment),
            cwd="/",
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

        def pump() -> None:
            with contextlib.suppress(OSError):
                while data := os.read(ours, 65536):
                    self._file.write(data)
                    self._file.flush()

        threading.Thread(target=pump, daemon=True).start()
        return process

    @property
    def status(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    def written(self) -> bytes:
        """What this start has written so far."""
        return self.log.read_bytes()[self._start :]

    def wait_for(self, pattern: bytes, seconds: float) -> bool:
        """Wait until a pattern stands in the log; False when the server ends or the time is over first."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, self.written()):
                return True
            if self.status is not None:
                return re.search(pattern, self.written()) is not None
            time.sleep(_POLL)
        return False

    def wait_end(self, seconds: float) -> bool:
        """Wait until the main process has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.status is not None

    def processes(self) -> dict[int, str]:
        """The processes of its session with their names and command lines."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, ValueError):
                    stat = (entry / "stat").read_text()
                    if int(stat[stat.rindex(")") + 2 :].split()[3]) == self._process.pid:
                        name = stat[stat.index("(") + 1 : stat.rindex(")")]
                        line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                        found[int(entry.name)] = f"{name} {line}"
        return found

    def kill(self, which: str) -> list[int]:
        """Kill by SIGKILL: `all`, a `worker` (or else the engine), or whatever has the text in its command line."""
        running = self.processes()
        if which == "all":
            chosen = list(running)
        elif which == "worker":
            chosen = (_with(running, "Worker") or _with(running, "EngineCore") or _with(running, _UNTITLED))[:1]
        else:
            chosen = _with(running, which) or _with(running, _UNTITLED)[:1]
        for pid in chosen:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return chosen

    def stop(self, patience: float = 30) -> None:
        """End it as docker does: SIGTERM, after a while SIGKILL, and leave nothing behind."""
        if self.status is None:
            with contextlib.suppress(OSError):
                os.kill(self._process.pid, signal.SIGTERM)
            self.wait_end(patience)
        for _ in range(3):
            if not self.kill("all"):
                break
            time.sleep(_POLL)
        self._process.wait()
        time.sleep(_POLL)
        self._file.close()


def _with(running: Mapping[int, str], text: str) -> list[int]:
    return [pid for pid, words in running.items() if text in words]
