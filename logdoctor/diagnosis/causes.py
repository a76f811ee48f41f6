"""Decide which finding is the root cause: not the last line, and never a consequence.

The order, first difference decides: evidence in the error that ended its process beats other errors, these beat
warnings and information; satisfied conditions beat unknown ones; a text in its known version range beats one outside;
the specific beats the general; earlier beats later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from logdoctor.database.schema import Kind, Signature
from logdoctor.diagnosis.conditions import Truth, evaluate, undecided, version_in
from logdoctor.diagnosis.failures import Failure, FailureLog
from logdoctor.diagnosis.matching import Match
from logdoctor.diagnosis.outlived import outlived
from logdoctor.facts import Milestones
from logdoctor.model import Facts, Role, Severity


@dataclass(frozen=True, slots=True)
class Candidate:
    """A match with what the facts say about it."""

    match: Match
    truth: Truth
    conditional: tuple[str, ...]
    in_version: bool
    """False when the log's version lies outside the range in which the text is known."""
    weight: int
    """0: evidence in the error that ended its process, 1: in another error, 2: in a line a healthy server may write."""
    outlived: Severity | None = None
    """How bad it still is, where the server came up or answered after it."""

    @property
    def signature(self) -> Signature:
        return self.match.signature

    @property
    def id(self) -> str:
        return self.match.signature.id

    @property
    def line(self) -> int:
        """First line of the decisive evidence; facts alone stand at the end."""
        decisive = [hit.line for hit in self.match.hits if hit.certain] or [hit.line for hit in self.match.hits]
        return min(decisive, default=10**12)

    @property
    def order(self) -> tuple[int, ...]:
        return (
            # An echo gives way to every other error, however early it stands, but not to a healthy line.
            1 if self.weight == 2 else 0,
            1 if self.is_echo else 0,
            self.weight,
            0 if self.truth is Truth.TRUE else 1,
            0 if self.in_version else 1,
            1 if self.signature.general else 0,
            self.line,
            0 if self.signature.undecided_with else 1,
        )

    @property
    def is_echo(self) -> bool:
        """Whether its process only says that a neighbour has gone."""
        return self.signature.kind is Kind.ECHO

    def may_be_root(self) -> bool:
        signature = self.signature
        serious = signature.severity.rank >= Severity.ERROR.rank and self.outlived is None
        return serious and not signature.harmless and signature.kind in (Kind.CAUSE, Kind.ECHO)


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its role and what explains it."""

    candidate: Candidate
    role: Role
    explained_by: tuple[str, ...] = ()
    aside: bool = False
    """It belongs to an orderly stop: worth a line, no alarm."""
    undecided: bool = False
    """It is one of several root causes, and the log does not decide between them."""

    @property
    def is_consequence(self) -> bool:
        """Whether something else in the boot, or nothing but another failure at all, explains it."""
        return self.role is Role.CONSEQUENCE or self.candidate.signature.kind is Kind.CASCADE

    @property
    def severity(self) -> Severity:
        """How bad it is in this boot."""
        if self.aside:
            return Severity.INFO
        return self.candidate.outlived or self.candidate.signature.severity


def weigh(matches: Iterable[Match], facts: Facts, log: FailureLog, stones: Milestones) -> list[Candidate]:
    """Ask the facts: drop what cannot hold, mark what is conditional, and weigh the evidence."""
    failures = log.failures()
    candidates = []
    for match in matches:
        signature = match.signature
        if evaluate(signature.when_known, facts) is not Truth.TRUE:
            continue
        truth = evaluate(signature.when, facts)
        if truth is Truth.FALSE or (match.signature.match is None and truth is not Truth.TRUE):
            continue
        in_version = _in_version(signature, facts)
        if in_version is False and signature.match is None:
            continue
        candidates.append(
            Candidate(
                match=match,
                truth=truth,
                conditional=undecided(signature.when, facts),
                in_version=in_version is not False,
                weight=_weight(match, failures, log),
                outlived=outlived(match, stones, log),
            )
        )
    return candidates


def _in_version(signature: Signature, facts: Facts) -> bool | None:
    fact = facts.get("vllm.version")
    return version_in(str(fact.value), signature.vllm) if fact and signature.vllm else None


def _weight(match: Match, failures: Sequence[Failure], log: FailureLog) -> int:
    if match.signature.match is None:
        # Facts alone: as sure as their conditions.
        return 1
    weight = 2
    for hit in match.hits:
        if not hit.certain:
            continue
        weight = min(weight, 1)
        first, last = hit.record.first_line, hit.record.last_line
        overlapping = (f for f in failures if f.lines[0] <= last and f.lines[1] >= first)
        if any(failure.fatal_shape and log.ended(failure) for failure in overlapping):
            return 0
    return weight


def judge(candidates: Sequence[Candidate], *, failed: bool, stop_line: int = 0) -> list[Judged]:
    """Give every candidate its role; the root cause, if there is one, comes first.

    `failed` tells whether the boot did not reach or did not keep its service. In a boot that serves, only an error
    is worth a root cause. `stop_line` is where an orderly stop was asked for (0: nowhere): what stands below it, and
    every cascade of a boot that did not fail, belongs to the stop and alarms nobody.
    """
    kept = _without_suppressed(candidates)
    present = {candidate.id for candidate in kept}
    explained = {c.id: tuple(i for i in c.signature.consequence_of if i in present and i != c.id) for c in kept}
    kept = _with_borrowed_weight(kept, explained)
    roots = sorted((c for c in kept if c.may_be_root() and not explained[c.id]), key=lambda c: (c.order, c.id))
    aside = {c.id for c in kept if not failed and _belongs_to_stop(c, stop_line)}
    roots = [c for c in roots if c.id not in aside]
    if not failed:
        # What did not stop the boot is no cause of a failure unless it is an error with its own evidence.
        roots = [c for c in roots if c.weight < 2]
    judged = []
    root = roots[0] if roots else None
    rivals = [other for other in roots[1:] if root is not None and _undecided(root, other)]
    for candidate in kept:
        if candidate.id in aside:
            judged.append(Judged(candidate, Role.NOTICE, aside=True))
        elif rivals and (candidate is root or candidate in rivals):
            judged.append(Judged(candidate, Role.ROOT_CAUSE, undecided=True))
        else:
            judged.append(_role(candidate, root, explained[candidate.id]))
    order = {id(candidate): place for place, candidate in enumerate(roots)}
    return sorted(judged, key=lambda one: _report_order(one, order))


def _with_borrowed_weight(kept: list[Candidate], explained: Mapping[str, tuple[str, ...]]) -> list[Candidate]:
    """Let what explains an error weigh as much as that error: NCCL's warning about shared memory, for one."""
    lowest: dict[str, int] = {}
    for candidate in kept:
        for explainer in explained[candidate.id]:
            lowest[explainer] = min(lowest.get(explainer, candidate.weight), candidate.weight)
    return [replace(c, weight=min(c.weight, lowest.get(c.id, c.weight))) for c in kept]


