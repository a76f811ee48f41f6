"""The numbers to type: what satisfies the equations of this boot, rounded to the safe side.

A number is only given where the boot's own numbers support it; without them the texts keep their general advice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from logdoctor.budget import arithmetic
from logdoctor.budget.causes import HIGHEST, HIGHEST_UNIFIED, Cause, overhead
from logdoctor.budget.numbers import Numbers
from logdoctor.model import FactValue

_ROOM = 0.5
"""GiB that a suggestion leaves free, because free memory differs from start to start."""
_LOWEST = 0.05
_LOWER = frozenset({Cause.AFTER_KV_CACHE, Cause.SERVING, Cause.TOO_MANY_SEQUENCES, Cause.FRAGMENTATION})
"""Here the KV cache has too much, not too little."""


def suggestions(numbers: Numbers, cause: Cause | None) -> Mapping[str, FactValue]:
    """Return what to type, by argument: `max_model_len`, `gpu_memory_utilization`, …"""
    return {name: value for name, find in _FINDERS for value in find(numbers, cause)}


def _utilization(numbers: Numbers, cause: Cause | None) -> Iterator[FactValue]:
    if numbers.cpu or cause is None:
        return
    share = _reachable(numbers) if cause in _AT_START else _lower(numbers) if cause in _LOWER else None
    if cause in (Cause.UTILIZATION_TOO_LOW, Cause.CONTEXT_TOO_LONG):
        share = _higher(numbers)
    if share is not None and share >= _LOWEST and abs(share - numbers.utilization) >= 0.005:
        yield share


_AT_START = frozenset({Cause.UTILIZATION_UNREACHABLE, Cause.NEIGHBOUR, Cause.UNIFIED_PAGE_CACHE})


def _reachable(numbers: Numbers) -> float | None:
    """Return the largest share that the free memory of the start allows."""
    free, total = numbers.free, numbers.total
    if free is None and numbers.listed is not None and numbers.own is not None and total is not None:
        free = total - numbers.listed
    if free is None or total is None:
        return None
    share = arithmetic.down((free - _ROOM) / total)
    return min(share, HIGHEST_UNIFIED if numbers.unified else HIGHEST)


def _higher(numbers: Numbers) -> float | None:
    """Return the share that yields the KV cache needed, if the card has it."""
    total = numbers.total or _total_at_least(numbers)
    if total is None or (numbers.kv_cache is None and not numbers.kv_none):
        return None
    if numbers.unified and not numbers.kv_none:
        return None
    ceiling = HIGHEST_UNIFIED if numbers.unified else HIGHEST
    if numbers.free is not None:
        ceiling = min(ceiling, arithmetic.down((numbers.free - _ROOM) / total))
    if numbers.kv_needed is not None and numbers.kv_cache is not None:
        missing = numbers.kv_needed - numbers.kv_cache
        share = arithmetic.up(numbers.utilization + (missing + _ROOM) / total)
        return share if share <= ceiling else None
    # How much one request needs is not known: all that is safe.
    enough = arithmetic.limit(total, ceiling) - arithmetic.limit(total, numbers.utilization)
    return ceiling if enough + (numbers.kv_cache or 0.0) > _ROOM else None


def _total_at_least(numbers: Numbers) -> float | None:
    """Return what a card must have for weights and KV cache to be within the share: the safe side for raising it."""
    if numbers.weights is None or not numbers.kv_cache or numbers.kv_cache < 0 or not numbers.utilization_stated:
        return None
    return (numbers.weights + numbers.kv_cache) / numbers.utilization if not numbers.kv_by_hand else None


def _lower(numbers: Numbers) -> float | None:
    """Return the share that leaves the failed allocation, and graphs that were not counted, their room."""
    if numbers.total is None or numbers.kv_by_hand:
        return None
    graphs = 0.0 if numbers.graphs_count else max(numbers.graphs or 0.0, numbers.graphs_estimated or 0.0)
    missing = max(numbers.short_of or 0.0, graphs) + _ROOM
    share = arithmetic.down(numbers.utilization - missing / numbers.total)
    ceiling = HIGHEST_UNIFIED if numbers.unified else HIGHEST
    share = min(share, arithmetic.down(numbers.utilization - 0.02), ceiling)
    if numbers.weights is not None and arithmetic.limit(numbers.total, share) <= numbers.weights + _ROOM:
        return None
    return share


def _length(numbers: Numbers, cause: Cause | None) -> Iterator[FactValue]:
    if cause is not Cause.CONTEXT_TOO_LONG:
        return
    length = 0
    if numbers.length_estimate is not None:
        length = arithmetic.safe_length(numbers.length_estimate)
    elif numbers.kv_tokens is not None and numbers.kv_needed is None and not numbers.hybrid:
        length = arithmetic.safe_length(numbers.kv_tokens)
    elif numbers.length and numbers.kv_needed and numbers.kv_cache and not numbers.hybrid:
        # In proportion is too much where a part of the need does not grow, so more room is left.
        fitting = arithmetic.length_that_fits(numbers.length, numbers.kv_needed, numbers.kv_cache)
        length = arithmetic.safe_length(fitting, room=0.05)
    if length > 0:
        yield length


def _sequences(numbers: Numbers, cause: Cause | None) -> Iterator[FactValue]:
    if cause is Cause.TOO_MANY_SEQUENCES and numbers.warmup_sequences is not None:
        share = 0.5
        if numbers.tried and numbers.free_at_failure is not None:
            share = min(share, numbers.free_at_failure / numbers.tried)
        fewer = arithmetic.power_of_two(numbers.warmup_sequences * share)
        yield max(1, fewer or arithmetic.power_of_two(numbers.warmup_sequences / 4))
    elif numbers.mamba_blocks is not None:
        if numbers.sequences is None or numbers.mamba_blocks < numbers.sequences or cause is Cause.TOO_MANY_SEQUENCES:
            yield numbers.mamba_blocks
    elif cause is Cause.AFTER_KV_CACHE and numbers.sequences is not None and numbers.sequences >= 8:
        yield arithmetic.power_of_two(numbers.sequences / 2)


def _batched_tokens(numbers: Numbers, cause: Cause | None) -> Iterator[FactValue]:
    """The trial run's need grows with the tokens of one step."""
    tokens = numbers.batched_tokens
    if tokens is None or cause not in (Cause.PROFILE, Cause.UTILIZATION_TOO_LOW, Cause.WEIGHTS_TOO_BIG):
        return
    missing = numbers.short_of if cause is Cause.PROFILE else -(numbers.kv_cache or 0.0)
    peak = numbers.activation
    share = 0.5
    if peak and missing is not None:
        share = min(share, (peak - missing - _ROOM) / peak)
    lowered = arithmetic.power_of_two(tokens * share) if share > 0 else 0
    floor = max(256, numbers.block_size or 0, numbers.sequences or 0)
    if floor <= lowered < tokens:
        yield lowered


