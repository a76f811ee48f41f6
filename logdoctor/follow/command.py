"""`logdoctor --follow`: show the progress, print new problems, and end with the report and its exit status."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from logdoctor.api import Diagnoser, LogdoctorError, Report
from logdoctor.console import CommandFailed
from logdoctor.follow.sources import open_source
from logdoctor.follow.watch import Ending, Pace, Watch
from logdoctor.model import Severity, Verdict
from logdoctor.reading import InputError
from logdoctor.report import RenderOptions
from logdoctor.report.grouping import place
from logdoctor.report.phrases import in_words
from logdoctor.report.words import Words

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?")
_UNSETTLED = frozenset({Verdict.STARTING, Verdict.STALLED, Verdict.UNDETERMINED})


@dataclass(frozen=True, slots=True)
class Following:
    """How a log is to be followed."""

    until_ready: bool = False
    stay: bool = False
    timeout: float | None = None


def seconds_of(text: str) -> float:
    """Return the seconds of `90`, `90s`, `20m` or `1h30m`. Raises `CommandFailed` for anything else."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        raise CommandFailed(f"a duration is written as 90s, 20m or 1h30m, not {text!r}")
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds


def follow_log(
    paths: tuple[str, ...],
    stdin: BinaryIO,
    following: Following,
    make: Callable[[], Diagnoser],
    format_: str,
    options: RenderOptions,
    fail_on: Severity,
) -> tuple[str, int]:
    """Follow a log to its verdict; return the report and the exit status."""
    try:
        source = open_source(paths, stdin)
        watch = Watch(
            source,
            make(),
            time.monotonic,
            pace=Pace(timeout=following.timeout),
            until_ready=following.until_ready,
            stay=following.stay,
        )
        report = _watch(watch, following)
        source.close()
    except (InputError, LogdoctorError) as error:
        raise CommandFailed(str(error)) from error
    if watch.ending is Ending.TIMEOUT and report.verdict in _UNSETTLED:
        report = timed_out(report, following.timeout or 0)
    text = report.render(format_, width=options.width, color=options.color, ascii=options.ascii, lang=options.lang)
    return text, report.exit_status(fail_on)


def _watch(watch: Watch, following: Following) -> Report:
    shown = _Progress()
    report: Report | None = None
    try:
        for report in watch.looks():
            shown.say(watch.progress(report))
            if following.stay and report.verdict not in _UNSETTLED:
                for finding in watch.new_problems(report):
                    where = place(finding, Words(report.lang))
                    head = " ".join(part for part in (finding.severity.value.upper(), finding.id, where) if part)
                    print(f"{head}: {finding.title}", flush=True)
    finally:
        shown.close()
    if report is None:
        raise CommandFailed("the log ended before anything was read")
    return report


def timed_out(report: Report, seconds: float) -> Report:
    """Return the report on a start that did not settle in time, with a note that says so.

    The verdict stays what the log shows: who gives up waiting has not seen a start stall.
    """
    diagnosis = report.diagnosis
    boot = diagnosis.boot
    if boot is None:
        return report
    note = in_words(
        f"After {seconds:.0f} s of following, the start had not settled; it was in the phase {boot.phase}.", report.lang
    )
    waited = replace(boot, notes=(*boot.notes, note))
    boots = tuple(waited if each is boot else each for each in diagnosis.boots)
    return replace(report, diagnosis=replace(diagnosis, boots=boots))


class _Progress:
    """One changing line on a terminal, one line a change elsewhere; both on standard error."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._begin = time.monotonic()
        self._open = False

    def say(self, text: str) -> None:
        """Show where the start is; nothing when nothing changed."""
        if not text:
            return
        if not self._live:
            print(f"logdoctor: {text}", file=sys.stderr, flush=True)
            return
        passed = int(time.monotonic() - self._begin)
        print(f"\r\033[K{text} ({passed // 60}:{passed % 60:02})", end="", file=sys.stderr, flush=True)
        self._open = True

    def close(self) -> None:
        """Leave the terminal's line clean."""
        if self._open:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
