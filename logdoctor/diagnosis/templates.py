"""Fill `{capture}`, `{fact.key}` and `{name|fallback}` in the texts of a signature.

Own and tiny on purpose: `str.format` would evaluate attribute access on values that come from a log.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from logdoctor.model import Facts, FactValue

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]*)(?:\|([^{}]*))?\}")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+")
MAX_VALUE = 200
"""Characters of a captured value that a text shows."""


def names(text: str) -> tuple[str, ...]:
    """Return the placeholder names of a text in their order."""
    return tuple(found[1] for found in _PLACEHOLDER.finditer(text))


def fill(text: str, captures: Mapping[str, str], facts: Facts) -> str:
    """Fill a text for people: unknown values become their fallback, else the name in angle brackets."""
    return _PLACEHOLDER.sub(lambda found: _value(found, captures, facts), text)


def fill_command(text: str, captures: Mapping[str, str], facts: Facts) -> tuple[str, bool]:
    """Fill a command to paste. Values from the log are quoted for the shell, also where the command quotes them.

    Returns the command and whether every placeholder had a value.
    """
    complete = True

    def one(found: re.Match[str]) -> str:
        nonlocal complete
        value = _lookup(found[1], captures, facts)
        if value is None:
            if found[2] is not None:
                return found[2]
            complete = False
            return f"<{found[1].rpartition('.')[2]}>"
        return _quoted(value, _open_quote(text[: found.start()]))

    return _PLACEHOLDER.sub(one, text), complete


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


def _quoted(value: str, quote: str) -> str:
    if quote == "'":
        return value.replace("'", "'\"'\"'")
    if quote == '"':
        return re.sub(r'[\\"$`]', r"\\\g<0>", value)
    return shell_word(value)


def shell_word(value: str) -> str:
    """Return a value from a log as one word of a shell, quoted unless it is harmless."""
    return value if _PLAIN_WORD.fullmatch(value) else shlex.quote(value)


def _value(found: re.Match[str], captures: Mapping[str, str], facts: Facts) -> str:
    value = _lookup(found[1], captures, facts)
    if value is not None:
        return value
    return found[2] if found[2] is not None else f"<{found[1]}>"


def _lookup(name: str, captures: Mapping[str, str], facts: Facts) -> str | None:
    if name in captures:
        value = captures[name].strip()
    elif name in facts:
        value = as_text(facts[name].value)
    else:
        return None
    return cut(" ".join(value.split()), MAX_VALUE)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, with the cut shown."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def as_text(value: FactValue) -> str:
    """Return a fact's value as a person writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value)
