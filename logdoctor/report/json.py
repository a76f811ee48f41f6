"""The report for programs: one JSON document, versioned, described key by key in `schema.json`.

Keys stand in a fixed order and are always present; null says that a thing is not known or does not exist here.
Numbers are numbers. There is no clock in it: the same input and database give the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from logdoctor.model import (
    BootDiagnosis,
    Budget,
    Diagnosis,
    Evidence,
    Fact,
    FactValue,
    Finding,
    Launch,
    PhaseSpan,
    Remedy,
)
from logdoctor.report.headline import boots_summary
from logdoctor.report.options import RenderOptions

SCHEMA_VERSION = 1
"""Rises when a key is removed or changes its type; new keys and new enum values come without a rise."""

_Layout = Mapping[str, Any]
_LIST: _Layout = {}
_FINDING: _Layout = {"evidence": _LIST, "remedies": _LIST}
_BOOT: _Layout = {
    "facts": _LIST,
    "findings": {"": _FINDING},
    "timeline": _LIST,
    "budget": {"parts": _LIST},
}
_LAYOUT: _Layout = {"boots": {"": _BOOT}, "launch": _LIST}
"""What is laid out with one entry a line, by key (`""` for the items of a list); all else stands on its entry's line.

So every fact, piece of evidence and remedy is one line, which reads well and lets C code write it.
"""


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the diagnosis as one JSON document, laid out on lines."""
    encode = json.JSONEncoder(ensure_ascii=options.ascii, allow_nan=False).encode
    return defuse_strings("".join(_laid_out(to_dict(diagnosis), _LAYOUT, encode, "\n"))) + "\n"


def defuse_strings(document: str) -> str:
    """Return a JSON document in which no text can be taken for a command of GitHub's runner.

    The runner obeys `##[name]` anywhere in a line. Such text stands only inside strings, where this means the same.
    """
    return document.replace("##[", "\\u0023#[")


def _laid_out(value: Any, layout: _Layout | None, encode: Callable[[Any], str], margin: str) -> Iterator[str]:
    """Yield the pieces of a value's text; `margin` is the line end with the indentation of the value's first line."""
    if layout is None or not value:
        yield encode(value)
        return
    inner = margin + "  "
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    entries = value.items() if isinstance(value, dict) else (("", item) for item in value)
    lead = opened + inner
    for key, item in entries:
        yield f"{lead}{encode(key)}: " if opened == "{" else lead
        yield from _laid_out(item, layout.get(key), encode, inner)
        lead = "," + inner
    yield margin + closed


def to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the diagnosis as the dictionaries, lists, texts and numbers of the JSON contract."""
    summary = boots_summary(diagnosis)
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "logdoctor", "version": diagnosis.tool_version, "database": diagnosis.database_version},
        "source": diagnosis.source,
        "verdict": diagnosis.verdict.value,
        "summary": diagnosis.summary,
        "boots_summary": None
        if summary is None
        else {
            "count": summary.count,
            "leading": summary.leading,
            "failed": summary.failed,
            "same_cause": summary.same_cause,
        },
        "boots": [_boot(boot) for boot in diagnosis.boots],
        "launch": _launch(diagnosis.launch),
        "redactions": dict(sorted(diagnosis.redactions.items())),
        "notes": list(diagnosis.notes),
    }


def _boot(boot: BootDiagnosis) -> dict[str, Any]:
    root = boot.root_cause
    return {
        "index": boot.index,
        "verdict": boot.verdict.value,
        "phase": boot.phase,
        "lines": list(boot.lines),
        "summary": boot.summary,
        "seconds": _number(boot.seconds),
        "root_cause": root.id if root else None,
        "facts": {key: _fact(boot.facts[key]) for key in sorted(boot.facts)},
        "findings": [_finding(finding) for finding in boot.findings],
        "timeline": [_span(span) for span in boot.timeline],
        "budget": _budget(boot.budget),
        "notes": list(boot.notes),
        "service": boot.service or None,
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {"value": _value(fact.value), "line": fact.line or None, "process": fact.process, "origin": fact.origin}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "title": finding.title,
        "severity": finding.severity.value,
        "role": finding.role.value,
        "confidence": finding.confidence.value,
        "basis": finding.basis.value,
        "cause": finding.cause,
        "phase": finding.phase,
        "evidence": [_evidence(item) for item in finding.evidence],
        "count": finding.count,
        "ranks": list(finding.ranks),
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
        "verify": finding.verify,
        "explained_by": list(finding.explained_by),
        "conditional": list(finding.conditional),
        "references": list(finding.references),
        "fingerprint": finding.fingerprint,
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    return {
        "line": item.line or None,
        "process": item.process,
        "text": item.text,
        "before": list(item.before),
        "after": list(item.after),
    }


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "summary": remedy.summary,
        "kind": remedy.kind,
        "command": remedy.command,
        "condition": remedy.condition,
        "finding": remedy.finding,
        "with_previous": remedy.with_previous,
    }


def _span(span: PhaseSpan) -> dict[str, Any]:
    return {
        "phase": span.phase,
        "lines": [span.first_line, span.last_line],
        "start": span.start,
        "seconds": _number(span.seconds),
    }


def _budget(budget: Budget | None) -> dict[str, Any] | None:
    if budget is None:
        return None
    parts = [{"name": part.name, "gib": _number(part.gib), "line": part.line or None} for part in budget.parts]
    return {
        "total_gib": _number(budget.total_gib),
        "utilization": _number(budget.utilization),
        "parts": parts,
        "note": budget.note,
    }


def _launch(launch: Launch | None) -> dict[str, Any] | None:
    if launch is None:
        return None
    return {
        "original": launch.original,
        "corrected": launch.corrected,
        "unknown": list(launch.unknown),
        "ready_command": launch.ready_command,
        "applied": list(launch.applied),
        "skipped": list(launch.skipped),
    }


def _value(value: FactValue) -> Any:
    """Return a fact's value for JSON; a number that JSON cannot hold becomes text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _number(value: float | None) -> float | None:
    """Return a number, or None where it is unknown or JSON has none for it."""
    return value if value is not None and math.isfinite(value) else None
