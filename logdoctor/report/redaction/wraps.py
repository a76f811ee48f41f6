"""Secrets that a line break cuts in pieces: the text without its breaks, and the way back.

Terminals, mails and log viewers wrap in mid-word; loggers repeat their prefix on every line. Detectors run once more on
the text as it was before; what they find across a break becomes one span for each line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise

from .assignments import has_keyword
from .lazy import Pattern
from .spans import Span, is_masked
from .values import is_reference

# What stands in a text without being seen: colour, control characters, characters without width.
_UNSEEN = (
    r"(?:\x1b\[[0-9;]{0,16}[A-Za-z]"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff])"
)
# A line break, and what belongs to the next line's transport and not to its text: compose, time stamps, CRI, journald,
# process and logger prefixes, quotation marks of mails and boxes.
_BREAK = Pattern(
    rf"(?:(?<![ \t]){_UNSEEN}*(?:[ \t]*|\\)|(?<=[ \t])\\)\r?\n(?:[\w.-]{{1,40}} {{1,20}}\| )?"
    r"(?:\d{4}-\d\d-\d\dT[\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)? (?:std(?:out|err) [FP] )?)?"
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w.@-]{1,64}(?:\[\d{1,9}\])?: )?"
    r"(?:\((?:[A-Z]\w* )?pid=\d{1,9}[^)\n]{0,80}\) )*"
    r"(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]\n]{1,120}\] ?)?[ \t>|│]*"
    rf"{_UNSEEN}*|{_UNSEEN}+"
)
# How a line begins that continues nothing.
_FRESH = Pattern(
    r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|Traceback|File|During|The|raise|return|from|import|self|def"
    r"|class|with|if|for|export|exec|env|set|source|ENV|RUN|CMD)\b"
    r"|[\w.\-]{1,60}(?: = |=(?=[^\s=\"'])|:(?=\s|\Z))|--\w|-\w\b|-[ \t]|[(\[{#$]|\d{4}-\d\d|\d\d[-:/]\d\d"
    r"|[a-z]+\s+[a-z]|[A-Z][a-z]+\s|\w+\(|/[\w.-]+/[\w./-]+[ \t]+\S"
)


_RUN_END = Pattern(r"[\w+/=.~:%-]{1,60}\Z")
_RUN_START = Pattern(r"[\w+/=.~%-]{1,60}")
_NO_WORD = Pattern(r"[0-9_-]|[a-z][A-Z].*[a-z][A-Z]|[A-Z]{8}")


class Joined:
    """A text without its line breaks, with the places of the breaks."""

    def __init__(self, text: str) -> None:
        self.source = text
        matches = list(_BREAK.finditer(text))
        self._starts = [match.start() for match in matches]
        self._ends = [match.end() for match in matches]
        self._lines = ["\n" in match.group() for match in matches]
        bounds = zip([0, *self._ends], [*self._starts, len(text)], strict=True)
        parts = [text[start:end] for start, end in bounds]
        self.text = "".join(parts)
        self._offsets: list[int] = []
        for part in parts[:-1]:
            self._offsets.append((self._offsets[-1] if self._offsets else 0) + len(part))

    def crossed(self, start: int, end: int) -> list[int]:
        """Return the offsets of the breaks strictly inside `start:end` of the joined text."""
        return self._offsets[bisect_right(self._offsets, start) : bisect_left(self._offsets, end)]

    def may_cut(self, lower: str) -> bool:
        """Tell whether a break may cut a secret: a name before it, or a run across it that is no word.

        `lower` is the source in lower case.
        """
        for start, end, offset in zip(self._starts, self._ends, self._offsets, strict=True):
            line_start = lower.rfind("\n", 0, start) + 1
            if has_keyword(lower[line_start:start]):
                return True
            head = _RUN_END.search(self.source, max(line_start, start - 60), start)
            tail = _RUN_START.match(self.source, end)
            if head and tail:
                run = self.text[offset - len(head.group()) : offset + len(tail.group())]
                if has_keyword(run.lower()) or (len(run) >= 9 and _NO_WORD.search(run)):
                    return True
        return False

    def is_line_end(self, offset: int) -> bool:
        """Tell whether the break at this offset ends a line, and is no invisible character."""
        return self._lines[bisect_left(self._offsets, offset)]

    def is_break(self, offset: int) -> bool:
        """Tell whether a break was at this offset of the joined text."""
        index = bisect_left(self._offsets, offset)
        return index < len(self._offsets) and self._offsets[index] == offset

    def line(self, offset: int) -> str:
        """Return the joined text from `offset` to the next break."""
        index = bisect_right(self._offsets, offset)
        return self.text[offset : self._offsets[index] if index < len(self._offsets) else len(self.text)]

    def offset(self, place: int) -> int:
        """Return the offset in the joined text of a place in the source."""
        index = bisect_right(self._starts, place)
        if not index:
            return place
        return self._offsets[index - 1] + max(0, place - self._ends[index - 1])

    def pieces(self, span: Span) -> Iterator[Span]:
        """Yield a span of the joined text as one span of the source for each line, all with the value of the whole."""
        cuts = [span.start, *self.crossed(span.start, span.end), span.end]
        value = span.value or self.text[span.start : span.end]
        for start, end in pairwise(cuts):
            shift = bisect_right(self._offsets, start)
            place = start + (self._ends[shift - 1] - self._offsets[shift - 1] if shift else 0)
            yield Span(place, place + end - start, span.kind, value)


def cut_spans(joined: Joined, spans: list[Span], whole: list[Span]) -> Iterator[Span]:
    """Yield the pieces of those `spans` of the joined text that cross a break; `whole` are those of the source."""
    ends = {joined.offset(span.end) for span in whole}
    for span in spans:
        crossed = joined.crossed(span.start, span.end)
        if joined.is_break(span.start) and joined.is_line_end(span.start) and _FRESH.match(joined.line(span.start)):
            continue
        loose = (at for at in crossed if not _continues(joined, at, span, ends, first=at == crossed[0]))
        end = next(loose, span.end)
        if crossed and end > crossed[0]:
            yield from joined.pieces(Span(span.start, end, span.kind))


def line_spans(joined: Joined, spans: list[Span]) -> Iterator[Span]:
    """Yield spans of the source with those that cross a break cut into one for each line."""
    for span in spans:
        start, end = joined.offset(span.start), joined.offset(span.end)
        if "\n" in joined.source[span.start : span.end]:
            yield from joined.pieces(Span(start, end, span.kind, span.value))
        else:
            yield span


def _continues(joined: Joined, offset: int, span: Span, ends: set[int], *, first: bool) -> bool:
    """Tell whether the text after the break at `offset`, the span's `first` or a later one, belongs to the secret."""
    if first and is_masked(joined.text[span.start : offset]):
        return False  # redacted before, with all that belonged to it
    if first and is_reference(joined.text[span.start : offset]) and _FRESH.match(joined.line(offset)):
        return False  # a whole reference to a variable, and a line of its own
    quote = joined.text[span.end : span.end + 1]
    if quote in ("'", '"') and quote in joined.text[max(0, span.start - 16) : span.start]:
        return True  # a closing quote stands behind it
    if first and offset not in ends:
        return True  # the piece before the first break is no secret by itself: the rest made it one
    return not joined.is_line_end(offset) or not _FRESH.match(joined.line(offset))
