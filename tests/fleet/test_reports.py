"""The summary in its forms: the same causes in all, and log text that stays text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from logdoctor.fleet.reports import FORMATS, render
from logdoctor.fleet.summary import FleetSummary, Tally, read_baseline
from logdoctor.report.options import RenderOptions
from tests.fleet.build import SHARD, made, record_of, unknown
from tests.fleet.test_together import FLUX, GONE, node

EVIL = "<script>alert(1)</script> [x](javascript:1) ::error::x @team `|` ##[group]y \x1b[31m"


def summary(*records: dict[str, Any]) -> FleetSummary:
    tally = Tally(read_baseline([made("x", "port-in-use"), made("y", "weights-shard-truncated")]), together=True)
    for record in records:
        tally.add(record)
    return tally.summary()


FULL = summary(
    record_of(SHARD, "a.log"),
    record_of(SHARD, "b.log"),
    record_of(unknown(EVIL), "c.log"),
    made("d.log", verdict=None, exit_status=2, error=f"broken {EVIL}".replace("\x1b", "?")),
    made("e|`x`.log", "some-cause", gpu_name="NVIDIA GB10", image="vllm/vllm-openai:v0.27.1", host="h1", pod="p1"),
    record_of(node(0, fails=GONE), "f.log", together=True),
    record_of(node(1, fails=FLUX), "g.log", together=True),
)


@pytest.mark.parametrize("format_", FORMATS)
def test_every_form_says_everything(format_: str) -> None:
    text = render(FULL, format_, RenderOptions(width=120))
    for word in (
        "weights-shard-truncated",
        "some-cause",
        "NVIDIA GB10",
        "vllm/vllm-openai:v0.27.1",
        "flux overheated",
        "port-in-use",
        "d.log",
        "g.log",
        "Worker_TP3",
        "0.27.1",
        "new",
    ):
        assert word in text, word
    assert text.endswith("\n")
    assert "\x1b" not in text


@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_at_all_is_still_a_report(format_: str) -> None:
    assert "1" in render(summary(made("a.log")), format_, RenderOptions())


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="terminal, markdown, html, json"):
        render(FULL, "pdf", RenderOptions())


def test_terminal_lines_keep_to_the_width_and_colour_is_asked_for() -> None:
    plain = render(FULL, "terminal", RenderOptions(width=80))
    wide = [line for line in plain.splitlines() if len(line) > 80]
    assert not [line for line in wide if " " in line.strip()[:60]], wide
    painted = render(FULL, "terminal", RenderOptions(width=80, color=True))
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain
    assert "NEW" in plain and "\x1b[1;35mNEW" in painted


def test_terminal_text_moves_no_ci_system() -> None:
    text = render(FULL, "terminal", RenderOptions())
    assert "##[group]" not in text
    assert not re.search(r"^\s*::error", text, re.MULTILINE)


def test_ascii_is_ascii() -> None:
    for format_ in ("terminal", "json"):
        assert render(summary(made("é.log", "x")), format_, RenderOptions(ascii=True)).isascii()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]
        if tag not in ("meta", "br", "th", "td", "dt", "dd"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("dt", "dd"):
            assert self.open.pop() == tag


def test_html_is_sound_and_runs_nothing() -> None:
    text = render(FULL, "html", RenderOptions())
    parser = _Tags()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.tags and "a" not in parser.tags and "img" not in parser.tags
    assert "default-src 'none'" in text
    assert "&lt;script&gt;" in text


def test_markdown_is_inert() -> None:
    text = render(FULL, "markdown", RenderOptions())
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    assert not [child for child in inline if child.type in ("link_open", "image", "html_inline")]
    html = [token.content for token in tokens if token.type == "html_block"]
    assert all(re.fullmatch(r"(<details><summary>Draft signature</summary>|</details>)\s*", block) for block in html)
    rows = [token for token in tokens if token.type == "tr_open"]
    assert len(rows) > 3


def test_json_is_complete_and_versioned() -> None:
    document = json.loads(render(FULL, "json", RenderOptions()))
    assert document["schema_version"] == 1
    assert document["exit_status"] == 2
    assert document["logs"] == 7
    assert {cause["id"]: cause["new"] for cause in document["causes"]}["some-cause"] is True
    assert document["baseline"] == {"logs": 2, "gone": [{"name": "port-in-use", "count": 1}]}
    assert all("- id: " in one["draft"] for one in document["unknown"])
    assert document["starts"][-1]["began"]["source"] == "g.log"


def test_the_page_reads_in_the_dark_and_on_a_telephone() -> None:
    page = render(FULL, "html", RenderOptions())
    dark = page[page.index("prefers-color-scheme:dark") :]
    assert re.search(r"\.fatal,\.error\{color:#[f][0-9a-f]{5}\}", dark)
    assert "max-width:34rem" in page
    assert "summary,h1{overflow-wrap:anywhere}" in page
