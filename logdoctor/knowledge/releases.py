"""Version numbers as vLLM prints them: parse, order, and test against a range.

Only `re` is used, because every start of the tool passes here. The order is PEP 440's
(`dev < rc < final < post`), with the local part (`+cu130`) left out of every comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

_PATTERN = re.compile(
    r"v?(?P<release>\d{1,6}(?:\.\d{1,9}){1,4})"
    r"(?:[._-]?(?P<stage>alpha|beta|a|b|rc)[._-]?(?P<number>\d{1,9}))?"
    r"(?:[._-]?post(?P<post>\d{1,9}))?"
    r"(?:[._-]?dev(?P<dev>\d{0,9}))?"
    r"(?:\+(?P<local>[a-z0-9._-]*))?"
    r"(?:-(?P<tag>[a-z][a-z0-9._-]*))?"
)
_STAGES = {"a": 1, "alpha": 1, "b": 2, "beta": 2, "rc": 3}
_FINAL = 4
_NO_DEV = 1 << 62
_LONGEST = 200
_OLDEST_RELEASE = (0, 2)  # `0.1.dev1+g…` is what a checkout without tags calls itself, whatever it contains
_CALENDAR = 20  # `26.01`, `25.09`: the vendor's image version, not vLLM's

Key = tuple[tuple[int, ...], int, int, int, int]


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A release number of vLLM (or of another package) that can be compared."""

    key: Key
    text: str = field(compare=False)
    """As printed, without a leading `v`, a local part or an image suffix."""
    local: str = field(default="", compare=False)
    """What followed `+`: `cpu`, `cu130`, a commit."""

    def __str__(self) -> str:
        return self.text

    @property
    def release(self) -> tuple[int, ...]:
        """The numbers, without trailing zeros: `(0, 17)` for 0.17.0."""
        return self.key[0]

    @property
    def minor(self) -> tuple[int, int]:
        """Major and minor number: `(0, 17)` for 0.17.1."""
        release = (*self.release, 0, 0)
        return release[0], release[1]

    @property
    def is_dev(self) -> bool:
        """True for a build between releases (`0.19.1rc1.dev12+g…`)."""
        return self.key[4] != _NO_DEV

    @property
    def is_prerelease(self) -> bool:
        """True for a release candidate, an alpha or beta, and a development build."""
        return self.is_dev or self.key[1] < _FINAL


def parse_version(text: str | None) -> Version | None:
    """Read a version number, or None where it says nothing about the order of vLLM's releases.

    Accepted: `0.9.0.1`, `v0.17.1`, `0.17.1+cpu`, `0.21.0rc1`, `0.19.1rc1.dev12+gabc`, `v0.17.1-cu130` (image tag).
    None: `0.1.dev1+gabc` (no tags in the checkout), `26.01-py3` (a vendor's calendar), `dev`, `latest`, anything else.
    """
    if not text or len(text) > _LONGEST:
        return None
    match = _PATTERN.fullmatch(text.strip().lower())
    if match is None or (match["tag"] or "").startswith("py"):
        return None
    numbers = [int(part) for part in match["release"].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    release = tuple(numbers)
    if release < _OLDEST_RELEASE or release[0] >= _CALENDAR:
        return None
    return Version(key=_key(release, match), text=_public(match), local=match["local"] or "")


def _key(release: tuple[int, ...], match: re.Match[str]) -> Key:
    stage, post, dev = match["stage"], match["post"], match["dev"]
    rank = _STAGES[stage] if stage else _FINAL
    if dev is not None and not stage and post is None:
        rank = 0  # `1.0.dev1` comes before `1.0a1`
    return (
        release,
        rank,
        int(match["number"] or 0),
        int(post) + 1 if post is not None else 0,
        int(dev or 0) if dev is not None else _NO_DEV,
    )


def _public(match: re.Match[str]) -> str:
    text = match["release"]
    if match["stage"]:
        text += f"{match['stage']}{match['number']}"
    if match["post"] is not None:
        text += f".post{match['post']}"
    if match["dev"] is not None:
        text += f".dev{match['dev'] or 0}"
    return text


_CLAUSE = re.compile(r"(?P<operator>>=|<=|==|!=|>|<)\s*(?P<version>[^\s*]+?)(?P<wildcard>\.\*)?")
_OPERATORS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": lambda left, right: left >= right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    "<": lambda left, right: left < right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}


class VersionRange(NamedTuple):
    """A comma list such as `>=0.15.1,<0.20`; every clause must hold. The empty list holds always.

    Plain order decides, also for release candidates: 0.20.0rc1 is `<0.20`.
    """

    text: str
    clauses: tuple[tuple[str, Version, bool], ...]

    def contains(self, version: Version) -> bool:
        """Tell whether the version satisfies every clause."""
        return all(_holds(version, *clause) for clause in self.clauses)

    def select(self, versions: Iterable[Version]) -> tuple[Version, ...]:
        """Keep those of the versions that lie in the range, in their order."""
        return tuple(version for version in versions if self.contains(version))


def _holds(version: Version, operator: str, bound: Version, wildcard: bool) -> bool:
    if not wildcard:
        return _OPERATORS[operator](version, bound)
    width = bound.text.count(".") + 1
    padded = (*version.release, *(0,) * width)[:width]
    same = padded == (*bound.release, *(0,) * width)[:width]
    return same if operator == "==" else not same


def parse_range(text: str) -> VersionRange:
    """Read a version range; raises ValueError with the clause that cannot be read."""
    clauses = []
    for part in text.split(","):
        if not part.strip():
            continue
        match = _CLAUSE.fullmatch(part.strip())
        version = parse_version(match["version"]) if match else None
        if match is None or version is None or (match["wildcard"] and match["operator"] not in ("==", "!=")):
            raise ValueError(f"not a version range: {part.strip()!r}")
        clauses.append((match["operator"], version, bool(match["wildcard"])))
    return VersionRange(text=text, clauses=tuple(clauses))
