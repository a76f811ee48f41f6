"""The report for Jira Server in its wiki markup; Jira Cloud takes the Markdown form.

A field holds 32,767 characters. Log text stands in `{code}` and `{noformat}` blocks, in which only their own ends
act: those are broken up. All other text has the characters of the markup escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from logdoctor.model import BootDiagnosis, Diagnosis, Finding, Launch
from logdoctor.report.escaping import clip, defuse_commands, one_line, to_ascii
from logdoctor.report.grouping import (
    Groups,
    Step,
    fix_heading,
    fix_steps,
    fixed_together,
    group,
    in_log_order,
    is_undecided,
    label,
    notes,
    place,
    prose_summary,
    redaction_text,
    sureness,
    writer,
)
from logdoctor.report.headline import boot_groups, boot_views, boots_left_out, headline, subject
from logdoctor.report.options import RenderOptions
from logdoctor.report.parts import Part, fit
from logdoctor.report.values import origin_text, value_text
from logdoctor.report.words import UNKNOWN_FAILURE, Words, glyphs

MAX_CHARACTERS = 32_000
_TITLE, _PROSE, _LINE, _COMMAND = 300, 1_500, 500, 4_000
_EVIDENCE, _CONTEXT, _STEPS, _FINDINGS, _FACTS, _BOOTS = 12, 4, 8, 40, 120, 10

_MARKUP = re.compile(
    r"[\\*_?~^+{}\[\]|!#@&<>]|(?<!\w)-|-(?!\w)|[:;](?=[()DPp])|:(?=:)|\((?=(?:[yni/x!+?-]|on|off|\*[rgby]?|flag|flagoff)\))|://"
)
_BLOCK = re.compile(r"^(?:h[1-6]|bq|p)(?=\.)", re.IGNORECASE)
_MACRO = re.compile(r"\{(?=\s*(?:code|noformat)\b)", re.IGNORECASE)


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the report on the leading boot, or on each boot, of at most `MAX_CHARACTERS`."""
    words = Words(options.lang)
    views = boot_views(diagnosis, options.all_boots, _BOOTS)
    left_out = boots_left_out(diagnosis, views, words)
    share = (MAX_CHARACTERS - 200) // len(views)
    texts = [_fit(view, share - 3, options) for view in views]
    text = "\n\n".join([*texts, *([left_out] if left_out else [])])
    if len(text) >= MAX_CHARACTERS:
        text = _fit(diagnosis, MAX_CHARACTERS - 3, options)
    return text + "\n"


def wiki_text(text: str) -> str:
    """Return `text` as one line of wiki markup that shows it as it is."""
    escaped = _MARKUP.sub(lambda match: "".join(f"&#{ord(c)};" if c in "\\&<>/:" else f"\\{c}" for c in match[0]), text)
    return _BLOCK.sub(lambda match: f"&#{ord(match[0][0])};{match[0][1:]}", one_line(escaped))


def code_block(text: str) -> str:
    """Return `text`, what one types, as a block in which nothing acts."""
    return f"{{code:bash}}\n{_MACRO.sub('{ ', text)}\n{{code}}"


def quoted_block(text: str) -> str:
    """Return `text`, lines of a log, as a block in which nothing acts."""
    return f"{{noformat}}\n{_MACRO.sub('{ ', text)}\n{{noformat}}"


def _fit(diagnosis: Diagnosis, limit: int, options: RenderOptions) -> str:
    parts = (replace(part, text=_encoded(part.text, options)) for part in _Report(diagnosis, options).parts())
    return fit(parts, limit, Words(options.lang))


def _encoded(text: str, options: RenderOptions) -> str:
    text = defuse_commands(text)
    return to_ascii(text) if options.ascii else text


