"""The numbers of one boot that the budget is made of, read from its facts."""

from __future__ import annotations

import re
from typing import NamedTuple

from logdoctor.knowledge.gpus import find_gpu
from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.model import Fact, Facts

_BEFORE_GRAPHS_COUNT = (0, 20)
"""From this release on graph memory is part of the budget, and the default share is larger."""
_DEFAULTS = (0.9, 0.92)
_VISIBLE_SHARE = 0.985
"""What a card shows of the memory that it is sold with."""
_LEAST = 0.01
"""No share and no card is smaller than this."""
_BILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d{1,4}(?:\.\d{1,2})?)[bB](?![A-Za-z0-9])")
_UNIFIED = re.compile(r"GB10|DGX Spark|Thor|Orin", re.IGNORECASE)


class Numbers(NamedTuple):
    """What is known of a boot's memory, in GiB; None is unknown."""

    total: float | None = None
    total_line: int = 0
    total_stated: bool = False
    """False when the card's name stands in for a statement."""
    utilization: float = 0.0
    utilization_line: int = 0
    utilization_stated: bool = False
    """False for the default of the version."""
    free: float | None = None
    desired: float | None = None
    weights: float | None = None
    weights_line: int = 0
    checkpoint: float | None = None
    activation: float | None = None
    non_torch: float | None = None
    graphs: float | None = None
    graphs_estimated: float | None = None
    kv_cache: float | None = None
    kv_line: int = 0
    kv_needed: float | None = None
    kv_tokens: int | None = None
    kv_none: bool = False
    """The engine said that no memory is left for blocks."""
    kv_by_hand: bool = False
    length: int | None = None
    length_estimate: int | None = None
    concurrency: float | None = None
    tried: float | None = None
    tried_line: int = 0
    free_at_failure: float | None = None
    own: float | None = None
    listed: float | None = None
    allocated: float | None = None
    unallocated: float | None = None
    warmup_sequences: int | None = None
    mamba_blocks: int | None = None
    block_size: int | None = None
    batched_tokens: int | None = None
    sequences: int | None = None
    host_free: float | None = None
    oom_killed: bool = False
    disturbed: bool = False
    hybrid: bool | None = None
    multimodal: bool = False
    unified: bool = False
    cpu: bool = False
    phase: str = ""
    ready: bool = False
    failed: bool = False
    cards: int = 1
    """Cards that share the weights."""
    ranks: int | None = None
    """The tensor parallel size that is asked for."""
    stages: int = 1
    gpus: int | None = None
    """How many GPUs the log, or the container, says there are."""
    heads: int | None = None
    billions: float | None = None
    """Parameters, from the model's name."""
    version: Version | None = None

    @property
    def limit(self) -> float | None:
        """What the engine may use of the card."""
        return self.total * self.utilization if self.total is not None and self.utilization else None

    @property
    def graphs_count(self) -> bool:
        """Whether this release counts graph memory within the share."""
        return self.version is not None and self.version.release[:2] >= _BEFORE_GRAPHS_COUNT

    @property
    def short_of(self) -> float | None:
        """What the failed allocation lacked."""
        if self.tried is None:
            return None
        return max(0.0, self.tried - (self.free_at_failure or 0.0))


