"""The records on their way out: to a file that a stopped run can be taken up from, or to standard output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from logdoctor.fleet.errors import FleetError
from logdoctor.report.record import MAX_BYTES, decode

Write = Callable[[bytes], object]


class OutputFile:
    """A file of records, one a line, every line flushed when it is written."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        """Open the file; with `resume` what it holds stays. Raises OSError."""
        self.path = path
        self.done: set[bytes] = set()
        """Keys of the logs that have a record already."""
        if resume and path.exists():
            self._keep_whole_lines()
        self._file = path.open("ab" if resume else "wb")

    def _keep_whole_lines(self) -> None:
        """Note the logs that are done, and cut off a last line that was not written to its end."""
        whole = 0
        with self.path.open("rb") as file:
            for line in _lines(file):
                record = decode(line) if line.endswith(b"\n") else None
                if line.endswith(b"\n"):
                    whole = file.tell()
                if record is not None:
                    self.done.add(_mark(record["key"]))
        if whole != self.path.stat().st_size:
            os.truncate(self.path, whole)

    def has(self, key: str) -> bool:
        """Whether a log has a record already."""
        return _mark(key) in self.done

    def write(self, line: bytes) -> None:
        """Write a line so that it is there even when the next log brings everything down. Raises `FleetError`."""
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise FleetError(f"cannot write {self.path}: {error.strerror or error}") from error

    def __enter__(self) -> OutputFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError):  # what could not be written is said already
            self._file.close()


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of an output file; lines that are none are passed over. Raises OSError."""
    with path.open("rb") as file:
        for line in _lines(file):
            record = decode(line)
            if record is not None:
                yield record


def _lines(file: Any) -> Iterator[bytes]:
    """Yield lines, one that is too long for a record in parts."""
    while line := file.readline(MAX_BYTES + 1):
        yield line


def _mark(key: str) -> bytes:
    # Eight bytes a log instead of a text object.
    try:
        return bytes.fromhex(key)
    except ValueError:
        return key.encode("utf-8", "replace")
