"""The report in a pipe: plain text that reads well and greps well.

The first line begins with the verdict word. Each finding has one line that begins at the left edge and is never
wrapped, `SEVERITY ID line N: title`; a finding that no line of the log states has `in the launch`, `by the probe` or
`as given` in that place, or nothing. What belongs to it follows, indented. Nothing else at the left edge begins with
the word of a severity. Commands are never wrapped.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from logdoctor.model import BootDiagnosis, Diagnosis, Finding, Launch, Role, Verdict
from logdoctor.report.charts import budget_bar, budget_pieces, flow, timeline_pieces
from logdoctor.report.escaping import clip, defuse_commands, one_line, to_ascii
from logdoctor.report.grouping import (
    distinct_evidence,
    fix_heading,
    fix_steps,
    group,
    is_undecided,
    notes,
    place,
    prose_summary,
    ranks_text,
    redaction_text,
    shorten,
    stated_by,
    sureness,
)
from logdoctor.report.headline import boot_groups, boot_views, boots_left_out, headline, subject
from logdoctor.report.launches import change_lines, is_changed, paste_lines
from logdoctor.report.options import RenderOptions
from logdoctor.report.words import UNKNOWN_FAILURE, Words, glyphs

_EVIDENCE_SHOWN, _EVIDENCE_COLUMNS, _RANKS_SHOWN, _BOOTS_SHOWN = 12, 400, 16, 12


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the report on the leading boot, or on each boot, as plain lines."""
    views = boot_views(diagnosis, options.all_boots)
    reports = ["\n".join(_Lines(options).report(view)) + "\n" for view in views]
    left_out = boots_left_out(diagnosis, views, Words(options.lang))
    text = defuse_commands("\n".join([*reports, *([left_out + "\n"] if left_out else [])]))
    return to_ascii(text) if options.ascii else text