class _Report:
    """Makes the parts of the report on one boot."""

    def __init__(self, diagnosis: Diagnosis, options: RenderOptions) -> None:
        self._diagnosis = diagnosis
        self._words = Words(options.lang)
        self._ascii = options.ascii
        self._ellipsis = glyphs(options.ascii).ellipsis

    def parts(self) -> Iterator[Part]:
        """Yield the parts in the order of the report."""
        words, diagnosis, boot = self._words, self._diagnosis, self._diagnosis.boot
        groups = group(boot) if boot else Groups()
        yield Part(0, "", self._title(groups))
        yield Part(0, "", "\n".join(self._lead(boot)))
        for finding in groups.main:
            yield Part(1, words("root_cause").lower(), "\n".join(self._main(finding, groups)))
        if not is_undecided(groups):
            yield Part(1, words("fix").lower(), self._fix(fixed_together(groups), groups.main[:1]))
        if diagnosis.launch is not None:
            yield Part(3, words("command").lower(), self._launch(diagnosis.launch))
        yield Part(2, words("note").lower(), "\n".join(self._tail(groups)))
        for finding in groups.main:
            yield Part(4, words("evidence").lower(), self._evidence(finding))
        yield Part(5, words("findings").lower(), self._others(groups))
        if boot is not None:
            yield Part(6, words("facts").lower(), self._facts(boot))

    def _title(self, groups: Groups) -> str:
        first = headline(self._diagnosis, self._words)[0]
        root = groups.main[0] if groups.main and not is_undecided(groups) else None
        return f"h2. {self._text(f'{first}: {root.title}' if root else first, _TITLE)}"

    def _lead(self, boot: BootDiagnosis | None) -> Iterator[str]:
        statements = headline(self._diagnosis, self._words)[1:]
        for line in ("; ".join(statements), "; ".join(subject(boot, self._words)) if boot else ""):
            if line:
                yield self._text(line, _PROSE)
        if prose_summary(self._diagnosis):
            yield self._text(prose_summary(self._diagnosis), _PROSE)
        if boot is None:
            yield self._text(f"{self._words('give_all')} {self._words('give_all_command')}", _PROSE)

    def _main(self, finding: Finding, groups: Groups) -> Iterator[str]:
        words, unknown = self._words, finding.id == UNKNOWN_FAILURE
        sure = (words("not_in_database"),) if unknown else sureness(finding, words)
        details = [finding.severity.value, sure[0], *(words("basis", basis=basis) for basis in sure[1:])]
        heading = label(finding, groups, words).capitalize()
        yield f"*{heading}* {{{{{self._text(finding.id, _TITLE)}}}}} ({self._text(', '.join(details), _TITLE)})"
        if is_undecided(groups):
            yield self._text(finding.title, _TITLE)
        if one_line(finding.cause) not in ("", one_line(finding.title)):
            yield self._text(finding.cause, _PROSE)
        for condition in finding.conditional[:_STEPS]:
            yield self._text(words("holds_if", condition=one_line(condition)), _PROSE)
        if is_undecided(groups):
            yield self._fix([finding], [finding])

    def _fix(self, findings: Sequence[Finding], checked: Sequence[Finding]) -> str:
        steps = fix_steps(findings, self._words)[:_STEPS]
        lines = [f"*{fix_heading(findings, self._words).capitalize()}*"] if steps else []
        lines += [line for step in steps for line in self._step(step)]
        for finding in checked:
            if finding.verify and steps:
                lines.append(f"*{self._words('check')}*: {self._text(finding.verify, _PROSE)}")
        return "\n".join(lines)

    def _step(self, step: Step) -> Iterator[str]:
        reason = ", ".join(part for part in (step.summary, step.condition) if part)
        lead = " ".join(part for part in (step.joint, step.verb) if part)
        yield self._text(": ".join(part for part in (lead, reason) if part), _PROSE)
        if step.command:
            yield code_block(clip(step.command, _COMMAND, self._ellipsis))

    def _launch(self, launch: Launch) -> str:
        command = clip(launch.corrected.strip("\n"), _COMMAND, self._ellipsis)
        return f"*{self._words('command').capitalize()}*\n{code_block(command)}"

    def _tail(self, groups: Groups) -> Iterator[str]:
        diagnosis, words = self._diagnosis, self._words
        head = words("note").lower()
        yield from (f"* {self._text(f'{head}: {note}', _PROSE)}" for note in notes(diagnosis)[:_STEPS])
        prints = [words("fingerprint", fingerprint=f.fingerprint) for f in groups.main if f.fingerprint]
        versions = words("versions", tool=diagnosis.tool_version, database=diagnosis.database_version)
        ends = [part for part in (redaction_text(diagnosis, words), versions, *prints) if part]
        yield self._text("; ".join(ends), _PROSE)

    def _evidence(self, finding: Finding) -> str:
        lines = []
        for item in in_log_order(finding)[:_EVIDENCE]:
            who = writer(item, self._words)
            lines += [f"          {line}" for line in item.before[-_CONTEXT:]]
            lines.append(f"{item.line or '':>6}  > {who}{item.text}")
            lines += [f"          {line}" for line in item.after[:_CONTEXT]]
        text = "\n".join(clip(line, _LINE, self._ellipsis) for line in lines)
        return f"h3. {self._words('evidence')}\n{quoted_block(text)}" if lines else ""

    def _others(self, groups: Groups) -> str:
        rows = []
        for finding in (*groups.also, *groups.noted, *groups.explained)[:_FINDINGS]:
            inside = [where] if (where := place(finding, self._words)) else []
            if finding.explained_by:
                inside.append(self._words("explained_by", ids=", ".join(finding.explained_by)))
            where = f" ({self._text(', '.join(inside), _TITLE)})" if inside else ""
            name = f"{finding.severity.value} {{{{{self._text(finding.id, _TITLE)}}}}}"
            rows.append(f"* {name}{where}: {self._text(finding.title, _TITLE)}")
        boots = ", ".join(boot_groups(self._diagnosis, self._words)[:_EVIDENCE])
        if boots:
            head = self._words("boots").lower()
            rows.append(f"* {self._text(f'{head}: {boots}', _PROSE)}")
        return f"h3. {self._words('findings')}\n" + "\n".join(rows) if rows else ""

    def _facts(self, boot: BootDiagnosis) -> str:
        rows = []
        for key in sorted(boot.facts)[:_FACTS]:
            fact = boot.facts[key]
            line = self._words("line", line=fact.line) if fact.line else ""
            origin = ", ".join(part for part in (line, one_line(origin_text(fact, self._words))) if part)
            rows.append(f"{one_line(key)} = {value_text(fact.value)}" + (f"  ({origin})" if origin else ""))
        text = "\n".join(clip(row, _LINE, self._ellipsis) for row in rows)
        return f"h3. {self._words('facts')}\n{quoted_block(text)}" if rows else ""

    def _text(self, text: str, limit: int) -> str:
        wiki = wiki_text(clip(one_line(text), limit, self._ellipsis))
        return wiki.encode("ascii", "xmlcharrefreplace").decode() if self._ascii else wiki
