"""The arrows between the rooms point one way, and the rooms stay small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "logdoctor"
ORDER = (
    ("model", "wording"),
    ("knowledge",),
    ("reading",),
    ("facts",),
    ("budget", "launch", "probe"),
    ("database",),
    ("diagnosis",),
    ("report",),
    ("pipeline",),
    ("console",),
    ("api",),
    ("fleet", "checking", "commands", "follow", "mcp", "probing", "recipes", "completion"),
    ("_build", "cli", "cli_check", "cli_probe", "cli_fleet", "cli_more", "entry"),
    ("man", "__main__"),
)
"""Rooms from left to right; a room imports only what stands left of it, or itself."""
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
MAX_LINES = 420


def modules() -> list[Path]:
    """Every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    """The room that a module belongs to: the first part of its name below the package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[tuple[str, int]]:
    """The rooms of this package that a module imports, with the line; type-checking imports count too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module == "logdoctor":
            names = [f"logdoctor.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "logdoctor" and len(parts) > 1 and parts[1] in RANK:
                yield parts[1], node.lineno


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    assert room in RANK, f"{room} has no place in the order"
    wrong = [f"line {line}: {other}" for other, line in imported_rooms(path) if RANK[other] > RANK[room]]
    assert wrong == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_over_four_hundred_lines_asks_to_be_two(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
