"""The structural lines of a boot, as data: which line means that it began, is up, was told to stop, or gave up."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from logdoctor.facts.index import LiteralIndex
from logdoctor.model import Record


class EventPattern(NamedTuple):
    """A line that means an event. `regex` is searched only in messages that hold `literal`."""

    event: str
    """`begin`, `args`, `engine`, `engine-up`, `listening`, `ready`, `shutdown`, `failure` or `wait`."""
    kind: str
    literal: str
    regex: str = ""
    """With `^` and `$` at line ends; empty when the literal says enough."""
    levels: tuple[str, ...] = ()
    """Levels that count, the empty text being a bare line; none named means all."""
    roles: tuple[str, ...] = ()
    """Roles of processes that count; none named means all."""


_BARE = ("",)
_INFO = ("INFO",)
_BARE_OR_INFO = ("", "INFO")
_NO_ERROR = ("", "INFO", "WARNING")
_LOGGED = ("ERROR", "CRITICAL")
_FAILING = ("", "ERROR", "CRITICAL")

_BEGIN: tuple[EventPattern, ...] = (
    EventPattern("begin", "banner", "█  version ", r"█\s+version\s+\S"),
    EventPattern("begin", "banner", "vLLM API server version"),
    EventPattern("begin", "banner", "vLLM server version"),
    EventPattern("begin", "platform", "Automatically detected platform"),
    EventPattern("begin", "imports", "Triton is installed", r"^Triton is installed"),
    EventPattern("begin", "imports", "Triton not installed", r"^Triton not installed"),
    EventPattern("begin", "usage", "usage: ", r"^usage: (?:vllm|[\w-]+\.py)\b", _BARE),
    EventPattern("args", "args", "non-default args: {"),
    EventPattern("args", "args", "args: Namespace("),
    EventPattern("engine", "engine", " LLM engine (v", r"^Initializing a"),
    EventPattern("engine-up", "engine-up", "init engine (", r"^init engine \("),
)

_READY: tuple[EventPattern, ...] = (
    EventPattern(
        "ready",
        "startup-complete",
        "Application startup complete",
        r"^(?:INFO:\s+)?Application startup complete",
        _BARE_OR_INFO,
    ),
    EventPattern("ready", "http-started", "HTTP server started", r"^API server: HTTP server started", _INFO),
    # The Rust front end has no uvicorn: that it listens is all it says.
    EventPattern("ready", "frontend-listening", "Starting vLLM server on", "", _INFO, ("frontend",)),
    EventPattern("ready", "frontend-listening", "istening on ", r"^(?:\S+ )?[Ll]istening on ", _INFO, ("frontend",)),
    EventPattern(
        "ready",
        "throughput",
        "Avg generation throughput: ",
        r"^(?:Engine \d+: |\d+ Engines Aggregated: )?Avg prompt throughput: ",
        ("INFO", "DEBUG"),
    ),
    EventPattern("listening", "listening", "Starting vLLM ", r"^Starting vLLM (?:API )?server(?: \d+)? on "),
)

_SHUTDOWN: tuple[EventPattern, ...] = (
    EventPattern("shutdown", "requested", "trigger received signal=", "", _INFO),
    EventPattern("shutdown", "requested", "API server: shutdown triggered", "", _INFO),
    EventPattern("shutdown", "requested", "Shutdown initiated (timeout=", "", _INFO),
    EventPattern("shutdown", "requested", "Received KeyboardInterrupt, shutting down"),
    EventPattern(
        "shutdown",
        "requested",
        "eceived signal ",
        r"\b[Rr]eceived signal (?:15|2|SIGTERM|SIGINT)\b",
        ("INFO", "WARNING"),
    ),
    EventPattern("shutdown", "requested", "Shutting down FastAPI HTTP server", "", _INFO),
    EventPattern("shutdown", "requested", "Gracefully stopping http server", "", _INFO),
    EventPattern("shutdown", "http-stopped", "Shutting down", r"^(?:INFO:\s+)?Shutting down$", _BARE_OR_INFO),
    EventPattern("shutdown", "http-stopped", "Waiting for application shutdown", "", _BARE_OR_INFO),
    EventPattern("shutdown", "stopped", "exited with code ", r"^\S+ exited with code (?:0|130|143)\b", _BARE),
)

_FAILURE: tuple[EventPattern, ...] = (
    EventPattern("failure", "usage", ": error: ", r"^(?:vllm|[\w-]+\.py)(?: [a-z-]+)?: error: ", _BARE),
    EventPattern("failure", "engine", "EngineCore failed to start", "", _LOGGED),
    EventPattern("failure", "engine", "EngineCore encountered a fatal error", "", _LOGGED),
    EventPattern("failure", "engine", "EngineCore hit an exception", "", _LOGGED),
    EventPattern("failure", "worker", "WorkerProc failed to start", "", _LOGGED),
    EventPattern("failure", "frontend", "process failed with error:", "", _LOGGED, ("frontend",)),
    # Processes that notice the end of another one.
    EventPattern("failure", "cascade", "Engine core initialization failed", "", _FAILING),
    EventPattern("failure", "cascade", "Frontend process failed during engine core init", "", _FAILING),
    EventPattern("failure", "cascade", "Engine process failed to start", "", _FAILING),
    EventPattern("failure", "cascade", "WorkerProc initialization failed due to", "", _FAILING),
    EventPattern("failure", "cascade", "EngineDeadError", "", _FAILING),
    EventPattern("failure", "cascade", "RPCServer process died", "", _FAILING),
    EventPattern("failure", "cascade", "ZMQError: Operation not supported", "", _FAILING),
    EventPattern("failure", "cascade", "Background loop has errored already", "", _FAILING),
    EventPattern("failure", "cascade", "got fatal signal from worker processes", "", _FAILING),
    EventPattern("failure", "died", "died unexpectedly", "", _FAILING),
    EventPattern("failure", "died", "engine core exited unexpectedly"),
    EventPattern("failure", "died", "ActorDiedError", "", _FAILING),
    # Ends that leave no traceback of Python's.
    EventPattern("failure", "killed", "Killed", r"^(?:\S+: line \d+:\s+\d+ )?Killed\b(?! by)", _BARE),
    EventPattern("failure", "killed", "Segmentation fault", r"(?:^|: +)Segmentation fault", _FAILING),
    EventPattern("failure", "killed", "Segfault encountered", "", _FAILING),
    EventPattern("failure", "killed", "*** SIG", r"^\*{3} SIG[A-Z]+ received", _FAILING),
    EventPattern("failure", "killed", "Fatal Python error:", r"^Fatal Python error:", _BARE),
    EventPattern("failure", "killed", "terminate called", r"^terminate called (?:after|without)", _BARE),
    EventPattern("failure", "killed", "(core dumped)", "", _BARE),
    EventPattern("failure", "server", "Application startup failed", "", _FAILING),
    EventPattern("failure", "server", "error while attempting to bind on", "", _FAILING),
    EventPattern("failure", "container", "Error response from daemon:", "", _BARE),
    EventPattern("failure", "container", "OCI runtime create failed", "", _BARE),
    EventPattern("failure", "container", "exec format error", "", _BARE),
    EventPattern("failure", "container", "exited with code ", r"^\S+ exited with code (?!(?:0|130|143)\b)\d+", _BARE),
)

_WAIT: tuple[EventPattern, ...] = (
    EventPattern("wait", "wait", "shared memory broadcast block found in"),
    EventPattern("wait", "wait", "Waiting for creating a placement group"),
    EventPattern("wait", "wait", "Waiting for ", r"^Waiting for \d+ [\w ,]{1,40}core engine"),
)

EVENTS: tuple[EventPattern, ...] = _BEGIN + _READY + _SHUTDOWN + _FAILURE + _WAIT
"""All of them; a record is at most one event of each name, the first that matches."""


_INDEX = LiteralIndex((pattern.literal, pattern) for pattern in EVENTS)


def find_events(record: Record, message: str, present: Collection[str]) -> list[EventPattern]:
    """Give the patterns of the events that the record is, in the order of the table."""
    found: list[EventPattern] = []
    for pattern in _INDEX.find(present):
        if any(pattern.event == other.event for other in found):
            continue
        if pattern.levels and record.level not in pattern.levels:
            continue
        if pattern.roles and record.process.role not in pattern.roles:
            continue
        if not pattern.regex or _compiled(pattern.regex).search(message):
            found.append(pattern)
    return found


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.MULTILINE)
