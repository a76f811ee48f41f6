"""The published JSON Schema of the JSON report."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def schema_text() -> str:
    """Return the JSON Schema (draft 2020-12) as it is published."""
    return files(__package__).joinpath("schema.json").read_text(encoding="utf-8")


def schema() -> dict[str, Any]:
    """Return the JSON Schema as a dictionary."""
    loaded: dict[str, Any] = json.loads(schema_text())
    return loaded
