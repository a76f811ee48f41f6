"""Diagnose a launch before anything runs: the entries that ask for facts alone, the version's tables, the budget.

The same findings as from a log, with the lines of the launch as evidence. The verdict `ready` means that nothing was
found that would keep the server from starting; a log can still say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from logdoctor.budget import budget, budget_facts
from logdoctor.budget.arithmetic import fits_card
from logdoctor.budget.numbers import Numbers, read_numbers
from logdoctor.database import Database
from logdoctor.database.schema import Kind
from logdoctor.diagnosis import fingerprints, weights
from logdoctor.diagnosis.absences import absences
from logdoctor.diagnosis.causes import Candidate, weigh
from logdoctor.diagnosis.failures import FailureLog
from logdoctor.diagnosis.matching import Match, Matcher
from logdoctor.diagnosis.remedies import choose, conflicts_of
from logdoctor.diagnosis.settling import settle
from logdoctor.diagnosis.templates import fill
from logdoctor.facts import Milestones, infer_facts
from logdoctor.facts.derived import derived_facts
from logdoctor.knowledge.releases import parse_version
from logdoctor.knowledge.tables import Kind as Table
from logdoctor.knowledge.tables import lookup
from logdoctor.launch import Kind as LaunchKind
from logdoctor.launch import (
    LaunchCommand,
    LaunchError,
    apply_to,
    check_facts,
    facts,
    read_launch,
    rebuild,
)
from logdoctor.launch.command import Word
from logdoctor.launch.derived import launch_facts
from logdoctor.launch.flags import read_arguments
from logdoctor.launch.rewriting import Rewritten, Skipped
from logdoctor.launch.stated import refused_values
from logdoctor.model import (
    BootDiagnosis,
    Confidence,
    Diagnosis,
    Evidence,
    Fact,
    Facts,
    Finding,
    Launch,
    Phase,
    Remedy,
    Role,
    Severity,
    Verdict,
)
from logdoctor.wording import joined, own


def launch_diagnosis_facts(launch: LaunchCommand, given: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return all facts of a launch: its own, what was given, and what follows from both and from the tables."""
    lines = launch.kind is not LaunchKind.INSPECT
    known = infer_facts({**facts(launch, lines=lines), **launch_facts(launch), **given})
    version = parse_version(str(known["vllm.version"].value)) if "vllm.version" in known else None
    known.update((key, fact) for key, fact in check_facts(launch, version).items() if key not in given)
    known.update(derived_facts(known))
    known.update((fact.key, fact) for fact in _weights(known) if fact.key not in known)
    known.update((key, fact) for key, fact in budget_facts(known).items() if key.startswith("budget.suggest."))
    return known


def diagnose_launch(
    text: str, database: Database, given: Mapping[str, Fact] | None = None, *, source: str = ""
) -> Diagnosis:
    """Diagnose a launch text; `source` is its file's name. Raises `LaunchError` when it is none."""
    launch = read_launch(text)
    known = launch_diagnosis_facts(launch, given or {})
    findings = _findings(launch, known, database)
    failed = any(finding.severity.rank >= Severity.ERROR.rank for finding in findings)
    boot = BootDiagnosis(
        index=1,
        verdict=Verdict.FAILED if failed else Verdict.READY,
        phase=Phase.LAUNCH.value,
        lines=(1, max(len(text.splitlines()), 1)),
        summary=_summary(findings, known, failed),
        facts=dict(sorted(known.items())),
        findings=findings,
        budget=budget(known),
        notes=tuple(_notes(launch, known)),
    )
    diagnosis = Diagnosis(boot.verdict, boot.summary, (boot,))
    corrected = corrected_launch(diagnosis, text, source=source)
    return replace(diagnosis, launch=corrected, notes=tuple(launch_notes(corrected)))


# -- findings ---------------------------------------------------------------------------------------------------------


