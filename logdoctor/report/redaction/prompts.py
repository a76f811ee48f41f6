"""What users sent: prompts, outputs, messages, token ids and templates in request logs and engine dumps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .lazy import Pattern
from .spans import Span, is_masked
from .values import closing_quote

# `Received request X: prompt: '…', params: …, prompt_token_ids: […]`, `Generated response X: output: '…'`, and the
# dataclass reprs of dumps: `prompt='…'`. The text is a repr: one line, its own quotes escaped.
_TEXT = Pattern(
    r"(?<![A-Za-z_])(?:(?:negative_|decoder_|encoder_|user_|system_)?prompt|output(?![\"']?=)|(?:output|response|generated|delta)_text"
    r"|reasoning(?:_content)?|index=\d{1,3}, text|chat_template|bad_words|stop|suffix(?![\"']?\W{1,4}[._]))"
    r"(?P<key>\\*[\"'])?(?P<sep>: |=|:)"
    r"(?P<list>\[\s*)?(?P<quote>\\*[\"'])"
)
# `{"role": "user", "content": "…"}` of request bodies, and of pydantic's input_value
_CONTENT = Pattern(
    r"(?<!\\)(?P<k>\\*[\"'])(?:content|text|input|instructions|arguments|refusal)(?P=k)\s*:\s*(?P<quote>\\*[\"'])"
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
# Draft tokens of speculative decoding, and pictures and sounds sent along
_DRAFT = Pattern(r"spec_decode_tokens=\{(?=[^}\n])([^}\n]*)")
_DATA = Pattern(r"data:[\w/+.-]{3,60};base64,([A-Za-z0-9+/=\\]{4,})")
_BRACKET = Pattern(r"[()]")
_MORE = Pattern(r"\s{0,40},\s{0,40}(\\{0,15}[\"'])")
_TEMPLATE = Pattern(r"[Uu]sing supplied chat template:[ \t]*\n?")
_LOG_LINE = Pattern(
    r"^(?:\([A-Z]\w* ?(?:pid|rank)=|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[: ]|Traceback )", re.MULTILINE
)


_WORDS = ("prompt", "output", "stop", "bad_words", "reasoning", "chat_template", "_text", ", text", "suffix")


def find_prompts(text: str, lower: str) -> Iterator[Span]:
    """Yield the text of users."""
    if any(word in lower for word in _WORDS):
        yield from _each(_TEXT, text, _quoted)
    if any(word in lower for word in _PARTS) and any(word in lower for word in _MESSAGES):
        yield from _each(_CONTENT, text, _quoted)
    if "_id" in lower or "prompt_tokens" in lower:
        yield from _each(_IDS, text, _ids)
    if "spec_decode_tokens=" in lower:
        yield from _each(_DRAFT, text, lambda _, match: iter([Span(*match.span(1), "token-ids")]))
    if ";base64," in lower:
        yield from _each(_DATA, text, lambda _, match: iter([Span(*match.span(1), "prompt")]))
    if "params(" in lower:
        yield from _each(_SCHEMA, text, _schema)
    if "chat template:" in lower:
        yield from _each(_TEMPLATE, text, _template)


def _each(pattern: Pattern, text: str, read: Callable[[str, re.Match[str]], Iterator[Span]]) -> Iterator[Span]:
    """Read what each match announces; what stands inside a prompt announces nothing."""
    position = 0
    while match := pattern.search(text, position):
        position = match.end()
        for span in read(text, match):
            position = max(position, span.end)
            if text[span.start : span.end].strip() and not is_masked(text[span.start : span.end]):
                yield span


def _quoted(text: str, match: re.Match[str]) -> Iterator[Span]:
    """Yield the string that the match opens (all strings of a list)."""
    quote, start = match["quote"], match.end()
    groups = match.groupdict()
    if groups.get("sep") == ":" and not groups.get("key"):
        return
    kind = "chat-template" if "chat_template" in match.group() else "prompt"
    while True:
        stop = _string_end(text, start, quote)
        if kind == "prompt" or "{" in text[start:stop]:
            yield Span(start, stop, kind)
        more = _MORE.match(text, stop + len(quote)) if groups.get("list") else None
        if not more or more[1] != quote:
            return
        start = more.end()


def _string_end(text: str, start: int, quote: str) -> int:
    """Return the end of a string: its closing quote, or where the next log line begins; wrapped lines belong to it."""
    end = closing_quote(text, start, quote)
    stop = _LOG_LINE.search(text, start, len(text) if end == -1 else end)
    if stop:
        return stop.start() - 1
    return len(text) if end == -1 else end


def _ids(text: str, match: re.Match[str]) -> Iterator[Span]:
    numbers = _ID_LIST.match(text, match.end())
    end = numbers.end() if numbers else match.end()
    while end > match.end() and not text[end - 1].isdigit() and text[end - 1] != ".":
        end -= 1
    yield Span(match.end(), end, "token-ids")


def _schema(text: str, match: re.Match[str]) -> Iterator[Span]:
    depth = 1
    for bracket in _BRACKET.finditer(text, match.end()):
        depth += 1 if bracket.group() == "(" else -1
        if not depth:
            yield Span(match.end(), bracket.start(), "prompt")
            return
    yield Span(match.end(), len(text), "prompt")


def _template(text: str, match: re.Match[str]) -> Iterator[Span]:
    stop = _LOG_LINE.search(text, match.end())
    yield Span(match.end(), stop.start() - 1 if stop else len(text), "chat-template")
