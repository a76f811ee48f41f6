"""What is wrong with a boot's memory: one of a few causes that the same words of vLLM can have.

The rules go from what an error text states to what only the sum of the numbers shows. None of them looks for a
message: that a text was there is a fact like every other.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from logdoctor.budget import arithmetic
from logdoctor.budget.numbers import Numbers
from logdoctor.model import Phase

HIGHEST = 0.95
"""The largest share to advise on a card of its own; above it driver and contexts get in the way."""
HIGHEST_UNIFIED = 0.8
"""The same where the card's memory is the system's."""
JUST_MISSED = 1.0
"""Less than this is no neighbour's, but what driver, display and contexts take."""
_UNIFIED_CACHE = 0.6
"""On unified memory a cache explains what is missing while this part of the pool is free; below it sits a program."""
_SHARED = 0.6
"""Up to this share a card is cut for more than one engine."""
_EARLY = frozenset({Phase.WEIGHTS.value, Phase.KERNEL_SELECTION.value})
_TRIAL = frozenset({Phase.PROFILING.value, Phase.COMPILE.value})


class Cause(str, Enum):
    """Why memory did not suffice."""

    UTILIZATION_TOO_LOW = "utilization-too-low"
    UTILIZATION_UNREACHABLE = "utilization-unreachable"
    WEIGHTS_TOO_BIG = "weights-too-big"
    CONTEXT_TOO_LONG = "context-too-long"
    TOO_MANY_SEQUENCES = "too-many-sequences"
    NEIGHBOUR = "neighbour"
    TWO_ENGINES = "two-engines"
    BELOW_ZERO = "below-zero"
    """Far below zero, and nothing to add up: a share too small for the weights, or another engine that is charged."""
    OTHER_RANK = "other-rank"
    """The ranks whose figure is known had room; the one that had none is not in the log."""
    AFTER_KV_CACHE = "after-kv-cache"
    KV_CACHE_BY_HAND = "kv-cache-by-hand"
    PROFILE = "profile"
    SERVING = "serving"
    FRAGMENTATION = "fragmentation"
    HOST_MEMORY = "host-memory"
    UNIFIED_PAGE_CACHE = "unified-page-cache"


class Judgement(NamedTuple):
    """What the numbers say."""

    cause: Cause | None = None
    adds_up: bool | None = None
    """Whether this engine alone explains the KV cache that was left; None where the numbers do not tell."""


def judge(numbers: Numbers) -> Judgement:
    """Return the cause of a lack of memory, if there is one, and whether the sum adds up."""
    cause = next((found for rule in _RULES if (found := rule(numbers)) is not None), None)
    return Judgement(cause, adds_up(numbers))


def foreign(numbers: Numbers) -> float | None:
    """Return what others hold of the card: as an error text lists it, or as the start found it."""
    if numbers.own is not None:
        listed = numbers.listed or 0.0
        if numbers.total is None or numbers.free_at_failure is None:
            return listed
        return max(listed, numbers.total - numbers.free_at_failure - numbers.own, 0.0)
    if numbers.listed is not None and numbers.allocated is not None:
        # Without `this process has` one of the listed processes is this one.
        own = numbers.allocated + (numbers.unallocated or 0.0)
        return max(0.0, numbers.listed - own) if numbers.listed - own > 1.5 * JUST_MISSED else 0.0
    if numbers.free is not None and numbers.total is not None:
        return max(0.0, numbers.total - numbers.free)
    return None


def overhead(numbers: Numbers) -> float | None:
    """Return what is neither weights nor KV cache in the engine's share, by what was left for the KV cache."""
    if numbers.limit is None or numbers.weights is None or numbers.kv_cache is None or numbers.kv_by_hand:
        return None
    return arithmetic.overhead(numbers.total or 0.0, numbers.utilization, numbers.weights, numbers.kv_cache)


def plausible_overhead(numbers: Numbers) -> float:
    """Return the most that activations, graphs and libraries of one engine are believed to take."""
    known = [numbers.activation, numbers.non_torch, numbers.graphs if numbers.graphs_count else None]
    if numbers.activation is not None:
        return sum(part for part in known if part is not None and part > 0) + 1.5
    large = numbers.multimodal or (numbers.batched_tokens or 0) > 16384
    return max(4.0, 0.1 * (numbers.total or 0.0)) * (2.0 if large else 1.0)


def adds_up(numbers: Numbers) -> bool | None:
    """Return whether weights, a plausible overhead and the KV cache make up the share."""
    spent = overhead(numbers)
    if spent is None:
        return None
    # What a card is sold with is not quite what it shows.
    slack = 0.5 if numbers.total_stated else 0.5 + 0.02 * (numbers.total or 0.0)
    return -slack <= spent <= plausible_overhead(numbers) + slack


# --- the rules, the most certain first ------------------------------------------------------------------------------


def _host(numbers: Numbers) -> Cause | None:
    return Cause.HOST_MEMORY if numbers.oom_killed else None


def _disturbed(numbers: Numbers) -> Cause | None:
    return Cause.TWO_ENGINES if numbers.disturbed else None


