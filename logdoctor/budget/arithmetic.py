"""The equations of a GPU's memory, over plain numbers.

    total x utilization = weights + activations + graphs + everything else of this engine + KV cache

Nothing here knows a log. Sizes of one call are in one unit (GiB in a diagnosis); what is to be typed is rounded to
the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

LENGTH_STEP = 256
"""Context lengths are suggested in multiples of this."""
_TOLERANCE = 1e-9


def limit(total: float, utilization: float) -> float:
    """Return the memory that one engine may use."""
    return total * utilization


def overhead(total: float, utilization: float, weights: float, kv_cache: float) -> float:
    """Return what an engine's share must have spent beside weights and KV cache; a negative KV cache adds to it."""
    return limit(total, utilization) - weights - kv_cache


def down(value: float, digits: int = 2) -> float:
    """Round towards less: for a share or a size that must not be exceeded."""
    scale = 10.0**digits
    return math.floor(value * scale + _TOLERANCE) / scale


def up(value: float, digits: int = 2) -> float:
    """Round towards more: for a share that must suffice."""
    scale = 10.0**digits
    return math.ceil(value * scale - _TOLERANCE) / scale


def safe_length(tokens: float, room: float = 0.01) -> int:
    """Return a context length somewhat below what fits, because free memory differs from start to start."""
    lowered = tokens - max(tokens * room, float(LENGTH_STEP))
    return max(0, int(lowered // LENGTH_STEP) * LENGTH_STEP)


def power_of_two(value: float) -> int:
    """Return the largest power of two that is not above a value; 0 when there is none."""
    return 2 ** int(math.log2(value) + _TOLERANCE) if value >= 1 else 0


def bytes_per_token(kv_gib: float, tokens: int) -> float | None:
    """Return what one token costs where every layer keeps every token; not for hybrid models."""
    return kv_gib * 2**30 / tokens if tokens > 0 and kv_gib > 0 else None


def length_that_fits(length: int, needed: float, available: float) -> float:
    """Return the context length whose KV cache fits, when the need grows with the length from zero."""
    return length * available / needed if needed > 0 and available > 0 else 0.0


# --- concurrency ----------------------------------------------------------------------------------------------------


def concurrency_agrees(tokens: int, length: int, printed: float, *, hybrid: bool | None) -> bool | None:
    """Return whether a printed concurrency fits to tokens and length; None where that cannot be told.

    In a hybrid model the Mamba layers keep one state per request however long it is, and sliding windows keep a part:
    tokens by length is then not the concurrency. Another figure than the quotient contradicts nothing unless the model
    is known to keep every token in every layer.
    """
    if length <= 0 or tokens <= 0:
        return None
    quotient = tokens / length
    if abs(printed - quotient) <= max(0.02, 0.02 * quotient):
        return True
    if hybrid:
        return True
    return False if hybrid is False else None


# --- what a model needs on a card -----------------------------------------------------------------------------------


class Need(NamedTuple):
    """What serving with one context length takes."""

    length: int
    kv_cache: float
    total: float
    fits: bool


def needs(
    weights: float, fixed: float, kv_at: tuple[int, float], lengths: Iterable[int], card: float
) -> tuple[Need, ...]:
    """Return the need per context length, from the weights, what is fixed beside them, and one measured KV cache.

    `kv_at` is a length and the KV cache that one request of it takes; it grows in proportion.
    """
    known_length, known_size = kv_at
    rows = []
    for length in lengths:
        kv_cache = known_size * length / known_length
        total = weights + fixed + kv_cache
        rows.append(Need(length, round(kv_cache, 6), round(total, 6), total <= card))
    return tuple(rows)


class Precision(NamedTuple):
    """A way to store the weights, and what they then take."""

    name: str
    size: float
    fits: bool


_PRECISIONS = (("16 bit", 2.0), ("8 bit", 16 / 15), ("4 bit", 0.58))
"""Bytes per parameter with scales: a 120 B model is 240, 128 and 69.6 GB."""


def precisions(billions: float, card: float, fixed: float = 1.5) -> tuple[Precision, ...]:
    """Return what a model of so many billion parameters takes in each precision, and whether that fits on a card."""
    return tuple(
        Precision(name, round(billions * each, 1), fits_card(billions * each, card, fixed))
        for name, each in _PRECISIONS
    )


def fits_card(weights: float, card: float, fixed: float = 1.5) -> bool:
    """Return whether weights fit on a card so that a KV cache is left: about a tenth of the card stays for it."""
    return weights + fixed <= 0.9 * card


def cards_needed(weights: float, card: float, fixed: float = 1.5) -> int:
    """Return on how many cards (a power of two, which divides every model's heads) the weights fit; 0 beyond 64."""
    count = 1
    while count <= 64:
        if fits_card(weights / count, card, fixed):
            return count
        count *= 2
    return 0


def ranks_that_fit(asked: int, gpus: int | None, heads: int | None, stages: int = 1) -> int:
    """Return the largest tensor parallel size that the GPUs hold and that divides the heads.

    Where the heads are not known, whatever divides the size that was asked for divides them as well.
    """
    most = max(1, min(asked, gpus // max(stages, 1) if gpus is not None else asked))
    whole = heads or asked
    return max(size for size in range(1, min(most, whole) + 1) if whole % size == 0)
