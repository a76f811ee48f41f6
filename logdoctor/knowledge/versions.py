"""The version knowledge in one place: which release has which name, which value, and what to use instead.

parse_version, Version, parse_range, VersionRange        numbers and ranges
known_versions, versions_in                              the releases that were read
lookup, names, deprecation, log_names                    names: flags, variables, parsers, back ends …
flag_choices, env_choices, lookup_value, value_exists    values
nearest, successor_of                                    what was meant, what replaced it
describe_absence, describe_value, describe_setting       all of it as a typed answer with a sentence
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from logdoctor.knowledge.releases import Version, VersionRange, parse_range, parse_version
from logdoctor.knowledge.tables import (
    Availability,
    Deprecation,
    FlagText,
    Kind,
    Span,
    canonical,
    deprecation,
    known_versions,
    log_names,
    lookup,
    names,
    read_flag,
    versions_in,
)
from logdoctor.knowledge.values import (
    canonical_value,
    env_choices,
    flag_choices,
    has_choices,
    lookup_value,
    value_exists,
)

if TYPE_CHECKING:
    from logdoctor.knowledge.absence import Absence, Presence, describe_absence, describe_setting, describe_value
    from logdoctor.knowledge.successors import Successor, nearest, nearest_value, successor_of, value_successor

__all__ = [
    "Absence",
    "Availability",
    "Deprecation",
    "FlagText",
    "Kind",
    "Presence",
    "Span",
    "Successor",
    "Version",
    "VersionRange",
    "canonical",
    "canonical_value",
    "deprecation",
    "describe_absence",
    "describe_setting",
    "describe_value",
    "env_choices",
    "flag_choices",
    "has_choices",
    "known_versions",
    "log_names",
    "lookup",
    "lookup_value",
    "names",
    "nearest",
    "nearest_value",
    "parse_range",
    "parse_version",
    "read_flag",
    "successor_of",
    "value_exists",
    "value_successor",
    "versions_in",
]

_LATE = {
    "logdoctor.knowledge.absence": ("Absence", "Presence", "describe_absence", "describe_setting", "describe_value"),
    "logdoctor.knowledge.successors": ("Successor", "nearest", "nearest_value", "successor_of", "value_successor"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, provided in _LATE.items():
        if name in provided:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
