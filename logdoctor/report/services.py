"""Several services in one log: which of them a boot belongs to, and how the others stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from logdoctor.model import BootDiagnosis, Diagnosis
from logdoctor.report.escaping import clip, one_line
from logdoctor.report.words import Words

_NAME, _OTHERS_TOLD = 48, 4


def is_shared(diagnosis: Diagnosis) -> bool:
    """Tell whether boots of more than one service stand in the log; only then a boot is told with its service."""
    return len({boot.service for boot in diagnosis.boots}) > 1


def service_of(boot: BootDiagnosis, diagnosis: Diagnosis) -> str:
    """Return the name of the service that a boot belongs to; empty where the log holds no other's boots."""
    return clip(one_line(boot.service), _NAME) if is_shared(diagnosis) else ""


def own_boots(diagnosis: Diagnosis) -> Diagnosis:
    """Return the diagnosis without the boots of other services than that of the leading boot."""
    boot = diagnosis.boot
    if boot is None or not is_shared(diagnosis):
        return diagnosis
    own = [(place, one) for place, one in enumerate(diagnosis.boots) if one.service == boot.service]
    leading = next(number for number, (place, _) in enumerate(own) if place == diagnosis.leading)
    return replace(diagnosis, boots=tuple(one for _, one in own), leading=leading)


def others_state(diagnosis: Diagnosis, words: Words) -> str:
    """Say how the other services stand, by their last boots; empty when there is none."""
    boot = diagnosis.boot
    if boot is None or not is_shared(diagnosis):
        return ""
    last = {one.service: one for one in diagnosis.boots if one.service != boot.service}
    told = [_state(one, words) for one in last.values()]
    return words("beside", services=_listed(told, words))


def _state(boot: BootDiagnosis, words: Words) -> str:
    name = clip(one_line(boot.service), _NAME) or words("unsigned")
    return words("service_state", service=name, state=words(f"verdict.{boot.verdict.value}").lower())


def _listed(items: Sequence[str], words: Words) -> str:
    shown = words("comma").join(items[:_OTHERS_TOLD])
    return f"{shown} {words('more', count=len(items) - _OTHERS_TOLD)}" if len(items) > _OTHERS_TOLD else shown
