"""The findings of a boot by their place in a report, and the fix that they add up to.

Nothing here decides anything about the log. It orders, and chooses words for, what the diagnosis holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from logdoctor.model import BootDiagnosis, Diagnosis, Evidence, Finding, Remedy, Role, Severity, Verdict
from logdoctor.report.escaping import one_line
from logdoctor.report.words import UNKNOWN_FAILURE, Words


@dataclass(frozen=True, slots=True)
class Groups:
    """The findings of a boot by the place they get in a report; each is in exactly one group."""

    main: tuple[Finding, ...] = ()
    """Told in full: the root cause, several of them when the log does not decide, or the worst there is."""
    also: tuple[Finding, ...] = ()
    """Deserve a look: a line each."""
    noted: tuple[Finding, ...] = ()
    """Nothing to do: folded."""
    explained: tuple[Finding, ...] = ()
    """Consequences of others."""


_MAIN_LIMIT = 3


def group(boot: BootDiagnosis) -> Groups:
    """Sort the findings of a boot into the places of the report, the given order kept within each."""
    main = tuple(f for f in boot.findings if f.role is Role.ROOT_CAUSE) or _stand_ins(boot)
    rest = [f for f in boot.findings if not any(f is one for one in main)]
    own = [f for f in rest if f.role is not Role.CONSEQUENCE]
    return Groups(
        main=main,
        also=tuple(f for f in own if f.severity is not Severity.INFO),
        noted=tuple(f for f in own if f.severity is Severity.INFO),
        explained=tuple(f for f in rest if f.role is Role.CONSEQUENCE),
    )


def _stand_ins(boot: BootDiagnosis) -> tuple[Finding, ...]:
    """Without a root cause, tell the worst findings in full; on a server that is up only from `error` on."""
    own = [f for f in boot.findings if f.role is not Role.CONSEQUENCE and _deserves_telling(f, boot)]
    worst = max((f.severity.rank for f in own), default=0)
    return tuple(f for f in own if f.severity.rank == worst)[:_MAIN_LIMIT]


def _deserves_telling(finding: Finding, boot: BootDiagnosis) -> bool:
    if boot.verdict in (Verdict.READY, Verdict.STOPPED):
        return finding.severity.rank >= Severity.ERROR.rank
    if finding.severity is not Severity.INFO or boot.verdict is Verdict.UNDETERMINED:
        return True
    # Of what is no fault, only what says how things stand now or asks for something.
    return bool(finding.remedies) or finding.phase == boot.phase


def distinct_evidence(finding: Finding) -> tuple[tuple[Evidence, tuple[int, ...]], ...]:
    """Return the evidence with each text of a process once, and the further lines on which it stands."""
    again: dict[tuple[str, str], list[Evidence]] = {}
    for item in finding.evidence:
        again.setdefault((item.process, one_line(item.text)), []).append(item)
    groups = (sorted(items, key=lambda item: item.line) for items in again.values())
    told = [(first, tuple(item.line for item in others if item.line)) for first, *others in groups]
    return tuple(sorted(told, key=lambda pair: pair[0].line))


def is_undecided(groups: Groups) -> bool:
    """Tell whether several root causes stand side by side."""
    return len(groups.main) > 1 and groups.main[0].role is Role.ROOT_CAUSE


def label(finding: Finding, groups: Groups, words: Words) -> str:
    """Return the heading under which a main finding is told."""
    if finding.id == UNKNOWN_FAILURE:
        return words("unknown_failure")
    if is_undecided(groups):
        number = next(i for i, one in enumerate(groups.main, 1) if one is finding)
        return words("one_of", number=number, count=len(groups.main))
    return words("root_cause") if finding.role is Role.ROOT_CAUSE else words("found")


def first_line(finding: Finding) -> int:
    """Return the line of the piece of evidence that decides, 0 when the finding rests on facts without a line."""
    return finding.evidence[0].line if finding.evidence else 0


def place(finding: Finding, words: Words) -> str:
    """Say where a finding stands: its line in the log, the launch, or the probe; empty where nothing tells."""
    line = first_line(finding)
    if line:
        return words("line", line=line)
    who = next((item.process for item in finding.evidence), "launch" if finding.phase == "launch" else "")
    return words(f"by.{who}") if who in ("probe", "launch", "given") else ""


def in_log_order(finding: Finding) -> tuple[Evidence, ...]:
    """Return the evidence as it stands in the log; the finding itself begins with the line that decides."""
    return tuple(sorted(finding.evidence, key=lambda item: item.line))


def stated_by(item: Evidence, words: Words) -> tuple[str, str]:
    """Return where a piece of evidence stands and which process wrote it, in words."""
    if item.line:
        return words("line", line=item.line), one_line(item.process)
    known = item.process in ("probe", "launch", "given")
    return (words(f"by.{item.process}"), "") if known else ("", one_line(item.process))


def writer(item: Evidence, words: Words) -> str:
    """Return who stated a piece of evidence, as what stands before its text."""
    where, who = stated_by(item, words)
    said = who if item.line else where or who
    return f"{said}: " if said else ""


def sureness(finding: Finding, words: Words) -> tuple[str, str]:
    """Return the confidence and the basis of a finding in words."""
    return words(f"confidence.{finding.confidence.value}"), words(f"basis.{finding.basis.value}")


def ranks_text(ranks: Sequence[str], limit: int, words: Words) -> str:
    """List the first ranks and count the rest."""
    return shorten([one_line(rank) for rank in ranks], limit, words)


def shorten(items: Sequence[str], limit: int, words: Words) -> str:
    """Join at most `limit` items with commas and count the rest."""
    shown = ", ".join(items[:limit])
    return f"{shown} {words('more', count=len(items) - limit)}" if len(items) > limit else shown


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the fix block."""

    joint: str
    """Empty for the first, `or` for another way to mend the same finding, `and` for a further part or finding."""
    verb: str
    """`add`, `set`, `remove`, …; empty without a command."""
    command: str
    """What to type, empty for mere advice."""
    summary: str
    condition: str
    remedy: Remedy


