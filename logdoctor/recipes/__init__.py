"""Recipes: tested pieces of configuration that run logdoctor where servers run, as package data.

Each recipe is one file beside this module, complete and ready to use; its first lines say what it does and what to put
in. `logdoctor recipe NAME` prints it.
"""

from __future__ import annotations

from importlib.resources import files


def names() -> tuple[str, ...]:
    """Return the names of all recipes."""
    return tuple(sorted(_files()))


def text(name: str) -> str | None:
    """Return a recipe as it stands; None when there is none of this name."""
    file = _files().get(name)
    return None if file is None else files(__package__).joinpath(file).read_text(encoding="utf-8")


def summary(name: str) -> str:
    """Return what a recipe is for: its first line of comment."""
    lines = (text(name) or "").splitlines()
    first = next((line for line in lines if line.startswith("# ")), "")
    return first.removeprefix("# ").rstrip(".")


def listing() -> str:
    """Return all recipes with what they are for, one a line."""
    width = max(map(len, names()))
    return "\n".join(f"{name:{width}}  {summary(name)}" for name in names())


def _files() -> dict[str, str]:
    """Return the files by the names of their recipes; what comes after the first dot is the kind of file."""
    found = (item.name for item in files(__package__).iterdir() if item.is_file())
    return {name.partition(".")[0]: name for name in found if not name.startswith(("_", ".")) and ".py" not in name}
