"""The events of a boot that decide its verdict: begun, up, told to stop, failed, waiting.

Only shapes are known here (which line means that a process gave up, not why); the causes are signatures.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection
from typing import NamedTuple

from logdoctor.facts.clock import Stamp, seconds_between
from logdoctor.facts.events import EVENTS, find_events
from logdoctor.model import ExceptionInfo, Phase, Process, Record
from logdoctor.wording import beginning

KEPT_FAILURES = 60
_TEXT = 300
_NO_TIME = Stamp()
_TOP_FUNCTIONS = frozenset({"<module>", "_bootstrap", "spawn_main", "_main", "_run_module_as_main"})
"""Where an uncaught exception that ends a process begins its traceback; a thread's or a callback's does not."""
_THREAD = "_bootstrap_inner"
"""Where the traceback of a thread begins; it ends no process."""
_COMING_UP = frozenset({"startup-complete", "http-started", "frontend-listening"})
"""Proofs of readiness that a server gives only once, when it comes up."""
_NOT_UNCAUGHT = re.compile(r"^(?:Exception ignored in|Exception in thread|--- Logging error ---|Task exception was)")
_STOP_EXCEPTIONS = frozenset({"KeyboardInterrupt", "SystemExit", "asyncio.exceptions.CancelledError"})
_STDERR_TEXT = re.compile(
    r"Application (?:startup|shutdown) complete|Waiting for application (?:startup|shutdown)"
    r"|(?:Started|Finished) server process \[|% Completed \| |\d%\|[^|\n]{0,80}\| \d+/"
    r"|^usage: |^(?:vllm|[\w-]+\.py)(?: [a-z-]+)?: error: "
)
"""What uvicorn, argparse and progress bars write to stderr, and vLLM's logger never says."""
_PYTHON_WARNING = re.compile(r"\w*Warning: ")
_LOGGER_TIME = re.compile(r"\d\d-\d\d \d\d:|\d{4}-\d\d-\d\d ")
_GLOG_TIME = re.compile(r"\d{4} \d\d:")

LITERALS: tuple[str, ...] = (
    *dict.fromkeys(pattern.literal for pattern in EVENTS),
    *("Traceback (most recent call last)", "server process [", "Warning: ", "%|"),
)


class Event(NamedTuple):
    """Something that happened in a boot."""

    event: str
    kind: str
    line: int
    process: Process
    text: str
    phase: str = ""
    """The phase the boot was in."""

    @property
    def comes_up(self) -> bool:
        """Whether this is what a server says once, when it comes up."""
        return self.kind in _COMING_UP


class Milestones(NamedTuple):
    """The events of one boot at the end of its records. An absent event is None; an absent line is 0."""

    first_line: int = 0
    last_line: int = 0
    begin: Event | None = None
    """Banner, usage text, arguments or first imports: the start of the boot is in the input."""
    engine: Event | None = None
    """The engine process has its configuration."""
    engine_up: Event | None = None
    listening: Event | None = None
    """The server names its address; it may not answer yet."""
    ready: Event | None = None
    """The first proof that the server answers. `kind` says which."""
    shutdown: Event | None = None
    """The first request to stop that no failure precedes."""
    failures: tuple[Event, ...] = ()
    """Processes that gave up, before any request to stop. Only the first ones are kept."""
    survived: tuple[Event, ...] = ()
    """What looked like a failure, but the server came up after it."""
    after_shutdown: tuple[Event, ...] = ()
    """What looks like a failure but follows a request to stop."""
    wait: Event | None = None
    """The first of the wait lines at the end of the log, after which nothing moved."""
    waits: int = 0
    """How many of these there are."""
    wait_seconds: float | None = None
    last_healthy: Event | None = None
    """The last INFO record before the first failure."""
    last_progress: Event | None = None
    """The last record that shows progress: neither a wait line nor worse than INFO."""
    stderr_line: int = 0
    """The first line that only stderr carries."""
    logger_lines: int = 0
    requests_ok: int = 0
    requests_error: int = 0
    last_work_line: int = 0
    """The last answer that needed the engine, or 0."""
    seconds: float | None = None
    """From the first stamp to the last."""
    start_seconds: float | None = None
    """From the first stamp to the proof of readiness."""

    @property
    def failed(self) -> bool:
        """Whether a process gave up without having been told to."""
        return bool(self.failures)

    @property
    def failure_line(self) -> int:
        """Line of the first failure, or 0."""
        return self.failures[0].line if self.failures else 0

    @property
    def ready_line(self) -> int:
        """Line of the first proof of readiness, or 0."""
        return self.ready.line if self.ready else 0

    @property
    def shutdown_line(self) -> int:
        """Line of the first request to stop, or 0."""
        return self.shutdown.line if self.shutdown else 0

    @property
    def excerpt(self) -> bool:
        """Whether the start of the boot is missing from the input."""
        return self.begin is None and self.last_line > 0

    @property
    def stderr_missing(self) -> bool:
        """Whether the log was probably taken without `2>&1`: a start with logger lines, none from stderr."""
        return self.begin is not None and self.logger_lines >= 5 and not self.stderr_line


