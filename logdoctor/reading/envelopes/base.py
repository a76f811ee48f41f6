"""What every envelope can do: say whether a line looks like its own, and peel it."""

from __future__ import annotations

import re
from typing import NamedTuple

LOG_HEAD = re.compile(
    r"\([A-Za-z][^()\n]{0,80}pid=\d|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: \d\d-\d\d |: {2,5})"
    r"|Traceback \(most recent call last\)"
)
"""How the lines begin that show a log of vLLM."""


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
    weak = False
    """True when the look of the outside proves little: what is inside must look like a log line too."""

    def fits(self, line: str) -> bool:
        """Whether the line is surely wrapped by this transport (asked when the envelopes are not known yet)."""
        return self.peel(line) is not None

    def peel(self, line: str) -> Peeled | None:
        """Unwrap the line, or None when it is not wrapped."""
        raise NotImplementedError
