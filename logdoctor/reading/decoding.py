"""One physical line: carriage returns of progress bars and of vLLM's formatter, lines far too long."""

from __future__ import annotations

import re

from logdoctor.wording import beginning, word_end

CUT = " …[line cut]… "
"""Stands where the middle of a line is missing."""
MAX_LINE = 1 << 18
"""Characters of a line that are kept."""
_HEAD = MAX_LINE * 3 // 4
_TAIL = MAX_LINE - _HEAD

# What may stand before the first carriage return of a bar and belongs to every part after it.
_PROCESS = re.compile(r"(?:\([A-Za-z][^()\n]{0,80}?pid=\d+[^()\n]{0,60}\) ?)+")
_LOGGED = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::| \d\d-\d\d \d\d:\d\d:\d\d )")


def capped(text: str) -> str:
    """The text, or its head and tail with a mark between."""
    if len(text) <= MAX_LINE:
        return text
    # No word is cut: half a secret is not recognised as one.
    tail = len(text) - _TAIL
    return f"{beginning(text, _HEAD)}{CUT}{text[word_end(text, tail) :]}"


def without_bar(text: str) -> str:
    """What a terminal would show of a line with carriage returns inside: the last part that is not empty.

    A process prefix before the first return holds for all parts. A logger's own line is no bar: whatever a client
    planted in it must not push the prefix out, so its parts are joined instead.
    """
    first, *rest = text.split("\r")
    match = _PROCESS.match(first)
    prefix = match.group() if match else ""
    if _LOGGED.match(first, len(prefix)):
        return text.replace("\r", " ")
    for part in reversed(rest):
        if part.strip():
            return part if not prefix or _PROCESS.match(part) else prefix + part
    return first
