"""What users sent: prompts, outputs, messages, token ids and templates in request logs and engine dumps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lazy import Pattern
from .spans import Span, is_masked
from .values import closing_quote

# `Received request X: prompt: '…', params: …, prompt_token_ids: […]`, `Generated response X: output: '…'`, and the
# dataclass reprs of dumps: `prompt='…'`. The text is a repr: one line, its own quotes escaped.
_TEXT = Pattern(
    r"(?<![A-Za-z_])(?:prompt|negative_prompt|decoder_prompt|encoder_prompt|output|output_text|response_text"
    r"|generated_text|delta_text|reasoning(?:_content)?"
    r"|user_prompt|system_prompt|chat_template|bad_words|stop|suffix)(?P<key>\\*[\"'])?(?P<sep>: |=|:)"
    r"(?P<list>\[\s*)?(?P<quote>\\*[\"'])"
)
# `{"role": "user", "content": "…"}` of request bodies, and of pydantic's input_value
_CONTENT = Pattern(
    r"(?P<k>\\*[\"'])(?:content|text|input|instructions|arguments|refusal)(?P=k)\s*:\s*(?P<quote>\\*[\"'])"
)
_PARTS = ("content", "text", "input", "instructions", "arguments", "refusal")
_MESSAGES = ("role", "messages", "prompt", "input_text", '"type"', "'type'")
# `prompt_token_ids: [1, 2]`, `output_token_ids=[…]`, `new_token_ids=[[…]]`, `all_token_ids`, array('I', […])
_IDS = Pattern(
    r"(?<![A-Za-z])(?:\w{0,30}_)?(?:token_ids|tokens_ids|token_id_list|input_ids|prompt_tokens|prompt_ids)"
    r"(?:\\*[\"'])?(?::\s?|=)\s*(?:array\('\w', |tensor\(|\()?\[+(?=\s*-?\d)"
)
_ID_LIST = Pattern(r"[\d\s,\-\]\[]*(?:\.\.\.[\d\s,\-\]\[]*)?")
# A guided-decoding schema or grammar is the client's text as well.
_SCHEMA = Pattern(
    r"(?<![A-Za-z_])(?:GuidedDecodingParams|StructuredOutputsParams)\((?=(?:json|regex|choice|grammar)=[^N])"
)
_TEMPLATE = Pattern(r"[Uu]sing supplied chat template:[ \t]*\n?")
_LOG_LINE = Pattern(
    r"^(?:\([A-Z]\w* ?(?:pid|rank)=|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[: ]|Traceback )", re.MULTILINE
)


def find_prompts(text: str, lower: str) -> Iterator[Span]:
    """Yield the text of users."""
    if any(
        word in lower
        for word in ("prompt", "output", "stop=", "bad_words", "reasoning", "chat_template", "_text", "suffix")
    ):
        for match in _TEXT.finditer(text):
            yield from _quoted(text, match)
    if any(word in lower for word in _PARTS) and any(word in lower for word in _MESSAGES):
        for match in _CONTENT.finditer(text):
            yield from _quoted(text, match)
    if "_id" in lower or "prompt_tokens" in lower:
        yield from _ids(text)
    if "params(" in lower:
        yield from _schemas(text)
    if "chat template:" in lower:
        for match in _TEMPLATE.finditer(text):
            stop = _LOG_LINE.search(text, match.end())
            yield from _unless_done(text, match.end(), stop.start() - 1 if stop else len(text), "chat-template")


def _quoted(text: str, match: re.Match[str]) -> Iterator[Span]:
    """Yield the string that the match opens (all strings of a list); an unclosed one ends with the text."""
    quote, start = match["quote"], match.end()
    groups = match.groupdict()
    if groups.get("sep") == ":" and not groups.get("key"):
        return
    while True:
        end = closing_quote(text, start, quote)
        kind = "chat-template" if "chat_template" in match.group() else "prompt"
        stop = len(text) if end == -1 else end
        if kind != "chat-template" or "{" in text[start:stop]:
            yield from _unless_done(text, start, stop, kind)
        more = (
            re.compile(r"\s*,\s*" + re.escape(quote)).match(text, end + len(quote))
            if end != -1 and groups.get("list")
            else None
        )
        if not more:
            return
        start = more.end()


def _ids(text: str) -> Iterator[Span]:
    for match in _IDS.finditer(text):
        numbers = _ID_LIST.match(text, match.end())
        end = numbers.end() if numbers else match.end()
        while end > match.end() and not text[end - 1].isdigit() and text[end - 1] != ".":
            end -= 1
        yield from _unless_done(text, match.end(), end, "token-ids")


def _schemas(text: str) -> Iterator[Span]:
    for match in _SCHEMA.finditer(text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield from _unless_done(text, match.end(), at - 1 if depth == 0 else at, "prompt")


def _unless_done(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    if text[start:end].strip() and not is_masked(text[start:end]):
        yield Span(start, end, kind)
