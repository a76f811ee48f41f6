"""An Ollama beside the server is asked what it has loaded, and told nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logdoctor.probe import Address, Level, ProbeOptions, probe
from tests.probe.standin import Plan, StandIn

MODELS = (
    {"name": "small:1b", "size": 2**30, "size_vram": 2**30, "expires_at": "2026-11-30T12:00:00.5Z"},
    {"name": "llama3.3:70b", "size": 42 * 2**30, "size_vram": 40 * 2**30, "expires_at": "2026-11-30T12:04:10.1Z"},
)


def ollama(plan: Plan) -> tuple[dict[str, object], StandIn]:
    """Probe a server with an Ollama beside it."""
    with StandIn() as server, StandIn(plan) as neighbour:
        options = ProbeOptions(server.address, level=Level.HEALTH, ollama=neighbour.address)
        facts = probe(options)
    prefix = "probe.ollama."
    return {key.removeprefix(prefix): fact.value for key, fact in facts.items() if key.startswith(prefix)}, neighbour


def test_loaded_models_are_listed_the_largest_first() -> None:
    values, neighbour = ollama(Plan(ollama=MODELS))
    assert values["count"] == 2
    assert values["memory_gib"] == 43.0
    assert values["models"] == (
        "llama3.3:70b 42.0 GiB until 2026-11-30 12:04:10",
        "small:1b 1.0 GiB until 2026-11-30 12:00:00",
    )
    assert (values["model_1"], values["model_2"]) == ("llama3.3:70b", "small:1b")
    assert neighbour.requests == [("GET", "/api/ps")]


def test_nothing_loaded() -> None:
    values, _ = ollama(Plan(ollama=()))
    assert (values["reachable"], values["count"], values["memory_gib"]) == (True, 0, 0.0)


@pytest.mark.parametrize("plan", [Plan(), Plan(ollama=({"name": None}, {"size": 3}))], ids=["no ollama", "nonsense"])
def test_what_is_no_ollama_counts_for_nothing(plan: Plan) -> None:
    values, _ = ollama(plan)
    assert values.get("count", 0) == 0


def test_a_neighbour_that_is_not_there() -> None:
    with StandIn() as server:
        options = ProbeOptions(server.address, level=Level.HEALTH, ollama=Address("http", "127.0.0.1", 1))
        facts = probe(options)
        assert probe(replace(options, ollama=None)).keys().isdisjoint({"probe.ollama.reachable"})
    assert facts["probe.ollama.reachable"].value is False
    assert facts["probe.reachable"].value is True


def test_the_key_of_the_server_is_not_shown_to_the_neighbour() -> None:
    with StandIn() as server, StandIn(Plan(ollama=MODELS)) as neighbour:
        probe(ProbeOptions(server.address, level=Level.HEALTH, key="sk-made-up-key", ollama=neighbour.address))
    assert "Authorization" not in neighbour.headers[0]
