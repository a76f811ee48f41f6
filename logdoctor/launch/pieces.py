"""Texts inside texts: a script in a quoted word in a YAML file, with the place of every character kept.

A `Piece` is what a reader sees after unquoting; `starts` and `ends` say where each of its characters stands in the
launch file. A change is decided in the piece and written in the file, encoded for every quotation around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from logdoctor.launch.errors import NotEditable


class Quoting(str, Enum):
    """What stands around a text, and so how a text written into it is escaped."""

    SINGLE = "single"
    """Single quotes of a shell."""
    DOUBLE = "double"
    """Double quotes of a shell."""
    BARE = "bare"
    """A shell word without quotes: nothing with a blank can be written into it."""
    MIXED = "mixed"
    """A shell word put together from several quotations."""
    YAML_SINGLE = "yaml-single"
    YAML_DOUBLE = "yaml-double"
    """Also every text in JSON."""
    YAML_PLAIN = "yaml-plain"
    YAML_BLOCK = "yaml-block"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text and where its characters stand in the file."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    quoting: tuple[Quoting, ...] = ()
    """The quotations around it, the innermost first."""

    def start(self, offset: int) -> int:
        """Return where the character at an offset begins in the file (at the end: where the last one ends)."""
        if offset < len(self.starts):
            return self.starts[offset]
        return self.ends[-1] if self.ends else 0

    def end(self, offset: int) -> int:
        """Return where the text before an offset ends in the file."""
        return self.ends[offset - 1] if 0 < offset <= len(self.ends) else self.start(0)


def whole(text: str) -> Piece:
    """Return a file's whole text as a piece."""
    return Piece(text, range(len(text)), range(1, len(text) + 1))


def encode(text: str, quoting: Sequence[Quoting]) -> str:
    """Escape a text for the quotations it is written into; raises `NotEditable` where there is no safe way."""
    for one in quoting:
        text = _encode(text, one)
    return text


def _encode(text: str, quoting: Quoting) -> str:
    if quoting is Quoting.SINGLE:
        return text.replace("'", "'\\''")
    if quoting is Quoting.DOUBLE:
        return "".join(f"\\{char}" if char in '\\"$`' else char for char in text)
    if quoting is Quoting.YAML_SINGLE:
        return text.replace("'", "''")
    if quoting is Quoting.YAML_DOUBLE:
        return text.replace("\\", "\\\\").replace('"', '\\"')
    if quoting is Quoting.YAML_PLAIN and (": " in text or " #" in text or text.endswith(":")):
        raise NotEditable("the text needs quotes, and the place where it belongs has none")
    if quoting in (Quoting.BARE, Quoting.MIXED):
        raise NotEditable("the command stands in a word that is put together from several quotations")
    return text