class _Lines:
    """Makes the lines of one report."""

    def __init__(self, options: RenderOptions) -> None:
        self._width = max(40, options.width)
        self._words = Words(options.lang)
        self._marks = glyphs(options.ascii)

    def report(self, diagnosis: Diagnosis) -> Iterator[str]:
        """Yield the lines, top to bottom."""
        yield from self._head(diagnosis)
        boot = diagnosis.boot
        if boot is not None:
            yield from self._findings(boot)
        yield from self._about_input(diagnosis)
        if boot is not None and boot.verdict not in (Verdict.READY, Verdict.STOPPED):
            yield from self._charts(boot)
        if diagnosis.launch is not None and is_changed(diagnosis.launch):
            yield from self._launch(diagnosis.launch)
        yield ""
        yield self._words("versions", tool=diagnosis.tool_version, database=diagnosis.database_version)

    def _launch(self, launch: Launch) -> Iterator[str]:
        lines, more = change_lines(launch)
        yield ""
        yield self._words("command").lower() + ":"
        yield from (f"  {line}".rstrip() for line in lines)
        if more:
            yield f"  {self._words('more', count=more)}"
        yield ""
        yield from (f"  {line}".rstrip() for line in paste_lines(launch))
        unknown = [one_line(part) for part in launch.unknown]
        yield from self._labelled("unknown_parts", [", ".join(unknown)] if unknown else [])

    def _head(self, diagnosis: Diagnosis) -> Iterator[str]:
        yield "; ".join(headline(diagnosis, self._words))
        if diagnosis.boot is None:
            yield from self._prose(prose_summary(diagnosis), "  ")
            yield f"  {self._words('give_all')} {self._words('give_all_command')}"
            return
        started = "; ".join(subject(diagnosis.boot, self._words))
        if started:
            yield f"  {started}"
        summary = prose_summary(diagnosis)
        if is_undecided(group(diagnosis.boot)):
            yield f"  {self._words('undecided', count=len(group(diagnosis.boot).main))}"
        if summary:
            yield f"  {summary}"

    def _findings(self, boot: BootDiagnosis) -> Iterator[str]:
        """Yield the findings in the order of use: in full, then the lines of those that ask for nothing."""
        groups = group(boot)
        told = (*groups.main, *groups.also)
        for finding in told:
            yield ""
            yield self._first(finding)
            yield from self._details(finding)
            if finding in groups.main and finding.id != UNKNOWN_FAILURE:
                yield f"  {self._words('explain', id=one_line(finding.id))}"
        if groups.noted or groups.explained:
            yield ""
        for finding in groups.noted:
            yield self._first(finding)
        for finding in groups.explained:
            yield self._first(finding)
            yield f"  {self._role(finding)}"

    def _first(self, finding: Finding) -> str:
        severity = finding.severity.value.upper()
        head = " ".join(part for part in (severity, one_line(finding.id), place(finding, self._words)) if part)
        return f"{head}: {one_line(finding.title)}"

    def _role(self, finding: Finding) -> str:
        if finding.role is Role.CONSEQUENCE and finding.explained_by:
            return self._words("explained_by", ids=", ".join(map(one_line, finding.explained_by)))
        return self._words(f"role.{finding.role.value}")

    def _details(self, finding: Finding) -> Iterator[str]:
        unknown = finding.id == UNKNOWN_FAILURE
        confidence, basis = sureness(finding, self._words)
        sure = [self._words("not_in_database")] if unknown else [confidence, self._words("basis", basis=basis)]
        prints = [self._words("fingerprint", fingerprint=one_line(finding.fingerprint))] if finding.fingerprint else []
        yield f"  {', '.join([self._role(finding), *sure, *prints])}"
        if one_line(finding.cause) != one_line(finding.title):
            yield from self._prose(finding.cause, "  ")
        for condition in finding.conditional:
            yield from self._prose(self._words("holds_if", condition=one_line(condition)), "  ")
        yield from self._evidence(finding)
        yield from self._fix(finding)
        if unknown:
            yield f"  {self._words('report_unknown')} {self._words('report_unknown_command')}"

    def _evidence(self, finding: Finding) -> Iterator[str]:
        shown = distinct_evidence(finding)[:_EVIDENCE_SHOWN]
        for item, again in shown:
            who = "".join(f"{part}: " for part in stated_by(item, self._words) if part)
            yield f"    {who}{clip(one_line(item.text), _EVIDENCE_COLUMNS, self._marks.ellipsis)}"
            if again:
                others = shorten([str(line) for line in again], _BOOTS_SHOWN, self._words)
                yield f"    {self._words('again' if len(again) == 1 else 'again_many', lines=others)}"
        more = max(finding.count, len(finding.evidence)) - sum(1 + len(again) for _, again in shown)
        if more > 0 and finding.evidence:
            yield f"    {self._words('more_alike', count=more)}"
        if len(finding.ranks) > 1:
            yield f"    {self._words('on_ranks', ranks=ranks_text(finding.ranks, _RANKS_SHOWN, self._words))}"

    def _fix(self, finding: Finding) -> Iterator[str]:
        steps = fix_steps([finding], self._words)
        head = f"  {fix_heading([finding], self._words).lower()}:"
        for step in steps:
            reason = ", ".join(part for part in (step.summary, step.condition) if part)
            lead = " ".join(part for part in (head if not step.joint else f"  {step.joint}:", step.verb) if part)
            if not step.command:
                yield from self._prose(f"{lead.strip()} {reason}", "  ")
                continue
            first, *more = step.command.split("\n")
            yield f"{lead} {first}"
            yield from (f"      {line}" for line in more)
            yield from self._prose(reason, "      ")
        if finding.verify and steps:
            yield from self._prose(f"{self._words('verify')}: {finding.verify}", "  ")

    def _about_input(self, diagnosis: Diagnosis) -> Iterator[str]:
        boots = boot_groups(diagnosis, self._words)
        remarks = [("boots", [shorten(boots, _BOOTS_SHOWN, self._words)] if boots else [])]
        remarks += [("note", [note]) for note in notes(diagnosis)]
        redacted = redaction_text(diagnosis, self._words)
        if any(lines for _, lines in remarks) or redacted:
            yield ""
        for head, lines in remarks:
            yield from self._labelled(head, lines)
        if redacted:
            yield redacted

    def _charts(self, boot: BootDiagnosis) -> Iterator[str]:
        pieces = timeline_pieces(boot, 40, self._marks, self._words)
        if pieces or boot.budget:
            yield ""
        yield from self._labelled("start", flow(pieces, self._width - 8, "  "))
        if boot.budget is not None:
            bar = budget_bar(boot.budget, min(self._width - 10, 72), self._marks)
            lines = [*flow(budget_pieces(boot.budget, self._marks), self._width - 10, "  "), bar]
            yield from self._labelled("memory", [*lines, one_line(boot.budget.note)])

    def _labelled(self, head: str, lines: Sequence[str] | Iterable[str]) -> Iterator[str]:
        label = f"{self._words(head).lower()}: "
        for position, line in enumerate(line for line in lines if line):
            yield from self._prose(line, label if position == 0 else " " * len(label), " " * len(label))

    def _prose(self, text: str, indent: str = "", hang: str | None = None) -> Iterator[str]:
        """Yield text wrapped at the width; what is drawn keeps its blanks."""
        yield from textwrap.wrap(
            text if hang is not None else one_line(text),
            self._width,
            initial_indent=indent,
            subsequent_indent=indent if hang is None else hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
