"""The remedies of an entry, chosen and worded for a boot."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from logdoctor.database.schema import RemedySpec
from logdoctor.diagnosis.remedies import choose
from logdoctor.model import Fact, FactValue

from .build import shipped

ENTRY = next(one for one in shipped().signatures if one.id == "env-nvfp4-moe-backend")
SPECULATIVE = next(one for one in shipped().signatures if one.id == "spec-tokens-missing")
PARTS = (
    RemedySpec("Set it", "flag", "--max-num-seqs 4", vllm=">=0.20"),
    RemedySpec("Take the old one out", "remove", "--old", with_previous=True),
    RemedySpec("Or wait"),
)


@pytest.mark.parametrize(("version", "told"), [("0.24.0", [False, True, False]), ("0.10.0", [False, False])])
def test_a_part_whose_fellow_does_not_hold_is_a_way_of_its_own(version: str, told: list[bool]) -> None:
    facts = {"vllm.version": Fact("vllm.version", version)}
    chosen = choose(ENTRY._replace(remedies=PARTS), {}, facts)
    assert [remedy.with_previous for remedy in chosen] == told


def test_a_dead_variable_goes_and_a_flag_takes_its_place() -> None:
    chosen = choose(ENTRY, {}, {"vllm.version": Fact("vllm.version", "0.24.0")})
    assert [(remedy.kind, remedy.with_previous) for remedy in chosen][:2] == [("remove", False), ("flag", True)]


def known(**values: FactValue) -> dict[str, Fact]:
    return {key.replace("__", "."): Fact(key.replace("__", "."), value, 1) for key, value in values.items()}


@pytest.mark.parametrize(
    ("share", "values", "offered"),
    [
        (0.09, {"model__name": "Qwen/Qwen3-8B", "memory__total_gib": 79.1}, False),
        (0.38, {"model__name": "Qwen/Qwen3-8B", "memory__total_gib": 79.1}, True),
        (0.12, {"model__name": "acme/x", "memory__total_gib": 79.1, "memory__weights_gib": 15.2}, False),
        (0.38, {"model__name": "acme/x", "memory__total_gib": 79.1, "memory__weights_gib": 15.2}, True),
        (0.09, {"model__name": "acme/x", "memory__total_gib": 79.1}, True),
        (0.09, {"model__name": "Qwen/Qwen3-8B-AWQ", "memory__total_gib": 79.1}, True),
        (0.09, {"model__name": "Qwen/Qwen3-8B"}, True),
        (0.09, {"model__name": "Qwen/Qwen3-8B", "memory__total_gib": 79.1, "args__cpu_offload_gb": 12}, True),
    ],
)
def test_no_share_is_offered_that_the_weights_exceed(
    share: float, values: Mapping[str, FactValue], offered: bool
) -> None:
    spec = RemedySpec("Ask for less", "flag", f"--gpu-memory-utilization {share}")
    assert bool(choose(ENTRY._replace(remedies=(spec,)), {}, known(**values))) is offered


def test_a_mapping_keeps_what_was_given() -> None:
    facts = known(args=True, args__speculative_config='{"method": "eagle3", "model": "a/b"}')
    (remedy,) = choose(SPECULATIVE, {}, facts)
    wanted = '{"method": "eagle3", "model": "a/b", "num_speculative_tokens": 1}'
    assert remedy.command == f"--speculative-config '{wanted}'"
    (remedy,) = choose(SPECULATIVE, {}, {})
    assert remedy.command == "--speculative-config '{\"num_speculative_tokens\": 1}'"
