"""The diagnosis's own sentences in another language: found by their templates, everything else left alone."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logdoctor
from logdoctor.report.phrases import Phrases, in_language
from logdoctor.report.phrases_zh import CHINESE

from .cases import CASES

HOLE = re.compile(r"\{\+?\}")
said = Phrases(CHINESE)


def made_by_the_package() -> str:
    """All that the package could say: its source, literals that stand on several lines put together."""
    root = Path(logdoctor.__file__).parent
    sources = [path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py")) if "phrases" not in path.name]
    text = re.sub(r'"\s*\n\s*f?"', "", "\n".join(sources))
    return text.replace('\\"', '"')


SOURCE = made_by_the_package()


@pytest.mark.parametrize(("own", "other"), CHINESE, ids=lambda text: str(text)[:40])
def test_a_template_is_still_said_and_keeps_what_is_filled_in(own: str, other: str) -> None:
    holes = len(HOLE.findall(own))
    used = [int(name) for _, name, _, _ in string.Formatter().parse(other) if name is not None]
    assert sorted(used) == list(range(holes))
    for clause in re.split(r"\{\+?\}|[,.:;()]", own):
        words = clause.split()
        # Verdicts and conditions are put together from short pieces; a sentence may begin with one of two subjects.
        assert " ".join(words[2:]) in SOURCE if len(words) > 5 else all(word in SOURCE for word in words), clause


def test_no_template_is_hidden_by_an_earlier_one() -> None:
    patterns = ["(.+?)".join(map(re.escape, HOLE.split(own))) for own, _ in CHINESE]
    for position, (own, _) in enumerate(CHINESE):
        example = HOLE.sub("1", own)
        fits = [number for number, pattern in enumerate(patterns) if re.fullmatch(pattern, example)]
        assert position == fits[0] or HOLE.search(own) is None, f"{own!r} is hidden by {CHINESE[fits[0]][0]!r}"


def test_parts_are_looked_up_again_and_log_text_is_not() -> None:
    assert said("did not start: the weights are too big for this card") == "启动失败：权重对这块卡来说太大"
    cause = "The process EngineCore ended with this exception first. It is not in the database."
    assert said(f"{cause} The last healthy line before it is line 7: the model") == (
        "进程 EngineCore 最先以这个异常结束。数据库中没有它。此前最后一条正常的日志在第 7 行：the model"
    )


def test_braces_in_log_text_stay_text() -> None:
    assert said("did not start: {0} {boots}") == "启动失败：{0} {boots}"


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_passes(text: str) -> None:
    assert isinstance(said(text), str)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 40))
def test_a_hostile_text_costs_no_time(count: int) -> None:
    said(" is at least".join(["x" * 40] * count))


@pytest.mark.parametrize("name", CASES)
def test_evidence_facts_and_commands_are_never_touched(name: str) -> None:
    one, other = CASES[name], in_language(CASES[name], "zh")
    assert in_language(one, "en") is one
    assert (one.verdict, one.source, len(one.boots)) == (other.verdict, other.source, len(other.boots))
    for left, right in zip(one.boots, other.boots, strict=True):
        for kept in ("facts", "lines", "phase", "timeline", "verdict"):
            assert getattr(left, kept) == getattr(right, kept)
        for mine, its in zip(left.findings, right.findings, strict=True):
            for kept in ("id", "evidence", "fingerprint", "role", "references", "ranks"):
                assert getattr(mine, kept) == getattr(its, kept)
            assert [r.command for r in mine.remedies] == [r.command for r in its.remedies]
