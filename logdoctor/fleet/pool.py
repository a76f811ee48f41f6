"""The default engine: worker processes on this machine.

Every worker has one log at a time and a connection of its own, so that memory does not grow with the number of logs,
and the parent knows which log a worker had when it died. That log gets a record that says so, and a new worker takes
the place.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import ModuleType

from logdoctor.fleet.ordering import Numbered
from logdoctor.fleet.sources import Source
from logdoctor.fleet.work import Task, WorkOptions
from logdoctor.fleet.worker import LEAVES, work
from logdoctor.report.record import error_record

_PIECE = 256 * 1024
_PATIENCE = 2.0
"""Seconds that a worker has for going when its work is done or not wanted any more."""

# A forked worker would inherit the locks of the progress bar's thread; a fresh process costs 0.3 s once.
_processes = multiprocessing.get_context("spawn")


def default_jobs() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    connection: Connection
    number: int = -1
    task: Task | None = None


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let a process that begins now inherit that Ctrl-C is not for it, from its first instruction on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Keep a new process from importing the program that this one runs: a worker needs nothing of it.

    It would cost the start of the command line, or of Ray, in every worker, and run a script without a guard again.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def task_of(source: Source) -> Task:
    """Return what a worker has to know of a source."""
    return Task(source.name, source.key, source.path, source.below)


class Pool:
    """Diagnoses sources on worker processes; a context manager, so that none is left behind."""

    def __init__(self, options: WorkOptions, jobs: int, versions: tuple[str, str]) -> None:
        """`versions` are those of the tool and the database, for the records of what no worker reads."""
        self._options = options
        self._jobs = max(1, jobs)
        self._versions = versions
        self._workers: list[_Worker] = []
        self.notes: list[str] = []
        """Remarks on how it went; the record of a log says what happened to its worker."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, sources: Iterable[Source]) -> Iterator[Numbered]:
        """Yield (position of the source, its line) as the lines come."""
        numbered = enumerate(sources)
        more = True
        while True:
            while more and self._has_room():
                number, source = next(numbered, (-1, None))
                if source is None:
                    more = False
                elif source.problem:
                    yield number, (self._problem(task_of(source), source.problem),)
                else:
                    worker = self._free() or self._start()
                    if not self._hand(worker, number, source):
                        yield self._buried(worker)
            busy = {worker.connection: worker for worker in self._workers if worker.task is not None}
            if not busy:
                return
            for connection in wait(list(busy)):
                yield self._receive(busy[connection])  # type: ignore[index]  # what is waited for are connections

    def _has_room(self) -> bool:
        return self._free() is not None or len(self._workers) < self._jobs

    def _free(self) -> _Worker | None:
        """Return a worker without a log; one that died without one is nobody's loss."""
        for worker in [worker for worker in self._workers if worker.task is None]:
            if worker.process.is_alive():
                return worker
            self._remove(worker)
        return None

    def _start(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        process = _processes.Process(target=work, args=(theirs, self._options), daemon=True)
        with _interrupts_ignored(), _without_main():
            process.start()
        theirs.close()  # so that the worker's end is the only one, and its death is seen
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _hand(self, worker: _Worker, number: int, source: Source) -> bool:
        """Give a log to a worker; False when it has died over it."""
        worker.number, worker.task = number, task_of(source)
        try:
            worker.connection.send((worker.task, source.pieces is not None))
            if source.pieces is not None:
                for piece in source.pieces:
                    for start in range(0, len(piece), _PIECE):
                        worker.connection.send_bytes(piece[start : start + _PIECE])
                worker.connection.send_bytes(b"")
        except OSError:
            return False
        return True

    def _receive(self, worker: _Worker) -> Numbered:
        try:
            data = worker.connection.recv_bytes()
        except (EOFError, OSError):
            return self._buried(worker)
        worker.task = None
        if data[:1] == LEAVES:
            self._remove(worker)
        return worker.number, (data[1:],)

    def _buried(self, worker: _Worker) -> Numbered:
        """Take a dead worker away and return the record of the log that it had."""
        task = worker.task or Task("", "")
        worker.process.join(_PATIENCE)
        how = _how_it_ended(worker.process.exitcode)
        self._remove(worker)
        return worker.number, (self._problem(task, f"the process that read it {how}"),)

    def _problem(self, task: Task, problem: str) -> bytes:
        return error_record(task.name, task.key, problem, self._versions)

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join(_PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join(_PATIENCE)

    def close(self) -> None:
        """Send every worker home; one that still has a log in hand is stopped."""
        for worker in self._workers:
            with contextlib.suppress(OSError):
                worker.connection.close()
            if worker.task is not None:
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join(_PATIENCE)
        self._workers.clear()


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "does not answer"
    if code >= 0:
        return f"ended with status {code}"
    with contextlib.suppress(ValueError):
        if signal.Signals(-code) is signal.SIGKILL:
            return "was killed (SIGKILL), as the kernel does when memory runs out"
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"
