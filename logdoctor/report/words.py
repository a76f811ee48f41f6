"""The fixed words of the reports, by language, and the characters that draw.

Only the tool's own words stand here. Log text and commands are never translated, and a word that a language
lacks falls back to English one by one.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass

UNKNOWN_FAILURE = "unknown-failure"
"""Id of the finding that stands for a failure without a signature."""

ENGLISH: Mapping[str, str] = {
    "verdict.ready": "READY",
    "verdict.degraded": "DEGRADED",
    "verdict.starting": "STARTING",
    "verdict.stalled": "STALLED",
    "verdict.failed": "FAILED",
    "verdict.crashed": "CRASHED",
    "verdict.stopped": "STOPPED",
    "verdict.undetermined": "UNDETERMINED",
    "verdict.launch": "LAUNCH LOOKS RIGHT",
    "after": "after {time}",
    "after_start": "{time} after start",
    "before_up": "before it was up",
    "orderly": "in good order",
    "no_boot": "no vLLM start recognised in this input",
    "cannot_tell": "the log does not show whether the server is up",
    "give_all": "Give it the whole log of the server, both streams:",
    "give_all_command": "docker logs NAME 2>&1 | logdoctor",
    "boot_of": "boot {index} of {count}",
    "same_both": "both died the same way",
    "same_all": "all {count} died the same way",
    "same_some": "{same} of them died of this",
    "same_none": "no other boot died this way",
    "others_failed": "{failed} other boots failed",
    "others_failed_one": "1 other boot failed",
    "own_boot_of": "its boot {index} of {count}",
    "of_service": "{verdict} {service}",
    "service_verdict": "{service}: {verdict}",
    "beside": "beside it: {services}",
    "service_state": "{service} {state}",
    "unsigned": "a service without a name",
    "comma": ", ",
    "boots_left_out": "Boots {boots} of {count} are left out here; the JSON report holds every boot.",
    "kv_cache": "KV cache {tokens} tokens",
    "concurrency": "{factor}x concurrency at {length} tokens",
    "concurrency_bare": "{factor}x concurrency",
    "progress": "{what} {done} of {total}",
    "left": "about {seconds} s left",
    "shards": "shard",
    "graphs": "graph",
    "inferred": "inferred",
    "inferred_from": "inferred: {gib} GiB",
    "given": "given",
    "launch": "launch file",
    "root_cause": "ROOT CAUSE",
    "one_of": "CAUSE {number} OF {count}",
    "undecided": "Each of these {count} causes explains the log; the log alone does not decide between them.",
    "unknown_failure": "UNKNOWN FAILURE",
    "not_in_database": "not in the database",
    "report_unknown": "To report it, send the redacted draft that this prints:",
    "report_unknown_command": "logdoctor --format issue LOG",
    "decide": "DECIDE",
    "found": "FOUND",
    "fix": "FIX",
    "next": "NEXT",
    "also": "ALSO",
    "noted": "NOTED",
    "noted_folded": "nothing to do",
    "explained": "EXPLAINED AWAY",
    "boots": "BOOTS",
    "start": "START",
    "memory": "MEMORY",
    "note": "NOTE",
    "command": "CORRECTED COMMAND",
    "unknown_parts": "not known from the log",
    "or": "or",
    "and": "and",
    "verb.flag": "add",
    "verb.env": "set",
    "verb.remove": "remove",
    "verb.image": "use image",
    "verb.host": "run",
    "verb.config": "change",
    "verb.docker": "docker run: add",
    "verb.dockerfile": "Dockerfile: add",
    "verb.advice": "run",
    "verify": "verify",
    "if": "if {condition}",
    "holds_if": "holds if {condition}",
    "line": "line {line}",
    "by.probe": "by the probe",
    "by.launch": "in the launch",
    "by.given": "as given",
    "more": "and {count} more",
    "more_alike": "{count} more like this",
    "again_many": "again on lines {lines}",
    "again": "again on line {lines}",
    "on_ranks": "on ranks {ranks}",
    "basis": "basis: {basis}",
    "confidence.certain": "certain",
    "confidence.likely": "likely",
    "confidence.possible": "possible",
    "basis.source": "source",
    "basis.maintainers": "maintainers",
    "basis.field-report": "field report",
    "role.root_cause": "root cause",
    "role.contributing": "contributing",
    "role.consequence": "consequence",
    "role.notice": "notice",
    "explained_by": "consequence of {ids}",
    "fingerprint": "fingerprint {fingerprint}",
    "explain": "logdoctor explain {id}",
    "redacted": "redacted: {kinds}",
    "versions": "logdoctor {tool}, signature database {database}",
    "evidence": "Evidence",
    "facts": "Facts",
    "findings": "Other findings",
    "phases": "Start and memory",
    "references": "References",
    "check": "Check",
    "left_out": "Left out to keep this text short: {what}.",
    "issue.environment": "Environment",
    "issue.command": "Command",
    "issue.what": "What happened",
    "issue.errors": "First error of each process",
    "issue.findings": "What logdoctor found",
    "issue.verdict": "state at the end of the log",
    "issue.phase": "phase",
    "issue.no_process": "process not named",
    "issue.unknown": "Draft of a bug report. This failure is not in logdoctor's signature database.",
    "issue.new": "To draft an entry for it from the same log:",
    "issue.new_command": "logdoctor signatures new LOG",
    "issue.known": "Draft of a bug report. logdoctor knows this failure as {ids}: try its fix before reporting it.",
    "issue.references": "See also {references}.",
    "html.copy": "Copy",
    "html.copied": "Copied",
    "html.around": "The lines around it",
    "html.timeline": "timeline of the start",
    "html.phase": "phase",
    "html.share": "share of the time",
    "html.duration": "time",
    "html.lines": "lines",
    "html.died": "died here",
    "html.free": "free or not named",
    "html.share_of": "{total} GiB of memory; the share {utilization} allows {limit} GiB (dashed line).",
    "html.budget_bar": "The memory of the device as a bar; the table below holds its numbers.",
    "html.boots_before": "The {count} boots before these are left out here.",
    "html.applied": "changed",
    "html.skipped": "not changed",
    "html.notes": "Notes",
    "backend.nvfp4.linear_backend": "NVFP4 linear {name}",
    "backend.nvfp4.moe_backend": "NVFP4 experts {name}",
    "backend.fp8.linear_backend": "FP8 linear {name}",
    "backend.fp8.moe_backend": "FP8 experts {name}",
    "backend.mxfp4.moe_backend": "MXFP4 experts {name}",
    "backend.unquantized.moe_backend": "experts {name}",
    "backend.attention.backend": "attention {name}",
    "backend.mamba.backend": "Mamba {name}",
    "phase.launch": "at the launch",
    "phase.command-line": "at the command line",
    "phase.config": "while configuring",
    "phase.platform": "while checking the device",
    "phase.distributed": "while the processes were connecting",
    "phase.weights": "while loading weights",
    "phase.kernel-selection": "while choosing kernels",
    "phase.profiling": "during profiling (warm-up)",
    "phase.kv-cache": "while setting up the KV cache",
    "phase.compile": "while compiling",
    "phase.graph-capture": "while capturing graphs",
    "phase.server-start": "while the API server was starting",
    "phase.serving": "while serving",
    "phase.shutdown": "during shutdown",
    "short.launch": "launch",
    "short.command-line": "command line",
    "short.config": "config",
    "short.platform": "platform",
    "short.distributed": "distributed",
    "short.weights": "weights",
    "short.kernel-selection": "kernels",
    "short.profiling": "profiling",
    "short.kv-cache": "KV cache",
    "short.compile": "compile",
    "short.graph-capture": "graphs",
    "short.server-start": "server",
    "short.serving": "serving",
    "short.shutdown": "shutdown",
    "number.3": "three",
    "number.4": "four",
    "number.5": "five",
    "number.6": "six",
    "number.7": "seven",
    "number.8": "eight",
    "number.9": "nine",
    "number.10": "ten",
}

LANGUAGES = ("en", "zh")
"""Languages that the tool's own words exist in; log text is never translated."""


