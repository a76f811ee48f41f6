"""The record of one log: what `--format jsonl` and the fleet's output hold of it, one line of JSON below 64 KiB.

Every key is in every record; null says that a thing is not known. Keys may be added within a schema version, never
removed or retyped. The names are flat, so that a table can be made of them as they are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from logdoctor.model import BootDiagnosis, Diagnosis, Fact, Finding, Verdict
from logdoctor.report.escaping import clip, escape_control, one_line
from logdoctor.report.redaction import Redactor

SCHEMA_VERSION = 1
MAX_BYTES = 64 * 1024 - 1
"""Of one line, its line feed included."""
UNKNOWN = "unknown-failure"
_TEXT = 600
NAME = 300
"""Characters of a name."""
_LIST = 100
_MESSAGE = 4000
_DEAD = frozenset({Verdict.FAILED, Verdict.CRASHED})

_FACTS: Mapping[str, tuple[str, ...]] = {
    "vllm_version": ("vllm.version",),
    "model_name": ("model.name", "args.model"),
    "gpu_name": ("gpu.name",),
    "gpu_count": ("gpu.count",),
    "image": ("image.name",),
}
"""Columns and the facts, in the order of preference, that fill them."""
_NUMBERS = frozenset({"gpu.count"})


def encode(record: Mapping[str, Any]) -> bytes:
    """Return the record as its line; what makes it too long goes, the least telling first."""
    line = _line(record)
    for key, empty in (("starts", None), ("unknown", None), ("earlier", []), ("notes", []), ("findings", [])):
        if len(line) <= MAX_BYTES:
            break
        record = {**record, key: empty, "cut": True}
        line = _line(record)
    return line


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def decode(line: bytes) -> dict[str, Any] | None:
    """Read a line of an output; None when it is no whole record of this version."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("schema_version") != SCHEMA_VERSION:
        return None
    if not all(isinstance(value.get(key), kind) for key, kind in _KINDS.items()):
        return None
    # Control characters are written out in a record; a file that somebody else wrote may hold them as escapes.
    return _escaped(value) if b"\\u" in line else value


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "source": str,
    "key": str,
    "exit_status": int,
    "tool_version": str,
    "database_version": str,
    "verdict": (str, type(None)),
    "error": (str, type(None)),
    "root_cause": (dict, type(None)),
    "unknown": (dict, type(None)),
    "earlier": list,
    "starts": (list, type(None)),
}


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escape_control(value)
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    if isinstance(value, dict):
        return {key: _escaped(item) for key, item in value.items()}
    return value


def shown_source(name: str) -> str:
    """Return a source's name for print: without secrets and user names; hosts in the user's own file names stay."""
    return clip(escape_control(Redactor(keep_hosts=True).text(name)), 2 * NAME)


def base_record(source: str, key: str, versions: tuple[str, str]) -> dict[str, Any]:
    """Return a record with every key; `versions` are those of the tool and of the database."""
    return {
        "schema_version": SCHEMA_VERSION,
        "source": shown_source(source),
        "key": key,
        "verdict": None,
        "summary": "",
        "exit_status": 2,
        "error": None,
        "root_cause": None,
        "findings": [],
        "boots": 0,
        "boots_failed": 0,
        "earlier": [],
        **dict.fromkeys(_FACTS),
        "node": None,
        "pod": None,
        "host": None,
        "directory": None,
        "first_seen": None,
        "last_seen": None,
        "lines": 0,
        "bytes": 0,
        "notes": [],
        "unknown": None,
        "starts": None,
        "cut": False,
        "tool_version": versions[0],
        "database_version": versions[1],
    }


def error_record(source: str, key: str, error: str, versions: tuple[str, str]) -> bytes:
    """Return the line of a log that could not be diagnosed."""
    text = clip(one_line(escape_control(Redactor(keep_hosts=True).text(error))), _TEXT)
    return encode({**base_record(source, key, versions), "summary": f"not read: {text}", "error": text})


def fill_diagnosis(record: dict[str, Any], diagnosis: Diagnosis, earlier: list[dict[str, Any]]) -> None:
    """Write a redacted and escaped diagnosis, led by its only boot, into a record."""
    boot = diagnosis.boot
    root = boot.root_cause if boot else None
    record.update(
        verdict=diagnosis.verdict.value,
        summary=clip(one_line(diagnosis.summary), _TEXT),
        root_cause=cause_record(root, boot) if root and boot else None,
        findings=[finding.id for finding in boot.findings[:_LIST]] if boot else [],
        earlier=earlier,
        notes=[clip(one_line(note), _TEXT) for note in (*diagnosis.notes, *(boot.notes if boot else ()))][:10],
    )
    if boot is None:
        return
    for column, keys in _FACTS.items():
        record[column] = _fact(boot.facts, keys)
    if root is not None and root.id == UNKNOWN and root.evidence:
        record["unknown"] = _unknown(root, boot)


def earlier_causes(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Count the root causes of the boots that do not lead."""
    others = [boot for position, boot in enumerate(diagnosis.boots) if position != diagnosis.leading]
    counts = Counter((root.id, root.fingerprint) for boot in others if (root := boot.root_cause) is not None)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:20]
    return [{"id": id_, "fingerprint": mark, "boots": count} for (id_, mark), count in ordered]


def failed_boots(diagnosis: Diagnosis) -> int:
    """Count the boots that failed or crashed."""
    return sum(boot.verdict in _DEAD for boot in diagnosis.boots)


def cause_record(root: Finding, boot: BootDiagnosis) -> dict[str, Any]:
    """Return what a record says of a root cause."""
    line = root.evidence[0].line if root.evidence else 0
    return {
        "id": root.id,
        "title": clip(one_line(root.title), NAME),
        "severity": root.severity.value,
        "confidence": root.confidence.value,
        "phase": root.phase or boot.phase,
        "line": line or None,
        "fingerprint": root.fingerprint,
    }


def _unknown(root: Finding, boot: BootDiagnosis) -> dict[str, Any]:
    from logdoctor.diagnosis.fingerprints import fold

    text = root.evidence[0].text
    return {
        "template": clip(fold(one_line(text)), _TEXT),
        "text": clip(text, _MESSAGE),
        "process": clip(root.evidence[0].process, 60),
        "phase": boot.phase,
    }


def _fact(facts: Mapping[str, Fact], keys: tuple[str, ...]) -> str | int | None:
    fact = next((facts[key] for key in keys if key in facts), None)
    if fact is None:
        return None
    value = ", ".join(fact.value) if isinstance(fact.value, tuple) else str(fact.value)
    if keys[0] in _NUMBERS:
        # A fact that was given on the command line is text.
        return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None
    return clip(one_line(value), NAME)


def time_text(text: str) -> str | None:
    """Return a time stamp as it may be shown; None for an empty one."""
    return clip(one_line(escape_control(text)), 40) or None
