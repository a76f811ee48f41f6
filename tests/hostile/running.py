"""Run the tool as a process of its own and see what it did: status, streams, processor time, memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
# The kernel counts the parent's size before the program began into a child's peak, so the child tells its own.
_PEAK = "TEST_PEAK_FILE"
_CODE = f"""
import atexit, os
def peak():
    if {_PEAK!r} in os.environ:
        with open("/proc/self/status") as status, open(os.environ[{_PEAK!r}], "w") as out:
            out.write(next(line.split()[1] for line in status if line.startswith("VmHWM")))
atexit.register(peak)
from logdoctor.entry import main
main()
"""
COMMAND = (sys.executable, "-c", _CODE)
HEALTHY = SAMPLES / "cpu" / "0.17.1" / "healthy.log"
FAILED = SAMPLES / "cpu" / "0.17.1" / "bad_choice.log"


@dataclass(frozen=True)
class Outcome:
    """What a run ended with."""

    status: int
    """The exit status; the negative number of the signal that killed it."""
    out: bytes
    err: str
    seconds: float
    """Processor time."""
    megabytes: float
    """Most resident memory."""

    @property
    def text(self) -> str:
        return self.out.decode()


def environment(**more: str | None) -> dict[str, str]:
    """The environment of a run: the tests' own, without what changes reports; None takes a variable away."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "LOGDOCTOR"))}
    kept |= {"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    for name, value in more.items():
        if value is None:
            kept.pop(name, None)
        else:
            kept[name] = value
    return kept


def start(
    arguments: Sequence[str | Path], *, env: dict[str, str] | None = None, **more: Any
) -> subprocess.Popen[bytes]:
    """Start the tool."""
    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": ROOT} | more
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=env or environment(), **settings)


def run(*arguments: str | Path, data: bytes | None = None, env: dict[str, str] | None = None, **more: Any) -> Outcome:
    """Run the tool to its end; `data` is its standard input."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as stdin,
        tempfile.NamedTemporaryFile("r") as peak,
    ):
        settings: dict[str, Any] = {"stdout": out, "stderr": err}
        if data is not None:
            stdin.write(data)
            stdin.seek(0)
            settings["stdin"] = stdin
        process = start(arguments, env={**(env or environment()), _PEAK: peak.name}, **(settings | more))
        _, waited, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(waited)
        out.seek(0)
        err.seek(0)
        return Outcome(
            process.returncode,
            out.read(),
            err.read().decode("utf-8", "replace"),
            usage.ru_utime + usage.ru_stime,
            int(peak.read() or 0) / 1024,
        )
