"""Where the bytes of a followed log come from: a pipe, or a file that grows, is rotated or truncated."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import BinaryIO, Protocol

from logdoctor.reading import InputError

CHUNK = 1 << 16
POLL = 0.05
"""Seconds between two looks at a file."""


class Source(Protocol):
    """Gives the bytes of a log as they come."""

    def read(self, timeout: float) -> bytes | None:
        """Return the next bytes; None when none came within `timeout` seconds, empty bytes at the end."""

    def close(self) -> None:
        """Let go of the input."""


class StreamSource:
    """A pipe, such as `docker logs -f`; its end is the end of the log."""

    def __init__(self, stream: BinaryIO) -> None:
        self._descriptor = stream.fileno()

    def read(self, timeout: float) -> bytes | None:
        """Return what is there, or wait for it."""
        ready, _, _ = select.select([self._descriptor], [], [], max(timeout, 0))
        return os.read(self._descriptor, CHUNK) if ready else None

    def close(self) -> None:
        """The pipe belongs to the caller."""


class FileSource:
    """A file, as `tail -F` follows it: a new file of the name is read from its start, and so is a truncated one."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._file: BinaryIO = self._open()

    def _open(self) -> BinaryIO:
        try:
            return self._path.open("rb", buffering=0)
        except OSError as error:
            raise InputError(f"{self._path} cannot be followed: {(error.strerror or str(error)).lower()}.") from error

    def read(self, timeout: float) -> bytes | None:
        """Return what was appended; a file never ends."""
        until = time.monotonic() + max(timeout, 0)
        while True:
            data = self._file.read(CHUNK)
            if data:
                return data
            if self._renewed():
                continue
            left = until - time.monotonic()
            if left <= 0:
                return None
            time.sleep(min(POLL, left))

    def _renewed(self) -> bool:
        """Go on with the file that has the name now; True when there is something new to read."""
        own = os.fstat(self._file.fileno())
        if own.st_size < self._file.tell():
            self._file.seek(0)
            return True
        try:
            named = self._path.stat()
        except OSError:
            return False  # between two files of a rotation
        if (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino):
            return False
        self._file.close()
        self._file = self._open()
        return True

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def open_source(paths: tuple[str, ...], stdin: BinaryIO) -> Source:
    """Open what is to be followed: one file, or standard input."""
    if len(paths) > 1:
        raise InputError("one log can be followed at a time.")
    return StreamSource(stdin) if paths in ((), ("-",)) else FileSource(paths[0])
