"""The same words of vLLM have different causes; the boot's own numbers tell them apart."""

from __future__ import annotations

import pytest

from logdoctor.budget import budget_facts
from logdoctor.model import FactValue
from tests.budget.build import derived, facts

NO_BLOCKS: dict[str, FactValue] = {"kv_cache__none": True, "boot__failed": True}


# --- "No available memory for the cache blocks" -----------------------------------------------------------------------


def test_a_share_that_is_too_small_adds_up() -> None:
    said = derived(
        memory__total_gib=79.2, memory__utilization=0.3, weights__gib=20.0, kv_cache__memory_gib=-0.4, **NO_BLOCKS
    )
    assert said["cause"] == "utilization-too-low"
    assert said["adds_up"] is True
    assert said["suggest.gpu_memory_utilization"] == 0.95
    assert said["missing_gib"] == 0.4


def test_at_the_highest_share_the_weights_are_too_big() -> None:
    said = derived(
        memory__total_gib=23.64, memory__utilization=0.95, weights__gib=20.9, kv_cache__memory_gib=-0.5, **NO_BLOCKS
    )
    assert said["cause"] == "weights-too-big"
    assert "suggest.gpu_memory_utilization" not in said


def test_a_larger_share_that_would_not_help_means_weights_too_big() -> None:
    said = derived(
        memory__total_gib=23.64, memory__utilization=0.8, weights__gib=21.0, kv_cache__memory_gib=-5.6, **NO_BLOCKS
    )
    assert said["cause"] == "weights-too-big"


def test_negative_although_the_sum_is_positive_is_another_engine() -> None:
    said = derived(
        vllm__version="0.17.1",
        memory__total_gib=79.2,
        memory__utilization=0.45,
        weights__gib=15.0,
        kv_cache__memory_gib=-8.59,
        **NO_BLOCKS,
    )
    assert said["cause"] == "two-engines"
    assert said["adds_up"] is False
    assert "suggest.gpu_memory_utilization" not in said, "a larger share is no cure here"


def test_to_0_8_whoever_held_memory_was_charged() -> None:
    said = derived(
        vllm__version="0.8.5",
        memory__total_gib=79.2,
        memory__utilization=0.9,
        weights__gib=15.0,
        kv_cache__memory_gib=-3.0,
        **NO_BLOCKS,
    )
    assert said["cause"] == "neighbour"


def test_on_unified_memory_a_larger_share_is_never_advised() -> None:
    said = derived(
        gpu__name="NVIDIA GB10",
        memory__total_gib=121.69,
        memory__utilization=0.85,
        weights__gib=69.5,
        kv_cache__memory_gib=-2.0,
        **NO_BLOCKS,
    )
    assert said["cause"] == "unified-page-cache"
    assert float(str(said.get("suggest.gpu_memory_utilization", 0))) <= 0.8


def test_without_weights_only_a_low_share_speaks() -> None:
    assert derived(memory__utilization=0.2, **NO_BLOCKS)["cause"] == "utilization-too-low"
    assert "cause" not in derived(**NO_BLOCKS)


def test_a_measurement_that_was_disturbed() -> None:
    assert derived(memory__profiling_disturbed=True)["cause"] == "two-engines"


# --- "Free memory on device … less than desired" ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("free", "total", "gpu", "cause", "share"),
    [
        (38.77, 139.8, "NVIDIA H200", "neighbour", 0.27),
        (23.07, 23.64, "NVIDIA GeForce RTX 4090", "utilization-unreachable", 0.95),
        (101.52, 121.69, "NVIDIA GB10", "unified-page-cache", 0.8),
        (41.07, 121.69, "NVIDIA GB10", "neighbour", 0.33),
    ],
)
def test_too_little_is_free_at_the_start(free: float, total: float, gpu: str, cause: str, share: float) -> None:
    desired = 23.17 if cause == "utilization-unreachable" else total * 0.9
    said = derived(
        memory__free_gib=free,
        memory__total_gib=total,
        memory__desired_gib=desired,
        memory__utilization=0.98 if cause == "utilization-unreachable" else 0.9,
        gpu__name=gpu,
        boot__failed=True,
    )
    assert said["cause"] == cause
    assert said["suggest.gpu_memory_utilization"] == share
    assert share * total <= free, "what is asked for must be free"


def test_the_remark_after_a_good_start_is_no_refusal() -> None:
    said = derived(memory__free_gib=98.8, memory__total_gib=139.8, memory__desired_gib=69.9, memory__utilization=0.5)
    assert "cause" not in said


# --- "CUDA out of memory" ---------------------------------------------------------------------------------------------

