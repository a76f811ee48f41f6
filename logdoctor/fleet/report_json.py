"""The summary for programs: one JSON document, every key always there, versioned like the records."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from logdoctor.fleet.summary import SCHEMA_VERSION, Cause, Count, FleetSummary, Group, Unknown
from logdoctor.fleet.together import Member, Start
from logdoctor.report.options import RenderOptions


def render(summary: FleetSummary, options: RenderOptions) -> str:
    """Return the summary as JSON."""
    return json.dumps(document(summary), ensure_ascii=options.ascii, indent=2) + "\n"


def document(summary: FleetSummary) -> dict[str, Any]:
    """Return the summary as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"version": summary.tool_version, "database": summary.database_version},
        "exit_status": summary.status,
        "logs": summary.logs,
        "not_read": summary.not_read,
        "verdicts": _counts(summary.verdicts),
        "first_seen": summary.first_seen or None,
        "last_seen": summary.last_seen or None,
        "causes": [_cause(cause) for cause in summary.causes],
        "unknown": [_unknown(unknown) for unknown in summary.unknown],
        "baseline": None
        if summary.baseline_logs is None
        else {"logs": summary.baseline_logs, "gone": _counts(summary.gone)},
        "troubles": [{"source": one.source, "error": one.error} for one in summary.troubles],
        "starts": [_start(start) for start in summary.starts],
    }


def _counts(counts: Iterable[Count]) -> list[dict[str, Any]]:
    return [{"name": one.name, "count": one.count} for one in counts]


def _group(group: Group) -> dict[str, Any]:
    return {
        "logs": group.count,
        "fingerprints": _counts(group.fingerprints),
        **{dimension: _counts(counts) for dimension, counts in group.by.items()},
        "different": dict(group.different),
        "first_seen": group.first_seen or None,
        "last_seen": group.last_seen or None,
        "sources": list(group.sources),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "title": cause.title,
        "severity": cause.severity,
        **_group(cause.group),
        "earlier_boots": cause.earlier,
        "before": cause.before,
        "new": cause.new if cause.before is not None else None,
        "new_fingerprints": list(cause.new_fingerprints),
    }


def _unknown(unknown: Unknown) -> dict[str, Any]:
    return {
        "template": unknown.template,
        "text": unknown.text,
        "phase": unknown.phase,
        **_group(unknown.group),
        "before": unknown.before,
        "new": unknown.new if unknown.before is not None else None,
        "draft": unknown.draft,
    }


def _start(start: Start) -> dict[str, Any]:
    began = start.began
    return {
        "start": start.number,
        "failed": start.failed,
        "world_size": start.world_size,
        "ranks_missing": list(start.ranks_missing),
        "began": None
        if began is None
        else {
            "source": began.source,
            "where": began.where,
            "node_rank": began.node_rank,
            "rank": began.rank,
            "process": began.process,
            "cause": began.cause,
            "title": began.title,
            "at": began.failed_at or None,
        },
        "reason": start.reason,
        "logs": [_member(member) for member in start.members],
    }


def _member(member: Member) -> dict[str, Any]:
    return {
        "source": member.source,
        "where": member.where,
        "boot": member.boot,
        "verdict": member.verdict,
        "node_rank": member.node_rank,
        "ranks": list(member.ranks),
        "met_at": list(member.met_at),
        "cause": member.cause or None,
        "fingerprint": member.fingerprint or None,
        "failed_at": member.failed_at or None,
        "first_seen": member.first_seen or None,
        "last_seen": member.last_seen or None,
    }
