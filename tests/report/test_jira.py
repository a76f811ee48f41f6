"""Jira's wiki markup: the report's own markup acts, log text does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logdoctor.model import Evidence, Remedy
from logdoctor.report import RenderOptions, render
from logdoctor.report.jira import MAX_CHARACTERS, wiki_text

from .cases import CASES, CUTLASS, FAILED, RESTART_LOOP, diagnosis
from .test_markdown import huge
from .wellformed import check_jira


@pytest.mark.parametrize("name", CASES)
def test_cases_are_inert(name: str) -> None:
    check_jira(render(CASES[name], "jira"))
    check_jira(render(CASES[name], "jira", options=RenderOptions(all_boots=True, ascii=True)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("nvfp4-moe on GB10", None),
        ("--moe-backend marlin", r"\-\-moe-backend marlin"),
        ("a -b- c", r"a \-b\- c"),
        ("{code} [x|y] !i.png!", r"\{code\} \[x\|y\] \!i.png\!"),
        ("h1. heading", "&#104;1. heading"),
        ("bq. quote", "&#98;q. quote"),
        ("# item", r"\# item"),
        ("[~someone] @someone", r"\[\~someone\] \@someone"),
        ("https://a.b", "https&#58;&#47;&#47;a.b"),
        ("back\\slash & <b>", "back&#92;slash &#38; &#60;b&#62;"),
        ("fine :) (i) (x)", r"fine &#58;) \(i) \(x)"),
        ("::error::x", "&#58;:error&#58;:x"),
        ("two\nlines", "two lines"),
    ],
)
def test_active_text_is_escaped(text: str, shown: str | None) -> None:
    assert wiki_text(text) == (text if shown is None else shown)


def test_log_text_cannot_end_its_block() -> None:
    made = replace(
        CUTLASS,
        evidence=(Evidence(3, "", "{noformat}\n{code}\n{ NoFormat:x}", ("{code:java}",)),),
        remedies=(Remedy("x", "flag", "--x '{code} {noformat}'"),),
    )
    text = render(diagnosis(replace(FAILED.boots[0], findings=(made,))), "jira")
    check_jira(text)
    assert "{ noformat}\n{ code}" in text
    assert text.count("\n{noformat}") == 4


def test_order_of_the_report() -> None:
    text = render(FAILED, "jira")
    heads = ("h2. FAILED", "*Root cause*", "*Fix*", "*Check*", "redacted:", "h3. Evidence", "h3. Other", "h3. Facts")
    places = [text.index(head) for head in heads]
    assert places == sorted(places)
    assert "{code:bash}\n--moe-backend marlin\n{code}\n" in text


def test_never_longer_than_a_field() -> None:
    text = render(huge(2), "jira")
    assert len(text) <= MAX_CHARACTERS
    assert "Left out to keep this text short: " in text
    check_jira(text)
    boots = [replace(RESTART_LOOP.boots[0], index=n + 1) for n in range(60)]
    many = render(diagnosis(*boots), "jira", options=RenderOptions(all_boots=True))
    assert len(many) <= MAX_CHARACTERS
    assert "Boots 2-52 of 60 are left out here" in many
