"""SARIF 2.1.0, for code scanning and whatever else collects results of tools.

Every finding is a result on the line that shows it; consequences are related locations of the result that explains
them, so that one failure raises one alarm. A rule stands for each id that occurs, once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from logdoctor.model import BootDiagnosis, Diagnosis, Evidence, Finding, Role, Severity
from logdoctor.report.escaping import clip, one_line
from logdoctor.report.grouping import explanation, fix_steps, notes, step_text
from logdoctor.report.json import defuse_strings
from logdoctor.report.options import RenderOptions
from logdoctor.report.status import exit_status
from logdoctor.report.values import source_file, told_boots
from logdoctor.report.words import Words

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "logdoctor/v1"
"""Our own key: `primaryLocationLineHash` belongs to whoever uploads the file."""

_LEVELS = {Severity.FATAL: "error", Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_RESULTS, _RELATED, _TAGS, _TEXT = 5_000, 90, 10, 2_000
"""Of what is more, GitHub keeps nothing: 5,000 results, 100 locations a result, 10 tags a rule."""


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return one SARIF log with one run."""
    words = Words(options.lang)
    uri = _uri(source_file(diagnosis))
    results: list[dict[str, Any]] = []
    rules: dict[str, dict[str, Any]] = {}
    for boot in told_boots(diagnosis, options.all_boots):
        for finding, related in _attached(boot):
            if len(results) < _RESULTS:
                for one in (finding, *related):
                    rules.setdefault(one.id, _rule(one, words))
                results.append(_result(finding, related, list(rules).index(finding.id), boot, uri))
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "logdoctor",
                        "version": diagnosis.tool_version or "0",
                        "rules": list(rules.values()),
                        "properties": {"database": diagnosis.database_version},
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "exitCode": exit_status(diagnosis, options.fail_on),
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": _message(note)}} for note in notes(diagnosis)
                        ],
                    }
                ],
                "columnKind": "unicodeCodePoints",
                "results": results,
                "properties": {
                    "verdict": diagnosis.verdict.value,
                    "summary": diagnosis.summary,
                    "boots": len(diagnosis.boots),
                },
            }
        ],
    }
    return defuse_strings(json.dumps(document, ensure_ascii=options.ascii, indent=1)) + "\n"


def _attached(boot: BootDiagnosis) -> Iterable[tuple[Finding, Sequence[Finding]]]:
    """Return the findings that are results, each with the consequences that it explains, in their order."""
    own = [finding for finding in boot.findings if finding.role is not Role.CONSEQUENCE] or list(boot.findings)
    related: dict[int, list[Finding]] = {position: [] for position in range(len(own))}
    names = {finding.id: position for position, finding in reversed(list(enumerate(own)))}
    first = next((i for i, finding in enumerate(own) if finding.role is Role.ROOT_CAUSE), 0)
    for finding in boot.findings:
        if not any(finding is one for one in own):
            related[next((names[id] for id in finding.explained_by if id in names), first)].append(finding)
    return [(finding, related[position]) for position, finding in enumerate(own)]


def _rule(finding: Finding, words: Words) -> dict[str, Any]:
    steps = [step_text(step) for step in fix_steps([finding], words)]
    text = "\n".join(steps) or one_line(finding.cause) or finding.title or finding.id
    tags = [tag for tag in ("vllm", one_line(finding.phase), finding.basis.value) if tag]
    return {
        "id": finding.id,
        "shortDescription": {"text": _message(finding.title) or finding.id},
        "fullDescription": {"text": _message(explanation(finding)) or finding.id},
        "help": {"text": _message(text), "markdown": _message("\n".join(_markdown_steps(finding, words)))},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
        "properties": {"tags": list(dict.fromkeys(tags))[:_TAGS]},
    }


def _markdown_steps(finding: Finding, words: Words) -> Iterable[str]:
    from logdoctor.report.escaping import code_span, markdown_text

    yield markdown_text(finding.cause or finding.title) or finding.id
    for step in fix_steps([finding], words):
        reason = ", ".join(part for part in (step.summary, step.condition) if part)
        typed = f"{step.verb} {code_span(step.command)}" if step.command else ""
        yield f"- {': '.join(part for part in (typed, markdown_text(reason)) if part)}"


def _result(finding: Finding, related: Sequence[Finding], rule: int, boot: BootDiagnosis, uri: str) -> dict[str, Any]:
    first, *more = finding.evidence or (Evidence(0, "", ""),)
    others = [
        _related(item, uri, _message(f"{item.process}: {item.text}" if item.process else item.text)) for item in more
    ]
    others += [_consequence(one, uri) for one in related]
    numbered = [{"id": number, **location} for number, location in enumerate(others[:_RELATED], 1)]
    result = {
        "ruleId": finding.id,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(explanation(finding)) or finding.id},
        "locations": [{"physicalLocation": _place(first, uri)}],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint} if finding.fingerprint else {},
        "relatedLocations": numbered,
        "properties": {
            "severity": finding.severity.value,
            "role": finding.role.value,
            "confidence": finding.confidence.value,
            "basis": finding.basis.value,
            "phase": finding.phase,
            "boot": boot.index,
        },
    }
    return {key: value for key, value in result.items() if value or key in ("ruleIndex", "message")}


def _consequence(finding: Finding, uri: str) -> dict[str, Any]:
    item = finding.evidence[0] if finding.evidence else Evidence(0, "", "")
    told = {"id": finding.id, "severity": finding.severity.value, "role": finding.role.value}
    location = _related(item, uri, _message(finding.title) or finding.id)
    return {**location, "properties": {**told, "fingerprint": finding.fingerprint}}


def _related(item: Evidence, uri: str, text: str) -> dict[str, Any]:
    return {"physicalLocation": _place(item, uri), "message": {"text": text or "-"}}


def _place(item: Evidence, uri: str) -> dict[str, Any]:
    """Return a location in the file that the reader holds; a finding without a line stands on the first."""
    region: dict[str, Any] = {"startLine": max(1, item.line)}
    if item.text:
        region["snippet"] = {"text": clip(item.text, _TEXT)}
    return {"artifactLocation": {"uri": uri}, "region": region}


def _uri(name: str) -> str:
    return quote(name.replace("\\", "/").lstrip("/"), safe="/-._~", errors="replace") or "stdin.log"


# In a message, `{0}` stands for an argument and `[text](1)` for a link: log text may be neither.
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def _message(text: str) -> str:
    return _PLACEHOLDER.sub(r"{{\1}}", clip(text, _TEXT)).replace("](", "] (")
