"""Cut the records into boots: one start of a server each.

A boot begins at its banner, or at the import lines just before it, or - where a start dies before any banner - at the
first import line after the last one's end. Child processes print import lines too, so those wait until what follows
them tells whose they were. Several services in one stream have boots of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from logdoctor.model import Record
from logdoctor.reading.recognition import (
    begins_start,
    is_banner,
    is_exit_line,
    is_image_banner,
    is_import_line,
    is_last_word,
    is_prelude,
    is_rule,
    is_usage_error,
    looks_like_vllm,
)

_MAX_PENDING = 200
_OTHERS = "\N{HORIZONTAL ELLIPSIS}"
_SETTLED = 40
"""Records after which a boot without a banner is taken for the rest of an earlier one."""
_KEEP_HEAD, _KEEP_TAIL = 2000, 2000
"""Records kept of a service that has to wait for its turn."""
_MAX_SERVICES = 16
"""Services told apart; further ones count as one."""
_KEEP_FOREIGN = 400


def cut_boots(records: Iterable[tuple[str, Record]]) -> Iterator[tuple[int, Record]]:
    """Number the boots from 1; all records of a boot come before any of the next.

    Records of one service stream through. When more services write into the log, the first that is a vLLM server
    streams and the others wait; services that are no vLLM are left out unless there is nothing else.
    """
    cutter = _Cutter(1)
    leading: str | None = None
    server = speaking = ""
    held: dict[str, _Held] = {}
    for source, record in records:
        # What no service signed (the kernel, systemd) goes to the server that spoke last.
        speaking = source or server or speaking
        if speaking == leading or (leading is None and not speaking):
            server = speaking
            yield from cutter.take(record)
            continue
        if speaking not in held and len(held) >= _MAX_SERVICES:
            speaking = _OTHERS
        waiting = held.setdefault(speaking, _Held())
        waiting.add(record)
        if waiting.vllm:
            server = speaking
            if leading is None and not cutter.substantial:
                leading = speaking
                for earlier in held.pop(speaking).records():
                    yield from cutter.take(earlier)
    yield from cutter.end()
    servers = [waiting for waiting in held.values() if waiting.vllm]
    if not servers and not cutter.used:
        servers = list(held.values())
    for waiting in servers:
        cutter = _Cutter(cutter.index + cutter.used)
        for record in waiting.records():
            yield from cutter.take(record)
        yield from cutter.end()


class _Held:
    """The records of a service that waits; the middle of a long log goes, its warnings and errors stay."""

    def __init__(self) -> None:
        self.vllm = False
        self._head: list[Record] = []
        self._loud: list[Record] = []
        self._tail: deque[Record] = deque(maxlen=_KEEP_TAIL)

    def add(self, record: Record) -> None:
        if not self.vllm:
            self.vllm = looks_like_vllm(record)
        if len(self._head) < (_KEEP_HEAD if self.vllm else _KEEP_FOREIGN):
            self._head.append(record)
        else:
            if len(self._tail) == _KEEP_TAIL:
                oldest = self._tail[0]
                loud = oldest.exception or oldest.level in ("WARNING", "ERROR", "CRITICAL")
                if loud and len(self._loud) < _KEEP_HEAD:
                    self._loud.append(oldest)
            self._tail.append(record)

    def records(self) -> Iterator[Record]:
        yield from self._head
        yield from self._loud
        yield from self._tail


class _Cutter:
    """Cuts the records of one service."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.used = False
        self._banners: set[str] = set()
        self._records = 0
        self._ended = False
        self._gone = False
        self.substantial = False
        self._pending: list[Record] = []

    def take(self, record: Record) -> list[tuple[int, Record]]:
        """Take the next record; give out those whose boot is known."""
        out = self._flush() if self._stale(record) else []
        if is_banner(record):
            self._banner(record, out)
        elif begins_start(record) or (self._pending and is_prelude(record) and len(self._pending) < _MAX_PENDING):
            self._pending.append(record)
        else:
            self._settle(record, out)
        return out

    def _stale(self, record: Record) -> bool:
        """Whether the waiting lines cannot be the first of a start: another begins, or they were only a ruled line."""
        if not self._pending:
            return False
        first, last = self._pending[0], self._pending[-1]
        if is_rule(last) and not any(is_image_banner(waiting) for waiting in self._pending):
            return not is_image_banner(record)
        return is_import_line(record) and not is_import_line(last) and not is_rule(first)

    def _banner(self, record: Record, out: list[tuple[int, Record]]) -> None:
        name = record.process.name
        copy = name.startswith("ApiServer") and name not in self._banners
        if self._ended or self._gone or (self._banners and not copy) or (not self._banners and self.substantial):
            self._next()
        out += self._flush()
        self._banners.add(name)
        out.append(self._emit(record))

    def _settle(self, record: Record, out: list[tuple[int, Record]]) -> None:
        """A record that is neither import line nor banner: it decides whose the waiting lines were."""
        last = is_last_word(record)
        if self._gone or (self._ended and self._begins_anew(record, last)) or self._image_came():
            self._next()
        if self._pending:
            out += self._flush()
        out.append(self._emit(record))
        self._ended = self._ended or last
        self._gone = self._gone or is_exit_line(record)

    def _begins_anew(self, record: Record, last: bool) -> bool:
        """Whether a record after the boot's end shows that the next start is on its way."""
        if not self._pending:
            return is_usage_error(record)
        # After a banner a second nameless death may be that of another child.
        return record.process.role == "api" or is_usage_error(record) or (last and not self._banners)

    def _image_came(self) -> bool:
        """Whether the container's own banner stands before this record: the container was started again."""
        return any(map(is_image_banner, self._pending[:2])) and bool(self._banners or self.substantial)

    def end(self) -> list[tuple[int, Record]]:
        """Give out what still waits: after an end, import lines are a new start that has just begun."""
        if self._pending and (self._ended or self._gone):
            self._next()
        return self._flush()

    def _next(self) -> None:
        if self.used:
            self.index += 1
        self._banners = set()
        self._records = 0
        self._ended = self._gone = self.substantial = False

    def _flush(self) -> list[tuple[int, Record]]:
        pending, self._pending = self._pending, []
        return [self._emit(record) for record in pending]

    def _emit(self, record: Record) -> tuple[int, Record]:
        self.used = True
        self._records += 1
        if not self.substantial:
            self.substantial = (
                record.process.role in ("engine", "worker", "coordinator", "ray")
                or record.exception is not None
                or (bool(record.level) and not is_prelude(record) and self._records > _SETTLED)
            )
        return self.index, record
