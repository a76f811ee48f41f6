"""Facts from the arguments and the engine's configuration, which vLLM prints as Python reprs.

`args.<name>` is what was asked for: the `non-default args: {…}` line, or 0.8.5's `args: Namespace(…)` without its
defaults. `config.<name>` is what the engine made of it. Where the first is not in the log, the engine's settings
that nothing but an argument can cause stand in for it as inferred facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from logdoctor.facts.pattern import MAX_TEXT, FactStore, Policy, Statement, line_at
from logdoctor.facts.pyrepr import Opaque, PyValue, as_text, read_keywords, read_mapping
from logdoctor.model import FactValue, Record
from logdoctor.wording import beginning

LITERALS = ("non-default args: {", "args: Namespace(", " with config: ")

_SECRET_NAMES = frozenset({"api_key", "hf_token", "ssl_keyfile_password"})
_MASK = "***"
"""What vLLM itself prints for these from 0.29.0 on."""

_NESTED = {
    "kernel_config": ("moe_backend", "linear_backend", "enable_flashinfer_autotune"),
    "structured_outputs_config": ("reasoning_parser", "reasoning_parser_plugin"),
    "attention_config": ("backend",),
    "compilation_config": ("mode", "level", "cudagraph_mode"),
}
"""Fields of configuration objects that have, or had, a flag of their own."""

_NESTED_NAMES = {"backend": "attention_backend", "mode": "compilation_mode", "level": "compilation_level"}

_CONFIG_FACTS: Mapping[str, tuple[str, ...]] = {
    "model": ("model.name",),
    "served_model_name": ("model.served_name",),
    "dtype": ("model.dtype",),
    "max_seq_len": ("model.max_len",),
    "quantization": ("model.quantization",),
    "kv_cache_dtype": ("kv_cache.dtype",),
    "load_format": ("load_format",),
    "device_config": ("platform",),
    "tensor_parallel_size": ("parallel.tensor",),
    "pipeline_parallel_size": ("parallel.pipeline",),
    "data_parallel_size": ("parallel.data",),
}
"""Engine settings that are facts under a name of their own."""

_CONFIG_KEPT = (
    "enforce_eager",
    "trust_remote_code",
    "enable_prefix_caching",
    "enable_chunked_prefill",
    "disable_custom_all_reduce",
    "speculative_config",
    "tokenizer",
    "tokenizer_mode",
    "revision",
    "download_dir",
    "seed",
    *(_NESTED_NAMES.get(name, name) for names in _NESTED.values() for name in names),
)
"""Engine settings kept as `config.<name>`."""

_ONLY_BY_ARGUMENT: Mapping[str, FactValue] = {
    "enforce_eager": False,
    "trust_remote_code": False,
    "moe_backend": "auto",
    "linear_backend": "auto",
    "reasoning_parser": "",
    "reasoning_parser_plugin": "",
    "tokenizer_mode": "auto",
}
"""Defaults of the settings that follow an argument alone, never the model or the platform."""

_NAMESPACE_DEFAULTS: Mapping[str, PyValue] = {
    "subparser": "serve",
    "port": 8000,
    "uvicorn_log_level": "info",
    "allowed_origins": ["*"],
    "allowed_methods": ["*"],
    "allowed_headers": ["*"],
    "chat_template_content_format": "auto",
    "response_role": "assistant",
    "task": "auto",
    "tokenizer_mode": "auto",
    "load_format": "auto",
    "use_tqdm_on_load": True,
    "config_format": "auto",
    "dtype": "auto",
    "guided_decoding_backend": "auto",
    "model_impl": "auto",
    "pipeline_parallel_size": 1,
    "tensor_parallel_size": 1,
    "data_parallel_size": 1,
    "gpu_memory_utilization": 0.9,
    "swap_space": 4,
    "kv_cache_dtype": "auto",
    "prefix_caching_hash_algo": "builtin",
    "cpu_offload_gb": 0,
    "use_v2_block_manager": True,
    "max_logprobs": 20,
    "max_seq_len_to_capture": 8192,
    "tokenizer_pool_size": 0,
    "tokenizer_pool_type": "ray",
    "max_loras": 1,
    "max_lora_rank": 16,
    "lora_extra_vocab_size": 256,
    "lora_dtype": "auto",
    "max_prompt_adapters": 1,
    "max_prompt_adapter_token": 0,
    "device": "auto",
    "num_scheduler_steps": 1,
    "multi_step_stream_outputs": True,
    "scheduler_delay_factor": 0.0,
    "scheduling_policy": "fcfs",
    "scheduler_cls": "vllm.core.scheduler.Scheduler",
    "worker_cls": "auto",
    "max_num_partial_prefills": 1,
    "max_long_partial_prefills": 1,
    "long_prefill_token_threshold": 0,
    "ssl_cert_reqs": 0,
    "generation_config": "auto",
    "distributed_executor_backend": None,
}
"""The defaults among the arguments that 0.8.5 prints in full; empty, false and absent values are dropped as well."""


def read_arguments(record: Record, message: str) -> Iterator[Statement]:
    """Yield the facts of an argument line or of the engine's configuration line."""
    if (at := message.find("non-default args: {")) >= 0:
        yield from _arguments(read_mapping(message, message.index("{", at)), line_at(record, message, at))
    elif (at := message.find("args: Namespace(")) >= 0:
        given = _without_defaults(read_keywords(message, at + len("args: Namespace(")))
        yield from _arguments(given, line_at(record, message, at))
    elif (at := message.find(" with config: ")) >= 0 and message.startswith("Initializing a"):
        start = at + len(" with config: ")
        yield from _configuration(read_keywords(message, start), line_at(record, message, start))