class MilestoneTracker:
    """Collects the milestones of one boot."""

    def __init__(self) -> None:
        self._events: dict[str, Event] = {}
        self._failures: list[Event] = []
        self._doubtful: dict[tuple[str, str], Event] = {}
        """Exceptions of a start that may have ended their process or not: it tells by writing on."""
        self._survived: list[Event] = []
        self._after_shutdown: list[Event] = []
        self._healthy: tuple[Record, str] | None = None
        self._progress: tuple[Record, str] | None = None
        self._waits: deque[tuple[Event, Stamp]] = deque(maxlen=1)
        self._wait_count = 0
        self._last_wait = Stamp()
        self._first_line = self._last_line = self._stderr_line = self._logger_lines = 0
        self._first_stamp = self._last_stamp = self._ready_stamp = Stamp()

    @property
    def failed(self) -> bool:
        """Whether a failure was seen that no request to stop precedes."""
        return bool(self._failures)

    @property
    def up(self) -> bool:
        """Whether a proof of readiness was seen so far, and no request to stop."""
        return "ready" in self._events and "shutdown" not in self._events

    def touch(self, record: Record, stamp: Stamp) -> None:
        """Take note of a record of any kind: lines, stream and time."""
        first, last = record.first_line, record.last_line
        self._first_line = min(self._first_line or first, first)
        self._last_line = max(self._last_line, last)
        self._logger_lines += _from_logger(record)
        if record.stream == "stderr":
            self._stderr_line = self._stderr_line or first
        if stamp.known:
            self._first_stamp = self._first_stamp if self._first_stamp.known else stamp
            self._last_stamp = stamp

    def work(self, line: int) -> None:
        """Take note that the engine worked at a line: what nobody or the API server told before it is refuted."""
        if self._failures and "shutdown" not in self._events:
            told = ("", "api", "frontend")
            alive = [event for event in self._failures if event.line < line and event.process.role in told]
            self._survived += alive
            self._failures = [event for event in self._failures if event not in alive]

    def serve(self, record: Record) -> None:
        """Take note of an answered request."""
        self._once(_event("ready", "answered", record, Phase.SERVING.value))
        self._moved_on(record, Phase.SERVING.value)

    def observe(self, record: Record, message: str, present: Collection[str], phase: Phase, stamp: Stamp) -> None:
        """Take note of what the record means for the boot."""
        found = find_events(record, message, present)
        events = {pattern.event for pattern in found}
        for pattern in found:
            line, text = _line_with(record, pattern.literal)
            self._happened(
                Event(pattern.event, pattern.kind, line, record.process, beginning(text, _TEXT), phase.value), stamp
            )
        if "failure" not in events and record.exception is not None and record.level == "":
            events.add(self._uncaught(record, message, record.exception, phase))
        if not self._stderr_line and _only_on_stderr(record, message):
            self._stderr_line = record.first_line
        if events & {"failure", "wait"} or record.level in ("WARNING", "ERROR", "CRITICAL"):
            return
        if message.strip():
            self._moved_on(record, phase.value)
            if self._doubtful and record.level:
                self._doubtful.pop((record.process.name, record.process.pid), None)
            if record.level == "INFO" and not self._failures:
                self._healthy = self._progress

    def _moved_on(self, record: Record, phase: str) -> None:
        self._progress = (record, phase)
        self._waits.clear()
        self._wait_count = 0

    def _happened(self, event: Event, stamp: Stamp = _NO_TIME) -> None:
        if event.event == "failure":
            kept = self._after_shutdown if "shutdown" in self._events else self._failures
            if len(kept) < KEPT_FAILURES:
                kept.append(event)
        elif event.event == "wait":
            self._wait_count += 1
            self._last_wait = stamp
            if not self._waits:
                self._waits.append((event, stamp))
        elif event.event != "shutdown" or not self._failures:
            if event.comes_up:
                self._survived, self._failures = self._survived + self._failures, []
            self._once(event)

    def _uncaught(self, record: Record, message: str, exception: ExceptionInfo, phase: Phase) -> str:
        """Judge a bare traceback: a failure when nothing but the end of its process can follow."""
        if _NOT_UNCAUGHT.match(message) or exception.type.endswith("Warning"):
            return ""
        line, text = exception.line, beginning(f"{exception.type}: {exception.message}", _TEXT)
        if exception.type in _STOP_EXCEPTIONS:
            if exception.type != "KeyboardInterrupt":
                return ""
            self._happened(Event("shutdown", "interrupted", line, record.process, text, phase.value))
            return "shutdown"
        if exception.frames:
            if exception.frames[0].function not in _TOP_FUNCTIONS:
                if exception.frames[0].function != _THREAD:
                    self._doubt(Event("failure", "traceback", line, record.process, text, phase.value))
                return ""
        elif "ready" in self._events:  # a lone error line; a server that is up prints many
            return ""
        if "ready" not in self._events and self._events.pop("shutdown", None) is not None:
            # A front end that fails on its way up first stops its engine as orderly as ever: no one asked it to.
            self._failures, self._after_shutdown = self._after_shutdown, []
        self._happened(Event("failure", "traceback", line, record.process, text, phase.value))
        return "failure"

    def _doubt(self, event: Event) -> None:
        """Keep an exception that a caller may have caught, or the log has lost the outermost calls of."""
        if event.process.role and "ready" not in self._events and len(self._doubtful) < KEPT_FAILURES:
            self._doubtful.setdefault((event.process.name, event.process.pid), event)

    def _once(self, event: Event) -> None:
        if event.event not in self._events:
            self._events[event.event] = event
            if event.event == "ready":
                self._ready_stamp = self._last_stamp

    def result(self, requests_ok: int = 0, requests_error: int = 0, last_work_line: int = 0) -> Milestones:
        """Give the milestones as they stand."""
        wait, wait_stamp = self._waits[0] if self._waits else (None, Stamp())
        settled = bool(self._failures) or not self._events.keys().isdisjoint(("ready", "shutdown"))
        failures = self._failures if settled else list(self._doubtful.values())
        begins = [event for key in ("begin", "args") if (event := self._events.get(key)) is not None]
        return Milestones(
            first_line=self._first_line,
            last_line=self._last_line,
            begin=min(begins, key=lambda event: event.line) if begins else None,
            engine=self._events.get("engine"),
            engine_up=self._events.get("engine-up"),
            listening=self._events.get("listening"),
            ready=self._events.get("ready"),
            shutdown=self._events.get("shutdown"),
            failures=tuple(failures),
            survived=tuple(self._survived),
            after_shutdown=tuple(self._after_shutdown),
            wait=wait,
            waits=self._wait_count,
            wait_seconds=seconds_between(wait_stamp, self._last_wait) if wait else None,
            last_healthy=_event("healthy", "info", *self._healthy) if self._healthy else None,
            last_progress=_event("progress", "", *self._progress) if self._progress else None,
            stderr_line=self._stderr_line,
            logger_lines=self._logger_lines,
            requests_ok=requests_ok,
            requests_error=requests_error,
            last_work_line=last_work_line,
            seconds=seconds_between(self._first_stamp, self._last_stamp),
            start_seconds=seconds_between(self._first_stamp, self._ready_stamp),
        )


def _from_logger(record: Record) -> bool:
    """Whether Python's logging wrote it, which goes to stdout."""
    return bool(record.level and record.file and _LOGGER_TIME.match(record.time))


def _only_on_stderr(record: Record, message: str) -> bool:
    if _from_logger(record):
        return False
    if record.level == "":
        return record.exception is not None or _STDERR_TEXT.search(message) is not None
    if _GLOG_TIME.match(record.time):  # PyTorch's own loggers
        return True
    if record.level == "WARNING" and not record.time and _PYTHON_WARNING.match(message):
        return True
    return not record.file and _STDERR_TEXT.search(message) is not None


def _line_with(record: Record, literal: str) -> tuple[int, str]:
    return next(((number, text) for number, text in record.lines if literal in text), record.lines[0])


def _event(event: str, kind: str, record: Record, phase: str) -> Event:
    return Event(event, kind, record.first_line, record.process, beginning(record.lines[0][1], _TEXT), phase)
