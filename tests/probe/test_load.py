"""The level `load`, and the long prompt."""

from __future__ import annotations

import pytest

from logdoctor.model import FactValue
from logdoctor.probe import Level, ProbeOptions, probe
from logdoctor.probe.load import ROUNDS
from tests.probe.standin import GARBAGE, Plan, StandIn
from tests.probe.test_answers import measured

REQUESTS = sum(count for _, count in ROUNDS)


def load(plan: Plan) -> dict[str, FactValue]:
    """Probe at the highest level and keep what concerns it."""
    values = measured(plan, level=Level.LOAD)
    return {key.removeprefix("load."): value for key, value in values.items() if key.startswith("load.")}


def test_a_server_in_order() -> None:
    values = load(Plan())
    assert values["requests"] == REQUESTS
    assert {key: values[key] for key in ("failed", "empty", "garbled", "wrong", "differs", "damaged")} == dict.fromkeys(
        ("failed", "empty", "garbled", "wrong", "differs", "damaged"), 0
    )
    assert values["steady"] is values["baseline_right"] is True
    assert "at" not in values


@pytest.mark.parametrize("fault", ["garbled", "empty", "wrong", "differs"])
def test_answers_that_suffer_under_load(fault: str) -> None:
    values = load(Plan(load=fault))
    assert values[fault] > 0  # type: ignore[operator]
    assert values["damaged"] == (0 if fault == "differs" else values[fault])
    assert values["at"] == 4
    others = {"garbled", "empty", "wrong", "differs"} - {fault}
    assert all(values[other] == 0 for other in others)


def test_from_which_concurrency_on() -> None:
    assert load(Plan(load="wrong", load_from=7))["at"] == 16


def test_requests_that_fail_under_load() -> None:
    values = load(Plan(load="failed"))
    assert 0 < values["failed"] <= REQUESTS  # type: ignore[operator]
    assert values["damaged"] == 0


def test_what_was_wrong_alone_is_not_called_damaged_by_load() -> None:
    values = load(Plan(content=GARBAGE))
    assert values["damaged"] == values["differs"] == 0
    assert values["baseline_right"] is False


def test_a_base_model_counts_on() -> None:
    values = load(Plan(chat_template=False))
    assert (values["requests"], values["damaged"], values["baseline_right"]) == (REQUESTS, 0, True)


def test_a_prompt_just_under_the_context_length() -> None:
    with StandIn(Plan(max_model_len=3000)) as server:
        facts = probe(ProbeOptions(server.address, context=True, timeout=5))
    assert facts["probe.context.ok"].value is True
    assert 2900 < facts["probe.context.tokens"].value <= 3000  # type: ignore[operator]


def test_a_prompt_that_the_kv_cache_does_not_hold() -> None:
    with StandIn(Plan(max_model_len=3000, kv_tokens=1000)) as server:
        facts = probe(ProbeOptions(server.address, level=Level.HEALTH, context=True, timeout=0.8))
    assert facts["probe.context.timed_out"].value is True
    assert (facts["probe.context.running"].value, facts["probe.context.waiting"].value) == (0, 1)


def test_no_long_prompt_unless_asked_for() -> None:
    with StandIn() as server:
        probe(ProbeOptions(server.address, level=Level.LOAD, timeout=5))
    assert max(len(body.get("prompt", "")) for body in server.bodies) < 100
