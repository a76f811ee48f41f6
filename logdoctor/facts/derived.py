"""What follows from the facts of a start and the tables of models and GPUs, whether a log or a launch states them.

Entries of the database cannot compare one fact with another or look into a table; they ask for what is found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from logdoctor.knowledge.gpus import find_gpu
from logdoctor.knowledge.models import ModelFacts, find_model
from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.model import Fact, Facts, FactValue

_OFF = ("", "none")
_MIXED = re.compile(r"nemotron\S{0,80}super|modelopt_mixed", re.IGNORECASE)
"""What is published with NVFP4 and FP8 layers in one checkpoint."""
_RELEASE = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,3}(?:\.post\d{1,2})?")


def derived_facts(facts: Facts) -> dict[str, Fact]:
    """Return what follows from the facts, as inferred facts; what is stated is never replaced."""
    found: dict[str, Fact] = {}
    for key, value, source in (
        *_image(facts),
        *_mixed(facts),
        *_model(facts),
        *_gpu(facts),
        *_numbers(facts),
        *_contradictions(facts),
        *_container(facts),
    ):
        if key not in facts:
            line = facts[source].line if source in facts else 0
            found[key] = Fact(key, value, line, origin="inferred")
    return found


_Derived = tuple[str, FactValue, str]


def _text(facts: Facts, key: str) -> str:
    return str(facts[key].value) if key in facts else ""


def _whole(facts: Facts, *keys: str) -> int | None:
    for key in keys:
        value = facts[key].value if key in facts else None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.isdigit() and len(value) < 12:
            return int(value)
    return None


def _image(facts: Facts) -> Iterator[_Derived]:
    """Yield the tag of the official image of the version that failed; a nightly build has none of its own."""
    version = _text(facts, "vllm.version")
    failed = "boot.failed" in facts and facts["boot.failed"].value is True
    if failed and _RELEASE.fullmatch(version):
        yield "image.own", f"v{version}", "vllm.version"


def _mixed(facts: Facts) -> Iterator[_Derived]:
    """Yield that an NVFP4 checkpoint holds FP8 layers as well: by a line of theirs, or as a whole family does."""
    if "fp8.linear_backend" in facts and "nvfp4.linear_backend" in facts:
        yield "model.mixed", True, "fp8.linear_backend"
    elif "nvfp4.linear_backend" in facts:
        named = _text(facts, "model.name") + " " + _text(facts, "model.quantization")
        if _MIXED.search(named) is not None:
            yield "model.mixed", True, "nvfp4.linear_backend"


def _model(facts: Facts) -> Iterator[_Derived]:
    source = next((key for key in ("model.name", "args.model", "args.model_tag") if key in facts), "")
    family = find_model(_text(facts, source)) if source else None
    if family is None:
        return
    version = parse_version(_text(facts, "vllm.version"))
    yield "model.family", family.family, source
    if family.hybrid:
        yield "model.hybrid", True, source
    if family.moe:
        yield "model.moe", True, source
    since = parse_version(family.vllm)
    if version is not None and since is not None and version < since:
        yield "model.needs_vllm", family.vllm, source
        yield "image.needed", f"v{family.vllm}", source
    yield from _parsers(facts, family, version, source)


def _parsers(facts: Facts, family: ModelFacts, version: Version | None, source: str) -> Iterator[_Derived]:
    best = {"reasoning": family.reasoning_parser(version), "tool": family.tool_parser(version)}
    for key, value in best.items():
        if value:
            yield f"model.{key}_parser", value, source
    rows: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
        "reasoning": ("args.reasoning_parser", "args.reasoning_parser_plugin", family.reasoning_parsers),
        "tool": ("args.tool_call_parser", "args.tool_parser_plugin", family.tool_parsers),
    }
    for key, (argument, plugin, right) in rows.items():
        given = _text(facts, argument)
        if given.lower() in _OFF or plugin in facts or not right or given in right:
            continue
        # A name that no release has is a finding of its own.
        if best[key] and _is_a_parser(key, given):
            yield f"parser.{key}_of_another", given, argument


def _is_a_parser(kind: str, name: str) -> bool:
    from logdoctor.knowledge.tables import Kind, lookup

    return lookup(Kind.REASONING_PARSER if kind == "reasoning" else Kind.TOOL_PARSER, name) is not None


def _gpu(facts: Facts) -> Iterator[_Derived]:
    gpu = find_gpu(_text(facts, "gpu.name")) if "gpu.name" in facts else None
    if gpu is not None:
        yield "gpu.unified", gpu.unified, "gpu.name"
        if gpu.memory_gb is not None:
            yield "gpu.memory_gb", gpu.memory_gb, "gpu.name"


def _numbers(facts: Facts) -> Iterator[_Derived]:
    needed = 1
    for name in ("tensor_parallel_size", "pipeline_parallel_size"):
        needed *= max(_whole(facts, f"args.{name}") or 1, 1)
    nodes = _whole(facts, "args.nnodes") or 1
    executor = _text(facts, "args.distributed_executor_backend").lower()
    there = _whole(facts, "gpu.count", "container.gpus")
    if there is not None and 0 < there < needed and nodes == 1 and executor != "ray":
        yield "launch.gpus_missing", needed - there, "args.tensor_parallel_size"
    prompt = _whole(facts, "prompt.tokens")
    length = _whole(facts, "model.max_len", "args.max_model_len", "kv_cache.max_len")
    if prompt is not None and length is not None and length > 0:
        yield "prompt.left_tokens", length - prompt, "model.max_len"
    tokens, seqs = _whole(facts, "args.max_num_batched_tokens"), _whole(facts, "args.max_num_seqs")
    if tokens is not None and seqs is not None and tokens < seqs:
        yield "launch.batched_tokens_below_seqs", True, "args.max_num_batched_tokens"


_SAME_KIND = (("fp8", "fp8_e4m3"), ("awq", "awq_marlin"), ("gptq", "gptq_marlin"), ("modelopt", "modelopt_fp4"))
"""What the engine calls by a longer name than the argument."""


def _contradictions(facts: Facts) -> Iterator[_Derived]:
    """Yield where the engine's own line tells of another setting than the arguments: nothing is printed about it."""
    asked, used = _whole(facts, "args.max_model_len"), _whole(facts, "model.max_len")
    if asked is not None and used is not None and asked > 0 and asked != used:
        yield "contradiction.max_model_len", f"{asked} asked, {used} used", "model.max_len"
    for name, key in (("kv_cache_dtype", "kv_cache.dtype"), ("quantization", "model.quantization")):
        wanted, found = _text(facts, f"args.{name}").lower(), _text(facts, key).lower()
        if wanted in ("", "none", "auto") or found in ("", wanted) or (wanted, found) in _SAME_KIND:
            continue
        yield f"contradiction.{name}", f"{wanted} asked, {found} used", key


_OF_A_GPU = (
    *("gpu.name", "gpu.compute_capability", "gpu.memory_gib", "gpu.used_gib", "memory.total_gib", "memory.free_gib"),
    *("memory.free_at_failure_gib", "kv_cache.memory_gib", "weights.gib", "graphs.gib", "nccl.version"),
)
"""What a log only states where a GPU is used."""


def _container(facts: Facts) -> Iterator[_Derived]:
    """Yield what the container's state says of the boot: whether the kernel ended it for lack of memory."""
    seen = next((key for key in _OF_A_GPU if key in facts and facts[key].origin == "log"), "")
    if seen and _text(facts, "platform").lower() not in ("cpu", "tpu"):
        yield "container.gpu_in_use", True, seen
    killed = facts.get("container.oom_killed")
    if killed is not None and isinstance(killed.value, bool):
        yield "boot.oom_killed", killed.value, "container.oom_killed"
