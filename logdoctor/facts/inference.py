"""Facts that follow from other facts. They say so: their origin is `inferred`.

Nothing stated by a log, a launch file or by hand is ever replaced here, so that the rules can run again after facts
were given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Protocol

from logdoctor.model import Fact, FactValue


class Gpu(Protocol):
    """What the rules need to know of a GPU; `logdoctor.knowledge.gpus` has the table."""

    @property
    def name(self) -> str:
        """The name under which reports speak of it."""

    @property
    def compute_capability(self) -> str:
        """As text, `12.1`."""

    @property
    def vendor(self) -> str:
        """`NVIDIA` or `AMD`."""


FindGpu = Callable[[str], "Gpu | None"]
InferGpu = Callable[[float], "Gpu | None"]

_MOE_ARCHITECTURE = re.compile(
    r"Moe|MoE|Mixtral|Deepseek(?:V[234]|OCR)|GptOss|Llama4|Arctic|Dbrx|Jamba|KimiK2|Ernie4_5_M"
)
_HYBRID_ARCHITECTURE = re.compile(
    r"Mamba|NemotronH|Jamba|Bamba|Zamba|Qwen3Next|Qwen3_5|FalconH1|GraniteMoeHybrid|Plamo2"
)
_DEVELOPMENT = re.compile(r"\.?dev\d*|\d(?:rc|a|b)\d+|\+g[0-9a-f]{6,}")
_MARLIN = re.compile("marlin", re.IGNORECASE)
_CPU = "cpu"
_PLATFORMS = {"NVIDIA": "cuda", "AMD": "rocm"}


def infer_facts(
    facts: Mapping[str, Fact], find_gpu: FindGpu | None = None, infer_from_memory: InferGpu | None = None
) -> dict[str, Fact]:
    """Give the facts with what follows from them; the GPU table is used unless another one is handed in."""
    known = {key: fact for key, fact in facts.items() if fact.origin != "inferred" or _rests_on_the_log(key)}
    _infer_image(known)
    _infer_model(known)
    _infer_kernels(known)
    _infer_loading(known)
    if find_gpu is None or infer_from_memory is None:
        from logdoctor.knowledge import gpus

        find_gpu, infer_from_memory = find_gpu or gpus.find_gpu, infer_from_memory or gpus.infer_from_memory
    _infer_gpu(known, find_gpu, infer_from_memory)
    return known


def _rests_on_the_log(key: str) -> bool:
    """Whether an inferred fact came from the collector, which is not at hand here to say it again."""
    return key.startswith("args.")


def _infer(known: dict[str, Fact], key: str, value: FactValue | None, source: Fact) -> None:
    if value is not None and key not in known:
        known[key] = Fact(key, value, source.line, source.process, "inferred")


def _infer_image(known: dict[str, Fact]) -> None:
    printed = known.get("vllm.version")
    if printed is not None:
        development = _DEVELOPMENT.search(str(printed.value))
        _infer(known, "image.style", "nightly" if development else "release", printed)


def _infer_model(known: dict[str, Fact]) -> None:
    architecture = known.get("model.architecture")
    if architecture is None:
        return
    name = str(architecture.value)
    _infer(known, "model.moe", True if _MOE_ARCHITECTURE.search(name) else None, architecture)
    _infer(known, "model.hybrid", True if _HYBRID_ARCHITECTURE.search(name) else None, architecture)


def _infer_kernels(known: dict[str, Fact]) -> None:
    for key in ("nvfp4.linear_backend", "nvfp4.moe_backend"):
        backend = known.get(key)
        if backend is not None and _MARLIN.search(str(backend.value)):
            _infer(known, "nvfp4.marlin", True, backend)


def _infer_loading(known: dict[str, Fact]) -> None:
    done, elapsed = known.get("weights.shards_done"), known.get("weights.elapsed_seconds")
    if done and elapsed and isinstance(done.value, int) and isinstance(elapsed.value, float) and done.value > 0:
        pace = round(elapsed.value / done.value, 2) if elapsed.value else None
        _infer(known, "weights.seconds_per_shard", pace, done)
    for target, source in (
        ("memory.weights_gib", "weights.gib"),
        ("memory.graphs_gib", "graphs.gib"),
        ("weights.seconds", "model.load_seconds"),
    ):
        if source in known:
            _infer(known, target, known[source].value, known[source])


def _infer_gpu(known: dict[str, Fact], find_gpu: FindGpu, infer_from_memory: InferGpu) -> None:
    memory = known.get("memory.total_gib")
    platform = known.get("platform")
    if platform is not None and platform.value == _CPU:
        return
    if memory is not None:
        _infer(known, "gpu.memory_gib", memory.value, memory)
    total = known.get("gpu.memory_gib")
    if total is not None and "gpu.name" not in known and isinstance(total.value, (int, float)):
        gpu = infer_from_memory(float(total.value))
        capability = known.get("gpu.compute_capability")
        if gpu is not None and (capability is None or capability.value == gpu.compute_capability):
            _infer(known, "gpu.name", gpu.name, total)
    name = known.get("gpu.name")
    if name is not None:
        gpu = find_gpu(str(name.value))
        _infer(known, "gpu.compute_capability", gpu.compute_capability if gpu else None, name)
        _infer(known, "platform", _PLATFORMS.get(gpu.vendor) if gpu else None, name)
