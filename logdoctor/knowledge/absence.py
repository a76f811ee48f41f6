"""Say about a name or a value whether a release has it, since or until when, and what to use instead."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from logdoctor.knowledge.releases import Version
from logdoctor.knowledge.successors import (
    Successor,
    foreign_note,
    nearest,
    nearest_value,
    successor_of,
    value_successor,
)
from logdoctor.knowledge.tables import (
    VALUE_KINDS,
    Availability,
    Deprecation,
    Kind,
    canonical,
    deprecation,
    is_covered,
    known_versions,
    lookup,
    names,
    read_flag,
)
from logdoctor.knowledge.values import canonical_value, has_choices, is_unset, lookup_value, owner_kind


class Presence(str, Enum):
    """What a release knows of a name."""

    EXISTS = "exists"
    NEVER = "never"
    """No release that was read has it."""
    DROPPED = "dropped"
    LATER = "later"
    """It comes with a newer release."""
    UNKNOWN = "unknown"
    """Some releases have it, and the data cannot decide for this one."""


class Absence(NamedTuple):
    """The answer about one name in one release."""

    kind: Kind
    name: str
    """As vLLM writes it."""
    version: Version | None
    presence: Presence
    owner: str = ""
    """For a value: the flag or variable it was given to."""
    introduced: Version | None = None
    """The first release that has it (after this one, where it comes later)."""
    last: Version | None = None
    """The last release that had it, where it was dropped."""
    removed: Version | None = None
    """The first release without it."""
    nearest: str | None = None
    """The valid name of this release that is spelled most like it."""
    successor: Successor | None = None
    deprecation: Deprecation | None = None
    note: str = ""
    """Anything else worth a sentence: set by Kubernetes, a name of another table, an abbreviation."""

    @property
    def is_absent(self) -> bool:
        """True when the release is known not to have it."""
        return self.presence in (Presence.NEVER, Presence.DROPPED, Presence.LATER)

    @property
    def suggestion(self) -> str:
        """What to type instead: the successor, else the nearest name, else empty."""
        if self.successor is not None:
            return self.successor.use
        return self.nearest or ""

    @property
    def sentence(self) -> str:
        """The answer in plain words, with what to use instead."""
        parts = [f"{_statement(self)}{_hint(self)}."]
        if self.successor is not None and self.successor.note and self.presence is not Presence.EXISTS:
            parts.append(self.successor.note)
        if self.note:
            parts.append(self.note)
        return " ".join(parts)


def describe_absence(kind: Kind, name: str, version: Version | None) -> Absence | None:
    """Say whether a release has a name; None where the tables would not hold it even if it existed.

    That is so for variables that are not vLLM's (`HF_TOKEN`) and for the architectures that are not recorded.
    With an unknown version the answer is EXISTS or NEVER only where it is the same for all releases.
    """
    if not is_covered(kind, canonical(kind, name)):
        return None
    entry = lookup(kind, name)
    if entry is None:
        name = canonical(kind, name)
        return (_abbreviation(name, version) if kind is Kind.FLAG else None) or _never(kind, name, version)
    presence, introduced, last, removed = _place(entry, version)
    return Absence(
        kind=kind,
        name=entry.name,
        version=version,
        presence=presence,
        introduced=introduced,
        last=last,
        removed=removed,
        successor=None if presence is Presence.EXISTS else successor_of(kind, entry.name, version),
        deprecation=deprecation(kind, entry.name, version),
        note="" if presence is Presence.EXISTS or kind is not Kind.ENV else foreign_note(entry.name),
    )


def describe_value(owner: str, value: str, version: Version | None) -> Absence | None:
    """Say whether a release takes a value for a flag or variable; None for free text and unknown owners."""
    kind = owner_kind(owner)
    owner = canonical(kind, owner)
    if lookup(kind, owner) is None or not has_choices(owner) or is_unset(owner, value):
        return None
    entry = lookup_value(owner, value)
    kind = VALUE_KINDS.get(owner, kind)
    value = canonical_value(owner, value)
    presence, introduced, last, removed = _place(entry, version) if entry else (_unlisted(version), None, None, None)
    exists = presence is Presence.EXISTS
    replacement = value_successor(owner, value, version)
    if replacement is None and owner in VALUE_KINDS:
        replacement = successor_of(kind, value, version)
    return Absence(
        kind=kind,
        name=value,
        version=version,
        presence=presence,
        owner=owner,
        introduced=introduced,
        last=last,
        removed=removed,
        nearest=None if entry else nearest_value(owner, value, version),
        successor=None if exists else replacement,
        note="" if entry else _other_table(kind, value),
    )


def describe_setting(text: str, version: Version | None) -> tuple[Absence, ...]:
    """Describe the names in a setting as one types it: `--moe-backend marlin --no-foo`, `VLLM_X=1`.

    Each flag or variable, then its value where that is checked against a list and the owner is there to take it.
    What is not vLLM's is left out.
    """
    described: list[Absence | None] = []
    words = text.split()
    for position, word in enumerate(words):
        name, equals, value = word.partition("=")
        if not (word.startswith("-") or equals or re.fullmatch("[A-Z][A-Z0-9_]+", word)):
            continue
        owner = describe_absence(owner_kind(name), name, version)
        described.append(owner)
        if not equals and position + 1 < len(words) and not words[position + 1].startswith("-"):
            value = words[position + 1]
        flag = read_flag(name)
        if value and owner is not None and not (owner.is_absent or flag.nested or flag.negated):
            described.append(describe_value(name, value, version))
    return tuple(answer for answer in described if answer is not None)


def _place(
    entry: Availability, version: Version | None
) -> tuple[Presence, Version | None, Version | None, Version | None]:
    """Return presence, first release with it, last release with it, first release without it; seen from `version`."""
    known = known_versions()
    if version is None:
        always = len(entry.spans) == 1 and entry.since_the_oldest and entry.removed is None
        presence = Presence.EXISTS if always else Presence.UNKNOWN
        return presence, entry.introduced, None if always else entry.last, entry.removed
    exists = entry.exists_in(version)
    if exists is not False:
        presence = Presence.EXISTS if exists else Presence.UNKNOWN
        return presence, entry.introduced, None if exists else entry.last, None if exists else entry.removed
    before = [span for span in entry.spans if span.last < version]
    if not before:
        return Presence.LATER, entry.spans[0].first, None, None
    last = before[-1].last
    back = next((span.first for span in entry.spans if span.first > version), None)
    return Presence.DROPPED, back, last, known[known.index(last) + 1]


def _unlisted(version: Version | None) -> Presence:
    """A name in no table was never there, unless the release is newer than the tables."""
    return Presence.UNKNOWN if version is not None and version > known_versions()[-1] else Presence.NEVER


def _never(kind: Kind, name: str, version: Version | None) -> Absence:
    note = foreign_note(name) if kind is Kind.ENV else _other_table(kind, name)
    foreign = kind is Kind.ENV and bool(note)
    return Absence(
        kind=kind,
        name=name,
        version=version,
        presence=_unlisted(version),
        nearest=None if foreign else nearest(kind, name, version),
        successor=None if foreign else successor_of(kind, name, version),
        note=note,
    )


def _abbreviation(name: str, version: Version | None) -> Absence | None:
    """Return the answer for a prefix that fits one flag only: argparse takes it for that flag."""
    found = [flag for flag in names(Kind.FLAG, version) if flag.startswith(name)] if len(name) > len("--x") else []
    if len(found) != 1:
        return None
    note = f"It is read as an abbreviation of {found[0]}."
    return Absence(Kind.FLAG, name, version, Presence.EXISTS, nearest=found[0], note=note)


def _other_table(kind: Kind, name: str) -> str:
    """Say so when a parser's name belongs to the other kind of parser."""
    other = {Kind.REASONING_PARSER: Kind.TOOL_PARSER, Kind.TOOL_PARSER: Kind.REASONING_PARSER}.get(kind)
    return f"It is the name of a {other.label}." if other and lookup(other, name) else ""


