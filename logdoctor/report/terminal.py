"""The report for a person at a terminal: the first screen answers, the rest follows in order of use.

Colour marks the verdict word and the severities, nothing else. Log text is never read as markup, and what one
types is never wrapped.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from logdoctor.model import BootDiagnosis, Diagnosis, Finding, Severity, Verdict
from logdoctor.report.charts import budget_bar, budget_pieces, flow, timeline_pieces
from logdoctor.report.escaping import defuse_commands, one_line, to_ascii
from logdoctor.report.grouping import (
    Groups,
    Step,
    deciding,
    distinct_evidence,
    fix_heading,
    fix_steps,
    fixed_together,
    group,
    is_undecided,
    label,
    notes,
    place,
    prose_summary,
    ranks_text,
    redaction_text,
    shorten,
    stated_by,
    sureness,
)
from logdoctor.report.headline import boot_groups, boot_views, boots_left_out, headline, subject, verdict_word
from logdoctor.report.launches import change_lines, is_changed, paste_lines
from logdoctor.report.options import RenderOptions
from logdoctor.report.sheet import PROSE_COLUMNS, ROWS_SHOWN, Sheet, pad
from logdoctor.report.words import UNKNOWN_FAILURE, Words

_COMMAND_COLUMNS = 40
"""A longer command does not push the reasons of the others aside."""
_EVIDENCE_SHOWN, _EVIDENCE_LINES, _EVIDENCE_LINES_ALONE = 4, 2, 4
_BESIDE_THE_NAME = 18
"""Columns that the version takes before the name of the model."""
_FIRST_SCREEN = 15
"""Lines within which the fix begins, where the cause itself leaves room for it."""
_RANKS_SHOWN, _NOTED_TOLD = 8, 3

_VERDICT_STYLE = {
    Verdict.READY: "bold green",
    Verdict.DEGRADED: "bold yellow",
    Verdict.STARTING: "bold cyan",
    Verdict.STALLED: "bold yellow",
    Verdict.FAILED: "bold red",
    Verdict.CRASHED: "bold red",
    Verdict.STOPPED: "bold",
    Verdict.UNDETERMINED: "bold yellow",
}
_QUIET = frozenset({Verdict.READY, Verdict.STOPPED})
"""Nothing is wrong: what has no use now is left out."""
_SEVERITY_STYLE = {
    Severity.FATAL: "red",
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFO: "cyan",
}


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the report on the leading boot, or on each boot, laid out for `options.width` columns."""
    views = boot_views(diagnosis, options.all_boots)
    reports = [_Page(options).report(view) for view in views]
    left_out = boots_left_out(diagnosis, views, Words(options.lang))
    text = defuse_commands("\n".join([*reports, *([left_out + "\n"] if left_out else [])]))
    return to_ascii(text) if options.ascii else text