def _findings(launch: LaunchCommand, known: Facts, database: Database) -> tuple[Finding, ...]:
    matches = [Match(signature, (), 1, (), {}) for signature in Matcher(database).on_facts(known)]
    candidates = weigh(matches, known, FailureLog(), Milestones())
    dropped = {name for candidate in candidates for name in candidate.signature.suppresses}
    kept = [candidate for candidate in candidates if candidate.id not in dropped]
    findings = [_finding(candidate, launch, known) for candidate in kept]
    typed = {
        use.spelled: (use.value or "") if use.known else None
        for use in read_arguments(launch.argv, launch.program).uses
    }
    findings = absences(known, findings, (), typed=typed)
    version = parse_version(str(known["vllm.version"].value)) if "vllm.version" in known else None
    for pair in refused_values(launch, version)[1:]:
        findings = absences({**_without_refusals(known), **pair}, findings, ())
    findings = [_with_lines(finding, launch) for finding in findings]
    ordered = sorted(findings, key=lambda finding: (-finding.severity.rank, _line(finding), finding.id))
    return settle(_roles(ordered), conflicts_of(candidate.signature for candidate in kept), known)


def _without_refusals(known: Facts) -> dict[str, Fact]:
    """Keep the version alone: everything else has had its finding already."""
    return {key: fact for key, fact in known.items() if key == "vllm.version"}


def _line(finding: Finding) -> int:
    return min((evidence.line for evidence in finding.evidence), default=10**9)


def _finding(candidate: Candidate, launch: LaunchCommand, known: Facts) -> Finding:
    signature = candidate.signature
    lines = _lines_of({**signature.when, **signature.when_known}, known)
    quiet = signature.harmless or signature.kind is Kind.NOTICE or signature.severity is Severity.INFO
    return Finding(
        id=signature.id,
        title=fill(signature.title, {}, known),
        severity=signature.severity,
        role=Role.NOTICE if quiet else Role.CONTRIBUTING,
        confidence=Confidence.POSSIBLE if candidate.conditional else signature.confidence,
        basis=signature.basis,
        cause=fill(signature.cause, {}, known),
        phase=signature.phase.value,
        evidence=tuple(Evidence(line, "", "") for line in lines),
        remedies=choose(signature, {}, known),
        verify=fill(signature.verify, {}, known),
        conditional=candidate.conditional,
        references=signature.references,
        fingerprint=fingerprints.of_finding(signature.id, ""),
    )


def _lines_of(conditions: Iterable[str], known: Facts) -> list[int]:
    """Return the lines that state what an entry asks for; the model and the image only where nothing else does."""
    stated = {key: known[key].line for key in conditions if key in known and known[key].line}
    telling = {line for key, line in stated.items() if key not in ("model.name", "model.hybrid", "image.name")}
    return sorted(telling or set(stated.values()))


def _with_lines(finding: Finding, launch: LaunchCommand) -> Finding:
    """Show the lines of the launch as evidence; a finding about a word has the line where that word stands."""
    if launch.kind is LaunchKind.INSPECT:
        return replace(finding, evidence=())
    lines = launch.text.splitlines()
    shown = []
    for evidence in finding.evidence:
        word = next((one for one in launch.words() if _names(one, evidence.text)), None)
        number = launch.line(word.start) if word is not None else evidence.line
        if 0 < number <= len(lines):
            shown.append(Evidence(number, "", lines[number - 1].strip()))
    return replace(finding, evidence=tuple(shown))


def _names(word: Word, text: str) -> bool:
    return bool(text) and (word.value == text or word.value.startswith(f"{text}="))


