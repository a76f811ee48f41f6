"""Run the tool in this process, as the command line would, and keep what it said."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

from logdoctor.commands import Request, Result, run_diagnosis


def run(data: bytes, format_: str = "json", **options: object) -> Result:
    """Diagnose bytes from standard input."""
    return run_diagnosis(Request(paths=("-",), format=format_, **options), io.BytesIO(data))  # type: ignore[arg-type]


@cache
def result_of(log: Path, format_: str) -> Result:
    """Diagnose a file; each file and format once per test run."""
    return run_diagnosis(Request(paths=(str(log),), format=format_), io.BytesIO())


def report_of(log: Path, format_: str) -> str:
    """The report on a file."""
    return result_of(log, format_).text
