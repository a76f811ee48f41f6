"""No regular expression of the package takes long, whatever text it is given."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .patterns import attacks, package_patterns, signature_patterns

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
LENGTH = 6000
NOTICEABLE, LONGEST = 0.03, 0.5
"""Seconds from which growth is looked at, and which are too long whatever the growth."""
QUARTERS = 8
GROWTH = 9.0
"""Four times the text takes four times as long, or sixteen times when it goes by the square."""


class TooLong(Exception):
    """The search was broken off."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Break off after so much processor time; Python's `re` looks for signals now and then."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def taken(pattern: Any, methods: frozenset[str], text: str) -> float:
    """Processor time of all that the package does with the pattern."""
    begin = time.process_time()
    try:
        with limit(0.6):
            if "search" in methods:
                for _ in pattern.finditer(text):
                    pass
            for method in methods - {"search"}:
                getattr(pattern, method)(text)
    except TooLong:
        pass
    return time.process_time() - begin


def fault(pattern: Any, methods: frozenset[str], length: int) -> str:
    """Say which attack takes too long, or longer by the square of its length; empty when none does."""
    flags = pattern.flags if isinstance(pattern, re.Pattern) else 0
    tried: set[str] = set()
    shorter = attacks(pattern.pattern, flags, length // 4)
    for text, quarter in zip(attacks(pattern.pattern, flags, length), shorter, strict=True):
        if text in tried:
            continue
        tried.add(text)
        first = taken(pattern, methods, text)
        if first < NOTICEABLE:
            continue
        whole = min(first, *(taken(pattern, methods, text) for _ in range(2)))
        # Processor time may come in ticks of milliseconds, in which a single short search disappears.
        part = sum(taken(pattern, methods, quarter) for _ in range(QUARTERS)) / QUARTERS
        if whole > LONGEST or (whole > NOTICEABLE and whole > GROWTH * part):
            return f"{whole:.3f} s, a quarter of it {part:.3f} s: {text[:60]!r}…{text[-20:]!r}"
    return ""


def test_patterns_are_found() -> None:
    names = " ".join(package_patterns())
    assert len(package_patterns()) > 400
    for module in ("reading.prefixes", "facts.collector", "report.redaction.tokens", "report.escaping", "launch.shell"):
        assert f"logdoctor.{module}" in names
    assert len(signature_patterns()) > 800


@pytest.mark.parametrize("pattern", [r"(\w+\s*)+!", r"^\s*:?\s*x", r"a\S.*?\s*$", r"(a|a)*b", r"[\w.]+ is"])
def test_attacks_find_what_takes_time_by_the_square(pattern: str) -> None:
    assert fault(re.compile(pattern), frozenset({"search"}), 2 * LENGTH)


def test_patterns_of_the_package() -> None:
    faults = {
        name: said
        for name, used in package_patterns().items()
        if (said := fault(used.pattern, used.methods, min(LENGTH, used.longest)))
    }
    assert not faults


def test_patterns_of_the_signatures() -> None:
    faults = {
        name: said
        for name, pattern in signature_patterns().items()
        if (said := fault(pattern, frozenset({"search"}), LENGTH))
    }
    assert not faults
