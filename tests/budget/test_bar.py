"""The budget as parts of a bar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.budget import budget, budget_facts
from logdoctor.model import Budget
from tests.budget.build import facts


def parts(made: Budget | None) -> dict[str, float]:
    assert made is not None
    return {part.name: round(part.gib, 2) for part in made.parts}


def test_a_start_that_says_little_about_activations() -> None:
    made = budget(
        facts(memory__total_gib=121.7, memory__utilization=0.85, weights__gib=69.5, kv_cache__memory_gib=29.8)
    )
    assert made is not None
    assert (made.total_gib, made.utilization, made.note) == (121.7, 0.85, "")
    assert parts(made) == {"weights": 69.5, "activations and other": 4.14, "KV cache": 29.8}


def test_every_part_that_is_stated_is_shown() -> None:
    made = budget(
        facts(
            memory__total_gib=139.8,
            memory__utilization=0.5,
            weights__gib=20.04,
            memory__activation_gib=0.88,
            memory__non_torch_gib=0.22,
            memory__graphs_gib=0.4,
            kv_cache__memory_gib=48.76,
        )
    )
    assert list(parts(made)) == ["weights", "activations", "libraries", "graphs", "KV cache"]


def test_a_negative_kv_cache_is_a_part_of_its_own_nowhere() -> None:
    made = budget(
        facts(
            memory__total_gib=79.2,
            memory__utilization=0.45,
            weights__gib=15.0,
            kv_cache__memory_gib=-8.59,
            kv_cache__none=True,
        )
    )
    assert parts(made) == {"weights": 15.0, "activations and other": 29.23}
    assert made is not None
    assert "does not add up" in made.note
    assert "8.6 GiB more than the share" in made.note


def test_out_of_memory_shows_who_holds_the_card() -> None:
    made = budget(
        facts(
            memory__total_gib=23.64,
            memory__allocation_gib=1.25,
            memory__free_at_failure_gib=0.33,
            memory__own_gib=13.1,
            memory__listed_gib=10.12,
            memory__unallocated_gib=0.5,
            weights__gib=8.0,
            boot__phase="profiling",
        )
    )
    assert parts(made) == {
        "weights": 8.0,
        "rest of this engine": 4.6,
        "reserved, unused": 0.5,
        "in use by others": 10.21,
    }
    assert made is not None
    assert "1.25 GiB wanted, 0.33 free" in made.note


def test_out_of_memory_while_loading_is_all_this_engine() -> None:
    made = budget(
        facts(
            memory__total_gib=94.97,
            memory__allocation_gib=2.63,
            memory__free_at_failure_gib=1.81,
            memory__own_gib=93.15,
            boot__phase="weights",
        )
    )
    assert parts(made) == {"this engine": 93.15}


def test_a_refusal_at_the_start_shows_the_others() -> None:
    made = budget(facts(memory__total_gib=139.8, memory__free_gib=38.77, memory__desired_gib=128.62))
    assert parts(made) == {"in use by others": 101.03}


def test_a_size_given_by_hand_knows_no_share() -> None:
    made = budget(
        facts(
            memory__total_gib=139.8,
            args__kv_cache_memory_bytes=160_000_000_000,
            kv_cache__memory_gib=149.01,
            weights__gib=0.25,
        )
    )
    assert made is not None
    assert made.utilization == 1.0


@pytest.mark.parametrize("name", ["NVIDIA H100 80GB HBM3", "NVIDIA GB10"])
def test_a_total_from_the_cards_name_says_so(name: str) -> None:
    made = budget(facts(gpu__name=name, weights__gib=15.0))
    assert made is not None
    assert "the total is the card's" in made.note
    assert "default" in made.note


def test_too_little_for_a_sum() -> None:
    assert budget({}) is None
    assert budget(facts(weights__gib=15.0)) is None
    assert budget(facts(memory__total_gib=80.0)) is None
    assert budget(facts(memory__total_gib=80.0, weights__gib=15.0, platform="cpu")) is None


_gib = st.floats(-50, 500)


@given(_gib, st.floats(-0.5, 1.5), _gib, _gib, _gib, _gib, _gib)
def test_any_numbers_give_parts_that_can_be_drawn(
    total: float, share: float, weights: float, kv: float, own: float, listed: float, free: float
) -> None:
    stated = facts(
        memory__total_gib=total,
        memory__utilization=share,
        weights__gib=weights,
        kv_cache__memory_gib=kv,
        memory__own_gib=own,
        memory__listed_gib=listed,
        memory__free_at_failure_gib=free,
        memory__allocation_gib=1.0,
    )
    made = budget(stated)
    assert made is None or all(part.gib > 0 for part in made.parts)
    found = budget_facts(stated).get("budget.suggest.gpu_memory_utilization")
    assert found is None or 0 < float(str(found.value)) <= 0.95
