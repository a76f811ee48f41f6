"""The command line: parse, call one function, hand the result to a renderer, map it to an exit status.

Standard output carries the report only; everything else goes to standard error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from logdoctor import __version__, cli_check, cli_fleet, cli_more, cli_probe, completion, report
from logdoctor.console import guarded, render_options, write_report
from logdoctor.report.status import EXIT_FAILED

if TYPE_CHECKING:
    from logdoctor.commands import Request

DEFAULT_COMMAND = "diagnose"
FORMATS = ", ".join(name for name in report.FORMATS if name != "text")


class DefaultGroup(TyperGroup):
    """Takes a first word that is no sub-command as the input of `diagnose`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own_options = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
        completing = ctx.resilient_parsing and not args
        if not completing and (not args or (args[0] not in self.commands and args[0] not in own_options)):
            args = [DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Offer the commands, and what the default command takes."""
        command = self.commands[DEFAULT_COMMAND]
        with command.make_context(DEFAULT_COMMAND, [], parent=ctx, resilient_parsing=True) as own:
            return [*super().shell_complete(ctx, incomplete), *command.shell_complete(own, incomplete)]

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage("docker logs NAME 2>&1 |", ctx.command_path)
        formatter.write_usage(ctx.command_path, "[OPTIONS] [FILE]...", prefix="       ")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="       ")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Show the options of the default command, which is what most people want."""
        command = self.commands[DEFAULT_COMMAND]
        command.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


app = typer.Typer(
    cls=DefaultGroup,
    add_completion=True,
    rich_markup_mode=None,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
signatures_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="List, check and test the signature database."
)
app.add_typer(signatures_app, name="signatures")
cli_check.register(app)
cli_probe.register(app)
cli_fleet.register(app)
cli_more.register(app)

SignatureDirs = Annotated[
    list[Path] | None,
    typer.Option("--signatures", metavar="DIR", help="Add a directory of your own signatures; may be repeated."),
]
IgnoreBroken = Annotated[
    bool, typer.Option("--ignore-broken", help="Leave out own signature files that are broken, and say so.")
]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"logdoctor {__version__}")
        raise typer.Exit


