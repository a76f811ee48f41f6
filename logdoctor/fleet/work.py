"""One log to one record: what every worker does, whatever carries the logs to it.

The database is loaded once per worker. Redaction happens here, so that no unredacted text leaves it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from logdoctor import __version__
from logdoctor.database import load_database
from logdoctor.diagnosis.matching import Matcher
from logdoctor.fleet.places import Place, place_in_log, place_in_path
from logdoctor.fleet.record import fill_place, hidden, starts_of
from logdoctor.fleet.sources import sentence
from logdoctor.fleet.trace import Trace
from logdoctor.model import Diagnosis, Fact, Run, Severity
from logdoctor.pipeline import Context, diagnose_runs, skimmed
from logdoctor.reading import InputError, open_runs
from logdoctor.report.escaping import escape_diagnosis
from logdoctor.report.record import (
    base_record,
    earlier_causes,
    encode,
    error_record,
    failed_boots,
    fill_diagnosis,
)
from logdoctor.report.redaction import redact
from logdoctor.report.status import exit_status

_STDIN_NOTE = "standard input: "


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """How logs are diagnosed; the same in every worker."""

    fail_on: Severity = Severity.ERROR
    given: tuple[Fact, ...] = ()
    signature_dirs: tuple[str, ...] = ()
    ignore_broken: bool = False
    keep_hosts: bool = False
    max_bytes: int = 20 * 2**30
    together: bool = False
    """Whether records hold what is needed to align the boots of several nodes."""
    before: Callable[[str], None] | None = None
    """Called with the name of every log before it is read."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker has to know of a source, apart from its bytes."""

    name: str
    key: str
    path: str = ""
    below: str = ""


class Diagnoser:
    """Makes records; one per worker."""

    def __init__(self, options: WorkOptions) -> None:
        """Load the database. Raises `DatabaseError`."""
        self._options = options
        self._database = load_database(options.signature_dirs, options.ignore_broken)
        self._matcher = Matcher(self._database)
        self._context = Context({fact.key: fact for fact in options.given})

    @property
    def versions(self) -> tuple[str, str]:
        """The versions of the tool and of the database, as records state them."""
        return __version__, self._database.version

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all signatures."""
        return tuple(row.id for row in self._database.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the user's own signatures."""
        return self._database.notes

    def record(self, task: Task, stream: BinaryIO | None = None) -> bytes:
        """Return the line for a log, read from `stream` or from its path; whatever happens, there is one."""
        try:
            if self._options.before is not None:
                self._options.before(task.name)
            if stream is not None:
                return self._record(task, stream)
            with Path(task.path).open("rb") as file:
                return self._record(task, file)
        except InputError as error:
            problem = str(error).removeprefix("standard input ").rstrip(".")
        except OSError as error:
            problem = sentence(error)
        except MemoryError:
            problem = "there was not enough memory to read it"
        except Exception as error:
            # A fault of logdoctor, on one log of many: the others go on. Its text could hold the log's.
            problem = f"logdoctor failed on it with {type(error).__name__}, which is a fault of logdoctor"
        return self.problem(task, problem)

    def problem(self, task: Task, problem: str) -> bytes:
        """Return the line for a log that cannot be read."""
        return error_record(task.name, task.key, problem, self.versions)

    def _record(self, task: Task, stream: BinaryIO) -> bytes:
        options, trace, start = self._options, Trace(), _Start()
        runs = open_runs(["-"], stdin=stream, max_bytes=options.max_bytes)
        diagnosis = diagnose_runs(
            skimmed(start.watch(runs), self._database),
            self._database,
            self._context,
            watch=trace.watch,
            matcher=self._matcher,
        )
        notes = tuple(note.removeprefix(_STDIN_NOTE) for note in runs.notes)
        diagnosis = replace(diagnosis, notes=(*diagnosis.notes, *notes))
        shown = escape_diagnosis(redact(_needed(diagnosis, options.together), keep_hosts=options.keep_hosts))
        record = base_record(task.name, task.key, self.versions)
        fill_diagnosis(record, shown, earlier_causes(diagnosis))
        fill_place(record, start.place, place_in_path(task.name), trace, options.keep_hosts)
        record.update(
            directory=hidden(task.below, True) or None,
            exit_status=exit_status(diagnosis, options.fail_on),
            boots=len(diagnosis.boots),
            boots_failed=failed_boots(diagnosis),
            lines=runs.lines_read,
            bytes=runs.bytes_read,
        )
        if options.together:
            record["starts"] = starts_of(shown, trace, options.keep_hosts)
        return encode(record)


def _needed(diagnosis: Diagnosis, all_boots: bool) -> Diagnosis:
    """Leave out the boots that the record says nothing of: redaction looks at every text."""
    boot = diagnosis.boot
    if all_boots or boot is None:
        return diagnosis
    return replace(diagnosis, boots=(boot,), leading=0)


class _Start:
    """Remembers the place that the first bytes of a log state."""

    def __init__(self) -> None:
        self.place = Place()

    def watch(self, runs: Iterable[Run]) -> Iterator[Run]:
        first = True
        for run in runs:
            if first:
                self.place = place_in_log(run.data)
                first = False
            yield run


class Pieces(io.RawIOBase):
    """A stream over bytes that come in pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        super().__init__()
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer with what there is of the next piece."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def stream_of(pieces: Iterable[bytes]) -> BinaryIO:
    """Return pieces as a file that gives whole reads."""
    return io.BufferedReader(Pieces(pieces), buffer_size=1 << 20)
