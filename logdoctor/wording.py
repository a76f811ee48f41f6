"""Texts that remember which part is the tool's own and which a log filled in, whole, until redaction has seen them.

A `Worded` is the text as it would be shown. Redaction hides nothing in the tool's own words, reads what was filled in
as the log has it, and only then folds, cuts and quotes it: a secret that is cut first is not recognised any more. Any
operation of `str` returns a plain text, which redaction treats as a stranger's from beginning to end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

_PLAIN = frozenset("_@%+=:,./-")
_NO_WORD = frozenset(",;\"'`()[]{}<>|")
_LONGEST_PLACEHOLDER = 50
_MAX_WORD = 400
"""Characters that a cut may take away to spare the reader half a word, which may be half a secret."""


class Part(NamedTuple):
    """A stretch of a text, and how it is shown."""

    text: str
    """As it came: neither folded nor cut nor quoted."""
    own: bool = False
    """True for the tool's own words."""
    name: str = ""
    """Key of the fact that it states; the name of a setting tells whether its value is secret."""
    limit: int = 0
    """Characters that are shown; 0 shows all."""
    fold: bool = False
    """Whether it is shown on one line."""
    quote: str | None = None
    """How a shell has to read it: empty as one word, a quotation mark inside of such, None as it stands."""

    @property
    def shown(self) -> str:
        """The stretch folded, cut and quoted."""
        text = " ".join(self.text.split()) if self.fold else self.text
        text = cut(text, self.limit) if self.limit else text
        return text if self.quote is None else quoted(text, self.quote)


class Worded(str):
    """A text made of parts."""

    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Worded:
        """Make the text that the parts show."""
        kept = tuple(part for part in parts if part.text or part.quote is not None)
        made = super().__new__(cls, "".join(part.shown for part in kept))
        made.parts = kept
        return made

    def __reduce__(self) -> tuple[type[Worded], tuple[tuple[Part, ...]]]:
        return Worded, (self.parts,)

    def __getnewargs__(self) -> tuple[tuple[Part, ...]]:  # type: ignore[override]
        return (self.parts,)

    def stretch(self, start: int, end: int) -> Worded:
        """Return the part of the shown text from `start` to `end`; whole parts stay what they are."""
        return Worded(self._stretch(start, end))

    def _stretch(self, start: int, end: int) -> Iterator[Part]:
        at = 0
        for part in self.parts:
            shown = part.shown
            first, last = max(start - at, 0), min(end - at, len(shown))
            if first == 0 and last == len(shown):
                yield part
            elif first < last:
                yield Part(shown[first:last], own=part.own)
            at += len(shown)


def own(text: str) -> Worded:
    """Return words of the tool."""
    return Worded((Part(text, own=True),))


def clipped(text: str, limit: int, *, fold: bool = False) -> Worded:
    """Return a text of the log that is to be shown with at most `limit` characters."""
    return Worded((Part(text, limit=limit, fold=fold),))


def joined(*pieces: str) -> Worded:
    """Return several texts as one; a plain text counts as the log's."""
    return Worded(part for piece in pieces for part in parts_of(piece))


def parts_of(text: str) -> tuple[Part, ...]:
    """Return the parts of a text."""
    return text.parts if isinstance(text, Worded) else (Part(text),)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, with the cut shown; no word is cut in two unless it is very long."""
    if len(text) <= limit:
        return text
    end = limit - 1
    opened = text.rfind("<", max(end - _LONGEST_PLACEHOLDER, 0), end)
    closed = text.find(">", opened, end + _LONGEST_PLACEHOLDER) if opened != -1 else -1
    if closed >= end and text[opened + 1 : closed].replace("-", "").isalnum():
        return text[:opened].rstrip() + "…"
    return text[: word_start(text, end)].rstrip() + "…"


def beginning(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, with no word cut in two and no mark of the cut."""
    return text if len(text) <= limit else text[: word_start(text, limit)]


def _parts_words(character: str) -> bool:
    return character.isspace() or character in _NO_WORD


def word_start(text: str, end: int) -> int:
    """Return where a text may end at the latest for `end` to cut no word; `end` itself in the middle of a long run."""
    if _parts_words(text[end]):
        return end
    for begin in range(end - 1, max(end - _MAX_WORD, -1), -1):
        if _parts_words(text[begin]):
            return begin + 1
    return end if end > _MAX_WORD else 0


def word_end(text: str, start: int) -> int:
    """Return where a text may begin at the earliest for `start` to cut no word."""
    if start <= 0 or _parts_words(text[start - 1]):
        return max(start, 0)
    stop = min(start + _MAX_WORD, len(text))
    return next((place for place in range(start, stop) if _parts_words(text[place])), start)


def quoted(value: str, quote: str) -> str:
    """Return a value as a shell has to read it: as one word, or inside of the quotation marks that are open."""
    if quote == "'":
        return value.replace("'", "'\"'\"'")
    if quote == '"':
        return "".join(f"\\{character}" if character in '\\"$`' else character for character in value)
    return shell_word(value)


def shell_word(value: str) -> str:
    """Return a value from a log as one word of a shell, quoted unless it is harmless."""
    if value and all(character.isalnum() or character in _PLAIN for character in value):
        return value
    import shlex

    return shlex.quote(value)
