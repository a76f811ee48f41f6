"""Short ways to write records, and to see what one states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from logdoctor.facts import FactCollector
from logdoctor.model import ExceptionInfo, Fact, FactValue, Frame, Process, Record

API = Process("api", "APIServer", "1")
ENGINE = Process("engine", "EngineCore", "2")
WORKER = Process("worker", "Worker_TP1", "3", "TP1")
RUST = Process("frontend", "RustFrontend", "4")
NOBODY = Process()


def record(
    message: str,
    *,
    line: int = 1,
    level: str = "INFO",
    file: str = "core.py",
    process: Process = ENGINE,
    time: str = "11-30 10:00:00",
    outer_time: str = "",
    stream: str = "",
    quoted: bool = False,
) -> Record:
    """A logger's record; its lines are numbered from `line`."""
    lines = tuple(enumerate(message.split("\n"), line))
    return Record(lines, process, level, time, outer_time, file, 1 if file else 0, stream, None, quoted)


def bare(message: str, *, line: int = 1, process: Process = NOBODY) -> Record:
    """A line without level, time and source."""
    return Record(tuple(enumerate(message.split("\n"), line)), process)


def traceback(
    type_name: str, message: str = "", *, line: int = 1, top: str = "<module>", process: Process = API
) -> Record:
    """An uncaught exception whose outermost frame is in the function `top`."""
    text = f'Traceback (most recent call last):\n  File "x.py", line 1, in {top}\n{type_name}: {message}'
    info = ExceptionInfo(type_name, message, line + 2, (Frame("x.py", 1, top),) if top else ())
    return Record(tuple(enumerate(text.split("\n"), line)), process, exception=info)


def collect(records: Iterable[Record]) -> FactCollector:
    """A collector without a GPU table that has seen the records."""
    collector = FactCollector(lambda name: None, lambda gib: None)
    for each in records:
        collector.observe(each)
    return collector


def facts_of(*records: Record) -> Mapping[str, Fact]:
    """All facts of a boot of these records."""
    return collect(records).facts()


def said(message: str, **rest: str) -> dict[str, FactValue]:
    """What one message states, without the state of the boot."""
    found = facts_of(record(message, level=rest.get("level", "INFO"), file=rest.get("file", "")))
    return {key: fact.value for key, fact in found.items() if not key.startswith("boot.")}
