"""The numbers of the memory budget and of the KV cache."""

from __future__ import annotations

import pytest

from tests.facts.build import WORKER, facts_of, record, said


@pytest.mark.parametrize("device", ["", " cuda:0"])
def test_too_little_free_memory(device: str) -> None:
    message = (
        f"ValueError: Free memory on device{device} (38.77/121.69 GiB) on startup is less than desired GPU memory "
        "utilization (0.92, 111.95 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
    )
    facts = said(message, level="ERROR")
    assert facts["memory.free_gib"] == 38.77
    assert facts["memory.total_gib"] == 121.69
    assert facts["memory.utilization"] == 0.92
    assert facts["memory.desired_gib"] == 111.95


def test_the_remark_after_a_good_start() -> None:
    facts = said(
        "Free memory on device (139.29/139.8 GiB) on startup. Desired GPU memory utilization is (0.92, 128.62 GiB). "
        "Actual usage is 0.25 GiB for weight, 0.27 GiB for peak activation, 0.22 GiB for non-torch memory, and "
        "-0.45 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with `--kv-cache-memory=136908814951` "
        "(127.51 GiB) to fit into requested memory. Current kv cache memory in use is 127.88 GiB."
    )
    assert facts == {
        "memory.free_gib": 139.29,
        "memory.total_gib": 139.8,
        "memory.utilization": 0.92,
        "memory.desired_gib": 128.62,
        "memory.weights_gib": 0.25,
        "memory.activation_gib": 0.27,
        "memory.non_torch_gib": 0.22,
        "memory.graphs_gib": -0.45,
        "kv_cache.memory_gib": 127.88,
        "gpu.memory_gib": 139.8,
    }


def test_the_profile_of_the_first_engine() -> None:
    facts = said(
        "Memory profiling takes 1.73 seconds\n"
        "the current vLLM instance can use total_gpu_memory (47.50GiB) x gpu_memory_utilization (0.78) = 37.18GiB\n"
        "model weights take 0.52GiB; non_torch_memory takes 0.08GiB; PyTorch activation peak memory takes 1.78GiB; "
        "the rest of the memory reserved for KV Cache is 34.80GiB."
    )
    assert facts["memory.total_gib"] == 47.5
    assert facts["memory.desired_gib"] == 37.18
    assert facts["memory.weights_gib"] == 0.52
    assert facts["memory.activation_gib"] == 1.78
    assert facts["kv_cache.memory_gib"] == 34.8


def test_out_of_memory_names_the_capacity_below_better_sources() -> None:
    oom = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of "
        "121.69 GiB of which 3.12 GiB is free."
    )
    facts = said(oom, level="ERROR")
    assert facts["memory.total_gib"] == 121.69
    assert facts["memory.allocation_gib"] == 0.5
    assert facts["memory.free_at_failure_gib"] == 3.12
    better = "Free memory on device (100.0/121.7 GiB) on startup. Desired GPU memory utilization is (0.9, 109.5 GiB)."
    assert facts_of(record(oom), record(better))["memory.total_gib"].value == 121.7


@pytest.mark.parametrize(
    "message",
    [
        "GPU KV cache size: 16,761,392 tokens, Maximum concurrency for 4,096 tokens per request: 4092.14x",
        "GPU KV cache size: 16,761,392 tokens\nMaximum concurrency for 4,096 tokens per request: 4092.14x",
        "GPU + host KV cache size: 16,761,392 tokens, Maximum concurrency for 4096 tokens per request: 4092.14x",
        "CPU KV cache size: 16,761,392 tokens, Maximum concurrency for 4096 tokens per request: 4092.14x",
    ],
)
def test_size_and_concurrency_in_every_wording(message: str) -> None:
    assert said(message) == {
        "kv_cache.tokens": 16_761_392,
        "kv_cache.max_len": 4096,
        "kv_cache.concurrency": 4092.14,
    }


@pytest.mark.parametrize(
    "message",
    [
        "Multiplying the GPU KV cache size by the dcp_world_size 2.",
        "Multiplying the GPU KV cache size by the cp_world_size 4 (pcp_world_size 2 * dcp_world_size 2).",
    ],
)
def test_a_multiplied_size_is_no_size(message: str) -> None:
    assert said(message) == {}


def test_the_poorest_worker_decides_the_cache() -> None:
    facts = facts_of(
        record("Available KV cache memory: 20.50 GiB", line=1),
        record("Available KV cache memory: 18.25 GiB", line=2, process=WORKER),
        record("Available KV cache memory: 19.00 GiB", line=3),
    )
    memory = facts["kv_cache.memory_gib"]
    assert (memory.value, memory.line, memory.process) == (18.25, 2, WORKER.name)


