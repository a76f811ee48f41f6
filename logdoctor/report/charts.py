"""The start as a row of phases and the memory as a bar, in characters."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from logdoctor.model import BootDiagnosis, Budget
from logdoctor.report.escaping import one_line
from logdoctor.report.headline import DEAD
from logdoctor.report.values import clock
from logdoctor.report.words import Glyphs, Words


def timeline_pieces(boot: BootDiagnosis, cells: int, marks: Glyphs, words: Words) -> tuple[str, ...]:
    """Return one piece per phase: its name, a bar in proportion to its time, its duration; where it died is marked."""
    spans = boot.timeline
    total = sum(_amount(span.seconds) for span in spans)
    pieces = []
    for position, span in enumerate(spans):
        parts = [words.get("short." + span.phase, one_line(span.phase))]
        if boot.verdict in DEAD and position == len(spans) - 1:
            parts.insert(0, marks.died)
        seconds = _amount(span.seconds)
        if seconds:
            parts.append(marks.bar * round(cells * seconds / total) or marks.sliver)
        if seconds >= 0.95:
            parts.append(clock(seconds))
        pieces.append(" ".join(parts))
    return tuple(pieces)


def budget_pieces(budget: Budget, marks: Glyphs) -> tuple[str, ...]:
    """Return the equation of the memory budget and one piece per part, with the filling that stands for it."""
    limit = budget.total_gib * budget.utilization
    equation = f"{budget.total_gib:.1f} GiB {marks.times} {budget.utilization:g} = {limit:.1f} GiB"
    shades = marks.shades
    return (
        equation,
        *(f"{shades[i % len(shades)]} {one_line(part.name)} {part.gib:.1f}" for i, part in enumerate(budget.parts)),
    )


def budget_bar(budget: Budget, cells: int, marks: Glyphs) -> str:
    """Return the parts as stretches of one bar over the whole memory; empty when the numbers make no bar."""
    sizes = [_amount(part.gib) for part in budget.parts]
    scale = max(_amount(budget.total_gib), sum(sizes))
    if not sizes or not scale:
        return ""
    bar, position = "", 0.0
    for i, size in enumerate(sizes):
        position += size
        bar += marks.shades[i % len(marks.shades)] * (round(cells * position / scale) - len(bar))
    return bar + marks.free * (cells - len(bar))


def flow(pieces: Sequence[str], width: int, separator: str) -> tuple[str, ...]:
    """Put the pieces on as few lines as fit, broken only between pieces."""
    lines: list[str] = []
    for piece in pieces:
        if lines and cells(lines[-1]) + cells(separator) + cells(piece) <= width:
            lines[-1] += separator + piece
        else:
            lines.append(piece)
    return tuple(lines)


def cells(text: str) -> int:
    """Return the columns that a text takes in a terminal: a Chinese character takes two."""
    return len(text) if text.isascii() else len(text) + sum(east_asian_width(c) in "WF" for c in text)


def _amount(value: float | None) -> float:
    """Return a size or duration to draw: 0 for what is unknown, negative or beyond all measure."""
    return value if value is not None and 0 < value < 1e9 else 0.0
