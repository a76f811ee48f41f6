"""The forms of the summary, by name; a form is a module with `render(summary, options)`, loaded when used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from logdoctor.report.options import RenderOptions

if TYPE_CHECKING:
    from logdoctor.fleet.summary import FleetSummary

FORMATS: tuple[str, ...] = ("terminal", "markdown", "html", "json")


def render(summary: FleetSummary, format_: str, options: RenderOptions) -> str:
    """Return the summary in one of `FORMATS`."""
    if format_ not in FORMATS:
        raise ValueError(f"unknown format {format_!r}; known are {', '.join(FORMATS)}")
    return str(import_module(f"logdoctor.fleet.report_{format_}").render(summary, options))
