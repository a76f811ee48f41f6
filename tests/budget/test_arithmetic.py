"""The equations over plain numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.budget import arithmetic


def test_the_published_table_of_nemotron_3_super_in_q4() -> None:
    """69.6 GB of weights on 96 GB, 1.5 GB beside them, 0.4 GB of KV cache at 4K: 71.5, 71.9, 72.7, 74.3 GB."""
    rows = arithmetic.needs(69.6, 1.5, (4096, 0.4), (4096, 8192, 16384, 32768), card=96)
    assert [row.length for row in rows] == [4096, 8192, 16384, 32768]
    assert [row.kv_cache for row in rows] == [0.4, 0.8, 1.6, 3.2]
    assert [row.total for row in rows] == [71.5, 71.9, 72.7, 74.3]
    assert all(row.fits for row in rows)


def test_a_card_that_holds_only_the_shorter_lengths() -> None:
    rows = arithmetic.needs(69.6, 1.5, (4096, 0.4), (4096, 32768), card=72)
    assert [row.fits for row in rows] == [True, False]


def test_of_the_three_files_of_a_120b_model_only_q4_fits_96_gb() -> None:
    assert [(row.name, row.size, row.fits) for row in arithmetic.precisions(120, 96)] == [
        ("16 bit", 240.0, False),
        ("8 bit", 128.0, False),
        ("4 bit", 69.6, True),
    ]


@pytest.mark.parametrize(("weights", "card", "count"), [(240, 96, 4), (128, 96, 2), (69.6, 96, 1), (9999, 1, 0)])
def test_cards_that_weights_need(weights: float, card: float, count: int) -> None:
    assert arithmetic.cards_needed(weights, card) == count


def test_a_hybrid_model_is_not_contradicted_by_its_concurrency() -> None:
    """GB10, about 35 GB of fp8 KV cache: 450 K tokens at 200 K context and 7.48x, far above the quotient of 2.25."""
    assert arithmetic.concurrency_agrees(450_000, 200_000, 7.48, hybrid=True) is True


def test_the_same_figures_do_contradict_a_plain_model() -> None:
    assert arithmetic.concurrency_agrees(450_000, 200_000, 7.48, hybrid=False) is False
    assert arithmetic.concurrency_agrees(450_000, 200_000, 2.25, hybrid=False) is True


def test_of_a_model_not_known_nothing_is_claimed() -> None:
    """It may keep windows instead of everything."""
    assert arithmetic.concurrency_agrees(450_000, 200_000, 7.48, hybrid=None) is None


def test_concurrency_without_sense() -> None:
    assert arithmetic.concurrency_agrees(0, 200_000, 7.48, hybrid=False) is None
    assert arithmetic.concurrency_agrees(5, 0, 7.48, hybrid=False) is None


def test_what_a_token_costs() -> None:
    assert arithmetic.bytes_per_token(24.0, 131072) == pytest.approx(196608)
    assert arithmetic.bytes_per_token(24.0, 0) is None


def test_a_share_is_rounded_to_its_safe_side() -> None:
    assert arithmetic.down(0.2737) == 0.27
    assert arithmetic.up(0.2737) == 0.28
    assert arithmetic.down(0.29) == 0.29  # 0.29 * 100 is 28.999999999999996
    assert arithmetic.up(0.57) == 0.57  # 0.57 * 100 is 56.99999999999999


def test_a_length_leaves_some_hundred_tokens() -> None:
    assert arithmetic.safe_length(75440) == 74496
    assert arithmetic.safe_length(100) == 0


@given(st.floats(300, 1e7))
def test_a_safe_length_is_below_what_fits_and_a_multiple(tokens: float) -> None:
    length = arithmetic.safe_length(tokens)
    assert 0 <= length <= tokens - arithmetic.LENGTH_STEP
    assert length % arithmetic.LENGTH_STEP == 0


@given(st.floats(1, 1e6))
def test_a_power_of_two_is_the_largest_that_is_not_above(value: float) -> None:
    power = arithmetic.power_of_two(value)
    assert power <= value < 2 * power


@given(st.integers(1, 10**6), st.floats(0.1, 1e3), st.floats(0.1, 1e3))
def test_a_length_in_proportion_needs_what_there_is(length: int, needed: float, available: float) -> None:
    fits = arithmetic.length_that_fits(length, needed, available)
    assert fits / length * needed == pytest.approx(available)


def test_share_and_overhead() -> None:
    assert arithmetic.limit(121.7, 0.85) == pytest.approx(103.445)
    assert arithmetic.overhead(80, 0.9, 60, 8) == pytest.approx(4)
    assert arithmetic.overhead(80, 0.9, 60, -8) == pytest.approx(20)
