"""Lines come in the order of their sources, within reason."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.fleet.ordering import Numbered, in_order


def numbered(order: list[int]) -> Iterator[Numbered]:
    return ((number, (b"%d\n" % number,)) for number in order)


@given(st.permutations(range(30)))
def test_within_the_window_the_order_is_that_of_the_sources(order: list[int]) -> None:
    assert list(in_order(numbered(order), window=30)) == [b"%d\n" % number for number in range(30)]


@given(st.permutations(range(30)), st.integers(0, 5))
def test_nothing_is_lost_beyond_the_window(order: list[int], window: int) -> None:
    assert sorted(in_order(numbered(order), window)) == sorted(b"%d\n" % number for number in range(30))


def test_one_slow_log_does_not_hold_up_the_others_for_ever() -> None:
    lines = in_order(numbered([*range(1, 100), 0]), window=10)
    assert [next(lines) for _ in range(3)] == [b"1\n", b"2\n", b"3\n"]


def test_several_lines_of_one_source_stay_together() -> None:
    assert list(in_order([(1, (b"c",)), (0, (b"a", b"b")), (2, ())])) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_waits_when_it_ends_early_comes_out_first(error: type[BaseException]) -> None:
    def stopped() -> Iterator[Numbered]:
        yield from numbered([2, 1])
        raise error

    found = []
    with pytest.raises(error):
        for line in in_order(stopped()):
            found.append(line)
    assert found == [b"1\n", b"2\n"]


def test_a_shuffle_is_no_matter() -> None:
    order = list(range(2000))
    random.Random(7).shuffle(order)
    assert sorted(in_order(numbered(order))) == sorted(b"%d\n" % number for number in range(2000))
