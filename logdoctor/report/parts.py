"""A report made of parts of which the least useful are left out, whole, where there is no room for all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from logdoctor.report.words import Words

_FOR_THE_NOTE = 300
"""Characters kept for the sentence that says what was left out."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the report that is printed whole or not at all."""

    rank: int
    """Parts of a lower rank get room first; those of rank 0 always have it."""
    name: str
    """What is said to be left out."""
    text: str


def fit(parts: Iterable[Part], limit: int, words: Words) -> str:
    """Join the parts in their order, at most `limit` characters; those for which no room is left are named instead."""
    made = [part for part in parts if part.text]
    room = limit - _FOR_THE_NOTE
    kept: set[int] = set()
    for position, part in sorted(enumerate(made), key=lambda item: item[1].rank):
        if part.rank == 0 or len(part.text) + 2 <= room:
            room -= len(part.text) + 2
            kept.add(position)
    left = dict.fromkeys(part.name for position, part in enumerate(made) if position not in kept)
    shown = [part.text for position, part in enumerate(made) if position in kept]
    return "\n\n".join([*shown, *([words("left_out", what=", ".join(left))] if left else [])])
