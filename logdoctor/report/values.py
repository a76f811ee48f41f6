"""Facts, numbers and durations as short texts."""

from __future__ import annotations

from logdoctor.model import BootDiagnosis, Diagnosis, Fact
from logdoctor.report.escaping import one_line
from logdoctor.report.words import Words


def fact_value(boot: BootDiagnosis, key: str) -> str:
    """Return a fact's value as one line of text, empty when it is not known."""
    fact = boot.facts.get(key)
    return "" if fact is None else value_text(fact.value)


def value_text(value: object) -> str:
    """Return a fact's value as one line of text; numbers as Python writes them."""
    if isinstance(value, tuple):
        return ", ".join(one_line(str(item)) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return one_line(str(value))


def number(boot: BootDiagnosis, key: str) -> float | None:
    """Return a fact that is a finite number, else None."""
    fact = boot.facts.get(key)
    if fact is None or isinstance(fact.value, bool) or not isinstance(fact.value, (int, float)):
        return None
    value = float(fact.value)
    return value if abs(value) < 1e15 else None


def origin_text(fact: Fact, words: Words) -> str:
    """Say where a fact came from when the log did not state it; empty when it did."""
    return "" if fact.origin == "log" else words.get(fact.origin, fact.origin)


def duration(seconds: float) -> str:
    """Return a duration in words and numbers: `4.2 s`, `2 min 41 s`, `1 h 3 min`."""
    if not 0 <= seconds < 1e9:
        return f"{seconds:g} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def clock(seconds: float) -> str:
    """Return a duration for the time line: `0:31`, `1:52`, `1:03:00`."""
    whole = round(seconds) if 0 <= seconds < 1e9 else 0
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def source_file(diagnosis: Diagnosis) -> str:
    """Return the name under which programs are told of the log: as given, `stdin.log` for a pipe."""
    name = one_line(diagnosis.source)
    return "stdin.log" if name in ("", "-", "stdin") else name


def told_boots(diagnosis: Diagnosis, all_boots: bool) -> tuple[BootDiagnosis, ...]:
    """Return the boots whose findings a report for programs lists: the leading one, or all."""
    leading = diagnosis.boot
    return diagnosis.boots if all_boots else (leading,) if leading is not None else ()
