"""A literal too few loses a diagnosis: every match must contain one of the derived literals."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.database.literals import block_literals, item_literals, literal_core, required_literals
from logdoctor.database.patterns import Unsupported, parse
from logdoctor.database.schema import MatchBlock, MatchItem


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"Using 'MARLIN' NvFp4 MoE backend", {"Using 'MARLIN' NvFp4 MoE backend"}),
        (r"needs (?P<needed>[\d.]+) GiB of memory", {" GiB of memory"}),
        (r"NvFp4LinearBackend\.(?P<b>(?!MARLIN)\w+) for", {"NvFp4LinearBackend."}),
        (r"KV cache(?: size)?: (?P<n>[\d,]+) tokens", {"KV cache size: ", "KV cache: "}),
        (r"(?:out of memory|illegal instruction) on", {"out of memory on", "illegal instruction on"}),
        (r"(?:\w+ is|every) overloaded", {" overloaded"}),
        (r"one|some(?:thing|body) else", ()),
        (r"abcd+efgh", {"defgh"}),
        (r"(?:abc){2,}def", {"abcdef"}),
        (r"abcd(?:efgh)?", {"abcd"}),
        (r"first line\nsecond line!", {"second line!"}),
        (r"(?i)CUDA error: 1234", {": 1234"}),
        (r"abcdef (?i:ghijklmnop)", {"abcdef "}),
        (r"stop[.] (?#never mind)now", {"stop. now"}),
        (r"a|b|c", ()),
        (r"\d+ of \d+", ()),
        (r"(?:ab){0}cdefg", {"cdefg"}),
        (r"[[:alpha:]]+defgh", {"defgh"}),
        (r"hello \x41\u0042", {"hello AB"}),
        (r"(?P<a>one)(?P=a) or two", {" or two"}),
    ],
)
def test_literals_of_a_pattern(pattern: str, literals: set[str]) -> None:
    assert set(required_literals(pattern)) == set(literals)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:server){e<=1} failed",
        r"server{2i+1d<=3}x",
        r"(?V1)[[a-z]--b]server",
        r"(?x) a b c d",
        r"ab(?R)?cdefg",
        "*a",
    ],
)
def test_what_is_not_understood_gives_no_literal(pattern: str) -> None:
    with pytest.raises(Unsupported):
        parse(pattern)
    assert required_literals(pattern) == ()


def test_deep_nesting_gives_no_literal() -> None:
    assert required_literals("(" * 20_000 + "abcdef" + ")" * 20_000) == ()


# --- any text that a pattern matches contains one of its literals -----------------------------------------------------

_WORDS = st.text(alphabet="abcAB .:'{}[]()*+?|^$\\-", min_size=1, max_size=6)


def _literal_pair(word: str) -> tuple[str, st.SearchStrategy[str]]:
    return regex.escape(word), st.just(word)


_Pair = tuple[str, "st.SearchStrategy[str]"]


@st.composite
def _sequence(draw: st.DrawFn, parts: st.SearchStrategy[_Pair]) -> _Pair:
    chosen = draw(st.lists(parts, min_size=1, max_size=4))
    texts = st.tuples(*(text for _, text in chosen)).map("".join)
    return "".join(pattern for pattern, _ in chosen), texts


@st.composite
def _choice(draw: st.DrawFn, parts: st.SearchStrategy[_Pair]) -> _Pair:
    chosen = draw(st.lists(parts, min_size=1, max_size=4))
    opening = draw(st.sampled_from(["(", "(?:", "(?P<n>", "(?>"]))
    if opening == "(?>":  # an atomic group commits to its first branch
        chosen = chosen[:1]
    return opening + "|".join(pattern for pattern, _ in chosen) + ")", st.one_of([text for _, text in chosen])


@st.composite
def _repeat(draw: st.DrawFn, parts: st.SearchStrategy[_Pair]) -> _Pair:
    pattern, text = draw(parts)
    quantifier, least, most = draw(
        st.sampled_from(
            [("*", 0, 3), ("+", 1, 3), ("?", 0, 1), ("{2}", 2, 2), ("{1,3}", 1, 3), ("{2,}", 2, 4), ("{0}", 0, 0)]
        )
    )
    lazy = draw(st.sampled_from(["", "?"]))
    return f"(?:{pattern}){quantifier}{lazy}", st.lists(text, min_size=least, max_size=most).map("".join)


_LEAF: st.SearchStrategy[_Pair] = st.one_of(
    _WORDS.map(_literal_pair),
    st.sampled_from(
        [
            (r"\d+", st.from_regex(r"\A[0-9]{1,3}\Z")),
            (r"[^'\n]{1,20}", st.text(alphabet="xyz ", min_size=1, max_size=5)),
            (r"[.]", st.just(".")),
            (r"\s", st.just(" ")),
            (r"(?!zzz)", st.just("")),
            (r"(?i:cuda error 12)", st.sampled_from(["cuda error 12", "CUDA Error 12"])),
            (r"\n", st.just("\n")),
        ]
    ),
)
_PAIRS = st.recursive(_LEAF, lambda parts: st.one_of(_sequence(parts), _choice(parts), _repeat(parts)), max_leaves=12)


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_every_text_of_a_pattern_contains_a_literal(data: st.DataObject) -> None:
    pattern, texts = data.draw(_PAIRS)
    text = data.draw(texts)
    core = literal_core(pattern)
    if core and regex.search(pattern, text, timeout=5):
        assert any(literal in text for literal in core), (pattern, text, core)


_SYNTAX = r"""
a b A B . | ( ) [ ] * + ? ^ $ \ { } 1 , - = ! < > : (?: (?i) (?i: (?P<a> (?P=a) (?= (?! {1,2} {2} \d \b \. [^a] [ab] [a]
(?| (?> [[:alpha:]] \x41 \101 \1 \Q {e} {,1} (?-i: (?s) (?#a) \K \p{L} \pL \h \R []a] [[a]b] {1e} {}
"""
_TOKENS = st.sampled_from(_SYNTAX.split())


@settings(max_examples=1500, deadline=None)
@given(tokens=st.lists(_TOKENS, max_size=7), text=st.text(alphabet="abAB1.|{}()e\n", max_size=12))
def test_a_soup_of_syntax_is_never_misread(tokens: list[str], text: str) -> None:
    pattern = "".join(tokens)
    try:
        compiled = regex.compile(pattern, regex.MULTILINE)
    except regex.error:
        return
    core = literal_core(pattern)
    if core and compiled.search(text, timeout=5):
        assert any(literal in text for literal in core), (pattern, text, core)


@given(st.text(max_size=30))
def test_any_pattern_is_answered(pattern: str) -> None:
    assert all(len(literal) >= 4 for literal in required_literals(pattern))


# --- items and blocks -------------------------------------------------------------------------------------------------


def test_a_literal_item_gives_its_longest_line() -> None:
    assert item_literals(MatchItem(literal="one\nanother line")) == ("another line",)
    assert item_literals(MatchItem(literal="abc")) == ()


def test_a_block_takes_the_best_part() -> None:
    short, long = MatchItem(literal="abcd"), MatchItem(literal="a much longer text")
    assert block_literals(MatchBlock(any=(short, long))) == ("abcd", "a much longer text")
    assert block_literals(MatchBlock(any=(short,), all=(long,))) == ("a much longer text",)
    assert block_literals(MatchBlock(any=(long, MatchItem(pattern=r"\d+")))) == ()
    assert block_literals(MatchBlock(none=(long,))) == ()
