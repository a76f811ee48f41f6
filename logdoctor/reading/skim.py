"""Leave out of a long log what nobody will ask for: the lines that hold none of the wanted texts.

The start of the input, the lines after each start of a server, and the end are kept whole, because there every line
counts (phases, progress, the last word). In between only the lines around a wanted text remain, and of a text that
comes again and again only the first ones and one in each block. Whole lines only; line numbers stay those of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from logdoctor.model import Run
from logdoctor.reading.bars import without_inner_steps

HEAD = 1 << 19
"""Bytes kept whole at the beginning of the input."""
AFTER_START = 1 << 19
"""Bytes kept whole after a text that begins a boot."""
TAIL = 1 << 18
"""Bytes kept whole at the end of the input."""


class Window(NamedTuple):
    """How much around a wanted text is kept, by how often the text was met in this boot."""

    up_to: int
    before: int
    after: int


WINDOWS = (Window(16, 1024, 2048), Window(64, 256, 512))
LONG_WINDOWS = (Window(16, 1024, 1 << 18), Window(64, 512, 1 << 14))
"""For texts after which much belongs to one event: a traceback."""
_REPEATED = Window(0, 0, 0)


class Wanted(NamedTuple):
    """The texts to look for, and which of them are special."""

    literals: tuple[bytes, ...]
    starts: frozenset[bytes] = frozenset()
    """Texts that begin a boot: what was met before counts no more."""
    long: frozenset[bytes] = frozenset()


class Skimmer:
    """Filters the runs of one input."""

    def __init__(
        self,
        prepare: Callable[[], tuple[Wanted, Callable[[bytes], list[int]]]],
        *,
        head: int = HEAD,
        tail: int = TAIL,
    ) -> None:
        """`prepare` gives the texts and their search; it is asked when the first block beyond the head comes."""
        self._prepare = prepare
        self._wanted = Wanted(())
        self._search: Callable[[bytes], list[int]] | None = None
        self._met: dict[int, int] = {}
        self._head = head
        self._tail = tail
        self._whole_until = head
        """Offset in the input up to which everything is kept."""
        self._offset = 0
        self._held: list[Run] = []
        self._held_size = 0
        self.bytes_skipped = 0

    def runs(self, runs: Iterable[Run]) -> Iterator[Run]:
        """Yield what is kept, as runs of whole lines."""
        for run in runs:
            yield from self.push(run)
        for run in self.held:
            yield from without_inner_steps(run)

    def push(self, run: Run) -> Iterator[Run]:
        """Take the next run and yield what is kept of those before the tail."""
        self._held.append(run)
        self._held_size += len(run.data)
        # The end is not known before it is there: hold back as much as the tail needs.
        while self._held and self._held_size - len(self._held[0].data) >= self._tail:
            first = self._held.pop(0)
            self._held_size -= len(first.data)
            for kept in self._skim(first):
                yield from without_inner_steps(kept)

    @property
    def held(self) -> tuple[Run, ...]:
        """The tail as it stands: kept whole if nothing more comes."""
        return tuple(self._held)

    def _skim(self, run: Run) -> Iterator[Run]:
        begin, self._offset = self._offset, self._offset + len(run.data)
        if self._offset <= self._whole_until:
            yield run
            return
        yield from self._cut(run, self._merged(run.data, self._spans(run.data, begin)))

    def _spans(self, data: bytes, begin: int) -> list[tuple[int, int]]:
        """The stretches of a block to keep, not yet merged nor cut at lines."""
        spans = [(0, self._whole_until - begin)] if self._whole_until > begin else []
        if self._search is None:
            self._wanted, self._search = self._prepare()
        numbers = self._search(data)
        for number in numbers:
            literal = self._wanted.literals[number]
            if literal in self._wanted.starts:
                at = data.rfind(literal)
                self._met.clear()
                spans.append((max(data.find(literal) - WINDOWS[0].before, 0), at + AFTER_START))
                self._whole_until = max(self._whole_until, begin + at + AFTER_START)
        for number in numbers:
            spans.extend(self._around(data, number))
        return spans

    def _around(self, data: bytes, number: int) -> Iterator[tuple[int, int]]:
        literal = self._wanted.literals[number]
        windows = LONG_WINDOWS if literal in self._wanted.long else WINDOWS
        at = data.find(literal)
        while at >= 0:
            met = self._met[number] = self._met.get(number, 0) + 1
            window = next((w for w in windows if met <= w.up_to), _REPEATED)
            yield at - window.before, at + len(literal) + window.after
            if window is _REPEATED:
                return
            at = data.find(literal, at + len(literal) + window.after)

    @staticmethod
    def _merged(data: bytes, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Widen the stretches to whole lines and join those that touch."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            start = data.rfind(b"\n", 0, max(start, 0)) + 1
            end = data.find(b"\n", max(min(end, len(data)) - 1, 0)) + 1 or len(data)
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    def _cut(self, run: Run, spans: Iterable[tuple[int, int]]) -> Iterator[Run]:
        number, position = run.first_line, 0
        for start, end in spans:
            number += run.data.count(b"\n", position, start)
            self.bytes_skipped += start - position
            yield Run(number, run.data[start:end])
            number += run.data.count(b"\n", start, end)
            position = end
        self.bytes_skipped += len(run.data) - position
