"""Leave out of a block that consists of very short lines what only repeats.

A megabyte of log holds some ten thousand lines. One that holds half a million is no log: each line would cost what a
line of a log costs, and say nothing. Lines of usual length all stay, and so does every short line that is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logdoctor.model import Run

SHORT = 32
"""Bytes below which a line is short; a block is thinned when its lines are shorter on the average."""
KEPT_FIRST, KEPT_LAST = 1000, 100
"""Short lines kept at the beginning of a block whatever they say, and lines kept at its end."""
KEPT_NEW = 2000
"""Short lines kept in between because they are not like one before."""


class Thinner:
    """Thins the runs of one input."""

    def __init__(self) -> None:
        self.lines_cut = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how much was left out; nothing when nothing was."""
        return (f"{self.lines_cut} very short lines that repeat were not looked at.",) if self.lines_cut else ()

    def runs(self, runs: Iterable[Run]) -> Iterator[Run]:
        """Yield the runs, those of very short lines in pieces."""
        for run in runs:
            count = run.data.count(b"\n")
            if count > KEPT_FIRST + KEPT_LAST and count * SHORT > len(run.data):
                yield from self._thinned(run)
            else:
                yield run

    def _thinned(self, run: Run) -> Iterator[Run]:
        lines = _lines(run.data)
        kept = _kept(lines)
        self.lines_cut += len(lines) - len(kept)
        start = 0
        for position in range(1, len(kept) + 1):
            if position == len(kept) or kept[position] != kept[position - 1] + 1:
                first, last = kept[start], kept[position - 1]
                yield Run(run.first_line + first, b"".join(lines[first : last + 1]))
                start = position


def _lines(data: bytes) -> list[bytes]:
    """The lines with their ends; a carriage return ends none."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _kept(lines: list[bytes]) -> list[int]:
    """Positions of the lines that stay."""
    seen: set[bytes] = set()
    kept = []
    short = new = 0
    last = len(lines) - KEPT_LAST
    for position, line in enumerate(lines):
        if len(line) < SHORT and position < last:
            short += 1
            if short > KEPT_FIRST:
                if line in seen or new >= KEPT_NEW:
                    continue
                new += 1
            seen.add(line)
        kept.append(position)
    return kept
