"""Which values a flag or a variable takes, by release.

The values are those that vLLM itself ships: a plugin may register more parsers or quantization methods.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from logdoctor.knowledge.releases import Version
from logdoctor.knowledge.tables import (
    VALUE_KINDS,
    Availability,
    Kind,
    Span,
    attribute,
    canonical,
    known_versions,
    lookup,
    names,
    record_of,
    spans_of,
)

# `--moe-backend` and `--linear-backend` fold their value before argparse compares it (engine/arg_utils.py).
_FOLDED = frozenset({"--moe-backend", "--linear-backend"})
# Variables declared with `case_sensitive=False` (envs.py).
_ANY_CASE = frozenset({"VLLM_FLOAT32_MATMUL_PRECISION", "VLLM_MM_HASHER_ALGORITHM"})


def flag_choices(flag: str, version: Version | None) -> tuple[str, ...] | None:
    """Return the values a flag takes in a release, in vLLM's order; None for free text or where it is unknown.

    Between two releases that were read, the older one's list is given.
    """
    return _choices(Kind.FLAG, canonical(Kind.FLAG, flag), version)


def env_choices(name: str, version: Version | None) -> tuple[str, ...] | None:
    """Return the values a variable takes in a release; None for free text or where it is unknown."""
    return _choices(Kind.ENV, canonical(Kind.ENV, name), version)


def _choices(kind: Kind, owner: str, version: Version | None) -> tuple[str, ...] | None:
    if version is None:
        return None
    entry = lookup(kind, owner)
    if entry is None or entry.exists_in(version) is False:
        return None
    if owner in VALUE_KINDS:
        return names(VALUE_KINDS[owner], version) or None
    found: list[Any] | None = attribute(kind, owner, "choices", version)
    return tuple(dict.fromkeys(str(item) for item in found)) if found else None


def owner_kind(owner: str) -> Kind:
    """Tell a flag from a variable by its spelling."""
    return Kind.FLAG if owner.startswith("-") else Kind.ENV


def canonical_value(owner: str, value: str) -> str:
    """Bring a value into the form of the lists, as vLLM does before it compares."""
    value = value.strip().strip("'\"")
    if owner in VALUE_KINDS:
        return canonical(VALUE_KINDS[owner], value)
    if owner in _FOLDED:
        return value.lower().replace("-", "_")
    return value.lower() if owner in _ANY_CASE else value


def lookup_value(owner: str, value: str) -> Availability | None:
    """Return the releases in which a flag or variable takes a value.

    None where no release takes it, and where no release has a list (free text): ask `has_choices` to tell them apart.
    """
    kind = owner_kind(owner)
    owner = canonical(kind, owner)
    value = canonical_value(owner, value)
    if owner in VALUE_KINDS:
        found = lookup(VALUE_KINDS[owner], value)
        return Availability(found.kind, found.name, found.spans, owner) if found else None
    spans = _value_spans(kind, owner, value)
    return Availability(kind, value, spans, owner) if spans else None


@cache
def _value_spans(kind: Kind, owner: str, value: str) -> tuple[Span, ...]:
    """Collect the runs of releases whose list holds the value, or that stopped having a list."""
    entry = lookup(kind, owner)
    if entry is None or not has_choices(owner):
        return ()
    return spans_of(
        version
        for version in known_versions()
        if entry.exists_in(version) and (not (listed := _choices(kind, owner, version)) or value in listed)
    )


def has_choices(owner: str) -> bool:
    """Tell whether any release checks this flag's or variable's value against a list."""
    kind = owner_kind(owner)
    owner = canonical(kind, owner)
    return owner in VALUE_KINDS or "choices" in (record_of(kind, owner) or {})


def is_unset(owner: str, value: str) -> bool:
    """Tell whether a value means "not given": some releases take `auto` or `none` where a name of a table goes."""
    return canonical(owner_kind(owner), owner) in VALUE_KINDS and value.strip().lower() in ("", "auto", "none")


def value_exists(owner: str, value: str, version: Version | None) -> bool | None:
    """Tell whether a release takes a value; None for free text and where the data cannot decide."""
    kind = owner_kind(owner)
    entry = lookup(kind, owner)
    if entry is None or version is None:
        return None
    if entry.exists_in(version) is not True:
        return entry.exists_in(version)
    if not has_choices(owner) or is_unset(owner, value):
        return None
    found = lookup_value(owner, value)
    if found is not None:
        return found.exists_in(version)
    return False if version <= known_versions()[-1] else None
