"""A corrected launch as lines: what changes, and what to paste."""

from __future__ import annotations

from logdoctor.model import Launch

MAX_CHANGES = 60
"""Lines of a change that a report shows."""


def is_changed(launch: Launch | None) -> bool:
    """Whether there is a corrected launch to show."""
    return launch is not None and launch.original != launch.corrected


def change_lines(launch: Launch) -> tuple[list[str], int]:
    """Return the lines of the change as a diff has them, without its head, and how many more there are."""
    lines = launch.diff.split("\n")[2:]
    return lines[:MAX_CHANGES], max(len(lines) - MAX_CHANGES, 0)


def paste_lines(launch: Launch) -> list[str]:
    """Return what to paste: one line, never wrapped; the corrected text where there is no such line."""
    return (launch.ready_command.strip() or launch.corrected.strip("\n")).split("\n")
