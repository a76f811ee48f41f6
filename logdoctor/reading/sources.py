"""Inputs as one stream of whole lines: standard input, files, `.gz`, `.zst`, rotated parts, UTF-16.

Everything after this module sees UTF-8 with `\\n` line ends in runs of about a mebibyte, whatever the input was.
Memory stays constant: a physical line is cut at `MAX_PHYSICAL_LINE`, with the cut shown in its text.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from logdoctor.model import Run
from logdoctor.reading.compression import decompressed
from logdoctor.reading.decoding import CUT
from logdoctor.reading.encodings import Utf8Stream
from logdoctor.reading.errors import InputError

CHUNK = 1 << 20
MAX_PHYSICAL_LINE = 1 << 20
"""Bytes of one physical line that are kept; a transport's JSON needs more room than the text inside it."""
_HEAD = MAX_PHYSICAL_LINE * 3 // 4


def open_runs(paths: Sequence[str], *, stdin: BinaryIO, max_bytes: int = 20 * 2**30) -> InputRuns:
    """Open all inputs as one log, in the order given; `-` is standard input, and so is an empty list.

    Raises InputError at once when a path cannot be read, before anything is read.
    """
    names = tuple(paths) or ("-",)
    for name in names:
        if name != "-":
            _check(name)
    return InputRuns(names, stdin, max_bytes)


class InputRuns:
    """The runs of an input; iterate once, then ask for `notes` and `bytes_read`."""

    def __init__(self, names: Sequence[str], stdin: BinaryIO, max_bytes: int) -> None:
        self._names = tuple(names)
        self._stdin = stdin
        self._max_bytes = max_bytes
        self._remarks: list[str] = []
        self._undecodable = 0
        self._nuls = 0
        self.bytes_read = 0
        """Bytes taken so far, after decompression."""
        self.lines_read = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the input for the reader of the report; complete once the iteration has ended."""
        return (*self._remarks, *character_notes(self._undecodable, self._nuls))

    def __iter__(self) -> Iterator[Run]:
        number = 1
        self._remarks.extend(order_remarks(self._names))
        for name in self._names:
            if self.bytes_read >= self._max_bytes:
                self._remarks.append(f"{name}: not read, as {self._max_bytes} bytes had been read before it.")
                break
            for data in _whole_lines(self._read(name)):
                yield Run(number, data)
                number += data.count(b"\n") + (not data.endswith(b"\n"))
                self.lines_read = number - 1

    def _read(self, name: str) -> Iterator[bytes]:
        """The bytes of one input as clean UTF-8."""
        shown = "standard input" if name == "-" else name
        text = Utf8Stream()
        try:
            stream: BinaryIO = self._stdin if name == "-" else Path(name).open("rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise InputError(_sentence(shown, error)) from error
        try:
            for piece in decompressed(stream, CHUNK, lambda remark: self._remarks.append(f"{shown}: {remark}")):
                whole = len(piece)
                piece = self._within_limit(piece, shown)
                clean = text.feed(piece)
                if clean:
                    yield clean
                if len(piece) < whole:
                    break
            rest = text.finish()
            if rest:
                yield rest
        except InputError as error:
            raise InputError(f"{shown}: {error}") from error
        except OSError as error:
            raise InputError(_sentence(shown, error)) from error
        finally:
            self._undecodable += text.undecodable
            self._nuls += text.nuls
            if name != "-":
                stream.close()

    def _within_limit(self, piece: bytes, shown: str) -> bytes:
        room = self._max_bytes - self.bytes_read
        if len(piece) > room:
            piece = piece[:room]
            self._remarks.append(f"{shown}: reading stopped after {self._max_bytes} bytes; the rest was not looked at.")
        self.bytes_read += len(piece)
        return piece


def order_remarks(names: Sequence[str]) -> list[str]:
    """Say where rotated parts come in the order of the shell's pattern: the newest first, and then from new to old."""
    for place, name in enumerate(names):
        older = next((other for other in names[place + 1 :] if _is_rotated(other, name)), "")
        if older:
            return [
                f"{older} is usually older than {name}; give the parts from old to new, or what follows is mixed up."
            ]
    return []


def _is_rotated(name: str, of: str) -> bool:
    """Whether a name is that of a part that rotation has put aside: `vllm.log.1`, `vllm.log.2.gz`."""
    return name.startswith(f"{of}.") and name[len(of) + 1 :].split(".")[0].isdigit()


def character_notes(undecodable: int, nuls: int) -> tuple[str, ...]:
    """Say how many characters were replaced or left out; nothing when none were."""
    notes = []
    if undecodable:
        notes.append(f"{undecodable} characters were not valid UTF-8 and are shown as \N{REPLACEMENT CHARACTER}.")
    if nuls:
        notes.append(f"{nuls} NUL bytes were left out.")
    return tuple(notes)


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Regroup pieces so that each ends with a line end; lines that grow too long lose their middle."""
    lines = WholeLines()
    for piece in pieces:
        yield from lines.push(piece)
    if lines.rest:
        yield lines.rest


class WholeLines:
    """Regroups pieces that are pushed into it so that each ends with a line end."""

    def __init__(self) -> None:
        self._carry = b""
        self._long: _LongLine | None = None

    def push(self, piece: bytes) -> Iterator[bytes]:
        """Take a piece and yield the whole lines that it completes."""
        if self._long is not None:
            end = piece.find(b"\n")
            if end < 0:
                self._long.add(piece)
                return
            self._long.add(piece[:end])
            yield self._long.text() + b"\n"
            self._long, piece = None, piece[end + 1 :]
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield self._carry + piece[:cut] if self._carry else piece[:cut]
            self._carry = piece[cut:]
        else:
            self._carry += piece
        if len(self._carry) > MAX_PHYSICAL_LINE:
            self._long, self._carry = _LongLine(self._carry), b""

    @property
    def rest(self) -> bytes:
        """The line that has not ended yet, as it stands."""
        return self._long.text() if self._long is not None else self._carry


class _LongLine:
    """A line too long to keep: its head and its tail."""

    def __init__(self, start: bytes) -> None:
        self._head = start[:_HEAD]
        self._tail = bytearray(start[_HEAD:])
        self._cut = False

    def add(self, piece: bytes) -> None:
        self._tail += piece
        excess = len(self._tail) - (MAX_PHYSICAL_LINE - _HEAD)
        if excess > 0:
            del self._tail[:excess]
            self._cut = True

    def text(self) -> bytes:
        # The cut may fall inside a character: half a character says nothing, so it goes too.
        head = self._head.decode("utf-8", "ignore").encode()
        tail = bytes(self._tail).decode("utf-8", "ignore").encode()
        return head + CUT.encode() + tail if self._cut else head + tail


def _check(name: str) -> None:
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError) as error:
        raise InputError(_sentence(name, error)) from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{name} is a directory; name the log files inside it.")
    if not os.access(name, os.R_OK):
        raise InputError(f"{name} cannot be read: permission denied.")


def _sentence(name: str, error: OSError | ValueError) -> str:
    name = " ".join(name.splitlines())
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.ENOENT, errno.ENOTDIR):
        return f"{name} does not exist."
    if code == errno.EISDIR:
        return f"{name} is a directory; name the log files inside it."
    if code in (errno.EACCES, errno.EPERM):
        return f"{name} cannot be read: permission denied."
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{name} cannot be read: {reason[:1].lower()}{reason[1:]}."
