"""Metrics for the textfile collector of Prometheus' node exporter.

No time stamps, with which the collector refuses a file, and no log text: labels hold the name of the input, ids and
words of fixed sets. Write it with `--output`, which makes the file appear whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from logdoctor.model import Diagnosis, Role
from logdoctor.report.escaping import to_ascii
from logdoctor.report.headline import boots_summary
from logdoctor.report.options import RenderOptions
from logdoctor.report.status import exit_status
from logdoctor.report.values import source_file

_METRICS = {
    "logdoctor_verdict": "State of the last start in the log; the value is always 1.",
    "logdoctor_exit_status": "Exit status of logdoctor: 0 nothing found, 1 a finding, 3 undetermined.",
    "logdoctor_finding": "Findings of the last start in the log; the value is always 1.",
    "logdoctor_root_cause_info": "Fingerprint of the cause, equal for equal failures; the value is always 1.",
    "logdoctor_boots": "Starts of the server in the log.",
    "logdoctor_boots_failed": "Starts in the log that failed or crashed.",
    "logdoctor_log_lines": "Number of the last line of the log that belongs to a start.",
}


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the metrics, each with its help and type once."""
    lines: list[str] = []
    for name, samples in _samples(diagnosis, options).items():
        lines += [f"# HELP {name} {_METRICS[name]}", f"# TYPE {name} gauge"]
        lines += [f"{name}{{{labels}}} {value}" for labels, value in samples.items()]
    return "\n".join(lines) + "\n"


def _samples(diagnosis: Diagnosis, options: RenderOptions) -> Mapping[str, Mapping[str, int]]:
    """Return the value of each set of labels by metric; a set occurs once."""
    boot, summary = diagnosis.boot, boots_summary(diagnosis)
    source = to_ascii(source_file(diagnosis)) if options.ascii else source_file(diagnosis)
    findings = boot.findings if boot else ()
    every = {
        "logdoctor_verdict": [(_labels(source, verdict=diagnosis.verdict.value), 1)],
        "logdoctor_exit_status": [(_labels(source), exit_status(diagnosis, options.fail_on))],
        "logdoctor_finding": [
            (_labels(source, id=f.id, severity=f.severity.value, role=f.role.value), 1) for f in findings
        ],
        "logdoctor_root_cause_info": [
            (_labels(source, id=f.id, fingerprint=f.fingerprint), 1) for f in findings if f.role is Role.ROOT_CAUSE
        ],
        "logdoctor_boots": [(_labels(source), len(diagnosis.boots))],
        "logdoctor_boots_failed": [(_labels(source), summary.failed if summary else 0)],
        "logdoctor_log_lines": [(_labels(source), max((b.lines[1] for b in diagnosis.boots), default=0))],
    }
    return {name: dict(samples) for name, samples in every.items() if samples}


def _labels(source: str, **labels: str) -> str:
    return ",".join(_pairs({"source": source, **labels}))


def _pairs(labels: Mapping[str, str]) -> Iterator[str]:
    for name, value in labels.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        # GitHub's runner obeys `##[` anywhere in a line; no file is called so by accident.
        yield f'{name}="{escaped.replace("##[", "# #[")}"'
