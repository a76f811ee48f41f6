"""From records to a diagnosis: one observer per boot, closed when the next boot begins.

Memory stays bounded: of a boot only facts, a few hits per signature and the kept failures remain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from logdoctor.budget import budget, budget_facts
from logdoctor.database import Database
from logdoctor.database.schema import Kind
from logdoctor.diagnosis import fingerprints, verdict
from logdoctor.diagnosis.boots import FIRST, Boots
from logdoctor.diagnosis.causes import Candidate, Judged, is_about_the_boot, judge, weigh
from logdoctor.diagnosis.failures import Failure, FailureLog
from logdoctor.diagnosis.matching import BootMatcher, Match, Matcher, shortened
from logdoctor.diagnosis.refuted import unrefuted
from logdoctor.diagnosis.remedies import choose, conflicts_of
from logdoctor.diagnosis.restarts import with_restarts
from logdoctor.diagnosis.services import in_order, signed_by
from logdoctor.diagnosis.settling import settle
from logdoctor.diagnosis.silence import LastRecords, patience, silence_facts
from logdoctor.diagnosis.summary import boot_notes, boot_summary
from logdoctor.diagnosis.templates import as_text, fill
from logdoctor.diagnosis.unknown import first_failure, unknown_failure
from logdoctor.facts import FactCollector, Milestones, infer_facts
from logdoctor.facts.derived import derived_facts
from logdoctor.model import (
    BootDiagnosis,
    Confidence,
    Diagnosis,
    Evidence,
    Fact,
    Facts,
    Finding,
    Record,
    Role,
    Verdict,
)
from logdoctor.reading import looks_like_vllm
from logdoctor.reading.client_words import is_about_a_request, without_client_words
from logdoctor.reading.others import Owner
from logdoctor.reading.strangers import is_an_answer, is_strangers
from logdoctor.wording import clipped, joined, own

MAX_EVIDENCE = 6
BATCH_LINES = 1000
_BARS = frozenset({"% Completed | ", "%|"})
"""Literals of the facts that only progress bars hold."""
MAX_FINDINGS = 60
OUTLIVED = " (the server outlived it)"
MAX_TEXT = 2000
"""Characters of a line that evidence shows."""


def _is_amid_bars(place: int, records: Sequence[Record], found: Sequence[set[str]]) -> bool:
    """Whether a record is a step of a progress bar between two other steps of it: the first and the last tell all."""
    if not 0 < place < len(records) - 1:
        return False
    around = records[place - 1], records[place], records[place + 1]
    return (
        found[place - 1] == found[place] == found[place + 1]
        and around[0].process == around[1].process == around[2].process
        and not any(record.level or record.exception or len(record.lines) > 1 for record in around)
    )


class BootObserver:
    """Watches the records of one boot."""

    def __init__(self, matcher: Matcher, index: int, owner: Owner | None = None) -> None:
        self.index = index
        self._owner = owner or Owner()
        self._general = matcher.general
        self._facts = FactCollector()
        self._all = matcher
        self._matcher = BootMatcher(matcher)
        self._waiting: list[Record] = []
        self._waiting_lines = 0
        self._failures = FailureLog()
        self._last_records = LastRecords()
        self._vllm = self._named = False
        self._left_out = 0
        self._strangers = 0
        """The first line of an error of another program in the same stream."""
        self._complaint: Record | None = None
        """The last one about a request."""
        self._last: tuple[int, str] = (0, "")
        self._first_line = 0
        self._service = ""

    def observe(self, record: Record) -> None:
        """Take a record; it is looked at together with the next few."""
        self._owner.observe(record)
        self._waiting.append(record)
        self._waiting_lines += len(record.lines)
        if self._waiting_lines >= BATCH_LINES:
            self._look()

    def _look(self) -> None:
        """Look at the waiting records: one search tells which literals stand in each."""
        records, self._waiting, self._waiting_lines = self._waiting, [], 0
        if not records:
            return
        self._first_line = self._first_line or records[0].first_line
        messages = [shortened(record.message) for record in records]
        found = self._all.find(messages)
        for place, (record, message, present) in enumerate(zip(records, messages, found, strict=True)):
            if present & _BARS and _is_amid_bars(place, records, found):
                continue
            if not record.quoted and is_strangers(record, begun=self._vllm, up=self._facts.up):
                self._strangers = self._strangers or record.first_line
                record = record._replace(quoted=True)
            requested = not record.quoted and self._facts.up and is_about_a_request(record)
            if requested:
                self._complaint, record = record, without_client_words(record, self._complaint)
                message = shortened(record.message)
                present = {literal for literal in present if literal in message}
            answered = is_an_answer(record)
            requested = requested or answered
            self._facts.observe(record._replace(quoted=True) if answered else record, present)
            self._matcher.observe(record, message, present, requested=requested)
            self._failures.observe(record)
            self._last_records.observe(record)
            self._vllm = self._vllm or looks_like_vllm(record)
            self._named = self._named or record.process.role not in ("", "ray")
            self._service = self._service or signed_by(record)
            if not record.quoted:
                last = next(((n, t) for n, t in reversed(record.lines) if t.strip()), None)
                self._last = max(self._last, last) if last else self._last

    def close(self, given: Mapping[str, Fact]) -> BootDiagnosis | None:
        """Diagnose the boot; None when nothing in it comes from vLLM or matches."""
        self._look()
        milestones = self._facts.milestones
        happened = self._happened(milestones)
        facts = self._all_facts(happened, milestones, given)
        candidates = self._candidates(facts, happened, milestones)
        failed = happened not in (Verdict.READY, Verdict.STOPPED)
        judged = judge(candidates, failed=failed, stop_line=milestones.shutdown_line)
        if self._is_anothers(milestones) or (not self._vllm and not candidates):
            return None
        reached = verdict.final(happened, judged, milestones)
        if reached is Verdict.FAILED and happened is not reached:
            # What was asked of an unfinished start has no place beside the error that ended it.
            judged = [one for one in judged if not is_about_the_boot(one.candidate.signature)]
            facts = {key: fact for key, fact in facts.items() if not key.startswith("silence.")}
            facts.update(verdict.boot_facts(reached, self._facts.phase, milestones))
        findings = self._findings(judged, facts, reached, milestones)
        summary = boot_summary(reached, findings, facts, milestones, decide=self._decide(judged, facts))
        return BootDiagnosis(
            index=self.index,
            verdict=reached,
            phase=self._facts.phase,
            lines=(milestones.first_line, milestones.last_line),
            summary=summary,
            facts=dict(sorted(facts.items())),
            findings=findings,
            timeline=self._facts.timeline(),
            budget=budget(facts),
            seconds=milestones.seconds,
            notes=boot_notes(milestones, self._matcher.too_slow, self._facts.left_out, self._left_out, self._strangers),
            service=self._service,
        )

    def _happened(self, milestones: Milestones) -> Verdict:
        """Return the verdict that the events alone support; where nobody waits, nobody's patience is asked for."""
        waiting = milestones.wait is not None
        return verdict.outcome(milestones, patience(self._last_records, self._facts.phase) if waiting else 0.0)

    def _is_anothers(self, milestones: Milestones) -> bool:
        """Whether it is another program's log: one says its name, and nothing says vLLM's."""
        begun = (milestones.begin is not None or self._named) and not self._owner.is_client
        return bool(self._owner.name) and not begun and milestones.engine is None

    def matching(self, given: Mapping[str, Fact]) -> tuple[Match, ...]:
        """Return the matches of all signatures that fit the boot, whatever their role would be."""
        self._look()
        milestones = self._facts.milestones
        happened = self._happened(milestones)
        facts = self._all_facts(happened, milestones, given)
        return tuple(candidate.match for candidate in self._candidates(facts, happened, milestones))

    def _all_facts(self, happened: Verdict, milestones: Milestones, given: Mapping[str, Fact]) -> dict[str, Fact]:
        # What is given by hand outweighs the log; the log outweighs what a launch file says.
        stated = self._facts.facts()
        launch = unrefuted({key: fact for key, fact in given.items() if fact.origin == "launch"}, stated)
        by_hand = {key: fact for key, fact in given.items() if fact.origin != "launch"}
        facts = infer_facts({**launch, **stated, **by_hand})
        facts.update(derived_facts(facts))
        facts.update(verdict.boot_facts(happened, self._facts.phase, milestones))
        # An example states how the rest of its boot went.
        facts.update((key, fact) for key, fact in given.items() if key.startswith("boot."))
        silence = silence_facts(happened, facts, self._last_records, self._facts.timeline(), verdict.waited(milestones))
        facts.update((key, fact) for key, fact in {**budget_facts(facts), **silence}.items() if key not in given)
        return facts

    def _candidates(self, facts: dict[str, Fact], happened: Verdict, milestones: Milestones) -> list[Candidate]:
        candidates = weigh(self._matcher.matches(facts), facts, self._failures, milestones)
        self._note_silence(facts, happened, candidates, milestones)
        if not any(key in facts for key in _SILENCE):
            return candidates
        return weigh(self._matcher.matches(facts), facts, self._failures, milestones)

    def _note_silence(
        self, facts: dict[str, Fact], happened: Verdict, candidates: list[Candidate], milestones: Milestones
    ) -> None:
        """State as facts that a failed boot shows no cause of its own: cut off above, or died without a word."""
        if happened not in (Verdict.FAILED, Verdict.CRASHED):
            return
        judged = judge(candidates, failed=True, stop_line=milestones.shutdown_line)
        roots = [one.candidate for one in judged if one.role is Role.ROOT_CAUSE]
        if any(root.weight < 2 and root.signature.match for root in roots):
            return
        if first_failure(self._failures, _explained_lines(judged)) is not None:
            return
        if not any(c.signature.kind is Kind.CASCADE for c in candidates) and not milestones.failed:
            return
        key = "boot.only_cascade" if milestones.excerpt and not milestones.engine else "boot.silent_death"
        facts[key] = Fact(key, True, milestones.failure_line, origin="inferred")

    def _findings(
        self, judged: list[Judged], facts: Facts, reached: Verdict, milestones: Milestones
    ) -> tuple[Finding, ...]:
        failures = {event.line: event.text for event in reversed(milestones.failures)}
        seen = {**self._last_records.texts(), **self._facts.texts, **failures, self._last[0]: self._last[1]}
        findings = [self._finding(one, facts, seen, failures) for one in judged[:MAX_FINDINGS]]
        if names_something(facts):
            from logdoctor.diagnosis.absences import absences

            findings = absences(facts, findings, self._general, self._all.asked, lines=self._facts.texts)
        failure = first_failure(self._failures, _explained_lines(judged))
        root = next((one for one in judged if one.role is Role.ROOT_CAUSE), None)
        dead = reached in (Verdict.FAILED, Verdict.CRASHED)
        echo = root if root is not None and root.candidate.is_echo else None
        if echo is not None:
            failure = first_failure(self._failures, _explained_lines(judged, echo))
        # Without a root cause, or with one that rests on a healthy line, or only on a neighbour's word, while an error
        # is left unexplained.
        late = root is not None and failure is not None and _says_it_late(root.candidate, failure, facts)
        if dead and (root is None or (failure is not None and (echo or late or root.candidate.weight == 2))):
            unknown = unknown_failure(failure, self._failures, self._facts.phase, self._last)
            findings = [unknown, *(_demoted(f, unknown.id if echo else "") for f in findings)]
        conflicts = conflicts_of(one.candidate.signature for one in judged)
        self._left_out = max(len(judged), len(findings)) - min(len(findings), MAX_FINDINGS)
        return settle(findings[:MAX_FINDINGS], conflicts, facts)

    def _decide(self, judged: list[Judged], facts: Facts) -> str:
        """Return the command that decides between several root causes; empty when there are not several."""
        rivals = [one.candidate for one in judged if one.undecided]
        texts = (fill(rival.signature.decide, rival.match.captures, facts) for rival in rivals)
        return next((text for text in texts if text), "")

    def _finding(self, judged: Judged, facts: Facts, seen: Mapping[int, str], failures: Mapping[int, str]) -> Finding:
        candidate, signature = judged.candidate, judged.candidate.signature
        match = candidate.match
        conditional = candidate.conditional
        if judged.undecided and signature.decided_when:
            conditional = (*conditional, fill(signature.decided_when, match.captures, facts))
        # Which line states a fact, and how, says nothing about what is wrong.
        evidence, mark = _evidence(match, facts, seen), _evidence(match, facts, failures)
        title = fill(signature.title, match.captures, facts)
        return Finding(
            id=signature.id,
            title=joined(title, own(OUTLIVED)) if candidate.outlived else title,
            severity=judged.severity,
            role=judged.role,
            confidence=_confidence(candidate),
            basis=signature.basis,
            cause=fill(signature.cause, match.captures, facts),
            phase=signature.phase.value,
            evidence=_decisive_first(evidence, match),
            count=match.count,
            ranks=match.ranks,
            remedies=choose(signature, match.captures, facts),
            verify=fill(signature.verify, match.captures, facts),
            explained_by=judged.explained_by,
            conditional=conditional,
            references=signature.references,
            fingerprint=fingerprints.of_finding(signature.id, mark[0].text if mark and mark[0].line else ""),
        )


