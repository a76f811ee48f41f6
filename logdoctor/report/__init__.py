"""Reports: one frozen, already redacted diagnosis, rendered for people and for programs.

A renderer is a module of this package, named as the format, with one pure function:

    def render(diagnosis: Diagnosis, options: RenderOptions) -> str

It decides nothing: verdict, order, ids, severities and fingerprints are the same in every format. To add one,
add the module and its name to `FORMATS`. What it receives is redacted, and its control characters are escaped;
markup of its own format (Markdown, HTML, XML) it escapes itself, and no line of its text may begin with `::` or
hold `##[`, which runners of CI obey. It ends its text with one line feed.

Renderers are imported when used: a JSON run loads nothing that only the terminal needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from logdoctor.report.escaping import escape_diagnosis
from logdoctor.report.options import RenderOptions
from logdoctor.report.status import EXIT_FAILED, EXIT_FINDING, EXIT_OK, EXIT_UNDETERMINED, exit_status

if TYPE_CHECKING:
    from logdoctor.model import Diagnosis

FORMATS: tuple[str, ...] = (
    "terminal",
    "markdown",
    "json",
    "html",
    "sarif",
    "junit",
    "gitlab",
    "github",
    "jira",
    "prometheus",
    "termination",
    "jsonl",
    "issue",
    "text",
)
"""Names of the formats; `text` is what `terminal` becomes in a pipe, and need not be asked for."""

__all__ = [
    "EXIT_FAILED",
    "EXIT_FINDING",
    "EXIT_OK",
    "EXIT_UNDETERMINED",
    "FORMATS",
    "RenderOptions",
    "exit_status",
    "render",
]


def render(diagnosis: Diagnosis, format: str, *, options: RenderOptions | None = None) -> str:
    """Return the report on an already redacted diagnosis in one of `FORMATS`."""
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; known are {', '.join(FORMATS)}")
    renderer = import_module(f"{__name__}.{format}")
    text = renderer.render(escape_diagnosis(diagnosis), options or RenderOptions())
    return str(text)
