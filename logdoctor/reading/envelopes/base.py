"""What every envelope can do: say whether a line looks like its own, and peel it."""

from __future__ import annotations

from typing import NamedTuple


class Peeled(NamedTuple):
    """What an envelope states about a line, and what was inside."""

    text: str
    source: str = ""
    stream: str = ""
    time: str = ""
    partial: bool = False
    """True when the next piece of the same source and stream goes on where this one ends."""
    noise: bool = False
    """True when the line belongs to the envelope alone and holds no log text."""


class Envelope:
    """One transport's way of wrapping a line. Stacks in any order; may keep state over the lines of one input."""

    name = ""

    def fits(self, line: str) -> bool:
        """Whether the line is surely wrapped by this transport (asked when the envelopes are not known yet)."""
        return self.peel(line) is not None

    def peel(self, line: str) -> Peeled | None:
        """Unwrap the line, or None when it is not wrapped."""
        raise NotImplementedError