def _roles(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Let the first serious finding lead."""
    led = False
    for finding in findings:
        serious = finding.severity.rank >= Severity.ERROR.rank and finding.role is not Role.NOTICE
        yield replace(finding, role=Role.ROOT_CAUSE) if serious and not led else finding
        led = led or serious


def _summary(findings: tuple[Finding, ...], known: Facts, failed: bool) -> str:
    version = known.get("vllm.version")
    what = f"the launch of vLLM {version.value}" if version else "the launch"
    if failed:
        serious = [finding for finding in findings if finding.severity.rank >= Severity.ERROR.rank]
        more = f" (and {len(serious) - 1} more)" if len(serious) > 1 else ""
        return joined(f"{what} cannot work as it is: ", serious[0].title, own(more))
    warnings = sum(finding.severity is Severity.WARNING for finding in findings)
    noted = f"; {warnings} {'thing deserves' if warnings == 1 else 'things deserve'} a look" if warnings else ""
    return f"{what} holds nothing known to keep the server from starting{noted}"


def _notes(launch: LaunchCommand, known: Facts) -> Iterator[str]:
    if "vllm.version" not in known:
        yield "The launch does not tell vLLM's version; give --fact vllm.version=… to have it compared."
    if "gpu.compute_capability" not in known:
        yield "The GPU is not known; give --fact gpu.name=… or --nvidia-smi FILE to have it compared."
    if launch.unknown:
        yield f"Not known from the launch: {'; '.join(launch.unknown)}."


# -- the budget before the load ---------------------------------------------------------------------------------------


def _weights(known: Facts) -> Iterator[Fact]:
    """Yield how much the weights take by the model's name, and whether the cards hold them."""
    numbers = read_numbers(known)
    cards = max(numbers.cards, 1)
    yield Fact("launch.cards", cards, origin="inferred")
    card = _card(numbers)
    size = weights.size_gb(numbers, known)
    if size is None or card is None or "args.cpu_offload_gb" in known:
        return
    line = known["model.name"].line if "model.name" in known else 0
    yield Fact("launch.weights_gb", size, line, origin="inferred")
    yield Fact("launch.weights_precision", weights.precision(known), line, origin="inferred")
    yield Fact("launch.weights_fit", fits_card(size / cards, card), line, origin="inferred")


def _card(numbers: Numbers) -> float | None:
    return numbers.total * 2**30 / 1e9 if numbers.total is not None else None


# -- the corrected launch ---------------------------------------------------------------------------------------------


def corrected_launch(diagnosis: Diagnosis, launch_text: str | None, *, source: str = "") -> Launch | None:
    """Return the launch with the remedies of the leading boot applied.

    Without a launch text the command is rebuilt from the arguments that the log prints; None where it prints none.
    `source` is the launch file's name, for the command to paste. Raises `LaunchError` for a text that is no launch.
    """
    boot = diagnosis.boot
    known = boot.facts if boot is not None else {}
    if launch_text is not None:
        launch = read_launch(launch_text)
    else:
        try:
            launch = rebuild(known)
        except LaunchError:
            return None
    remedies, places = _remedies(boot) if boot is not None else ([], [])
    reason = _left_alone(boot) if boot is not None else ""
    if reason:
        unchanged = apply_to(launch, [], known, source=source)
        return _as_launch(replace(unchanged, skipped=tuple(Skipped(remedy, reason) for remedy in remedies)))
    return _as_launch(apply_to(launch, remedies, known, source=source, findings=places))


_ANOTHER_FIRST = "(another remedy of this finding comes first)"
_UNDECIDED = "the log does not decide between the causes"
_ANOTHER_START = "this launch did not write this log"
_MOST_TOLD = 3


def launch_notes(launch: Launch | None) -> Iterator[str]:
    """Yield what a report has to say about a launch that was given and that not all of the fix went into."""
    skipped = [text for text in launch.skipped if not text.endswith(_ANOTHER_FIRST)] if launch is not None else []
    if any(text.endswith(f"({_UNDECIDED})") for text in skipped):
        yield f"Nothing is applied to the launch: {_UNDECIDED}."
    elif not any(text.endswith(f"({_ANOTHER_START})") for text in skipped):  # there a finding says so
        commands = (text.rpartition(" (")[0] for text in skipped[:_MOST_TOLD])
        yield from (f"Not applied to the launch, to be done by hand: {command}" for command in commands)


def _left_alone(boot: BootDiagnosis) -> str:
    """Return why nothing is applied: the launch is another start's, or the log does not decide what is wrong."""
    if "launch.contradicts" in boot.facts:
        return _ANOTHER_START
    roots = sum(finding.role is Role.ROOT_CAUSE for finding in boot.findings)
    return _UNDECIDED if roots > 1 else ""


def _remedies(boot: BootDiagnosis) -> tuple[list[Remedy], list[int]]:
    """Return what the report tells as the fix, and whatever is set without effect, with the places of the findings.

    Which finding a remedy belongs to tells its place: several may have one id. What only contributed keeps its advice
    for the reader, but for names that the release does not know: they go.
    """
    chosen: list[Remedy] = []
    places: list[int] = []
    root = next((finding for finding in boot.findings if finding.role is Role.ROOT_CAUSE), None)
    before_the_start = boot.phase == Phase.LAUNCH.value and "boot.verdict" not in boot.facts
    for place, finding in enumerate(boot.findings):
        leads = finding.role is Role.ROOT_CAUSE
        # Before a start every error stands by itself: each of them is to be mended.
        leads = leads or (before_the_start and finding.severity.rank >= Severity.ERROR.rank)
        leads = leads or (root is not None and _refused_with(finding, root))
        for remedy in finding.remedies if leads and finding.role is not Role.CONSEQUENCE else ():
            chosen.append(replace(remedy, finding=remedy.finding or finding.id))
            places.append(place)
        if not leads and finding.role is not Role.CONSEQUENCE:
            for remedy in _without_effect(finding, boot.facts, whole=before_the_start):
                chosen.append(replace(remedy, finding=remedy.finding or finding.id))
                places.append(place)
    return chosen, places


def _refused_with(finding: Finding, root: Finding) -> bool:
    """Whether one message refused what both findings are about: words of the command line go all at once."""
    lines = {evidence.line for evidence in root.evidence}
    both = finding.phase == root.phase == Phase.COMMAND_LINE.value and finding.severity is Severity.FATAL
    return both and any(evidence.line in lines for evidence in finding.evidence)


def _without_effect(finding: Finding, known: Facts, *, whole: bool) -> list[Remedy]:
    """Return what takes away a name that the release does not know.

    `whole`: before a start, with what says the same in its place; and what a warning would rather be rid of goes too.
    """
    first = [*finding.remedies[:1], *takewhile(lambda one: one.with_previous, finding.remedies[1:])]
    removals = [one for one in first if one.kind == "remove" and _is_unknown(one.command, known)]
    if whole and not removals and finding.role is not Role.NOTICE:
        removals = first if all(one.kind == "remove" for one in first) else []
    return first if whole and removals else [replace(one, with_previous=True) for one in removals]


def _is_unknown(command: str, known: Facts) -> bool:
    """Whether the release knows no such flag or variable."""
    name = re.split(r"[ =]", command.strip(), maxsplit=1)[0]
    kind = Table.FLAG if name.startswith("-") else Table.ENV
    if kind is Table.ENV and not name.startswith("VLLM_"):
        return False
    entry, stated = lookup(kind, name), known.get("vllm.version")
    version = parse_version(str(stated.value)) if stated else None
    return entry is None or (version is not None and entry.exists_in(version) is False)


def _as_launch(rewritten: Rewritten) -> Launch:
    return Launch(
        original=rewritten.original,
        corrected=rewritten.corrected,
        unknown=rewritten.unknown,
        ready_command=rewritten.ready_command,
        applied=tuple(f"{remedy.command} ({remedy.finding})" for remedy in rewritten.applied if remedy.command),
        skipped=tuple(f"{one.remedy.command} ({one.reason})" for one in rewritten.skipped if one.remedy.command),
    )
