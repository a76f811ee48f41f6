"""The answer when no signature matches: what failed first, where, and after which healthy line.

Unknown is an answer. It names the exception that began the failure, in the process that failed first, and says
that the database does not know it.
"""

from __future__ import annotations

from collections.abc import Collection

from logdoctor.diagnosis.failures import Failure, FailureLog, innermost
from logdoctor.diagnosis.fingerprints import fingerprint, fold, of_exception
from logdoctor.model import Basis, Confidence, Evidence, Finding, Remedy, Role, Severity
from logdoctor.wording import Worded, clipped, joined, own

UNKNOWN_FAILURE = "unknown-failure"
_TITLE_LENGTH = 90
MAX_TEXT = 2000
"""Characters of a line that evidence shows."""


def first_failure(log: FailureLog, cascade_lines: Collection[int]) -> Failure | None:
    """Return the failure that began it: the first one, no cascade, after which its process wrote nothing healthy.

    A traceback or usage error is preferred to a plain ERROR record, because servers log errors that they survive.
    What dozens of ranks repeat in other numbers is as much a cascade as the line that is known as one.
    """
    failures = log.failures()
    marks = {fold(f.text) for f in failures if any(f.line <= line <= f.lines[1] for line in cascade_lines)}
    own = [failure for failure in failures if fold(failure.text) not in marks]
    for fatal_shape in (True, False):
        ended = [f for f in own if f.fatal_shape is fatal_shape and log.ended(f)]
        if ended:
            return ended[0]
    return None


def unknown_failure(failure: Failure | None, log: FailureLog, phase: str, ended_with: tuple[int, str]) -> Finding:
    """Return the finding for a failure that the database does not know.

    `ended_with` is the last line of the boot and its text, for a failure that left no error at all.
    """
    title: str
    cause: str
    if failure is None:
        line, text = ended_with
        evidence = Evidence(line, "", text)
        title, cause = (
            "The server ended and no known message tells why",
            "The log holds no error that could be taken for the cause.",
        )
        mark = fingerprint(UNKNOWN_FAILURE, phase, fold(text))
    elif failure.exception is not None:
        first = innermost(failure.exception)
        text = f"{first.type}: {first.message}" if first.message else first.type
        title = _short(text)
        raised = (
            f" It was raised in {_place(first.frames[-1].file)} ({first.frames[-1].function})." if first.frames else ""
        )
        cause = f"{_who(failure)} ended with this exception first.{raised} It is not in the database."
        evidence = Evidence(first.line, failure.process.name, clipped(text.split("\n", 1)[0], MAX_TEXT))
        mark = of_exception(first, phase)
    else:
        title = _short(failure.text)
        cause = f"{_who(failure)} reported this error first. It is not in the database."
        evidence = Evidence(failure.line, failure.process.name, failure.text)
        mark = fingerprint(UNKNOWN_FAILURE, phase, fold(failure.text))
    healthy = log.last_healthy
    if healthy:
        cause = joined(cause, own(f" The last healthy line before it is line {healthy[0]}: "), _short(healthy[1]))
    return Finding(
        id=UNKNOWN_FAILURE,
        title=title,
        severity=Severity.FATAL,
        role=Role.ROOT_CAUSE,
        confidence=Confidence.POSSIBLE,
        basis=Basis.SOURCE,
        cause=cause,
        phase=phase,
        evidence=(evidence,),
        remedies=(
            Remedy(
                "Draft a signature for it from this log", "advice", "logdoctor signatures new LOG", "", UNKNOWN_FAILURE
            ),
        ),
        fingerprint=mark,
    )


def _who(failure: Failure) -> str:
    return f"The process {failure.process.name}" if failure.process.name else "A process"


def _place(path: str) -> str:
    # From the package on: the part before it is this machine's.
    for marker in ("site-packages/", "dist-packages/"):
        if marker in path:
            return path.rpartition(marker)[2]
    return path.rpartition("/")[2]


def _short(text: str) -> Worded:
    return clipped(text, _TITLE_LENGTH, fold=True)
