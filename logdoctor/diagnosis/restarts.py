"""What only shows over all boots of a service: starts that end without a word, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from logdoctor.diagnosis import fingerprints
from logdoctor.diagnosis.own_findings import STARTS_CUT_OFF
from logdoctor.diagnosis.remedies import choose
from logdoctor.model import BootDiagnosis, Evidence, Finding, Role, Verdict

_UNFINISHED = (Verdict.STARTING, Verdict.STALLED)
ENOUGH = 2
"""Starts in a row that were cut off before that is called a loop; one may have been restarted on purpose."""


def with_restarts(boots: Sequence[BootDiagnosis]) -> list[BootDiagnosis]:
    """Return the boots of all services, the starts that another one followed being over, and the loop named.

    A start that is not the last one of its service is not starting any more, whatever its own lines say.
    """
    told: list[BootDiagnosis] = []
    for place, boot in enumerate(boots):
        followed = place + 1 < len(boots) and _same_service(boot, boots[place + 1])
        told.append(_ended(boot) if followed and boot.verdict in _UNFINISHED else boot)
    for place, boot in enumerate(told):
        last = place + 1 == len(told) or not _same_service(boot, told[place + 1])
        cut = _cut_before(told, boots, place)
        if last and boot.verdict in _UNFINISHED and len(cut) >= ENOUGH:
            told[place] = replace(boot, findings=(_loop(cut), *boot.findings))
    return told


def _same_service(boot: BootDiagnosis, following: BootDiagnosis) -> bool:
    return boot.service == following.service and boot.lines[1] < following.lines[0]


def _ended(boot: BootDiagnosis) -> BootDiagnosis:
    note = f"This start broke off after line {boot.lines[1]} without a word; another one began."
    return replace(boot, verdict=Verdict.FAILED, notes=(*boot.notes, note))


def _cut_before(told: Sequence[BootDiagnosis], boots: Sequence[BootDiagnosis], place: int) -> list[BootDiagnosis]:
    """Return the starts right before a boot of the same service that were cut off, in the order of the log."""
    cut: list[BootDiagnosis] = []
    while place and _same_service(told[place - 1], told[place]) and boots[place - 1].verdict in _UNFINISHED:
        place -= 1
        cut.insert(0, boots[place])
    return cut


def _loop(cut: Sequence[BootDiagnosis]) -> Finding:
    signature = STARTS_CUT_OFF
    phases = {boot.phase for boot in cut}
    where = f" in the phase {phases.pop()}" if len(phases) == 1 else ""
    return Finding(
        id=signature.id,
        title=f"{len(cut)} starts before this one ended without a word{where}: something ends them from outside",
        severity=signature.severity,
        role=Role.ROOT_CAUSE,
        confidence=signature.confidence,
        basis=signature.basis,
        cause=signature.cause,
        phase=signature.phase.value,
        evidence=tuple(
            Evidence(boot.lines[1], "", f"the last line of boot {boot.index or number}")
            for number, boot in list(enumerate(cut, 1))[-4:]
        ),
        count=len(cut),
        remedies=choose(signature, {}, cut[-1].facts),
        verify=signature.verify,
        references=signature.references,
        fingerprint=fingerprints.fingerprint(signature.id),
    )
