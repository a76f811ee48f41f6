"""The README shows what the tool prints, and its lines are the ones that CI runs.

UPDATE_GOLDEN=1 python -m pytest tests/test_readme.py      writes the shown reports anew
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.running import report_of

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
_SHOWN = re.compile(r"<!-- output: logdoctor (?P<words>[^\n]+?) -->\n```text\n(?P<text>.*?)```", re.S)


def shown() -> list[re.Match[str]]:
    """The reports that the README shows."""
    return list(_SHOWN.finditer(README.read_text(encoding="utf-8")))


def printed(words: str) -> str:
    """What the tool prints for the words, without the line that names its version."""
    (path,) = shlex.split(words)
    lines = report_of(ROOT / path, "text").splitlines()
    return "\n".join(line for line in lines if not line.startswith("logdoctor ")).strip() + "\n"


def test_shown_reports_are_what_the_tool_prints() -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        text = README.read_text(encoding="utf-8")
        new = _SHOWN.sub(lambda m: f"<!-- output: logdoctor {m['words']} -->\n```text\n{printed(m['words'])}```", text)
        README.write_text(new, encoding="utf-8")
    assert len(shown()) >= 2
    for match in shown():
        assert match["text"] == printed(match["words"])


@pytest.mark.parametrize("mark", ["run-line", "test-line"])
def test_the_two_lines_are_there(mark: str) -> None:
    found = re.search(rf"<!-- {mark} -->\n```sh\n([^\n]+)\n```", README.read_text(encoding="utf-8"))
    assert found is not None
    assert found[1].startswith("python3 -m venv .venv && .venv/bin/pip install -q ")


def test_every_sample_and_command_in_the_readme_exists() -> None:
    text = README.read_text(encoding="utf-8")
    for path in re.findall(r"\bsamples/[\w./-]+\.log\b", text):
        assert (ROOT / path).is_file(), path
