"""The budget of a boot as the parts that a report draws."""

from __future__ import annotations

from collections.abc import Iterator

from logdoctor.budget.causes import Cause, Judgement, foreign, overhead
from logdoctor.budget.numbers import Numbers
from logdoctor.model import Budget, BudgetPart

_SHOWN = 0.05
"""Parts below this many GiB are not worth a stretch of the bar."""

_NOTES = {
    Cause.UTILIZATION_TOO_LOW: "adds up with this engine alone: the share is too small",
    Cause.UTILIZATION_UNREACHABLE: "driver, display and contexts take what is missing",
    Cause.WEIGHTS_TOO_BIG: "the weights are too big for this card",
    Cause.CONTEXT_TOO_LONG: "one request of the full context length does not fit",
    Cause.NEIGHBOUR: "another process holds part of this card",
    Cause.TWO_ENGINES: "does not add up: what another engine took meanwhile was counted as this one's",
    Cause.AFTER_KV_CACHE: "the KV cache left too little room for what comes after it",
    Cause.KV_CACHE_BY_HAND: "--kv-cache-memory-bytes sets the KV cache and ignores the share",
    Cause.PROFILE: "the largest step does not fit beside the weights",
    Cause.SERVING: "a request needed more than the trial run had foreseen",
    Cause.FRAGMENTATION: "enough is free, but in pieces",
    Cause.UNIFIED_PAGE_CACHE: "page cache and programs take from the same pool",
}


def make_budget(numbers: Numbers, judgement: Judgement) -> Budget | None:
    """Return the budget, or None where too little is known for a sum (and on a CPU, which has no such share)."""
    if numbers.cpu or numbers.total is None or numbers.limit is None:
        return None
    parts = tuple(part for part in _parts(numbers) if part.gib >= _SHOWN)
    if not parts:
        return None
    utilization = 1.0 if numbers.kv_by_hand else numbers.utilization
    return Budget(numbers.total, utilization, parts, note="; ".join(_notes(numbers, judgement)))


def _parts(numbers: Numbers) -> Iterator[BudgetPart]:
    weights = numbers.weights or 0.0
    kv_cache = max(numbers.kv_cache or 0.0, 0.0)
    if numbers.tried is not None and numbers.own is not None:
        yield from _parts_at_failure(numbers, weights, kv_cache)
        return
    refused = numbers.free is not None and numbers.desired is not None and numbers.free < numbers.desired
    if refused and numbers.weights is None:
        yield BudgetPart("in use by others", foreign(numbers) or 0.0, numbers.total_line)
        return
    yield BudgetPart("weights", weights, numbers.weights_line)
    yield from _measured(numbers)
    yield BudgetPart("KV cache", kv_cache, numbers.kv_line)


def _parts_at_failure(numbers: Numbers, weights: float, kv_cache: float) -> Iterator[BudgetPart]:
    """Yield what an out-of-memory text states, with this engine's part split as far as the log told before."""
    own = numbers.own or 0.0
    kv_cache = min(kv_cache, max(0.0, own - weights))
    yield BudgetPart("weights", min(weights, own), numbers.weights_line)
    yield BudgetPart("KV cache", kv_cache, numbers.kv_line)
    unused = min(numbers.unallocated or 0.0, max(0.0, own - weights - kv_cache))
    rest = "rest of this engine" if weights else "this engine"
    yield BudgetPart(rest, own - min(weights, own) - kv_cache - unused, numbers.tried_line)
    yield BudgetPart("reserved, unused", unused, numbers.tried_line)
    yield BudgetPart("in use by others", foreign(numbers) or 0.0, numbers.tried_line)


def _measured(numbers: Numbers) -> Iterator[BudgetPart]:
    """Yield what stands between weights and KV cache, as one part where the log does not split it."""
    named = (
        ("activations", numbers.activation),
        ("libraries", numbers.non_torch),
        ("graphs", numbers.graphs if numbers.graphs is not None else numbers.graphs_estimated),
    )
    spent = overhead(numbers)
    if numbers.activation is None and spent is not None and spent > 0:
        graphs = max(numbers.graphs_estimated or 0.0, 0.0) if numbers.graphs_count else 0.0
        yield BudgetPart("activations and other", spent - graphs, numbers.kv_line)
        if graphs:
            yield BudgetPart("graphs", graphs)
        return
    yield from (BudgetPart(name, size) for name, size in named if size is not None and size > 0)


def _notes(numbers: Numbers, judgement: Judgement) -> Iterator[str]:
    if judgement.cause in _NOTES:
        yield _NOTES[judgement.cause]
    if numbers.kv_cache is not None and numbers.kv_cache < 0:
        yield f"{-numbers.kv_cache:.1f} GiB more than the share"
    elif numbers.kv_needed is not None and numbers.kv_cache is not None:
        yield f"{numbers.kv_needed:.1f} GiB of KV cache wanted, {numbers.kv_cache:.1f} left"
    if numbers.tried is not None and numbers.free_at_failure is not None:
        yield f"{numbers.tried:.2f} GiB wanted, {numbers.free_at_failure:.2f} free"
    elif numbers.free is not None and numbers.desired is not None and numbers.free < numbers.desired:
        yield f"{numbers.desired:.1f} GiB wanted, {numbers.free:.1f} free"
    if not numbers.total_stated:
        yield "the total is the card's, not the log's"
    if not numbers.utilization_stated:
        yield "the share is this version's default"
