"""Where a line of prose may end: at a blank, and in Chinese after any character that punctuation does not hold."""

from __future__ import annotations

import re
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
