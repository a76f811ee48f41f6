"""What a remedy costs, for where it stands against another one and the reader has to choose."""

from __future__ import annotations

import re

from logdoctor.model import Remedy

_PRICES: tuple[tuple[str, str], ...] = (
    (r"flag --enforce-eager\b|remove --compilation-config", "without CUDA graphs every token takes longer"),
    (r"remove --enforce-eager|flag --no-enforce-eager", "CUDA graphs take memory, and the start takes longer"),
    (r"(?:flag|env) .*marlin", "weights only: no arithmetic in 4 or 8 bit, so that long prompts take longer"),
    (r"flag --(?:moe|linear|attention)-backend|env VLLM_\w*BACKEND", "its kernels may lack this GPU"),
    (r"image .*nightly", "a build between releases, which changes from day to day"),
    (r"image ", "another release, which brings other changes as well"),
    (r"env NCCL_P2P_DISABLE", "the GPUs talk through the memory of the host, which is slower"),
    (r"flag --kv-cache-dtype fp8", "a KV cache in 8 bit, which can cost accuracy"),
)  # fmt: skip
"""By how a remedy begins. The first that fits tells."""
_LESS = {
    "--gpu-memory-utilization": "a smaller KV cache: fewer or shorter requests at once",
    "--kv-cache-memory-bytes": "a smaller KV cache: fewer or shorter requests at once",
    "--max-model-len": "long requests are refused",
    "--max-num-seqs": "fewer requests at once",
    "--max-num-batched-tokens": "long prompts are read in more steps",
    "--tensor-parallel-size": "more of the model on each GPU",
}
_MORE = {
    "--gpu-memory-utilization": "less memory for graphs and for other programs",
    "--kv-cache-memory-bytes": "less memory for graphs and for other programs",
    "--max-model-len": "a request can take more of the KV cache",
    "--max-num-seqs": "more memory at the start and for graphs",
    "--max-num-batched-tokens": "more memory for each step",
    "--tensor-parallel-size": "more GPUs, and traffic between them",
}
_SIZED = re.compile(r"(?<![\w-])(--[a-z-]+)[ =]([0-9]+(?:\.[0-9]+)?)")


def sized(remedy: Remedy) -> tuple[str, float] | None:
    """Return the first flag of a remedy that sets a number, with the number."""
    found = _SIZED.search(remedy.command) if remedy.kind == "flag" else None
    return (found[1], float(found[2])) if found else None


def price(remedy: Remedy, rival: Remedy) -> str:
    """Return what a remedy costs, beside the one that it stands against; empty where that is not known."""
    mine, theirs = sized(remedy), sized(rival)
    if mine is not None and mine[0] in _LESS:
        raised = theirs is not None and theirs[0] == mine[0] and mine[1] > theirs[1]
        return (_MORE if raised else _LESS)[mine[0]]
    text = f"{remedy.kind} {remedy.command}"
    return next((words for pattern, words in _PRICES if re.match(pattern, text)), "")
