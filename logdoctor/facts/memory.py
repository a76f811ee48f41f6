"""Fact patterns about memory: the device, the budget, and the KV cache."""

from __future__ import annotations

import re

from logdoctor.facts.pattern import FactPattern, Policy, gib, integer, number, text, true
from logdoctor.model import FactValue

_N = r"-?[\d.]{1,24}"

PATTERNS: tuple[FactPattern, ...] = (
    # Both the refusal ("is less than desired") and the remark after a start ("Desired … is") hold the same numbers.
    FactPattern(
        "Free memory on device",
        rf"Free memory on device(?: \S{{1,20}})? \((?P<free>{_N})/(?P<total>{_N}) GiB\) on startup"
        rf"(?: is less than desired GPU memory utilization|\. Desired GPU memory utilization is)"
        rf" \((?P<share>{_N}), (?P<desired>{_N}) GiB\)",
        {
            "free": ("memory.free_gib", number),
            "total": ("memory.total_gib", number),
            "share": ("memory.utilization", number),
            "desired": ("memory.desired_gib", number),
        },
        rank=3,
    ),
    FactPattern(
        "Actual usage is",
        rf"Actual usage is (?P<weights>{_N}) GiB for weights?, (?P<activation>{_N}) GiB for peak activation,"
        rf" (?P<other>{_N}) GiB for non-torch memory, and (?P<graphs>{_N}) GiB for CUDAGraph memory",
        {
            "weights": ("memory.weights_gib", number),
            "activation": ("memory.activation_gib", number),
            "other": ("memory.non_torch_gib", number),
            "graphs": ("memory.graphs_gib", number),
        },
        rank=3,
    ),
    FactPattern(
        "Current kv cache memory in use is",
        rf"Current kv cache memory in use is (?P<kv>{_N}) GiB",
        {"kv": ("kv_cache.memory_gib", number)},
        rank=1,
    ),
    # The V0 engine's profile, in one line or four.
    FactPattern(
        "total_gpu_memory (",
        rf"total_gpu_memory \((?P<total>{_N})\s?GiB\) x gpu_memory_utilization \((?P<share>{_N})\)"
        rf" = (?P<desired>{_N})\s?GiB",
        {
            "total": ("memory.total_gib", number),
            "share": ("memory.utilization", number),
            "desired": ("memory.desired_gib", number),
        },
    ),
    FactPattern(
        "model weights take",
        rf"model weights take (?P<weights>{_N})\s?GiB; non_torch_memory takes (?P<other>{_N})\s?GiB;"
        rf" PyTorch activation peak memory takes (?P<activation>{_N})\s?GiB;"
        rf" the rest of the memory reserved for KV Cache is (?P<kv>{_N})\s?GiB",
        {
            "weights": ("memory.weights_gib", number),
            "other": ("memory.non_torch_gib", number),
            "activation": ("memory.activation_gib", number),
            "kv": ("kv_cache.memory_gib", number),
        },
    ),
    FactPattern(
        "Initial free memory",
        rf"^Initial free memory (?P<free>{_N} [MG]iB),? reserved (?P<kv>{_N} [MG]iB) memory for KV Cache",
        {"free": ("memory.free_gib", gib), "kv": ("kv_cache.memory_gib", gib)},
        rank=1,
    ),
    FactPattern(
        "is equivalent to --gpu-memory-utilization=",
        rf"current --gpu-memory-utilization=(?P<share>{_N}) is equivalent",
        {"share": ("memory.utilization", number)},
        rank=1,
    ),
    FactPattern(
        "CUDA graph pool memory:",
        rf"CUDA graph pool memory: (?P<graphs>{_N}) GiB \(actual\)",
        {"graphs": ("memory.graphs_gib", number)},
    ),
    FactPattern(
        "Estimated CUDA graph memory:",
        rf"Estimated CUDA graph memory: (?P<graphs>{_N}) GiB",
        {"graphs": ("memory.graphs_estimated_gib", number)},
    ),
    # PyTorch's out-of-memory text; on unified memory the capacity is the machine's. `Process N has` is another process
    # where `this process has` follows; without that it can be this one. (PyTorch 2.0 and 2.1 spell it `capacty`.)
    FactPattern(
        "of which ",
        rf"GPU \d+ has a total capaci?ty of (?P<total>{_N} [MG]iB) of which (?P<free>{_N} [KMG]iB|0 bytes) is free",
        {"total": ("memory.total_gib", gib), "free": ("memory.free_at_failure_gib", gib)},
        rank=1,
    ),
    FactPattern(
        "Tried to allocate",
        rf"Tried to allocate (?P<wanted>{_N} [KMG]iB)",
        {"wanted": ("memory.allocation_gib", gib)},
    ),
    FactPattern(
        "memory in use",
        rf"is free\.(?P<listed>(?: Process \d+ has {_N} [KMG]iB memory in use\.)+)",
        {"listed": ("memory.listed_gib", lambda captured: listed_gib(captured))},
    ),
    FactPattern(
        "this process has",
        rf"this process has (?P<own>{_N} [KMG]iB) memory in use",
        {"own": ("memory.own_gib", gib)},
    ),
    FactPattern(
        "is allocated by PyTorch",
        rf"(?P<allocated>{_N} [KMG]iB) is allocated by PyTorch",
        {"allocated": ("memory.allocated_gib", gib)},
    ),
    FactPattern(
        "is reserved by PyTorch but unallocated",
        rf"(?P<unused>{_N} [KMG]iB|0 bytes) is reserved by PyTorch but unallocated",
        {"unused": ("memory.unallocated_gib", gib)},
    ),
    FactPattern(
        "dummy requests",
        r"when warming up (?:sampler|pooler)[^\n]{0,60}? with (?P<requests>\d+) dummy requests",
        {"requests": ("memory.warmup_sequences", integer)},
    ),
    FactPattern(
        "Error in memory profiling",
        r"^(?:AssertionError: )?Error in memory profiling\.",
        {"all": ("memory.profiling_disturbed", true)},
    ),
    # Only a model that reads images, video or sound has such a cache; its largest item is part of the trial run.
    FactPattern(
        "Encoder cache will be initialized",
        r"^Encoder cache will be initialized with a budget of \d+ tokens",
        {"all": ("model.multimodal", true)},
    ),
    FactPattern(
        "Available RAM:",
        rf"Checkpoint size: (?P<size>{_N}) GiB\. Available RAM: (?P<ram>{_N}) GiB",
        {"size": ("weights.checkpoint_gib", number), "ram": ("memory.host_free_gib", number)},
    ),
    # ---- KV cache ---------------------------------------------------------------------------------------------
    # Every worker states its own; the smallest one decides.
    FactPattern(
        "Available KV cache memory:",
        rf"^Available KV cache memory: (?P<kv>{_N}) GiB",
        {"kv": ("kv_cache.memory_gib", number)},
        Policy.LEAST,
    ),
    FactPattern(
        "GiB for KV cache on node",
        rf"Explicitly set \((?P<kv>{_N})/{_N}\) GiB for KV cache on node",
        {"kv": ("kv_cache.memory_gib", number)},
    ),
    # Anchored: "Multiplying the GPU KV cache size by …" states no size. 0.28+ puts both sentences on one line,
    # 0.30+ names the device ("CPU", "GPU + host").
    FactPattern(
        "KV cache size:",
        r"^[A-Z][\w +]{0,20}? KV cache size: (?P<tokens>[\d,]+) tokens",
        {"tokens": ("kv_cache.tokens", integer)},
        Policy.LEAST,
    ),
    FactPattern(
        "Maximum concurrency for",
        r"Maximum concurrency for (?P<len>[\d,]+) tokens per request: (?P<times>[\d.]+)x",
        {"len": ("kv_cache.max_len", integer), "times": ("kv_cache.concurrency", number)},
        Policy.LEAST,
    ),
    FactPattern(
        "blocks: ",
        r"^# (?:GPU|CPU|cuda|cpu|xpu|hpu|tpu|rocm) blocks: (?P<blocks>\d+)",
        {"blocks": ("kv_cache.blocks", integer)},
        Policy.LEAST,
    ),
    FactPattern(
        "num_gpu_blocks is:",
        r"cache_config_info with initialization after num_gpu_blocks is: (?P<blocks>\d+)",
        {"blocks": ("kv_cache.blocks", integer)},
        Policy.LEAST,
    ),
    FactPattern(
        "data type to store kv cache",
        r"^Using (?P<dtype>[\w.]{1,40}) data type to store kv cache",
        {"dtype": ("kv_cache.dtype", text)},
        rank=4,
    ),
    FactPattern(
        "Setting attention block size to",
        r"^Setting attention block size to (?P<size>\d+) tokens",
        {"size": ("kv_cache.block_size", integer)},
    ),
    # The refusal "To serve at least one request with the model's max seq len …" states all three.
    FactPattern(
        "GiB KV cache is needed",
        rf"max seq len \((?P<len>\d+)\),? \(?(?P<needed>{_N}) GiB KV cache is needed, which is larger than the"
        rf" available KV cache memory \((?P<there>{_N}) GiB\)",
        {
            "len": ("kv_cache.max_len", integer),
            "needed": ("kv_cache.needed_gib", number),
            "there": ("kv_cache.memory_gib", number),
        },
        rank=1,
    ),
    # The V0 engine's wording of the same refusal, and the one of no room at all.
    FactPattern(
        "that can be stored in KV cache",
        r"max seq len \((?P<len>\d+)\) is larger than the maximum number of tokens that can be stored in KV cache"
        r" \((?P<tokens>\d+)\)",
        {"len": ("kv_cache.max_len", integer), "tokens": ("kv_cache.tokens", integer)},
        rank=1,
    ),
    FactPattern(
        "No available memory for the cache blocks",
        r"^(?:[\w.]{1,80}: )?No available memory for the cache blocks",
        {"all": ("kv_cache.none", true)},
    ),
    FactPattern(
        "Mamba cache blocks",
        r"exceeds available Mamba cache blocks \((?P<blocks>\d+)\)",
        {"blocks": ("mamba.blocks", integer)},
    ),
    FactPattern(
        "Mamba cache blocks",
        r"^Capping cudagraph capture sizes from max \d+ to (?P<blocks>\d+) to fit Mamba cache blocks",
        {"blocks": ("mamba.blocks", integer)},
    ),
    FactPattern(
        "estimated maximum model length is",
        r"the estimated maximum model length is (?P<len>\d+)",
        {"len": ("kv_cache.estimated_max_len", integer)},
    ),
)


def listed_gib(captured: str) -> FactValue | None:
    """The sum of what `Process N has … memory in use` states, in GiB."""
    sizes = [gib(size) for size in re.findall(r"has ([\d.]{1,24} [KMG]iB)", captured)]
    return round(sum(size for size in sizes if isinstance(size, float)), 4) if sizes else None
