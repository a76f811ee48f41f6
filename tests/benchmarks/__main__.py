"""Measure the ratios that the README states, each within one run.

    python -m tests.benchmarks [--size 1000] [--only NAME] [--repeat 3]

Sizes are megabytes. Needs `rg` (ripgrep) on the path for the comparison with a literal search. Times are user plus
system time of the whole process, the least of the repetitions, so that a busy machine changes them little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import serving_log, start_log

BASE = [sys.executable, "-c", "import typer, rich.console, yaml, regex"]
TOOL = [str(Path(sys.executable).with_name("logdoctor")), "--format", "json"]


class Bench:
    """The files and figures of one run."""

    def __init__(self, folder: Path, megabytes: int, repeat: int) -> None:
        self.folder, self.size, self.repeat = folder, megabytes * 1_000_000, repeat
        self.rows: list[tuple[str, str, str]] = []

    def log(self, name: str, size: int, line: Callable[..., str] = serving_log.healthy_line) -> Path:
        """A serving log of a size, made once."""
        path = self.folder / f"{name}-{size}.log"
        if not path.exists():
            serving_log.write_log(path, size, line)
        return path

    def cpu(self, command: list[str], env: dict[str, str] | None = None) -> float:
        """Seconds of processor time of a command, the least of the repetitions."""
        return min(self._once(command, env) for _ in range(self.repeat))

    @staticmethod
    def _once(command: list[str], env: dict[str, str] | None) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=env)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    @staticmethod
    def peak(command: list[str], data: Path | None = None) -> int:
        """Mebibytes that a command held at most; `data` goes to its standard input."""
        code = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
        )
        stdin = data.open("rb") if data else None
        done = subprocess.run([sys.executable, "-c", code, *command], stdin=stdin, capture_output=True, check=True)
        return int(done.stdout.split()[-1])

    def say(self, what: str, figure: str, target: str) -> None:
        """Keep and print a row."""
        self.rows.append((what, figure, target))
        print(f"{what:58} {figure:24} {target}", flush=True)


def literals(bench: Bench) -> Path:
    """The database's own literals, one a line."""
    from logdoctor.database import load_database

    path = bench.folder / "literals"
    found = {literal for row in load_database(environ={}).rows for literal in row.literals}
    path.write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")
    return path


def throughput(bench: Bench) -> None:
    """Against a literal search, and against a loop over all patterns."""
    log = bench.log("healthy", bench.size)
    ours = bench.cpu([*TOOL, str(log)])
    search = bench.cpu(["rg", "-c", "-F", "-f", str(literals(bench)), str(log)])
    bench.say("throughput against rg -c -F -f", f"{search / ours:.2f} x", ">= 0.5 x")
    part = bench.log("healthy", bench.size // 100)
    small = bench.log("healthy", 2_000_000)
    loop = bench.cpu([sys.executable, "-m", "tests.benchmarks.plain_loop", str(part if bench.size < 10**8 else small)])
    size = (part if bench.size < 10**8 else small).stat().st_size
    factor = loop / size * log.stat().st_size / ours
    bench.say("throughput against a loop over all patterns", f"{factor:.0f} x", ">= 100 x")


def memory(bench: Bench) -> None:
    """The peak for small and large logs, one line of any length, and a progress bar without line ends."""
    small = bench.peak([*TOOL, str(bench.log("healthy", 10_000_000))])
    large = bench.peak([*TOOL, str(bench.log("healthy", bench.size))])
    bench.say("peak memory, 10 MB and the large log", f"{small} and {large} MiB", "within 20 %, < 120 MB")
    for name, piece in (("one-line", b"x" * 1_000_000), ("bar", b"\rLoading: 10% | 1/9 [00:01<00:09]" * 30_000)):
        path = bench.folder / name
        with path.open("wb") as file:
            while file.tell() < bench.size:
                file.write(piece)
        bench.say(f"peak memory, {name} of the same size", f"{bench.peak([*TOOL, str(path)])} MiB", "< 120 MB")
        path.unlink()


def cold_start(bench: Bench) -> None:
    """A start-up log of 3,000 lines against the imports that a tool of this kind begins with."""
    log = bench.folder / "start.log"
    start_log.write_start(log)
    bench.cpu([*TOOL, str(log)])  # the cache is warm after the first run, as on any machine that uses the tool twice
    ratio = bench.cpu([*TOOL, str(log)]) / bench.cpu(BASE)
    bench.say("cold start, 3,000 lines, against the imports", f"{ratio:.2f} x", "<= 1.6 x")


def ten_times(bench: Bench) -> None:
    """Ten times the signatures."""
    copies = bench.folder / "copies"
    copies.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "tests.benchmarks.copies", str(copies)], check=True)
    log, start = bench.log("healthy", bench.size), bench.folder / "start.log"
    start_log.write_start(start)
    env = {**os.environ, "LOGDOCTOR_BENCH_SIGNATURES": str(copies)}
    tool = [sys.executable, "-m", "tests.benchmarks.with_copies", str(copies), "--format", "json"]
    bench.cpu([*tool, str(start)], env)
    bench.say(
        "ten times the signatures, large log",
        f"{bench.cpu([*tool, str(log)]) / bench.cpu([*TOOL, str(log)]):.2f} x",
        "<= 1.3 x",
    )
    bench.say(
        "ten times the signatures, cold start",
        f"{bench.cpu([*tool, str(start)]) / bench.cpu([*TOOL, str(start)]):.2f} x",
        "<= 1.5 x",
    )


def hostile(bench: Bench) -> None:
    """A log in which every eighth line meets the pre-filter."""
    healthy, bad = bench.log("healthy", bench.size), bench.log("hostile", bench.size, serving_log.hostile_line)
    bench.say(
        "hostile against healthy", f"{bench.cpu([*TOOL, str(bad)]) / bench.cpu([*TOOL, str(healthy)]):.2f} x", "<= 3 x"
    )


def growth(bench: Bench) -> None:
    """Twice the bytes."""
    one, two = bench.log("healthy", bench.size), bench.log("healthy", 2 * bench.size)
    bench.say("twice the bytes", f"{bench.cpu([*TOOL, str(two)]) / bench.cpu([*TOOL, str(one)]):.2f} x", "<= 2.2 x")
    two.unlink()


def follow(bench: Bench) -> None:
    """From the line that settles it to the verdict on standard output."""
    text = serving_log.start_of_log()
    end = text.rindex(b"\n", 0, len(text) - 1) + 1
    delays = []
    for _ in range(bench.repeat):
        command = [sys.executable, "-m", "logdoctor.entry", "--follow", "--format", "json"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdin and process.stdout
        process.stdin.write(text[:end])
        process.stdin.flush()
        time.sleep(3)
        began = time.monotonic()
        process.stdin.write(text[end:])
        process.stdin.flush()
        process.stdout.read(1)
        delays.append(time.monotonic() - began)
        process.communicate()
    bench.say("--follow, from the line to the verdict", f"{1000 * min(delays):.0f} ms", "<= 200 ms")


ALL = {f.__name__: f for f in (throughput, memory, cold_start, ten_times, hostile, growth, follow)}


def main() -> None:
    """Run the benchmarks and print their rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000, help="megabytes of the large log")
    parser.add_argument("--only", choices=sorted(ALL), action="append")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the rows here too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), arguments.size, arguments.repeat)
        for name in arguments.only or ALL:
            ALL[name](bench)
    if arguments.json:
        arguments.json.write_text(json.dumps(bench.rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
