"""Decide when to look at a followed log, what has changed, and when its verdict is settled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from logdoctor.api import Diagnoser, Report
from logdoctor.facts.events import EVENTS
from logdoctor.follow.sources import Source
from logdoctor.model import Finding, Role, Severity, Verdict
from logdoctor.report.words import Words

_UP = frozenset({Verdict.READY, Verdict.DEGRADED})
_DOWN = frozenset({Verdict.FAILED, Verdict.CRASHED})
_TURNS = ("ready", "failure", "shutdown")
_TRIGGERS = re.compile(b"|".join(sorted({re.escape(each.literal.encode()) for each in EVENTS if each.event in _TURNS})))
"""Texts after which the verdict may be another one."""


class Ending(Enum):
    """Why a watch ended."""

    SETTLED = "settled"
    END_OF_LOG = "end of log"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that govern a watch."""

    quiet: float = 0.05
    """Silence after a turn of events before it is looked at: the rest of a burst belongs to it."""
    complete: float = 2.0
    """Silence after an error that nobody else noticed yet: its traceback may still be written."""
    progress: float = 1.0
    """Between two looks at a log that is moving along."""
    timeout: float | None = None
    """Until an unsettled watch is given up; None: never."""


class Watch:
    """Watches one log until its verdict is settled."""

    def __init__(
        self,
        source: Source,
        diagnoser: Diagnoser,
        clock: Callable[[], float],
        *,
        pace: Pace | None = None,
        until_ready: bool = False,
        stay: bool = False,
    ) -> None:
        """`until_ready` goes on after a failure (a container that restarts), `stay` after the server is up."""
        self._source, self._diagnoser, self._clock = source, diagnoser, clock
        self._pace = pace or Pace()
        self._until_ready, self._stay = until_ready, stay
        self._seen: set[tuple[str, str]] = set()
        self._shown = ""
        self._was_up = False
        self.ending = Ending.END_OF_LOG

    def looks(self) -> Iterator[Report]:
        """Yield a report at each look that is worth one; the last one is the final report."""
        begin = last_look = last_data = self._clock()
        turned = fresh = False
        while True:
            data = self._source.read(self._wait(turned, fresh, begin))
            now = self._clock()
            if data:
                self._diagnoser.feed(data)
                turned = turned or _TRIGGERS.search(data) is not None
                fresh, last_data = True, now
            if data == b"":
                yield self._diagnoser.report()
                return
            due = turned and now - last_data >= self._pace.quiet
            if due or (fresh and now - last_look >= self._pace.progress):
                report, last_look, fresh = self._diagnoser.report(), now, False
                yield report
                if self._settled(report, quiet=now - last_data):
                    self.ending = Ending.SETTLED
                    return
                turned = turned and report.verdict in _DOWN and not self._until_ready
            if self._pace.timeout is not None and now - begin >= self._pace.timeout and not self._was_up:
                self.ending = Ending.TIMEOUT
                yield self._diagnoser.report()
                return

    def _wait(self, turned: bool, fresh: bool, begin: float) -> float:
        wait = self._pace.quiet if turned else self._pace.progress
        if self._pace.timeout is not None and not self._was_up:
            wait = min(wait, max(begin + self._pace.timeout - self._clock(), 0.0))
        return wait

    def _settled(self, report: Report, quiet: float) -> bool:
        verdict = report.verdict
        self._was_up = self._was_up or verdict in _UP
        if verdict in _UP:
            return not self._stay
        if verdict is Verdict.STOPPED:
            return not self._until_ready
        if verdict not in _DOWN or (self._until_ready and verdict is Verdict.FAILED):
            return False
        # Others have noticed the end of the process, so its traceback is complete; unless there is none yet.
        noticed = any(finding.role is Role.CONSEQUENCE for finding in report.findings)
        silent = "boot.silent_death" in report.facts
        return (noticed and not silent) or quiet >= self._pace.complete

    def progress(self, report: Report) -> str:
        """Return where the start is, in one line; empty when that is what was said last."""
        facts, words = report.facts, Words(report.lang)
        text = words(f"verdict.{report.verdict.value}").lower()
        phase = facts.get("boot.phase")
        if phase is not None and report.verdict in (Verdict.STARTING, Verdict.STALLED):
            text += f": {words.get(f'short.{phase.value}', str(phase.value))}"
            for what, name in (("shards", "weights.shards"), ("graphs", "graphs")):
                done, total = facts.get(f"{name}_done", facts.get(f"{name}.done")), facts.get(f"{name}_total")
                total = total or facts.get(f"{name}.total")
                if done and total and done.value != total.value:
                    text += f", {words('progress', what=words(what), done=done.value, total=total.value)}"
            left = facts.get("silence.remaining_seconds")
            if left is not None:
                text += f", {words('left', seconds=f'{float(str(left.value)):.0f}')}"
        changed, self._shown = text != self._shown, text
        return text if changed else ""

    def new_problems(self, report: Report) -> list[Finding]:
        """Return the warnings and errors that no earlier look has shown."""
        found = []
        for finding in report.findings:
            key = (finding.id, finding.fingerprint)
            if key in self._seen or finding.severity.rank < Severity.WARNING.rank or finding.role is Role.CONSEQUENCE:
                continue
            self._seen.add(key)
            found.append(finding)
        return found