def read_numbers(facts: Facts) -> Numbers:
    """Read the numbers of a boot; nothing is computed here but defaults."""
    read = _Reader(facts)
    version = parse_version(read.text("vllm.version"))
    name = read.text("gpu.name")
    total, total_line, stated = _total(read, name)
    share = read.fact("memory.utilization") or read.fact("args.gpu_memory_utilization")
    utilization = _number(share)
    unknown_share = utilization is None or not _LEAST <= utilization <= 1
    new = version is not None and version.release[:2] >= _BEFORE_GRAPHS_COUNT
    return Numbers(
        total=total,
        total_line=total_line,
        total_stated=stated,
        utilization=_DEFAULTS[new] if unknown_share or utilization is None else utilization,
        utilization_line=share.line if share and not unknown_share else 0,
        utilization_stated=not unknown_share,
        free=read.gib("memory.free_gib"),
        desired=read.gib("memory.desired_gib"),
        weights=read.gib("memory.weights_gib", "weights.gib"),
        weights_line=read.line("memory.weights_gib", "weights.gib"),
        checkpoint=read.gib("weights.checkpoint_gib"),
        activation=read.gib("memory.activation_gib"),
        non_torch=read.gib("memory.non_torch_gib"),
        graphs=read.gib("memory.graphs_gib"),
        graphs_estimated=read.gib("memory.graphs_estimated_gib"),
        kv_cache=read.gib("kv_cache.memory_gib"),
        kv_line=read.line("kv_cache.memory_gib"),
        kv_needed=read.gib("kv_cache.needed_gib"),
        kv_tokens=read.whole("kv_cache.tokens"),
        kv_none=read.true("kv_cache.none"),
        kv_by_hand=read.fact("args.kv_cache_memory_bytes") is not None,
        length=read.whole("kv_cache.max_len", "model.max_len", "args.max_model_len"),
        length_estimate=read.whole("kv_cache.estimated_max_len"),
        concurrency=read.gib("kv_cache.concurrency"),
        tried=read.gib("memory.allocation_gib"),
        tried_line=read.line("memory.allocation_gib"),
        free_at_failure=read.gib("memory.free_at_failure_gib"),
        own=read.gib("memory.own_gib"),
        listed=read.gib("memory.listed_gib"),
        allocated=read.gib("memory.allocated_gib"),
        unallocated=read.gib("memory.unallocated_gib"),
        warmup_sequences=read.whole("memory.warmup_sequences"),
        mamba_blocks=read.whole("mamba.blocks"),
        block_size=read.whole("kv_cache.block_size"),
        batched_tokens=read.whole("scheduler.max_num_batched_tokens", "args.max_num_batched_tokens"),
        sequences=read.whole("args.max_num_seqs", "scheduler.max_num_seqs"),
        host_free=read.gib("memory.host_free_gib"),
        oom_killed=read.true("container.oom_killed"),
        disturbed=read.true("memory.profiling_disturbed"),
        hybrid=_hybrid(read),
        multimodal=read.true("model.multimodal") or read.fact("args.limit_mm_per_prompt") is not None,
        unified=_unified(name),
        cpu=read.text("platform") == "cpu",
        phase=read.text("boot.phase"),
        ready=read.true("boot.ready"),
        failed=read.true("boot.failed"),
        cards=_cards(read),
        ranks=_bounded(read.whole("args.tensor_parallel_size", "parallel.tensor")),
        stages=_bounded(read.whole("args.pipeline_parallel_size", "parallel.pipeline")) or 1,
        gpus=_bounded(read.whole("gpu.count", "parallel.gpus", "container.gpus")),
        heads=_bounded(read.whole("model.heads")),
        billions=_billions(read),
        version=version,
    )


class _Reader:
    """Typed access to facts; the first of several keys that is known counts."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def fact(self, key: str) -> Fact | None:
        return self._facts.get(key)

    def _first(self, keys: tuple[str, ...]) -> Fact | None:
        return next((fact for key in keys if (fact := self._facts.get(key)) and _number(fact) is not None), None)

    def gib(self, *keys: str) -> float | None:
        return _number(self._first(keys))

    def whole(self, *keys: str) -> int | None:
        value = _number(self._first(keys))
        return int(value) if value is not None and value > 0 else None

    def line(self, *keys: str) -> int:
        fact = self._first(keys)
        return fact.line if fact else 0

    def text(self, key: str) -> str:
        fact = self._facts.get(key)
        return str(fact.value) if fact else ""

    def true(self, key: str) -> bool:
        fact = self._facts.get(key)
        return fact is not None and (fact.value is True or str(fact.value).casefold() == "true")


def _number(fact: Fact | None) -> float | None:
    if fact is None or isinstance(fact.value, (bool, tuple)):
        return None
    try:
        value = float(fact.value)
    except ValueError:
        return None
    return value if abs(value) < 1e12 else None


def _total(read: _Reader, name: str) -> tuple[float | None, int, bool]:
    for key in ("memory.total_gib", "gpu.memory_gib"):
        value = read.gib(key)
        if value is not None and value > _LEAST:
            return value, read.line(key), True
    gpu = find_gpu(name) if name else None
    if gpu is None or gpu.memory_gb is None:
        return None, 0, False
    # 128 GB of unified memory show as about 121.7 GiB.
    return round(gpu.memory_gb * (0.951 if gpu.unified else _VISIBLE_SHARE), 1), read.line("gpu.name"), False


def _unified(name: str) -> bool:
    gpu = find_gpu(name) if name else None
    return gpu.unified if gpu else bool(_UNIFIED.search(name))


def _hybrid(read: _Reader) -> bool | None:
    """True where the log or the family says so; False only where the family is known to be plain attention."""
    if read.true("model.hybrid"):
        return True
    from logdoctor.knowledge.models import find_model

    family = find_model(read.text("model.name"))
    return family.hybrid if family else None


def _cards(read: _Reader) -> int:
    count = (read.whole("parallel.tensor", "args.tensor_parallel_size") or 1) * (
        read.whole("parallel.pipeline", "args.pipeline_parallel_size") or 1
    )
    return max(1, min(count, 4096))


def _bounded(count: int | None) -> int | None:
    return count if count is not None and count <= 4096 else None


def _billions(read: _Reader) -> float | None:
    """The size that a model's name states: `120B` in `…-Super-120B-A12B-…`, not the active `A12B`."""
    for key in ("model.name", "model.served_name"):
        found = _BILLIONS.search(read.text(key).replace("_", "-").replace("/", " "))
        if found:
            return float(found[1])
    return None
