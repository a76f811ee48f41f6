"""Patterns that are compiled when they are first needed: most reports need few, and every start pays for imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Pattern:
    """A regular expression with the methods of `re.Pattern` that detectors use."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.source, self.flags)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Search `text[start:end]`."""
        return self.compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Match at `start`."""
        return self.compiled.match(text, start, len(text) if end is None else end)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text."""
        return self.compiled.fullmatch(text)

    def finditer(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """Yield every match from `start` on."""
        return self.compiled.finditer(text, start)

    def sub(self, replacement: Callable[[re.Match[str]], str], text: str) -> str:
        """Replace every match."""
        return self.compiled.sub(replacement, text)
