"""The command `logdoctor check`: parse, call `checking`, map it to an exit status."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def check_command(
    launch: Annotated[
        str,
        typer.Argument(
            metavar="LAUNCH",
            help="A script (docker run, vllm serve), compose file, manifest or docker inspect; - is standard input.",
        ),
    ],
    nvidia_smi: Annotated[
        str, typer.Option("--nvidia-smi", metavar="FILE", help="What nvidia-smi prints on the machine it will run on.")
    ] = "",
    fact: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="A fact the launch does not hold, e.g. gpu.name=GB10.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", "-f", help="As for diagnose.")] = "terminal",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report here, whole or not at all.")
    ] = None,
    fail_on: Annotated[str, typer.Option(help="Lowest severity that makes the exit status 1.")] = "error",
    signatures: Annotated[
        list[Path] | None, typer.Option("--signatures", metavar="DIR", help="Add a directory of your own signatures.")
    ] = None,
    ignore_broken: Annotated[
        bool, typer.Option("--ignore-broken", help="Leave out own files that are broken.")
    ] = False,
    keep_hosts: Annotated[bool, typer.Option(help="Keep host names, addresses and GPU ids in the report.")] = False,
    lang: Annotated[str, typer.Option(metavar="en|zh", help="Language of the report.")] = "",
) -> None:
    """Check a launch before it runs: unknown flags and variables, wrong parser, back end or memory for the GPU.

    Nothing is started. Same findings, formats and exit status as for a log.
    """
    from logdoctor.checking import check
    from logdoctor.commands import Request

    request = Request(
        paths=(),
        format=format_,
        fail_on=fail_on,
        facts=tuple(fact or ()),
        signature_dirs=tuple(signatures or ()),
        ignore_broken=ignore_broken,
        keep_hosts=keep_hosts,
        lang=lang,
    )
    raise typer.Exit(check(launch, nvidia_smi, request, output, sys.stdin.buffer))


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(name="check")(check_command)
