"""The pool: every log one line, whatever becomes of the workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from logdoctor.fleet import worker
from logdoctor.fleet.ordering import in_order
from logdoctor.fleet.pool import Pool
from logdoctor.fleet.sources import Source, find_sources
from logdoctor.fleet.work import WorkOptions
from tests.fleet import hooks
from tests.fleet.build import READY, SHARD, diagnoser, unknown, write

VERSIONS = ("0.1.0", "1-abc")


def diagnosed(
    sources: Iterator[Source], jobs: int = 2, before: Callable[[str], None] | None = None
) -> dict[str, dict[str, Any]]:
    """The records of a pool by source; a source twice would be a fault."""
    with Pool(WorkOptions(before=before), jobs, VERSIONS) as pool:
        records = [json.loads(line) for line in in_order(pool.run(sources))]
    found = {record["source"]: record for record in records}
    assert len(found) == len(records)
    return found


def test_the_lines_are_those_of_one_process(tmp_path: Path) -> None:
    write(tmp_path, {f"{n}.log": (READY, SHARD, unknown(), "")[n % 4] for n in range(12)})
    sources = list(find_sources([str(tmp_path)]))
    with Pool(WorkOptions(), 2, VERSIONS) as pool:
        lines = list(in_order(pool.run(iter(sources))))
    one = [diagnoser().record(_task(source)) for source in sources]
    assert lines == one


def _task(source: Source) -> Any:
    from logdoctor.fleet.pool import task_of

    return task_of(source)


def test_members_of_archives_go_through_pipes_whole_or_cut_short() -> None:
    big = (READY * 1000).encode()  # more than a worker takes in at once, with its limit lowered

    def sources() -> Iterator[Source]:
        yield Source("a!first.log", pieces=iter([READY.encode()]))  # from the second log on, the limit is lowered
        pieces = [big[at : at + 70_000] for at in range(0, len(big), 70_000)]
        yield Source("a!big.log", pieces=iter(pieces))
        yield Source("a!small.log", pieces=iter([SHARD.encode()]))

    found = diagnosed(sources(), jobs=1, before=_hold_little)
    assert found["a!big.log"]["bytes"] == len(big)
    assert found["a!small.log"]["root_cause"]["id"] == "weights-shard-truncated"
    with Pool(WorkOptions(max_bytes=1000, before=_hold_little), 1, VERSIONS) as pool:
        records = [json.loads(line) for line in in_order(pool.run(sources()))]
    assert [record["bytes"] for record in records][1:] == [1000, 1000]


def _hold_little(name: str) -> None:
    worker.HELD = 100_000


def test_a_worker_that_dies_is_replaced_and_its_log_reported(tmp_path: Path) -> None:
    logs = {f"{n}.log": READY for n in range(8)}
    write(tmp_path, {**logs, "3-deadly.log": READY, "5-killed.log": READY})
    found = diagnosed(find_sources([str(tmp_path)]), before=hooks.die)
    assert len(found) == 10
    errors = {Path(source).name: record["error"] for source, record in found.items() if record["error"]}
    assert set(errors) == {"3-deadly.log", "5-killed.log"}
    assert "status 9" in errors["3-deadly.log"]
    assert "SIGKILL" in errors["5-killed.log"]
    assert all(record["exit_status"] == 2 for record in found.values() if record["error"])


def test_a_worker_may_die_over_every_single_log_of_an_archive() -> None:
    pieces = [b"x" * 300_000] * 20
    sources = [Source(f"a!deadly-{n}.log", pieces=iter(pieces)) for n in range(3)]
    found = diagnosed(iter(sources), jobs=1, before=hooks.die)
    assert len(found) == 3
    assert all(record["error"] for record in found.values())


def test_a_worker_that_dies_without_a_log_costs_none(tmp_path: Path) -> None:
    write(tmp_path, {"a.log": READY, "b.log": READY})
    first, second = find_sources([str(tmp_path)])
    with Pool(WorkOptions(), 1, VERSIONS) as pool:
        list(pool.run([first]))
        pool._workers[0].process.kill()
        pool._workers[0].process.join()
        ((_, (line,)),) = pool.run([second])
    assert json.loads(line)["verdict"] == "ready"


def test_what_is_known_to_be_unreadable_needs_no_worker() -> None:
    with Pool(WorkOptions(), 2, VERSIONS) as pool:
        lines = list(pool.run(iter([Source("x", problem="does not exist")])))
        assert not pool._workers
    assert json.loads(lines[0][1][0])["error"] == "does not exist"


def test_no_more_workers_than_logs(tmp_path: Path) -> None:
    write(tmp_path, {"a.log": READY})
    with Pool(WorkOptions(), 8, VERSIONS) as pool:
        assert len(list(pool.run(find_sources([str(tmp_path)])))) == 1
        assert len(pool._workers) == 1


def test_a_worker_that_has_grown_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker._held_kib() > 1000
    write(tmp_path, {f"{n}.log": READY for n in range(4)})
    with Pool(WorkOptions(before=_grow), 1, VERSIONS) as pool:
        lines = list(pool.run(find_sources([str(tmp_path)])))
    assert len(lines) == 4
    assert not [line for _, (line,) in lines if json.loads(line)["error"]]


def _grow(name: str) -> None:
    worker.RETIRE_KIB = 0


def test_workers_are_gone_when_the_pool_is(tmp_path: Path) -> None:
    write(tmp_path, {f"{n}.log": READY for n in range(4)})
    with Pool(WorkOptions(before=hooks.dawdle), 2, VERSIONS) as pool:
        running = pool.run(find_sources([str(tmp_path)]))
        next(running)
        processes = [one.process for one in pool._workers]
        assert len(processes) == 2
    assert not [process for process in processes if process.is_alive()]


def test_the_main_program_of_a_script_is_not_run_again(tmp_path: Path) -> None:
    write(tmp_path, {"a.log": READY})
    script = tmp_path / "script.py"
    script.write_text(
        "from logdoctor.fleet.pool import Pool\n"
        "from logdoctor.fleet.sources import find_sources\n"
        "from logdoctor.fleet.work import WorkOptions\n"
        "print('once')\n"
        "with Pool(WorkOptions(), 2, ('', '')) as pool:\n"
        f"    print(len(list(pool.run(find_sources([{str(tmp_path / 'a.log')!r}])))))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("once\n1\n", "")


def test_ctrl_c_keeps_what_is_done_and_resume_does_the_rest(tmp_path: Path) -> None:
    write(tmp_path / "logs", {f"{n:02}.log": READY for n in range(60)})
    command = [sys.executable, "-m", "logdoctor.cli", "fleet", "logs", "-o", "out.jsonl", "-j", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output = tmp_path / "out.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (output.exists() and output.read_bytes().count(b"\n") >= 2):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    done = output.read_bytes()
    kept = done.count(b"\n")
    assert done.endswith(b"\n")
    if kept < 60:  # else it was quicker than the signal
        assert process.returncode == 2
        assert "--resume" in errors and "Traceback" not in errors
    subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, timeout=60, check=True)
    sources = [json.loads(line)["source"] for line in output.read_bytes().splitlines()]
    assert output.read_bytes().startswith(done)
    assert sorted(sources) == [f"logs/{n:02}.log" for n in range(60)]
