"""Tar archives read from front to back: nothing is extracted, and no size in them is believed beyond a limit.

The headers are parsed by the standard library's `TarInfo`; the walk from one to the next is ours, because `tarfile`
keeps every member it has met and reads extended headers of any length into memory.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

BLOCK = 512
MAX_NAME = 64 * 1024
MAX_EXTENDED = 1024 * 1024
"""Bytes of one extended header; real ones have a few hundred."""
PIECE = 1 << 20


class ArchiveError(Exception):
    """The archive cannot be read further; the message is one sentence without the archive's name."""


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file of an archive; `pieces` must be used before the next member is asked for."""

    name: str
    size: int
    pieces: Iterator[bytes]


def members(chunks: Iterable[bytes]) -> Iterator[Member]:
    """Yield the regular files of an uncompressed tar stream, in its order. Raises `ArchiveError`."""
    reader = _Reader(chunks)
    name, size = "", -1
    first = True
    while True:
        block = reader.up_to(BLOCK)
        if reader.fault is not None:
            raise reader.fault
        if len(block) < BLOCK and (first or block):
            raise ArchiveError("this is no tar archive" if first else "the archive is cut off")
        if not block.strip(b"\0"):
            return  # the closing blocks, or an archive that goes without
        info = _header(block, first)
        first = False
        if info.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            text = reader.padded(info.size, MAX_NAME)
            name = _text(text.rstrip(b"\0")) if info.type == tarfile.GNUTYPE_LONGNAME else name
        elif info.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
            extended = _records(reader.padded(info.size, MAX_EXTENDED))
            name = extended.get("path", name)
            size = _size_of(extended, size)
        elif info.type in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE):
            length = info.size if size < 0 else size
            member_name = name or info.name
            if info.type == tarfile.AREGTYPE and member_name.endswith("/"):
                length = 0  # a directory of the oldest format
            pieces = reader.pieces(length)
            if not member_name.endswith("/"):
                yield Member(member_name, length, pieces)
            for _ in pieces:
                pass
            if reader.cut:
                raise reader.fault or ArchiveError("the archive is cut off")
            reader.skip(-length % BLOCK)
            name, size = "", -1
        else:
            # Directories, links and devices carry no data; global headers and sparse files are passed over.
            carries = info.type not in (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE)
            carries = carries and info.type not in (tarfile.FIFOTYPE, tarfile.DIRTYPE)
            reader.skip(-(-info.size // BLOCK) * BLOCK if carries else 0)
            if info.type != tarfile.XGLTYPE:
                name, size = "", -1


def _header(block: bytes, first: bool) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError) as error:
        raise ArchiveError("this is no tar archive" if first else "the archive is damaged") from error
    if info.size < 0:
        raise ArchiveError("the archive is damaged")
    return info


def _records(data: bytes) -> dict[str, str]:
    """The records of an extended header: `LENGTH KEY=VALUE\\n`."""
    found: dict[str, str] = {}
    while data:
        digits, blank, _ = data.partition(b" ")
        if not blank or not digits.isdigit() or len(digits) > 8:
            break
        length = int(digits)
        record, data = data[len(digits) + 1 : length], data[max(length, len(digits) + 1) :]
        key, equals, value = record.removesuffix(b"\n").partition(b"=")
        if equals:
            found[_text(key)] = _text(value)
    return found


def _size_of(extended: dict[str, str], size: int) -> int:
    digits = extended.get("size", "")
    return int(digits) if digits.isdigit() and digits.isascii() and len(digits) < 20 else size


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class _Reader:
    """Takes bytes off a stream of chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._chunk = b""
        self._at = 0
        self.cut = False
        """A member ended before its size was reached."""
        self.fault: OSError | None = None
        """The error in reading that ended the stream."""

    def _some(self, most: int) -> bytes:
        """Between one byte and `most`; empty at the end of the stream."""
        while self._at >= len(self._chunk):
            try:
                chunk = next(self._chunks, None)
            except OSError as error:
                self.fault, chunk = error, None
            if chunk is None:
                return b""
            self._chunk, self._at = chunk, 0
        taken = self._chunk[self._at : self._at + most]
        self._at += len(taken)
        return taken

    def up_to(self, size: int) -> bytes:
        """Return `size` bytes, fewer only at the end of the stream."""
        parts = []
        while size and (part := self._some(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def padded(self, size: int, limit: int) -> bytes:
        """Return the data of a small header and leave its padding behind."""
        if size > limit:
            raise ArchiveError("the archive is damaged: a header of it is too long")
        data = self.up_to(size)
        self.skip(-size % BLOCK)
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the data of a member piece by piece."""
        while size:
            piece = self._some(min(size, PIECE))
            if not piece:
                self.cut = True  # what is there of the member is a log all the same
                return
            size -= len(piece)
            yield piece

    def skip(self, size: int) -> None:
        """Leave bytes behind; the end of the stream is no fault here."""
        while size and (piece := self._some(min(size, PIECE))):
            size -= len(piece)
