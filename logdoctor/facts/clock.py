"""Time stamps of a log, and the seconds between two of them.

vLLM's own stamps (`11-30 09:20:42`) have no year and no zone; an envelope's are better where there are any. Two
stamps are only ever compared within one of these two clocks.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

_YEARLESS = 2000
"""Stands in for the year that a stamp does not have: a leap year, so that 02-29 is a day."""
_DAY = 86400.0
_STAMP = re.compile(
    r"(?:(?P<year>\d{4})[-/])?(?P<month>\d\d)[-/](?P<day>\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d+))?"
    r"\s?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_SYSLOG = re.compile(r"(?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d+))?")
_MONTHS = {"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * i : 3 * i + 3]: i + 1 for i in range(12)}
_SMALL_STEP_BACK = 60.0
"""Processes that write into one log overtake each other by this much at most; it counts as no time."""


class Stamp(NamedTuple):
    """The time of a record, by the envelope's clock and by vLLM's own, as seconds; None where unknown."""

    text: str = ""
    outer: float | None = None
    inner: float | None = None

    @property
    def known(self) -> bool:
        """Whether any clock gave a time."""
        return self.outer is not None or self.inner is not None


def stamp(time: str, outer_time: str) -> Stamp:
    """Read the two times of a record; the text is vLLM's own where it has one."""
    if not time and not outer_time:
        return Stamp()
    return Stamp(time or outer_time, _seconds(outer_time, True), _seconds(time, False))


def seconds_between(start: Stamp, end: Stamp) -> float | None:
    """Give the seconds from start to end, by the better clock that both have; None when neither does."""
    for first, last in ((start.outer, end.outer), (start.inner, end.inner)):
        if first is None or last is None:
            continue
        passed = last - first
        if passed < -180 * _DAY and first < 40 * 366 * _DAY:  # over New Year without a year
            passed += 366 * _DAY
        if passed >= 0:
            return round(passed, 3)
        return 0.0 if passed >= -_SMALL_STEP_BACK else None
    return None


@lru_cache(maxsize=64)
def _seconds(text: str, with_year: bool) -> float | None:
    """Seconds since 1970 (with a year and wanted), or since the start of the stand-in year."""
    found = _STAMP.match(text)
    if found is not None:
        year = int(found["year"]) if found["year"] and with_year else _YEARLESS
        return _moment(year, int(found["month"]), int(found["day"]), found["clock"], found["part"], found["zone"])
    found = _SYSLOG.match(text)
    if found is not None and found["month"] in _MONTHS:
        return _moment(_YEARLESS, _MONTHS[found["month"]], int(found["day"]), found["clock"], found["part"], None)
    return None


def _moment(year: int, month: int, day: int, clock: str, part: str | None, zone: str | None) -> float | None:
    hours, minutes, seconds = (int(number) for number in clock.split(":"))
    try:
        moment = datetime(year, month, day, hours, minutes, min(seconds, 59), tzinfo=timezone.utc)
    except ValueError:
        return None
    passed = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) / timedelta(seconds=1)
    passed += float(f"0.{part}") if part else 0.0
    if zone and zone != "Z":
        offset = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        passed += -offset if zone[0] == "+" else offset
    return passed
