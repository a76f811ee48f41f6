"""Keep the errors and tracebacks of a boot, and tell which process failed first.

This knows shapes only (levels, tracebacks, whether a process went on afterwards), no message of vLLM: it is what
remains to say when no signature matches.
"""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from logdoctor.model import ExceptionInfo, Process, Record
from logdoctor.wording import cut

KEPT_FIRST = 160
KEPT_LAST = 40
MAX_PROCESSES = 2048
MAX_TEXT = 4000
_ALIVE_AFTER = 3
"""Healthy records that a process must write after an error to count as alive; the stop itself writes one or two."""
_USAGE_ERROR = re.compile(r"^[\w./-]+: error: ")
_ASIDE = re.compile(r"^(?:Exception ignored in|--- Logging error ---|Task exception was never retrieved)")
"""What Python itself says before a traceback that ends nothing; the reader may keep the two apart."""
_PYTHON_WARNING = re.compile(r"Warning$")
_HELPER = "/multiprocessing/resource_tracker.py"
"""A process of Python's own beside every program; it outlives the others and stumbles when they are killed."""


class Failure(NamedTuple):
    """An error of one process: a traceback, an ERROR record, or a usage error."""

    line: int
    process: Process
    text: str
    exception: ExceptionInfo | None
    fatal_shape: bool
    """True for a traceback or a usage error; false for a plain ERROR record."""
    lines: tuple[int, int]


def innermost(exception: ExceptionInfo) -> ExceptionInfo:
    """Return the exception that began a chain of `direct cause` and `during handling`."""
    *_, first = exception.chain()
    return first


class FailureLog:
    """Collects the failures of a boot with bounded memory."""

    def __init__(self) -> None:
        self._first: list[Failure] = []
        self._last: deque[Failure] = deque(maxlen=KEPT_LAST)
        self._healthy: dict[tuple[str, str], deque[int]] = {}
        self._aside = False
        self.last_healthy: tuple[int, str] | None = None
        """Line and text of the last INFO record before the first failure."""

    def observe(self, record: Record) -> None:
        """Take note of a record."""
        if record.quoted:
            return
        aside, self._aside = self._aside, record.level == "" and _ASIDE.match(record.lines[0][1]) is not None
        failure = None if aside and record.level == "" else _failure(record)
        if failure is not None:
            if len(self._first) < KEPT_FIRST:
                self._first.append(failure)
            else:
                self._last.append(failure)
        elif record.level in ("INFO", "WARNING", "DEBUG"):
            key = (record.process.name, record.process.pid)
            if key not in self._healthy and len(self._healthy) >= MAX_PROCESSES:
                del self._healthy[next(iter(self._healthy))]
            self._healthy.setdefault(key, deque(maxlen=_ALIVE_AFTER)).append(record.first_line)
            if record.level == "INFO" and not self._first and record.lines[0][1].strip():
                self.last_healthy = record.lines[0]

    def failures(self) -> tuple[Failure, ...]:
        """Return the kept failures in the order of the log."""
        return tuple(sorted((*self._first, *self._last), key=lambda failure: failure.line))

    def ended(self, failure: Failure) -> bool:
        """Return whether the process wrote (nearly) nothing healthy after the failure."""
        return not self.went_on(failure.process, failure.line)

    def went_on(self, process: Process, line: int) -> bool:
        """Return whether a process wrote more than a word or two that are healthy after a line."""
        if process.name:
            seen = list(self._healthy.get((process.name, process.pid), ()))
        else:
            # A bare line belongs to nobody for certain: ask whether anybody went on.
            seen = [healthy for lines in self._healthy.values() for healthy in lines]
        return sum(healthy > line for healthy in seen) >= _ALIVE_AFTER


def _failure(record: Record) -> Failure | None:
    if record.level not in ("", "ERROR", "CRITICAL"):
        return None
    exception = record.exception
    text = record.lines[0][1]
    usage = record.level == "" and next((t for _, t in record.lines if _USAGE_ERROR.match(t)), None)
    if exception is not None and (_PYTHON_WARNING.search(exception.type) or _ASIDE.match(text)):
        return None
    if exception is not None and exception.frames and exception.frames[-1].file.endswith(_HELPER):
        return None
    if exception is None and not usage and record.level == "":
        return None
    if exception is not None:
        line = exception.line
        text = f"{exception.type}: {exception.message}" if exception.message else exception.type
    else:
        line = record.first_line
        text = usage or text
    return Failure(
        line=line,
        process=record.process,
        text=cut(text, MAX_TEXT),
        exception=exception,
        fatal_shape=exception is not None or bool(usage),
        lines=(record.first_line, record.last_line),
    )
