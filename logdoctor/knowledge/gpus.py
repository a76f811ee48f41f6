"""GPUs by the names that nvidia-smi, PyTorch and people use: compute capability, memory, architecture."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, NamedTuple

from logdoctor.knowledge.tables import DATA

# Words that a name may carry and that tell nothing apart.
_NOISE = frozenset({"nvidia", "amd", "instinct", "tesla", "geforce", "gpu", "graphics", "device", "superchip"})


class Gpu(NamedTuple):
    """One model of GPU."""

    name: str
    """As the driver prints it, without the variant: `NVIDIA H100`, `Tesla T4`, `NVIDIA GB10`."""
    vendor: str
    """`NVIDIA` or `AMD`."""
    compute_capability: str
    """`12.1`; what PyTorch reports, also for AMD."""
    architecture: str
    """`Blackwell`, `Hopper`, `Ada Lovelace`, `Ampere`, `Turing`, `Volta`, `Pascal`, `CDNA 3`."""
    memory_gb: int | None
    """As sold; None where the model comes in several sizes and the name does not say which."""
    unified: bool = False
    """True when the GPU shares the system's memory (GB10, Thor, Orin): page cache and programs take from it."""

    @property
    def sm(self) -> str:
        """The name of the capability in build lists: `sm_121`. Empty for AMD."""
        return f"sm_{self.compute_capability.replace('.', '')}" if self.vendor == "NVIDIA" else ""


@cache
def _rows() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads((DATA / "gpus.json").read_text("utf-8"))["gpus"])


@cache
def _aliases() -> dict[tuple[str, ...], int]:
    return {tuple(alias.split()): place for place, row in enumerate(_rows()) for alias in row["aliases"]}


def gpus() -> tuple[Gpu, ...]:
    """Return every GPU known, newest architecture first."""
    return tuple(_gpu(row, frozenset()) for row in _rows())


def find_gpu(name: str | None) -> Gpu | None:
    """Return the GPU that a name means: `NVIDIA H100 80GB HBM3`, `rtx5090`, `DGX Spark`; None when it is not known.

    The longest alias found in the name decides, so that `RTX 6000 Ada` is no `RTX 6000`.
    """
    words = _words(name or "")
    longest = max(map(len, _aliases()))
    for length in range(min(longest, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            place = _aliases().get(tuple(words[start : start + length]))
            if place is not None:
                return _gpu(_rows()[place], frozenset(words))
    return None


def infer_from_memory(gib: float) -> Gpu | None:
    """Return the GPU that a total device memory gives away; None wherever more than one model reports it."""
    found = [row for row in _rows() if "visible_gib" in row and row["visible_gib"][0] <= gib <= row["visible_gib"][1]]
    return _gpu(found[0], frozenset()) if len(found) == 1 else None


def _words(name: str) -> list[str]:
    """Split a name into words: `RTX5090-32GB` is `rtx`, `5090`, `32gb`."""
    text = re.sub(r"[^a-z0-9]+", " ", name[:200].lower())
    text = re.sub(r"\b(rtx|gtx)(?=a?\d)", r"\1 ", text)
    text = re.sub(r"\b(\d+) (?=gi?b?\b)", r"\1", text)
    return [word for word in text.split() if word not in _NOISE]


def _gpu(row: dict[str, Any], words: frozenset[str]) -> Gpu:
    sizes: list[int] = row["memory_gb"]
    named = [size for size in sizes if words & {f"{size}gb", f"{size}g", f"{size}gib"}]
    only = sizes[0] if len(sizes) == 1 and "laptop" not in words else None  # a laptop's part has less than its namesake
    size = named[0] if named else only
    return Gpu(
        name=row["name"],
        vendor=row.get("vendor", "NVIDIA"),
        compute_capability=row["capability"],
        architecture=row["architecture"],
        memory_gb=size,
        unified=row.get("unified", False),
    )
