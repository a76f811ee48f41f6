"""The quick way in takes the same words as the command line, and gives the rest to it."""

from __future__ import annotations

import dataclasses
import inspect
import typing

import pytest

from logdoctor import cli, entry
from logdoctor.commands import Request


def test_every_field_exists() -> None:
    fields = {field.name for field in dataclasses.fields(Request)}
    assert {*entry.VALUES.values(), *entry.LISTS.values(), *entry.SWITCHES.values()} <= fields


def test_every_option_is_one_of_the_command_lines() -> None:
    command = next(each for each in cli.app.registered_commands if each.name == cli.DEFAULT_COMMAND)
    hints = typing.get_type_hints(command.callback, include_extras=True)
    names = set()
    for parameter in inspect.signature(command.callback).parameters:  # type: ignore[arg-type]
        option = hints[parameter].__metadata__[0]
        # Typer keeps the first spelling of an annotated option where a default would stand.
        declared = [each for each in (option.default, *(option.param_decls or ())) if isinstance(each, str)]
        names.update(declared or [f"--{parameter.replace('_', '-')}"])
    assert {*entry.VALUES, *entry.LISTS, *entry.SWITCHES} <= names


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ([], {"paths": ("-",)}),
        (["-"], {"paths": ("-",)}),
        (["run.log", "old.log.gz"], {"paths": ("run.log", "old.log.gz")}),
        (["--format", "json", "./run"], {"format": "json", "paths": ("./run",)}),
        (["--fact", "a=1", "--fact", "b=2", "x.log"], {"facts": ("a=1", "b=2"), "paths": ("x.log",)}),
        (["--keep-hosts", "x.log"], {"keep_hosts": True, "paths": ("x.log",)}),
        (["--max-bytes", "12", "x.log"], {"max_bytes": 12, "paths": ("x.log",)}),
    ],
)
def test_plain_calls(words: list[str], fields: dict[str, object]) -> None:
    assert entry.parse_plain(words) == fields


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "id"],
        ["signatures", "list"],
        ["--help"],
        ["--version"],
        ["--format"],
        ["--format=json", "x.log"],
        ["--format", "--keep-hosts"],
        ["--follow"],
        ["--max-bytes", "many", "x.log"],
        ["-x"],
    ],
)
def test_everything_else_goes_to_the_command_line(words: list[str]) -> None:
    assert entry.parse_plain(words) is None


def test_every_command_is_a_word_that_goes_to_the_command_line() -> None:
    names = {each.name for each in (*cli.app.registered_commands, *cli.app.registered_groups)}
    assert all(entry.parse_plain([name]) is None for name in names if name)
