"""gzip and zstd recognised by their first bytes, several members, cut files."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Protocol

from logdoctor.reading.errors import InputError

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
_NOT_READ = (
    (b"\xfd7zXZ\x00", "xz", "xz -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x -so"),
)
"""Beginnings of packed files that are not unpacked here, and what unpacks them."""


class _Decoder(Protocol):
    """What the decoders of gzip and zstd have in common here."""

    def feed(self, data: bytes, limit: int) -> Iterator[bytes]:
        """Decompress, at most `limit` bytes a piece."""

    @property
    def finished(self) -> bool:
        """Whether the data ended at the end of a member."""


def decompressed(stream: BinaryIO, size: int, remark: Callable[[str], None]) -> Iterator[bytes]:
    """Read a stream in pieces of about `size` bytes, decompressed when it begins like gzip or zstd.

    Damaged or cut data end the stream after what could be read, with a remark.
    """
    piece = stream.read(size)
    while 0 < len(piece) < len(ZSTD):  # an unbuffered pipe may give single bytes
        more = stream.read(size)
        if not more:
            break
        piece += more
    decoder = _decoder_for(piece)
    for magic, kind, command in _NOT_READ:
        if piece.startswith(magic):
            raise InputError(f"this is a {kind} file, which is not read here; unpack it: {command} FILE | logdoctor")
    if decoder is None:
        while piece:
            yield piece
            piece = stream.read(size)
        return
    try:
        while piece:
            yield from decoder.feed(piece, size)
            piece = stream.read(size)
    except _Damaged:
        remark("the compressed data are damaged; read up to the damage.")
        return
    if not decoder.finished:
        remark("the compressed file is cut off; read what was there.")


class _Damaged(Exception):
    """The compressed data make no sense from here on."""


def _decoder_for(start: bytes) -> _Decoder | None:
    if start.startswith(GZIP):
        return _Members(lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), GZIP)
    if start.startswith(ZSTD):
        return _Members(_new_zstd, ZSTD)
    return None


def _new_zstd() -> Any:
    # Imported on need: most inputs are plain text.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor()


class _Members:
    """Decompress one member after another with a fresh decoder each."""

    def __init__(self, new: Callable[[], Any], magic: bytes) -> None:
        self._new = new
        self._magic = magic
        self._decoder = new()
        self._between = b""
        self._padding = False

    @property
    def finished(self) -> bool:
        return self._padding or bool(self._decoder.eof)

    def feed(self, data: bytes, limit: int) -> Iterator[bytes]:
        while not self._padding:
            decoder = self._decoder
            if decoder.eof:
                data = self._next_member(data)
                if not data:
                    return
                continue
            try:
                out: bytes = decoder.decompress(data, limit)
            except Exception as error:  # zlib.error and ZstdError have no common base
                raise _Damaged from error
            if out:
                yield out
            if decoder.eof:
                data = decoder.unused_data
                if not data:
                    return
            elif self._hungry(out, limit):
                return
            else:
                data = getattr(decoder, "unconsumed_tail", b"")

    def _hungry(self, out: bytes, limit: int) -> bool:
        """Whether the decoder has given all it can for the bytes it got."""
        needs_input = getattr(self._decoder, "needs_input", None)
        if needs_input is not None:
            return bool(needs_input)  # zstd keeps unread input inside
        return not self._decoder.unconsumed_tail and len(out) < limit

    def _next_member(self, data: bytes) -> bytes:
        data = self._between + data
        if len(data) < len(self._magic) and self._magic.startswith(data):
            self._between = data
            return b""
        self._between = b""
        if not data.startswith(self._magic):
            self._padding = True  # zero padding, or something that is no log
            return b""
        self._decoder = self._new()
        return data
