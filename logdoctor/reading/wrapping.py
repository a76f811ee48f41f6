"""Undo a terminal's line wrapping, where copied text shows it: many lines of exactly the same full width."""

from __future__ import annotations

import re
from itertools import pairwise

_MIN_WIDTH, _MAX_WIDTH = 60, 400
_MIN_FULL_LINES = 3

# How a line begins that a program wrote; what a terminal wrapped begins anywhere in a sentence.
_HEAD = re.compile(
    r"\(\w[\w .-]{0,80}pid=\d|\[(?:rank|pod/|\d{4}-|[IWEF]\d{4} |Gloo)"
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: \d\d-\d\d |:)|[IWEF]\d{4} \d\d:|\d{4}-\d\d-\d\d[ T]"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:|[\w.-]{1,60} +\| |\{\"|Traceback \(|> |`{3}|usage: "
    r"|(?:[\w.]{1,100}(?:Error|Exception): )|The above exception|During handling"
)
_BARE_FRAME = re.compile(r'  File "')
_RULE = re.compile(r".*[|+=*#─═]$")


class Wrapping:
    """How a block of lines was wrapped."""

    def __init__(self, lines: list[str]) -> None:
        self._tracebacks = any(_BARE_FRAME.match(line) for line in lines)
        self.width = self._find_width(lines)
        """Characters to a line, or 0 when nothing shows that the lines were wrapped."""

    def _begins(self, line: str) -> bool:
        """Whether a program began this line, as far as one can see."""
        # Where tracebacks stand without any prefix, indentation is the only mark of their lines.
        return not line or _HEAD.match(line) is not None or (self._tracebacks and line.startswith("  "))

    def _find_width(self, lines: list[str]) -> int:
        width = max(map(len, lines), default=0)
        if not _MIN_WIDTH <= width <= _MAX_WIDTH:
            return 0
        full = followed = 0
        for line, after in pairwise(lines):
            if len(line) == width and not _RULE.match(line):
                full += 1
                followed += not self._begins(after)
        begun = sum(map(self._begins, lines))
        return width if full >= _MIN_FULL_LINES and followed >= full * 0.8 and begun * 5 >= len(lines) else 0

    def undo(self, numbered: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """The lines with what the terminal had broken put together; each keeps its first number."""
        joined: list[tuple[int, str]] = []
        full = False
        for number, line in numbered:
            if full and not self._begins(line):
                before, text = joined[-1]
                joined[-1] = (before, text + line)
            else:
                joined.append((number, line))
            full = len(line) == self.width
        return joined
