"""The head of a line: who wrote it, when, how loud, from which source line - in every form seen in vLLM's stream.

`split_head` never looks behind a complete head, so text that a client planted in a message cannot fake one.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from logdoctor.model import Process
from logdoctor.reading.loggers import OTHER_LOGGERS, level_of

NOBODY = Process()

LOGGER, OWN, BARE = "logger", "own", "bare"
"""Forms of a head: vLLM's logger (repeats its head on every line), another logger (does not), none."""


class Head(NamedTuple):
    """A line taken apart."""

    process: Process
    key: str
    """What tells this process from the others in the same stream."""
    form: str
    level: str
    time: str
    file: str
    line: int
    text: str
    """The message behind the head; holds line ends when the head's format escapes them (JSON)."""


_LOG = re.compile(
    r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d-\d\d \d\d:\d\d:\d\d) \[?([^\]:\s\[][^\]:\n]{0,200}):(\d{1,6})\] ?"
)
_LOG_INSIDE = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[")
_PROCESS = re.compile(
    r"\((?:(?P<name>[A-Za-z_][\w .:/+-]{0,80}?)(?: rank=(?P<rank>\d+))? )?pid=(?P<pid>\d+)"
    r"(?:, ip=(?P<ip>[^)\s]{1,64}))?\) ?"
    r"|\((?P<system>raylet|autoscaler|scheduler)(?:, ip=(?P<at>[^)\s]{1,64})| \+[\w.]{1,20})?\) ?"
    r"|\[(?:rank|default)(?P<torch>\d+)\]:[ ]?"
)
_RANK = re.compile(r"(?:^|[_ ])((?:DP|PP|PCP|TP|DCP|EP)\d+(?:_(?:DP|PP|PCP|TP|DCP|EP)\d+)*|\d+)$")
_REPEATED = re.compile(r"\[repeated \d+x across cluster\](?: \(Ray deduplicates logs.{0,300})?$")
_OPENERS = frozenset("([")
_NESTED = 3
"""Prefixes inside the first that are looked at."""
_FOREIGN = 100
"""How many characters may stand before vLLM's own head (VLLM_LOGGING_PREFIX, an unknown transport)."""
_BAR = 2000

_ROLES = (
    ("apiserver", "api"),
    ("enginecore", "engine"),
    ("dpmoeenginecore", "engine"),
    ("dpenginecore", "engine"),
    ("ray", "ray"),
    ("worker", "worker"),
    ("vllmworker", "worker"),
    ("spmdworker", "worker"),
    ("dpcoordinator", "coordinator"),
    ("dpsupervisor", "coordinator"),
    ("vllm_dp_coordinator", "coordinator"),
    ("rust", "frontend"),
)


def split_head(text: str) -> Head:
    """Take the head off a line."""
    process, key, at = NOBODY, "", 0
    if text[:1] in _OPENERS:
        process, key, at = _processes(text)
    match = _LOG.match(text, at)
    if match:
        return _logged(text, match, process, key)
    rest = text[at:] if at else text
    if "x across cluster]" in rest:
        rest = _once(rest)
    if not rest or rest[0] in " \t":
        return Head(process, key, BARE, "", "", "", 0, rest)
    if rest[0] == "{" and '"levelname"' in rest:
        head = _json(rest, process, key)
        if head:
            return head
    return _other(rest, process, key) or _maybe_foreign(rest, process, key)


def _logged(text: str, match: re.Match[str], process: Process, key: str) -> Head:
    message = text[match.end() :]
    if "x across cluster]" in message:
        message = _once(message)
    return Head(process, key, LOGGER, match[1], match[2], match[3], int(match[4]), message)


def _once(text: str) -> str:
    """The text without Ray's mark of a line that more workers wrote."""
    match = _REPEATED.search(text)
    return text[: match.start()].rstrip(" ") if match else text


def _maybe_foreign(rest: str, process: Process, key: str) -> Head:
    """vLLM's head behind something else: a fixed prefix, or a progress bar on whose line a logger went on."""
    bar = rest.find("it/s]") + rest.find("s/it]") > -2
    found = _LOG_INSIDE.search(rest, 0, _BAR if bar else _FOREIGN + 40)
    if found and (bar or not any(mark in rest[: found.start()] for mark in "'\"{}")):
        before = rest[: found.start()]
        named = _PROCESS.search(before)
        if named and process is NOBODY:
            process, key, _ = _processes(before[named.start() :])
        match = _LOG.match(rest, found.start())
        if match:
            return _logged(rest, match, process, key)
    return Head(process, key, BARE, "", "", "", 0, rest)


_seen: dict[str, tuple[Process, str]] = {}


def _processes(text: str) -> tuple[Process, str, int]:
    """The process that the prefixes name (the innermost counts), and where they end."""
    end = text.find(") ", 1, 100) + 2
    if end > 1 and text[end : end + 1] not in _OPENERS:
        known = _seen.get(text[:end])
        if known is not None:
            return known[0], known[1], end
    match = _PROCESS.match(text)
    if not match:
        return NOBODY, "", 0
    end = match.end()
    for _ in range(_NESTED):
        if text[end : end + 1] not in _OPENERS:
            break
        inner = _PROCESS.match(text, end)
        if not inner:
            break
        end = inner.end()
    prefix = text[:end]
    known = _seen.get(prefix)
    if known is None:
        if len(_seen) > 4096:
            _seen.clear()
        known = _seen[prefix] = _identify(prefix)
    return known[0], known[1], end


def _identify(prefix: str) -> tuple[Process, str]:
    process = NOBODY
    for match in _PROCESS.finditer(prefix):
        if match["torch"] is not None:
            process = Process(process.role, process.name, process.pid, match["torch"], process.host)
            continue
        name = match["name"] or match["system"] or ""
        host = match["ip"] or match["at"] or process.host
        rank = match["rank"] or ""
        if not rank:
            found = _RANK.search(name)
            rank = found[1] if found else ""
        process = Process(role_of(name, ray=bool(host) or not name), name, match["pid"] or "", rank, host)
    key = f"{process.pid or process.name or process.rank}@{process.host}"
    return process, key


def role_of(name: str, *, ray: bool = False) -> str:
    """The role that a process name stands for; what runs under Ray without a known name is `ray`."""
    lower = name.lower()
    for start, role in _ROLES:
        if lower.startswith(start):
            return role
    return "ray" if ray else ""


def named_process(name: str, pid: str = "") -> Process:
    """The process of a bare name, as multiprocessing and JSON records print it."""
    found = _RANK.search(name)
    return Process(role_of(name), name, pid, found[1] if found else "")


def _other(rest: str, process: Process, key: str) -> Head | None:
    for starts, inside, pattern in OTHER_LOGGERS:
        if (starts and rest[0] not in starts) or (inside and inside not in rest):
            continue
        match = pattern.match(rest)
        if match:
            found = match.groupdict()
            if process is NOBODY and (found.get("pid") or found.get("rank")):
                process = Process("", "", found.get("pid") or "", found.get("rank") or "", found.get("host") or "")
                key = f"{process.pid or process.rank}@{process.host}"
            file = found.get("file") or ""
            if found.get("kind"):  # a Python warning: an absolute path says more about the machine than the fault
                file = file.rsplit("/", 1)[-1]
            start = match.start("kind") if found.get("kind") else match.end()
            level, time = level_of(found.get("level") or "WARNING"), found.get("time") or ""
            return Head(process, key, OWN, level, time, file, int(found.get("line") or 0), rest[start:])
    return None


def _json(rest: str, process: Process, key: str) -> Head | None:
    """A record of the JSON formatter (0.31.0+)."""
    try:
        value = json.loads(rest)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("message"), str):
        return None

    def field(name: str) -> str:
        found = value.get(name)
        return str(found) if isinstance(found, (str, int)) else ""

    name, pid = field("process_name") or field("processName"), field("process") or field("pid")
    if process is NOBODY and (name or pid):
        process = named_process("" if name == "MainProcess" else name, pid)
        if not process.name and field("name").startswith("vllm"):
            process = Process("api", "", pid)  # the server's own process has no name of its own
        key = f"{pid or name}@"
    text = value["message"]
    for extra in ("exc_info", "stack_info"):
        if field(extra):
            text = f"{text}\n{field(extra)}"
    line = field("lineno")
    return Head(
        process,
        key,
        OWN,
        level_of(field("levelname")),
        field("asctime"),
        field("filename"),
        int(line) if line.isdigit() else 0,
        text,
    )
