"""What is measured of an answer, fault by fault."""

from __future__ import annotations

import json

import pytest

from logdoctor.model import FactValue
from logdoctor.probe import Level, ProbeOptions, probe
from logdoctor.probe.answer import read_answer
from logdoctor.probe.client import Reply
from logdoctor.probe.questions import QUESTIONS, has_think_marks, has_tool_marks, is_garbled
from tests.probe.standin import GARBAGE, Plan, StandIn


def measured(plan: Plan, **options: object) -> dict[str, FactValue]:
    """Probe a stand-in and return the values without the common beginning of their keys."""
    with StandIn(plan) as server:
        facts = probe(ProbeOptions(server.address, timeout=60, **options))  # type: ignore[arg-type]
    assert all(fact.origin == "probe" and fact.line == 0 for fact in facts.values())
    return {key.removeprefix("probe."): fact.value for key, fact in facts.items()}


def test_a_server_in_order() -> None:
    values = measured(Plan(thinking="17 and 25", thinking_tokens=60))
    assert values["answer.ok"] is True
    assert values["answer.right"] is True
    assert values["answer.content_empty"] is False
    assert values["answer.finish_reason"] == "stop"
    assert values["answer.reasoning_field"] == "reasoning"
    assert values["stream_agrees"] is True
    assert values["completion.right"] is True
    assert values["tool_call"] == values["tool_call_stream"] == "called"
    assert values["ttft_seconds"] > 0  # type: ignore[operator]
    assert values["tokens_per_second"] > 0  # type: ignore[operator]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (("reasoning",), "reasoning"),
        (("reasoning_content",), "reasoning_content"),
        (("reasoning", "reasoning_content"), "reasoning and reasoning_content"),
        ((), "none"),
    ],
)
def test_in_which_field_thinking_comes(fields: tuple[str, ...], found: str) -> None:
    values = measured(Plan(thinking="17 and 25", fields=fields))
    assert values["answer.reasoning_field"] == found
    assert values["answer.think_in_content"] is (not fields)
    assert values["answer.right"] is True
    assert values["stream_agrees"] is True


def test_thinking_that_eats_the_budget_is_measured_twice() -> None:
    values = measured(Plan(thinking="hm", thinking_tokens=700), max_tokens=512)
    assert values["answer.content_empty"] is True
    assert values["answer.finish_reason"] == "length"
    assert values["answer.reasoning_tokens"] == 512
    assert values["answer.tokens_needed"] == 702


def test_thinking_that_never_ends_has_no_number() -> None:
    values = measured(Plan(thinking="hm", thinking_tokens=10_000), max_tokens=64)
    assert values["answer.reasoning_tokens"] == 64
    assert "answer.tokens_needed" not in values


def test_an_answer_that_is_taken_for_thinking() -> None:
    values = measured(Plan(thinking="hm ", swallow=True))
    assert (values["answer.content_empty"], values["answer.finish_reason"]) == (True, "stop")
    assert values["answer.reasoning_field"] == "reasoning"


@pytest.mark.parametrize(
    ("content", "garbled", "right"),
    [("42", False, True), ("It is 42.", False, True), ("Paris", False, False), (GARBAGE, True, False)],
)
def test_an_answer_is_judged(content: str, garbled: bool, right: bool) -> None:
    values = measured(Plan(content=content))
    assert (values["answer.garbled"], values["answer.right"]) == (garbled, right)
    assert values["answer.text"] == content[:80]


@pytest.mark.parametrize(
    ("plan", "difference"),
    [
        (Plan(stream_loses="content"), "content comes only without streaming"),
        (Plan(thinking="hm", stream_loses="reasoning"), "the thinking field comes only without streaming"),
        (Plan(stream_error=True), "streaming fails: EngineDeadError"),
    ],
)
def test_streaming_that_differs(plan: Plan, difference: str) -> None:
    values = measured(plan)
    assert values["stream_agrees"] is False
    assert values["stream_difference"] == difference


@pytest.mark.parametrize(
    ("plan", "word"),
    [
        (Plan(), "called"),
        (Plan(tool="in content"), "in content"),
        (Plan(tool="ignored"), "not called"),
        (Plan(tool="off"), "not configured"),
        (Plan(tool="broken"), "failed"),
    ],
)
def test_what_becomes_of_a_tool_call(plan: Plan, word: str) -> None:
    assert measured(plan)["tool_call"] == word


