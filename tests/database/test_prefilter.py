"""The search of all literals at once finds what plain substring searches find."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from logdoctor.database.prefilter import build_prefilter, build_text_search, safe_core, safe_cores

LITERALS = ("CUDA error", "KV cache", "█  version ", "cache", "Traceback (most recent call last)", "a.b*c")
_SEARCH = build_text_search(LITERALS)
_PREFILTER = build_prefilter(tuple(literal.encode() for literal in LITERALS))
_TEXT = st.lists(st.one_of(st.sampled_from(LITERALS), st.text(max_size=12)), max_size=6).map("".join)


@given(st.lists(_TEXT, min_size=1, max_size=8))
def test_each_text_gets_its_own_literals(texts: list[str]) -> None:
    assert _SEARCH(texts) == [{literal for literal in LITERALS if literal in text} for text in texts]


@given(_TEXT)
def test_a_block_names_each_literal_once(text: str) -> None:
    assert _PREFILTER(text.encode("utf-8", "replace")) == [n for n, each in enumerate(LITERALS) if each in text]


@given(st.text(alphabet='abc "\\<>&é█\t', max_size=30))
def test_a_safe_core_survives_a_json_envelope(literal: str) -> None:
    core = safe_core(literal)
    assert core.decode() in literal
    assert core.decode() in json.dumps(literal)


def test_cores_come_once_and_in_order() -> None:
    assert safe_cores(['KV "cache size"', "CUDA error", "cache size", "a"]) == (b"CUDA error", b"cache size")
