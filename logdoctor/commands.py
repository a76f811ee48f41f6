"""What each command does: the only place that knows every room of the package.

`cli` parses words into the values of this module; nothing here prints or exits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from logdoctor import __version__
from logdoctor.console import CommandFailed
from logdoctor.model import Diagnosis, Fact, Severity
from logdoctor.report.status import exit_status

if TYPE_CHECKING:
    from logdoctor.database import Database


@dataclass(frozen=True, slots=True)
class Request:
    """A diagnosis as the command line asks for it; the texts are not checked yet."""

    paths: tuple[str, ...]
    format: str = "terminal"
    fail_on: str = "error"
    boot: str = "last"
    facts: tuple[str, ...] = ()
    signature_dirs: tuple[Path, ...] = ()
    ignore_broken: bool = False
    keep_hosts: bool = False
    max_bytes: int = 20 * 2**30
    to_file: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """A rendered report and what the process ends with."""

    text: str
    status: int
    notes: tuple[str, ...] = ()
    """For standard error."""


def run_diagnosis(request: Request, stdin: BinaryIO) -> Result:
    """Read, diagnose, redact and render. Raises `CommandFailed` with one line for the user."""
    from logdoctor.diagnosis import diagnose_records
    from logdoctor.reading import InputError, open_runs, read_lines, read_records
    from logdoctor.report import FORMATS, render, render_options
    from logdoctor.report.redaction import redact

    if request.format not in FORMATS:
        raise CommandFailed(f"unknown format {request.format!r}; known are {', '.join(FORMATS)}")
    fail_on = _severity(request.fail_on)
    given = parse_facts(request.facts)
    database = open_database(request.signature_dirs, request.ignore_broken)
    try:
        runs = open_runs(request.paths, stdin=stdin, max_bytes=request.max_bytes)
        diagnosis = diagnose_records(read_records(read_lines(runs)), database, given=given)
    except InputError as error:
        raise CommandFailed(str(error)) from error
    diagnosis = replace(
        diagnosis,
        source=source_name(request.paths),
        tool_version=__version__,
        database_version=database.version,
        notes=(*diagnosis.notes, *runs.notes),
    )
    diagnosis = choose_boot(diagnosis, request.boot)
    text = render(
        redact(diagnosis, keep_hosts=request.keep_hosts),
        request.format,
        options=render_options(all_boots=request.boot == "all", to_file=request.to_file),
    )
    return Result(text, exit_status(diagnosis, fail_on), (*database.notes, *runs.notes))


def open_database(extra_dirs: Iterable[Path], ignore_broken: bool) -> Database:
    """Load the database; its complaints become the message of a `CommandFailed`."""
    from logdoctor.database import DatabaseError, load_database

    try:
        return load_database(extra_dirs, ignore_broken)
    except DatabaseError as error:
        raise CommandFailed(str(error)) from error


def parse_facts(texts: Iterable[str]) -> dict[str, Fact]:
    """Turn `KEY=VALUE` words into facts that say they were given."""
    facts = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise CommandFailed(f"--fact wants KEY=VALUE, e.g. gpu.name=GB10; got {text!r}")
        facts[key.strip()] = Fact(key.strip(), value.strip(), origin="given")
    return facts


def source_name(paths: tuple[str, ...]) -> str:
    """Name the input without the machine's directories: reports must not depend on where a log lies."""
    names = ["stdin" if path == "-" else Path(path).name for path in paths]
    return " + ".join(names)


def choose_boot(diagnosis: Diagnosis, wanted: str) -> Diagnosis:
    """Let another boot than the last one lead: `last`, `all`, or its number."""
    if wanted in ("last", "all"):
        return diagnosis
    try:
        number = int(wanted)
    except ValueError:
        raise CommandFailed(f"--boot wants last, all or a number, not {wanted!r}") from None
    position = next((i for i, boot in enumerate(diagnosis.boots) if boot.index == number), None)
    if position is None:
        raise CommandFailed(f"the log holds {len(diagnosis.boots)} boots; there is no boot {number}")
    boot = diagnosis.boots[position]
    return replace(diagnosis, leading=position, verdict=boot.verdict, summary=boot.summary)


def _severity(text: str) -> Severity:
    try:
        return Severity(text)
    except ValueError:
        raise CommandFailed(f"--fail-on wants fatal, error, warning or info, not {text!r}") from None