@app.callback()
def _main_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Read the log of a vLLM server and say whether it is up, why not, and what to type."""


@app.command(name=DEFAULT_COMMAND)
def diagnose_command(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Parts of one log in order; - is standard input.")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", "-f", help=f"One of: {FORMATS}.", autocompletion=completion.formats)
    ] = "terminal",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report here, whole or not at all.")
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(help="Lowest severity that makes the exit status 1.", autocompletion=completion.severities),
    ] = "error",
    boot: Annotated[str, typer.Option(help="last, all, or the number of a boot.")] = "last",
    fact: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A fact the log does not hold.")] = None,
    signatures: SignatureDirs = None,
    ignore_broken: IgnoreBroken = False,
    keep_hosts: Annotated[bool, typer.Option(help="Keep host names, addresses and GPU ids in the report.")] = False,
    max_bytes: Annotated[int, typer.Option(help="Read at most this many bytes (after decompression).")] = 20 * 2**30,
    launch: Annotated[
        str,
        typer.Option(
            "--launch", metavar="FILE", help="What started it (script, compose, manifest, inspect): show it corrected."
        ),
    ] = "",
    container: Annotated[
        str, typer.Option("--container", metavar="NAME", help="Ask docker or podman for log and launch of a container.")
    ] = "",
    nvidia_smi: Annotated[
        str, typer.Option("--nvidia-smi", metavar="FILE", help="What nvidia-smi prints on the machine.")
    ] = "",
    lang: Annotated[
        str,
        typer.Option(
            metavar="en|zh",
            help="Language of the report.  [default: en; at a terminal that of the locale]",
            autocompletion=completion.languages,
        ),
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for what is still written; end with the verdict.")
    ] = False,
    until: Annotated[
        str, typer.Option(help="With --follow: ready goes on after a failure, until the server is up.")
    ] = "settled",
    stay: Annotated[bool, typer.Option("--stay", help="With --follow: keep watching a server that is up.")] = False,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="With --follow: give up after this long, e.g. 20m (status 3)."),
    ] = None,
) -> None:
    """Diagnose the log of a vLLM server (the default command)."""
    from logdoctor.commands import Request, diagnose

    if not files and not container and sys.stdin.isatty():
        typer.echo(
            "usage: docker logs NAME 2>&1 | logdoctor\n       logdoctor [OPTIONS] FILE...\n"
            "       logdoctor --help lists options and commands",
            err=True,
        )
        raise typer.Exit(EXIT_FAILED)
    request = Request(
        paths=tuple(files or ("-",)),
        format=format_,
        fail_on=fail_on,
        boot=boot,
        facts=tuple(fact or ()),
        signature_dirs=tuple(signatures or ()),
        ignore_broken=ignore_broken,
        keep_hosts=keep_hosts,
        max_bytes=max_bytes,
        launch=launch,
        container=container,
        nvidia_smi=nvidia_smi,
        lang=lang,
    )
    if not follow:
        given = {"--timeout": timeout is not None, "--stay": stay, "--until": until != "settled"}
        for name in (name for name, is_given in given.items() if is_given):
            raise typer.BadParameter(f"{name} goes with --follow")
        raise typer.Exit(diagnose(request, output))
    raise typer.Exit(follow_command(request, output, until, stay, timeout))


def follow_command(request: Request, output: Path | None, until: str, stay: bool, timeout: str | None) -> int:
    """Check the words of --follow, and follow."""
    from logdoctor import commands
    from logdoctor.follow.command import Following, seconds_of

    if until not in ("settled", "ready"):
        raise typer.BadParameter("--until wants ready (or settled, the default)")
    following = Following(until == "ready", stay, seconds_of(timeout) if timeout else None)
    return commands.follow(request, following, output)


@app.command()
def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="ID",
            help="An id, the beginning of one, or a pasted log line.",
            autocompletion=completion.signature_ids,
        ),
    ],
    format_: Annotated[str, typer.Option("--format", "-f", help="text, markdown or json.")] = "text",
    signatures: SignatureDirs = None,
    ignore_broken: IgnoreBroken = False,
    lang: Annotated[
        str,
        typer.Option(
            metavar="en|zh",
            help="Language, where the entry is translated.  [default: en; at a terminal that of the locale]",
            autocompletion=completion.languages,
        ),
    ] = "",
) -> None:
    """Explain a signature: what you see, why, fix, check, when it is wrong, references."""
    from logdoctor.commands import explain_signature

    options, _ = render_options(to_file=False, lang=lang, format_="terminal" if format_ == "text" else format_)
    page = explain_signature(" ".join(words), format_, tuple(signatures or ()), ignore_broken, options.lang)
    write_report(page, None)


@signatures_app.command("list")
def signatures_list(
    format_: Annotated[str, typer.Option("--format", "-f", help="text or json.")] = "text",
    signatures: SignatureDirs = None,
    ignore_broken: IgnoreBroken = False,
) -> None:
    """List the signatures in force."""
    from logdoctor.commands import list_signatures

    write_report(list_signatures(format_, tuple(signatures or ()), ignore_broken), None)


@signatures_app.command("lint")
def signatures_lint(signatures: SignatureDirs = None) -> None:
    """Check every entry; each problem is one line `file:line: what`."""
    from logdoctor.commands import lint_signatures

    text, clean = lint_signatures(tuple(signatures or ()))
    write_report(text, None)
    raise typer.Exit(0 if clean else 1)


@signatures_app.command("test")
def signatures_test(signatures: SignatureDirs = None) -> None:
    """Run the examples inside the entries."""
    from logdoctor.commands import check_examples

    text, clean = check_examples(tuple(signatures or ()))
    write_report(text, None)
    raise typer.Exit(0 if clean else 1)


@signatures_app.command("new")
def signatures_new(
    log: Annotated[
        str,
        typer.Argument(metavar="LOG", help="A log with a failure that is not in the database; - is standard input."),
    ],
) -> None:
    """Draft an entry from an unrecognised failure."""
    from logdoctor.commands import draft_from_log

    write_report(draft_from_log(log, sys.stdin.buffer), None)


def main() -> None:
    """Run the command line; the entry point of the installed script."""
    sys.exit(guarded(lambda: app(standalone_mode=False)))


if __name__ == "__main__":
    main()
