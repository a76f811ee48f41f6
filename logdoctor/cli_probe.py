"""The command `logdoctor probe`: parse, call `probing`, write the report, map it to an exit status."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from logdoctor.console import complain, render_options, write_report

Url = Annotated[
    str, typer.Argument(metavar="URL", help="Address of the server, e.g. http://localhost:8000; nothing else is asked.")
]
Log = Annotated[
    str, typer.Option("--log", metavar="FILE", help="Join with what this log of the server says; - is standard input.")
]
Container = Annotated[
    str, typer.Option("--container", metavar="NAME", help="Join with the log of this container (docker, podman).")
]
Model = Annotated[
    str, typer.Option("--model", metavar="NAME", help="Served name to ask for.  [default: the first one listed]")
]
ApiKeyEnv = Annotated[
    str, typer.Option("--api-key-env", metavar="VAR", help="Environment variable that holds the API key.")
]
Level = Annotated[
    str,
    typer.Option(
        "--level",
        help="health: status pages only. answer: a handful of requests. load: a few dozen, up to 16 at once.",
    ),
]
Interval = Annotated[
    str, typer.Option("--interval", metavar="30s", help="Repeat until interrupted; print when something changes.")
]
Timeout = Annotated[str, typer.Option("--timeout", metavar="60s", help="Longest time for one request.")]
MaxTokens = Annotated[
    int, typer.Option("--max-tokens", help="What a test request may generate, thinking included; set it as clients do.")
]
Context = Annotated[bool, typer.Option("--context", help="Also send one prompt just under the context length.")]
Ollama = Annotated[
    str, typer.Option("--ollama", metavar="URL", help="Also list what an Ollama on this machine has loaded.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no report; the exit status tells.")]


def probe_command(
    url: Url,
    log: Log = "",
    container: Container = "",
    model: Model = "",
    api_key_env: ApiKeyEnv = "",
    level: Level = "answer",
    interval: Interval = "",
    timeout: Timeout = "60s",
    max_tokens: MaxTokens = 512,
    context: Context = False,
    ollama: Ollama = "",
    quiet: Quiet = False,
    format_: Annotated[str, typer.Option("--format", "-f", help="As for diagnose.")] = "terminal",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report here, whole or not at all.")
    ] = None,
    fail_on: Annotated[str, typer.Option(help="Lowest severity that makes the exit status 1.")] = "error",
    fact: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A fact that nothing states.")] = None,
    signatures: Annotated[
        list[Path] | None, typer.Option("--signatures", metavar="DIR", help="Add a directory of your own signatures.")
    ] = None,
    ignore_broken: Annotated[
        bool, typer.Option("--ignore-broken", help="Leave out own files that are broken.")
    ] = False,
    keep_hosts: Annotated[bool, typer.Option(help="Keep host names, addresses and GPU ids in the report.")] = False,
    lang: Annotated[str, typer.Option(metavar="en|zh", help="As for diagnose.")] = "",
) -> None:
    """Ask a running server for what no log shows: does it answer, rightly, in the right fields, under load.

    Usable as a health check: exit status 0 when nothing is wrong, 1 with a finding, 2 when it could not be asked as
    wanted, 3 while the server is still starting by its log.
    """
    from logdoctor.probing import Prober, ProbeRequest, seconds

    options, plain = render_options(to_file=output is not None, lang=lang, format_=format_)
    request = ProbeRequest(
        url=url,
        log=log,
        container=container,
        model=model,
        api_key_env=api_key_env,
        level=level,
        timeout=timeout,
        max_tokens=max_tokens,
        context=context,
        ollama=ollama,
        format=format_,
        fail_on=fail_on,
        facts=tuple(fact or ()),
        signature_dirs=tuple(signatures or ()),
        ignore_broken=ignore_broken,
        keep_hosts=keep_hosts,
        plain=plain,
        options=options,
    )
    pause = seconds(interval, "--interval") if interval else None
    prober = Prober(request, sys.stdin.buffer)
    for note in prober.notes:
        complain(note)

    def show(text: str) -> None:
        if not quiet:
            write_report(text, output)

    if pause is not None:
        raise typer.Exit(prober.watch(pause, show))
    result = prober.run()
    show(result.text)
    raise typer.Exit(result.status)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(name="probe")(probe_command)