def test_negative_cache_memory() -> None:
    assert said("Available KV cache memory: -8.59 GiB")["kv_cache.memory_gib"] == -8.59


def test_too_little_for_one_request() -> None:
    facts = said(
        "ValueError: To serve at least one request with the models's max seq len (131072), (24.0 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (13.81 GiB). Based on the available memory, the "
        "estimated maximum model length is 75440. Try increasing `gpu_memory_utilization`",
        level="ERROR",
    )
    assert facts == {
        "kv_cache.max_len": 131072,
        "kv_cache.needed_gib": 24.0,
        "kv_cache.memory_gib": 13.81,
        "kv_cache.estimated_max_len": 75440,
    }


def test_other_cache_lines() -> None:
    assert said("# cuda blocks: 28113, # CPU blocks: 2048")["kv_cache.blocks"] == 28113
    assert said("# GPU blocks: 0, # CPU blocks: 512")["kv_cache.blocks"] == 0
    assert said("Explicitly set (1.0/23.54) GiB for KV cache on node 0.")["kv_cache.memory_gib"] == 1.0
    assert said("Using fp8_e4m3 data type to store kv cache. It reduces the GPU memory")["kv_cache.dtype"] == "fp8_e4m3"
    reserved = "Initial free memory 139.29 GiB, reserved 1.86 GiB memory for KV Cache as specified by kv_cache_memory"
    assert said(reserved) == {"memory.free_gib": 139.29, "kv_cache.memory_gib": 1.86}


OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 0 has a total capacity of 23.64 GiB "
    "of which 340.00 MiB is free. Process 11234 has 6.12 GiB memory in use. Process 999 has 4.00 GiB memory in use. "
    "Including non-PyTorch memory, this process has 13.10 GiB memory in use. Of the allocated memory 12.10 GiB is "
    "allocated by PyTorch, with 24.00 MiB allocated in private pools (e.g., CUDA Graphs), and 512.00 MiB is reserved "
    "by PyTorch but unallocated."
)


def test_every_number_of_an_out_of_memory_text() -> None:
    facts = said(OOM, level="ERROR")
    assert facts["memory.total_gib"] == 23.64
    assert facts["memory.free_at_failure_gib"] == pytest.approx(0.332, abs=0.001)
    assert facts["memory.allocation_gib"] == 1.25
    assert facts["memory.listed_gib"] == 10.12
    assert facts["memory.own_gib"] == 13.1
    assert facts["memory.allocated_gib"] == 12.1
    assert facts["memory.unallocated_gib"] == 0.5


def test_an_out_of_memory_text_of_pytorch_2_1_with_nothing_free() -> None:
    facts = said(
        "CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacty of 15.77 GiB of which 0 bytes is "
        "free. Process 3281 has 15.60 GiB memory in use. Of the allocated memory 15.01 GiB is allocated by PyTorch, "
        "and 0 bytes is reserved by PyTorch but unallocated.",
        level="ERROR",
    )
    assert facts["memory.free_at_failure_gib"] == 0.0
    assert facts["memory.unallocated_gib"] == 0.0
    assert facts["memory.listed_gib"] == 15.6
    assert "memory.own_gib" not in facts


@pytest.mark.parametrize(
    ("message", "key", "value"),
    [
        ("ValueError: No available memory for the cache blocks. Try increasing", "kv_cache.none", True),
        ("No available memory for the cache blocks.", "kv_cache.none", True),
        (
            "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be "
            "stored in KV cache (15120).",
            "kv_cache.tokens",
            15120,
        ),
        ("max_num_seqs (1024) exceeds available Mamba cache blocks (412). Each decode", "mamba.blocks", 412),
        ("Capping cudagraph capture sizes from max 512 to 412 to fit Mamba cache blocks", "mamba.blocks", 412),
        (
            "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please",
            "memory.warmup_sequences",
            1024,
        ),
        ("AssertionError: Error in memory profiling. Initial free memory 20.1 GiB", "memory.profiling_disturbed", True),
        (
            "Encoder cache will be initialized with a budget of 16384 tokens, and profiled with 1 image items",
            "model.multimodal",
            True,
        ),
    ],
)
def test_how_memory_fell_short(message: str, key: str, value: object) -> None:
    assert said(message, level="ERROR")[key] == value
