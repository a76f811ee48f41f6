"""A worker process of the pool: takes one log after another, gives one line back for each."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from itertools import chain
from multiprocessing.connection import Connection

from logdoctor.fleet.work import Diagnoser, WorkOptions, stream_of

HELD = 8 << 20
"""Bytes of a log from an archive that a worker takes in before it begins, so that the next worker can be served."""
RETIRE_KIB = 1 << 20
"""A worker that has ever held as much as this (a GiB) makes room for a new one when its log is done."""
STAYS, LEAVES = b"s", b"l"
"""First byte of what a worker sends: whether it stays for another log."""


def work(connection: Connection, options: WorkOptions) -> None:
    """Serve until the connection is closed: a task, for a member of an archive its pieces, and the line back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    try:
        diagnoser = Diagnoser(options)
        while True:
            task, sent = connection.recv()
            pieces = _received(connection) if sent else None
            line = diagnoser.record(task, stream_of(_ahead(pieces)) if pieces is not None else None)
            for _ in pieces or ():
                pass  # the log was not read to its end; what was sent of it must not be taken for the next task
            leaves = _held_kib() > RETIRE_KIB
            connection.send_bytes((LEAVES if leaves else STAYS) + line)
            if leaves:
                return
    except (EOFError, OSError):
        return  # the parent is gone, or has no more work


def _received(connection: Connection) -> Iterator[bytes]:
    """Yield the pieces that the parent sends; an empty one ends them."""
    while piece := connection.recv_bytes():
        yield piece


def _ahead(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Take in the first pieces at once, then hand all of them on."""
    first: list[bytes] = []
    size = 0
    for piece in pieces:
        first.append(piece)
        size += len(piece)
        if size >= HELD:
            break
    return chain(first, pieces)


def _held_kib() -> int:
    """The most memory that this process has ever held, in KiB; 0 where the platform does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most
