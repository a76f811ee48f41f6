"""Which facts a signature may ask for and name in its texts.

The rooms that fill the facts and the entries that use them meet in this table, so that a misspelt key is found by
`logdoctor signatures lint` instead of making a condition unknown for ever.
"""

from __future__ import annotations

import re

_BY_PREFIX = {
    "": "platform args env load_format",
    "vllm": "version engine runner entrypoint",
    "image": "style release name own needed",
    "cli": "unrecognized invalid_flag invalid_value",
    "model": "name architecture served_name quantization dtype max_len hybrid moe mixed multimodal load_seconds "
    "family reasoning_parser tool_parser needs_vllm heads",
    "gpu": "name compute_capability memory_gib count driver memory_gb unified used_gib",
    "torch": "version",
    "cuda": "version driver_version",
    "flashinfer": "version",
    "nccl": "version",
    "nvfp4": "linear_backend moe_backend marlin",
    "fp8": "linear_backend moe_backend",
    "mxfp4": "moe_backend",
    "unquantized": "moe_backend",
    "attention": "backend flash_version",
    "mamba": "backend blocks",
    "kv_cache": "dtype memory_gib tokens concurrency max_len blocks block_size needed_gib estimated_max_len none",
    "memory": "utilization total_gib free_gib desired_gib weights_gib activation_gib graphs_gib graphs_estimated_gib "
    "non_torch_gib allocation_gib free_at_failure_gib own_gib listed_gib allocated_gib unallocated_gib host_free_gib "
    "warmup_sequences profiling_disturbed",
    "budget": "cause adds_up limit_gib overhead_gib foreign_gib missing_gib free_gib bytes_per_token weights_gib "
    "precisions concurrency_agrees share",
    "budget.suggest": "gpu_memory_utilization max_model_len max_num_seqs max_num_batched_tokens kv_cache_memory "
    "tensor_parallel_size precision ranks",
    "parser": "reasoning_of_another tool_of_another",
    "launch": "kind repeated stray glued switch_value switch_plain no_value no_json no_number cut_off "
    "model_option model_twice port_mismatch gpus_missing open contradicts "
    "batched_tokens_below_seqs cards weights_gb weights_fit weights_precision",
    "container": "exit_code oom_killed restarts gpus shm_gib ipc_host network_host hub_cache_kept gpu_in_use "
    "liveness_seconds service_variables",
    "weights": "gib seconds shards_total shards_done seconds_per_shard missing_on checkpoint_gib elapsed_seconds",
    "graphs": "seconds gib done total elapsed_seconds",
    "compile": "seconds",
    "engine": "init_seconds",
    "start": "seconds",
    "parallel": "tensor pipeline data world_size gpus",
    "scheduler": "max_num_batched_tokens max_num_seqs async",
    "server": "address requests_ok requests_error requests_5xx published_port",
    "serving": "empty_answers prompt_tokens_per_second tokens_per_second running waiting preemptions "
    "kv_cache_usage_percent prefix_cache_hit_percent tokens_per_second_peak running_peak waiting_peak preemptions_peak "
    "kv_cache_usage_percent_peak stuck_seconds waiting_seconds still_seconds_most",
    "contradiction": "max_model_len kv_cache_dtype quantization",
    "silence": "kind phase since last_text seconds remaining remaining_seconds normal waited waited_seconds patience",
    "prompt": "tokens left_tokens",
    "host": "name",
    "probe": "address level reachable unreachable_reason unreachable_detail redirect unauthorized key_sent "
    "health_status health_seconds health_after died api_missing models_status models served_name root "
    "max_model_len model_asked model_unknown version version_agrees served_name_agrees "
    "max_model_len_agrees log_disagrees wedged wedged_seconds wedged_running wedged_waiting stream_agrees "
    "stream_difference tool_call tool_call_stream tool_call_error ttft_seconds tokens_per_second",
    "probe.metrics": "running waiting kv_usage preemptions tokens_per_second",
    "probe.answer": "ok status error timed_out closed no_chat content_empty finish_reason reasoning_field "
    "think_in_content garbled right text tokens reasoning_tokens max_tokens tokens_needed",
    "probe.completion": "ok status error timed_out empty garbled right text",
    "probe.load": "requests failed empty garbled wrong differs damaged at steady baseline_right tokens_per_second",
    "probe.context": "tokens status ok error timed_out running waiting ttft_seconds",
    "probe.ollama": "address reachable count models memory_gib model_1 model_2 model_3 model_4",
    "boot": "verdict ready failed phase before excerpt stderr_missing only_cascade silent_death oom_killed "
    "killed waited_seconds",
}
KEYS = frozenset(f"{prefix}.{name}".lstrip(".") for prefix, names in _BY_PREFIX.items() for name in names.split())
"""Every key that stands alone."""

QUESTIONS = frozenset({"boot.before"})
"""Keys that no fact has: what they ask is answered from other facts, whether those are there or not."""

_OPEN = re.compile(r"(?:args|config)\.[a-z][a-z0-9_]*|env\.(?:unknown|deprecated|[A-Z][A-Z0-9_]*)")
"""Keys that follow a name of vLLM or of the host."""

VERSION_KEYS = frozenset(key for key in KEYS if key.endswith((".version", ".compute_capability")))


def is_fact_key(key: str) -> bool:
    """Return whether some boot could have a fact of this name."""
    return key in KEYS or _OPEN.fullmatch(key) is not None


_USUAL = {
    "gpu": "gpu.name",
    "gpus": "gpu.count",
    "model": "model.name",
    "vllm": "vllm.version",
    "version": "vllm.version",
    "cuda": "cuda.version",
    "torch": "torch.version",
    "image": "image.name",
    "sm": "gpu.compute_capability",
    "compute_capability": "gpu.compute_capability",
    "max_model_len": "args.max_model_len",
    "quantization": "model.quantization",
    "tensor_parallel_size": "args.tensor_parallel_size",
    "gpu_memory_utilization": "args.gpu_memory_utilization",
}
"""What people write for the keys that they mean most often."""


def nearest(key: str) -> str:
    """Return the key that was probably meant, or nothing."""
    from difflib import get_close_matches

    word = key.lower().replace("-", "_").strip(".")
    if word in _USUAL:
        return _USUAL[word]
    named = [known for known in sorted(KEYS) if known.rpartition(".")[2] == word.rpartition(".")[2]]
    close = get_close_matches(word, sorted(KEYS), n=1, cutoff=0.75)
    return next(iter((*close, *named)), "")
