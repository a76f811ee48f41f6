"""What the status pages tell, and whether an engine moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.probe import Level, ProbeError, ProbeOptions, probe
from logdoctor.probe.health import parse_metrics
from tests.probe.standin import Plan, StandIn
from tests.probe.test_answers import measured


def health(plan: Plan, **options: object) -> dict[str, object]:
    """Probe at the lowest level."""
    return dict(measured(plan, level=Level.HEALTH, patience=0.3, **options))


def test_a_server_in_order() -> None:
    values = health(Plan())
    assert values["reachable"] is True
    assert values["health_status"] == 200
    assert values["version"] == "0.17.1"
    assert values["models"] == ("tiny",)
    assert values["served_name"] == "tiny"
    assert values["root"] == "/models/tiny"
    assert values["max_model_len"] == 2048
    assert values["metrics.running"] == values["metrics.waiting"] == 0
    assert values["metrics.kv_usage"] == 0.25
    assert values["metrics.preemptions"] == 3
    assert values["wedged"] is False


def test_nothing_is_generated_at_this_level() -> None:
    with StandIn() as server:
        probe(ProbeOptions(server.address, level=Level.HEALTH))
    assert {method for method, _ in server.requests} == {"GET"}


def test_nobody_there() -> None:
    with StandIn() as server:
        address = server.address
    facts = probe(ProbeOptions(address))
    assert facts["probe.reachable"].value is False
    assert facts["probe.unreachable_reason"].value == "connection refused"
    assert "probe.answer.ok" not in facts


def test_a_dead_engine_is_asked_nothing() -> None:
    with StandIn(Plan(health=503)) as server:
        facts = probe(ProbeOptions(server.address))
    assert facts["probe.health_status"].value == 503
    assert server.bodies == []


def test_a_redirect_is_told_and_not_followed() -> None:
    values = health(Plan(redirect="https://elsewhere.example/health"))
    assert values["redirect"] == "https://elsewhere.example/health"
    assert "models_status" not in values


def test_another_program() -> None:
    values = health(Plan(models=False))
    assert (values["models_status"], values["api_missing"]) == (404, True)


@pytest.mark.parametrize(("sent", "key_sent"), [("", False), ("sk-wrong-key", True)])
def test_a_key_that_is_missing_or_wrong(sent: str, key_sent: bool) -> None:
    values = dict(measured(Plan(key="sk-right-key"), key=sent))
    assert (values["unauthorized"], values["key_sent"]) == (True, key_sent)
    assert "answer.ok" not in values


def test_the_right_key() -> None:
    assert measured(Plan(key="sk-right-key"), key="sk-right-key")["answer.ok"] is True


def test_a_model_that_is_not_served() -> None:
    values = measured(Plan(served=("tiny", "other")), model="nemotron")
    assert (values["model_unknown"], values["served_name"]) == (True, "tiny")
    assert "answer.ok" not in values


def test_the_model_asked_for_is_asked() -> None:
    with StandIn(Plan(served=("tiny", "other"))) as server:
        facts = probe(ProbeOptions(server.address, model="other"))
    assert facts["probe.served_name"].value == "other"
    assert {body["model"] for body in server.bodies} == {"other"}


def test_requests_wait_and_nothing_moves() -> None:
    values = health(Plan(metrics=((0, 3, 100),)))
    assert values["wedged"] is True
    assert (values["wedged_running"], values["wedged_waiting"]) == (0, 3)


def test_busy_and_moving() -> None:
    values = health(Plan(metrics=((2, 3, 100), (2, 3, 100), (2, 3, 140))))
    assert values["wedged"] is False
    assert values["metrics.tokens_per_second"] > 0  # type: ignore[operator]


def test_the_queue_that_empties_is_no_wedge() -> None:
    assert health(Plan(metrics=((0, 1, 100), (0, 0, 100))))["wedged"] is False


def test_an_answer_outweighs_counters_that_stand_still() -> None:
    assert measured(Plan(metrics=((1, 0, 100),)), patience=0.2)["wedged"] is False


def test_no_metrics_say_nothing_of_a_wedge() -> None:
    assert "wedged" not in health(Plan(models=False))


def test_metrics_of_old_versions_and_of_several_engines() -> None:
    text = """\
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a"} 1.0
vllm:num_requests_running{engine="1",model_name="a"} 0.0
vllm:num_requests_waiting{engine="1",model_name="a"} 4.0
vllm:gpu_cache_usage_perc{engine="1",model_name="a"} 0.5
vllm:generation_tokens_total{engine="0",model_name="a"} 1e+03
vllm:request_success_total{engine="0",finished_reason="stop"} 3.0
vllm:request_success_total{engine="0",finished_reason="length"} 2.0
python_gc_objects_collected_total{generation="0"} 17.0
"""
    engines = parse_metrics(text)
    assert set(engines) == {"0", "1"}
    assert engines["0"].tokens == 1000
    assert engines["0"].progress == 1005
    assert (engines["1"].running, engines["1"].waiting, engines["1"].kv_usage) == (0, 4, 0.5)


@given(st.text(max_size=300))
def test_any_text_is_read_as_metrics(text: str) -> None:
    parse_metrics(f"vllm:num_requests_running{{{text}}} {text}\nvllm:{text}")


def test_metrics_that_are_no_numbers_are_left_out() -> None:
    assert parse_metrics("vllm:num_requests_running NaN\nvllm:num_requests_waiting 1e999") == {}


@pytest.mark.parametrize(
    "wrong", [{"timeout": 0}, {"timeout": float("nan")}, {"max_tokens": 0}, {"key": "a\nb"}, {"key": "schlüssel"}]
)
def test_options_out_of_bounds_are_refused(wrong: dict[str, object]) -> None:
    with StandIn() as server, pytest.raises(ProbeError) as caught:
        ProbeOptions(server.address, **wrong)  # type: ignore[arg-type]
    assert "schlüssel" not in str(caught.value)
