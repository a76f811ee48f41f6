"""Log text stays text: control characters made visible, commands of CI systems defused, Markdown kept inert.

A log is written by strangers. Nothing that it holds may move a cursor, reorder a line, ping a person, or be
obeyed by the program that reads the report.
"""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar

from logdoctor.model import Diagnosis

# What a reader cannot see or what acts on a terminal: C0, DEL and C1; bidirectional marks; zero-width and other
# invisible characters; line separators that some programs obey; interlinear and other format marks; tag characters
# and the variation selectors that can carry hidden text; lone surrogates, which no output encoding can hold.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U00013430-\U00013455\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = re.compile(f"[{_INVISIBLE}]")

# GitHub's runner obeys `::name` at the start of a line, after any blanks, and `##[name]` anywhere in a line.
_WORKFLOW_COMMAND = re.compile(r"^((?:\x1b\[[0-9;]*m|[^\S\n])*):(?=:)", re.MULTILINE)

_T = TypeVar("_T")


def escape_control(text: str) -> str:
    """Return `text` with every control, bidirectional and invisible character as `\\x1b` or `\\u202e`.

    Line feeds and tabs stay: layout is the renderer's business. A carriage return before a line feed is dropped.
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(_visible, text.replace("\r\n", "\n"))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def escape_diagnosis(diagnosis: Diagnosis) -> Diagnosis:
    """Return the diagnosis with `escape_control` applied to every text in it."""
    return _escape(diagnosis, {})


def _escape(value: _T, known: dict[int, tuple[Any, Any]]) -> _T:
    """Rebuild a frozen value with its texts escaped; what holds nothing to escape is returned as it is.

    The boots of a restart loop share their findings and facts: `known` keeps what each became, with the original, so
    that its id stays its own.
    """
    if isinstance(value, str):
        return value if isinstance(value, Enum) else escape_control(value)  # type: ignore[return-value]
    if value is None or isinstance(value, (int, float)):
        return value
    if id(value) in known:
        return known[id(value)][1]  # type: ignore[no-any-return]
    result: Any = value
    if isinstance(value, tuple):
        items = tuple([_escape(item, known) for item in value])
        result = items if any(map(operator.is_not, items, value)) else value
    elif isinstance(value, Mapping):
        result = {_escape(key, known): _escape(item, known) for key, item in value.items()}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        texts = [(name, getattr(value, name)) for name in _field_names(type(value))]
        changed = {name: new for name, old in texts if (new := _escape(old, known)) is not old}
        result = dataclasses.replace(value, **changed) if changed else value
    known[id(value)] = (value, result)
    return result  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def defuse_commands(text: str) -> str:
    """Return `text` with nothing left that a CI runner would take for a command of its own."""
    return _WORKFLOW_COMMAND.sub(r"\1\\x3a", text).replace("##[", "\\x23#[")


def to_ascii(text: str) -> str:
    """Return `text` in ASCII: what it cannot hold becomes a backslash escape."""
    return text if text.isascii() else text.encode("ascii", "backslashreplace").decode("ascii")


def one_line(text: str) -> str:
    """Return `text` as one line: every run of white space is one blank."""
    return " ".join(text.split())


def clip(text: str, limit: int, ellipsis: str = "…") -> str:
    """Return at most `limit` characters of `text`, the cut shown."""
    return text if len(text) <= limit else text[: max(0, limit - len(ellipsis))] + ellipsis


# A word with any of this would be more than text in Markdown as GitHub, GitLab or Jira read it: markup, HTML,
# entities, mathematics, links, mentions, references to issues or commits, emoji codes, colours.
_ACTIVE = re.compile(
    r"""[\\`*<>&\[\]{}|~$@^]
      | (?<![^\W_])_ | _(?![^\W_])
      | \#\w | ^\#+$ | \b(?:GH|gh)-\d
      | ://  | \b(?:www\.|mailto:|xmpp:) | !\d
      | :[\w+-]+:
      | \b[0-9a-f]{7,40}\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BLOCK_START = re.compile(r"(?:[-+=_]+|\d+[.)])$")


def markdown_text(text: str) -> str:
    """Return `text` as one inert line of Markdown that still reads as plain text.

    Words with active characters go into code spans. Backslashes would be no protection: mentions and issue
    numbers are found in the rendered text, after backslashes are gone, and only code is exempt.
    """
    spans: list[tuple[bool, list[str]]] = []
    for word in text.split():
        active = bool(_ACTIVE.search(word)) or (not spans and bool(_BLOCK_START.match(word)))
        if spans and spans[-1][0] == active:
            spans[-1][1].append(word)
        else:
            spans.append((active, [word]))
    return " ".join(code_span(" ".join(words)) if active else " ".join(words) for active, words in spans)


def code_span(text: str) -> str:
    """Return `text` as a Markdown code span on one line, delimited by more backticks than it holds in a run."""
    text = one_line(text)
    if not text:
        return ""
    ticks = "`" * (_longest_run(text, "`") + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, info: str = "") -> str:
    """Return `text` as a fenced Markdown block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, _longest_run(text, "`") + 1)
    return f"{fence}{info}\n{text}\n{fence}"


def _longest_run(text: str, character: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(character)}+", text)), default=0)
