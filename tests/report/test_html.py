"""The HTML page: one file that loads nothing, in which log text is text."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape

import pytest

from logdoctor.model import Budget, BudgetPart, Diagnosis, Launch, PhaseSpan
from logdoctor.report import RenderOptions, render

from .cases import (
    CASES,
    CUTLASS,
    FAILED,
    FAILED_BOOT,
    HOSTILE,
    LAUNCHED,
    READY,
    READY_AFTER_LOOP,
    UNDECIDABLE,
    diagnosis,
)
from .wellformed import check_html


def page(made: Diagnosis, **options: bool) -> str:
    text = render(made, "html", options=RenderOptions(**options))
    check_html(text)
    return text


def shown(text: str) -> str:
    """Return the words of a page, without markup."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", " ", body))


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_one_closed_page(name: str) -> None:
    page(CASES[name])
    assert page(CASES[name], all_boots=True, ascii=True).isascii()


def test_the_policy_allows_the_own_style_and_script_and_nothing_else() -> None:
    text = page(FAILED)
    policy = unescape(re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[0])
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        (content,) = re.findall(f"<{name}>(.*?)</{name}>", text, re.DOTALL)
        assert f"{name}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy
    assert not re.search(r"\b(?:src|href|style|on\w+)=", text)
    assert "url(" not in text
    assert "@import" not in text


def test_the_page_answers_first() -> None:
    words = shown(page(LAUNCHED))
    heads = (
        "FAILED during profiling", "The NVFP4 experts run", "vLLM 0.17.1", "Root cause", "Fix", "--moe-backend marlin",
        "Check", "Evidence", "Corrected command", "Timeline of the start", "Memory", "Other findings", "Facts (16)",
        "redacted: hf-token 1", "signature database 1.0", "fingerprint",
    )  # fmt: skip
    places = [re.sub(r"\s+", " ", words).find(head) for head in heads]
    assert -1 not in places
    assert places == sorted(places)


def test_the_timeline_shows_how_long_each_phase_took_and_where_it_died() -> None:
    rows = re.findall(r"<tr.*?</tr>", page(FAILED).partition('class="timeline"')[2].partition("</table>")[0])[1:]
    assert [shown(row).split() for row in rows[1:3]] == [["config", "0:03", "21-40"], ["weights", "1:52", "41-408"]]
    assert "died here" in shown(rows[-1])
    assert not any("died here" in row for row in rows[:-1])
    places = [
        tuple(map(float, place)) for row in rows for place in re.findall(r'"time" x="([\d.]+)%" width="([\d.]+)%"', row)
    ]
    assert places[2] == (3.35, 69.57)
    assert all(x >= 0 and x + width <= 100.01 for x, width in places)
    assert "died here" not in page(replace(READY, boots=(replace(READY.boots[0], timeline=FAILED_BOOT.timeline),)))


def test_a_timeline_without_times_still_names_its_phases() -> None:
    spans = (PhaseSpan("config", 1, 2), PhaseSpan("weights", 3, 9, seconds=float("nan")))
    words = shown(page(diagnosis(replace(FAILED_BOOT, timeline=spans))))
    assert re.search(r"config\s+1-2\s+weights\s+died here\s+3-9", words)


def test_the_memory_bar_adds_up() -> None:
    text = page(FAILED).partition("<h2>Memory</h2>")[2].partition("</section>")[0]
    widths = [float(width) for width in re.findall(r'class="part\d" x="[\d.]+%" width="([\d.]+)%"', text)]
    assert widths == [57.11, 3.37, 24.49]
    assert re.search(r'class="limit" x1="85.00%"', text)
    assert "121.7 GiB of memory; the share 0.85 allows 103.4 GiB" in shown(text)
    assert re.search(r"free or not named\s+18.3 GiB\s+15%", shown(text))


def test_a_memory_that_is_overdrawn_or_no_number_draws_no_nonsense() -> None:
    over = Budget(10.0, 1.5, (BudgetPart("weights", 30.0), BudgetPart("x", float("inf")), BudgetPart("y", -1.0)), "")
    text = page(diagnosis(replace(FAILED_BOOT, budget=over)))
    assert "free or not named" not in text
    assert 'width="100.00%"' in text
    assert "<h2>Memory</h2>" not in page(diagnosis(replace(FAILED_BOOT, budget=Budget(float("nan"), 0.9, (), ""))))


def test_boots_of_a_loop_are_a_strip() -> None:
    text = page(READY_AFTER_LOOP)
    assert re.findall(r'class="cell (\w+)"', text) == ["failed", "failed", "ready"]
    assert re.findall(r'class="cell ready" title="[^"]*" aria-current="true">3<', text)
    assert "boots" not in page(FAILED).partition("</style>")[2]
    many = diagnosis(*(replace(FAILED_BOOT, index=n + 1) for n in range(600)))
    assert page(many).count('class="cell') == 500
    assert "The 100 boots before these are left out here." in page(many)


def test_every_cause_has_its_own_fix_where_nothing_decides() -> None:
    words = re.sub(r"\s+", " ", shown(page(UNDECIDABLE)))
    places = [
        words.index(part) for part in ("Cause 1 of 2", "VLLM_CPU_KVCACHE_SPACE=16", "Cause 2 of 2", "Give the start")
    ]
    assert places == sorted(places)


def test_the_corrected_command_is_a_diff() -> None:
    text = page(LAUNCHED)
    assert "<del>-docker run --gpus all -e VLLM_NVFP4_MOE_BACKEND=marlin \\\n</del>" in text
    assert "<ins>+docker run --gpus all \\\n</ins>" in text
    told = Launch("a\n", "b\n", ("the image",), "sh run.sh", ("--x, for y",), ("--z: why",))
    words = re.sub(r"\s+", " ", shown(page(replace(FAILED, launch=told))))
    assert "sh run.sh Copy Changed --x, for y Not changed --z: why Not known from the log the image" in words


def test_what_is_to_be_typed_is_copied_exactly() -> None:
    typed = re.findall(r"<pre><code>(.*?)</code></pre><button", page(FAILED), re.DOTALL)
    assert unescape(typed[0]) == "--moe-backend marlin"
    assert all("hidden" in button for button in re.findall(r"<button[^>]*>", page(FAILED)))


def test_hostile_text_is_shown() -> None:
    text = page(HOSTILE)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert(1)</script>" in shown(text)
    assert "##[error]y" in unescape(text)


def test_left_out_boots_are_named() -> None:
    many = diagnosis(*(replace(FAILED_BOOT, index=n + 1) for n in range(30)))
    text = page(many, all_boots=True)
    assert text.count("<article") == 20 - 1
    assert "Boots 2-12 of 30 are left out here; the JSON report holds every boot." in text


def test_a_line_said_twice_is_shown_once() -> None:
    made = replace(CUTLASS, evidence=(*CUTLASS.evidence, replace(CUTLASS.evidence[1], line=700)))
    text = page(diagnosis(replace(FAILED_BOOT, findings=(made,))))
    assert text.count('<pre class="log">torch.AcceleratorError') == 1
    assert "again on line 700" in text
    assert "1 more like this" in text
