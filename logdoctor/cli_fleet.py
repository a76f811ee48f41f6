"""The command `logdoctor fleet`: many logs, one record each, one summary."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from logdoctor.console import CommandFailed, complain, language, render_options, write_report
from logdoctor.model import Severity
from logdoctor.report.options import RenderOptions
from logdoctor.report.status import EXIT_FAILED


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(name="fleet")(fleet_command)


def fleet_command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH...",
            help="Logs, directories, patterns, archives (.tar, .tar.gz, .tar.zst); - reads a list of paths.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the records (JSON Lines) here, each when it is done.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with --output: skip logs that it holds.")] = False,
    format_: Annotated[
        str, typer.Option("--format", "-f", help="Of the summary: terminal, markdown, html or json.")
    ] = "terminal",
    engine: Annotated[str, typer.Option(help="pool (processes on this machine) or ray (a Ray cluster).")] = "pool",
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Workers; 0 is one per processor.")] = 0,
    baseline: Annotated[
        Path | None, typer.Option(metavar="EARLIER", help="Records of an earlier run; say what is new.")
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="The logs are of one deployment; say where its failure began.")
    ] = False,
    fail_on: Annotated[str, typer.Option(help="Lowest severity that makes the exit status 1.")] = "error",
    fact: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A fact that holds for all logs.")] = None,
    signatures: Annotated[
        list[Path] | None,
        typer.Option("--signatures", metavar="DIR", help="Add a directory of your own signatures; may be repeated."),
    ] = None,
    ignore_broken: Annotated[
        bool, typer.Option("--ignore-broken", help="Leave out own signature files that are broken, and say so.")
    ] = False,
    keep_hosts: Annotated[bool, typer.Option(help="Keep host names, addresses and GPU ids in the records.")] = False,
    max_bytes: Annotated[int, typer.Option(help="Read at most this many bytes of a log.")] = 20 * 2**30,
    lang: Annotated[str, typer.Option(metavar="en|zh", help="Language of the summary.")] = "",
) -> None:
    """Diagnose many logs: one JSON record each, and a summary by root cause.

    With --output the summary goes to standard output; without, the records do, and the summary to standard error.
    """
    from logdoctor.commands import parse_facts
    from logdoctor.database import DatabaseError
    from logdoctor.fleet.errors import FleetError
    from logdoctor.fleet.run import FleetRequest, run_fleet
    from logdoctor.fleet.work import WorkOptions

    if not paths:
        typer.echo(
            "usage: logdoctor fleet [OPTIONS] PATH...\n       logdoctor fleet --help lists the options", err=True
        )
        raise typer.Exit(EXIT_FAILED)
    work = WorkOptions(
        fail_on=_severity(fail_on),
        given=tuple(parse_facts(fact or ()).values()),
        signature_dirs=tuple(map(str, signatures or ())),
        ignore_broken=ignore_broken,
        keep_hosts=keep_hosts,
        max_bytes=max_bytes,
        together=together,
    )
    options = render_options(to_file=False, lang=lang, format_=format_)[0] if output else _options_for_stderr(lang)
    request = FleetRequest(tuple(paths), output, resume, baseline, engine, jobs, format_, work, options)
    try:
        result = run_fleet(request, sys.stdin.buffer, _write_record)
    except (FleetError, DatabaseError) as error:
        raise CommandFailed(str(error)) from error
    except BrokenPipeError:
        # The reader of the records has gone (`| head`). Keep Python from complaining when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(EXIT_FAILED) from None
    for note in result.notes:
        complain(note)
    if output:
        write_report(result.text, None)
    else:
        typer.echo(result.text, err=True, nl=False, color=options.color)
    raise typer.Exit(result.status)


def _severity(text: str) -> Severity:
    try:
        return Severity(text)
    except ValueError:
        raise CommandFailed(f"--fail-on wants fatal, error, warning or info, not {text!r}") from None


def _write_record(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _options_for_stderr(lang: str) -> RenderOptions:
    """Return how the summary is to look beside the records."""
    tty = sys.stderr.isatty()
    color = (tty and os.environ.get("TERM", "") not in ("", "dumb")) or bool(os.environ.get("FORCE_COLOR"))
    color = color and not os.environ.get("NO_COLOR")
    width = max(shutil.get_terminal_size((100, 24)).columns, 20) if tty else 100
    encoding = (getattr(sys.stderr, "encoding", "") or "").lower().replace("-", "")
    ascii_only = not encoding.startswith("utf")
    spoken = language(lang, by_locale=False)
    return RenderOptions(width=width, color=color, ascii=ascii_only, lang="en" if ascii_only else spoken)