class _Page(Sheet):
    """A report being written, top to bottom."""

    # ------------------------------------------------------------------------------------ the order of the page

    def report(self, diagnosis: Diagnosis) -> str:
        """Write the whole page and return it."""
        boot = diagnosis.boot
        groups = group(boot) if boot else Groups()
        summary = prose_summary(diagnosis)
        self._headline(diagnosis)
        if summary and not is_undecided(groups):
            self._wrapped(Text(summary))
        if boot is None:
            self._blank()
            self._wrapped(Text(self._words("give_all")))
            self._raw(f"  {self._words('give_all_command')}")
        elif is_undecided(groups):
            self._candidates(groups, summary)
        else:
            self._cause(groups)
        self._rest(diagnosis, groups)
        self._notes(diagnosis)
        self._launch(diagnosis)
        if boot is not None and boot.verdict not in _QUIET:
            self._charts(boot)
        self._footer(diagnosis, groups)
        return self._out.getvalue()

    def _cause(self, groups: Groups) -> None:
        """Write the cause, its evidence and the fix; evidence that would push the fix off the first screen follows."""
        together = fixed_together(groups)
        steps = fix_steps(together, self._words)
        # A blank line and the heading stand before the first step.
        beside = not steps or self._fits(groups.main, groups, below=3)
        for finding in groups.main:
            self._main(finding, groups, evidence=beside)
        if steps:
            self._heading(fix_heading(together, self._words))
            self._fix(steps, groups.main[:1])
        if not beside:
            self._evidence_of(groups)

    def _fits(self, findings: Sequence[Finding], groups: Groups, below: int) -> bool:
        """Tell whether what comes `below` lines after these findings and their evidence is on the first screen."""
        begin = self._out.tell()
        for finding in findings:
            self._main(finding, groups)
        lines = self._out.getvalue().count("\n")
        self._out.seek(begin)
        self._out.truncate()
        return lines + below <= _FIRST_SCREEN

    def _evidence_of(self, groups: Groups) -> None:
        """Write the evidence of the main findings under a heading of its own, the same lines once."""
        told = [finding for finding in groups.main if finding.evidence]
        if not told:
            return
        self._heading(self._words("evidence").upper())
        lines = {tuple((item.line, item.text) for item in finding.evidence) for finding in told}
        for finding in told if len(lines) > 1 else told[:1]:
            self._evidence(finding, named=len(lines) > 1)

    def _fitting(self, part: str) -> Sequence[str]:
        """Return what was started in one piece, or the name and its details apart where a line cannot hold both."""
        name, bracket, details = part.partition(" (")
        return (name, f"({details}") if bracket and cell_len(part) > self._width - _BESIDE_THE_NAME else (part,)

    def _candidates(self, groups: Groups, summary: str) -> None:
        """Write the causes between which the log does not decide, each with its fix, and what decides."""
        self._blank()
        self._wrapped(Text(self._words("undecided", count=len(groups.main))))
        if summary:
            self._rows(self._words("decide"), [deciding(summary)])
        beside = self._fits(groups.main[:1], groups, below=1)
        for finding in groups.main:
            self._main(finding, groups, evidence=beside)
            self._fix(fix_steps([finding], self._words), (finding,), head=f"{self._words('fix')} ")
        if not beside:
            self._evidence_of(groups)

    def _rest(self, diagnosis: Diagnosis, groups: Groups) -> None:
        """Write what is not the cause, in rows without blank lines between them."""
        boots = boot_groups(diagnosis, self._words)
        if not (groups.also or groups.noted or groups.explained or boots):
            return
        self._blank()
        self._also(groups)
        self._noted(groups.noted, folded=bool(groups.main) or diagnosis.verdict in _QUIET)
        self._list(self._words("explained"), [self._named(one_line(f.title), f) for f in groups.explained])
        self._list(self._words("boots"), boots)

    # ------------------------------------------------------------------------------------ the parts of the page

    def _headline(self, diagnosis: Diagnosis) -> None:
        separator = f" {self._marks.dot} "
        first, *more = flow(headline(diagnosis, self._words), self._width - 2, separator)
        line = Text(first)
        line.stylize(_VERDICT_STYLE[diagnosis.verdict], 0, len(verdict_word(diagnosis, self._words)))
        self._wrapped(line, hang=2, limit=self._width)
        started = subject(diagnosis.boot, self._words) if diagnosis.boot else ()
        for text in more:
            self._wrapped(Text(f"  {text}"), hang=2, limit=self._width)
        pieces = [piece for part in started for piece in self._fitting(part)]
        for position, text in enumerate(flow(pieces, self._width - 2, separator)):
            self._wrapped(Text(f"  {text}" if position else text), hang=2, limit=self._width)

    def _main(self, finding: Finding, groups: Groups, *, evidence: bool = True) -> None:
        self._blank()
        severity = finding.severity
        left = Text.assemble(
            (label(finding, groups, self._words), "bold"),
            "  ",
            (severity.value, _SEVERITY_STYLE[severity]),
            f"  {one_line(finding.id)}",
        )
        unknown = finding.id == UNKNOWN_FAILURE
        sure = (self._words("not_in_database"),) if unknown else sureness(finding, self._words)
        right = f" {self._marks.dot} ".join(sure)
        gap = min(self._width, PROSE_COLUMNS) - left.cell_len - cell_len(right)
        self._wrapped(left + Text(" " * gap + right) if gap > 1 else left + Text(f"  {right}"), hang=2)
        self._wrapped(Text(one_line(finding.title), style="bold"), indent=2)
        if one_line(finding.cause) not in ("", one_line(finding.title)):
            self._wrapped(Text(one_line(finding.cause)), indent=2)
        for condition in finding.conditional:
            self._wrapped(Text(self._words("holds_if", condition=one_line(condition))), indent=2)
        if evidence:
            self._evidence(finding)
        if unknown:
            self._wrapped(Text(self._words("report_unknown")), indent=2)
            self._raw(f"    {self._words('report_unknown_command')}")

    def _evidence(self, finding: Finding, *, named: bool = False) -> None:
        if named and finding.evidence:
            self._wrapped(Text(one_line(finding.id)), indent=2)
        shown = distinct_evidence(finding)[:_EVIDENCE_SHOWN]
        told = [stated_by(item, self._words) for item, _ in shown]
        numbers, names = [where for where, _ in told], [name[:24] for _, name in told]
        wide, name_wide = (max(map(cell_len, column), default=0) for column in (numbers, names))
        for (item, again), where, name in zip(shown, numbers, names, strict=True):
            lead = [column for column in (pad(where, wide), pad(name, name_wide)) if column.strip()]
            lines = _EVIDENCE_LINES if len(shown) > 1 else _EVIDENCE_LINES_ALONE
            self._cut("".join(f"{column}  " for column in lead), one_line(item.text), lines)
            if again:
                others = shorten([str(line) for line in again], ROWS_SHOWN, self._words)
                self._wrapped(Text(self._words("again" if len(again) == 1 else "again_many", lines=others)), indent=4)
        more = max(finding.count, len(finding.evidence)) - sum(1 + len(again) for _, again in shown)
        if more > 0 and shown:
            self._raw(f"    {self._words('more_alike', count=more)}")
        if len(finding.ranks) > 1:
            ranks = ranks_text(finding.ranks, _RANKS_SHOWN, self._words)
            self._wrapped(Text(self._words("on_ranks", ranks=ranks)), indent=4)

    def _fix(self, steps: Sequence[Step], verified: Sequence[Finding], head: str = "") -> None:
        """Write remedies, what one types in one column, and what shows that they worked."""
        checks = [one_line(finding.verify) for finding in verified if finding.verify] if steps else []
        joined = (" ".join(part for part in (step.joint, step.verb) if part) for step in steps)
        names = [
            ((head if number == 0 else " " * cell_len(head)) + name).rstrip() for number, name in enumerate(joined)
        ]
        wide = max((cell_len(name) for name in (*names, self._words("verify") if checks else "")), default=0)
        column = max(
            (cell_len(step.command) for step in steps if cell_len(step.command) <= _COMMAND_COLUMNS), default=0
        )
        for step, name in zip(steps, names, strict=True):
            self._step(step, f"  {pad(name, wide)}  " if name else "  ", column)
        for text in checks:
            self._wrapped(Text(f"  {pad(self._words('verify'), wide)}  {text}"), hang=wide + 4)

    def _step(self, step: Step, lead: str, column: int = 0) -> None:
        """Write one remedy: the command on its line, the reason beside it where it fits, else below."""
        reason = ", ".join(part for part in (step.summary, step.condition) if part)
        if not step.command:
            self._wrapped(Text(lead + reason), hang=cell_len(lead))
            return
        lines = step.command.split("\n")
        beside = f"{lead}{pad(lines[0], column)}   {reason}"
        if len(lines) == 1 and cell_len(beside) <= min(self._width, PROSE_COLUMNS):
            self._raw(beside)
            return
        for position, line in enumerate(lines):
            self._raw((lead if position == 0 else " " * cell_len(lead)) + line)
        if reason:
            indent = cell_len(lead) + 2
            self._wrapped(Text(reason), indent=indent if self._width - indent >= 20 else 4)

    def _also(self, groups: Groups) -> None:
        """Write a row for each finding that deserves a look, with its fix where the fix block does not hold it."""
        told = {finding.id for finding in fixed_together(groups)}
        head = self._words("also")
        for position, finding in enumerate(groups.also[:ROWS_SHOWN]):
            self._row(head if position == 0 else " " * cell_len(head), finding)
            for step in fix_steps([finding], self._words)[:1]:
                if finding.id not in told:
                    self._step(step, f"{' ' * cell_len(head)}    {step.verb} ".rstrip() + " ")
        if len(groups.also) > ROWS_SHOWN:
            self._raw(f"{' ' * cell_len(head)}  {self._words('more', count=len(groups.also) - ROWS_SHOWN)}")

    def _noted(self, noted: Sequence[Finding], folded: bool) -> None:
        """Write the findings that ask for nothing: names only when folded, else the first ones as rows."""
        told = () if folded else noted[:_NOTED_TOLD]
        head = self._words("noted")
        for position, finding in enumerate(told):
            self._row(head if position == 0 else " " * cell_len(head), finding)
        names = [self._named(one_line(f.id), f) for f in noted[len(told) :]]
        self._list(" " * cell_len(head) if told else head, names)

    def _row(self, head: str, finding: Finding) -> None:
        where = ", ".join(part for part in (one_line(finding.id), self._line(finding)) if part)
        severity = finding.severity
        line = Text.assemble(
            (head, "bold"), "  ", (severity.value, _SEVERITY_STYLE[severity]), f"  {one_line(finding.title)} ({where})"
        )
        self._wrapped(line, hang=cell_len(head) + 4)

    def _charts(self, boot: BootDiagnosis) -> None:
        width = min(self._width, PROSE_COLUMNS)
        head = self._words("start")
        pieces = timeline_pieces(boot, max(8, min(width - 50, 60)), self._marks, self._words)
        self._rows(head, flow(pieces, width - cell_len(head) - 2, "  "), blank=True)
        if boot.budget is not None:
            head = self._words("memory")
            inner = width - cell_len(head) - 2
            bar = budget_bar(boot.budget, max(8, min(inner, 72)), self._marks)
            lines = [*flow(budget_pieces(boot.budget, self._marks), inner, "  "), bar, one_line(boot.budget.note)]
            self._rows(head, [line for line in lines if line], blank=not pieces)

    def _notes(self, diagnosis: Diagnosis) -> None:
        for position, note in enumerate(notes(diagnosis)):
            self._rows(self._words("note"), [note], blank=position == 0)

    def _launch(self, diagnosis: Diagnosis) -> None:
        launch = diagnosis.launch
        if launch is None or not is_changed(launch):
            return
        self._heading(self._words("command"))
        lines, more = change_lines(launch)
        for line in lines:
            self._raw(f"  {line}", {"+": "green", "-": "red"}.get(line[:1], "dim"))
        if more:
            self._raw(f"  {self._words('more', count=more)}", "dim")
        self._blank()
        for line in paste_lines(launch):
            self._raw(f"  {line}")
        self._list(f"  {self._words('unknown_parts')}:", [one_line(part) for part in launch.unknown])

    def _footer(self, diagnosis: Diagnosis, groups: Groups) -> None:
        separator = f" {self._marks.dot} "
        known: list[str] = []
        for finding in groups.main:
            named = self._named_by(finding)
            together = separator.join(named)
            known += [together] if cell_len(together) <= self._width else named
        parts = [part for part in (*known, redaction_text(diagnosis, self._words)) if part]
        if parts:
            self._blank()
        for line in flow(parts, self._width, separator):
            self._raw(line)

    def _named_by(self, finding: Finding) -> list[str]:
        """Return what one types to read more about a finding, and what tells its kind from others."""
        known = [self._words("explain", id=one_line(finding.id))] if finding.id != UNKNOWN_FAILURE else []
        return (
            [*known, self._words("fingerprint", fingerprint=one_line(finding.fingerprint))]
            if finding.fingerprint
            else known
        )

    def _line(self, finding: Finding) -> str:
        return place(finding, self._words)

    def _named(self, name: str, finding: Finding) -> str:
        where = self._line(finding)
        return f"{name} ({where})" if where else name
