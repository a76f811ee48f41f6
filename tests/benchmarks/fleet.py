"""Measure the fleet command: `python -m tests.benchmarks.fleet [--logs 3000] [--rounds 3] [--ray]`.

The logs are copies of the recorded start-ups under samples/, spread over directories as nodes would be. Printed are the
best of some rounds (whatever else the machine does only ever adds), logs per second, the processor time of all
processes together (not Ray's, which are no children of the command), and the most memory that the command and its
workers held.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tests.sample_logs import SAMPLES

NODES = 30
SINGLE = 100
"""Logs for the comparison with one process a log; its time is proportional."""


def write_fleet(root: Path, count: int) -> None:
    """Write start-up logs below a directory."""
    samples = [log for folder in ("cpu", "gpu") for log in sorted((SAMPLES / folder).rglob("*.log"))]
    for number in range(count):
        path = root / f"node-{number % NODES:02}" / f"{number:05}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(samples[number % len(samples)].read_bytes())


class Memory(threading.Thread):
    """Watches how much memory a process and its descendants hold; Linux only."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.parent = self.worker = 0.0
        self.done = False

    def run(self) -> None:
        """Look at them until told to stop."""
        while not self.done:
            self.parent = max(self.parent, _held(self.pid))
            self.worker = max([self.worker, *map(_held, _children(self.pid))])
            time.sleep(0.05)


def _held(pid: int) -> float:
    """The most that a process has held so far, in MiB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def _used() -> float:
    """Processor time of all children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command: Sequence[str], stdin: bytes = b"") -> tuple[float, float, Memory]:
    """Run a command; return its seconds, its processor time and the memory that it held."""
    begun, used = time.perf_counter(), _used()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        memory = Memory(process.pid)
        memory.start()
        process.communicate(stdin)
        seconds = time.perf_counter() - begun
        memory.done = True
    return seconds, _used() - used, memory


def fleet(*words: str) -> list[str]:
    """The command line of the fleet command."""
    return [sys.executable, "-m", "logdoctor.cli", "fleet", *words]


def main() -> None:
    """Measure and print a table in Markdown."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--logs", type=int, default=3000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--ray", action="store_true", help="measure the Ray engine too")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        write_fleet(root / "all", given.logs)
        write_fleet(root / "few", given.logs // 10)
        write_fleet(root / "single", SINGLE)
        logs, output = str(root / "all"), str(root / "out.jsonl")
        single = "\n".join(str(path) for path in sorted((root / "single").rglob("*.log"))).encode()
        each = [*("xargs", "-P2", "-n1"), sys.executable, "-m", "logdoctor.entry"]
        runs = {
            "one process": (fleet(logs, "-o", output, "-j", "1"), b"", given.logs),
            "pool of 2": (fleet(logs, "-o", output, "-j", "2"), b"", given.logs),
            "pool of 2, a tenth of the logs": (
                fleet(str(root / "few"), "-o", output, "-j", "2"),
                b"",
                given.logs // 10,
            ),
            "xargs -P2 -n1 logdoctor": (each, single, SINGLE),
        }
        if given.ray:
            runs["Ray, 2 actors"] = (fleet(logs, "-o", output, "-j", "2", "--engine", "ray"), b"", given.logs)
            few = fleet(str(root / "few"), "-o", output, "-j", "2", "--engine", "ray")
            runs["Ray, 2 actors, a tenth of the logs"] = (few, b"", given.logs // 10)
        best: dict[str, tuple[float, float, Memory]] = {}
        for _ in range(given.rounds):
            for name, (command, stdin, _count) in runs.items():
                one = timed(command, stdin)
                best[name] = min(best.get(name, one), one, key=lambda result: result[0])
    print("| | logs | seconds | logs/s | ms of processor a log | MiB, parent | MiB, a worker |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, (seconds, used, memory) in best.items():
        count = runs[name][2]
        each = "" if name.startswith("Ray") else f"{1000 * used / count:.1f}"
        held = f"{memory.parent:.0f} | {memory.worker:.0f}"
        print(f"| {name} | {count:,} | {seconds:.1f} | {count / seconds:,.0f} | {each} | {held} |")
    one, two = best["one process"][0], best["pool of 2"][0]
    print(f"\npool of 2 against one process: {one / two:.2f} times")


if __name__ == "__main__":
    main()
