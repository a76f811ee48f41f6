"""From lines to records: continuation lines and tracebacks put together again, per process.

Up to 64 ranks print line by line in turns; each process has its own open records here. Records come out in the order
of their first lines, so one that is still open holds the later ones back, up to a limit that keeps memory bounded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol

from logdoctor.model import ExceptionInfo, Line, Process, Record
from logdoctor.reading.crashes import NativeCrash, RustError, begins_crash
from logdoctor.reading.prefixes import BARE, LOGGER, NOBODY, OWN, Head, named_process, split_head
from logdoctor.reading.quoting import is_foreign_target, is_quoted
from logdoctor.reading.tracebacks import FOREIGN, TAILS, TracebackReader, begins_traceback, error_line
from logdoctor.wording import beginning

MAX_WAITING = 2048
"""Records that wait for an earlier one that is still open."""
MAX_HELD = 1 << 25
"""Characters of all records that wait or are still open."""
MAX_LINES, MAX_TAIL = 1000, 200
MAX_CHARACTERS = 1 << 20
_MAX_SLOTS = 1024
_NEAR, _NEAR_NAMELESS = 1500, 200
"""Lines of others that may stand between two lines of a record without heads: 64 ranks in turns need many."""

_CHILD = re.compile(r"(?:Process (\S{1,80})|Exception in thread .{1,200}|Exception ignored in.{0,400}):\s*$")
_USAGE = re.compile(r"usage: \S|[\w./-]{1,80}: error: ")
_BAR = re.compile(r".{0,200}?\d{1,3}%[| ]")


_Key = tuple[str, str, str]
"""Source, stream, and what tells the process from others there."""


class _Reader(Protocol):
    """What reads an exception out of the lines of a record."""

    def accepts(self, text: str, *, gap: bool = False, named: bool = True) -> bool: ...
    def feed(self, number: int, text: str) -> None: ...
    def result(self) -> ExceptionInfo | None: ...


def group(lines: Iterable[Line]) -> Iterator[tuple[str, Record]]:
    """The records of all sources, each with the name of its source, in the order of their first lines."""
    slots: dict[_Key, _Slot] = {}
    waiting: deque[_Open] = deque()
    epoch = held = 0
    for line in lines:
        head = split_head(line.text)
        held += len(head.text)
        epoch += line.gap
        key = line.source, line.stream, head.key
        slot = slots.get(key)
        if slot is None:
            if len(slots) > _MAX_SLOTS:
                slots = _thinned(slots)
            slot = slots[key] = _Slot()
        opened = slot.take(line, head, epoch)
        if opened is not None:
            waiting.append(opened)
            if opened.file.endswith(".rs"):
                # The Rust front end writes the causes of an error without any prefix.
                slots.setdefault((line.source, line.stream, ""), _Slot()).lend(opened)
        while waiting and (waiting[0].closed or len(waiting) > MAX_WAITING or held > MAX_HELD):
            done = waiting.popleft()
            done.closed = True
            held = held - done.characters if waiting else 0
            yield done.source, done.record()
    for rest in waiting:
        yield rest.source, rest.record()


def _thinned(slots: dict[_Key, _Slot]) -> dict[_Key, _Slot]:
    """The slots with an open record; where these are too many, the older half of them is closed."""
    alive = [(key, slot) for key, slot in slots.items() if slot.alive]
    surplus = max(len(alive) - _MAX_SLOTS // 2, 0)
    for _, slot in alive[:surplus]:
        slot.close()
    return dict(alive[surplus:])


class _Slot:
    """The open records of one process in one stream: one that repeats its head, one that does not."""

    __slots__ = ("bare", "log")

    def __init__(self) -> None:
        self.log: _Open | None = None
        self.bare: _Open | None = None

    @property
    def alive(self) -> bool:
        return any(record is not None and not record.closed for record in (self.log, self.bare))

    def close(self) -> None:
        """Let nothing go on here any more."""
        for record in (self.log, self.bare):
            if record is not None:
                record.closed = True

    def lend(self, record: _Open) -> None:
        """Let bare lines go on a record of another process."""
        if self.bare is not None:
            self.bare.closed = True
        self.bare = record

    def take(self, line: Line, head: Head, epoch: int) -> _Open | None:
        """Add a line to the record that it continues, or return the new record that it opens.

        `epoch` counts the places where lines of the input were left out.
        """
        if head.form is LOGGER:
            record = self.log
            if record is not None and not record.closed:
                if record.same_head(head) and record.goes_on(head.text, record.epoch != epoch):
                    record.more, record.epoch = line.more, epoch
                    record.add(line.number, head.text)
                    return None
                record.closed = True
            self.interrupt()
            self.log = opened = _Open(line, head, epoch)
            return opened
        if head.form is OWN:
            if self.log is not None:
                self.log.closed = True
                self.log = None
            self.interrupt()
            self.bare = opened = _Open(line, head, epoch)
            return opened
        record = self.bare
        if record is not None and not record.closed:
            near = _NEAR_NAMELESS if head.process is NOBODY else _NEAR
            far = record.epoch != epoch or line.number > record.last + near
            if record.takes_bare(head, far):
                record.epoch = epoch
                record.add(line.number, head.text)
                return None
            if not head.text.strip():
                return None
            record.closed = True
        elif not head.text.strip():
            return None
        self.bare = opened = _Open(line, head, epoch)
        return opened

    def interrupt(self) -> None:
        """Another record of the same process begins: a traceback half printed may go on, anything else may not."""
        record = self.bare
        if record is not None and not (isinstance(record.reader, TracebackReader) and record.reader.half_read):
            record.closed = True
            self.bare = None


class _Open:
    """A record that may still grow."""

    __slots__ = (
        "characters", "closed", "cut", "epoch", "file", "file_line", "form", "kind", "last", "level", "lines", "more",
        "outer_time", "process", "quoted", "reader", "source", "stream", "tail", "time",
    )  # fmt: skip

    def __init__(self, line: Line, head: Head, epoch: int) -> None:
        text = head.text
        process = head.process
        self.form, self.epoch = head.form, epoch
        self.kind = ""
        self.level, self.time, self.file, self.file_line = head.level, head.time, head.file, head.line
        self.source, self.stream, self.outer_time = line.source, line.stream, line.time
        self.lines: list[tuple[int, str]] = []
        self.tail: deque[tuple[int, str]] | None = None
        self.characters = self.cut = 0
        self.closed = False
        self.more = line.more
        self.reader: _Reader | None = None
        if head.form is BARE:
            self.quoted = False
            child = self._look_at_bare(text)
            if child and process is NOBODY:
                process = named_process(child)
        else:
            self.quoted = is_quoted(text) or (head.form is OWN and is_foreign_target(text))
            if head.file.endswith(".rs") and self.level == "ERROR":
                self.reader = RustError(line.number, text)
        self.process = process
        if "\n" in text:
            for part in text.split("\n"):
                self.add(line.number, part)
        else:
            self.add(line.number, text)

    def _look_at_bare(self, text: str) -> str:
        """Tell the kind of a bare line; the name of the process when it states one."""
        child = _CHILD.match(text)
        if child:
            self.kind = "child"
            return child[1] or ""
        if _USAGE.match(text):
            self.kind = "usage"
        elif "%" in text and _BAR.match(text):
            self.kind = "bar"
        return ""

    def same_head(self, head: Head) -> bool:
        return (
            self.file_line == head.line
            and self.time == head.time
            and self.file == head.file
            and self.level == head.level
        )

    def goes_on(self, text: str, gap: bool) -> bool:
        """Whether a line with the same head continues this record or is a new one of the same second."""
        if self.more is not None:
            return self.more
        # The input has lost vLLM's marks: judge by the text.
        if self.quoted:
            return not gap and not is_quoted(text)
        if text == self.lines[0][1] and text.strip():
            return False
        if self.reader is not None and self.reader.accepts(text, gap=gap):
            return True
        if gap:
            return False
        if not text.strip() or text[0] in " \t" or begins_traceback(text):
            return True
        return self.lines[-1][1].rstrip().endswith(":")

    def takes_bare(self, head: Head, gap: bool) -> bool:
        """Whether a line without a head continues this record; `gap` when lines are missing or many lie between."""
        text = head.text
        if self.reader is not None and self.reader.accepts(text, gap=gap, named=head.process is not NOBODY):
            return True
        if gap or not text.strip():
            return False
        if self.kind == "usage":
            return not FOREIGN.match(text) or ": error: " in text
        if begins_traceback(text):
            # One traceback follows `Process X:`; the next one, without a connector, is somebody else's.
            mine = self.kind == "child" and self.reader is None
            return mine or (self.form is OWN and self.level in ("ERROR", "CRITICAL"))
        if self.form is OWN and self.level == "WARNING" and len(self.lines) > 1:
            return False  # a Python warning shows one source line
        return self.kind != "bar" and (text[0] in " \t" or text.startswith(TAILS))

    def add(self, number: int, text: str) -> None:
        if self.reader is None:
            self.reader = self._reader_for(text)
        if self.reader is not None:
            self.reader.feed(number, text)
        self.last = number
        self.characters += len(text)
        if len(self.lines) < MAX_LINES and (self.characters <= MAX_CHARACTERS or not self.lines):
            self.lines.append((number, text))
            return
        if self.tail is None:
            self.tail = deque(maxlen=MAX_TAIL)
        self.cut += len(self.tail) == MAX_TAIL
        self.tail.append((number, beginning(text, 4000)))

    def _reader_for(self, text: str) -> _Reader | None:
        if begins_traceback(text):
            return TracebackReader()
        if self.form is BARE or self.level in ("ERROR", "CRITICAL"):
            if self.form is BARE and begins_crash(text):
                return NativeCrash()
            if error_line(text):
                return TracebackReader()
        return None

    def record(self) -> Record:
        lines = self.lines
        while len(lines) > 1 and not lines[-1][1].strip() and self.tail is None:
            lines.pop()
        if self.tail is not None:
            if self.cut:
                lines.append((lines[-1][0], f"…[{self.cut} lines cut]…"))
            lines.extend(self.tail)
        process = self.process
        if self.source and not process.host:
            process = _hosted(process, self.source)
        return Record(
            tuple(lines), process, self.level, self.time, self.outer_time, self.file, self.file_line, self.stream,
            self.reader.result() if self.reader is not None else None, self.quoted,
        )  # fmt: skip


_hosts: dict[tuple[Process, str], Process] = {}


def _hosted(process: Process, source: str) -> Process:
    """The process with the name of its container as its host; the same value for the same process."""
    known = _hosts.get((process, source))
    if known is None:
        if len(_hosts) > 4096:
            _hosts.clear()
        known = _hosts[process, source] = process._replace(host=source)
    return known