OOM: dict[str, FactValue] = {
    "memory__total_gib": 23.64,
    "memory__allocation_gib": 1.25,
    "memory__free_at_failure_gib": 0.33,
    "memory__own_gib": 23.2,
    "boot__failed": True,
}


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        ({"boot__phase": "weights"}, "weights-too-big"),
        ({"boot__phase": "profiling", "weights__gib": 18.0}, "profile"),
        ({"boot__phase": "graph-capture", "weights__gib": 10.0, "kv_cache__tokens": 48128}, "after-kv-cache"),
        ({"boot__phase": "serving", "boot__ready": True, "kv_cache__tokens": 48128}, "serving"),
        ({"boot__phase": "weights", "memory__own_gib": 12.0, "memory__listed_gib": 11.0}, "neighbour"),
        ({"boot__phase": "weights", "memory__own_gib": 12.0}, "neighbour"),
        ({"boot__phase": "serving", "boot__ready": True, "memory__unallocated_gib": 4.3}, "fragmentation"),
        ({"boot__phase": "kv-cache", "args__kv_cache_memory_bytes": 160_000_000_000}, "kv-cache-by-hand"),
        ({"boot__phase": "graph-capture", "memory__warmup_sequences": 1024}, "too-many-sequences"),
    ],
)
def test_out_of_memory_by_phase_and_holder(more: dict[str, FactValue], cause: str) -> None:
    assert derived(**{**OOM, **more})["cause"] == cause


def test_the_only_process_listed_is_this_one() -> None:
    """A container that sees no process names prints `Process N has` for itself."""
    values = {**OOM, "memory__listed_gib": 23.2, "memory__allocated_gib": 22.1, "memory__unallocated_gib": 0.04}
    del values["memory__own_gib"]
    said = derived(**values, boot__phase="weights")
    assert said["cause"] == "weights-too-big"
    assert said["foreign_gib"] == 0.0


def test_an_out_of_memory_on_unified_memory_is_not_blamed_on_processes_it_cannot_list() -> None:
    said = derived(
        **{**OOM, "memory__total_gib": 121.69, "memory__own_gib": 80.0}, gpu__name="GB10", boot__phase="weights"
    )
    assert said["cause"] == "weights-too-big"


def test_after_the_kv_cache_the_share_goes_down_by_what_the_graphs_took() -> None:
    said = derived(
        **OOM,
        vllm__version="0.17.1",
        memory__utilization=0.95,
        weights__gib=10.0,
        kv_cache__tokens=48128,
        memory__graphs_gib=1.4,
        args__max_num_seqs=256,
    )
    assert said["suggest.gpu_memory_utilization"] == 0.86
    assert said["suggest.max_num_seqs"] == 128


def test_graphs_that_are_counted_are_not_taken_off_twice() -> None:
    said = derived(
        **OOM,
        vllm__version="0.26.0",
        memory__utilization=0.92,
        weights__gib=10.0,
        kv_cache__tokens=48128,
        memory__graphs_gib=1.4,
    )
    assert said["suggest.gpu_memory_utilization"] == 0.85


def test_the_trial_run_needs_fewer_tokens() -> None:
    said = derived(**OOM, boot__phase="profiling", weights__gib=18.0, scheduler__max_num_batched_tokens=8192)
    assert said["suggest.max_num_batched_tokens"] == 4096


def test_batched_tokens_stay_above_the_mamba_block() -> None:
    said = derived(
        **OOM,
        boot__phase="profiling",
        weights__gib=18.0,
        scheduler__max_num_batched_tokens=4096,
        kv_cache__block_size=2128,
    )
    assert "suggest.max_num_batched_tokens" not in said


# --- one request, sequences, weights ----------------------------------------------------------------------------------


def test_one_request_does_not_fit() -> None:
    said = derived(
        kv_cache__needed_gib=24.0,
        kv_cache__memory_gib=13.81,
        kv_cache__max_len=131072,
        kv_cache__estimated_max_len=75440,
        weights__gib=20.04,
        args__gpu_memory_utilization=0.25,
        boot__failed=True,
    )
    assert said["cause"] == "context-too-long"
    assert said["suggest.max_model_len"] == 74496
    assert said["missing_gib"] == 10.19
    # The card is not named. Weights and KV cache within a quarter of it: it has at least 135 GiB.
    assert said["suggest.gpu_memory_utilization"] == 0.33


def test_a_share_that_the_card_cannot_give_is_not_suggested() -> None:
    said = derived(
        kv_cache__needed_gib=24.0, kv_cache__memory_gib=13.81, memory__total_gib=39.4, memory__utilization=0.9
    )
    assert said["cause"] == "context-too-long"
    assert "suggest.gpu_memory_utilization" not in said


def test_without_an_estimate_a_plain_model_gets_one_in_proportion_and_a_hybrid_none() -> None:
    numbers: dict[str, FactValue] = {
        "kv_cache__needed_gib": 5.62,
        "kv_cache__memory_gib": 3.99,
        "kv_cache__max_len": 40960,
    }
    assert derived(**numbers)["suggest.max_model_len"] == 27392
    assert "suggest.max_model_len" not in derived(**numbers, model__hybrid=True)


