"""A fleet from paths to summary: find, diagnose on an engine, write every record, sum up."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from logdoctor.fleet import reports
from logdoctor.fleet.errors import FleetError
from logdoctor.fleet.ordering import Numbered, in_order
from logdoctor.fleet.output import OutputFile, read_records
from logdoctor.fleet.pool import Pool, default_jobs
from logdoctor.fleet.progress import progress
from logdoctor.fleet.sources import Source, count_sources, find_sources, with_list
from logdoctor.fleet.stopping import Stop
from logdoctor.fleet.summary import Baseline, Tally, read_baseline
from logdoctor.fleet.work import Diagnoser, WorkOptions
from logdoctor.report.options import RenderOptions
from logdoctor.report.record import decode
from logdoctor.report.status import EXIT_FAILED

ENGINES = ("pool", "ray")


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """What the command line asks for; the texts are not checked yet."""

    paths: tuple[str, ...]
    output: Path | None = None
    resume: bool = False
    baseline: Path | None = None
    engine: str = "pool"
    jobs: int = 0
    """Worker processes; 0 for one per processor."""
    format: str = "terminal"
    work: WorkOptions = field(default_factory=WorkOptions)
    options: RenderOptions = field(default_factory=RenderOptions)


@dataclass(frozen=True, slots=True)
class FleetResult:
    """The rendered summary and what the process ends with."""

    text: str
    status: int
    notes: tuple[str, ...] = ()
    """For standard error."""


class Engine(Protocol):
    """What carries logs to workers and lines back."""

    notes: list[str]
    """Remarks on how it went, for standard error."""

    def run(self, sources: Iterable[Source]) -> Iterator[Numbered]:
        """Yield the position of a source and its lines, as they come."""


def run_fleet(request: FleetRequest, stdin: BinaryIO, write: Callable[[bytes], object]) -> FleetResult:
    """Diagnose every log; `write` takes the lines when there is no output file.

    Raises `FleetError`, and `DatabaseError` when the signatures cannot be used.
    """
    _check(request)
    diagnoser = Diagnoser(request.work)
    notes = list(diagnoser.notes)
    tally = Tally(_baseline(request.baseline), together=request.work.together)
    paths = with_list(request.paths, stdin)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_open_output(request)) if request.output else None
        if file is not None and file.done:
            notes += _add_stored(file, tally, request.work.together)
        stop = stack.enter_context(Stop())
        notes += _diagnose(request, paths, file, tally, stop, file.write if file else write, diagnoser.versions)
    if not tally.logs:
        raise FleetError("no logs found; in a directory these are *.log*, *.txt, and files that begin like a log")
    if stop.wanted:
        again = "; --resume goes on from here" if file is not None else ""
        notes.append(f"stopped after {tally.logs} logs{again}")
    summary = tally.summary(diagnoser.ids)
    text = reports.render(summary, request.format, request.options)
    return FleetResult(text, EXIT_FAILED if stop.wanted else summary.status, tuple(notes))


def _add_stored(file: OutputFile, tally: Tally, together: bool) -> Iterator[str]:
    """Count what the output holds already, and say what it lacks."""
    yield f"{len(file.done)} logs have a record in {file.path} already"
    apart = 0
    for record in read_records(file.path):
        tally.add_stored(record)
        apart += record["starts"] is None and bool(record.get("boots"))
    if together and apart:
        yield f"{apart} of them were diagnosed without --together and cannot be aligned"


def _diagnose(
    request: FleetRequest,
    paths: list[str],
    file: OutputFile | None,
    tally: Tally,
    stop: Stop,
    write: Callable[[bytes], object],
    versions: tuple[str, str],
) -> tuple[str, ...]:
    leave_out = [str(path) for path in (request.output, request.baseline) if path is not None]

    def todo(found: Iterable[Source]) -> Iterator[Source]:
        for source in stop.until(found):
            if file is None or source.archive or not file.has(source.key):
                yield source

    def total() -> int | None:
        count = count_sources(paths, leave_out=leave_out)
        return None if count is None else count - (len(file.done) if file else 0)

    with contextlib.ExitStack() as stack:
        engine: Engine
        if request.engine == "ray":
            from logdoctor.fleet.ray_engine import RayEngine

            ray_engine = stack.enter_context(RayEngine(request.work, request.jobs, versions))
            found = find_sources(paths, leave_out=leave_out, open_archives=False, expand_url=ray_engine.expand_url)
            engine = ray_engine
        else:
            engine = stack.enter_context(Pool(request.work, request.jobs or default_jobs(), versions))
            found = find_sources(paths, leave_out=leave_out)
        step = stack.enter_context(progress(total))
        for line in in_order(engine.run(todo(found))):
            record = decode(line)
            if record is None or (file is not None and file.has(record["key"])):
                continue  # a member of an archive that was done before
            write(line)
            tally.add(record)
            step()
            if stop.wanted and request.engine == "ray":
                break  # a dataset has been handed over whole; it ends with the engine
        return tuple(engine.notes)


def _check(request: FleetRequest) -> None:
    if request.format not in reports.FORMATS:
        raise FleetError(f"unknown format {request.format!r}; known are {', '.join(reports.FORMATS)}")
    if request.engine not in ENGINES:
        raise FleetError(f"unknown engine {request.engine!r}; known are {', '.join(ENGINES)}")
    if request.jobs < 0:
        raise FleetError("--jobs wants a number of processes, or 0 for one per processor")
    if request.resume and request.output is None:
        raise FleetError("--resume wants --output FILE, the file to go on with")
    if request.output is not None and request.baseline is not None and _is_same(request.output, request.baseline):
        raise FleetError("--output would overwrite the --baseline; give another file")


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _baseline(path: Path | None) -> Baseline | None:
    if path is None:
        return None
    try:
        baseline = read_baseline(read_records(path))
    except OSError as error:
        raise FleetError(f"cannot read the baseline {path}: {error.strerror or error}") from error
    if not baseline.logs:
        raise FleetError(f"{path} holds no records of logdoctor fleet")
    return baseline


def _open_output(request: FleetRequest) -> OutputFile:
    path = request.output or Path()
    try:
        file = OutputFile(path, resume=request.resume)
    except OSError as error:
        raise FleetError(f"cannot write {path}: {error.strerror or error}") from error
    return file
