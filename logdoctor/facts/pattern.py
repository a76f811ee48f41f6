"""What a fact pattern is, and the one engine that applies the tables of them.

A table (`launch.py`, `hardware.py`, `kernels.py`, `memory.py`, `loading.py`) is data: each row names a substring that
its line must hold, an expression with named groups, and the fact key of each group. The engine asks for the substring
first, so that a record without facts costs a few dozen substring searches and no expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

from logdoctor.facts.index import LiteralIndex
from logdoctor.model import Fact, FactValue, Record
from logdoctor.wording import beginning

Convert = Callable[[str], "FactValue | None"]
"""Turns captured text into a typed value; None when it is none."""

MAX_TEXT = 2000
"""Longest text a fact keeps; the engine configuration alone has thousands of characters."""
MAX_ITEMS = 64
"""Most texts that a fact of several keeps."""
MAX_NAMED = 600
"""Most arguments and variables of a boot that become facts; no server has half as many."""
_NAMED = ("args.", "env.")


class Policy(str, Enum):
    """Which of several statements of equal rank about one key holds."""

    FIRST = "first"
    LAST = "last"
    LEAST = "min"
    MOST = "max"
    APPEND = "append"


class FactPattern(NamedTuple):
    """One way in which a log states facts."""

    literal: str
    """Substring that every line of this kind holds."""
    regex: str
    """Searched in the message, `^` and `$` at line ends; named groups are captures."""
    keys: Mapping[str, tuple[str, Convert]]
    """Capture to (fact key, converter). The capture `all` is the whole match, `rank` and `host` are the process's that
    wrote it; a key may hold `{capture}`."""
    policy: Policy = Policy.FIRST
    rank: int = 2
    """A statement of a higher rank replaces one of a lower rank, whatever the policy."""
    files: tuple[str, ...] = ()
    """Base names of the source files that may say it; a record without a file is always read."""


class Statement(NamedTuple):
    """A fact as one record states it, before it is weighed against the others."""

    key: str
    value: FactValue
    line: int
    policy: Policy = Policy.FIRST
    rank: int = 2
    origin: str = "log"


class FactStore:
    """The facts of one boot so far, and the rank of the statement each came from."""

    def __init__(self) -> None:
        self._facts: dict[str, Fact] = {}
        self._ranks: dict[str, int] = {}
        self._named = 0
        self.left_out = 0
        """Statements about arguments and variables that were not kept, there being too many."""

    def __contains__(self, key: str) -> bool:
        return key in self._facts

    def copy(self) -> dict[str, Fact]:
        """The facts in the order in which their keys were first stated."""
        return dict(self._facts)

    def add(self, statement: Statement, process: str = "") -> None:
        """Weigh a statement against what is known, and keep the better."""
        value = statement.value
        known = self._facts.get(statement.key)
        if known is not None:
            rank = self._ranks[statement.key]
            if statement.rank < rank:
                return
            if statement.rank == rank:
                if statement.policy is Policy.APPEND:
                    value = _appended(known.value, value)
                    if value == known.value:
                        return
                    statement = Statement(statement.key, value, known.line, statement.policy, rank, statement.origin)
                    process = known.process
                elif not _replaces(statement.policy, known.value, value):
                    return
        else:
            if statement.key.startswith(_NAMED):
                if self._named >= MAX_NAMED:
                    self.left_out += 1
                    return
                self._named += 1
            if statement.policy is Policy.APPEND:
                value = _appended((), value)
        self._facts[statement.key] = Fact(statement.key, value, statement.line, process, statement.origin)
        self._ranks[statement.key] = statement.rank


def _appended(known: FactValue, value: FactValue) -> FactValue:
    items = known if isinstance(known, tuple) else (str(known),)
    return items if len(items) >= MAX_ITEMS or str(value) in items else (*items, str(value))


def _replaces(policy: Policy, known: FactValue, value: FactValue) -> bool:
    if policy is Policy.LAST:
        return True
    if policy in (Policy.LEAST, Policy.MOST) and isinstance(known, (int, float)) and isinstance(value, (int, float)):
        return value < known if policy is Policy.LEAST else value > known
    return False


class PatternTable:
    """Applies fact patterns to records; a row that has said all it can say is not tried again."""

    def __init__(self, patterns: Iterable[FactPattern]) -> None:
        self._index = LiteralIndex((pattern.literal, (place, pattern)) for place, pattern in enumerate(patterns))
        self._done: set[int] = set()

    def read(self, record: Record, message: str, present: Collection[str]) -> Iterator[Statement]:
        """Yield what the record states."""
        for place, pattern in self._index.find(present):
            if place in self._done:
                continue
            if pattern.files and record.file and record.file.rpartition("/")[2] not in pattern.files:
                continue
            found = False
            for statement in _statements(pattern, record, message):
                found = True
                yield statement
            if found and pattern.policy is Policy.FIRST and not any("{" in key for key, _ in pattern.keys.values()):
                self._done.add(place)


def _statements(pattern: FactPattern, record: Record, message: str) -> Iterator[Statement]:
    matches: Sequence[re.Match[str]] = list(_compiled(pattern.regex).finditer(message))
    if pattern.policy is Policy.FIRST:
        matches = matches[:1]
    for match in matches:
        for capture, (key, convert) in pattern.keys.items():
            text = _of_process(record, capture)
            if text is None:
                text = match.group(0 if capture == "all" else capture)
            value = convert(text) if text is not None else None
            if value is None:
                continue
            line = line_at(record, message, match.start(0 if capture in _WHOLE else capture))
            name = key.format(**match.groupdict()) if "{" in key else key
            yield Statement(name, value, line, pattern.policy, pattern.rank)


_WHOLE = ("all", "rank", "host")
"""Captures that are no group of the expression."""


def _of_process(record: Record, capture: str) -> str | None:
    return {"rank": record.process.rank, "host": record.process.host}.get(capture)


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.MULTILINE)


def line_at(record: Record, message: str, offset: int) -> int:
    """Give the physical line number of an offset into the record's message."""
    index = message.count("\n", 0, offset)
    return record.lines[min(index, len(record.lines) - 1)][0]