def _statement(answer: Absence) -> str:
    """Word what is known, without the full stop."""
    subject = f"The {answer.kind.label} {answer.name}"
    if answer.owner:
        subject = f"{answer.name} as a value of {answer.owner}"
    oldest, newest = known_versions()[0], known_versions()[-1]
    if answer.presence is Presence.EXISTS:
        where = f"vLLM {answer.version}" if answer.version else f"every vLLM release from {oldest} to {newest}"
        return f"{subject} exists in {where}{_deprecated(answer.deprecation)}"
    if answer.presence is Presence.DROPPED:
        words = f"{subject} was dropped in vLLM {answer.removed} ({answer.last} was the last release with it)"
        return f"{words} and is back from {answer.introduced}" if answer.introduced else words
    if answer.presence is Presence.LATER:
        return f"{subject} comes with vLLM {answer.introduced}; {answer.version} does not have it"
    if answer.introduced is None:
        words = f"{subject} does not exist in any vLLM release from {oldest} to {newest}"
        return words if answer.presence is Presence.NEVER else words + _why_unknown(answer, newest)
    return f"{subject} exists {_period(answer)}{_why_unknown(answer, newest)}"


def _deprecated(deprecation: Deprecation | None) -> str:
    if deprecation is None:
        return ""
    removal = f" (removal announced for {deprecation.removal})" if deprecation.removal else ""
    advice = f": {deprecation.advice.rstrip('.')}" if deprecation.advice else ""
    return f" but is deprecated{removal}{advice}"


def _period(answer: Absence) -> str:
    start = "" if answer.introduced == known_versions()[0] else f"from vLLM {answer.introduced} "
    if answer.removed is None:
        return f"{start}onwards" if start else "in vLLM"
    return f"{start}to {answer.last}" if start else f"up to vLLM {answer.last}"


def _why_unknown(answer: Absence, newest: Version) -> str:
    if answer.version is None:
        return ", and the version of this start is not known"
    if answer.version > newest:
        return f"; vLLM {answer.version} is newer than the newest release known here ({newest})"
    return f"; whether {answer.version} has it is not known"


def _hint(answer: Absence) -> str:
    if answer.presence is Presence.EXISTS:
        return ""
    if answer.successor is not None:
        return f"; use {answer.successor.use} instead" if answer.successor.use else ""
    return f"; the nearest name is {answer.nearest}" if answer.nearest and answer.nearest != answer.name else ""