def _words_of(lang: str) -> Mapping[str, str]:
    if lang == "zh":
        from logdoctor.report.words_zh import CHINESE

        return CHINESE
    return {}


class Words:
    """The words of one language; a call fills in the numbers."""

    def __init__(self, lang: str = "en") -> None:
        self._words = ChainMap(dict(_words_of(lang)), dict(ENGLISH))

    def __call__(self, key: str, **values: object) -> str:
        """Return the word for `key`, its `{places}` filled in; values are never read as templates."""
        word = self._words[key]
        return word.format(**values) if values else word

    def get(self, key: str, default: str) -> str:
        """Return the word for `key`, or `default` where there is none (a phase this release does not know)."""
        return self._words.get(key, default)


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters that draw, in a set that the output's encoding can hold."""

    dot: str
    """Separates statements on a line."""
    ellipsis: str
    times: str
    died: str
    """Marks the phase in which the start ended."""
    bar: str
    """A phase's bar."""
    sliver: str
    """A bar too short for one cell."""
    shades: str
    """Fillings of the parts of the memory bar, in order."""
    free: str
    """Filling of what no part claims."""


UNICODE = Glyphs(dot="·", ellipsis="…", times="×", died="✗", bar="█", sliver="▏", shades="█▓▒░▚▞", free="·")
ASCII = Glyphs(dot="-", ellipsis="...", times="x", died="x", bar="#", sliver="|", shades="#=+.%o", free="-")


def glyphs(ascii_only: bool) -> Glyphs:
    """Return the set of drawing characters for this output."""
    return ASCII if ascii_only else UNICODE
