"""The Markdown report is short enough, and log text in it is text for every reader."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from logdoctor.model import BootDiagnosis, Diagnosis, Evidence, Remedy, Role
from logdoctor.report import RenderOptions, render
from logdoctor.report.markdown import MAX_CHARACTERS

from .cases import CASES, CUTLASS, ENGINE_INIT, FAILED, HOSTILE, ULIMIT, diagnosis
from .strategies import diagnoses

PARSER = MarkdownIt("gfm-like", {"linkify": False})
OWN_BLOCKS = {
    "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence", "html_block",
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
}  # fmt: skip
OWN_INLINE = {"text", "code_inline", "strong_open", "strong_close"}
LABELS = {"Root cause", "Found", "Unknown failure", "Fix", "Next", "Check", "Corrected command"}


def tokens(text: str) -> list[Token]:
    return PARSER.parse(text)


def check_inert(text: str) -> None:
    """Fail unless the text holds nothing but the report's own markup."""
    blocks = tokens(text)
    assert {token.type for token in blocks} <= OWN_BLOCKS
    for token in blocks:
        if token.type == "heading_open":
            assert token.tag == "h2"
        if token.type == "html_block":
            assert token.content.strip() == "</details>" or token.content.startswith("<details><summary>")
            assert token.content.count("<") == token.content.count(">") <= 3
        if token.type == "inline":
            children = token.children or []
            assert {child.type for child in children} <= OWN_INLINE
            plain = " ".join(child.content for child in children if child.type == "text")
            assert not set(plain) & set("@<>[]|`*$~&"), plain
            for opened, label in pairwise(children):
                if opened.type == "strong_open":
                    assert label.content in LABELS or label.content.startswith("Cause ")


@pytest.mark.parametrize("name", CASES)
def test_cases_are_inert(name: str) -> None:
    check_inert(render(CASES[name], "markdown"))


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(diagnoses)
def test_no_text_breaks_out(diagnosis: Diagnosis) -> None:
    text = render(diagnosis, "markdown")
    check_inert(text)
    # Each opened fold is closed, whatever the folded text holds.
    html = [token.content for token in tokens(text) if token.type == "html_block"]
    assert sum("<details>" in part for part in html) == sum("</details>" in part for part in html)


def fences(text: str) -> list[str]:
    return [token.content for token in tokens(text) if token.type == "fence"]


def test_evidence_is_fenced_with_its_line_numbers_and_folded() -> None:
    text = render(FAILED, "markdown")
    evidence = next(fence for fence in fences(text) if "illegal instruction" in fence)
    assert "   431  > EngineCore: Using 'FLASHINFER_CUTLASS'" in evidence
    assert "   562  > EngineCore: torch.AcceleratorError" in evidence
    assert text.index("<details><summary>Evidence") < text.index(evidence)


def test_the_fix_is_one_fence_that_does_no_harm_when_pasted_whole() -> None:
    fix = fences(render(FAILED, "markdown"))[0]
    assert [line for line in fix.splitlines() if not line.startswith("#")] == ["--moe-backend marlin"]
    assert "# VLLM_USE_FLASHINFER_MOE_FP4=0" in fix
    assert "# VLLM_NVFP4_MOE_BACKEND=marlin" in fix


def test_order_of_the_report() -> None:
    text = render(FAILED, "markdown")
    heads = [
        "## FAILED",
        "**Root cause**",
        "**Fix**",
        "**Check**",
        "redacted:",
        "signature database 1.0",
        "fingerprint",
    ]
    heads += [f"<details><summary>{name}" for name in ("Evidence", "Other findings", "Start and memory", "Facts")]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)


def test_no_secret_word_of_a_mention_outside_code() -> None:
    text = render(HOSTILE, "markdown")
    for token in tokens(text):
        for child in token.children or []:
            if child.type == "text":
                assert "someone" not in child.content
                assert "org/repo" not in child.content


def huge(count: int) -> Diagnosis:
    long = "`" * 40 + "x @y " * 2000
    many = tuple(
        replace(
            CUTLASS,
            id=f"cause-{n}",
            title=long,
            cause=long,
            evidence=tuple(Evidence(i + 1, long, long, (long,) * 9, (long,) * 9) for i in range(40)),
            remedies=tuple(Remedy(long, "flag", f"--a {i} {long}", long) for i in range(40)),
            conditional=(long,) * 40,
        )
        for n in range(count)
    )
    rest = tuple(replace(ENGINE_INIT, id=f"rest-{n}", title=long) for n in range(300))
    boot = BootDiagnosis(
        index=1,
        verdict=FAILED.verdict,
        phase="weights",
        lines=(1, 2),
        summary=long,
        facts=dict(FAILED.boots[0].facts),
        findings=(*many, *rest, *(replace(ULIMIT, id=f"note-{n}") for n in range(300))),
        notes=(long,) * 50,
    )
    return diagnosis(boot, notes=(long,) * 50)


@pytest.mark.parametrize(("count", "ascii"), [(1, True), (2, False), (40, False)])
def test_never_longer_than_a_ticket_takes(count: int, ascii: bool) -> None:
    text = render(huge(count), "markdown", options=RenderOptions(ascii=ascii))
    assert len(text) <= MAX_CHARACTERS
    assert "Left out to keep this text short: " in text
    assert text.startswith("## FAILED")
    check_inert(text)


@pytest.mark.parametrize("count", [2, 30, 3000])
def test_many_boots_fit_too(count: int) -> None:
    boots = [replace(FAILED.boots[0], index=n + 1) for n in range(count)]
    text = render(diagnosis(*boots), "markdown", options=RenderOptions(all_boots=True))
    assert len(text) <= MAX_CHARACTERS
    assert f"boot {count} of {count}" in text
    assert ("are left out here" in text) is (count > 20)
    assert f"Boots 2-{count - 18} of {count} are left out here" in text or count < 20
    check_inert(text)


def test_consequences_name_what_explains_them() -> None:
    text = render(FAILED, "markdown")
    assert "- error `engine-core-init-failed` (line 655), consequence of `nvfp4-moe-cutlass-sm121`: Engine core" in text
    assert all(f.role is not Role.CONSEQUENCE for f in FAILED.boots[0].findings[:3])
