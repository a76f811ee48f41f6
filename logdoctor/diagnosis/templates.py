"""Fill `{capture}`, `{fact.key}` and `{name|fallback}` in the texts of a signature.

Own and tiny on purpose: `str.format` would evaluate attribute access on values that come from a log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from logdoctor.model import Facts, FactValue
from logdoctor.wording import Part, Worded, cut, shell_word

__all__ = ["MAX_VALUE", "as_text", "cut", "fill", "fill_command", "names", "shell_word"]

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]*)(?:\|([^{}]*))?\}")
MAX_VALUE = 200
"""Characters of a captured value that a text shows."""


def names(text: str) -> tuple[str, ...]:
    """Return the placeholder names of a text in their order."""
    return tuple(found[1] for found in _PLACEHOLDER.finditer(text))


def fill(text: str, captures: Mapping[str, str], facts: Facts) -> Worded:
    """Fill a text for people: unknown values become their fallback, else the name in angle brackets."""

    def one(found: re.Match[str]) -> Part:
        value = _lookup(found[1], captures, facts)
        if value is not None:
            return value
        return Part(found[2] if found[2] is not None else f"<{found[1]}>", own=True)

    return _filled(text, one)


def fill_command(text: str, captures: Mapping[str, str], facts: Facts) -> tuple[Worded, bool]:
    """Fill a command to paste. Values from the log are quoted for the shell, also where the command quotes them.

    Returns the command and whether every placeholder had a value.
    """
    complete = True

    def one(found: re.Match[str]) -> Part:
        nonlocal complete
        value = _lookup(found[1], captures, facts)
        if value is not None:
            return value._replace(quote=_open_quote(text[: found.start()]))
        if found[2] is not None:
            return Part(found[2], own=True)
        complete = False
        return Part(f"<{found[1].rpartition('.')[2]}>", own=True)

    return _filled(text, one), complete


def _filled(text: str, one: Callable[[re.Match[str]], Part]) -> Worded:
    """Put values in the places of a text, and keep in mind which of it is the entry's and which the log's."""
    parts: list[Part] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        parts += [Part(text[end : found.start()], own=True), one(found)]
        end = found.end()
    return Worded((*parts, Part(text[end:], own=True)))


def _open_quote(before: str) -> str:
    """Return the quote that is open at the end of the beginning of a command; empty when none is."""
    quote, escaped = "", False
    for character in before:
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
    return quote


def _lookup(name: str, captures: Mapping[str, str], facts: Facts) -> Part | None:
    if name in captures:
        return Part(captures[name].strip(), limit=MAX_VALUE, fold=True)
    if name in facts:
        return Part(as_text(facts[name].value), name=name, limit=MAX_VALUE, fold=True)
    return None


def as_text(value: FactValue) -> str:
    """Return a fact's value as a person writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value)