def stand_in_arguments(store: FactStore) -> Iterator[Statement]:
    """Yield inferred arguments from the engine's configuration when the log holds no argument line."""
    if "args" in store:
        return
    facts = store.copy()
    for name, default in _ONLY_BY_ARGUMENT.items():
        fact = facts.get(f"config.{name}")
        if fact is not None and fact.value != default:
            yield Statement(f"args.{name}", fact.value, fact.line, origin="inferred")
    for name, key in (("tensor", "tensor_parallel_size"), ("pipeline", "pipeline_parallel_size")):
        fact = facts.get(f"parallel.{name}")
        if fact is not None and fact.value != 1:
            yield Statement(f"args.{key}", fact.value, fact.line, origin="inferred")


def _arguments(given: Mapping[str, PyValue], line: int) -> Iterator[Statement]:
    yield Statement("args", True, line)
    nested = _nested(given)
    for name, value in {**nested, **given}.items():
        typed = _MASK if name in _SECRET_NAMES else _typed(value)
        if typed is not None and name.isidentifier():
            yield Statement(f"args.{name}", typed, line)
    if "model_tag" in given:  # the positional model, which only `vllm serve` has
        yield Statement("vllm.entrypoint", "vllm serve", line)
    model = _typed(given.get("model") or given.get("model_tag"))
    if model is not None:
        yield Statement("model.name", model, line)
    served = given.get("served_model_name")
    first = _typed(served[0] if isinstance(served, list) and served else served)
    if first is not None:
        yield Statement("model.served_name", first, line)


def _configuration(config: Mapping[str, PyValue], line: int) -> Iterator[Statement]:
    for name, keys in _CONFIG_FACTS.items():
        value = _typed(config.get(name))
        if name == "dtype" and isinstance(value, str):
            value = value.removeprefix("torch.")
        if value is not None:
            # ROCm calls its device type "cuda" too: the line that names the platform knows better.
            rank = 2 if name == "device_config" else 3
            yield from (Statement(key, value, line, rank=rank) for key in keys)
    flat = {**_nested(config), **config}
    for name in _CONFIG_KEPT:
        value = _typed(flat.get(name))
        if value is not None:
            yield Statement(f"config.{name}", value, line, Policy.FIRST)


def _nested(values: Mapping[str, PyValue]) -> dict[str, PyValue]:
    found: dict[str, PyValue] = {}
    for outer, names in _NESTED.items():
        config = values.get(outer)
        fields = config.fields if isinstance(config, Opaque) else config
        if not isinstance(fields, Mapping):
            continue
        found.update({_NESTED_NAMES.get(name, name): fields[name] for name in names if name in fields})
    return found


def _without_defaults(given: Mapping[str, PyValue]) -> dict[str, PyValue]:
    return {
        name: value
        for name, value in given.items()
        if value not in (None, False, "", [], {}) and _NAMESPACE_DEFAULTS.get(name) != value
        if name != "dispatch_function"
    }


def _typed(value: PyValue) -> FactValue | None:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = beginning(as_text(value), MAX_TEXT).encode("utf-8", "replace").decode("utf-8")
    return text if text or isinstance(value, str) else None
