"""What an entry of the database is, as frozen values.

An entry travels in three forms: YAML as a person writes it, plain dictionaries of checked values (what
`loading.read_entries` returns, and what fits into JSON), and the `Signature` objects of this module.
`signature_from_dict` makes the last step and trusts its input; every check belongs to the step before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from logdoctor.model import Basis, Confidence, FactValue, Phase, Severity

ConditionValue = str | int | float | bool
"""Text (equal, a comparison such as `>=0.17,<0.20`, `~regex`, `set`, `unset`), a number or a boolean."""

Conditions = Mapping[str, ConditionValue | tuple[ConditionValue, ...]]
"""Fact key to condition; a tuple means any of its values. All keys must hold."""

_NO_CONDITIONS: Conditions = MappingProxyType({})

REMEDY_KINDS = ("flag", "env", "remove", "image", "host", "config")
"""The keys of a remedy that hold something to type; a remedy without any of them is `advice`."""

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
ROLES = ("api", "engine", "worker", "ray", "coordinator", "frontend")
NONE = "none"
"""In `level`, `not_level` and `from`: a bare record. It becomes the empty text that `Record` uses."""


class Kind(str, Enum):
    """What a signature can be to a failure."""

    CAUSE = "cause"
    CASCADE = "cascade"
    """A consequence by nature: never the root cause while anything else is there."""
    ECHO = "echo"
    """What a process says when a neighbour has gone: the root cause only where no other process has an error."""
    NOTICE = "notice"
    """Confirms something that works or deserves a look."""


class MatchItem(NamedTuple):
    """One text to look for in the message of a record: a pattern or a literal, never both."""

    pattern: str = ""
    """In the syntax of the `regex` module; searched, not anchored."""
    literal: str = ""
    level: tuple[str, ...] = ()
    """Only records of these levels; empty text stands for a bare line; no entries: any level."""
    not_level: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    """`from` in YAML: only records of these process roles; empty text stands for a bare line."""

    @property
    def text(self) -> str:
        """The pattern or the literal as written."""
        return self.pattern or self.literal


class MatchBlock(NamedTuple):
    """What the records of one boot must hold. Every part that is not empty must be satisfied."""

    any: tuple[MatchItem, ...] = ()
    all: tuple[MatchItem, ...] = ()
    none: tuple[MatchItem, ...] = ()
    sequence: tuple[MatchItem, ...] = ()

    @property
    def positive(self) -> tuple[MatchItem, ...]:
        """The items that may be evidence: all but those of `none`."""
        return self.any + self.all + self.sequence


class RemedySpec(NamedTuple):
    """One change that may help, before it is worded for a boot."""

    summary: str
    kind: str = "advice"
    """`flag`, `env`, `remove`, `image`, `host`, `config` or `advice`."""
    value: str = ""
    """What to type; may hold placeholders. Empty for `advice`."""
    vllm: str = ""
    """PEP 440 range in which the remedy exists; empty: wherever the signature can appear."""
    when: Conditions = _NO_CONDITIONS
    not_when: Conditions = _NO_CONDITIONS
    conflicts_with: tuple[str, ...] = ()
    with_previous: bool = False
    """Whether it belongs to the remedy before it; else it is another way to mend the same."""


class Example(NamedTuple):
    """A piece of log in the real line format, and facts given beside it."""

    log: str
    facts: Mapping[str, FactValue] = MappingProxyType({})


class Examples(NamedTuple):
    """The proof beside the rule: what must match, and what must not."""

    match: tuple[Example, ...] = ()
    no_match: tuple[Example, ...] = ()


class Signature(NamedTuple):
    """One entry of the database."""

    id: str
    title: str
    severity: Severity
    phase: Phase
    cause: str
    confidence: Confidence
    basis: Basis
    kind: Kind = Kind.CAUSE
    harmless: bool = False
    general: bool = False
    """A broad catch-all: a specific finding with evidence in the same exception or phase beats it."""
    vllm: str = ""
    """PEP 440 range in which the text can appear; empty: not bound to a version of vLLM."""
    match: MatchBlock | None = None
    """None: the entry matches on facts alone."""
    when: Conditions = _NO_CONDITIONS
    """Unknown facts make the finding conditional."""
    when_known: Conditions = _NO_CONDITIONS
    """Unknown facts mean that there is no finding."""
    consequence_of: tuple[str, ...] = ()
    suppresses: tuple[str, ...] = ()
    undecided_with: tuple[str, ...] = ()
    """Other causes that fit the same log: when one of them is the root cause too, both are shown."""
    decide: str = ""
    """The one command that decides between them."""
    decided_when: str = ""
    """What it then shows when this one is the cause."""
    remedies: tuple[RemedySpec, ...] = ()
    verify: str = ""
    wrong_when: str = ""
    references: tuple[str, ...] = ()
    examples: Examples = Examples()
    file: str = ""
    """Where the entry stands, as messages name it."""
    line: int = 0

    @property
    def place(self) -> str:
        """`file:line` of the entry, for messages."""
        return f"{self.file}:{self.line}"

    def texts(self) -> tuple[str, ...]:
        """Return every text that placeholders are filled into."""
        own = (self.title, self.cause, self.verify, self.wrong_when, self.decide, self.decided_when)
        of_remedies = (text for remedy in self.remedies for text in (remedy.summary, remedy.value))
        return tuple(text for text in (*own, *of_remedies) if text)


def signature_from_dict(entry: Mapping[str, Any]) -> Signature:
    """Build a signature from the checked dictionary of an entry."""
    match, examples = entry.get("match"), entry.get("examples", {})
    return Signature(
        id=entry["id"],
        title=entry["title"],
        severity=Severity(entry["severity"]),
        phase=Phase(entry["phase"]),
        cause=entry["cause"],
        confidence=Confidence(entry["confidence"]),
        basis=Basis(entry["basis"]),
        kind=Kind(entry.get("kind", "cause")),
        harmless=entry.get("harmless", False),
        general=entry.get("general", False),
        vllm=entry.get("vllm", ""),
        match=None if match is None else MatchBlock(**{part: _items(items) for part, items in match.items()}),
        when=_conditions(entry.get("when")),
        when_known=_conditions(entry.get("when_known")),
        consequence_of=tuple(entry.get("consequence_of", ())),
        suppresses=tuple(entry.get("suppresses", ())),
        undecided_with=tuple(entry.get("undecided_with", ())),
        decide=entry.get("decide", ""),
        decided_when=entry.get("decided_when", ""),
        remedies=tuple(map(_remedy, entry.get("remedies", ()))),
        verify=entry.get("verify", ""),
        wrong_when=entry.get("wrong_when", ""),
        references=tuple(entry.get("references", ())),
        examples=Examples(_examples(examples.get("match", ())), _examples(examples.get("no_match", ()))),
        file=entry.get("file", ""),
        line=entry.get("line", 0),
    )


def _items(items: Iterable[Mapping[str, Any]]) -> tuple[MatchItem, ...]:
    return tuple(
        MatchItem(
            pattern=item.get("pattern", ""),
            literal=item.get("literal", ""),
            level=_with_bare(item.get("level", ())),
            not_level=_with_bare(item.get("not_level", ())),
            roles=_with_bare(item.get("from", ())),
        )
        for item in items
    )


def _with_bare(names: Iterable[str]) -> tuple[str, ...]:
    return tuple("" if name == NONE else name for name in names)


def _conditions(entry: Mapping[str, Any] | None) -> Conditions:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in (entry or {}).items()}


def _remedy(entry: Mapping[str, Any]) -> RemedySpec:
    kind = next((kind for kind in REMEDY_KINDS if kind in entry), "advice")
    return RemedySpec(
        summary=entry["summary"],
        kind=kind,
        value=entry.get(kind, ""),
        vllm=entry.get("vllm", ""),
        when=_conditions(entry.get("when")),
        not_when=_conditions(entry.get("not_when")),
        conflicts_with=tuple(entry.get("conflicts_with", ())),
        with_previous=entry.get("with_previous", False),
    )


def _examples(entries: Iterable[str | Mapping[str, Any]]) -> tuple[Example, ...]:
    made = []
    for entry in entries:
        if isinstance(entry, str):
            made.append(Example(entry))
        else:
            facts = {key: tuple(v) if isinstance(v, list) else v for key, v in entry.get("facts", {}).items()}
            made.append(Example(entry.get("log", ""), facts))
    return tuple(made)
