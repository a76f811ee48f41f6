"""What to use instead of a name: a table kept by hand, two rules, and the nearest spelling."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from logdoctor.knowledge.releases import Version, parse_range
from logdoctor.knowledge.tables import DATA, Kind, canonical, lookup, names
from logdoctor.knowledge.values import canonical_value, env_choices, flag_choices, owner_kind

_CUTOFF = 0.7  # below it difflib's neighbours are of another subject


class Successor(NamedTuple):
    """What replaces a name in some releases."""

    use: str
    """To type: `--moe-backend`, `--linear-backend fbgemm`, `VLLM_X`, `nemotron_v3`; empty when nothing replaces it."""
    note: str = ""
    """A sentence on how to use it, or why nothing is needed."""
    vllm: str = ""
    """The releases in which it is right, as a range; empty for all that have it."""
    basis: str = "source"
    """`source`, `maintainers`, `field-report`, or `inferred` (concluded from names and ranges)."""


@cache
def _document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DATA / "successors.json").read_text("utf-8"))
    return loaded


@cache
def _rows() -> dict[tuple[str, str, str], tuple[Successor, ...]]:
    rows: dict[tuple[str, str, str], tuple[Successor, ...]] = {}
    for row in _document()["successors"]:
        key = (row["kind"], row.get("owner", ""), row["name"])
        successor = Successor(row["use"], row.get("note", ""), row.get("vllm", ""), row.get("basis", "source"))
        rows[key] = (*rows.get(key, ()), successor)
    return rows


def all_successors() -> tuple[tuple[str, str, str, Successor], ...]:
    """Return the whole table as (kind or `value`, owner, name, successor), for its tests and for documents."""
    return tuple((*key, successor) for key, found in _rows().items() for successor in found)


def successor_of(kind: Kind, name: str, version: Version | None) -> Successor | None:
    """Return what replaces a name in a release (the newest answer when the release is unknown), or None."""
    name = canonical(kind, name)
    rows = _rows().get((kind.value, "", name), ())
    found = _first_usable((row for row in rows if _is_there(kind, row.use, version)), version)
    return found or _namesake(kind, name, version)


def value_successor(owner: str, value: str, version: Version | None) -> Successor | None:
    """Return what replaces a value of a flag or variable in a release, or None."""
    owner = canonical(owner_kind(owner), owner)
    return _first_usable(_rows().get(("value", owner, canonical_value(owner, value)), ()), version)


def _first_usable(found: Iterable[Successor], version: Version | None) -> Successor | None:
    return next((entry for entry in found if version is None or parse_range(entry.vllm).contains(version)), None)


def _is_there(kind: Kind, use: str, version: Version | None) -> bool:
    """Whether a release has what a row names; what is no single name of a table is taken at its word."""
    word = use.split("=")[0].split(" ")[0]
    if use.startswith("-"):
        kind = Kind.FLAG
    elif word.startswith("VLLM_"):
        kind = Kind.ENV
    entry = lookup(kind, word) if word and version is not None else None
    return entry is None or entry.exists_in(version) is not False


def _namesake(kind: Kind, name: str, version: Version | None) -> Successor | None:
    """Find the flag that a variable is named after (VLLM_MAX_MODEL_LEN), and the other way round."""
    if kind is Kind.ENV and name.startswith("VLLM_"):
        other, twin = Kind.FLAG, "--" + name.removeprefix("VLLM_").lower().replace("_", "-")
    elif kind is Kind.FLAG and name.startswith("--"):
        other, twin = Kind.ENV, "VLLM_" + name[2:].upper().replace("-", "_")
    else:
        return None
    entry = lookup(other, twin)
    if entry is None or (version is not None and not entry.exists_in(version)):
        return None
    return Successor(twin, basis="inferred")


def nearest(kind: Kind, name: str, version: Version | None = None) -> str | None:
    """Return the name of a release (of any, when unknown) that is spelled most like this one, or None."""
    return _closest(canonical(kind, name), names(kind, version))


def nearest_value(owner: str, value: str, version: Version | None) -> str | None:
    """Return the value of a flag or variable that is spelled most like this one, or None."""
    choices = (flag_choices if owner_kind(owner) is Kind.FLAG else env_choices)(owner, version)
    return _closest(value, choices or ())


def nearest_of(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that is spelled most like a name, or None when none is near."""
    return _closest(name, candidates)


def likeness(name: str, other: str) -> float:
    """Return from 0 to 1 how alike two names are spelled, without what all names of a kind share."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, _fold(name), _fold(other), autojunk=False).ratio()


def _closest(name: str, candidates: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # only needed once something is wrong

    folded: dict[str, str] = {}
    for candidate in candidates:
        folded.setdefault(_fold(candidate), candidate)
    found = get_close_matches(_fold(name), list(folded), n=1, cutoff=_CUTOFF)
    return folded[found[0]] if found else None


def _fold(name: str) -> str:
    """Strip what all names of a kind share, so that it does not count as likeness."""
    return re.sub(r"^(?:VLLM_|--)", "", name).lower().replace("-", "_")


def foreign_note(name: str) -> str:
    """Say where a `VLLM_…` variable comes from when it is not meant for vLLM's table; empty for all others."""
    for entry in _document()["foreign"]:
        if re.fullmatch(entry["pattern"], name):
            return str(entry["note"])
    return ""
