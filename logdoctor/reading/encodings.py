"""Whatever the bytes were - UTF-8 with or without BOM, UTF-16, damaged text - they leave as clean UTF-8."""

from __future__ import annotations

import codecs

_SNIFF = 64
"""Bytes that show the encoding; few, so that a live stream is not held up."""


class Utf8Stream:
    """Turn the bytes of one input into valid UTF-8 without BOM and without NUL."""

    def __init__(self) -> None:
        self.undecodable = 0
        """Characters that had to be replaced."""
        self.nuls = 0
        """NUL bytes left out (a log rotated by copying is full of them)."""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._start = True
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """The clean form of the next bytes; the end of a character that is still to come is held back."""
        return self._clean(data, final=False)

    def finish(self) -> bytes:
        """The clean form of what was held back."""
        return self._clean(b"", final=True)

    def _clean(self, data: bytes, *, final: bool) -> bytes:
        if self._start:
            data = self._held + data
            self._held = b""
            if len(data) < _SNIFF and not final:
                self._held = data
                return b""
            data = self._recognise(data)
            self._start = False
        if self._decoder is not None:
            text = self._decoder.decode(data, final)
            self.undecodable += text.count("\N{REPLACEMENT CHARACTER}")
            data = text.encode("utf-8", "replace")
        elif self._held or not data.isascii():
            data = self._valid(self._held + data, final=final)
        if b"\0" in data:
            self.nuls += data.count(b"\0")
            data = data.replace(b"\0", b"")
        return data

    def _recognise(self, data: bytes) -> bytes:
        if data.startswith(codecs.BOM_UTF8):
            return data[3:]
        name = _utf16(data)
        if name:
            self._decoder = codecs.getincrementaldecoder(name)("replace")
            if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return data[2:]
        return data

    def _valid(self, data: bytes, *, final: bool) -> bytes:
        self._held = b""
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            begun = "unexpected end" in error.reason and error.end == len(data) and len(data) - error.start < 4
            if begun and not final:
                self._held = data[error.start :]
                return data[: error.start]
            return self._replaced(data, final=final)
        return data

    def _replaced(self, data: bytes, *, final: bool) -> bytes:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(data, final)
        if not final:
            self._held = decoder.getstate()[0]
        self.undecodable += text.count("\N{REPLACEMENT CHARACTER}") - data.count(b"\xef\xbf\xbd")
        return text.encode()


def _utf16(data: bytes) -> str:
    """Name the UTF-16 flavour that the first bytes show, or say empty."""
    if data.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if data.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    sample = data[:_SNIFF]
    pairs = len(sample) // 2
    if pairs < 2:
        return ""
    even, odd = sample[0 : pairs * 2 : 2].count(0), sample[1 : pairs * 2 : 2].count(0)
    # Log text is mostly ASCII: in UTF-16 every second byte is NUL. A hole of NULs fills both halves.
    if odd > pairs * 0.7 and even < pairs * 0.1:
        return "utf-16-le"
    if even > pairs * 0.7 and odd < pairs * 0.1:
        return "utf-16-be"
    return ""