def _undecided(root: Candidate, other: Candidate) -> bool:
    return other.id in root.signature.undecided_with or root.id in other.signature.undecided_with


def _belongs_to_stop(candidate: Candidate, stop_line: int) -> bool:
    if candidate.signature.kind is Kind.CASCADE:
        return True
    lines = [hit.line for hit in candidate.match.hits]
    return bool(stop_line and lines) and min(lines) > stop_line


def _role(candidate: Candidate, root: Candidate | None, explained_by: tuple[str, ...]) -> Judged:
    signature = candidate.signature
    if candidate is root:
        return Judged(candidate, Role.ROOT_CAUSE)
    mild = signature.severity is Severity.INFO or candidate.outlived is Severity.INFO
    if signature.harmless or signature.kind is Kind.NOTICE or mild:
        return Judged(candidate, Role.NOTICE)
    if explained_by:
        return Judged(candidate, Role.CONSEQUENCE, explained_by)
    if signature.kind is Kind.CASCADE or (candidate.is_echo and root is not None):
        return Judged(candidate, Role.CONSEQUENCE, (root.id,) if root else ())
    return Judged(candidate, Role.CONTRIBUTING)


_ROLE_ORDER = {Role.ROOT_CAUSE: 0, Role.CONTRIBUTING: 1, Role.NOTICE: 2, Role.CONSEQUENCE: 3}


def _report_order(judged: Judged, roots: Mapping[int, int]) -> tuple[int, int, int, int, int, str]:
    candidate = judged.candidate
    place = roots.get(id(candidate), 0) if judged.role is Role.ROOT_CAUSE else 0
    about_boot = 0 if judged.role is Role.NOTICE and is_about_the_boot(candidate.signature) else 1
    return (_ROLE_ORDER[judged.role], place, -judged.severity.rank, about_boot, candidate.line, candidate.id)


def is_about_the_boot(signature: Signature) -> bool:
    """Whether an entry asks how the boot as a whole stands: what it says comes before remarks about single lines."""
    return any(key.startswith(("boot.verdict", "silence.")) for key in (*signature.when_known, *signature.when))


def _without_suppressed(candidates: Sequence[Candidate]) -> list[Candidate]:
    dropped: set[str] = set()
    for candidate in candidates:
        # A finding that hangs on an unknown fact may not silence one that holds.
        if candidate.truth is Truth.TRUE and candidate.in_version:
            dropped.update(candidate.signature.suppresses)
    specific = [
        c for c in candidates if not c.signature.general and not c.is_echo and c.truth is Truth.TRUE and c.may_be_root()
    ]
    kept = []
    for candidate in candidates:
        if candidate.id in dropped:
            continue
        if candidate.signature.general and any(_same_record(candidate, other) for other in specific):
            continue
        kept.append(candidate)
    return kept


def _same_record(general: Candidate, specific: Candidate) -> bool:
    records = {id(hit.record) for hit in specific.match.hits}
    return any(id(hit.record) in records for hit in general.match.hits)
