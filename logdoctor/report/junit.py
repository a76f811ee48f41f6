"""JUnit XML: one test case a log, which fails where the exit status says so.

The case's output is the report as in a pipe, so that whoever opens the failed test reads why.
"""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

from logdoctor.model import Diagnosis, Finding
from logdoctor.report import text
from logdoctor.report.escaping import clip, defuse_commands, one_line
from logdoctor.report.grouping import Groups, explanation, fix_steps, group, in_log_order, stated_by, step_text
from logdoctor.report.headline import boot_views, headline
from logdoctor.report.options import RenderOptions
from logdoctor.report.services import service_of
from logdoctor.report.status import EXIT_FINDING, EXIT_UNDETERMINED, exit_status
from logdoctor.report.values import source_file
from logdoctor.report.words import UNKNOWN_FAILURE, Words

# What XML 1.0 cannot hold in any form.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MESSAGE = 1_000


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return one suite with one case for the leading boot, or one for each boot."""
    views = boot_views(diagnosis, options.all_boots, limit=max(2, len(diagnosis.boots)))
    statuses = [exit_status(view, options.fail_on) for view in views]
    counts = {
        "tests": str(len(views)),
        "failures": str(statuses.count(EXIT_FINDING)),
        "errors": "0",
        "skipped": str(statuses.count(EXIT_UNDETERMINED)),
    }
    suites = ElementTree.Element("testsuites", {"name": "logdoctor", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "logdoctor", **counts})
    for view, status in zip(views, statuses, strict=True):
        _case(suite, view, status, replace(options, all_boots=False), single=len(views) == 1)
    ElementTree.indent(suites)
    document = ElementTree.tostring(suites, "us-ascii" if options.ascii else "unicode")
    body = document.decode("ascii") if isinstance(document, bytes) else document
    body = body[body.index("<testsuites") :]
    return defuse_commands(f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n')


def _case(suite: ElementTree.Element, view: Diagnosis, status: int, options: RenderOptions, single: bool) -> None:
    words, boot, source = Words(options.lang), view.boot, source_file(view)
    groups = group(boot) if boot else Groups()
    name = _xml(_name(view)) if not single else "server start"
    worst = _counting(view, groups)
    line = next((f.evidence[0].line for f in worst[:1] if f.evidence), 0)
    place = {"file": _xml(source), **({"line": str(line)} if line else {})}
    case = ElementTree.SubElement(suite, "testcase", {"classname": _xml(f"logdoctor.{source}"), "name": name, **place})
    properties = ElementTree.SubElement(case, "properties")
    for key, value in (("verdict", view.verdict.value), ("exit_status", str(status))):
        ElementTree.SubElement(properties, "property", {"name": key, "value": value})
    if status == EXIT_FINDING:
        first = worst[0] if worst else None
        message = _xml(clip(one_line(first.title if first else view.summary), _MESSAGE))
        kind = first.id if first else UNKNOWN_FAILURE
        failure = ElementTree.SubElement(case, "failure", {"message": message, "type": _xml(kind)})
        failure.text = _xml("\n".join(_told(worst, words)))
    elif status == EXIT_UNDETERMINED:
        ElementTree.SubElement(case, "skipped", {"message": _xml("; ".join(headline(view, words)))})
    ElementTree.SubElement(case, "system-out").text = _xml(text.render(view, options))


def _name(view: Diagnosis) -> str:
    """Return the name of a boot's test case; with the service whose boot it is where the log holds several."""
    boot = view.boot
    if boot is None:
        return "server start"
    service = service_of(boot, view)
    return f"server start{' of ' if service else ''}{service}, boot {boot.index}"


def _counting(view: Diagnosis, groups: Groups) -> tuple[Finding, ...]:
    """Return what the failure is told with: what the report tells in full, else what there is."""
    return groups.main or groups.also or (view.boot.findings if view.boot else ())


def _told(findings: tuple[Finding, ...], words: Words) -> list[str]:
    lines = []
    for finding in findings[:3]:
        lines.append(explanation(finding))
        for item in in_log_order(finding)[:4]:
            where, _ = stated_by(item, words)
            lines.append(f"{where}: {item.text}" if where else item.text)
        lines += [f"{words('fix').lower()}: {step_text(step)}" for step in fix_steps([finding], words)[:4]]
        if finding.fingerprint:
            lines.append(words("fingerprint", fingerprint=finding.fingerprint))
    return lines


def _xml(value: str) -> str:
    return _FORBIDDEN.sub("", value)