def test_the_v0_engine_counts_in_tokens() -> None:
    said = derived(kv_cache__tokens=15120, kv_cache__max_len=32768, boot__failed=True)
    assert said["cause"] == "context-too-long"
    assert said["suggest.max_model_len"] == 14848


def test_a_hybrid_start_with_fewer_tokens_than_its_length_is_no_fault() -> None:
    said = derived(
        kv_cache__tokens=150_000,
        kv_cache__max_len=200_000,
        kv_cache__concurrency=2.1,
        model__hybrid=True,
        boot__failed=True,
    )
    assert "cause" not in said
    assert said["concurrency_agrees"] is True


def test_the_gb10_start_is_not_called_a_contradiction() -> None:
    said = derived(
        model__name="nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4",
        kv_cache__memory_gib=35.0,
        kv_cache__tokens=450_000,
        kv_cache__max_len=200_000,
        kv_cache__concurrency=7.48,
        kv_cache__dtype="fp8",
    )
    assert said["concurrency_agrees"] is True
    assert "bytes_per_token" not in said, "a token of a hybrid model has no fixed price"


def test_sequences_down_to_the_state_blocks() -> None:
    said = derived(mamba__blocks=412, args__max_num_seqs=1024, boot__failed=True)
    assert said["cause"] == "too-many-sequences"
    assert said["suggest.max_num_seqs"] == 412


def test_sequences_of_the_sampler_by_what_was_free() -> None:
    said = derived(memory__warmup_sequences=1024, memory__allocation_gib=1.0, memory__free_at_failure_gib=0.3)
    assert said["suggest.max_num_seqs"] == 256
    assert derived(memory__warmup_sequences=1024)["suggest.max_num_seqs"] == 512


def test_the_wrong_file_for_the_card() -> None:
    said = derived(
        model__name="acme/Super-120B-A12B-FP16",
        memory__total_gib=94.97,
        memory__allocation_gib=2.63,
        memory__free_at_failure_gib=1.81,
        memory__own_gib=93.15,
        boot__phase="weights",
        boot__failed=True,
    )
    assert said["cause"] == "weights-too-big"
    assert said["precisions"] == "16 bit 240 GB no; 8 bit 128 GB no; 4 bit 69.6 GB fits"
    assert said["suggest.precision"] == "4 bit"


def test_cards_for_weights_of_known_size() -> None:
    said = derived(
        weights__checkpoint_gib=223.5, memory__total_gib=94.97, memory__allocation_gib=2.6, boot__phase="weights"
    )
    assert said["suggest.tensor_parallel_size"] == 4


def test_the_containers_own_word_about_host_memory() -> None:
    assert derived(container__oom_killed=True)["cause"] == "host-memory"


# --- what is not claimed ----------------------------------------------------------------------------------------------


def test_a_healthy_start_has_no_cause_and_nothing_to_type() -> None:
    said = derived(
        memory__total_gib=139.8,
        memory__utilization=0.92,
        memory__free_gib=139.29,
        memory__desired_gib=128.62,
        weights__gib=0.25,
        memory__activation_gib=0.27,
        memory__non_torch_gib=0.22,
        kv_cache__memory_gib=127.88,
        kv_cache__tokens=16_761_392,
        kv_cache__max_len=4096,
        kv_cache__concurrency=4092.14,
        boot__ready=True,
    )
    assert said["adds_up"] is True
    assert not [key for key in said if key.startswith(("cause", "suggest"))]


def test_a_boot_without_numbers_says_nothing() -> None:
    assert budget_facts({}) == {}


def test_what_is_derived_says_so() -> None:
    found = budget_facts(facts(memory__profiling_disturbed=True))
    assert {fact.origin for fact in found.values()} == {"inferred"}


def test_a_cpu_has_no_share_of_a_card() -> None:
    said = derived(
        platform="cpu",
        memory__total_gib=62.0,
        kv_cache__needed_gib=5.0,
        kv_cache__memory_gib=4.0,
        kv_cache__max_len=32768,
    )
    assert said["cause"] == "context-too-long"
    assert "suggest.gpu_memory_utilization" not in said
    assert "limit_gib" not in said


@pytest.mark.parametrize(
    ("share", "kv", "version", "cause"),
    [
        (0.45, -6.2, "0.17.1", "below-zero"),
        (0.45, -0.6, "0.17.1", "utilization-too-low"),
        (0.8, -3.4, "0.22.0", None),
        (0.45, -20.0, "0.17.1", "two-engines"),
        (0.45, -6.2, "0.8.5", None),
        (0.95, 2.5, "0.17.1", "other-rank"),
        (0.95, -0.5, "0.17.1", "weights-too-big"),
    ],
)
def test_without_the_size_of_the_card(share: float, kv: float, version: str, cause: str | None) -> None:
    said = derived(
        vllm__version=version, memory__utilization=share, weights__gib=18.1, kv_cache__memory_gib=kv, **NO_BLOCKS
    )
    assert said.get("cause") == cause
    assert said["share"] == share
