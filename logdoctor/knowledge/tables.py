"""The generated tables of `data/versions.json`: what exists in which vLLM release.

The file holds, per name, the releases that have it as ranges over the releases that were read
(`0.11.1..0.23.0`, `0.17.0+`), and what changed on the way as `{"history": [[since, value], …]}`.
It is read on the first question and kept; nothing here needs more than `json`.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from logdoctor.knowledge.releases import Version, VersionRange, parse_range, parse_version

DATA = Path(__file__).with_name("data")

Record = dict[str, Any]


class Kind(str, Enum):
    """The sorts of names that come and go between releases."""

    ENV = "env"
    FLAG = "flag"
    REASONING_PARSER = "reasoning_parser"
    TOOL_PARSER = "tool_parser"
    QUANTIZATION = "quantization"
    ATTENTION_BACKEND = "attention_backend"
    ARCHITECTURE = "architecture"

    @property
    def label(self) -> str:
        """The sort in words, as a sentence names it."""
        return _LABELS[self]


_TABLES = {
    Kind.ENV: "env",
    Kind.FLAG: "flags",
    Kind.REASONING_PARSER: "reasoning_parsers",
    Kind.TOOL_PARSER: "tool_parsers",
    Kind.QUANTIZATION: "quantization_methods",
    Kind.ATTENTION_BACKEND: "attention_backends",
    Kind.ARCHITECTURE: "architectures",
}
_LABELS = {
    Kind.ENV: "environment variable",
    Kind.FLAG: "flag",
    Kind.REASONING_PARSER: "reasoning parser",
    Kind.TOOL_PARSER: "tool call parser",
    Kind.QUANTIZATION: "quantization method",
    Kind.ATTENTION_BACKEND: "attention backend",
    Kind.ARCHITECTURE: "model architecture",
}
VALUE_KINDS = {
    "--reasoning-parser": Kind.REASONING_PARSER,
    "--tool-call-parser": Kind.TOOL_PARSER,
    "--quantization": Kind.QUANTIZATION,
    "--attention-backend": Kind.ATTENTION_BACKEND,
    "VLLM_ATTENTION_BACKEND": Kind.ATTENTION_BACKEND,
}
"""Flags and variables whose values are names of another table."""


class Span(NamedTuple):
    """A run of releases without a gap."""

    first: Version
    last: Version
    open: bool
    """True when it reaches the newest release that was read."""


class Availability(NamedTuple):
    """In which releases a name exists."""

    kind: Kind
    name: str
    """As vLLM writes it: `--moe-backend`, not `--moe_backend`."""
    spans: tuple[Span, ...]
    owner: str = ""
    """For a value: the flag or variable that takes it."""

    @property
    def introduced(self) -> Version:
        """The first release that has it; the oldest release read means "that one or earlier"."""
        return self.spans[0].first

    @property
    def since_the_oldest(self) -> bool:
        """True when it was there in the oldest release read, so that its beginning is unknown."""
        return self.introduced == known_versions()[0]

    @property
    def last(self) -> Version:
        """The newest release read that has it."""
        return self.spans[-1].last

    @property
    def removed(self) -> Version | None:
        """The first release without it, or None while it is still there."""
        if self.spans[-1].open:
            return None
        return known_versions()[bisect_right(known_versions(), self.last)]

    def exists_in(self, version: Version | None) -> bool | None:
        """Tell whether a release has it; None where the data cannot decide.

        Between two releases that were read, both neighbours must agree. Newer than the newest: an open range is
        taken to go on, anything else is unknown. Older than the oldest: what came later was not there yet.
        """
        if version is None:
            return None
        known = known_versions()
        if version > known[-1]:
            return True if self.spans[-1].open else None
        if version < known[0]:
            return None if self.since_the_oldest else False
        answers = {self._has(neighbour) for neighbour in _neighbours(version)}
        return answers.pop() if len(answers) == 1 else None

    def _has(self, version: Version) -> bool:
        return any(span.first <= version <= span.last for span in self.spans)


class Deprecation(NamedTuple):
    """What vLLM itself says about the end of a variable or flag that still works."""

    removal: str
    """The release it announces (`v0.23`), or empty."""
    advice: str
    """Its words on what to use, or empty."""


@cache
def document() -> dict[str, Any]:
    """Return the tables as they stand in the file; read once."""
    loaded: dict[str, Any] = json.loads((DATA / "versions.json").read_text("utf-8"))
    return loaded


@cache
def known_versions() -> tuple[Version, ...]:
    """Return the releases that were read, oldest first."""
    versions = (parse_version(text) for text in document()["versions"])
    return tuple(version for version in versions if version is not None)


def versions_in(text: str | VersionRange) -> tuple[Version, ...]:
    """Return the known releases that lie in a range such as `>=0.15.1,<0.20`."""
    return (parse_range(text) if isinstance(text, str) else text).select(known_versions())


def _neighbours(version: Version) -> tuple[Version, ...]:
    """Return the known releases between which a version lies: itself when known, both sides when not."""
    known = known_versions()
    place = bisect_left(known, version)
    if known[place] == version:
        return (known[place],)
    if not version.is_dev:
        return known[place - 1 : place + 1]
    # A development build is cut from the main branch, where the work for the next minor release goes on.
    end = next((i for i in range(place, len(known)) if known[i].minor > version.minor), len(known) - 1)
    return known[place - 1 : end + 1]


# -- names as people write them ---------------------------------------------------------------------------------------


class FlagText(NamedTuple):
    """A flag as typed, taken apart."""

    name: str
    """The plain flag: `--compilation-config` of `--compilation_config.mode=3`."""
    negated: bool = False
    """True for the `--no-…` form."""
    nested: str = ""
    """What follows the first dot, else empty."""
    value: str | None = None
    """What follows `=`, else None."""


def read_flag(text: str) -> FlagText:
    """Take a flag apart: underscores, `=value`, `--no-…`, `--config.key`, and short forms such as `-tp` and `-O3`."""
    name, equals, value = text.strip().partition("=")
    given = value if equals else None
    name, _, nested = name.partition(".")
    nested = nested.removesuffix("+")
    if not name.startswith("--"):
        if name.startswith("-O"):
            return FlagText("-O", nested=nested, value=name[2:] or given)
        return FlagText(name, nested=nested, value=given)
    name = name.replace("_", "-")
    if name.startswith("--no-") and name not in _table(Kind.FLAG):
        return FlagText("--" + name[len("--no-") :], negated=True, nested=nested, value=given)
    return FlagText(name, nested=nested, value=given)


def canonical(kind: Kind, name: str) -> str:
    """Bring a name into the form of the tables; a name that is not in them keeps what was typed, tidied."""
    name = name.strip().strip("'\"")
    if kind is Kind.FLAG:
        flag = read_flag(name)
        plain = flag.name if flag.name in _table(kind) else _aliases().get(flag.name, flag.name)
        return f"--no-{plain[2:]}" if flag.negated else plain
    if kind is Kind.ENV:
        return name.partition("=")[0]
    if kind is Kind.ATTENTION_BACKEND:
        return name.rpartition(".")[2].upper()
    return name


@cache
def _aliases() -> dict[str, str]:
    """Map `-tp` or a second long spelling to the flag it stands for, from every release that had it."""
    aliases = {"-O": "--compilation-config"}
    for name, record in _table(Kind.FLAG).items():
        for _, listed in history(record.get("alias"), known_versions()[0]):
            for alias in listed or ():
                aliases.setdefault(alias, name)
    return aliases


# -- look-ups ---------------------------------------------------------------------------------------------------------


def _table(kind: Kind) -> dict[str, Any]:
    table: dict[str, Any] = document()[_TABLES[kind]]
    return table


def record_of(kind: Kind, name: str) -> Record | None:
    """Return what the file says about a canonical name, or None."""
    found = _table(kind).get(name)
    return {"in": found} if isinstance(found, str) else found


def lookup(kind: Kind, name: str) -> Availability | None:
    """Return the releases that have a name, or None for one that no release has.

    A flag may be given in any form that argparse or vLLM takes; the `--no-` form exists for switches only, and a
    short or second spelling only in the releases that have that spelling.
    """
    if kind is Kind.FLAG:
        return _lookup_flag(read_flag(name.strip()))
    name = canonical(kind, name)
    record = record_of(kind, name)
    return Availability(kind, name, read_spans(record["in"])) if record else None


def _lookup_flag(flag: FlagText) -> Availability | None:
    record = record_of(Kind.FLAG, flag.name)
    if record is None:
        return _lookup_alias(flag.name)
    if flag.negated and not record.get("bool"):
        return None
    name = f"--no-{flag.name[2:]}" if flag.negated else flag.name
    return Availability(Kind.FLAG, name, read_spans(record["in"]))


@cache
def _lookup_alias(alias: str) -> Availability | None:
    entry = lookup(Kind.FLAG, _aliases()[alias]) if alias in _aliases() else None
    if entry is None:
        return None
    if alias == "-O":  # passed on to --optimization-level since 0.12.0, an alias before
        return Availability(Kind.FLAG, alias, entry.spans)
    having = [
        version
        for version in known_versions()
        if entry.exists_in(version) and alias in (attribute(Kind.FLAG, entry.name, "alias", version) or ())
    ]
    return Availability(Kind.FLAG, alias, spans_of(having))


def spans_of(having: Iterable[Version]) -> tuple[Span, ...]:
    """Roll known releases up into runs without a gap."""
    known = known_versions()
    spans: list[Span] = []
    for version in sorted(having):
        follows = spans and known.index(spans[-1].last) + 1 == known.index(version)
        first = spans.pop().first if follows else version
        spans.append(Span(first, version, version == known[-1]))
    return tuple(spans)


@cache
def read_spans(text: str) -> tuple[Span, ...]:
    """Read `0.8.5..0.9.2,0.11.0+` as spans."""
    spans = []
    for part in text.split(","):
        first, dots, last = part.removesuffix("+").partition("..")
        is_open = part.endswith("+")
        spans.append(Span(_known(first), known_versions()[-1] if is_open else _known(last if dots else first), is_open))
    return tuple(spans)


def _known(text: str) -> Version:
    version = parse_version(text)
    if version is None:
        raise ValueError(f"versions.json names a version that cannot be read: {text!r}")
    return version


def names(kind: Kind, version: Version | None = None) -> tuple[str, ...]:
    """Return the names that a release is known to have, sorted; of every release when none is given."""
    if version is None:
        return tuple(sorted(_table(kind)))
    found = (lookup(kind, name) for name in sorted(_table(kind)))
    return tuple(entry.name for entry in found if entry and entry.exists_in(version))


def is_covered(kind: Kind, name: str) -> bool:
    """Tell whether the tables would hold this name if it existed: only some architectures are recorded."""
    if kind is Kind.ARCHITECTURE:
        return re.search(document()["architecture_pattern"], name) is not None
    return kind is not Kind.ENV or name.startswith("VLLM_") or name in _table(kind)


def history(value: Any, first: Version) -> tuple[tuple[Version, Any], ...]:
    """Return a recorded attribute as (since, value) pairs; a constant holds from `first` on."""
    if isinstance(value, dict) and "history" in value:
        return tuple((_known(since), item) for since, item in value["history"])
    return ((first, value),)


def attribute(kind: Kind, name: str, key: str, version: Version) -> Any:
    """Return an attribute (`choices`, `deprecated`) as it stands in a release that has the name, else None."""
    entry = lookup(kind, name)
    if entry is None or entry.exists_in(version) is False:
        return None
    record = record_of(kind, entry.name) or {}
    current = None
    for since, value in history(record.get(key), entry.introduced):
        if since <= version:
            current = value
    return current


def deprecation(kind: Kind, name: str, version: Version | None) -> Deprecation | None:
    """Return the deprecation that a release prints for a variable or flag, or None."""
    found = attribute(kind, name, "deprecated", version) if version is not None else None
    if not found:
        return None
    removal, advice = found if isinstance(found, list) else ("", "")
    return Deprecation(removal=removal or "", advice=advice or "")


def log_names(table: str, version: Version | None) -> tuple[str, ...] | None:
    """Return the back-end names that a release prints (`nvfp4_moe`, `mxfp4_moe`, `nvfp4_linear_enum`,
    `nvfp4_linear_kernels`), or None where it prints none of that kind."""
    if version is None:
        return None
    current = None
    for since, listed in document()["log_names"][table]:
        if _known(since) <= version:
            current = listed
    return tuple(current) if current else None
