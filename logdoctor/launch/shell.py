"""Split a shell script into simple commands and their words, with the place of every word.

Nothing is ever run or expanded. Known: quotes, escapes, line continuations, comments, `$(…)`, `${…}`, back quotes,
redirections, here-documents (skipped), and arrays. Every unknown construct ends up as plain words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from logdoctor.launch.errors import LaunchError
from logdoctor.launch.pieces import Piece, Quoting

MAX_WORDS = 5_000
"""Words of one command that are read."""

_BLANK = " \t"
_SEPARATORS = ";&|()"
_META = frozenset(" \t\r\n;&|()<>")
_PLAIN = re.compile(r"[^\s;&|()<>'\"\\$`]+")
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=$")
_LINE_END = re.compile(r"\\(?P<blank>[ \t]*)\r?(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a command, as offsets into its piece."""

    start: int
    end: int
    value: str
    """Without quotes and escapes; `$NAME` and `$(…)` stay as they are written."""
    quoting: Quoting
    expands: bool = False
    """True when the shell puts something else in its place: `$NAME`, `$(…)`, back quotes."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One simple command."""

    tokens: tuple[Token, ...]
    start: int
    end: int
    redirects: tuple[tuple[int, int], ...] = ()
    array: str = ""
    """For `NAME=( … )` and `NAME+=( … )`: `NAME` or `NAME+`, and the tokens are its elements."""
    comment_after_backslash: bool = False
    """A comment or a blank after a backslash ended the command where the writer meant it to go on."""


@dataclass(slots=True)
class _Draft:
    """A command while it is being read."""

    tokens: list[Token] = field(default_factory=list)
    redirects: list[tuple[int, int]] = field(default_factory=list)
    array: str = ""
    continued: bool = False
    suspicious: bool = False


def split(piece: Piece, *, newline_ends: bool = True) -> tuple[Statement, ...]:
    """Return the commands of a script; with `newline_ends=False` a line end is a blank like any other."""
    return tuple(_Splitter(piece.text, newline_ends).statements())


def refuse_many(count: int) -> None:
    """Raise `LaunchError` for a command of more words than anyone writes."""
    if count > MAX_WORDS:
        raise LaunchError(f"a command of the launch has more than {MAX_WORDS:,} words")


def unquote(text: str, start: int, end: int) -> tuple[str, list[int], list[int], Quoting, bool]:
    """Take the quotes off a word.

    Returns its value, where each character of it begins and ends, how it is quoted, and whether the shell would
    expand something in it.
    """
    return _Unquoter(text, start, end).run()


def content(piece: Piece, token: Token) -> Piece:
    """Return what stands inside a word as a piece of its own, to be split again."""
    value, starts, ends, quoting, _ = unquote(piece.text, token.start, token.end)
    return Piece(
        value,
        [piece.start(at) for at in starts],
        [piece.end(at) for at in ends],
        (quoting, *piece.quoting),
    )


class _Splitter:
    """A cursor over the script; every method leaves it behind what it has read."""

    def __init__(self, text: str, newline_ends: bool) -> None:
        self._text = text
        self._at = 0
        self._newline_ends = newline_ends
        self._here: list[tuple[str, bool]] = []
        self._draft = _Draft()

    def statements(self) -> Iterator[Statement]:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if char in _BLANK or char == "\r":
                self._at += 1
            elif char == "\n":
                yield from self._newline()
            elif char == "\\" and self._continuation():
                self._draft.continued = True
            elif char == "#" and self._newline_ends:
                self._comment()
            elif char in "<>" or (char == "&" and text[self._at + 1 : self._at + 2] == ">"):
                self._redirect(self._at)
            elif char in _SEPARATORS:
                yield from self._separator(char)
            else:
                self._word()
        yield from self._finish()

    def _newline(self) -> Iterator[Statement]:
        self._at += 1
        if self._here:
            self._skip_here_documents()
        if self._newline_ends and not self._draft.array:
            yield from self._finish()

    def _continuation(self) -> bool:
        """Step over a backslash at the end of a line; a blank after it ends the command instead."""
        following = _LINE_END.match(self._text, self._at)
        if following is None:
            return False
        if following["blank"]:
            self._draft.suspicious = True
            self._at += 1
            return True
        self._at = following.end()
        return True

    def _comment(self) -> None:
        if self._draft.tokens and self._draft.continued and self._line_is_blank_before():
            self._draft.suspicious = True
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end

    def _line_is_blank_before(self) -> bool:
        start = self._text.rfind("\n", 0, self._at) + 1
        return not self._text[start : self._at].strip()

    def _separator(self, char: str) -> Iterator[Statement]:
        if char == "(" and self._opens_array():
            return
        if char == ")" and self._draft.array:
            self._at += 1
            yield from self._finish()
            return
        self._at += 1
        yield from self._finish()

    def _opens_array(self) -> bool:
        last = self._draft.tokens[-1] if self._draft.tokens else None
        if last is None or last.end != self._at or not _ARRAY.match(last.value) or self._draft.array:
            return False
        name = last.value.removesuffix("=")
        self._draft = _Draft(array=name)
        self._at += 1
        return True

    def _redirect(self, start: int) -> None:
        text = self._text
        while self._at < len(text) and text[self._at] in "<>&|":
            self._at += 1
        operator = text[start : self._at]
        if self._at < len(text) and text[self._at] == "(":  # process substitution
            self._at = _matching(text, self._at + 1, ")")
            self._draft.redirects.append((start, self._at))
            return
        if self._at < len(text) and text[self._at] == "-":
            self._at += 1
        while self._at < len(text) and text[self._at] in _BLANK:
            self._at += 1
        end = _word_end(text, self._at)
        if operator == "<<":
            target, *_ = unquote(text, self._at, end)
            self._here.append((target, text[self._at - 1 : self._at] == "-"))
        self._at = max(end, self._at)
        self._draft.redirects.append((start, self._at))

    def _skip_here_documents(self) -> None:
        for delimiter, tabs in self._here:
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end].rstrip("\r")
                self._at = min(end + 1, len(self._text))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
        self._here.clear()

    def _word(self) -> None:
        start = self._at
        end = _word_end(self._text, start)
        if end == start:  # a character that begins no word
            self._at += 1
            return
        if end < len(self._text) and self._text[end] in "<>" and self._text[start:end].isdigit():
            self._at = end
            self._redirect(start)
            return
        value, _, _, quoting, expands = unquote(self._text, start, end)
        self._draft.tokens.append(Token(start, end, value, quoting, expands))
        refuse_many(len(self._draft.tokens))
        self._draft.continued = False
        self._at = end

    def _finish(self) -> Iterator[Statement]:
        draft, self._draft = self._draft, _Draft()
        if not draft.tokens and not draft.array:
            return
        spans = [(token.start, token.end) for token in draft.tokens] + draft.redirects
        start = min((span[0] for span in spans), default=self._at)
        end = max((span[1] for span in spans), default=self._at)
        yield Statement(tuple(draft.tokens), start, end, tuple(draft.redirects), draft.array, draft.suspicious)


