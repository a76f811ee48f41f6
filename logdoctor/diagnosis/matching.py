"""Find the signatures whose texts stand in the records of a boot.

Two steps keep it quick: a record's message is first asked for the literal cores of all signatures, and only the
items whose core is there run their pattern. Every pattern runs under a time limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import regex

from logdoctor.database import Database
from logdoctor.database.prefilter import build_text_search
from logdoctor.database.schema import Kind, MatchItem, Signature
from logdoctor.facts import LITERALS as FACT_LITERALS
from logdoctor.model import Phase, Record, Severity
from logdoctor.reading.quoting import settings_head
from logdoctor.wording import cut, word_end, word_start

if TYPE_CHECKING:
    from logdoctor.knowledge.absence import Absence

PATTERN_TIMEOUT = 1.0
"""Seconds that one pattern may take on one record."""
KEPT_HITS = 8
"""Hits kept of one item; more are counted only."""
WIDE_SEARCHES = 8
"""Wide messages of a boot in which one item is looked for: they take long, and no boot has many."""
MAX_RANKS = 64
WIDE = 16_000
"""Characters of a message from which on hits keep the beginnings of its lines only."""
MAX_LINE = 4000
MAX_MESSAGE = 200_000
"""Characters of a message that patterns see; a longer one is searched in its beginning and its end."""


class Hit(NamedTuple):
    """One place where an item's text stands."""

    record: Record
    line: int
    text: str
    captures: Mapping[str, str]

    @property
    def certain(self) -> bool:
        """True for an error, an exception or a bare line; false for what a healthy server may also log."""
        return self.record.level in ("", "ERROR", "CRITICAL") or self.record.exception is not None


@dataclass(slots=True)
class ItemHits:
    """What one item found in a boot."""

    kept: list[Hit] = field(default_factory=list)
    count: int = 0
    processes: dict[str, bool] = field(default_factory=dict)
    """Who said it, in the order of the log, and whether the name is a rank's."""

    last_line: int = 0

    def add(self, hit: Hit) -> None:
        self.count += 1
        self.last_line = max(self.last_line, hit.line)
        if len(self.kept) < KEPT_HITS:
            self.kept.append(hit)
        process = hit.record.process
        label = process.rank or process.name
        if label and len(self.processes) < MAX_RANKS:
            self.processes[label] = bool(process.rank)


@dataclass(frozen=True, slots=True)
class Match:
    """A signature that is satisfied by the texts of a boot, before facts are asked."""

    signature: Signature
    hits: tuple[Hit, ...]
    """In the order of the log; empty for a signature on facts alone."""
    count: int
    ranks: tuple[str, ...]
    captures: Mapping[str, str]
    last_line: int = 0
    """The last place of all, kept or not."""


