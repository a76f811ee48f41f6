"""The words of reports: every language has the same keys, the same places, and no more."""

from __future__ import annotations

import string

import pytest

from logdoctor.report.words import ENGLISH, LANGUAGES, Words
from logdoctor.report.words_zh import CHINESE


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("key", CHINESE)
def test_a_chinese_word_has_the_places_of_the_english_one(key: str) -> None:
    assert key in ENGLISH, "no renderer asks for it"
    assert places(CHINESE[key]) == places(ENGLISH[key])


def test_words_have_their_chinese() -> None:
    """The draft of a report to vLLM's maintainers is English whoever writes it; new words may wait for a moment."""
    wanted = {key for key in ENGLISH if not key.startswith("issue.")}
    assert len(wanted & set(CHINESE)) >= 0.97 * len(wanted), sorted(wanted - set(CHINESE))


def test_commands_are_the_same_in_both() -> None:
    for key in ("give_all_command", "report_unknown_command", "explain"):
        assert CHINESE[key] == ENGLISH[key]


def test_a_missing_word_is_english(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LANGUAGES == ("en", "zh")
    monkeypatch.delitem(CHINESE, "fix")  # type: ignore[arg-type]
    assert Words("zh")("fix") == "FIX"
    assert Words("zh")("also") == CHINESE["also"]
    assert Words("xx")("fix") == "FIX"
