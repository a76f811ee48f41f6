"""Where a line of prose may end: at a blank, and in Chinese after any character that punctuation does not hold."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from unicodedata import east_asian_width

from logdoctor.report.charts import cells

_OPENING, _CLOSING = "（《“‘【", "，。；：、）》”’！？】"
# A word with the blanks after it, or one wide character with what may not begin or end a line.
_UNIT = re.compile(rf"[{_OPENING}]*(?:[^\s\u2e80-\uffef]+|[\u2e80-\uffef])[{_CLOSING}]*\s*|\s+")


def has_wide(text: str) -> bool:
    """Tell whether a text holds characters that take two columns, between which a line may end."""
    return not text.isascii() and any(east_asian_width(character) in "WF" for character in text)


def breaks(text: str, width: int) -> list[int]:
    """Return the positions at which lines of at most `width` columns begin; a longer word is cut."""
    found: list[int] = []
    used = 0
    for unit in _UNIT.finditer(text):
        size = cells(unit[0].rstrip())
        if used and used + size > width:
            found.append(unit.start())
            used = 0
        position = unit.start()
        while size > width:
            taken = _fitting(text[position : unit.end()], width)
            position += taken
            found.append(position)
            size = cells(text[position : unit.end()].rstrip())
        used += cells(text[position : unit.end()])
    return found


def _fitting(text: str, width: int) -> int:
    """Return how many characters fit, at least one."""
    used = 0
    for position, character in enumerate(text):
        used += cells(character)
        if used > width:
            return max(position, 1)
    return len(text)


def cell_width(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    return cells(text)


def pad(text: str, columns: int) -> str:
    """Return the text filled up with blanks to a width in columns."""
    return text + " " * (columns - cells(text))


def wrapped(text: str, width: int, lead: str, hang: str) -> Iterator[str]:
    """Yield a text in lines of at most `width` columns behind what leads the first and each later line.

    In a text of Latin letters a longer word stays whole: it may be a path that somebody copies.
    """
    if not has_wide(text):
        yield from textwrap.wrap(
            text,
            width,
            initial_indent=lead,
            subsequent_indent=hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return
    columns = max(width - max(cells(lead), cells(hang)), 10)
    starts = [0, *(start for start in breaks(text, columns) if start)]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        yield f"{hang if number else lead}{text[start:end]}".rstrip()
