"""A draft of a bug report to vLLM's developers: what they ask for, as far as the log tells, redacted.

It is in English, whatever the language of the other forms. It states what was observed and claims nothing about
vLLM's code. Where the database knows the failure it says so, so that nobody reports what has an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from logdoctor.model import BootDiagnosis, Diagnosis, Evidence, Finding, Severity
from logdoctor.report.escaping import (
    clip,
    code_span,
    defuse_commands,
    escape_control,
    fenced,
    markdown_text,
    one_line,
    to_ascii,
)
from logdoctor.report.grouping import Groups, explanation, group, notes, redaction_text
from logdoctor.report.headline import headline
from logdoctor.report.options import RenderOptions
from logdoctor.report.parts import Part, fit
from logdoctor.report.values import origin_text, value_text
from logdoctor.report.words import UNKNOWN_FAILURE, Words, glyphs

MAX_CHARACTERS = 60_000
_ENVIRONMENT = ("vllm.", "gpu.", "torch.", "cuda.", "nccl.", "flashinfer.", "image.", "platform", "parallel.")
_SERVED = ("model.", "nvfp4.", "fp8.", "mxfp4.", "unquantized.", "attention.", "mamba.", "kv_cache.", "memory.")
_TITLE, _PROSE, _LINE, _COMMAND, _ROW = 200, 1_500, 600, 8_000, 200
# A line that names an exception is the error itself; other evidence only leads to it.
_EXCEPTION = re.compile(r"[\w.]{0,100}(?:Error|Exception|Interrupt|Exit)\b")
_PROCESSES, _CONTEXT, _ROWS, _FINDINGS = 16, 12, 80, 40


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the draft as Markdown: the title to give it first, then the text."""
    words = Words()
    parts = (replace(part, text=_encoded(part.text, options)) for part in _Draft(diagnosis, options).parts())
    return fit(parts, MAX_CHARACTERS - 1, words) + "\n"


def _encoded(text: str, options: RenderOptions) -> str:
    text = defuse_commands(text)
    return to_ascii(text) if options.ascii else text