def fix_steps(findings: Iterable[Finding], words: Words) -> tuple[Step, ...]:
    """Return the remedies of these findings as steps, each command once, in the given order."""
    seen: set[tuple[str, str]] = set()
    steps: list[Step] = []
    for finding in findings:
        alternative = False
        for remedy in finding.remedies:
            command = remedy.command.strip()
            key = (remedy.kind, command or one_line(remedy.summary))
            if key in seen:
                continue
            seen.add(key)
            other_way = alternative and not remedy.with_previous
            joint = words("or") if other_way else words("and") if steps else ""
            verb = words.get(f"verb.{place_of(remedy)}", remedy.kind) if command else ""
            condition = condition_text(remedy.condition, words)
            steps.append(Step(joint, verb, command, _summary(remedy, joint), condition, remedy))
            alternative = True
    return tuple(steps)


def place_of(remedy: Remedy) -> str:
    """Return what kind of thing is to be typed: an option of docker run and a line of a Dockerfile are no commands."""
    command = remedy.command.strip()
    if remedy.kind == "host" and command.startswith("-"):
        return "docker"
    if remedy.kind == "image" and command.startswith("RUN "):
        return "dockerfile"
    return remedy.kind


def _summary(remedy: Remedy, joint: str) -> str:
    """Return what a remedy does; behind the report's own `or` it need not say so again."""
    summary = one_line(remedy.summary)
    if joint and summary.startswith("Or "):
        return summary[3:4].upper() + summary[4:]
    return summary


def step_text(step: Step) -> str:
    """Return a remedy as one line: what to type, and why."""
    reason = ", ".join(part for part in (step.summary, step.condition) if part)
    typed = " ".join(part for part in (step.verb, one_line(step.command)) if part)
    return f"{typed} ({reason})" if typed and reason else typed or reason


def first_fix(findings: Iterable[Finding], words: Words) -> str:
    """Return the first remedy of these findings as one line; empty when there is none."""
    return next((step_text(step) for step in fix_steps(findings, words)), "")


def explanation(finding: Finding) -> str:
    """Return the title and, where it says more, the cause as running text."""
    title, cause = one_line(finding.title), one_line(finding.cause)
    if cause in ("", title):
        return title
    return f"{title}{'' if title.endswith(('.', ':', '!', '?')) else '.'} {cause}".strip()


def fix_heading(findings: Sequence[Finding], words: Words) -> str:
    """Return the heading of the remedies: where nothing known is wrong there is a next step, but no fix."""
    first = findings[0] if findings else None
    no_fault = first is not None and (first.id == UNKNOWN_FAILURE or first.severity is Severity.INFO)
    return words("next") if no_fault else words("fix")


def fixed_together(groups: Groups) -> tuple[Finding, ...]:
    """Return the findings whose remedies make up one fix: what is told in full, and what contributed to it.

    Empty when the log does not decide between causes: then each has its own fix.
    """
    if is_undecided(groups):
        return ()
    return (*groups.main, *(f for f in groups.also if f.role is Role.CONTRIBUTING)) if groups.main else ()


def condition_text(condition: str, words: Words) -> str:
    """Word a condition so that it can stand behind a statement."""
    condition = one_line(condition)
    if not condition or condition.startswith(("if ", "when ", "where ", "only ", "unless ", "with ")):
        return condition
    return words("if", condition=condition)


def notes(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the remarks about the input and about the leading boot, each once."""
    boot = diagnosis.boot
    both = (*diagnosis.notes, *(boot.notes if boot else ()))
    return tuple(dict.fromkeys(one_line(note) for note in both if note.strip()))


_SAID_BY_THE_HEADLINE = ("no vLLM start recognised in the input", "输入中没有发现 vLLM 的启动过程")


def prose_summary(diagnosis: Diagnosis) -> str:
    """Return the diagnosis's own sentence where the headline and the findings do not say as much.

    That is where no boot was recognised but more is known, and where the log does not decide between causes: then it
    says what does.
    """
    boot = diagnosis.boot
    if boot is None:
        summary = one_line(diagnosis.summary)
        return "" if summary in _SAID_BY_THE_HEADLINE else summary
    roots = [finding for finding in boot.findings if finding.role is Role.ROOT_CAUSE]
    summary = one_line(boot.summary)
    if len(roots) < 2 or any(one_line(root.title) in summary for root in roots):
        return ""
    # That the server did not start says the headline.
    for joint, begun in _DECIDES:
        _, mark, command = summary.partition(joint)
        if mark:
            return begun + command
    return summary


_DECIDES = (("; this decides: ", "This decides: "), ("；用这个来判定：", "用这个来判定："))


def deciding(summary: str) -> str:
    """Return a summary that says what decides between causes without these words, for behind a heading that says so."""
    return next((summary.removeprefix(begun) for _, begun in _DECIDES if summary.startswith(begun)), summary)


def redaction_text(diagnosis: Diagnosis, words: Words) -> str:
    """Say what was replaced, empty when nothing was."""
    kinds = [f"{one_line(kind)} {count}" for kind, count in sorted(diagnosis.redactions.items()) if count]
    return words("redacted", kinds=", ".join(kinds)) if kinds else ""
