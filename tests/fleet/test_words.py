"""The summary in Chinese: its own words, all of them, and nothing else."""

from __future__ import annotations

import re

import pytest

from logdoctor.fleet.reports import render
from logdoctor.fleet.words import CHINESE, ENGLISH, FleetWords
from logdoctor.report.options import RenderOptions
from tests.fleet.test_reports import FULL

PLACES = re.compile(r"\{\w+\}")
OF_THE_TOOL = re.compile(r"\b(?:logs|failed|ready|seen|prints|nodes|causes?|began|start|more|new|world|verdict)\b")


def test_every_word_is_translated_with_its_places() -> None:
    assert set(CHINESE) == set(ENGLISH)
    for key, word in CHINESE.items():
        # Where a failure began the English sentence gives the reason as well, which is told in English only.
        assert set(PLACES.findall(word)) <= set(PLACES.findall(ENGLISH[key])), key


@pytest.mark.parametrize("format_", ["terminal", "markdown", "html"])
def test_the_summary_speaks_chinese(format_: str) -> None:
    text = render(FULL, format_, RenderOptions(width=80, lang="zh"))
    assert "根本原因" in text
    assert "份日志" in text
    assert "未知故障" in text
    assert "份失败" in text
    assert re.search(r"[\u4e00-\u9fff]", text.splitlines()[0] if format_ != "html" else text)
    for line in text.splitlines():
        if re.search(r"[\u4e00-\u9fff]", re.sub(r"<[^>]*>", "", line)) and format_ == "terminal":
            label = re.split(r"\s{2,}", line.strip())[0]
            assert not OF_THE_TOOL.search(label), line


def test_the_page_names_its_language() -> None:
    assert '<html lang="zh-Hans">' in render(FULL, "html", RenderOptions(lang="zh"))
    assert '<html lang="en">' in render(FULL, "html", RenderOptions())


def test_what_is_no_verdict_stays() -> None:
    assert FleetWords("zh").verdict("not read") == "not read"
    assert FleetWords().verdict("failed") == "failed"


def test_one_boot_is_one_boot() -> None:
    assert FleetWords()("earlier.one", count=1).startswith("1 boot before")
