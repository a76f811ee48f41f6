"""Lines of Chinese end anywhere but before closing and after opening punctuation; nothing is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.report.charts import cells
from logdoctor.report.wrapping import breaks, cell_width, has_wide, pad, wrapped

MIXED = st.text(alphabet="ab -/，。（）中文字符 GPU", max_size=120)


def lines(text: str, width: int) -> list[str]:
    edges = [0, *breaks(text, width), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@settings(deadline=None)
@given(MIXED, st.integers(10, 60))
def test_nothing_is_lost_and_lines_fit(text: str, width: int) -> None:
    found = lines(text, width)
    assert "".join(found) == text
    assert all(cells(line.rstrip()) <= width for line in found)


@pytest.mark.parametrize("width", range(10, 40))
def test_punctuation_stays_where_it_belongs(width: int) -> None:
    text = "在允许的份额内只剩 13.81 GiB（见第 52 行），vLLM 自己估算能装下的长度：75440 个 token。"
    for line in lines(text, width):
        assert line[0] not in "，。）："
        assert line.rstrip()[-1] not in "（"


def test_a_latin_word_is_kept_whole_where_it_fits() -> None:
    assert lines("使用 nvidia-container-toolkit 安装", 30) == ["使用 nvidia-container-toolkit ", "安装"]


def test_only_wide_characters_ask_for_it() -> None:
    assert has_wide("a中")
    assert not has_wide("a·é")


def test_wide_text_is_wrapped_behind_its_lead_and_words_of_latin_letters_stay_whole() -> None:
    lines = list(wrapped("权重放不下显存并且" * 6, 40, "  - ", "    "))
    assert lines[0].startswith("  - ")
    assert all(line.startswith("    ") for line in lines[1:])
    assert all(cell_width(line) <= 40 for line in lines)
    path = "/models/" + "x" * 60
    assert list(wrapped(f"see {path}", 40, "", "  ")) == ["see", f"  {path}"]
    assert cell_width(pad("日志", 8)) == 8