def _not_free_at_start(numbers: Numbers) -> Cause | None:
    free, desired, total = numbers.free, numbers.desired, numbers.total
    if free is None or desired is None or total is None or free >= desired:
        return None
    if numbers.unified:
        return Cause.UNIFIED_PAGE_CACHE if free >= _UNIFIED_CACHE * total else Cause.NEIGHBOUR
    return Cause.UTILIZATION_UNREACHABLE if desired - free < JUST_MISSED else Cause.NEIGHBOUR


def _sequences(numbers: Numbers) -> Cause | None:
    if numbers.warmup_sequences is not None:
        return Cause.TOO_MANY_SEQUENCES
    few = numbers.mamba_blocks is not None and numbers.failed
    return Cause.TOO_MANY_SEQUENCES if few else None


def _allocation(numbers: Numbers) -> Cause | None:
    """Why PyTorch's allocator failed."""
    if numbers.tried is None:
        return None
    if numbers.kv_by_hand and not numbers.ready:
        return Cause.KV_CACHE_BY_HAND
    others = foreign(numbers) if numbers.own is not None or numbers.listed is not None else None
    if others is not None and not numbers.unified and others >= max(JUST_MISSED, 0.03 * (numbers.total or 0.0)):
        return Cause.NEIGHBOUR
    if numbers.unallocated is not None and numbers.unallocated >= max(numbers.tried, 0.25):
        return Cause.FRAGMENTATION
    return _allocation_by_phase(numbers)


def _allocation_by_phase(numbers: Numbers) -> Cause | None:
    if numbers.ready or numbers.phase == Phase.SERVING.value:
        return Cause.SERVING
    if numbers.kv_tokens is not None and not numbers.kv_none:
        return Cause.AFTER_KV_CACHE
    if numbers.weights is not None or numbers.phase in _TRIAL:
        return Cause.PROFILE
    return Cause.WEIGHTS_TOO_BIG if numbers.phase in _EARLY else None


def _request(numbers: Numbers) -> Cause | None:
    if numbers.kv_needed is not None and numbers.kv_cache is not None and numbers.kv_cache > 0:
        return Cause.CONTEXT_TOO_LONG
    v0 = numbers.kv_tokens is not None and numbers.length is not None and numbers.kv_tokens < numbers.length
    return Cause.CONTEXT_TOO_LONG if v0 and numbers.failed and not numbers.hybrid else None


def _nothing_left(numbers: Numbers) -> Cause | None:
    if numbers.kv_cache is not None and numbers.kv_cache > 0:
        return Cause.OTHER_RANK if numbers.kv_none else None
    if not numbers.kv_none and numbers.kv_cache is None:
        return None
    if numbers.unified:
        return _unified_nothing_left(numbers)
    if adds_up(numbers) is False:
        return _charged(numbers)
    if numbers.utilization >= HIGHEST - 0.02:
        return Cause.WEIGHTS_TOO_BIG
    spent = overhead(numbers)
    if spent is None or numbers.total is None or numbers.weights is None:
        return _nothing_to_add_up(numbers)
    left = arithmetic.limit(numbers.total, HIGHEST) - numbers.weights - spent
    return Cause.UTILIZATION_TOO_LOW if left > 0 else Cause.WEIGHTS_TOO_BIG


def _nothing_to_add_up(numbers: Numbers) -> Cause | None:
    """Judge by the share alone: a low one speaks, but not up to 0.8, where it pays for what others hold."""
    if _is_old(numbers):
        return None
    if numbers.kv_cache is not None and numbers.kv_cache < -1.0:
        if _more_than_one_engine(numbers):
            return Cause.TWO_ENGINES
        shared = numbers.utilization_stated and numbers.utilization <= _SHARED
        return Cause.BELOW_ZERO if shared else None
    low = numbers.utilization_stated and numbers.utilization < 0.85
    return Cause.UTILIZATION_TOO_LOW if low else None


def _more_than_one_engine(numbers: Numbers) -> bool:
    """Whether even the smallest card that holds the weights leaves more to explain than one engine takes."""
    if numbers.weights is None or numbers.kv_cache is None:
        return False
    least = arithmetic.limit(numbers.weights, numbers.utilization) - numbers.weights - numbers.kv_cache
    return least > plausible_overhead(numbers)


def _is_old(numbers: Numbers) -> bool:
    """Whether this release counts all that others hold as its own: up to 0.8."""
    return numbers.version is not None and numbers.version.release[:2] < (0, 9)


def _unified_nothing_left(numbers: Numbers) -> Cause | None:
    if numbers.weights is not None and numbers.total is not None and numbers.weights > HIGHEST_UNIFIED * numbers.total:
        return Cause.WEIGHTS_TOO_BIG
    low = numbers.utilization_stated and numbers.utilization < HIGHEST_UNIFIED - 0.1 and adds_up(numbers)
    return Cause.UTILIZATION_TOO_LOW if low else Cause.UNIFIED_PAGE_CACHE


def _charged(numbers: Numbers) -> Cause:
    """Who else was counted as this engine: up to 0.8 whoever held memory, since then whoever took some meanwhile."""
    negative = numbers.kv_cache is not None and numbers.kv_cache < 0
    return Cause.TWO_ENGINES if negative and not _is_old(numbers) else Cause.NEIGHBOUR


_RULES: tuple[Callable[[Numbers], Cause | None], ...] = (
    _host,
    _disturbed,
    _sequences,
    _not_free_at_start,
    _allocation,
    _request,
    _nothing_left,
)
