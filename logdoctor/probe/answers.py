"""The requests of the level `answer`: a known-answer chat, the same streamed, a completion, a tool call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from logdoctor.probe.answer import Answer, read_answer
from logdoctor.probe.client import Client
from logdoctor.probe.options import ProbeOptions, Values
from logdoctor.probe.questions import (
    CONTINUATION,
    CONTINUATION_TOKENS,
    QUESTIONS,
    TOOL,
    TOOL_QUESTION,
    Question,
    has_think_marks,
    has_tool_marks,
    is_garbled,
)

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
SECOND_TRY = 4
"""By how much max_tokens rises when thinking used it up, to learn how much the answer wants."""
_SHOWN = 80


def chat_body(model: str, prompt: str, max_tokens: int, **more: Any) -> dict[str, Any]:
    """Return the body of a greedy chat request."""
    messages = [{"role": "user", "content": prompt}]
    return {"model": model, "messages": messages, "max_tokens": max_tokens, "temperature": 0, **more}


def completion_body(model: str, prompt: str, max_tokens: int, **more: Any) -> dict[str, Any]:
    """Return the body of a greedy completion request."""
    return {"model": model, "prompt": prompt, "max_tokens": max_tokens, "temperature": 0, **more}


_STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}


def ask(client: Client, model: str, question: Question, max_tokens: int) -> Answer:
    """Ask a question in a chat of its own."""
    return read_answer(client.post(CHAT, chat_body(model, question.prompt, max_tokens)))


def measure_answers(client: Client, model: str, options: ProbeOptions) -> Values:
    """Ask, and say what came back and in which fields."""
    question = QUESTIONS[0]
    answer = ask(client, model, question, options.max_tokens)
    if _no_chat(answer):
        values: Values = {"probe.answer.no_chat": True, "probe.answer.error": answer.error}
        return values | _completion(client, model)
    values = describe(answer, question) | {"probe.answer.max_tokens": options.max_tokens}
    if not answer.found:
        return values
    if answer.cut:
        more = ask(client, model, question, options.max_tokens * SECOND_TRY)
        if more.found and not more.cut and more.completion_tokens is not None:
            values["probe.answer.tokens_needed"] = more.completion_tokens
    values |= _stream(client, model, question, answer, options)
    values |= {key: value for key, value in _completion(client, model).items() if key not in values}
    if options.tools:
        values |= _tool_call(client, model, options)
    return values


def _no_chat(answer: Answer) -> bool:
    """Whether the model has no chat template, or the server no chat end point: base models are served so."""
    return answer.status == 404 or (answer.status == 400 and "chat template" in answer.error.lower())


def describe(answer: Answer, question: Question) -> Values:
    """Return what there is to say of an answer as facts."""
    values: Values = {"probe.answer.ok": answer.found, "probe.answer.status": answer.status}
    if answer.timed_out:
        return values | {"probe.answer.timed_out": True}
    if not answer.found:
        said = {"probe.answer.error": answer.error} if answer.error else {}
        return values | said | {"probe.answer.closed": answer.closed}
    values["probe.answer.content_empty"] = answer.empty
    values["probe.answer.finish_reason"] = answer.finish_reason or "none"
    values["probe.answer.reasoning_field"] = answer.reasoning_field or "none"
    values["probe.answer.think_in_content"] = has_think_marks(answer.content)
    text = answer.content or answer.reasoning
    values["probe.answer.garbled"] = is_garbled(text)
    if not answer.empty:
        values["probe.answer.right"] = question.is_right(answer.content)
        values["probe.answer.text"] = " ".join(answer.content.split())[:_SHOWN]
    if answer.completion_tokens is not None:
        values["probe.answer.tokens"] = answer.completion_tokens
    # Where no content came, thinking took every token there was.
    thought = answer.completion_tokens if answer.empty and answer.reasoning else answer.reasoning_tokens
    if thought is not None:
        values["probe.answer.reasoning_tokens"] = thought
    return values


def _stream(client: Client, model: str, question: Question, whole: Answer, options: ProbeOptions) -> Values:
    body = chat_body(model, question.prompt, options.max_tokens, **_STREAMED)
    streamed = read_answer(client.stream(CHAT, body))
    difference = _difference(whole, streamed)
    values: Values = {"probe.stream_agrees": not difference}
    if difference:
        values["probe.stream_difference"] = difference
    return values | _pace(streamed)


def _pace(answer: Answer) -> Values:
    values: Values = {}
    if answer.first_seconds is not None:
        values["probe.ttft_seconds"] = round(answer.first_seconds, 3)
    if answer.decode_rate is not None:
        values["probe.tokens_per_second"] = round(answer.decode_rate, 1)
    return values


def _difference(whole: Answer, streamed: Answer) -> str:
    """Say in which respect a stream differs from the whole reply.

    Only the shape is compared. The same prompt may get other words: sums of rounded numbers depend on what else the
    batch holds and on what the prefix cache kept.
    """
    if not streamed.found:
        return f"streaming fails: {streamed.error or 'no event holds an answer'}"
    for name, one, other in (
        ("content", not whole.empty, not streamed.empty),
        ("the thinking field", bool(whole.reasoning), bool(streamed.reasoning)),
        ("a mark of thinking in content", has_think_marks(whole.content), has_think_marks(streamed.content)),
    ):
        if one is not other:
            return f"{name} comes only {'without' if one else 'with'} streaming"
    if whole.reasoning_field != streamed.reasoning_field:
        return f"thinking comes in {whole.reasoning_field}, when streaming in {streamed.reasoning_field}"
    if is_garbled(streamed.content) and not is_garbled(whole.content):
        return "the text is garbled only with streaming"
    return ""


def _completion(client: Client, model: str) -> Values:
    body = completion_body(model, CONTINUATION.prompt, CONTINUATION_TOKENS, **_STREAMED)
    answer = read_answer(client.stream(COMPLETIONS, body))
    values: Values = {"probe.completion.ok": answer.found, "probe.completion.status": answer.status}
    if answer.timed_out:
        values["probe.completion.timed_out"] = True
    if answer.found:
        values["probe.completion.empty"] = answer.empty
        values["probe.completion.garbled"] = is_garbled(answer.content)
        values["probe.completion.right"] = CONTINUATION.is_right(answer.content)
        values["probe.completion.text"] = " ".join(answer.content.split())[:_SHOWN]
    elif answer.error:
        values["probe.completion.error"] = answer.error
    return values | _pace(answer)


def _tool_call(client: Client, model: str, options: ProbeOptions) -> Values:
    body = chat_body(model, TOOL_QUESTION, options.max_tokens, tools=[TOOL], tool_choice="auto")
    answer = read_answer(client.post(CHAT, body))
    values: Values = {"probe.tool_call": _tool_word(answer)}
    if not answer.found and answer.error:
        values["probe.tool_call_error"] = answer.error
    if answer.tool_calls:
        values["probe.tool_call_stream"] = _tool_word(read_answer(client.stream(CHAT, {**body, **_STREAMED})))
    return values


def _tool_word(answer: Answer) -> str:
    """Say what became of a request with a tool."""
    if answer.found:
        if answer.tool_calls:
            return "called"
        if has_tool_marks(answer.content) or has_tool_marks(answer.reasoning):
            return "in content"
        return "cut off" if answer.finish_reason == "length" else "not called"
    return "not configured" if answer.status == 400 and "tool" in answer.error.lower() else "failed"
