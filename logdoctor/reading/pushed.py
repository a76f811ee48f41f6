"""A log that is pushed in piece by piece, as runs: the same as those of a file, as far as memory allows."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator

from logdoctor.model import Run
from logdoctor.reading.encodings import Utf8Stream
from logdoctor.reading.skim import Skimmer, Wanted
from logdoctor.reading.sources import CHUNK, WholeLines, character_notes

KEPT_HEAD = 8 << 20
"""Bytes, after skimming, that are kept from the beginning."""
KEPT_TAIL = 56 << 20
"""Bytes, after skimming, that are kept from the end."""

Prepare = Callable[[], tuple[Wanted, Callable[[bytes], list[int]]]]


class PushedRuns:
    """What is kept of a log that is still being written."""

    def __init__(self, prepare: Prepare) -> None:
        """`prepare` is what a `Skimmer` asks for."""
        self._skimmer = Skimmer(prepare)
        self._text = Utf8Stream()
        self._lines = WholeLines()
        self._raw: list[bytes] = []
        self._raw_size = 0
        self._next_line = 1
        self._head: list[Run] = []
        self._head_size = 0
        self._tail: deque[Run] = deque()
        self._tail_size = 0
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take bytes; they are looked at in blocks, as those of a file are."""
        self._raw.append(bytes(data))
        self._raw_size += len(data)
        if self._raw_size < CHUNK:
            return
        raw = b"".join(self._raw)
        whole = len(raw) - len(raw) % CHUNK
        for start in range(0, whole, CHUNK):
            self._take(raw[start : start + CHUNK])
        self._raw, self._raw_size = [raw[whole:]], len(raw) - whole

    def _take(self, piece: bytes) -> None:
        for block in self._lines.push(self._text.feed(piece)):
            run = Run(self._next_line, block)
            self._next_line += block.count(b"\n")
            for kept in self._skimmer.push(run):
                self._keep(kept)

    def _keep(self, run: Run) -> None:
        if self._head_size < KEPT_HEAD:
            self._head.append(run)
            self._head_size += len(run.data)
            return
        self._tail.append(run)
        self._tail_size += len(run.data)
        while self._tail_size > KEPT_TAIL:
            gone = self._tail.popleft()
            self._tail_size -= len(gone.data)
            self._dropped += gone.data.count(b"\n")

    def runs(self) -> Iterator[Run]:
        """Yield what there is, as if the log ended here; nothing is changed by it."""
        yield from self._head
        yield from self._tail
        yield from self._skimmer.held
        text, lines = copy.deepcopy((self._text, self._lines))
        number = self._next_line
        clean = text.feed(b"".join(self._raw)) + text.finish()
        for block in (*lines.push(clean), lines.rest):
            if block:
                yield Run(number, block)
                number += block.count(b"\n")

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the input."""
        text = copy.deepcopy(self._text)
        text.feed(b"".join(self._raw))
        text.finish()
        notes = character_notes(text.undecodable, text.nuls)
        if self._dropped:
            notes = (*notes, f"{self._dropped} lines from the middle of this long log were let go and not looked at.")
        return notes
