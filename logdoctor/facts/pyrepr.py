"""Read the Python reprs that vLLM prints, without ever evaluating them.

vLLM prints its arguments as a dict repr, a `Namespace(…)` or as `name=value, name=value`, with enums (`<Mode.A: 3>`),
nested configuration objects (`PoolerConfig(…)`), functions and unquoted words inside, and a transport may have cut the
line anywhere. The readers here take what is whole, never raise, and need time linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Union


class Opaque(NamedTuple):
    """A value that has no plain form: an object's repr, with the keyword arguments that could be read from it."""

    text: str
    fields: Mapping[str, PyValue] = MappingProxyType({})


PyValue = Union[str, int, float, bool, None, "list[PyValue]", "dict[str, PyValue]", Opaque]

_MAX_DEPTH = 60
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_DOTTED_CALL = re.compile(r"[A-Za-z_][\w.]*\(")
_STRING_START = re.compile(r"(?:[rRuUbBfF]{1,2})?(?=['\"])")
_KEYWORD = re.compile(r"([A-Za-z_]\w*)=")
_NEXT_KEYWORD = re.compile(r",\s*(?:[A-Za-z_]\w*=|\Z)")
_PLAIN = re.compile(r"[^,()\[\]{}:'\"]+")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,20}://[^,()\[\]{}'\"]*")
_ANGLE = re.compile(r"[<>]")
_ENUM = re.compile(r"<(?:[\w.]*\.)?(?P<member>\w+): (?P<value>.*)>\Z", re.DOTALL)
_ENCLOSED = re.compile(r"\s*(?:['\"\[{(<]|[rRuUbBfF]{1,2}['\"]|[A-Za-z_][\w.]*\()")
_STRING_PART = {quote: re.compile(rf"[^{quote}\\]+") for quote in "'\""}
_INTEGER = re.compile(r"[+-]?\d{1,30}\Z")
_FLOAT = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d{1,5})?\Z")
_WORDS: Mapping[str, float | bool | None] = {
    "True": True,
    "False": False,
    "None": None,
    "true": True,
    "false": False,
    "null": None,
    "inf": float("inf"),
    "-inf": float("-inf"),
    "nan": float("nan"),
}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}


class _Cut(Exception):
    """The text ended, or nests too deep, inside a value."""


def read_mapping(text: str, start: int = 0) -> dict[str, PyValue]:
    """Read the dict repr that begins at `start`; of a cut text the entries that are whole."""
    reader = _Reader(text, start)
    entries: dict[str, PyValue] = {}
    reader.read_braces(entries)
    return entries


def read_keywords(text: str, start: int = 0) -> dict[str, PyValue]:
    """Read `name=value, name=value` from `start` to the end of the text or to an unmatched closing bracket."""
    reader = _Reader(text, start)
    entries: dict[str, PyValue] = {}
    reader.read_top_keywords(entries)
    return entries


def read_value(text: str) -> PyValue:
    """Read one repr; what cannot be read comes back as the text itself."""
    reader = _Reader(text, 0)
    try:
        value = reader.value(0)
    except _Cut:
        return text
    return value if not text[reader.position :].strip() else text


def as_text(value: PyValue) -> str:
    """Print a value as one text: plain text as it is, collections as JSON, objects as vLLM printed them."""
    if isinstance(value, str):
        return value
    if isinstance(value, Opaque):
        return value.text
    return json.dumps(value, ensure_ascii=False, default=lambda other: getattr(other, "text", str(other)))


