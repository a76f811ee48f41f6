"""What only shows over all boots of a service: starts that end without a word, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from logdoctor.diagnosis import fingerprints
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
    cut: list[BootDiagnosis] = []
    for boot, following in zip(boots, (*boots[1:], None), strict=False):
        unfinished = boot.verdict in _UNFINISHED
        if following is not None and _same_service(boot, following):
            told.append(_ended(boot) if unfinished else boot)
            cut = [*cut, boot] if unfinished else []
            continue
        in_a_loop = unfinished and len(cut) >= ENOUGH
        told.append(replace(boot, findings=(_loop(cut), *boot.findings)) if in_a_loop else boot)
        cut = []
    return told


def _same_service(boot: BootDiagnosis, following: BootDiagnosis) -> bool:
    return boot.service == following.service and boot.lines[1] < following.lines[0]


def _ended(boot: BootDiagnosis) -> BootDiagnosis:
    note = f"This start broke off after line {boot.lines[1]} without a word; another one began."
    return replace(boot, verdict=Verdict.FAILED, notes=(*boot.notes, note))


def _loop(cut: Sequence[BootDiagnosis]) -> Finding:
    # Imported on need: few logs hold a loop.
    from logdoctor.diagnosis.own_findings import STARTS_CUT_OFF

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
