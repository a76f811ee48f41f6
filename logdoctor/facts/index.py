"""Finds the few rows of a table whose substring a message holds, without asking for each of them.

Most messages hold none of the hundreds of substrings. One search finds all that stand in a message
(`database.prefilter` does it for many messages at once), and each table then looks up its rows by substring.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

Row = TypeVar("Row")


class LiteralIndex(Generic[Row]):
    """The rows of a table by their literal."""

    def __init__(self, rows: Iterable[tuple[str, Row]]) -> None:
        self._rows: dict[str, list[tuple[int, Row]]] = {}
        for position, (literal, row) in enumerate(rows):
            self._rows.setdefault(literal, []).append((position, row))

    def find(self, present: Iterable[str]) -> list[Row]:
        """Give the rows of the literals that are present, in the order of the table."""
        rows = self._rows
        found = [row for literal in present if literal in rows for row in rows[literal]]
        if len(found) > 1:
            found.sort(key=lambda item: item[0])
        return [row for _, row in found]
