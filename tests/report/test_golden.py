"""Every case in every form, compared with the text that a person has looked at and found right.

After a wanted change of the reports, write the files anew, look at the difference, and commit it:

    UPDATE_GOLDEN=1 pytest tests/report/test_golden.py && git diff tests/report/golden
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from logdoctor.report import RenderOptions, render

from .cases import CASES, FAILED

GOLDEN = Path(__file__).parent / "golden"

FORMS = {
    "80.txt": ("terminal", RenderOptions(width=80)),
    "200.txt": ("terminal", RenderOptions(width=200)),
    "pipe.txt": ("text", RenderOptions()),
    "md": ("markdown", RenderOptions()),
    "json": ("json", RenderOptions()),
}

PROGRAMS = {
    "html": "html",
    "sarif": "sarif",
    "junit.xml": "junit",
    "gitlab.json": "gitlab",
    "github.txt": "github",
    "jira.txt": "jira",
    "prom": "prometheus",
    "termination.txt": "termination",
    "jsonl": "jsonl",
    "issue.md": "issue",
}
"""The other formats, for a few cases: what they say of all cases, the tests of each read back."""

FILES = {
    **{f"{name}.{ending}": (made, *form) for name, made in CASES.items() for ending, form in FORMS.items()},
    **{
        f"{name}.{ending}": (CASES[name], form, RenderOptions())
        for name in ("launched", "unknown", "ready")
        for ending, form in PROGRAMS.items()
    },
    "failed.color.txt": (FAILED, "terminal", RenderOptions(width=80, color=True)),
    "failed.ascii.txt": (FAILED, "terminal", RenderOptions(width=80, ascii=True)),
    "restart-loop.all.txt": (CASES["restart-loop"], "terminal", RenderOptions(width=80, all_boots=True)),
}


@pytest.mark.parametrize("name", FILES)
def test_report_is_as_it_was_looked_at(name: str) -> None:
    diagnosis, form, options = FILES[name]
    text = render(diagnosis, form, options=options)
    file = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
    assert text.encode() == file.read_bytes(), f"{file} differs; UPDATE_GOLDEN=1 writes it anew"


def test_no_file_is_left_over() -> None:
    assert {file.name for file in GOLDEN.iterdir()} == set(FILES)
