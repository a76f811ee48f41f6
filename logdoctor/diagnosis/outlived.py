"""Errors that a server outlived: whatever they say, it came up or answered after them, so none of them ended it."""

from __future__ import annotations

from logdoctor.database.schema import Kind
from logdoctor.diagnosis.failures import FailureLog
from logdoctor.diagnosis.matching import Hit, Match
from logdoctor.facts import Milestones
from logdoctor.model import Phase, Severity


def outlived(match: Match, stones: Milestones, log: FailureLog) -> Severity | None:
    """Return how bad an error still is although the server outlived it; None where it did not, or where none is told.

    What a start outlived is refuted if it says that the server cannot run, and worth a warning if it is milder. What
    stands between two answers in a line of nobody's, or of the API server's, ended no engine either: other programs
    write into the same stream. An engine's or a worker's own error keeps its weight if it is one of serving; one of a
    start (an adapter that may be loaded at any time, say) has been refused, and the engine works on.
    """
    signature = match.signature
    accuses = signature.severity.rank >= Severity.ERROR.rank and signature.kind in (Kind.CAUSE, Kind.ECHO)
    told = [hit for hit in match.hits if hit.certain]
    if not accuses or not told:
        return None
    if _came_up(stones) and match.last_line < stones.ready_line:
        return Severity.INFO if signature.severity is Severity.FATAL else Severity.WARNING
    of_serving = signature.phase in (Phase.SERVING, Phase.SHUTDOWN) and any(_is_engines(hit) for hit in told)
    if match.last_line < stones.last_work_line and not of_serving:
        return Severity.WARNING
    if not stones.failed and stones.ready is None and all(log.went_on(hit.record.process, hit.line) for hit in told):
        return Severity.WARNING
    return None


def _came_up(stones: Milestones) -> bool:
    """Whether the log shows the server coming up, and not only that it answered once."""
    return stones.ready is not None and (stones.ready.comes_up or not stones.excerpt)


def _is_engines(hit: Hit) -> bool:
    return hit.record.process.role not in ("", "api", "frontend")
