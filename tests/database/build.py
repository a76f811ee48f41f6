"""Signatures for the tests, sound unless a test makes them otherwise."""

from __future__ import annotations

from typing import Any

from logdoctor.database.schema import Example, Examples, MatchBlock, MatchItem, Signature
from logdoctor.model import Basis, Confidence, Phase, Severity

SOUND: dict[str, Any] = {
    "id": "kv-too-small",
    "title": "KV cache holds less than one request",
    "severity": Severity.INFO,
    "phase": Phase.KV_CACHE,
    "cause": "The context length reserves more memory than weights and activations have left on this card.",
    "confidence": Confidence.CERTAIN,
    "basis": Basis.SOURCE,
    "match": MatchBlock(any=(MatchItem(pattern=r"needs (?P<need>[\d.]+) GiB of KV cache"),)),
    "references": ("vllm/v1/core/kv_cache_utils.py",),
    "examples": Examples((Example("needs 3.2 GiB of KV cache"),), (Example("has 3.2 GiB"),)),
    "file": "signatures/memory.yaml",
    "line": 7,
}


def signature(**changes: Any) -> Signature:
    """Return a sound signature with some fields changed."""
    return Signature(**(SOUND | changes))


def any_of(*items: str, **fields: Any) -> MatchBlock:
    """Return a block that any of the patterns satisfies."""
    return MatchBlock(any=tuple(MatchItem(pattern=item, **fields) for item in items))
