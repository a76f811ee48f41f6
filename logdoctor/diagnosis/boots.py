"""The boots of one log, each diagnosed when it is over - and of a restart loop without end only the first and the last.

A loop of a few lines a boot fits ten thousand times into a megabyte. The small boots of its middle are not even looked
at: of those that may be dropped the records are kept, and diagnosed when it is known that they stay.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Protocol

from logdoctor.model import BootDiagnosis, Fact, Record

FIRST, LAST = 100, 100
"""Boots of a log that are reported."""
WHOLE = 10
"""Boots at the beginning and at the end of a log that are told with all their findings."""
BRIEF_FINDINGS = 12
SMALL_LINES, SMALL_CHARACTERS = 400, 40_000
"""Size up to which the records of a boot are kept instead of being looked at."""


class Observer(Protocol):
    """What looks at the records of one boot."""

    def observe(self, record: Record) -> None: ...
    def close(self, given: Mapping[str, Fact]) -> BootDiagnosis | None: ...


Look = Callable[[int], Observer]


class Boots:
    """Takes the records of a log with their boot numbers; `result` gives the diagnoses."""

    def __init__(self, look: Look, given: Mapping[str, Fact]) -> None:
        """`look` begins to look at a boot; `given` are the facts that hold for all."""
        self._look = look
        self._given = given
        self._first: list[BootDiagnosis] = []
        self._last: deque[_Boot] = deque()
        self._current: _Boot | None = None
        self.left_out = 0
        """Boots between the first and the last ones of which nothing is reported."""

    def add(self, index: int, record: Record) -> None:
        """Take the next record."""
        if self._current is None or self._current.index != index:
            self._end()
            self._current = _Boot(index, self._look, at_once=len(self._first) < FIRST)
        self._current.add(record)

    def _end(self) -> None:
        boot, self._current = self._current, None
        if boot is None:
            return
        if len(self._first) < FIRST:
            diagnosis = boot.diagnosis(self._given)
            if diagnosis is not None:
                self._first.append(diagnosis)
            return
        if not boot.end(self._given):
            return
        self._last.append(boot)
        if len(self._last) > LAST:
            self._last.popleft()
            self.left_out += 1

    def result(self) -> list[BootDiagnosis]:
        """Return the diagnoses in the order of the log, without those of boots that were no vLLM's."""
        self._end()
        last = (boot.diagnosis(self._given) for boot in self._last)
        boots = [*self._first, *(diagnosis for diagnosis in last if diagnosis is not None)]
        inner = range(WHOLE, len(boots) - WHOLE)
        return [_brief(boot) if place in inner else boot for place, boot in enumerate(boots)]

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the reported boots: from 1, with a gap where boots were left out."""
        yield from range(1, len(self._first) + 1)
        yield from count(len(self._first) + self.left_out + 1)


def _brief(boot: BootDiagnosis) -> BootDiagnosis:
    """Return the diagnosis of a boot in the middle of a long loop, with its first findings only."""
    left = len(boot.findings) - BRIEF_FINDINGS
    if left <= 0:
        return boot
    note = f"{left} further findings of this boot, one of many, are left out."
    return replace(boot, findings=boot.findings[:BRIEF_FINDINGS], notes=(*boot.notes, note))


class _Boot:
    """A boot: its records while it is small, else what looks at them, and at the end the diagnosis."""

    def __init__(self, index: int, look: Look, *, at_once: bool) -> None:
        self.index = index
        self._look = look
        self._observer = look(index) if at_once else None
        self._records: list[Record] = []
        self._lines = self._characters = 0
        self._diagnosis: BootDiagnosis | None = None

    def add(self, record: Record) -> None:
        """Take the next record."""
        if self._observer is not None:
            self._observer.observe(record)
            return
        self._records.append(record)
        self._lines += len(record.lines)
        self._characters += sum(len(text) for _, text in record.lines)
        if self._lines > SMALL_LINES or self._characters > SMALL_CHARACTERS:
            self._begin()

    def _begin(self) -> Observer:
        observer = self._observer = self._look(self.index)
        for record in self._records:
            observer.observe(record)
        self._records = []
        return observer

    def end(self, given: Mapping[str, Fact]) -> bool:
        """Diagnose what is being looked at; False when that was no vLLM's."""
        if self._observer is None:
            return True
        self._diagnosis, self._observer = self._observer.close(given), None
        return self._diagnosis is not None

    def diagnosis(self, given: Mapping[str, Fact]) -> BootDiagnosis | None:
        """Return the diagnosis of the whole boot."""
        if self._diagnosis is None and (self._observer or self._records):
            self._diagnosis = (self._observer or self._begin()).close(given)
            self._observer = None
        return self._diagnosis
