"""What a probe asks, what is right, and how an answer looks that is none. Nothing else is ever sent as a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_JUDGED = 20_000
"""Characters of an answer that are looked at."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt with a known answer."""

    prompt: str
    answer: str
    """Regular expression that every right answer holds, as a whole word."""

    def is_right(self, text: str) -> bool:
        """Return whether a text holds the answer."""
        return re.search(rf"(?<![\d.,])(?:{self.answer})(?![\d]|[.,]\d)", text[:MAX_JUDGED], re.I) is not None


QUESTIONS: tuple[Question, ...] = (
    Question("What is 17 + 25? Reply with the number only.", "42|forty[ -]?two"),
    Question("What is 9 times 12? Reply with the number only.", "108|one hundred (?:and )?eight"),
    Question("What is 100 minus 37? Reply with the number only.", "63|sixty[ -]?three"),
    Question("How many days are in two weeks? Reply with the number only.", "14|fourteen"),
)
"""Small sums: every instruction-tuned model knows them, and an answer is right or wrong without a judge."""

CONTINUATION = Question("1, 2, 3, 4, 5, 6, 7,", "8")
"""For the completions end point, which knows no chat template: any language model goes on counting."""
CONTINUATION_TOKENS = 12

TOOL_QUESTION = "What is the weather in Paris right now? Use the tool."
TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Name of the city"}},
            "required": ["city"],
        },
    },
}

_THINK_MARKS = re.compile(
    r"</?think(?:ing)?>|</?seed:think>|\[/?THINK\]|<\|channel\|>|<\|(?:START|END)_THINKING\|>|</?reasoning>|◁/?think▷"
)
"""Marks by which models part thinking from answer; in `content` they are left over."""

_TOOL_MARKS = re.compile(
    r"</?tool_calls?>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call|<｜tool▁call|functools\["
    r"|[\"']name[\"']\s*:\s*[\"']get_weather[\"']|\bget_weather\s*\("
)
"""How models write tool calls; in `content` the parser has not read them."""

_RUN = re.compile(r"(\S)\1{23,}")
_UNIT = re.compile(r"(.{1,12}?)\1{19,}", re.S)


def has_think_marks(text: str) -> bool:
    """Return whether marks of thinking stand in a text."""
    return _THINK_MARKS.search(text[:MAX_JUDGED]) is not None


def has_tool_marks(text: str) -> bool:
    """Return whether a text holds a tool call that nobody has read."""
    return _TOOL_MARKS.search(text[:MAX_JUDGED]) is not None


def is_garbled(text: str) -> bool:
    """Return whether a text is no language: broken characters, or one short piece repeated over and over.

    Kernels that compute wrongly show so: `!!!!!!!!` (every probability is not a number), broken UTF-8, loops.
    """
    text = text[:MAX_JUDGED].strip()
    if not text:
        return False
    # One broken character at the end is a character that max_tokens cut.
    broken = text[:-1].count("\ufffd") + sum(c < " " and c not in "\n\r\t" for c in text)
    if broken > max(1, len(text) // 20):
        return True
    repeated = max((len(found[0]) for pattern in (_RUN, _UNIT) for found in pattern.finditer(text)), default=0)
    return repeated > len(text) // 2
