"""Time stamps and the seconds between them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.facts.clock import Stamp, seconds_between, stamp


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [
        (("11-30 10:00:00", ""), ("11-30 10:02:41", ""), 161.0),
        (("12-31 23:59:50", ""), ("01-01 00:00:20", ""), 30.0),
        (("02-29 23:59:59", ""), ("03-01 00:00:01", ""), 2.0),
        (("11-30 10:00:05", ""), ("11-30 10:00:00", ""), 0.0),
        (("11-30 10:00:00", ""), ("11-29 10:00:00", ""), None),
        (("11-30 10:13:35", ""), ("2026-11-30 10:13:36,500", ""), 1.5),
        (("", ""), ("11-30 10:00:00", ""), None),
        (("nonsense", ""), ("11-30 10:00:00", ""), None),
        (("13-45 10:00:00", ""), ("11-30 10:00:00", ""), None),
        # The envelope's clock is better, where both have one.
        (("11-30 10:00:00", "2026-11-30T10:00:00.25Z"), ("11-30 10:00:01", "2026-11-30T10:00:01.75Z"), 1.5),
        (("11-30 10:00:00", "2026-11-30T10:00:00Z"), ("11-30 10:00:07", ""), 7.0),
        (("", "2026-12-31T23:59:59Z"), ("", "2027-01-01T00:00:01Z"), 2.0),
        (("", "2026-11-30T12:00:00+02:00"), ("", "2026-11-30T10:00:01Z"), 1.0),
        (("", "Dec 31 23:59:59"), ("", "Jan  1 00:00:01"), 2.0),
        # One clock is not compared with the other.
        (("", "2026-11-30T10:00:00Z"), ("11-30 10:00:07", ""), None),
    ],
)
def test_seconds(start: tuple[str, str], end: tuple[str, str], seconds: float | None) -> None:
    assert seconds_between(stamp(*start), stamp(*end)) == seconds


def test_the_text_is_vllms_own_stamp() -> None:
    assert stamp("11-30 10:00:00", "2026-11-30T10:00:00Z").text == "11-30 10:00:00"
    assert stamp("", "2026-11-30T10:00:00Z").text == "2026-11-30T10:00:00Z"
    assert not Stamp().known


@given(st.datetimes(datetime(2025, 1, 1), datetime(2030, 1, 1)), st.integers(0, 86400 * 150))
def test_any_start_shorter_than_half_a_year(start: datetime, seconds: int) -> None:
    start = start.replace(microsecond=0)
    end = start + timedelta(seconds=seconds)
    passed = seconds_between(stamp(f"{start:%m-%d %H:%M:%S}", ""), stamp(f"{end:%m-%d %H:%M:%S}", ""))
    assert passed is not None
    # Without a year the 29th of February may or may not be there.
    assert passed - seconds in (0, 86400)
    outer = seconds_between(stamp("", f"{start:%Y-%m-%dT%H:%M:%SZ}"), stamp("", f"{end:%Y-%m-%dT%H:%M:%SZ}"))
    assert outer == seconds


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_no_error(time: str, outer: str) -> None:
    seconds_between(stamp(time, outer), stamp("11-30 10:00:00", "2026-11-30T10:00:00Z"))
