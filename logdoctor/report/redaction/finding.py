"""Finding: what in a text must not be printed, by all detectors, on the text as it stands and with its lines joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from .addresses import find_addresses
from .assignments import find_assignments, find_spoken
from .pem import find_private_keys
from .places import find_devices, find_hosts, find_people
from .prompts import find_prompts
from .spans import Span, is_masked, mask, merge
from .tokens import ALL_KEYWORDS, Keywords, find_random_runs, find_tokens
from .urls import find_url_credentials
from .wraps import Joined, cut_spans, line_spans

Detector = Callable[[str, str], Iterable[Span]]
"""A detector gets a text and its lower-case form, and yields what it recognises."""

# Where two detectors claim the same stretch, the earlier one names the kind: token rules (first of all) before names.
SECRET_DETECTORS: tuple[Detector, ...] = (find_url_credentials, find_assignments, find_spoken)
OTHER_DETECTORS: tuple[Detector, ...] = (find_private_keys, find_random_runs, find_prompts, find_people)
PLACE_DETECTORS: tuple[Detector, ...] = (find_devices, find_addresses, find_hosts)


def find(text: str, *, keep_hosts: bool = False, keywords: Keywords = ALL_KEYWORDS) -> list[Span]:
    """Return everything in `text` that must not be printed, sorted, without overlaps, none across a line end.

    `keywords` may leave out what is known not to occur.
    """
    text = mask(text)
    lower = lower_case(text)
    others = (*OTHER_DETECTORS, *(() if keep_hosts else PLACE_DETECTORS))
    secrets = _secrets(text, lower, keywords)
    spans = [*secrets, *chain.from_iterable(detect(text, lower) for detect in others)]
    if not text.isprintable():  # line ends, colour, characters without width
        joined = Joined(text)
        pieces: Iterable[Span] = ()
        if joined.may_cut(lower):
            pieces = cut_spans(joined, _secrets(joined.text, lower_case(joined.text), ALL_KEYWORDS), secrets)
        spans = [*pieces, *line_spans(joined, spans)]
    return merge(_unplaced(text, spans)) if spans else []


def _secrets(text: str, lower: str, keywords: Keywords) -> list[Span]:
    """Return what is secret by itself or by its name: what a line break may have cut."""
    return [
        *find_tokens(text, lower, keywords),
        *chain.from_iterable(detect(text, lower) for detect in SECRET_DETECTORS),
    ]


def lower_case(text: str) -> str:
    """Return the lower-case form, character for character (one capital becomes two)."""
    return text.replace("\u0130", "i").lower()


def _unplaced(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Leave out what is redacted already."""
    for span in spans:
        stretch = text[span.start : span.end]
        if stretch and not is_masked(stretch):
            yield span
