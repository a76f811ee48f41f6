"""Model families by name: what a diagnosis needs to know that no log says."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import NamedTuple

from logdoctor.knowledge.releases import Version
from logdoctor.knowledge.tables import DATA, Kind, lookup


class ModelFacts(NamedTuple):
    """What is true of a family of models; None and empty mean that it is not known."""

    family: str
    """`Nemotron 3 Super`."""
    hybrid: bool | None
    """True when Mamba or linear-attention layers stand beside attention: state blocks, large attention blocks."""
    moe: bool | None
    """True for a mixture of experts."""
    gated_experts: bool | None
    """False for experts without a gate (Nemotron 3): many MoE kernels refuse those."""
    reasoning_parsers: tuple[str, ...]
    """Every `--reasoning-parser` that is right, the best first."""
    tool_parsers: tuple[str, ...]
    """Every `--tool-call-parser` that is right, the best first."""
    architectures: tuple[str, ...]
    vllm: str
    """The oldest release that is said to serve it, or empty."""
    note: str
    basis: str
    """`source` or `maintainers` (vLLM's documentation and recipes)."""
    reference: str

    def reasoning_parser(self, version: Version | None) -> str | None:
        """Return the best reasoning parser that a release has, or None."""
        return _best(Kind.REASONING_PARSER, self.reasoning_parsers, version)

    def tool_parser(self, version: Version | None) -> str | None:
        """Return the best tool call parser that a release has, or None."""
        return _best(Kind.TOOL_PARSER, self.tool_parsers, version)


def _best(kind: Kind, candidates: tuple[str, ...], version: Version | None) -> str | None:
    for name in candidates:
        entry = lookup(kind, name)
        if entry is not None and (version is None or entry.exists_in(version)):
            return name
    return None


@cache
def _families() -> tuple[tuple[re.Pattern[str], ModelFacts], ...]:
    rows = json.loads((DATA / "models.json").read_text("utf-8"))["models"]
    return tuple(
        (
            re.compile(row["match"]),
            ModelFacts(
                family=row["family"],
                hybrid=row.get("hybrid"),
                moe=row.get("moe"),
                gated_experts=row.get("gated_experts"),
                reasoning_parsers=tuple(row.get("reasoning_parsers", ())),
                tool_parsers=tuple(row.get("tool_parsers", ())),
                architectures=tuple(row.get("architectures", ())),
                vllm=row.get("vllm", ""),
                note=row.get("note", ""),
                basis=row["basis"],
                reference=row["reference"],
            ),
        )
        for row in rows
    )


def models() -> tuple[ModelFacts, ...]:
    """Return every family known, the most specific names first."""
    return tuple(facts for _, facts in _families())


def find_model(name: str | None) -> ModelFacts | None:
    """Return the family that a repository id, a path or a hub cache folder names; None when it is not known.

    The parts of a path are tried from the last, so that a folder above does not decide.
    """
    text = (name or "")[:500].lower().replace("_", "-").replace("--", "/")
    for part in reversed(text.split("/")):
        for pattern, facts in _families():
            if part and pattern.search(part):
                return facts
    return None
