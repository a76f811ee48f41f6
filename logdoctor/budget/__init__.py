"""The memory budget of a boot, rebuilt from its own numbers: what is wrong with it, and what to type.

Stands beside `facts`: pure functions from facts to facts, and to the `Budget` that reports draw.
"""

from __future__ import annotations

from collections.abc import Iterator

from logdoctor.budget.arithmetic import bytes_per_token, concurrency_agrees, precisions
from logdoctor.budget.bar import make_budget
from logdoctor.budget.causes import Cause, Judgement, foreign, judge, overhead
from logdoctor.budget.numbers import Numbers, read_numbers
from logdoctor.budget.suggestions import suggestions, weights_of_all_cards
from logdoctor.model import Budget, Fact, Facts, FactValue

__all__ = ["Cause", "budget", "budget_facts"]


def budget_facts(facts: Facts) -> dict[str, Fact]:
    """Return what follows from the memory numbers of a boot, as inferred facts under `budget.`"""
    numbers = read_numbers(facts)
    judgement = judge(numbers)
    line = numbers.tried_line or numbers.kv_line or numbers.weights_line or numbers.total_line
    return {
        key: Fact(key, _rounded(value), line, origin="inferred")
        for key, value in _values(numbers, judgement)
        if value is not None
    }


def budget(facts: Facts) -> Budget | None:
    """Return the budget of a boot for the report, or None where the log has too few numbers."""
    numbers = read_numbers(facts)
    return make_budget(numbers, judge(numbers))


def _values(numbers: Numbers, judgement: Judgement) -> Iterator[tuple[str, FactValue | None]]:
    cause = judgement.cause
    yield "budget.cause", cause.value if cause else None
    yield "budget.adds_up", judgement.adds_up
    yield "budget.share", numbers.utilization if numbers.utilization_stated else None
    if not numbers.cpu and numbers.total is not None:
        yield "budget.limit_gib", numbers.limit
        yield "budget.overhead_gib", overhead(numbers)
        yield "budget.foreign_gib", foreign(numbers)
    yield "budget.missing_gib", _missing(numbers, cause)
    yield "budget.free_gib", _free(numbers)
    if numbers.hybrid is False and numbers.kv_cache and numbers.kv_tokens:
        each = bytes_per_token(numbers.kv_cache, numbers.kv_tokens)
        yield "budget.bytes_per_token", round(each) if each else None
    if numbers.kv_tokens and numbers.length and numbers.concurrency is not None:
        yield (
            "budget.concurrency_agrees",
            concurrency_agrees(numbers.kv_tokens, numbers.length, numbers.concurrency, hybrid=numbers.hybrid),
        )
    yield from _weights(numbers, cause)
    yield from ((f"budget.suggest.{name}", value) for name, value in suggestions(numbers, cause).items())


def _missing(numbers: Numbers, cause: Cause | None) -> float | None:
    """How much was lacking for what failed."""
    if cause in (None, Cause.BELOW_ZERO):
        # Whatever the cause: what came out below zero is lacking.
        below = numbers.kv_none and numbers.kv_cache is not None and numbers.kv_cache < 0
        return -(numbers.kv_cache or 0.0) if below else None
    if numbers.tried is not None:
        return numbers.short_of
    if numbers.free is not None and numbers.desired is not None and numbers.free < numbers.desired:
        return numbers.desired - numbers.free
    if numbers.kv_needed is not None and numbers.kv_cache is not None:
        return numbers.kv_needed - numbers.kv_cache
    return -numbers.kv_cache if numbers.kv_cache is not None and numbers.kv_cache < 0 else None


def _free(numbers: Numbers) -> float | None:
    """What was free when it mattered: at the failed allocation, else at the start."""
    return numbers.free_at_failure if numbers.free_at_failure is not None else numbers.free


def _weights(numbers: Numbers, cause: Cause | None) -> Iterator[tuple[str, FactValue | None]]:
    """Yield how the weights, or what the model's name promises, stand against the card."""
    if cause is not Cause.WEIGHTS_TOO_BIG:
        return
    yield "budget.weights_gib", weights_of_all_cards(numbers)
    if numbers.billions and numbers.total is not None:
        rows = precisions(numbers.billions, numbers.total * numbers.cards * 2**30 / 1e9)
        yield "budget.precisions", "; ".join(f"{r.name} {r.size:g} GB {'fits' if r.fits else 'no'}" for r in rows)
        yield "budget.suggest.precision", next((row.name for row in rows if row.fits), None)


def _rounded(value: FactValue) -> FactValue:
    return round(value, 2) if isinstance(value, float) else value