_NAMES = frozenset(
    {"env.unknown", "cli.unrecognized", "cli.invalid_flag", "args.reasoning_parser", "args.tool_call_parser"}
)


def names_something(facts: Facts) -> bool:
    """Whether a fact names something that a version may lack; most logs do not, and the tables stay on the disk."""
    return any(key in _NAMES or key.startswith("env.VLLM_") for key in facts)


_SILENCE = ("boot.only_cascade", "boot.silent_death")


def _says_it_late(root: Candidate, failure: Failure, facts: Facts) -> bool:
    """Whether only nobody's lines below an exception of vLLM's own speak for a cause: they do not explain it."""
    signature = root.signature
    said = [(hit.line, hit.record.process.role) for hit in root.match.hits]
    if not said:
        stated = (facts[key] for key in (*signature.when, *signature.when_known) if key in facts)
        said = [(fact.line, fact.process) for fact in stated if fact.line]
    own_words = failure.fatal_shape and bool(failure.process.role)
    return own_words and bool(said) and all(line > failure.lines[1] and not role for line, role in said)


def _demoted(finding: Finding, explained_by: str) -> Finding:
    """Take a finding from the place of the root cause; it is explained by another one, or contributed."""
    if finding.role is not Role.ROOT_CAUSE:
        return finding
    if explained_by:
        return replace(finding, role=Role.CONSEQUENCE, explained_by=(explained_by,))
    return replace(finding, role=Role.CONTRIBUTING)