class _Reader:
    """A cursor over the text; every method leaves it behind what it has read."""

    __slots__ = ("position", "text")

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def read_braces(self, entries: dict[str, PyValue]) -> None:
        """Fill `entries` from `{…}`, keeping what was whole when the text ends early."""
        try:
            if self._take("{"):
                self._dict_items(entries, 0)
        except _Cut:
            return

    def read_top_keywords(self, entries: dict[str, PyValue]) -> None:
        """Fill `entries` from keyword pairs; unquoted values run to the next `, name=`."""
        while True:
            self._skip_space()
            key = _KEYWORD.match(self.text, self.position)
            if key is None:
                return
            self.position = key.end()
            try:
                entries[key.group(1)] = self._top_value()
            except _Cut:
                return
            if not self._take(","):
                return

    def _top_value(self) -> PyValue:
        start = self.position
        try:
            value = self.value(0)
            self._skip_space()
        except _Cut:
            if self.position < len(self.text) or _ENCLOSED.match(self.text, start):
                raise
            value = _bare(self.text[start:])  # the last word of the line ends with the line
        if self.position >= len(self.text) or self.text[self.position] in ")}]":
            return value
        following = _NEXT_KEYWORD.search(self.text, self.position)
        if following is not None and following.start() == self.position:
            return value
        return self._loose(start, following)

    def _loose(self, start: int, following: re.Match[str] | None) -> PyValue:
        """Take unquoted text with commas or blanks in it, to where the next keyword begins."""
        self.position = following.start() if following is not None else len(self.text)
        return _bare(self.text[start : self.position])

    def value(self, depth: int) -> PyValue:
        """Read one value of any kind."""
        if depth > _MAX_DEPTH:
            raise _Cut
        self._skip_space()
        if self.position >= len(self.text):
            raise _Cut
        char = self.text[self.position]
        if char == "{":
            self.position += 1
            return self._braces(depth + 1)
        if char in "[(":
            self.position += 1
            return self._items("]" if char == "[" else ")", depth + 1)
        if char == "<":
            return self._angle()
        prefix = _STRING_START.match(self.text, self.position)
        if prefix is not None:
            self.position = prefix.end()
            return self._string()
        call = _DOTTED_CALL.match(self.text, self.position)
        if call is not None:
            return self._call(call, depth + 1)
        return self._word()

    def _string(self) -> str:
        quote = self.text[self.position]
        self.position += 1
        plain = _STRING_PART[quote]
        parts: list[str] = []
        while True:
            part = plain.match(self.text, self.position)
            if part is not None:
                parts.append(part.group())
                self.position = part.end()
            if self.position >= len(self.text):
                raise _Cut
            if self.text[self.position] == quote:
                self.position += 1
                return "".join(parts)
            parts.append(self._escape())

    def _escape(self) -> str:
        code = self.text[self.position + 1 : self.position + 2]
        if not code:
            raise _Cut
        self.position += 2
        width = _HEX_ESCAPES.get(code)
        if width is None:
            return _ESCAPES.get(code, code if code in "\\'\"" else "\\" + code)
        digits = self.text[self.position : self.position + width]
        try:
            char = chr(int(digits, 16))
        except (ValueError, OverflowError):
            return "\\" + code
        self.position += width
        return char

    def _braces(self, depth: int) -> PyValue:
        """Read what follows `{`: a dict, or the members of a set as a list."""
        entries: dict[str, PyValue] = {}
        if self._take("}"):
            return entries
        first = self._element(depth, stop=":")
        if self._take(":"):
            entries[as_text(first)] = self._element(depth)
            self._more_entries(entries, depth)
            return entries
        items = [first]
        self._more_items(items, "}", depth)
        return items

    def _dict_items(self, entries: dict[str, PyValue], depth: int) -> None:
        """Read `key: value` pairs up to `}` into `entries`, one by one so that a cut keeps the whole ones."""
        if self._take("}"):
            return
        self._entry(entries, depth)
        self._more_entries(entries, depth)

    def _more_entries(self, entries: dict[str, PyValue], depth: int) -> None:
        while self._take(","):
            if self._take("}"):
                return
            self._entry(entries, depth)
        self._close("}")

    def _entry(self, entries: dict[str, PyValue], depth: int) -> None:
        key = self._element(depth, stop=":")
        self._close(":")
        entries[as_text(key)] = self._element(depth)

    def _items(self, end: str, depth: int) -> list[PyValue]:
        items: list[PyValue] = []
        if not self._take(end):
            items.append(self._element(depth))
            self._more_items(items, end, depth)
        return items

    def _more_items(self, items: list[PyValue], end: str, depth: int) -> None:
        while self._take(","):
            if self._take(end):
                return
            items.append(self._element(depth))
        self._close(end)

    def _element(self, depth: int, stop: str = "") -> PyValue:
        """Read a value inside brackets, with whatever follows it up to the next comma, bracket or `stop`."""
        self._skip_space()
        start = self.position
        value = self.value(depth)
        end = self.position
        self._skip_space()
        while self.position < len(self.text) and self.text[self.position] not in ",)]}" + stop:
            if self.text[self.position] == ":":
                self.position += 1
            else:
                self.value(depth)
            self._skip_space()
        if not self.text[end : self.position].strip():
            return value
        return Opaque(self.text[start : self.position].strip())

    def _call(self, call: re.Match[str], depth: int) -> Opaque:
        start = self.position
        self.position = call.end()
        fields: dict[str, PyValue] = {}
        while not self._take(")"):
            self._skip_space()
            key = _KEYWORD.match(self.text, self.position)
            if key is not None:
                self.position = key.end()
            value = self._element(depth)
            if key is not None:
                fields[key.group(1)] = value
            if not self._take(","):
                self._close(")")
                break
        return Opaque(self.text[start : self.position], fields)

    def _angle(self) -> PyValue:
        """Read `<Class.MEMBER: value>` as its text value or its member's name, other `<…>` as text."""
        start, level = self.position, 0
        for mark in _ANGLE.finditer(self.text, start):
            level += 1 if mark.group() == "<" else -1
            if level == 0:
                self.position = mark.end()
                return _enum_or_text(self.text[start : self.position])
        raise _Cut

    def _word(self) -> PyValue:
        address = _ADDRESS.match(self.text, self.position)
        if address is not None:  # the colons of an unquoted URL separate nothing
            self.position = address.end()
            return address.group().strip()
        plain = _PLAIN.match(self.text, self.position)
        if plain is None:  # a stray closing bracket or colon
            raise _Cut
        self.position = plain.end()
        if self.position >= len(self.text):
            raise _Cut
        return _bare(plain.group())

    def _close(self, end: str) -> None:
        if not self._take(end):
            raise _Cut

    def _take(self, char: str) -> bool:
        self._skip_space()
        if self.position < len(self.text) and self.text[self.position] == char:
            self.position += 1
            return True
        return False

    def _skip_space(self) -> None:
        space = _SPACE.match(self.text, self.position)
        if space is not None:
            self.position = space.end()


def _bare(text: str) -> PyValue:
    """Type an unquoted word."""
    word = text.strip()
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.match(word):
        return int(word)
    if len(word) < 400 and _FLOAT.match(word):
        return float(word)
    return word


def _enum_or_text(text: str) -> PyValue:
    enum = _ENUM.match(text)
    if enum is None:
        return Opaque(text)
    value = read_value(enum.group("value"))
    return value if isinstance(value, str) and enum.group("value")[:1] in ("'", '"') else enum.group("member")
