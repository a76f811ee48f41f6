"""Put the boots of several services in one log in order: the service in trouble comes last, and so leads the report."""

from __future__ import annotations

from collections.abc import Sequence

from logdoctor.model import BootDiagnosis, Record, Verdict

_SIGNED = ("api", "frontend")
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


def signed_by(record: Record) -> str:
    """Return the service whose name stands before the lines of a record; empty where it is not known for sure."""
    process = record.process
    # What Ray's own prefix gives as the host of a worker is an address, not a service.
    return process.host if process.host and (process.role in _SIGNED or not process.pid) else ""


def in_order(boots: Sequence[BootDiagnosis]) -> list[BootDiagnosis]:
    """Return the boots service by service, the one whose last boot is worst at the end; else as they came.

    Which service wrote last is chance: one that serves writes all the time, one that failed is silent.
    """
    services = sorted(_services(boots), key=lambda service: _TROUBLE[service[-1].verdict])
    return [boot for service in services for boot in service]


def _services(boots: Sequence[BootDiagnosis]) -> list[list[BootDiagnosis]]:
    """Tell the services apart, by their names or, as boots of one never overlap, by their lines.

    All boots of one come before those of the next.
    """
    services: list[list[BootDiagnosis]] = []
    for boot in boots:
        before = services[-1][-1] if services else None
        if before and before.service == boot.service and (boot.service or before.lines[1] < boot.lines[0]):
            services[-1].append(boot)
        else:
            services.append([boot])
    return services
