"""Finds the few rows of a table whose substring a message holds, without asking for each of them.

Most messages hold none of the hundreds of substrings. A whole word inside a substring must be a word of the message
too, so one look at the message's words rules nearly all rows out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Generic, TypeVar

Row = TypeVar("Row")

_WORD = re.compile(r"\w+")
_INNER_WORD = re.compile(r"(?<=\W)\w+(?=\W)")


def words_of(message: str) -> frozenset[str]:
    """Give the words of a message, as the index wants them."""
    return frozenset(_WORD.findall(message))


class LiteralIndex(Generic[Row]):
    """Rows by a word of their literal; rows whose literal holds no whole word are always asked."""

    def __init__(self, rows: Iterable[tuple[str, Row]]) -> None:
        self._by_word: dict[str, list[tuple[int, str, Row]]] = {}
        self._always: list[tuple[int, str, Row]] = []
        for position, (literal, row) in enumerate(rows):
            word = max(_INNER_WORD.findall(literal), key=len, default="")
            place = self._by_word.setdefault(word, []) if word else self._always
            place.append((position, literal, row))
        self._words = frozenset(self._by_word)

    def find(self, message: str, words: frozenset[str]) -> list[Row]:
        """Give the rows whose literal is in the message, in the order of the table."""
        found = [(place, row) for place, literal, row in self._always if literal in message]
        for word in self._words & words:
            found += [(place, row) for place, literal, row in self._by_word[word] if literal in message]
        if len(found) > 1:
            found.sort(key=lambda item: item[0])
        return [row for _, row in found]