def test_a_tool_call_that_only_streaming_misses() -> None:
    values = measured(Plan(tool_stream="in content"))
    assert (values["tool_call"], values["tool_call_stream"]) == ("called", "in content")


def test_no_tool_is_sent_where_none_is_wanted() -> None:
    with StandIn() as server:
        facts = probe(ProbeOptions(server.address, timeout=60, tools=False))
    assert "probe.tool_call" not in facts
    assert not any("tools" in body for body in server.bodies)


def test_a_base_model_is_asked_for_completions_only() -> None:
    values = measured(Plan(chat_template=False))
    assert values["answer.no_chat"] is True
    assert values["completion.ok"] is True
    assert values["wedged"] is False


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Plan(hang=True), {"answer.timed_out": True, "answer.status": 0, "health_after": 200, "died": False}),
        (Plan(chat_status=500), {"answer.status": 500, "answer.error": "EngineCore encountered an issue"}),
        (Plan(close=True), {"answer.status": 0, "answer.closed": True, "died": False}),
        (Plan(die=True), {"answer.closed": True, "health_after": 0, "died": True}),
        (Plan(body=b"<html>"), {"answer.status": 200, "answer.ok": False, "answer.closed": False}),
        (Plan(body=b'{"choices": "none"}'), {"answer.status": 200, "answer.ok": False}),
    ],
    ids=["hang", "500", "close", "die", "html", "no choices"],
)
def test_a_server_that_gives_no_answer(plan: Plan, expected: dict[str, object]) -> None:
    with StandIn(plan) as server:
        facts = probe(ProbeOptions(server.address, timeout=1 if plan.hang else 10))
    assert {key: facts[f"probe.{key}"].value for key in expected} == expected
    # What failed once is not asked over and over.
    assert len(server.bodies) == 1


def test_every_prompt_is_one_of_the_probes_own() -> None:
    with StandIn() as server:
        probe(ProbeOptions(server.address, level=Level.LOAD, timeout=5))
    own = {question.prompt for question in QUESTIONS}
    chats = [body["messages"][0]["content"] for body in server.bodies if "messages" in body and "tools" not in body]
    assert set(chats) == own
    assert len(server.bodies) <= 48
    assert all(body["max_tokens"] <= 512 and body["temperature"] == 0 for body in server.bodies)


@pytest.mark.parametrize(
    "whole",
    [
        {},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{}], "usage": []},
        {"choices": [{"message": None, "finish_reason": 3}], "usage": {"completion_tokens": "many"}},
        {"choices": [{"message": {"content": ["42"], "reasoning": 1, "tool_calls": {}}}]},
        {"error": None},
        {"error": {"message": 1, "code": "x"}},
        [],
        "42",
    ],
)
def test_a_reply_of_any_shape_is_read(whole: object) -> None:
    answer = read_answer(Reply(status=200, body=json.dumps(whole).encode()))
    assert answer.content == ""
    assert answer.completion_tokens is None


def test_thinking_marks() -> None:
    assert all(map(has_think_marks, ["<think>a", "a</think>b", "[THINK]", "<|channel|>analysis"]))
    assert not any(map(has_think_marks, ["I think <b>", "thinking", "42"]))


def test_tool_marks() -> None:
    assert all(
        map(
            has_tool_marks, ["<tool_call>", "<function=get_weather>", '{"name": "get_weather"}', "get_weather('Paris')"]
        )
    )
    assert not any(map(has_tool_marks, ["the weather", "a tool call", '{"name": "Paris"}']))


@pytest.mark.parametrize(
    "text", [GARBAGE, "\ufffd\ufffd \ufffdab\ufffd", "abc" * 30, "\x00\x01\x02ab", "the the " * 40]
)
def test_garbage(text: str) -> None:
    assert is_garbled(text)


@pytest.mark.parametrize(
    "text",
    ["", "42", "It is 42.", "a\n\nb\tc", "caf\ufffd", "----------------------- a table with a long rule above it"],
)
def test_no_garbage(text: str) -> None:
    assert not is_garbled(text)


@pytest.mark.parametrize("text", ["42", "**42**", "17 + 25 = 42.", "\\boxed{42}", "forty-two"])
def test_right_answers(text: str) -> None:
    assert QUESTIONS[0].is_right(text)


@pytest.mark.parametrize("text", ["", "142", "421", "42.5", "4 2", "1,42"])
def test_wrong_answers(text: str) -> None:
    assert not QUESTIONS[0].is_right(text)
