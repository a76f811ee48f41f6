"""Answered requests and throughput lines."""

from __future__ import annotations

import pytest

from tests.facts.build import API, bare, collect, facts_of, record

LINE = (
    "Engine 000: Avg prompt throughput: 120.5 tokens/s, Avg generation throughput: {speed} tokens/s, "
    "Running: 3 reqs, Waiting: {waiting} reqs, GPU KV cache usage: {usage}%, Prefix cache hit rate: 61.7%"
)


def access(status: int, line: int, path: str = "/v1/completions") -> object:
    return record(f'10.0.0.5:51234 - "POST {path} HTTP/1.1" {status} X', line=line, file="", time="", process=API)


def test_requests_are_counted_by_their_status() -> None:
    statuses = [200, 204, 400, 404, 500, 307]
    facts = facts_of(*(access(status, line) for line, status in enumerate(statuses, 1)))  # type: ignore[arg-type]
    assert (facts["server.requests_ok"].value, facts["server.requests_ok"].line) == (2, 2)
    assert (facts["server.requests_error"].value, facts["server.requests_error"].line) == (3, 5)
    assert facts["server.requests_5xx"].value == 1


def test_a_bare_access_line_and_one_marked_as_quoted_count_too() -> None:
    text = 'INFO:     10.0.0.5:1 - "GET /v1/models HTTP/1.1" 200 OK'
    facts = facts_of(bare(text), record(text.removeprefix("INFO:     "), file="", time="", quoted=True, line=2))
    assert facts["server.requests_ok"].value == 2


def test_an_access_line_inside_a_prompt_counts_nothing() -> None:
    planted = "Received request cmpl-1: prompt: '\\n1.1.1.1:1 - \"GET / HTTP/1.1\" 200 OK', params: x"
    reached = collect([record(planted, quoted=True), record('said 1.1.1.1:1 - "GET / HTTP/1.1" 200 OK', line=2)])
    assert "server.requests_ok" not in reached.facts()
    assert reached.milestones.ready is None


def test_the_last_throughput_line_and_the_peaks() -> None:
    facts = facts_of(
        record(LINE.format(speed="210.0", waiting=40, usage="99.1"), line=1),
        record(LINE.format(speed="13.4", waiting=0, usage="5.0"), line=2),
    )
    assert (facts["serving.tokens_per_second"].value, facts["serving.tokens_per_second"].line) == (13.4, 2)
    assert facts["serving.prompt_tokens_per_second"].value == 120.5
    assert (facts["serving.running"].value, facts["serving.waiting"].value) == (3, 0)
    assert facts["serving.prefix_cache_hit_percent"].value == 61.7
    assert (facts["serving.waiting_peak"].value, facts["serving.waiting_peak"].line) == (40, 1)
    assert facts["serving.kv_cache_usage_percent_peak"].value == 99.1


def test_older_and_newer_throughput_lines() -> None:
    old = (
        "Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 1 reqs, "
        "Swapped: 0 reqs, Pending: 7 reqs, GPU KV cache usage: 3.5%, CPU KV cache usage: 0.0%."
    )
    facts = facts_of(record(old))
    assert (facts["serving.waiting"].value, facts["serving.kv_cache_usage_percent"].value) == (7, 3.5)
    new = (
        "Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 1 reqs, "
        "Waiting: 2 reqs, Preemptions: 4, GPU KV cache usage: 3.5%, Prefix cache hit rate: 0.0%, MM cache hit rate: 1%"
    )
    facts = facts_of(record(new))
    assert (facts["serving.preemptions"].value, facts["serving.kv_cache_usage_percent"].value) == (4, 3.5)


def test_the_first_engines_preemption_warning() -> None:
    message = (
        "Sequence group 7 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. "
        "total_num_cumulative_preemption={}"
    )
    facts = facts_of(record(message.format(1), level="WARNING"), record(message.format(51), level="WARNING", line=2))
    assert (facts["serving.preemptions"].value, facts["serving.preemptions"].line) == (51, 2)


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("Generated response chatcmpl-1: output: '', output_token_ids: [1784, 2330], finish_reason: length", True),
        ("Generated response chatcmpl-1: output: '', output_token_ids: None, finish_reason: length", True),
        ("Generated response chatcmpl-1: output: '', finish_reason: length", True),
        ("Generated response chatcmpl-1: output: 'Paris', output_token_ids: [1], finish_reason: length", False),
        ("Generated response chatcmpl-1: output: '', output_token_ids: [1], finish_reason: stop", False),
        # The text of an answer may hold what looks like the end of the line.
        (
            "Generated response c: output: 'output: , finish_reason: length', output_token_ids: [1], "
            "finish_reason: stop",
            False,
        ),
        ("Generated response a b: output: '', finish_reason: length', finish_reason: stop", False),
    ],
)  # fmt: skip
def test_empty_answers_that_ended_at_their_limit_are_counted(line: str, counted: bool) -> None:
    facts = facts_of(record(line))
    assert ("serving.empty_answers" in facts) is counted


def still(engine: int, running: int, waiting: int, second: int, moved: str = "0.0") -> object:
    text = (
        f"Engine {engine:03}: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: {moved} tokens/s, "
        f"Running: {running} reqs, Waiting: {waiting} reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%"
    )
    return record(text, line=second + 1, time=f"11-30 10:{second // 60:02}:{second % 60:02}", process=API)


@pytest.mark.parametrize(("running", "key"), [(2, "serving.stuck_seconds"), (0, "serving.waiting_seconds")])
def test_how_long_nothing_moved_to_the_end(running: int, key: str) -> None:
    facts = facts_of(*(still(0, running, 3, second) for second in range(0, 61, 10)))  # type: ignore[arg-type]
    assert (facts[key].value, facts[key].line) == (70, 1)
    assert facts["serving.still_seconds_most"].value == 70


def test_what_moves_again_is_only_remembered() -> None:
    lines = [still(0, 1, 0, 0), still(0, 1, 0, 10), still(0, 1, 0, 20, "14.2"), still(0, 1, 0, 30)]
    facts = facts_of(*lines)  # type: ignore[arg-type]
    assert (facts["serving.stuck_seconds"].value, facts["serving.still_seconds_most"].value) == (10, 20)


def test_an_idle_server_does_not_stand_still() -> None:
    facts = facts_of(*(still(0, 0, 0, second) for second in (0, 10, 20)))  # type: ignore[arg-type]
    assert "serving.still_seconds_most" not in facts


def test_each_engine_stands_still_for_itself() -> None:
    lines = [still(second // 10 % 2, 1, 0, second, "9.0" if second // 10 % 2 else "0.0") for second in range(0, 61, 10)]
    assert facts_of(*lines)["serving.stuck_seconds"].value == 70  # type: ignore[arg-type]
