"""The sections of the HTML page: causes, fixes, evidence, the launch, the other findings, the facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logdoctor.model import BootDiagnosis, Evidence, Finding, Launch
from logdoctor.report.escaping import clip, one_line
from logdoctor.report.grouping import (
    Groups,
    Step,
    distinct_evidence,
    fix_heading,
    fix_steps,
    fixed_together,
    is_undecided,
    label,
    place,
    ranks_text,
    shorten,
    stated_by,
    sureness,
)
from logdoctor.report.page.tags import Html, folded, joined, listed, tag, to_copy
from logdoctor.report.values import origin_text, value_text
from logdoctor.report.words import UNKNOWN_FAILURE, Words

_LINE, _PROSE, _COMMAND, _DIFF_LINES = 4_000, 3_000, 20_000, 400
_EVIDENCE, _CONTEXT, _STEPS, _FINDINGS, _FACTS, _RANKS = 40, 20, 20, 200, 500, 32


class Sections:
    """Makes the sections of the report on one boot."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def causes(self, groups: Groups) -> Iterator[Html]:
        """Yield what is told in full, each cause with its fix and its evidence."""
        words = self._words
        if is_undecided(groups):
            yield tag("p", words("undecided", count=len(groups.main)))
        together = fixed_together(groups)
        for finding in groups.main:
            content = [self._cause(finding, groups)]
            if is_undecided(groups):
                content.append(self._fix([finding], finding.verify))
            elif finding is groups.main[-1]:
                content.append(self._fix(together, groups.main[0].verify))
            content.append(self._evidence(finding))
            yield self._finding("section", finding, *content)

    def _cause(self, finding: Finding, groups: Groups) -> Html:
        words, unknown = self._words, finding.id == UNKNOWN_FAILURE
        sure = (words("not_in_database"),) if unknown else sureness(finding, words)
        lines = [
            tag("h2", label(finding, groups, words).capitalize()),
            # The head of the page says the title of the one cause.
            tag("p", _clip(finding.title), class_="title") if len(groups.main) > 1 else "",
            self._marks(finding, (sure[0], *(words("basis", basis=basis) for basis in sure[1:]))),
        ]
        if one_line(finding.cause) not in ("", one_line(finding.title)):
            lines.append(tag("p", _clip(finding.cause)))
        lines += [tag("p", _clip(words("holds_if", condition=one_line(c)))) for c in finding.conditional[:_STEPS]]
        if unknown:
            lines += [tag("p", words("report_unknown")), self._typed(words("report_unknown_command"))]
        return joined(lines)

    def _marks(self, finding: Finding, others: Sequence[str] = ()) -> Html:
        severity = tag("span", finding.severity.value, class_=f"severity {finding.severity.value}")
        return tag("p", severity, tag("code", finding.id), tag("span", ", ".join(others)), class_="marks")

    def _fix(self, findings: Sequence[Finding], verify: str) -> Html:
        steps = fix_steps(findings, self._words)[:_STEPS]
        if not steps:
            return Html()
        check = tag("p", tag("strong", self._words("check")), ": ", _clip(verify)) if verify.strip() else ""
        heading = tag("h3", fix_heading(findings, self._words).capitalize())
        return tag("div", heading, listed("ol", map(self._step, steps), class_="steps"), check, class_="fix")

    def _step(self, step: Step) -> Html:
        lead = " ".join(part for part in (step.joint, step.verb) if part)
        parts = [tag("strong", lead) if lead else "", _clip(step.summary)]
        parts.append(tag("em", _clip(step.condition)) if step.condition else "")
        said = tag("p", joined([part for part in parts if part], between=" "))
        return joined((said, self._typed(step.command))) if step.command else said

    def _typed(self, command: str) -> Html:
        return to_copy(clip(command, _COMMAND), self._words("html.copy"), self._words("html.copied"))

    def _evidence(self, finding: Finding) -> Html:
        words, shown = self._words, distinct_evidence(finding)[:_EVIDENCE]
        lines = [self._quoted(item, again) for item, again in shown]
        more = max(finding.count, len(finding.evidence)) - sum(1 + len(again) for _, again in shown)
        if more > 0 and shown:
            lines.append(tag("p", words("more_alike", count=more)))
        if len(finding.ranks) > 1:
            lines.append(tag("p", _clip(words("on_ranks", ranks=ranks_text(finding.ranks, _RANKS, words)))))
        if finding.references:
            names = [tag("code", _clip(name)) for name in finding.references[:_STEPS]]
            lines.append(tag("p", words("references"), ": ", joined(names, between=", ")))
        return joined((tag("h3", words("evidence")), *lines)) if lines else Html()

    def _quoted(self, item: Evidence, again: Sequence[int]) -> Html:
        words = self._words
        others = shorten([str(line) for line in again], _STEPS, words)
        head = tag("p", _clip(", ".join(part for part in stated_by(item, words) if part)), class_="where")
        said = tag("pre", _long(item.text), class_="log")
        around = ""
        if item.before or item.after:
            lines = (*item.before[-_CONTEXT:], f"> {item.text}", *item.after[:_CONTEXT])
            around = folded(words("html.around"), tag("pre", "\n".join(map(_long, lines)), class_="log"))
        repeated = (
            tag("p", words("again" if len(again) == 1 else "again_many", lines=others), class_="where") if again else ""
        )
        return tag("div", head, said, around, repeated, class_="evidence")

    def launch(self, launch: Launch) -> Html:
        """Return the corrected launch: what changes as a diff, what to paste, and what was left alone."""
        words = self._words
        changed = launch.diff.split("\n")
        shown = [self._diff_line(line) for line in changed[:_DIFF_LINES] if line]
        if len(changed) > _DIFF_LINES:
            shown.append(tag("span", words("more", count=len(changed) - _DIFF_LINES)))
        lists = [
            (words(name), [_clip(item) for item in items[:_STEPS]])
            for name, items in (
                ("html.applied", launch.applied),
                ("html.skipped", launch.skipped),
                ("unknown_parts", launch.unknown),
            )
        ]
        paste = launch.ready_command.strip() or launch.corrected.strip("\n")
        return tag(
            "section",
            tag("h2", words("command").capitalize()),
            tag("pre", *shown, class_="diff") if shown else "",
            self._typed(paste) if paste else "",
            *(joined((tag("h3", head.capitalize()), listed("ul", items))) for head, items in lists if items),
        )

    def _diff_line(self, line: str) -> Html:
        name = {"+": "ins", "-": "del"}.get(line[0], "span") if line[:3] not in ("+++", "---") else "span"
        return tag(name, f"{_long(line)}\n")

    def others(self, groups: Groups) -> Html:
        """Return the findings that are not told in full, each in a row that opens."""
        listed_ = (*groups.also, *groups.noted, *groups.explained)
        rows = [self._other(finding) for finding in listed_[:_FINDINGS]]
        if len(listed_) > _FINDINGS:
            rows.append(tag("p", self._words("more", count=len(listed_) - _FINDINGS)))
        return tag("section", tag("h2", self._words("findings")), *rows) if rows else Html()

    def _other(self, finding: Finding) -> Html:
        words, place_ = self._words, place(finding, self._words)
        severity = tag("span", finding.severity.value, class_=f"severity {finding.severity.value}")
        where = f" ({place_})" if place_ else ""
        summary = joined((severity, " ", _clip(finding.title), where))
        explained = words("explained_by", ids=", ".join(map(one_line, finding.explained_by)))
        content = (
            self._marks(finding, (words(f"role.{finding.role.value}"), *sureness(finding, words))),
            tag("p", explained) if finding.explained_by else "",
            tag("p", _clip(finding.cause)) if finding.cause.strip() else "",
            self._fix([finding], finding.verify),
            self._evidence(finding),
        )
        return self._finding("details", finding, tag("summary", summary), *content)

    def _finding(self, name: str, finding: Finding, *content: str) -> Html:
        return tag(
            name,
            *content,
            class_="finding",
            data_finding=finding.id,
            data_fingerprint=finding.fingerprint,
            data_severity=finding.severity.value,
            data_role=finding.role.value,
        )

    def facts(self, boot: BootDiagnosis) -> Html:
        """Return the facts as a table that opens."""
        rows = []
        for key in sorted(boot.facts)[:_FACTS]:
            fact = boot.facts[key]
            line = self._words("line", line=fact.line) if fact.line else ""
            origin = ", ".join(part for part in (line, one_line(origin_text(fact, self._words))) if part)
            cells = (tag("td", clip(value_text(fact.value), 1_000)), tag("td", origin))
            rows.append(tag("tr", tag("th", _clip(key), scope="row"), *cells))
        table = tag("table", tag("tbody", *rows), class_="facts")
        return tag("section", folded(f"{self._words('facts')} ({len(boot.facts)})", table)) if rows else Html()


def _clip(text: str) -> str:
    return clip(one_line(text), _PROSE)


def _long(line: str) -> str:
    return clip(line, _LINE)
