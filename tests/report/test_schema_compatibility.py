"""The published schema keeps what was released: fields are added, never removed or retyped; enumerations may grow."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from logdoctor.report.json import SCHEMA_VERSION
from logdoctor.report.schema import schema

from .wellformed import SCHEMAS

RELEASED: dict[str, Any] = json.loads((SCHEMAS / f"report-{SCHEMA_VERSION}.json").read_text())


def broken(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Yield what a reader of documents of the old schema could no longer rely on."""
    if not isinstance(new, dict):
        yield f"{at}: gone"
        return
    for key in ("type", "$ref", "const"):
        if old.get(key) != new.get(key):
            yield f"{at}: {key} was {old.get(key)!r}, is {new.get(key)!r}"
    lost = set(old.get("enum", ())) - set(new.get("enum", ()))
    if lost or ("enum" in new and "enum" not in old):
        yield f"{at}: values no longer listed: {sorted(lost)}"
    for name in sorted(set(old.get("required", ())) - set(new.get("required", ()))):
        yield f"{at}.{name}: no longer always present"
    for group in ("properties", "$defs"):
        for name, described in old.get(group, {}).items():
            yield from broken(described, new.get(group, {}).get(name), f"{at}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(old.get(key), dict):
            yield from broken(old[key], new.get(key), f"{at}[]")
    if "anyOf" in old:
        if len(old["anyOf"]) != len(new.get("anyOf", ())):
            yield f"{at}: anyOf has other branches"
        else:
            for one, other in zip(old["anyOf"], new["anyOf"], strict=True):
                yield from broken(one, other, at)


def test_nothing_released_was_removed_or_retyped() -> None:
    assert list(broken(RELEASED, schema())) == []


def test_what_is_new_is_frozen_with_the_next_release() -> None:
    """The copy is not of another version, and holds nothing that the published schema lacks."""
    assert RELEASED["$id"] == schema()["$id"] == f"urn:logdoctor:report:{SCHEMA_VERSION}"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("properties", "verdict"), None),
        (("properties", "summary", "type"), ["string", "null"]),
        (("$defs", "evidence", "properties", "line", "type"), "string"),
        (("$defs", "evidence", "properties", "line", "type"), "integer"),
        (("$defs", "finding", "properties", "remedies"), None),
        (("$defs", "verdict", "enum"), ["ready", "failed"]),
        (("$defs", "boot", "required"), ["index"]),
        (("properties", "boots", "items", "$ref"), "#/$defs/finding"),
        (("properties", "launch", "anyOf"), [{"type": "null"}]),
        (("properties", "redactions", "additionalProperties"), None),
    ],
)
def test_a_breaking_change_is_refused(path: tuple[str, ...], value: Any) -> None:
    changed = copy.deepcopy(RELEASED)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    assert list(broken(RELEASED, changed))


def test_growth_is_allowed() -> None:
    grown = copy.deepcopy(RELEASED)
    grown["properties"]["new"] = {"type": "string"}
    grown["required"].append("new")
    grown["$defs"]["verdict"]["enum"].append("asleep")
    assert list(broken(RELEASED, grown)) == []