def _word_end(text: str, at: int) -> int:
    """Return where the word that begins at a place ends."""
    size = len(text)
    while at < size:
        char = text[at]
        if char == "'":
            at = _after(text, at + 1, "'")
        elif char == '"':
            at = _after_double(text, at + 1)
        elif char == "\\":
            if _LINE_END.match(text, at):
                return at
            at += 2
        elif char == "`":
            at = _after_backquote(text, at + 1)
        elif char == "$" and text[at + 1 : at + 2] in ("(", "{"):
            at = _matching(text, at + 2, ")" if text[at + 1] == "(" else "}")
        elif char in _META:
            return at
        else:
            plain = _PLAIN.match(text, at)
            at = plain.end() if plain else at + 1
    return size


def _after(text: str, at: int, quote: str) -> int:
    end = text.find(quote, at)
    return len(text) if end < 0 else end + 1


def _after_backquote(text: str, at: int) -> int:
    while at < len(text) and text[at] != "`":
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def _after_double(text: str, at: int) -> int:
    while at < len(text) and text[at] != '"':
        if text[at] == "\\":
            at += 2
        elif text[at] == "$" and text[at + 1 : at + 2] == "(":
            at = _matching(text, at + 2, ")")
        else:
            at += 1
    return min(at + 1, len(text))


def _matching(text: str, at: int, closing: str) -> int:
    """Return the place behind the bracket that closes a substitution; brackets and quotes inside are stepped over."""
    opening = {")": "(", "}": "{"}[closing]
    depth = 1
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if char == "'":
            at = _after(text, at + 1, "'")
            continue
        if char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(text)


class _Unquoter:
    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._at = start
        self._start = start
        self._end = end
        self._value: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._expands = False
        self._first_closed = -1

    def run(self) -> tuple[str, list[int], list[int], Quoting, bool]:
        text = self._text
        while self._at < self._end:
            char = text[self._at]
            if char == "'":
                self._single()
            elif char == '"':
                self._double()
            elif char == "\\":
                self._escape(anything=True)
            else:
                self._plain(char)
        return "".join(self._value), self._starts, self._ends, self._quoting(), self._expands

    def _take(self, char: str, width: int) -> None:
        self._value.append(char)
        self._starts.append(self._at)
        self._at += width
        self._ends.append(min(self._at, self._end))

    def _plain(self, char: str) -> None:
        """Take a character; what the shell puts something else in place of stays as it is written."""
        following = self._text[self._at + 1 : min(self._at + 2, self._end)]
        end = self._at + 1
        if char == "`" and following:
            end = _after_backquote(self._text, self._at + 1)
        elif char == "$" and following in ("(", "{") and following:
            end = _matching(self._text, self._at + 2, ")" if following == "(" else "}")
        elif char != "$" or not (following.isalnum() or following in ("_", "@", "*", "?", "#")) or not following:
            self._take(char, 1)
            return
        self._expands = True
        while self._at < min(end, self._end):
            self._take(self._text[self._at], 1)

    def _single(self) -> None:
        closing = self._text.find("'", self._at + 1, self._end)
        closing = self._end if closing < 0 else closing
        self._at += 1
        while self._at < closing:
            self._take(self._text[self._at], 1)
        self._at = min(closing + 1, self._end)
        self._closed()

    def _double(self) -> None:
        self._at += 1
        while self._at < self._end and self._text[self._at] != '"':
            if self._text[self._at] == "\\":
                self._escape(anything=False)
            else:
                self._plain(self._text[self._at])
        self._at = min(self._at + 1, self._end)
        self._closed()

    def _closed(self) -> None:
        """Remember where the first quotation of the word ended."""
        self._first_closed = self._at if self._first_closed < 0 else self._first_closed

    def _escape(self, *, anything: bool) -> None:
        following = self._text[self._at + 1 : min(self._at + 2, self._end)]
        if following == "\n":
            self._at += 2
        elif following and (anything or following in '\\"$`'):
            self._take(following, 2)
        else:
            self._take("\\", 1)

    def _quoting(self) -> Quoting:
        text, first = self._text, self._text[self._start : self._start + 1]
        if first in ("'", '"') and self._first_closed == self._end and text[self._end - 1] == first:
            return Quoting.SINGLE if first == "'" else Quoting.DOUBLE
        raw = text[self._start : self._end]
        return Quoting.MIXED if any(char in raw for char in "'\"\\") else Quoting.BARE
