"""Annotations for a step of GitHub Actions, and the text for the summary of its job.

The runner obeys lines that begin with `::`; here they are this module's own, and log text in them is encoded so that
it cannot end one. The runner keeps ten annotations of each level a step, so what counts comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from logdoctor.model import Diagnosis, Finding, Role, Severity
from logdoctor.report import markdown
from logdoctor.report.escaping import clip, defuse_commands, escape_diagnosis, one_line, to_ascii
from logdoctor.report.grouping import explanation, first_fix, first_line, fix_heading
from logdoctor.report.headline import boot_views, boots_left_out, headline
from logdoctor.report.options import RenderOptions
from logdoctor.report.values import source_file
from logdoctor.report.words import Words

_LEVELS = {Severity.FATAL: "error", Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_KEPT = 10
_MESSAGE, _TITLE = 2_000, 200


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the verdict as a line of the step's log, then one annotation per finding."""
    views = boot_views(diagnosis, options.all_boots)
    lines = [line for view in views for line in _lines(view, options)]
    left_out = boots_left_out(diagnosis, views, Words(options.lang))
    return "\n".join([*lines, *([left_out] if left_out else [])]) + "\n"


def step_summary(diagnosis: Diagnosis, options: RenderOptions | None = None) -> str:
    """Return what to append to the file that `GITHUB_STEP_SUMMARY` names, for an already redacted diagnosis."""
    return markdown.render(escape_diagnosis(diagnosis), options or RenderOptions()) + "\n"


def _lines(view: Diagnosis, options: RenderOptions) -> Iterator[str]:
    words = Words(options.lang)
    yield _encoded(defuse_commands(f"logdoctor: {'; '.join(headline(view, words))}"), options)
    used: Counter[str] = Counter()
    for finding in view.boot.findings if view.boot else ():
        # A consequence is no error of its own: it would take the place of one, and raise a second alarm.
        level = "notice" if finding.role is Role.CONSEQUENCE else _LEVELS[finding.severity]
        used[level] += 1
        if used[level] <= _KEPT:
            yield _encoded(_annotation(finding, level, source_file(view), words), options)
        else:
            yield f"{finding.severity.value} {finding.id} ({words('fingerprint', fingerprint=finding.fingerprint)})"


def _annotation(finding: Finding, level: str, file: str, words: Words) -> str:
    parts = [explanation(finding)]
    if finding.explained_by:
        parts.append(words("explained_by", ids=", ".join(finding.explained_by)))
    fix = first_fix([finding], words)
    parts += [f"{fix_heading([finding], words).capitalize()}: {fix}"] if fix else []
    parts += [words("fingerprint", fingerprint=finding.fingerprint)] if finding.fingerprint else []
    message = "\n".join([*(clip(part, _MESSAGE) for part in parts if part)])
    line = first_line(finding)
    title = clip(f"{finding.id}: {one_line(finding.title)}", _TITLE)
    properties = {"file": file, **({"line": str(line)} if line else {}), "title": title}
    said = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {said}::{_data(message)}"


def _data(text: str) -> str:
    # `##[` is obeyed anywhere in a line; encoded it is the same text.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace("##[", "%23#[")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _encoded(line: str, options: RenderOptions) -> str:
    return to_ascii(line) if options.ascii else line
