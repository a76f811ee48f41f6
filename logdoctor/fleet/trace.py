"""What passes by while a log is read: when, on which host, as which rank, and where its processes met.

The diagnosis does not need any of it; the comparison of logs does. One pass, bounded memory.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone

from logdoctor.facts.clock import stamp
from logdoctor.model import Record

MAX_BOOTS = 64
"""Boots of one log whose times are kept; the last ones count."""
MAX_RANKS = 512
_KEPT_STAMPS = 4096
_WIDE = 4000
"""Characters of a line in which a group may be announced."""
_FORTY_YEARS = 40 * 366 * 86400.0

_INIT = re.compile(
    r"world_size=(?P<size>\d{1,6}) rank=(?P<rank>\d{1,6}) local_rank=\d{1,6} "
    r"distributed_init_method=(?:tcp|env|file)://(?P<address>\S{1,300})"
)
_ASSIGNED = re.compile(r"rank (?P<rank>\d{1,6}) in world size (?P<size>\d{1,6}) is assigned")
_GROUP = re.compile(
    r"node_rank=(?P<node>\d{1,6}),.{0,200}?master_addr=(?P<address>[^\s,]{1,300})[\s,].{0,200}?world_size=(?P<size>\d{1,6})"
)


def time_text(time: str, outer_time: str) -> str:
    """Return a record's time: UTC where the log states a year, else month and day as vLLM prints it, else nothing."""
    for text in (outer_time, time):
        moment = moment_of(text)
        if moment is not None:
            whole = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=int(moment))
            return whole.strftime("%Y-%m-%dT%H:%M:%SZ" if has_year(moment) else "%m-%d %H:%M:%S")
    return ""


def moment_of(text: str) -> float | None:
    """Return a printed time as seconds; without a year, those of a stand-in year far in the past."""
    return stamp("", text).outer if text else None


def has_year(moment: float) -> bool:
    """Whether `moment_of` found a year."""
    return moment > _FORTY_YEARS


class BootTrace:
    """What passed by in one boot."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.addresses: dict[str, None] = {}
        """Where its processes met, as `ADDRESS:PORT`, in the order met."""
        self.world_size = 0
        self.node_rank: int | None = None
        self.ranks: dict[int, None] = {}
        self.hosts: dict[str, None] = {}
        self._rank_of_pid: dict[str, int] = {}
        self._pid_of_name: dict[str, str] = {}
        self._stamps: list[tuple[int, str]] = []
        self._lines = (sys.maxsize, 0)
        self._stride = 1
        self._count = 0
        self._first: tuple[str, str] = ("", "")
        self._last: tuple[str, str] = ("", "")

    @property
    def first(self) -> str:
        """The first time that the boot prints."""
        return time_text(*self._first)

    @property
    def last(self) -> str:
        """The last time that the boot prints."""
        return time_text(*self._last)

    def observe(self, record: Record) -> None:
        """Take note of a record."""
        self._lines = (min(self._lines[0], record.first_line), max(self._lines[1], record.last_line))
        if record.time or record.outer_time:
            self._note_time(record)
        process = record.process
        if process.pid and process.name and len(self._pid_of_name) < MAX_RANKS:
            self._pid_of_name.setdefault(process.name, process.pid)
        if process.role == "ray" and process.host and len(self.hosts) < MAX_RANKS:
            self.hosts[process.host] = None
        text = record.lines[0][1]
        if "world" in text and not record.quoted:
            self._note_rank(text, process.pid)

    def _note_time(self, record: Record) -> None:
        if not stamp(record.time, record.outer_time).known:
            return
        self._last = (record.time, record.outer_time)
        if not self._count:
            self._first = self._last
        self._count += 1
        if self._count % self._stride:
            return
        self._stamps.append((record.first_line, record.outer_time or record.time))
        if len(self._stamps) > _KEPT_STAMPS:
            self._stamps = self._stamps[::2]
            self._stride *= 2

    def _note_rank(self, text: str, pid: str) -> None:
        found = _INIT.search(text) or _GROUP.search(text, 0, _WIDE)
        if found and len(self.addresses) < MAX_RANKS:
            self.addresses[found["address"]] = None
        found = found or _ASSIGNED.search(text)
        if not found:
            return
        groups = found.groupdict()
        self.world_size = max(self.world_size, int(groups["size"]))
        if groups.get("node") is not None:
            self.node_rank = int(groups["node"])
        if groups.get("rank") is not None and len(self.ranks) < MAX_RANKS:
            self.ranks[int(groups["rank"])] = None
            if pid:
                self._rank_of_pid.setdefault(pid, int(groups["rank"]))

    def touches(self, first_line: int, last_line: int) -> bool:
        """Whether the boot has a record that begins in these lines."""
        return self._lines[0] <= last_line and first_line <= self._lines[1]

    def time_at(self, line: int) -> str:
        """Return the last time printed at or before a line."""
        stamps = sorted(self._stamps)
        at = bisect_right(stamps, (line, "\U0010ffff")) - 1
        return time_text("", stamps[at][1]) if at >= 0 else self.first

    def rank_of(self, process: str) -> int | None:
        """Return the rank of a process by its name."""
        return self._rank_of_pid.get(self._pid_of_name.get(process, ""))


class Trace:
    """What passed by in a whole log; `watch` hands the records on unchanged."""

    def __init__(self) -> None:
        self._boots: deque[BootTrace] = deque(maxlen=MAX_BOOTS)
        self._first = ""

    def watch(self, records: Iterable[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
        """Yield the records as they come."""
        boot: BootTrace | None = None
        for index, record in records:
            if boot is None or boot.index != index:
                boot = BootTrace(index)
                self._boots.append(boot)
            boot.observe(record)
            if not self._first and boot.first:
                self._first = boot.first
            yield index, record

    @property
    def first(self) -> str:
        """The first time that the log prints."""
        return self._first

    @property
    def last(self) -> str:
        """The last time that the log prints."""
        return next((boot.last for boot in reversed(self._boots) if boot.last), "")

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that Ray names in front of its workers' lines."""
        return tuple(dict.fromkeys(host for boot in self._boots for host in boot.hosts))

    def boot_at(self, first_line: int, last_line: int) -> BootTrace | None:
        """Return the boot that printed the lines; its number may differ, as boots of other programs get none."""
        return next((boot for boot in self._boots if boot.touches(first_line, last_line)), None)