class _Draft:
    """Makes the parts of the draft."""

    def __init__(self, diagnosis: Diagnosis, options: RenderOptions) -> None:
        self._diagnosis = diagnosis
        self._words = Words()
        self._ellipsis = glyphs(options.ascii).ellipsis

    def parts(self) -> Iterator[Part]:
        """Yield the parts in the order in which a bug report has them."""
        words, boot = self._words, self._diagnosis.boot
        groups = group(boot) if boot else Groups()
        yield Part(0, "", self._title(groups))
        yield Part(0, "", self._standing(groups))
        if boot is not None:
            yield Part(2, words("issue.environment").lower(), self._environment(boot))
            yield Part(3, words("issue.command").lower(), self._command(boot))
        yield Part(1, words("issue.what").lower(), self._what(groups))
        if boot is not None:
            yield Part(1, words("issue.errors").lower(), self._errors(boot))
            yield Part(5, words("findings").lower(), self._findings(boot))
        yield Part(4, words("note").lower(), self._tail())

    def _title(self, groups: Groups) -> str:
        said = headline(self._diagnosis, self._words)[0]
        first = groups.main[0] if groups.main else None
        text = f"{one_line(first.title)} ({said})" if first else said
        return f"## [Bug]: {self._text(text, _TITLE)}"

    def _standing(self, groups: Groups) -> str:
        """Say whether the failure is known, and what is left to do before it is sent."""
        words = self._words
        known = [finding for finding in groups.main if finding.id != UNKNOWN_FAILURE]
        new = code_span(words("issue.new_command"))
        if not known:
            return f"{words('issue.unknown')} {words('issue.new')} {new}"
        ids = ", ".join(code_span(finding.id) for finding in known)
        references = dict.fromkeys(text for finding in known for text in finding.references)
        shown = ", ".join(code_span(clip(one_line(text), _TITLE)) for text in list(references)[:10])
        lines = [words("issue.known", ids=ids), words("issue.references", references=shown) if shown else ""]
        return " ".join(line for line in lines if line)

    def _environment(self, boot: BootDiagnosis) -> str:
        keys = [key for key in sorted(boot.facts) if key.startswith(_ENVIRONMENT)]
        served = [key for key in sorted(boot.facts) if key.startswith(_SERVED)]
        variables = [key for key in sorted(boot.facts) if key.startswith("env.")]
        rows = [self._row(boot, key) for key in (*keys, *served, *variables)][:_ROWS]
        return self._section("issue.environment", fenced("\n".join(rows), "text") if rows else "")

    def _row(self, boot: BootDiagnosis, key: str) -> str:
        fact = boot.facts[key]
        origin = one_line(origin_text(fact, self._words))
        row = f"{self._clip(key, 80)} = {self._clip(value_text(fact.value), _ROW)}"
        return f"{row}  ({origin})" if origin else row

    def _command(self, boot: BootDiagnosis) -> str:
        """Return the launch as it was, else the command that the log's arguments make, else these."""
        launch = self._diagnosis.launch
        text = launch.original.strip("\n") if launch is not None else _rebuilt(boot)
        if not text.strip():
            rows = [self._row(boot, key) for key in sorted(boot.facts) if key.startswith("args.")]
            text = "\n".join(rows[:_ROWS])
        return self._section("issue.command", fenced(clip(text, _COMMAND, self._ellipsis), "sh") if text else "")

    def _what(self, groups: Groups) -> str:
        words, boot = self._words, self._diagnosis.boot
        lines = [f"{words('issue.verdict')}: {self._text('; '.join(headline(self._diagnosis, words)), _PROSE)}"]
        if boot is not None and boot.phase:
            lines.append(f"{words('issue.phase')}: {self._text(boot.phase, _TITLE)}")
        for finding in groups.main:
            lines.append(f"{code_span(finding.id)}: {self._text(explanation(finding), _PROSE)}")
            if finding.fingerprint:
                lines.append(words("fingerprint", fingerprint=code_span(finding.fingerprint)))
        return self._section("issue.what", "\n".join(f"- {line}" for line in lines))

    def _errors(self, boot: BootDiagnosis) -> str:
        """Quote the first error of each process, in the order of the log."""
        first: dict[str, Evidence] = {}
        for item in sorted(_error_lines(boot), key=lambda item: (not _EXCEPTION.match(item.text), item.line)):
            first.setdefault(one_line(item.process), item)
        shown = sorted(first.values(), key=lambda item: item.line)[:_PROCESSES]
        return self._section("issue.errors", "\n\n".join(map(self._quoted, shown)))

    def _quoted(self, item: Evidence) -> str:
        who = one_line(item.process) or self._words("issue.no_process")
        where = self._words("line", line=item.line) if item.line else ""
        lines = [*item.before[-_CONTEXT:], *item.text.split("\n")[:_CONTEXT], *item.after[:_CONTEXT]]
        quoted = fenced("\n".join(clip(line, _LINE, self._ellipsis) for line in lines), "text")
        return f"{self._text(', '.join(part for part in (who, where) if part), _TITLE)}\n\n{quoted}"

    def _findings(self, boot: BootDiagnosis) -> str:
        rows = [
            f"- {finding.severity.value} {code_span(finding.id)} ({finding.role.value.replace('_', ' ')}, "
            f"{self._words('fingerprint', fingerprint=code_span(finding.fingerprint))}): "
            f"{self._text(finding.title, _TITLE)}"
            for finding in boot.findings[:_FINDINGS]
        ]
        return self._section("issue.findings", "\n".join(rows))

    def _tail(self) -> str:
        diagnosis, words = self._diagnosis, self._words
        head = words("note").lower()
        lines = [f"- {self._text(f'{head}: {note}', _PROSE)}" for note in notes(diagnosis)[:20]]
        redacted = redaction_text(diagnosis, words)
        versions = words("versions", tool=diagnosis.tool_version, database=diagnosis.database_version)
        ends = "; ".join(part for part in (self._text(redacted, _TITLE), versions) if part)
        return "\n".join([*lines, *([""] if lines else []), ends])

    def _section(self, name: str, text: str) -> str:
        return f"### {self._words(name)}\n\n{text}" if text else ""

    def _text(self, text: str, limit: int) -> str:
        return markdown_text(self._clip(text, limit))

    def _clip(self, text: str, limit: int) -> str:
        return clip(one_line(text), limit, self._ellipsis)


def _rebuilt(boot: BootDiagnosis) -> str:
    """Return the command as the log's arguments make it; empty when the log prints none."""
    if not any(key.startswith("args.") for key in boot.facts):
        return ""
    from logdoctor.launch import LaunchError, rebuild

    try:
        # Reading a printed list anew gives back what was escaped in it.
        return escape_control(rebuild(boot.facts).text.strip("\n"))
    except LaunchError:
        return ""


def _error_lines(boot: BootDiagnosis) -> Iterator[Evidence]:
    severe: Iterator[Finding] = (f for f in boot.findings if f.severity.rank >= Severity.ERROR.rank)
    for finding in severe:
        yield from (item for item in finding.evidence if item.line)