def _explained_lines(judged: Iterable[Judged], *more: Judged) -> set[int]:
    """Return the lines of what is a consequence here, by nature or by what else is in the boot."""
    known = (*(one for one in judged if one.is_consequence), *more)
    return {hit.line for one in known for hit in one.candidate.match.hits}


def _confidence(candidate: Candidate) -> Confidence:
    # What hangs on an unknown fact, or appears where it is not known to appear, is possible at best.
    if candidate.conditional or not candidate.in_version:
        return Confidence.POSSIBLE
    return candidate.signature.confidence


def _evidence(match: Match, facts: Facts, seen: Mapping[int, str]) -> tuple[Evidence, ...]:
    """Return the lines that carry a match; for a match on facts alone, the lines that state the facts."""
    if match.hits:
        shown = match.hits[:MAX_EVIDENCE]
        return tuple(Evidence(hit.line, hit.record.process.name, clipped(hit.text, MAX_TEXT)) for hit in shown)
    conditions = {**match.signature.when, **match.signature.when_known}
    stated = [fact for key in conditions if (fact := facts.get(key)) and fact.line]
    lines = {f.line: Evidence(f.line, f.process, _statement(f, seen)) for f in stated}
    if lines:
        return tuple(lines[line] for line in sorted(lines)[:MAX_EVIDENCE])
    # No line of the log says it: who does, stands in the place of the process.
    told = [fact for key in conditions if (fact := facts.get(key)) and fact.origin in ("launch", "given")]
    return tuple(Evidence(0, fact.origin, f"{fact.key} = {as_text(fact.value)}") for fact in told[:MAX_EVIDENCE])


