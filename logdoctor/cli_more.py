"""Commands beside the main job: `mcp`, `recipe` and `schema`. Parse, call one function, write what it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logdoctor import completion
from logdoctor.console import CommandFailed, write_report


def mcp_command() -> None:
    """Serve agents over the Model Context Protocol on standard input and output (needs logdoctor[mcp])."""
    try:
        from logdoctor.mcp import serve
    except ImportError as error:
        raise CommandFailed(f"this needs the MCP SDK: pip install '.[mcp]' in the checkout ({error})") from error
    serve()


def recipe_command(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME|list", help="A recipe; list names them all.", autocompletion=completion.recipes),
    ] = "list",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the recipe here, whole or not at all.")
    ] = None,
) -> None:
    """Print a tested recipe: Docker, Kubernetes, systemd, CI, cron, log shippers, pre-commit."""
    from logdoctor import recipes

    text = recipes.listing() if name == "list" else recipes.text(name)
    if text is None:
        raise CommandFailed(f"there is no recipe {name!r}; there are {', '.join(recipes.names())}")
    write_report(text, output)


def schema_command() -> None:
    """Print the JSON Schema of --format json."""
    from logdoctor.report.schema import schema_text

    write_report(schema_text(), None)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(name="recipe")(recipe_command)
    app.command(name="mcp")(mcp_command)
    app.command(name="schema")(schema_command)
