"""Private keys in PEM, whole or in part.

https://datatracker.ietf.org/doc/html/rfc7468: a BEGIN line, base64 lines of 64 characters (OpenSSH 70, MIME 76), an
END line. In a repr or a JSON string the line ends are written out; in a log every line may carry a prefix; an excerpt
may hold the head, the tail or the middle only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from .lazy import Pattern
from .shapes import is_opaque, is_random
from .spans import Span

_BEGIN = Pattern(r"-{2,5}BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{0,5}")
_END = Pattern(r"-{0,5}END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{0,5}")
_BREAK = Pattern(r"(?:\\{1,15}[rn])+|\r?\n")
_FULL = Pattern(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{60,76}(?![A-Za-z0-9+/=])")
# What a key's body begins with: a DER sequence, OpenSSH's magic, or (a PEM file in base64 again) `-----BEGIN`.
_HEAD = Pattern(
    r"(?<![A-Za-z0-9+/])(?:MI[IGCE][A-Za-z0-9+/]{2}|MC4CAQAw|b3BlbnNzaC1rZXk|LS0tLS1CRUdJTi)[A-Za-z0-9+/]{16,}={0,2}"
)
_BODY = Pattern(r"[A-Za-z0-9+/]{2,}={0,2}")
_MORE = Pattern(r"[ \t]*(?:Proc-Type: \S+|DEK-Info: \S+|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{2,15}={1,2})")
_LINES = 150  # no key is longer


def find_private_keys(text: str, lower: str) -> Iterator[Span]:
    """Yield the parts of private keys, one span for each physical line."""
    if "private key" not in lower and not _FULL.search(text) and not _HEAD.search(text):
        return
    pieces = _pieces(text)
    ends = [index for index, piece in enumerate(pieces) if _END.search(text, *piece)]
    hidden: set[int] = set()
    for index, (start, end) in enumerate(pieces):
        piece = text[start:end]
        if begin := _BEGIN.search(piece):
            hidden |= _after(text, pieces, index, begin.end() + start, ends)
        elif index not in hidden and _END.search(piece):
            hidden |= {index, *_before(text, pieces, index)}
        elif ((run := _FULL.search(piece)) and is_random(run.group())) or _HEAD.search(piece):
            hidden |= {index, *_neighbours(text, pieces, index)}
    yield from _spans(text, pieces, hidden)


def _pieces(text: str) -> list[tuple[int, int]]:
    starts = [0, *(match.end() for match in _BREAK.finditer(text))]
    ends = [*(match.start() for match in _BREAK.finditer(text)), len(text)]
    return list(zip(starts, ends, strict=True))


def _body(text: str, piece: tuple[int, int]) -> str:
    """Return the base64 run that ends a piece (a log prefix may stand before it), or nothing."""
    words = text[piece[0] : piece[1]].strip(" \t'\",|>\\;").split()
    return words[-1] if words and _BODY.fullmatch(words[-1]) else ""


def _is_body(run: str) -> bool:
    return len(run) >= 16 or run.endswith("=") or is_opaque(run, 4)


def _after(text: str, pieces: list[tuple[int, int]], index: int, begin_end: int, ends: list[int]) -> set[int]:
    """Return the pieces of a key whose BEGIN line is at `index`."""
    if _END.search(text, begin_end, pieces[index][1]):
        return {index}
    last = min(index + _LINES, len(pieces))
    following = bisect_right(ends, index)
    if following < len(ends) and ends[following] < last:
        return set(range(index, ends[following] + 1))
    stop = index + 1
    while stop < last and (_is_body(_body(text, pieces[stop])) or ": " in text[pieces[stop][0] : pieces[stop][1]][:12]):
        stop += 1
    return set(range(index, stop))


def _before(text: str, pieces: list[tuple[int, int]], index: int) -> Iterator[int]:
    """Yield the pieces of a key whose END line is at `index` and whose BEGIN line is missing."""
    for before in range(index - 1, max(-1, index - _LINES), -1):
        run = _body(text, pieces[before])
        if not run or (before != index - 1 and not _is_body(run)):
            return
        yield before


def _neighbours(text: str, pieces: list[tuple[int, int]], index: int) -> Iterator[int]:
    """Yield what belongs to the full body line at `index` where neither BEGIN nor END is in sight."""
    if index + 1 < len(pieces) and _is_body(_body(text, pieces[index + 1])):
        yield index + 1
    if index and len(_body(text, pieces[index - 1])) >= 16:
        yield index - 1


def _spans(text: str, pieces: list[tuple[int, int]], hidden: set[int]) -> Iterator[Span]:
    """Yield one span for each line that holds hidden pieces; all share one value, the key."""
    extents: list[tuple[int, int]] = []
    for index in sorted(hidden):
        start, end = _extent(text, *pieces[index])
        if extents and "\n" not in text[extents[-1][1] : start]:
            extents[-1] = (extents[-1][0], end)
        elif end > start:
            extents.append((start, end))
    key = "".join(text[start:end] for start, end in extents)
    yield from (Span(start, end, "private-key", key) for start, end in extents)


def _extent(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where in a piece the key stands: from BEGIN to its end, or up to END, or the run at the end."""
    piece = text[start:end]
    begin, stop = _BEGIN.search(piece), _END.search(piece)
    if begin:
        tail = stop.end() if stop and stop.start() >= begin.end() else _tail(piece, begin.end())
        return start + begin.start(), start + tail
    if stop:
        head = re.search(r"[A-Za-z0-9+/= ]*$", piece[: stop.start()])
        return start + (stop.start() if head is None else head.start()), start + stop.end()
    if run := _HEAD.search(piece) or _FULL.search(piece):
        return start + run.start(), start + _tail(piece, run.end())
    body = _body(text, (start, end)) or piece.strip()
    at = piece.rfind(body)
    return start + at, start + at + len(body)


def _tail(piece: str, position: int) -> int:
    """Return the end of the base64 runs that follow `position`, as in a key whose line ends became spaces."""
    while match := _MORE.match(piece, position):
        position = match.end()
    return position