def shortened(message: str) -> str:
    """Return what patterns see of a message: all of it, or its beginning and its end."""
    if len(message) <= MAX_MESSAGE:
        return message
    return message[: MAX_MESSAGE // 2] + "\n" + message[-MAX_MESSAGE // 2 :]


class Matcher:
    """The signatures of a database, prepared for matching; shared by all boots.

    A signature is made when the first of its literal cores is seen; until then its row is enough.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows_by_literal: dict[str, list[int]] = {}
        self._on_facts: list[int] = []
        self._items: list[MatchItem] = []
        self._index: dict[MatchItem, int] = {}
        self._patterns: list[regex.Pattern[str] | None] = []
        self._by_literal: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._made: dict[int, Signature] = {}
        self._rows_by_item: dict[int, list[int]] = {}
        self._on_nothing: list[int] = []
        """Signatures that ask only for what must not be there."""
        for number, row in enumerate(database.rows):
            for literal in row.literals:
                self._rows_by_literal.setdefault(literal, []).append(number)
            for literal in row.against:
                self._rows_by_literal.setdefault(literal, [])
            if row.asks == "facts":
                self._on_facts.append(number)
            elif row.asks == "always":
                self._make(number)
        self._seen: set[str] = set()
        self.asked: dict[tuple[str, str, str], Absence | None] = {}
        """What the version knowledge said about names; the boots of one log name the same ones."""
        self._search: Callable[[Sequence[str]], list[set[str]]] | None = None

    @property
    def general(self) -> frozenset[str]:
        """Ids of the broad catch-alls."""
        return frozenset(row.id for row in self._database.rows if row.general)

    def find(self, messages: Sequence[str]) -> list[set[str]]:
        """Return which literals stand in each message (of signatures and of facts), and make their signatures."""
        if self._search is None:
            self._search = build_text_search(tuple(dict.fromkeys((*self._rows_by_literal, *FACT_LITERALS))))
        found = self._search(messages)
        for literal in set().union(*found) - self._seen:
            self._seen.add(literal)
            for number in self._rows_by_literal.get(literal, ()):
                if number not in self._made:
                    self._make(number)
        return found

    def _make(self, number: int) -> None:
        signature = self._made[number] = self._database.signature(number)
        if signature.match is not None:
            row = self._database.rows[number]
            for item, literals in zip(signature.match.positive, row.positive, strict=True):
                self._add(item, literals)
                self._rows_by_item.setdefault(self._index[item], []).append(number)
            if not signature.match.positive:
                self._on_nothing.append(number)
            for item, literals in zip(signature.match.none, row.negative, strict=True):
                self._add(item, literals)

    def _add(self, item: MatchItem, literals: Sequence[str]) -> None:
        if item in self._index:
            return
        number = self._index[item] = len(self._items)
        self._items.append(item)
        self._patterns.append(None)
        if not literals:
            self._always.append(number)
        for literal in literals:
            self._by_literal.setdefault(literal, []).append(number)

    def candidates(self, present: Iterable[str]) -> list[int]:
        """Return the items with a literal core that is present."""
        by_literal = self._by_literal
        found = {number for literal in present if literal in by_literal for number in by_literal[literal]}
        return sorted(found.union(self._always)) if found or self._always else []

    def pattern(self, number: int) -> regex.Pattern[str]:
        """Return the compiled pattern of an item; compiled when first needed."""
        compiled = self._patterns[number]
        if compiled is None:
            item = self._items[number]
            compiled = regex.compile(item.pattern or regex.escape(item.literal), regex.MULTILINE)
            self._patterns[number] = compiled
        return compiled

    def item(self, number: int) -> MatchItem:
        return self._items[number]

    def number(self, item: MatchItem) -> int:
        """Return the position of an item among the distinct items."""
        return self._index[item]

    def touched(self, items: Iterable[int]) -> list[Signature]:
        """Return the signatures that ask for one of the items, in the order of the database."""
        rows = {row for item in items for row in self._rows_by_item.get(item, ())}
        return [self._made[number] for number in sorted(rows.union(self._on_nothing))]

    def on_facts(self, known: Container[str]) -> list[Signature]:
        """Return the signatures without texts whose facts are known."""
        rows = self._database.rows
        numbers = (n for n in self._on_facts if all(key in known for key in rows[n].needs))
        return [self._database.signature(number) for number in numbers]


class BootMatcher:
    """Collects the hits of one boot, record by record."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._hits: dict[int, ItemHits] = {}
        self._requested: dict[int, ItemHits] = {}
        """What stands in complaints about a request; only signatures about requests look there."""
        self._wide: Counter[int] = Counter()
        self.too_slow: dict[str, None] = {}
        """Patterns that ran into the time limit."""

    def observe(self, record: Record, message: str, present: Iterable[str], *, requested: bool = False) -> None:
        """Match one record, given its message and the literals in it. Text that a client sent never matches.

        `requested` marks the complaint of a server that is up about a request.

        In a list of settings only what begins with its own words does: the rest are names of any content.
        """
        if record.quoted:
            return
        head = len(settings_head(message)) or len(message)
        candidates = self._matcher.candidates(present)
        if candidates and len(message) > WIDE:
            record = _slim(record)
        for number in candidates:
            item = self._matcher.item(number)
            if _allowed(item, record):
                hit = self._search(number, item, record, message, head)
                if hit is not None:
                    (self._requested if requested else self._hits).setdefault(number, ItemHits()).add(hit)

    def _search(self, number: int, item: MatchItem, record: Record, message: str, head: int) -> Hit | None:
        if len(message) > WIDE:
            if self._wide[number] >= WIDE_SEARCHES:
                return None
            self._wide[number] += 1
        if item.text in self.too_slow:
            return None
        try:
            found = self._matcher.pattern(number).search(message, timeout=PATTERN_TIMEOUT)
        except TimeoutError:
            self.too_slow[item.text] = None
            return None
        if found is None or found.start() >= head:
            return None
        position = min(message.count("\n", 0, found.start()), len(record.lines) - 1)
        line, text = record.lines[position]
        if len(text) >= MAX_LINE:
            text = _around(message, found.start())
        captures = {name: value for name, value in found.groupdict().items() if value is not None}
        return Hit(record, line, text, captures)

    def matches(self, known: Container[str]) -> list[Match]:
        """Return every signature whose texts are satisfied, and those on facts alone whose facts are `known`."""
        found = (self._match(signature) for signature in self._matcher.touched({**self._hits, **self._requested}))
        on_facts = (Match(signature, (), 1, (), {}) for signature in self._matcher.on_facts(known))
        return [*(match for match in found if match is not None), *on_facts]

    def _match(self, signature: Signature) -> Match | None:
        block = signature.match
        if block is None:
            return None

        def of(item: MatchItem) -> ItemHits | None:
            return self._of(item, requested=_may_be_a_requests(signature, item))

        if any(of(item) for item in block.none):
            return None
        hits: list[Hit] = []
        groups: list[ItemHits] = []
        if block.any:
            present = [group for item in block.any if (group := of(item))]
            if not present:
                return None
            groups.extend(present)
        if block.all:
            needed = [of(item) for item in block.all]
            if not all(needed):
                return None
            groups.extend(group for group in needed if group)
        for group in groups:
            hits.extend(group.kept)
        if block.sequence:
            ordered = _sequence([of(item) for item in block.sequence])
            if ordered is None:
                return None
            hits.extend(ordered)
        return _merge(signature, hits, groups)

    def _of(self, item: MatchItem, *, requested: bool) -> ItemHits | None:
        number = self._matcher.number(item)
        alone, of_requests = self._hits.get(number), self._requested.get(number) if requested else None
        if alone is None or of_requests is None:
            return alone or of_requests
        both = ItemHits(count=alone.count + of_requests.count, processes={**of_requests.processes, **alone.processes})
        both.kept = sorted((*alone.kept, *of_requests.kept), key=lambda hit: hit.line)[:KEPT_HITS]
        both.last_line = max(alone.last_line, of_requests.last_line)
        return both


def _sequence(groups: Iterable[ItemHits | None]) -> list[Hit] | None:
    chosen: list[Hit] = []
    after = 0
    for group in groups:
        following = [hit for hit in group.kept if hit.line > after] if group else []
        if not following:
            return None
        chosen.append(following[0])
        after = following[0].line
    return chosen


def _may_be_a_requests(signature: Signature, item: MatchItem) -> bool:
    """Whether a signature may see what a server that is up says of a request.

    It is about requests and no heavy accusation, or it names the API server as the one who says it: there a client
    has had the word, and an error of the engine has its own record.
    """
    if "api" in item.roles:
        return True
    about_requests = signature.phase in (Phase.SERVING, Phase.SHUTDOWN)
    heavy = signature.severity.rank >= Severity.ERROR.rank and signature.kind is Kind.CAUSE
    return about_requests and not heavy


def _merge(signature: Signature, hits: list[Hit], groups: list[ItemHits]) -> Match:
    # Two patterns of one entry may match the same line: it is shown once, with what both of them caught.
    by_line: dict[tuple[int, int], Hit] = {}
    captures: dict[str, str] = {}
    for hit in sorted(hits, key=lambda hit: hit.line):
        by_line.setdefault((hit.line, id(hit.record)), hit)
        for name, value in hit.captures.items():
            captures.setdefault(name, value)
    ordered = list(by_line.values())
    ranks: dict[str, bool] = {}
    for group in groups:
        ranks.update(group.processes)
    # Where ranks say it, the engine that passes their words on is no further one.
    names = [name for name, is_rank in ranks.items() if is_rank] or list(ranks)
    count = max((group.count for group in groups), default=len(ordered))
    last_line = max((*(hit.line for hit in ordered), *(group.last_line for group in groups)), default=0)
    return Match(signature, tuple(ordered), max(count, 1), tuple(names), captures, last_line)


def _around(message: str, place: int) -> str:
    """Return the line of a place in a message, with what is far from the place cut off and the cuts shown."""
    begin, end = message.rfind("\n", 0, place) + 1, message.find("\n", place)
    end = len(message) if end < 0 else end
    first, last = max(begin, place - MAX_LINE // 8), min(end, place + MAX_LINE // 4)
    # No word is cut: half a secret is not recognised as one.
    first = min(word_end(message, first), place) if first > begin else first
    last = max(word_start(message, last), place) if last < end else last
    return f"{'…' * (first > begin)}{message[first:last]}{'…' * (last < end)}"


def _slim(record: Record) -> Record:
    """Return a record with the beginnings of its lines only: hits are kept, and a log may be made of wide records."""
    return record._replace(lines=tuple((number, cut(text, MAX_LINE)) for number, text in record.lines))


def _allowed(item: MatchItem, record: Record) -> bool:
    if item.level and record.level not in item.level:
        return False
    if item.not_level and record.level in item.not_level:
        return False
    return not item.roles or record.process.role in item.roles
