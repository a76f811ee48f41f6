"""Splitting shell scripts: words, quotes, places, and what is stepped over."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.launch import LaunchError, shell
from logdoctor.launch.pieces import Quoting, whole


def words(text: str, **options: bool) -> list[list[str]]:
    return [[token.value for token in one.tokens] for one in shell.split(whole(text), **options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a \\\n  b\nc", [["a", "b"], ["c"]]),
        ("a \\\r\n  b", [["a", "b"]]),
        ("a # b\nc#d", [["a"], ["c#d"]]),
        ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a > f 2>&1 b", [["a", "b"]]),
        ("a &> f b < g", [["a", "b"]]),
        ("a 2 > f", [["a", "2"]]),
        ("cat <<EOF\nvllm serve x\nEOF\nb", [["cat"], ["b"]]),
        ("cat <<-'E F'\n\tx\n\tE F\nb", [["cat"], ["b"]]),
        ('a "x$(date "+%F;%T")y" $(b; c)', [["a", 'x$(date "+%F;%T")y', "$(b; c)"]]),
        ("a `b; c` ${D:-e f}", [["a", "`b; c`", "${D:-e f}"]]),
        ("a \"b\\\"c\\n\" 'd'\\''e'", [["a", 'b"c\\n', "d'e"]]),
        ("a\"b\"'c'", [["abc"]]),
        ("(cd x && a)", [["cd", "x"], ["a"]]),
        ("a <(b c) d", [["a", "d"]]),
        ("", []),
        ("  # only a comment", []),
    ],
)
def test_words(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def test_a_line_end_is_a_blank_where_no_shell_reads() -> None:
    assert words("--a 1\n--b # 2", newline_ends=False) == [["--a", "1", "--b", "#", "2"]]


def test_arrays() -> None:
    statements = shell.split(whole("A=(x 'y z' # why\n w)\nA+=(v)\nb"))
    assert [(one.array, [token.value for token in one.tokens]) for one in statements] == [
        ("A", ["x", "y z", "w"]),
        ("A+", ["v"]),
        ("", ["b"]),
    ]


@pytest.mark.parametrize(
    ("word", "quoting", "expands"),
    [
        ("ab", Quoting.BARE, False),
        ("'a$b'", Quoting.SINGLE, False),
        ('"a$b"', Quoting.DOUBLE, True),
        ('"a\\$b"', Quoting.DOUBLE, False),
        ("$a", Quoting.BARE, True),
        ("5$", Quoting.BARE, False),
        ("a'b'", Quoting.MIXED, False),
        ("'a''b'", Quoting.MIXED, False),
        ("\"a\"'b'", Quoting.MIXED, False),
    ],
)
def test_how_a_word_is_quoted(word: str, quoting: Quoting, expands: bool) -> None:
    token = shell.split(whole(f"x {word} y"))[0].tokens[1]
    assert (token.quoting, token.expands) == (quoting, expands)


@pytest.mark.parametrize("text", ["a b \\ \n c", "a b \\\n  # c\n  d"])
def test_a_blank_or_comment_behind_a_backslash_is_noted(text: str) -> None:
    statements = shell.split(whole(text))
    assert [one.comment_after_backslash for one in statements] == [True, False]


def test_what_stands_inside_a_word_keeps_its_places() -> None:
    text = """bash -c "vllm serve 'x y' \\"z\\"" tail"""
    piece = whole(text)
    inner = shell.content(piece, shell.split(piece)[0].tokens[2])
    assert inner.text == "vllm serve 'x y' \"z\""
    token = shell.split(inner)[0].tokens[2]
    assert text[inner.start(token.start) : inner.end(token.end)] == "'x y'"
    assert inner.quoting == (Quoting.DOUBLE,)


def test_a_command_of_too_many_words_is_refused() -> None:
    with pytest.raises(LaunchError, match="more than 5,000 words"):
        shell.split(whole("vllm serve " + "a " * 6000))


plain = st.text(alphabet="ab -'\"\\xyz=/{}:$\t", min_size=1, max_size=12)


@settings(deadline=None)
@given(st.lists(plain, min_size=1, max_size=6))
def test_quoted_words_come_back(values: list[str]) -> None:
    text = " ".join(shlex.quote(value) for value in values)
    assert words(text) == [values]


@settings(deadline=None)
@given(st.text(max_size=300))
def test_places_are_in_order_and_inside(text: str) -> None:
    at = 0
    for statement in shell.split(whole(text)):
        for token in statement.tokens:
            assert at <= token.start < token.end <= len(text)
            at = token.end
            value, starts, ends, _, _ = shell.unquote(text, token.start, token.end)
            assert value == token.value
            assert len(starts) == len(ends) == len(value)
            assert all(token.start <= start < end <= token.end for start, end in zip(starts, ends, strict=True))
