"""YAML nodes with their places, scalars as pieces, and what is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.launch import LaunchError
from logdoctor.launch.yaml_nodes import Node, content_end, read_documents, scalar_piece


def value_of(text: str) -> Node:
    node = read_documents(text)[0].get("key")
    assert node is not None
    return node


SCALARS = [
    "plain words",
    "plain\n    over two lines",
    "plain\n\n    with a gap",
    "'single ''quoted'' text'",
    "'single\n    folded'",
    '"double \\"quoted\\" \\u00e9 \\t text"',
    '"double \\\n    joined"',
    '"double\n\n    folded"',
    "|\n    literal\n      deeper\n\n    end",
    "|-\n    literal",
    "|2\n      indented",
    ">\n    folded\n    text\n\n    second\n      deeper\n    end",
    ">-\n    --a 1\n    --b 2",
    "&anchor plain",
    "!tag 'x'",
]


@pytest.mark.parametrize("scalar", SCALARS)
def test_a_scalar_says_what_the_reader_says(scalar: str) -> None:
    text = f"key: {scalar}\nother: 1\n"
    node = value_of(text)
    piece = scalar_piece(text, node)
    assert piece is not None
    assert piece.text.rstrip("\n") == node.value.rstrip("\n")
    assert len(piece.starts) == len(piece.ends) == len(piece.text)
    for char, start, end in zip(piece.text, piece.starts, piece.ends, strict=True):
        assert start < end
        assert not char.isalnum() or char in text[start:end] or text[start] == "\\"


@pytest.mark.parametrize("scalar", SCALARS)
def test_the_end_of_a_scalar_leaves_out_what_follows(scalar: str) -> None:
    text = f"key: {scalar}\n\n# comment\nother: 1\n"
    assert text[: content_end(text, value_of(text))] == f"key: {scalar}"


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60))
def test_a_quoted_text_is_read_with_its_places(value: str) -> None:
    for written in (json.dumps(value), json.dumps(value, ensure_ascii=False), "'" + value.replace("'", "''") + "'"):
        text = f"key: {written}\n"
        try:
            node = value_of(text)
        except LaunchError:
            continue
        piece = scalar_piece(text, node)
        assert piece is None or piece.text == node.value
        assert piece is not None or not value.isascii()


def test_places_of_a_collection() -> None:
    text = "key:\n  - a\n  # inside\n  - b  # eol\n\n# below\nother: 1\n"
    node = value_of(text)
    assert [text[item.start : item.end] for item in node.items] == ["a", "b"]
    assert text[: content_end(text, node)].endswith("- b")


def test_merged_keys_are_found_and_own_ones_win() -> None:
    root = read_documents("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n")[0]
    node = root.get("y")
    assert node is not None
    assert (node.text("a"), node.text("b")) == ("1", "3")
    assert node.entry("a") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: " + "[" * 5000, "nests too deep"),
        ("a: " + "{a: " * 200, "nests too deep"),
        ("a:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 100)), "nests too deep"),
        ("a: &a [x]\n" + "b: [" + "*a, " * 3000 + "]", "too big"),
        ("a: [" + "b, " * 30_000 + "]", "too big"),
        ("a" * 300_000, "too big"),
        ("a: *b", "no anchor"),
        ("a: b: c", "no valid YAML in line 1"),
        ("a: \x01", "no valid YAML"),
        ("a: [", "no valid YAML"),
        ("\tservices:\n", "no valid YAML"),
    ],
)
def test_what_is_no_yaml_or_not_safe_is_refused(text: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        read_documents(text)


def test_nothing_is_constructed() -> None:
    root = read_documents("a: !!python/object/apply:os.system [echo no]\nb: !reset null\n")[0]
    assert root.text("b") == "null"
