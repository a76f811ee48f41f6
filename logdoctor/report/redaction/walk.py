"""Redaction of a whole diagnosis: every text of every boot, with one redactor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from logdoctor.model import (
    BootDiagnosis,
    Budget,
    BudgetPart,
    Diagnosis,
    Evidence,
    Fact,
    FactValue,
    Finding,
    Launch,
    Remedy,
)
from logdoctor.wording import Worded, cut, parts_of

from .launches import with_references
from .names import kind_of_name
from .redactor import Redactor


def redact(diagnosis: Diagnosis, *, keep_hosts: bool = False) -> Diagnosis:
    """Return `diagnosis` without secrets; redacting twice gives the same as once.

    `keep_hosts` leaves host names, IP and MAC addresses and GPU UUIDs readable; nothing keeps secrets. References, ids,
    fingerprints and time stamps are the tool's own words and stay as they are.
    """
    redactor = Redactor(keep_hosts=keep_hosts)
    learner = _Walk(redactor, learning=True)
    learner.diagnosis(diagnosis)
    redactor.learn(*learner.texts)
    for text in learner.worded:
        redactor.learn_worded(text)
    done = _Walk(redactor).diagnosis(diagnosis)
    counts = dict(diagnosis.redactions)
    for kind, count in redactor.counts.items():
        counts[kind] = counts.get(kind, 0) + count
    return replace(done, redactions=dict(sorted(counts.items())))


class _Walk:
    """Walks a diagnosis; when `learning` it collects the texts and returns them unchanged."""

    def __init__(self, redactor: Redactor, *, learning: bool = False) -> None:
        self.redactor = redactor
        self.learning = learning
        self.texts: list[str] = []
        self.worded: list[Worded] = []

    def text(self, text: str) -> str:
        if isinstance(text, Worded):
            if self.learning:
                self.worded.append(text)
                return text
            return self.redactor.worded(text)
        if self.learning:
            self.texts.append(text)
            return text
        return self.redactor.text(text)

    def all(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.text(text) for text in texts)

    def diagnosis(self, diagnosis: Diagnosis) -> Diagnosis:
        return replace(
            diagnosis,
            summary=self.text(diagnosis.summary),
            boots=tuple(self.boot(boot) for boot in diagnosis.boots),
            launch=diagnosis.launch and self.launch(diagnosis.launch),
            source=self.text(diagnosis.source),
            notes=self.all(diagnosis.notes),
        )

    def boot(self, boot: BootDiagnosis) -> BootDiagnosis:
        if self.learning:
            self.texts += _neighbours(boot.findings)
        return replace(
            boot,
            facts=self.facts(boot.facts),
            summary=self.text(boot.summary),
            findings=tuple(self.finding(finding) for finding in boot.findings),
            budget=boot.budget and self.budget(boot.budget),
            notes=self.all(boot.notes),
            service=self.text(boot.service),
        )

    def facts(self, facts: Mapping[str, Fact]) -> dict[str, Fact]:
        return {key: self.fact(fact) for key, fact in facts.items()}

    def fact(self, fact: Fact) -> Fact:
        value, process = self.fact_value(fact.key, fact.value), self.text(fact.process)
        unchanged = value == fact.value and process == fact.process
        return fact if unchanged else replace(fact, value=value, process=process)

    def fact_value(self, key: str, value: FactValue) -> FactValue:
        """Redact a fact by its key as well as by its text; numbers are secret only as passwords and keys."""
        if isinstance(value, tuple):
            return tuple(str(self.fact_value(key, part)) for part in value)
        if isinstance(value, str):
            return self.setting(key, value)
        if not isinstance(value, bool) and kind_of_name(key.rpartition(".")[2]) in ("password", "api-key"):
            return self.setting(key, str(value))
        return value

    def setting(self, key: str, value: str) -> str:
        """Redact the text of a setting; its name tells as much as its text."""
        name = key.rpartition(".")[2]
        if kind_of_name(name):
            redacted = self.redactor.value(key, value)
            return value if self.learning else redacted
        names_a_place = name.isupper() or name.endswith(("host", "hostname", "_addr", "_address", "node_name"))
        context = "host=" if key == "host.name" else f"{name}=" if names_a_place else ""
        redacted = self.text(context + value)
        return redacted[len(context) :] if redacted.startswith(context) else self.text(value)

    def finding(self, finding: Finding) -> Finding:
        return replace(
            finding,
            title=self.text(finding.title),
            cause=self.text(finding.cause),
            evidence=tuple(self.evidence(evidence) for evidence in finding.evidence),
            ranks=self.all(finding.ranks),
            remedies=tuple(self.remedy(remedy) for remedy in finding.remedies),
            verify=self.text(finding.verify),
            conditional=self.all(finding.conditional),
        )

    def evidence(self, evidence: Evidence) -> Evidence:
        """Redact a line with the lines around it as one text: a secret may be cut by their ends."""
        whole = "".join(part.text for part in parts_of(evidence.text))
        lines = (*evidence.before, whole, *evidence.after)
        redacted = self.text("\n".join(lines))
        parts = list(_split_like(redacted, lines))
        at = len(evidence.before)
        return replace(
            evidence,
            process=self.text(evidence.process),
            before=tuple(parts[:at]),
            text=_shown_like(evidence.text, parts[at]),
            after=tuple(parts[at + 1 :]),
        )

    def remedy(self, remedy: Remedy) -> Remedy:
        return replace(
            remedy,
            summary=self.text(remedy.summary),
            command=self.text(remedy.command),
            condition=self.text(remedy.condition),
        )

    def budget(self, budget: Budget) -> Budget:
        parts = tuple(BudgetPart(self.text(part.name), part.gib, part.line) for part in budget.parts)
        return replace(budget, parts=parts, note=self.text(budget.note))

    def typed(self, text: str) -> str:
        """Redact what is meant to be pasted: a shell takes no placeholder, but it fills in variables."""
        return with_references(self.text(text))

    def launch(self, launch: Launch) -> Launch:
        return Launch(
            original=self.typed(launch.original),
            corrected=self.typed(launch.corrected),
            unknown=self.all(launch.unknown),
            ready_command=self.typed(launch.ready_command),
            applied=self.all(launch.applied),
            skipped=self.all(launch.skipped),
        )


def _shown_like(text: str, redacted: str) -> str:
    """Return a redacted line cut where the line was."""
    limit = next((part.limit for part in parts_of(text) if part.limit), 0)
    return cut(redacted, limit) if limit else redacted


def _neighbours(findings: tuple[Finding, ...]) -> Iterator[str]:
    """Yield neighbouring lines of the evidence as one text: a secret may begin in one piece and end in another."""
    lines: dict[int, str] = {}
    for evidence in (evidence for finding in findings for evidence in finding.evidence):
        first = evidence.line - len(evidence.before)
        whole = "".join(part.text for part in parts_of(evidence.text))
        for number, line in enumerate((*evidence.before, whole, *evidence.after), start=first):
            lines.setdefault(number, line)
    run: list[str] = []
    for number in sorted(lines):
        if number - 1 not in lines and run:
            yield "\n".join(run)
            run = []
        run.append(lines[number])
    if run:
        yield "\n".join(run)


def _split_like(text: str, lines: tuple[str, ...]) -> Iterator[str]:
    """Split a redacted text back into the parts that it was joined from: redaction keeps every line end."""
    rest = text.split("\n")
    for line in lines:
        count = line.count("\n") + 1
        yield "\n".join(rest[:count])
        rest = rest[count:]
