"""The report for a ticket: Markdown as GitHub, GitLab and Jira Cloud read it, and plain enough for a mail.

Log text stands in fences that it cannot close. Everything else that is not this module's own is made inert word by
word, so that no log mentions a person, links an issue or loads a picture. The whole stays under the size that
trackers accept: parts are left out whole, the least useful first, and the report says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from logdoctor.model import BootDiagnosis, Diagnosis, Evidence, Finding, Launch
from logdoctor.report.charts import budget_bar, budget_pieces, flow, timeline_pieces
from logdoctor.report.escaping import clip, code_span, defuse_commands, fenced, markdown_text, one_line, to_ascii
from logdoctor.report.grouping import (
    Groups,
    Step,
    fix_heading,
    fix_steps,
    fixed_together,
    group,
    is_undecided,
    label,
    notes,
    place,
    place_of,
    prose_summary,
    ranks_text,
    redaction_text,
    shorten,
    sureness,
    writer,
)
from logdoctor.report.headline import boot_groups, boot_views, boots_left_out, headline, subject
from logdoctor.report.launches import change_lines, is_changed, paste_lines
from logdoctor.report.options import RenderOptions
from logdoctor.report.parts import Part, fit
from logdoctor.report.values import origin_text, value_text
from logdoctor.report.words import UNKNOWN_FAILURE, Words, glyphs

MAX_CHARACTERS = 60_000
"""GitHub takes 65,536 in a comment; the rest is left to whoever writes around the report."""

_TITLE, _PROSE, _LINE, _COMMAND, _LAUNCH = 300, 1_500, 600, 1_000, 8_000
_EVIDENCE_SHOWN, _CONTEXT_SHOWN, _ROWS_SHOWN, _STEPS_SHOWN = 20, 8, 20, 8
_FINDINGS_SHOWN, _FACTS_SHOWN = 60, 200
_CHART_COLUMNS, _BAR_COLUMNS = 90, 72
_BOOTS_TOLD = 20
_NO_COMMANDS = frozenset({"remove", "image", "docker", "dockerfile", "config"})
"""What a shell that gets the whole block must not run: names of images, options, lines of files."""


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the report on the leading boot, or on each boot, as Markdown of at most `MAX_CHARACTERS`."""
    views = boot_views(diagnosis, options.all_boots, _BOOTS_TOLD)
    left_out = boots_left_out(diagnosis, views, Words(options.lang))
    share = (MAX_CHARACTERS - 200) // len(views)
    texts = [_fit(view, share - 3, options) for view in views]
    text = "\n\n".join([*texts, *([left_out] if left_out else [])])
    if len(text) >= MAX_CHARACTERS:  # what always has room took too much: the leading boot is what a ticket is about
        text = _fit(diagnosis, MAX_CHARACTERS - 3, options)
    return text + "\n"


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
        self._marks = glyphs(options.ascii)

    def parts(self) -> Iterator[Part]:
        """Yield the parts in the order of the report."""
        words, diagnosis, boot = self._words, self._diagnosis, self._diagnosis.boot
        groups = group(boot) if boot else Groups()
        yield Part(0, "", self._title(groups))
        yield Part(0, "", "\n\n".join(self._lead(groups)))
        for finding in groups.main:
            yield Part(1, words("root_cause").lower(), "\n\n".join(self._main(finding, groups)))
        if not is_undecided(groups):
            yield Part(1, words("fix").lower(), self._fix(fixed_together(groups)))
            yield Part(1, words("check").lower(), self._check(groups.main[:1]))
        if diagnosis.launch is not None and is_changed(diagnosis.launch):
            yield Part(3, words("command").lower(), self._launch(diagnosis.launch))
        yield Part(2, words("note").lower(), self._tail(groups))
        for finding in groups.main:
            yield Part(4, words("evidence").lower(), self._evidence(finding))
        yield Part(5, words("findings").lower(), self._others(groups))
        if boot is not None:
            yield Part(6, words("phases").lower(), self._charts(boot))
            yield Part(7, words("facts").lower(), self._facts(boot))

    # ------------------------------------------------------------------------------------ what answers

    def _title(self, groups: Groups) -> str:
        first = headline(self._diagnosis, self._words)[0]
        root = groups.main[0] if groups.main and not is_undecided(groups) else None
        return f"## {self._text(first, _TITLE)}" + (f": {self._text(root.title, _TITLE)}" if root else "")

    def _lead(self, groups: Groups) -> Iterator[str]:
        statements = headline(self._diagnosis, self._words)[1:]
        boot = self._diagnosis.boot
        lines = ["; ".join(statements), "; ".join(subject(boot, self._words)) if boot else ""]
        for line in lines:
            if line:
                yield self._text(line, _PROSE)
        summary = prose_summary(self._diagnosis)
        if is_undecided(groups):
            yield self._words("undecided", count=len(groups.main))
        if summary:
            yield self._text(summary, _PROSE)
        if boot is None:
            yield f"{self._words('give_all')} {code_span(self._words('give_all_command'))}"

    def _main(self, finding: Finding, groups: Groups) -> Iterator[str]:
        words = self._words
        unknown = finding.id == UNKNOWN_FAILURE
        sure = (words("not_in_database"),) if unknown else sureness(finding, words)
        heading = label(finding, groups, words)
        details = [finding.severity.value, sure[0], *(words("basis", basis=basis) for basis in sure[1:])]
        yield f"**{heading.capitalize()}** {code_span(self._clip(finding.id, _TITLE))} ({', '.join(details)})"
        if is_undecided(groups):
            yield self._text(finding.title, _TITLE)
        if one_line(finding.cause) not in ("", one_line(finding.title)):
            yield self._text(finding.cause, _PROSE)
        for condition in finding.conditional[:_ROWS_SHOWN]:
            yield self._text(words("holds_if", condition=one_line(condition)), _PROSE)
        if is_undecided(groups):
            yield from (part for part in (self._fix([finding]), self._check([finding])) if part)

    def _fix(self, findings: Sequence[Finding]) -> str:
        """Return the remedies: what one pastes in one fence, with the reasons as comments, and advice below it."""
        steps = fix_steps(findings, self._words)[:_STEPS_SHOWN]
        pasted = [line for step in steps if step.command for line in self._pasted(step)]
        parts = [f"**{fix_heading(findings, self._words).capitalize()}**"] if steps else []
        if pasted:
            parts.append(fenced("\n".join(pasted), "sh"))
        advice = [self._text(_reason(step), _PROSE) for step in steps if not step.command]
        parts.extend(f"- {text}" for text in advice if text)
        return "\n\n".join(parts)

    def _pasted(self, step: Step) -> Iterator[str]:
        verb = " ".join(part for part in (step.joint, step.verb) if part)
        reason = self._clip(_reason(step), _PROSE)
        yield f"# {verb}: {reason}" if reason else f"# {verb}"
        # What is no command must do nothing when the block is pasted whole; so must the second of two ways.
        off = place_of(step.remedy) in _NO_COMMANDS or step.joint == self._words("or")
        for line in clip(step.command, _COMMAND, self._marks.ellipsis).split("\n"):
            yield f"# {line}" if off else line

    def _check(self, findings: Iterable[Finding]) -> str:
        checks = [self._text(finding.verify, _PROSE) for finding in findings if finding.verify and finding.remedies]
        return "\n\n".join(f"**{self._words('check')}**: {text}" for text in checks)

    def _launch(self, launch: Launch) -> str:
        lines, more = change_lines(launch)
        lines += [f" {self._words('more', count=more)}"] if more else []
        command = clip("\n".join(paste_lines(launch)), _LAUNCH, self._marks.ellipsis)
        change = clip("\n".join(lines), _LAUNCH, self._marks.ellipsis)
        parts = [f"**{self._words('command').capitalize()}**", fenced(change, "diff"), fenced(command, "sh")]
        if launch.unknown:
            unknown = shorten([one_line(part) for part in launch.unknown], _ROWS_SHOWN, self._words)
            parts.append(self._text(f"{self._words('unknown_parts')}: {unknown}", _PROSE))
        return "\n\n".join(parts)

    def _tail(self, groups: Groups) -> str:
        """Return the remarks, the note on redaction, the versions and the fingerprints."""
        diagnosis, words = self._diagnosis, self._words
        note = words("note").lower()
        remarks = [f"- {self._text(f'{note}: {remark}', _PROSE)}" for remark in notes(diagnosis)][:_ROWS_SHOWN]
        redacted = redaction_text(diagnosis, words)
        ends = [self._text(redacted, _TITLE)] if redacted else []
        ends.append(words("versions", tool=diagnosis.tool_version, database=diagnosis.database_version))
        ends += [words("fingerprint", fingerprint=code_span(f.fingerprint)) for f in groups.main if f.fingerprint]
        return "\n".join([*remarks, *([""] if remarks else []), "; ".join(ends)])

    # ------------------------------------------------------------------------------------ what is folded

    def _evidence(self, finding: Finding) -> str:
        shown = finding.evidence[:_EVIDENCE_SHOWN]
        lines = [line for item in shown for line in self._quoted(item)]
        more = max(finding.count, len(finding.evidence)) - len(shown)
        if more > 0 and shown:
            lines.append(self._words("more_alike", count=more))
        if len(finding.ranks) > 1:
            lines.append(self._words("on_ranks", ranks=ranks_text(finding.ranks, _ROWS_SHOWN, self._words)))
        texts = [fenced("\n".join(clip(line, _LINE, self._marks.ellipsis) for line in lines), "text")] if lines else []
        if finding.references:
            references = ", ".join(code_span(self._clip(text, _TITLE)) for text in finding.references[:_ROWS_SHOWN])
            texts.append(f"{self._words('references')}: {references}")
        return self._folded("evidence", "\n\n".join(texts))

    def _quoted(self, item: Evidence) -> Iterator[str]:
        """Yield a line of the log with its number and writer, between the lines around it."""
        where = f"{item.line or ''}".rjust(6)
        for line in item.before[-_CONTEXT_SHOWN:]:
            yield from (f"{'':6}    {part}" for part in line.split("\n"))
        who = writer(item, self._words)
        first, *rest = item.text.split("\n")
        yield f"{where}  > {who}{first}"
        yield from (f"{'':6}    {line}" for line in (*rest[:_CONTEXT_SHOWN], *item.after[:_CONTEXT_SHOWN]))

    def _others(self, groups: Groups) -> str:
        listed = [self._row(finding) for finding in (*groups.also, *groups.noted, *groups.explained)]
        lines = listed[:_FINDINGS_SHOWN]
        if len(listed) > len(lines):
            lines.append(f"- {self._words('more', count=len(listed) - len(lines))}")
        boots = boot_groups(self._diagnosis, self._words)
        if boots:
            shown = shorten(boots, _ROWS_SHOWN, self._words)
            head = self._words("boots").lower()
            lines.append(f"- {self._text(f'{head}: {shown}', _PROSE)}")
        return self._folded("findings", "\n".join(lines))

    def _row(self, finding: Finding) -> str:
        name = f"{finding.severity.value} {code_span(self._clip(finding.id, _TITLE))}{self._where(finding)}"
        if finding.explained_by:
            causes = ", ".join(code_span(self._clip(id, _TITLE)) for id in finding.explained_by[:_ROWS_SHOWN])
            name += f", {self._words('explained_by', ids=causes)}"
        return f"- {name}: {self._text(finding.title, _TITLE)}"

    def _where(self, finding: Finding) -> str:
        where = place(finding, self._words)
        return f" ({where})" if where else ""

    def _charts(self, boot: BootDiagnosis) -> str:
        pieces = timeline_pieces(boot, 40, self._marks, self._words)
        lines = list(flow(pieces, _CHART_COLUMNS, "  "))
        budget = boot.budget
        if budget is not None:
            lines += [""] if lines else []
            lines += flow(budget_pieces(budget, self._marks), _CHART_COLUMNS, "  ")
            lines += [budget_bar(budget, _BAR_COLUMNS, self._marks), one_line(budget.note)]
        text = "\n".join(clip(line, _LINE, self._marks.ellipsis) for line in lines).strip("\n")
        return self._folded("phases", fenced(text, "text") if text else "")

    def _facts(self, boot: BootDiagnosis) -> str:
        rows = []
        for key in sorted(boot.facts)[:_FACTS_SHOWN]:
            fact = boot.facts[key]
            line = self._words("line", line=fact.line) if fact.line else ""
            origin = ", ".join(part for part in (line, one_line(origin_text(fact, self._words))) if part)
            row = f"{self._clip(key, 80)} = {self._clip(value_text(fact.value), 200)}"
            rows.append(f"{row}  ({origin})" if origin else row)
        return self._folded("facts", fenced("\n".join(rows), "text") if rows else "")

    # ------------------------------------------------------------------------------------ small things

    def _folded(self, name: str, text: str) -> str:
        return f"<details><summary>{self._words(name)}</summary>\n\n{text}\n\n</details>" if text else ""

    def _text(self, text: str, limit: int) -> str:
        return markdown_text(self._clip(text, limit))

    def _clip(self, text: str, limit: int) -> str:
        return clip(one_line(text), limit, self._marks.ellipsis)


def _reason(step: Step) -> str:
    return ", ".join(part for part in (step.summary, step.condition) if part)
