"""The exit status: the same for every format, decided in one place.

    0  work done, nothing at or above the threshold
    1  a finding at or above the threshold
    2  the tool could not do its work (the command line says so; no diagnosis leads here)
    3  undetermined: no vLLM boot recognised, or the boot is not finished

Precedence is 2, 1, 3, 0: a finding counts even where the verdict is open.
"""

from __future__ import annotations

from logdoctor.model import Diagnosis, Role, Severity, Verdict

EXIT_OK = 0
EXIT_FINDING = 1
EXIT_FAILED = 2
EXIT_UNDETERMINED = 3

_OPEN = frozenset({Verdict.UNDETERMINED, Verdict.STARTING, Verdict.STALLED})
_DEAD = frozenset({Verdict.FAILED, Verdict.CRASHED})


def exit_status(diagnosis: Diagnosis, fail_on: Severity = Severity.ERROR) -> int:
    """Return the exit status of a finished diagnosis; the leading boot decides.

    Consequences do not count: what they are the consequence of does. A boot that died without any finding of
    its own is an unknown failure, and counts whatever the threshold.
    """
    boot = diagnosis.boot
    if boot is None:
        return EXIT_UNDETERMINED
    own = [finding for finding in boot.findings if finding.role is not Role.CONSEQUENCE]
    if any(finding.severity.rank >= fail_on.rank for finding in own):
        return EXIT_FINDING
    if boot.verdict in _DEAD and not own:
        return EXIT_FINDING
    return EXIT_UNDETERMINED if boot.verdict in _OPEN else EXIT_OK