def text(captured: str) -> FactValue | None:
    """Plain text without surrounding blanks and quotes."""
    plain = captured.strip().strip("'\"").strip()
    return beginning(plain, MAX_TEXT).encode("utf-8", "replace").decode("utf-8") if plain else None


def integer(captured: str) -> FactValue | None:
    """A whole number, with or without thousands marks."""
    digits = captured.replace(",", "").replace("_", "").strip()
    return int(digits) if len(digits) <= 30 and digits.lstrip("-").isdecimal() else None


def number(captured: str) -> FactValue | None:
    """A decimal number."""
    try:
        return float(captured.replace(",", "")) if len(captured) <= 40 else None
    except ValueError:
        return None


def true(captured: str) -> FactValue | None:
    """True: that the line is there is the fact."""
    return True


def gib(captured: str) -> FactValue | None:
    """A memory size with its unit, in GiB."""
    size = re.match(r"\s*(-?[\d.]+)\s*([KMGT]?i?B|bytes)\s*\Z", captured)
    amount = number(size.group(1)) if size else None
    if size is None or not isinstance(amount, float):
        return None
    factor = {"K": 2**-20, "M": 2**-10, "G": 1.0, "T": 2.0**10}.get(size.group(2)[0], 2.0**-30)
    return round(amount * factor, 4)


def capability(captured: str) -> FactValue | None:
    """A compute capability as `major.minor`, from `12.1`, `121` or `sm_121a`."""
    found = re.search(r"(\d{1,2})\.(\d)|(\d{1,2})(\d)[a-f]?\b", captured)
    if found is None:
        return None
    major, minor = (found.group(1), found.group(2)) if found.group(1) else (found.group(3), found.group(4))
    return f"{major}.{minor}"


def version(captured: str) -> FactValue | None:
    """A version as printed, without a leading `v` and trailing punctuation."""
    plain = captured.strip().rstrip(".,;:").removeprefix("v")
    return plain if plain[:1].isdigit() else None


def member(captured: str) -> FactValue | None:
    """The member's name of a printed enum (`AttentionBackendEnum.FLASH_ATTN`), else the text."""
    plain = captured.strip().strip("'\"")
    return (plain.rpartition(".")[2] if re.fullmatch(r"\w+\.\w+", plain) else plain) or None


def constant(value: FactValue) -> Convert:
    """Give a converter that always says `value`."""
    return lambda captured: value
