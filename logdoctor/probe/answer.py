"""One answer of a server, read from a whole reply or from a stream, whatever is missing in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from logdoctor.probe.client import Reply

REASONING_FIELDS = ("reasoning", "reasoning_content")
"""The new name and the old one; versions in between send both."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an API client sees of one answer."""

    status: int = 0
    error: str = ""
    """What the server says of a failure, or how the exchange ended."""
    timed_out: bool = False
    closed: bool = False
    """The connection ended without a whole answer."""
    found: bool = False
    """The reply holds an answer."""
    content: str = ""
    reasoning: str = ""
    reasoning_field: str = ""
    """Names of the fields that hold the thinking, joined by ` and `; empty when none does."""
    finish_reason: str = ""
    tool_calls: bool = False
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    prompt_tokens: int | None = None
    first_seconds: float | None = None
    decode_seconds: float | None = None
    """From the first text of a stream to the last."""

    @property
    def empty(self) -> bool:
        """Whether no content came."""
        return not self.content.strip()

    @property
    def cut(self) -> bool:
        """Whether max_tokens ended it before any content came."""
        return self.finish_reason == "length" and self.empty

    @property
    def decode_rate(self) -> float | None:
        """Tokens per second after the first one, where there are enough to tell."""
        if self.completion_tokens is None or self.completion_tokens < 8 or not self.decode_seconds:
            return None
        return (self.completion_tokens - 1) / self.decode_seconds


def read_answer(reply: Reply) -> Answer:
    """Read the reply to a chat or completion request, streamed or not."""
    if reply.failure is not None or reply.status != 200:
        return _failed(reply)
    events = reply.events or ((whole,) if isinstance(whole := reply.json(), dict) else ())
    error = next((event["error"] for event in events if "error" in event), None)
    if error is not None:
        # A stream that has begun can report a failure in an event only.
        text = error.get("message") if isinstance(error, dict) else error
        code = error.get("code") if isinstance(error, dict) else None
        return Answer(status=code if isinstance(code, int) else 500, error=str(text)[:300])
    pieces = _Pieces()
    for event in events:
        pieces.add(event)
    first, last = reply.first_seconds, reply.last_seconds
    return pieces.answer(first, None if first is None or last is None else last - first)


def _failed(reply: Reply) -> Answer:
    words = reply.failure.value if reply.failure else reply.message()
    return Answer(
        status=reply.status if reply.failure is None else 0,
        error=words,
        timed_out=reply.timed_out,
        closed=reply.failure is not None and not reply.timed_out,
    )


class _Pieces:
    """Puts an answer together from one event or many."""

    def __init__(self) -> None:
        self._found = self._tools = False
        self._content: list[str] = []
        self._reasoning: dict[str, list[str]] = {}
        self._finish = ""
        self._usage: Mapping[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Take the first choice of an event, and the token counts."""
        if isinstance(event.get("usage"), dict):
            self._usage = event["usage"]
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        self._found = True
        message = choice.get("message") or choice.get("delta") or {}
        message = message if isinstance(message, dict) else {}
        self._content.extend(text for text in (message.get("content"), choice.get("text")) if isinstance(text, str))
        for name in REASONING_FIELDS:
            if isinstance(message.get(name), str) and message[name]:
                self._reasoning.setdefault(name, []).append(message[name])
        self._tools = self._tools or bool(message.get("tool_calls"))
        if isinstance(choice.get("finish_reason"), str):
            self._finish = choice["finish_reason"][:40]

    def answer(self, first_seconds: float | None, decode_seconds: float | None) -> Answer:
        """Return the answer as it stands."""
        details = self._usage.get("completion_tokens_details")
        return Answer(
            status=200,
            found=self._found,
            content="".join(self._content),
            reasoning=max(("".join(texts) for texts in self._reasoning.values()), key=len, default=""),
            reasoning_field=" and ".join(name for name in REASONING_FIELDS if name in self._reasoning),
            finish_reason=self._finish,
            tool_calls=self._tools,
            completion_tokens=_count(self._usage.get("completion_tokens")),
            reasoning_tokens=_count(details.get("reasoning_tokens")) if isinstance(details, dict) else None,
            prompt_tokens=_count(self._usage.get("prompt_tokens")),
            first_seconds=first_seconds,
            decode_seconds=decode_seconds,
        )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else None
