"""GitLab's Code Quality report: an array with one entry per finding of the log.

The format has no place for a verdict: an empty array says that nothing was found, not that the server is up.
"""

from __future__ import annotations

import json
from typing import Any

from logdoctor.model import Diagnosis, Finding, Severity
from logdoctor.report.escaping import clip
from logdoctor.report.grouping import explanation, first_fix, first_line, fix_heading
from logdoctor.report.json import defuse_strings
from logdoctor.report.options import RenderOptions
from logdoctor.report.values import source_file, told_boots
from logdoctor.report.words import Words

_SEVERITIES = {
    Severity.FATAL: "blocker",
    Severity.ERROR: "critical",
    Severity.WARNING: "major",
    Severity.INFO: "info",
}
_TEXT = 2_000


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the findings of the leading boot, or of all boots, each fingerprint once."""
    words, path = Words(options.lang), source_file(diagnosis)
    entries: dict[str, dict[str, Any]] = {}
    for boot in told_boots(diagnosis, options.all_boots):
        for finding in boot.findings:
            entry = _entry(finding, path, words)
            entries.setdefault(entry["fingerprint"], entry)
    return defuse_strings(json.dumps(list(entries.values()), ensure_ascii=options.ascii, indent=1)) + "\n"


def _entry(finding: Finding, path: str, words: Words) -> dict[str, Any]:
    fix = first_fix([finding], words)
    text = explanation(finding) or finding.id
    if finding.explained_by:
        text += f" ({words('explained_by', ids=', '.join(finding.explained_by))})"
    return {
        "description": clip(f"{text} {fix_heading([finding], words).capitalize()}: {fix}" if fix else text, _TEXT),
        "check_name": finding.id,
        # GitLab drops all but one of the entries that share a fingerprint.
        "fingerprint": finding.fingerprint or finding.id,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": max(1, first_line(finding))}},
    }
