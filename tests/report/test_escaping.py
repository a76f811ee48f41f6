"""Control characters become visible, commands of CI systems are defused, Markdown stays inert."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.report.escaping import (
    clip,
    code_span,
    defuse_commands,
    escape_control,
    escape_diagnosis,
    fenced,
    markdown_text,
    one_line,
)

from .cases import CASES

VISIBLE = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs of real scripts that Unicode counts among the format characters though they are drawn."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with é and 漢字", "plain, with é and 漢字"),
        ("line\nnext\ttab", "line\nnext\ttab"),
        ("dos\r\nline", "dos\nline"),
        ("bar\r100%", "bar\\x0d100%"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]8;;http://x\x07link", "\\x1b]8;;http://x\\x07link"),
        ("\x9b31m \x85 \x7f \x00", "\\x9b31m \\x85 \\x7f \\x00"),
        ("\u202egnp.exe\u2066", "\\u202egnp.exe\\u2066"),
        ("zero\u200bwidth\ufeff\u2060", "zero\\u200bwidth\\ufeff\\u2060"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("\ud800 alone", "\\ud800 alone"),
        ("soft\xadhyphen", "soft\\xadhyphen"),
    ],
)
def test_what_acts_becomes_visible(text: str, shown: str) -> None:
    assert escape_control(text) == shown


def test_no_character_that_acts_is_forgotten() -> None:
    every = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert {c for c in every if escape_control(c) == c} == VISIBLE & every | {"\n", "\t"}


@given(st.text(st.characters(exclude_categories=())))
def test_escaping_twice_changes_nothing_more(text: str) -> None:
    once = escape_control(text)
    assert escape_control(once) == once
    once.encode()


def test_every_text_of_a_diagnosis_is_escaped() -> None:
    shown = repr(escape_diagnosis(CASES["hostile"])).replace("\\\\", "\\")
    assert "\x1b" not in shown
    assert "\\x1b" in shown
    assert repr(escape_diagnosis(CASES["hostile"])).count("\\\\x1b") == repr(CASES["hostile"]).count("\\x1b")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\\x3a:error::x"),
        ("a\n  ::error::x", "a\n  \\x3a:error::x"),
        ("\x1b[1m::error::x", "\x1b[1m\\x3a:error::x"),
        ("std::vector", "std::vector"),
        ("a ##[error]x", "a \\x23#[error]x"),
        ("## heading", "## heading"),
    ],
)
def test_workflow_commands_are_defused(text: str, shown: str) -> None:
    assert defuse_commands(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Using 'MARLIN' NvFp4 MoE backend, VLLM_NVFP4_MOE_BACKEND=marlin", None),
        ("--moe-backend marlin (vLLM 0.17.1)", None),
        ("ask @someone", "ask `@someone`"),
        ("see #12 and GH-7", "see `#12` and `GH-7`"),
        ("org/repo#3", "`org/repo#3`"),
        ("a | b", "a `|` b"),
        ("<script>", "`<script>`"),
        ("![i](http://x) [l](y)", "`![i](http://x) [l](y)`"),
        ("https://x.y", "`https://x.y`"),
        ("`a` ``b``", "``` `a` ``b`` ```"),
        ("- item", "`-` item"),
        ("1. item", "`1.` item"),
        ("# heading", "`#` heading"),
        ("===", "`===`"),
        ("two\nlines\n\n    code", "two lines code"),
        ("_emphasis_ snake_case", "`_emphasis_` snake_case"),
        ("all :tada:", "all `:tada:`"),
        ("commit 0123abcdef0", "commit `0123abcdef0`"),
        ("", ""),
    ],
)
def test_active_words_become_code(text: str, shown: str | None) -> None:
    assert markdown_text(text) == (text if shown is None else shown)


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert fenced("a\n````\nb") == "`````\na\n````\nb\n`````"
    assert fenced("a", "sh") == "```sh\na\n```"
    assert code_span("a ` b") == "``a ` b``"


def test_one_line_and_clip() -> None:
    assert one_line(" a\n\tb  c ") == "a b c"
    assert clip("abcdef", 4) == "abc…"
    assert clip("abcd", 4) == "abcd"
    assert clip("abcdef", 2, "...") == "..."
