"""Put the boots of several services in one log in order: the service in trouble comes last, and so leads the report."""

from __future__ import annotations

from collections.abc import Sequence

from logdoctor.model import BootDiagnosis, Verdict

_TROUBLE = {
    Verdict.READY: 0,
    Verdict.STOPPED: 0,
    Verdict.DEGRADED: 1,
    Verdict.STARTING: 2,
    Verdict.UNDETERMINED: 2,
    Verdict.STALLED: 3,
    Verdict.FAILED: 4,
    Verdict.CRASHED: 4,
}


def in_order(boots: Sequence[BootDiagnosis]) -> list[BootDiagnosis]:
    """Return the boots service by service, the one whose last boot is worst at the end; else as they came.

    Which service wrote last is chance: one that serves writes all the time, one that failed is silent.
    """
    services = sorted(_services(boots), key=lambda service: _TROUBLE[service[-1].verdict])
    return [boot for service in services for boot in service]


def _services(boots: Sequence[BootDiagnosis]) -> list[list[BootDiagnosis]]:
    """Tell the services apart: all boots of one come before those of the next, and boots of one never overlap."""
    services: list[list[BootDiagnosis]] = []
    for boot in boots:
        if services and services[-1][-1].lines[1] < boot.lines[0]:
            services[-1].append(boot)
        else:
            services.append([boot])
    return services
