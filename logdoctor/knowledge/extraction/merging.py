"""Snapshots of releases to and from the compact form of `data/versions.json`.

`expand` unrolls the file into one snapshot per release, `compress` rolls snapshots up again, and one undoes the
other; so merging a release is: expand, put its snapshot in, compress.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from logdoctor.knowledge.extraction.snapshot import ARCHITECTURE_PATTERN, Snapshot
from logdoctor.knowledge.releases import Version, parse_version

ABOUT = (
    "What each vLLM release has, read from its wheel by `python -m logdoctor.knowledge.regenerate`. "
    "Ranges are inclusive and run over `versions`: 'A..B', 'A', or 'A+' (to the newest). "
    "'history' lists [since, value]. "
    "A range that begins at the first of `versions` means that release or an earlier one."
)
TABLES = (
    "env",
    "flags",
    "reasoning_parsers",
    "tool_parsers",
    "quantization_methods",
    "attention_backends",
    "architectures",
)
# Attributes whose past is kept, by table; the rest (`bool`) is one value for all releases, the newest one's.
_TRACKED = {"env": ("choices", "deprecated"), "flags": ("choices", "alias", "deprecated")}
_CONSTANT = {"flags": ("bool",)}

Document = dict[str, Any]
Snapshots = dict[str, Snapshot]


def order(text: str) -> Version:
    """Return the sort key of a release in the file."""
    version = parse_version(text)
    if version is None:
        raise ValueError(f"not a vLLM release: {text!r}")
    return version


def expand(document: Mapping[str, Any]) -> Snapshots:
    """Unroll the file into one snapshot per release."""
    versions: list[str] = document["versions"]
    snapshots = {version: Snapshot(version, {table: {} for table in TABLES}) for version in versions}
    for table in TABLES:
        for name, entry in document[table].items():
            record = {"in": entry} if isinstance(entry, str) else entry
            for version in _present(record["in"], versions):
                snapshots[version].tables[table][name] = {
                    key: value
                    for key, kept in record.items()
                    if key != "in" and (value := _value_at(kept, version)) is not None
                }
    for table, history in document["log_names"].items():
        for version in versions:
            snapshots[version].log_names[table] = _value_at({"history": history}, version) or []
    return snapshots


def _present(ranges: str, versions: list[str]) -> list[str]:
    found: list[str] = []
    for part in ranges.split(","):
        first, dots, last = part.removesuffix("+").partition("..")
        start = versions.index(first)
        end = len(versions) - 1 if part.endswith("+") else versions.index(last if dots else first)
        found += versions[start : end + 1]
    return found


def _value_at(kept: Any, version: str) -> Any:
    if not isinstance(kept, dict) or "history" not in kept:
        return kept
    value = None
    for since, item in kept["history"]:
        if order(since) <= order(version):
            value = item
    return value


def compress(snapshots: Mapping[str, Snapshot]) -> Document:
    """Roll snapshots up into the form of the file."""
    versions = sorted(snapshots, key=order)
    document: Document = {"about": ABOUT, "versions": versions, "architecture_pattern": ARCHITECTURE_PATTERN}
    for table in TABLES:
        names = sorted({name for snapshot in snapshots.values() for name in snapshot.tables.get(table, ())})
        document[table] = {name: _entry(table, name, versions, snapshots) for name in names}
    logged = {table for snapshot in snapshots.values() for table in snapshot.log_names}
    document["log_names"] = {
        table: _changes([(version, snapshots[version].log_names.get(table) or None) for version in versions])
        for table in sorted(logged)
    }
    return document


def _entry(table: str, name: str, versions: list[str], snapshots: Mapping[str, Snapshot]) -> Any:
    records = [(version, snapshots[version].tables.get(table, {}).get(name)) for version in versions]
    having = [(version, record) for version, record in records if record is not None]
    ranges = _ranges([version for version, _ in having], versions)
    if table not in _TRACKED:
        return ranges
    entry: dict[str, Any] = {"in": ranges}
    for key in _CONSTANT.get(table, ()):
        if (value := having[-1][1].get(key)) is not None:
            entry[key] = value
    for key in _TRACKED[table]:
        changes = _changes([(version, record.get(key)) for version, record in having])
        if changes:
            whole = len(changes) == 1 and changes[0][0] == having[0][0]
            entry[key] = changes[0][1] if whole else {"history": changes}
    return entry


def _ranges(having: list[str], versions: list[str]) -> str:
    runs: list[list[str]] = []
    present = set(having)
    previous = False
    for version in versions:
        if version in present:
            if previous:
                runs[-1][1] = version
            else:
                runs.append([version, version])
        previous = version in present
    newest = versions[-1]
    return ",".join(
        f"{first}+" if last == newest else first if first == last else f"{first}..{last}" for first, last in runs
    )


def _changes(values: list[tuple[str, Any]]) -> list[list[Any]]:
    """Keep the values that differ from the one before; leading Nones say nothing."""
    changes: list[list[Any]] = []
    for version, value in values:
        if (changes and changes[-1][1] != value) or (not changes and value is not None):
            changes.append([version, value])
    return changes


def merge(document: Mapping[str, Any] | None, snapshots: list[Snapshot]) -> Document:
    """Return the data with the snapshots put in, each in place of an earlier one of its release."""
    merged = expand(document) if document else {}
    merged.update({snapshot.version: snapshot for snapshot in snapshots})
    return compress(merged)


def shrunk(before: Mapping[str, Any] | None, snapshot: Snapshot) -> list[str]:
    """Name the tables that hold far fewer names than in the release before: the sources have probably moved."""
    if not before:
        return [f"{table}: nothing found" for table in TABLES if not snapshot.tables[table]]
    older = [version for version in before["versions"] if order(version) <= order(snapshot.version)]
    if not older:
        return []
    neighbour = expand(before)[older[-1]]
    return [
        f"{table}: {len(snapshot.tables[table])} names, but {len(neighbour.tables[table])} in {older[-1]}"
        for table in TABLES
        if len(snapshot.tables[table]) < 0.7 * len(neighbour.tables[table])
    ]


def dump(document: Mapping[str, Any]) -> str:
    """Write the data compactly, one name a line, so that a release shows as a small diff."""
    parts = []
    for key, value in document.items():
        if isinstance(value, dict):
            lines = ",\n".join(f" {json.dumps(name)}:{_compact(item)}" for name, item in value.items())
            parts.append(f"{json.dumps(key)}:{{\n{lines}\n}}")
        else:
            parts.append(f"{json.dumps(key)}:{_compact(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
