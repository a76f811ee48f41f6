"""Ask a block of bytes which of many literals stand in it, at the speed of a literal search.

Hyperscan (on Arm its fork Vectorscan, in the same wheel) searches all literals at once and reports each at most once a
block. Where it is not installed, plain substring searches give the same answer more slowly.
"""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from logdoctor.database.cache import cached, key_of

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
    """Return the safe cores of the literals, each once, in a fixed order."""
    return tuple(sorted({core for literal in literals if (core := safe_core(literal))}))


Found = Callable[[bytes], "list[int]"]
"""Positions of the literals that stand in a block, in ascending order."""


def build_prefilter(literals: tuple[bytes, ...]) -> Found:
    """Compile the literals into one search."""
    try:
        import hyperscan
    except ImportError:
        return lambda data: [number for number, literal in enumerate(literals) if literal in data]
    database = _compiled(hyperscan, literals, hyperscan.HS_FLAG_SINGLEMATCH)

    def found(data: bytes) -> list[int]:
        numbers: list[int] = []
        database.scan(data, match_event_handler=lambda number, *_: numbers.append(number))
        return sorted(numbers)

    return found


def build_text_search(literals: tuple[str, ...]) -> Callable[[Sequence[str]], list[set[str]]]:
    """Compile the literals into one search of many texts: which of them stand in each text."""
    try:
        import hyperscan
    except ImportError:
        return lambda texts: [{literal for literal in literals if literal in text} for text in texts]
    database = _compiled(hyperscan, tuple(literal.encode() for literal in literals), 0)

    def found(texts: Sequence[str]) -> list[set[str]]:
        parts = [text.encode("utf-8", "replace") for text in texts]
        # A literal holds no line end, so none reaches over the one between two texts.
        ends = list(accumulate(len(part) + 1 for part in parts))
        sets: list[set[str]] = [set() for _ in parts]

        def hit(number: int, start: int, end: int, flags: int, context: object) -> None:
            sets[bisect_left(ends, end)].add(literals[number])

        database.scan(b"\n".join(parts), match_event_handler=hit)
        return sets

    return found


def _compiled(hyperscan: Any, literals: tuple[bytes, ...], flags: int) -> Any:
    """Compile, or take the compiled form from the cache (a thousand literals take 20 ms, ten thousand 200)."""

    def compile_() -> bytes:
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        database.compile(
            expressions=list(literals),
            ids=list(range(len(literals))),
            elements=len(literals),
            flags=[flags] * len(literals),
            literal=True,
        )
        return bytes(hyperscan.dumpb(database))

    # Another processor or release of Hyperscan refuses a compiled form; its name keeps them apart before that.
    uname = os.uname() if hasattr(os, "uname") else None
    machine = f"{hyperscan.__version__} {uname.sysname if uname else sys.platform} {uname.machine if uname else ''}"
    blob = cached("literals", key_of(machine.encode(), _processor(), bytes([flags]), *literals), compile_)
    try:
        database = hyperscan.loadb(blob, mode=hyperscan.HS_MODE_BLOCK)
    except hyperscan.error:
        database = hyperscan.loadb(compile_(), mode=hyperscan.HS_MODE_BLOCK)
    database.scratch = hyperscan.Scratch(database)
    return database


def _processor() -> bytes:
    """What the compiled form may depend on: the instructions that this processor has."""
    try:
        with Path("/proc/cpuinfo").open("rb") as file:
            text = file.read(4096)  # the first processor; the others are alike
    except OSError:
        return b""
    return b"".join(line for line in text.splitlines() if line.startswith((b"flags", b"Features")))