def _kv_cache_memory(numbers: Numbers, cause: Cause | None) -> Iterator[FactValue]:
    """The size to give by hand, in the form the flag takes: `20G` are GiB."""
    if cause is Cause.KV_CACHE_BY_HAND and numbers.free is not None and numbers.weights is not None:
        room = max(2.0, 0.05 * (numbers.total or numbers.free))
        size = numbers.free - numbers.weights - room
    elif cause in (Cause.TWO_ENGINES, Cause.UNIFIED_PAGE_CACHE) and numbers.limit and numbers.weights is not None:
        size = numbers.limit - numbers.weights - max(4.0, 0.1 * (numbers.total or 0.0))
    else:
        return
    if size >= 1:
        yield f"{int(size)}G"


def _cards(numbers: Numbers, cause: Cause | None) -> Iterator[FactValue]:
    weights = weights_of_all_cards(numbers)
    if cause is not Cause.WEIGHTS_TOO_BIG or weights is None or numbers.total is None or numbers.unified:
        return
    count = arithmetic.cards_needed(weights, numbers.total, fixed=overhead(numbers) or 1.5)
    if count > numbers.cards:
        yield count


def _ranks(numbers: Numbers, cause: Cause | None) -> Iterator[FactValue]:
    """The tensor parallel size for the GPUs that are there, or for the heads that a size does not divide."""
    if numbers.ranks is None or (numbers.gpus is None and numbers.heads is None):
        return
    fitting = arithmetic.ranks_that_fit(numbers.ranks, numbers.gpus, numbers.heads, numbers.stages)
    if fitting < numbers.ranks:
        yield fitting


def weights_of_all_cards(numbers: Numbers) -> float | None:
    """Return the size of the model's weights: of its files, or of what one card has of them."""
    if numbers.checkpoint is not None:
        return numbers.checkpoint
    return numbers.weights * numbers.cards if numbers.weights is not None else None


_FINDERS: tuple[tuple[str, Callable[[Numbers, Cause | None], Iterator[FactValue]]], ...] = (
    ("gpu_memory_utilization", _utilization),
    ("max_model_len", _length),
    ("max_num_seqs", _sequences),
    ("max_num_batched_tokens", _batched_tokens),
    ("kv_cache_memory", _kv_cache_memory),
    ("tensor_parallel_size", _cards),
    ("ranks", _ranks),
)
