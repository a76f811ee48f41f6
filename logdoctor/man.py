"""The manual page, made from the command line itself: `python -m logdoctor.man > logdoctor.1`.

Commands, options and their help are those that `--help` prints; what no option says (exit status, environment, files)
stands here. The page has no date: the same version gives the same bytes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from logdoctor import __version__

_DESCRIPTION = (
    "logdoctor reads the start-up log of a vLLM server and answers whether the server is up, if not why (the root"
    " cause, not the last line), what to type to fix it, and how sure that is. It is deterministic and works offline;"
    " only probe talks to the server that is named to it. Reports are redacted: tokens, keys, prompts, users, hosts and"
    " addresses are replaced.",
    "A first word that is no command is the name of a log, as if it were given to the command diagnose. Without any,"
    " the log is read from standard input.",
)
_EXIT_STATUS = (
    ("0", "Nothing at or above the severity of --fail-on."),
    ("1", "A finding at or above it."),
    ("2", "The work could not be done: usage, unreadable input, broken signatures."),
    ("3", "Undetermined: no start of vLLM recognised, or the start has not finished."),
)
_ENVIRONMENT = (
    ("NO_COLOR", "When set, no colour."),
    ("FORCE_COLOR", "When set, colour also in a pipe."),
    ("TERM", "dumb switches colour off."),
    ("COLUMNS", "Width of the report at a terminal."),
    ("LC_ALL, LC_MESSAGES, LANG", "Language of reports at a terminal (Chinese or English); --lang outweighs them."),
    ("LOGDOCTOR_SIGNATURES", "Directories of your own signatures, separated by colons."),
    ("XDG_CONFIG_HOME, XDG_CACHE_HOME", "Where the directories below FILES are."),
)
_FILES = (
    ("~/.config/logdoctor/signatures/*.yaml", "Your own signatures, laid over the shipped ones."),
    ("~/.cache/logdoctor/", "Compiled forms of the signatures; may be removed at any time."),
)
_EXAMPLES = (
    ("docker logs nemotron 2>&1 | logdoctor", "Diagnose a container."),
    ("logdoctor --container nemotron", "The same, and its launch corrected."),
    ("kubectl logs vllm-0 --previous | logdoctor --format markdown", "For a ticket."),
    ("logdoctor server.log --fact gpu.name=GB10", "Say what the log does not hold."),
    ("logdoctor check compose.yaml", "Look at a launch before it runs."),
    ("logdoctor explain kv-cache-one-request", "What a finding means."),
    ("logdoctor probe http://localhost:8000", "Ask a running server."),
    ("logdoctor recipe list", "Recipes for Docker, Kubernetes, systemd, CI and log shippers."),
)


def page() -> str:
    """Return the manual page in the macros of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    from typer.main import get_command

    from logdoctor.cli import DEFAULT_COMMAND, app

    root: Any = get_command(app)
    yield f'.TH LOGDOCTOR 1 "" "logdoctor {__version__}" "User Commands"'
    # Options are typed as they stand: neither hyphenated nor spread.
    yield from (".nh", ".ad l")
    yield from _section("NAME")
    yield escaped("logdoctor - read the log of a vLLM server and name the root cause and the fix")
    yield from _section("SYNOPSIS")
    for start in ("docker logs NAME 2>&1 | logdoctor [OPTIONS]", "logdoctor [OPTIONS] [FILE]...", "logdoctor COMMAND"):
        yield from (f".B {escaped(start)}", ".br")
    yield from _section("DESCRIPTION")
    yield from _paragraphs(_DESCRIPTION)
    yield from _section("OPTIONS")
    yield from _parameters([*root.commands[DEFAULT_COMMAND].params, *root.params])
    yield from _section("COMMANDS")
    for name, command in _commands(root, ""):
        if name != DEFAULT_COMMAND:
            yield from _command(name, command)
    for title, pairs in (("EXIT STATUS", _EXIT_STATUS), ("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        yield from _section(title)
        yield from _tagged(pairs)
    yield from _section("EXAMPLES")
    yield from _tagged(_EXAMPLES)


def _commands(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield every command below a group with its full name."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = " ".join(_metavar(parameter) for parameter in command.params if not _is_option(parameter))
    options = "[OPTIONS]" if any(map(_is_option, command.params)) else ""
    line = " ".join(part for part in ("logdoctor", name, options, arguments) if part)
    yield f".SS {escaped(line)}"
    yield from _paragraphs(re.split(r"\n\s*\n", (command.help or "").strip()))
    yield from _parameters(command.params)


def _parameters(parameters: Iterable[Any]) -> Iterator[str]:
    """Tell arguments first, then options, in the order in which the help lists them."""
    ordered = sorted(parameters, key=_is_option)
    yield from _tagged((_declaration(one), _help(one)) for one in ordered if not getattr(one, "hidden", False))


def _declaration(parameter: Any) -> str:
    if not _is_option(parameter):
        return _metavar(parameter)
    names = ", ".join(sorted((*parameter.opts, *parameter.secondary_opts), key=lambda name: name.startswith("--")))
    return names if parameter.is_flag else f"{names} {_metavar(parameter)}"


def _help(parameter: Any) -> str:
    text = " ".join((parameter.help or "").split())
    default = parameter.default
    if "[default:" in text or isinstance(default, bool) or default in (None, "", ()) or callable(default):
        return text
    return f"{text}  [default: {default}]"


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.strip("_").replace("_", "-").upper())


def _is_option(parameter: Any) -> bool:
    return any(name.startswith("-") for name in parameter.opts)


# -- the macros of man(7) ---------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Return text that roff shows as it is: hyphens to copy, no requests, no escapes."""
    text = (
        text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha").replace('"', "\\(dq")
    )
    return f"\\&{text}" if text.startswith((".", "'")) else text


def _section(title: str) -> Iterator[str]:
    yield f".SH {title}"


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (".PP", escaped(" ".join(text.split())))


def _tagged(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for tag, text in pairs:
        yield from (".TP", f".B {escaped(tag)}", escaped(text))


if __name__ == "__main__":
    sys.stdout.write(page())
