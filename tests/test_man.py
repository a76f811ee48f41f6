"""The manual page names everything that can be typed, and roff has nothing to complain of."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from logdoctor import __version__, man
from logdoctor.cli import app


def commands() -> dict[str, Any]:
    """Every command by its full name."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    while waiting:
        prefix, command = waiting.pop()
        for name, inner in getattr(command, "commands", {}).items():
            waiting.append((f"{prefix}{name} ", inner))
        if prefix and not hasattr(command, "commands"):
            found[prefix.strip()] = command
    return found


def plain() -> str:
    """The page as it is read."""
    text = man.page().replace("\\-", "-").replace("\\(dq", '"').replace("\\e", "\\")
    return re.sub(r"^\.(?:SS|SH|B|TP|PP|br) ?", "", text, flags=re.M)


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_is_named(name: str) -> None:
    text = plain()
    assert re.search(rf"\blogdoctor {name}\b|\bcommand {name}\b", text)
    part = text.partition(f"logdoctor {name} ")[2] or text
    for parameter in commands()[name].params:
        if not getattr(parameter, "hidden", False):
            for option in parameter.opts if parameter.opts[0].startswith("-") else ():
                assert re.search(rf"(?<![\w-]){option}(?![\w-])", part), option


def test_the_headings_are_those_of_a_manual_page() -> None:
    headings = re.findall(r"^\.SH (.+)$", man.page(), re.M)
    assert headings[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]
    assert {"OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"} <= set(headings)
    assert man.page().startswith(f'.TH LOGDOCTOR 1 "" "logdoctor {__version__}"')


def test_text_is_never_taken_for_a_request() -> None:
    assert man.escaped(".so /etc/passwd") == "\\&.so /etc/passwd"
    assert man.escaped("a\\fB-x\"'") == "a\\efB\\-x\\(dq'"
    requests = {line.split()[0] for line in man.page().splitlines() if line.startswith((".", "'"))}
    assert requests <= {".TH", ".nh", ".ad", ".SH", ".SS", ".PP", ".TP", ".B", ".br"}


def test_the_module_prints_the_page_and_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-m", "logdoctor.man"], capture_output=True, text=True, check=True)
    assert done.stdout == man.page()
    assert done.stderr == ""


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_roff_has_no_complaint() -> None:
    words = ["groff", "-man", "-Tascii", "-ww", "-z"]
    done = subprocess.run(words, input=man.page(), capture_output=True, text=True, check=True)
    assert done.stderr == ""
