"""Templates and conditions without a boot, in words: what an entry says before any log filled it in.

A place that a number fills becomes `N`, one that a calculation fills is named (`the suggested length`, in a command
`LENGTH`), and everything else becomes its name in capitals, as manuals write what the reader has to put in.
"""

from __future__ import annotations

import re

from logdoctor.database.schema import ConditionValue

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]*)(?:\|([^{}]*))?\}")
_NUMBERS = frozenset(
    [
        "size",
        "total",
        "free",
        "need",
        "needed",
        "length",
        "limit",
        "tried",
        "batched",
        "block",
        "blocks",
        "asked",
        "kv_cache.tokens",
        "tokens",
        "available",
        "desired",
        "share",
        "seqs",
        "heads",
        "gpus",
        "parts",
        "world",
        "estimate",
        "model.max_len",
        "prompt.tokens",
        "reserved",
        "initial",
        "requests",
        "unused",
        "kv",
        "usage",
        "waiting",
        "running",
        "minutes",
        "seconds",
        "bytes",
        "timeout",
        "rank",
        "rate",
        "got",
        "want",
        "count",
        "have",
        "gpu.count",
        "weights.shards_done",
        "weights.shards_total",
        "kv_cache.concurrency",
        "serving.empty_answers",
        "graphs.done",
        "graphs.total",
        "bits",
        "threshold",
        "port",
        "args.port",
        "probe.health_status",
        "probe.models_status",
        "probe.answer.status",
        "probe.completion.status",
        "foreign",
        "first",
        "second",
        "prompt.left_tokens",
        "probe.load.at",
        "sm",
        "xid",
        "own",
        "launch.cards",
        "probe.ollama.count",
        "code",
        "world_size",
        "item",
    ]
)
_NUMERIC = re.compile(r"(?:_gib|_gb|seconds|_tokens|_per_shard|_max_len|_size|_most|waiting|running|preemptions)$")
_COUNTED = re.compile(r"probe\.load\.(?:requests|failed|empty|garbled|wrong|differs|damaged)|.*\.world_size")
_WORDS = {
    "budget.suggest.max_model_len": ("the suggested length", "LENGTH"),
    "budget.suggest.gpu_memory_utilization": ("the suggested share", "SHARE"),
    "budget.suggest.max_num_seqs": ("the suggested number", "N"),
    "budget.suggest.max_num_batched_tokens": ("the suggested number", "N"),
    "budget.suggest.kv_cache_memory": ("the suggested size", "SIZE"),
    "budget.suggest.tensor_parallel_size": ("the suggested number", "N"),
    "budget.suggest.ranks": ("the suggested number", "N"),
    "budget.precisions": ("what fits, by precision", "PRECISION"),
    "model.name": ("the model", "MODEL"),
    "model.served_name": ("the served name", "NAME"),
    "model.family": ("this model", "MODEL"),
    "gpu.name": ("this GPU", "GPU"),
    "gpu.compute_capability": ("this GPU's", "N"),
    "vllm.version": ("of this image", "VERSION"),
    "silence.normal": ("the usual time is told", "TIME"),
    "silence.last_text": ("its last line", "TEXT"),
    "silence.phase": ("some phase", "PHASE"),
    "silence.remaining": ("N minutes", "N"),
    "silence.waited": ("N minutes", "N"),
    "silence.patience": ("N minutes", "N"),
    "boot.phase": ("some phase", "PHASE"),
    "args.port": ("N", "PORT"),
    "port": ("N", "PORT"),
    "probe.address": ("its address", "ADDRESS"),
    "memory.utilization": ("N", "N"),
}
"""Prose and command word of places that the general rule does not name well."""

_FACTS = {
    "gpu.compute_capability": "the GPU's compute capability",
    "gpu.name": "the GPU",
    "vllm.version": "the vLLM version",
    "model.name": "the model's name",
    "gpu.count": "the number of GPUs",
    "boot.failed": "the server failed",
    "boot.ready": "the server came up",
    "boot.silent_death": "it died without a word",
    "boot.only_cascade": "the log holds only what follows from a cause above it",
    "boot.excerpt": "the beginning of the start is missing",
    "budget.cause": "what the memory numbers say",
    "platform": "the platform",
}


def readable(text: str, *, command: bool = False) -> str:
    """Show a template without a boot, in prose or as a command to type."""
    return _PLACEHOLDER.sub(lambda found: _word(found[1], found[2], command=command), text)


def _word(name: str, fallback: str | None, *, command: bool) -> str:
    if name in _WORDS:
        return _WORDS[name][command]
    if fallback == "":
        return ""
    if name in _NUMBERS or _NUMERIC.search(name) or _COUNTED.fullmatch(name):
        return "N"
    if fallback is not None and not command:
        return fallback
    return name.rpartition(".")[2].upper().replace("_", "-")


def condition(key: str, wanted: ConditionValue | tuple[ConditionValue, ...]) -> str:
    """Say a condition in words."""
    if key == "boot.before":
        return f"the start has not come to {wanted}"
    if key.startswith("budget.suggest."):
        said = {True: "the log's numbers give a value that fits", False: "the log's numbers give no value that fits"}
        return said[wanted != "unset"]
    if isinstance(wanted, bool) and key in _FACTS and key.startswith("boot."):
        return _FACTS[key] if wanted else f"not: {_FACTS[key]}"
    return f"{_subject(key)} {_wanted(wanted)}"


def _subject(key: str) -> str:
    if key in _FACTS:
        return _FACTS[key]
    if key.startswith("env.") and key[4:5].isupper():
        return f"the variable {key[4:]}"
    if key.startswith("args."):
        return "--" + key[5:].replace("_", "-")
    return key.replace(".", " ").replace("_", " ")


def _wanted(wanted: ConditionValue | tuple[ConditionValue, ...]) -> str:
    if isinstance(wanted, tuple):
        return " or ".join(map(_wanted, wanted)).replace(" or is ", " or ")
    if wanted in ("set", "unset"):
        return f"is {'not ' if wanted == 'unset' else ''}known"
    if isinstance(wanted, bool):
        return f"is {'true' if wanted else 'false'}"
    text = str(wanted)
    if text.startswith("~"):
        return f"matches {text[1:]}"
    return ", ".join(part.strip() for part in text.split(",")) if text[:1] in "<>=!" else f"is {text}"
