"""What goes with a launch: reading it from a file or from docker, and the command `check`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from logdoctor.commands import GivenLaunch, Request, Result, format_of, open_database, parse_facts, severity_of
from logdoctor.console import CommandFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from logdoctor.model import Fact

MAX_BYTES = 16 * 2**20
"""Of a launch file or nvidia-smi's output; what is read of it is bounded further by its kind."""


def read_text_file(path: str, what: str, stdin: BinaryIO) -> str:
    """Read a small text file, `-` for standard input; raises `CommandFailed` with one line."""
    try:
        if path == "-":
            data = stdin.read(MAX_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandFailed(f"cannot read {what} {path}: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise CommandFailed(f"{what} {path} has more than {MAX_BYTES // 2**20} MiB")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data.decode(encoding, "replace")


def launch_of(path: str, stdin: BinaryIO) -> GivenLaunch:
    """Read the launch file of `--launch`; an empty path gives none."""
    if not path:
        return GivenLaunch()
    return GivenLaunch(read_text_file(path, "the launch file", stdin), "" if path == "-" else Path(path).name)


def gpu_facts(path: str, stdin: BinaryIO) -> Mapping[str, Fact]:
    """Read what `--nvidia-smi` names; an empty path gives nothing."""
    if not path:
        return {}
    from logdoctor.launch import LaunchError, read_nvidia_smi

    try:
        return read_nvidia_smi(read_text_file(path, "the nvidia-smi output", stdin))
    except LaunchError as error:
        raise CommandFailed(str(error)) from error


@contextmanager
def container(name: str) -> Iterator[tuple[BinaryIO, GivenLaunch]]:
    """Give the log of a container as a stream, and how it was started as far as that can be told."""
    from logdoctor.launch import ContainerError, LaunchError, container_input, read_launch

    try:
        found = container_input(name)
    except ContainerError as error:
        raise CommandFailed(str(error)) from error
    launch = GivenLaunch(found.inspect, "")
    try:
        read_launch(found.inspect)
    except LaunchError:
        launch = GivenLaunch()
    with found.log as log:
        yield log, launch


def run_check(path: str, nvidia_smi: str, request: Request, stdin: BinaryIO) -> Result:
    """Diagnose a launch before it runs, and render it as `diagnose` does. Raises `CommandFailed`."""
    from logdoctor.diagnosis.launch_check import diagnose_launch
    from logdoctor.launch import LaunchError
    from logdoctor.pipeline import stamped
    from logdoctor.report import render
    from logdoctor.report.redaction import redact
    from logdoctor.report.status import exit_status

    format_, fail_on = format_of(request), severity_of(request.fail_on)
    if path == nvidia_smi == "-":
        raise CommandFailed("only one of the launch and --nvidia-smi can be standard input")
    given = {**gpu_facts(nvidia_smi, stdin), **parse_facts(request.facts)}
    launch = launch_of(path, stdin)
    database = open_database(request.signature_dirs, request.ignore_broken, lang=request.options.lang)
    try:
        diagnosis = diagnose_launch(launch.text or "", database, given, source=launch.name)
    except LaunchError as error:
        raise CommandFailed(str(error)) from error
    diagnosis = stamped(diagnosis, database, launch.name or "stdin")
    text = render(redact(diagnosis, keep_hosts=request.keep_hosts), format_, options=request.options)
    return Result(text, exit_status(diagnosis, fail_on), database.notes)


def check(path: str, nvidia_smi: str, request: Request, output: Path | None, stdin: BinaryIO) -> int:
    """Check a launch as the command line asks for it: write the report and return the exit status."""
    from logdoctor.console import complain, render_options, write_report

    options, plain = render_options(to_file=output is not None, lang=request.lang, format_=request.format)
    result = run_check(path, nvidia_smi, replace(request, plain=plain, options=options), stdin)
    for note in result.notes:
        complain(note)
    write_report(result.text, output)
    return result.status
