"""Ask a block of bytes which of many literals stand in it, at the speed of a literal search.

Hyperscan (on Arm its fork Vectorscan, in the same wheel) searches all literals at once and reports each at most once a
block. Where it is not installed, plain substring searches give the same answer more slowly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

MIN_LENGTH = 4
"""Bytes; a shorter piece stands in too many lines to be worth asking for."""

# A transport may write these differently (JSON escapes quotes and backslashes, Go's JSON also <, > and &), and a
# terminal or UTF-16 file what is not ASCII.
_ESCAPED = re.compile(r'["\\<>&]|[^ -~]+')


def safe_core(literal: str) -> bytes:
    """Return the longest piece of a literal that every envelope leaves as it is; empty when it is too short."""
    longest = max(_ESCAPED.split(literal), key=len)
    return longest.encode() if len(longest) >= MIN_LENGTH else b""


def safe_cores(literals: Iterable[str]) -> tuple[bytes, ...]:
    """Return the safe cores of the literals, each once, without those that another one already implies."""
    cores = sorted({core for literal in literals if (core := safe_core(literal))}, key=lambda core: (len(core), core))
    kept: list[bytes] = []
    for core in cores:
        if len(core) > 12 and any(short in core for short in kept if len(short) >= 12):
            continue
        kept.append(core)
    return tuple(sorted(kept))


Found = Callable[[bytes], "list[int]"]
"""Positions of the literals that stand in a block, in ascending order."""


def build_prefilter(literals: tuple[bytes, ...]) -> Found:
    """Compile the literals into one search."""
    try:
        import hyperscan
    except ImportError:
        return lambda data: [number for number, literal in enumerate(literals) if literal in data]
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    flags = hyperscan.HS_FLAG_SINGLEMATCH
    database.compile(
        expressions=[re.escape(literal) for literal in literals],
        ids=list(range(len(literals))),
        elements=len(literals),
        flags=[flags] * len(literals),
    )

    def found(data: bytes) -> list[int]:
        numbers: list[int] = []
        database.scan(data, match_event_handler=lambda number, *_: numbers.append(number))
        return sorted(numbers)

    return found