def _statement(fact: Fact, seen: Mapping[int, str]) -> str:
    """Return the line that states a fact; the fact itself where no such line is known."""
    text = seen.get(fact.line)
    return clipped(text, MAX_TEXT) if text else f"{fact.key} = {as_text(fact.value)}"


def _decisive_first(evidence: tuple[Evidence, ...], match: Match) -> tuple[Evidence, ...]:
    """Put the line first that decides: of lines in a sequence the last, of several together the first error."""
    block = match.signature.match
    if block is None or len(match.hits) < 2:
        return evidence
    if block.sequence:
        hit = match.hits[-1]
    elif len(block.all) > 1 and not match.hits[0].certain:
        hit = next((hit for hit in match.hits if hit.certain), match.hits[0])
    else:
        return evidence
    first = Evidence(hit.line, hit.record.process.name, clipped(hit.text, MAX_TEXT))
    return (first, *(other for other in evidence if other != first))[:MAX_EVIDENCE]


def diagnose_records(
    records: Iterable[tuple[int, Record]],
    database: Database,
    *,
    given: Mapping[str, Fact] | None = None,
    matcher: Matcher | None = None,
) -> Diagnosis:
    """Diagnose a log that was read into records with their boot numbers.

    Who diagnoses many logs in one thread hands in a `matcher` of the database: preparing one takes as long as a
    quarter of a start-up log.
    """
    matcher = matcher or Matcher(database)
    owner = Owner()
    collected = Boots(lambda index: BootObserver(matcher, index, owner), given or {})
    for index, record in records:
        collected.add(index, record)
    found = collected.result()
    # Boots that were no vLLM's leave no gap in the numbering.
    boots = [
        replace(boot, index=number)
        for number, boot in zip(collected.numbers(), with_restarts(in_order(found)), strict=False)
    ]
    if not boots:
        whose = (f"This looks like the output of {owner.name}; only vLLM's servers are known here.",)
        nothing = "no vLLM start recognised in the input"
        return Diagnosis(Verdict.UNDETERMINED, nothing, (), notes=whose if owner.name else ())
    left = collected.left_out
    notes = (f"{left} boots between the first {FIRST} and the last are left out of this report.",) if left else ()
    return Diagnosis(boots[-1].verdict, boots[-1].summary, tuple(boots), leading=len(boots) - 1, notes=notes)
