"""Which facts a signature may ask for and name in its texts.

The rooms that fill the facts and the entries that use them meet in this table, so that a misspelt key is found by
`logdoctor signatures lint` instead of making a condition unknown for ever.
"""

from __future__ import annotations

import re

_BY_PREFIX = {
    "": "platform args env load_format",
    "vllm": "version engine runner",
    "model": "name architecture served_name quantization dtype max_len hybrid moe",
    "gpu": "name compute_capability memory_gib count",
    "torch": "version",
    "cuda": "version",
    "flashinfer": "version",
    "nccl": "version",
    "nvfp4": "linear_backend moe_backend marlin",
    "fp8": "linear_backend moe_backend",
    "mxfp4": "moe_backend",
    "unquantized": "moe_backend",
    "attention": "backend",
    "mamba": "backend",
    "kv_cache": "dtype memory_gib tokens concurrency max_len blocks",
    "memory": "utilization total_gib free_gib desired_gib weights_gib activation_gib graphs_gib non_torch_gib",
    "weights": "gib seconds shards_total shards_done seconds_per_shard",
    "graphs": "seconds gib done total",
    "compile": "seconds",
    "engine": "init_seconds",
    "start": "seconds",
    "parallel": "tensor pipeline data world_size",
    "scheduler": "max_num_batched_tokens async",
    "server": "address requests_ok requests_error",
    "prompt": "tokens",
    "host": "name",
    "boot": "verdict ready failed phase excerpt stderr_missing only_cascade silent_death",
}
KEYS = frozenset(f"{prefix}.{name}".lstrip(".") for prefix, names in _BY_PREFIX.items() for name in names.split())
"""Every key that stands alone."""

_OPEN = re.compile(r"args\.[a-z][a-z0-9_]*|env\.(?:unknown|[A-Z][A-Z0-9_]*)")
"""Keys that follow a name of vLLM or of the host."""

VERSION_KEYS = frozenset(key for key in KEYS if key.endswith((".version", ".compute_capability")))


def is_fact_key(key: str) -> bool:
    """Return whether some boot could have a fact of this name."""
    return key in KEYS or _OPEN.fullmatch(key) is not None


def nearest(key: str) -> str:
    """Return the key that was probably meant, or nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(key, sorted(KEYS), n=1, cutoff=0.75)), "")
