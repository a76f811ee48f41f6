"""Spans: which part of a text is secret, of which kind, and how overlapping claims are settled."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from .lazy import Pattern

PLACEHOLDER = Pattern(r"<(?:[a-z][a-z0-9-]{0,30}-\d{1,6}|prompt|token-ids|chat-template)>")
"""What redaction leaves behind. Detectors never claim a text that is nothing but placeholders."""

UNNUMBERED = frozenset({"prompt", "token-ids", "chat-template"})
"""Kinds whose placeholder carries no number: nobody needs to tell one prompt from another."""

HOST_KINDS = frozenset({"host", "pod", "ip", "private-ip", "mac", "gpu-uuid", "mig-uuid"})
"""Kinds that `keep_hosts` leaves readable."""


WEAK_KINDS = HOST_KINDS | {"email", "user"}
"""Kinds that give way where they overlap a secret: `user:password@example.com` is no e-mail address."""


class Span(NamedTuple):
    """A stretch of a text that must not be printed."""

    start: int
    end: int
    kind: str
    value: str = ""
    """The secret itself where it differs from the stretch: a secret that a line break cut in pieces."""


MASK = "\ue000"
"""Stands for every character of a placeholder while detectors read a text: redacted text is nobody's name or value."""


def mask(text: str) -> str:
    """Return `text` with its placeholders masked, character for character."""
    return PLACEHOLDER.sub(lambda match: MASK * len(match.group()), text) if "<" in text else text


def is_masked(text: str) -> bool:
    """Tell whether `text` holds placeholders and nothing else worth hiding."""
    return MASK in text and not any(character.isalnum() for character in text)


def merge(spans: Iterable[Span]) -> list[Span]:
    """Return `spans` sorted and without overlaps; the outer one wins, of equals the first given."""
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    merged = _merge(span for span in ordered if span.kind not in WEAK_KINDS)
    starts = [span.start for span in merged]
    for span in _merge(span for span in ordered if span.kind in WEAK_KINDS):
        before = bisect_left(starts, span.end) - 1
        if before < 0 or merged[before].end <= span.start:
            merged.append(span)
    return sorted(merged)


def _merge(ordered: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in ordered:
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
        elif span.end > merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, span.end, last.kind)
    return merged
