"""The compact form of the database: one row per entry, with what tells whether the entry can match at all.

A run needs a few dozen of the entries. The rest stay text: a row is turned into a `Signature` when one of its literals
was seen, or when the facts it asks for are known. The compact form is made from checked entries, at build time for the
wheel and once per content for a checkout, and holds no examples (they are read from the YAML by those who run them).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from logdoctor.database.fact_keys import QUESTIONS
from logdoctor.database.schema import Signature, signature_from_dict

FORMAT = 4


class Row(NamedTuple):
    """An entry that is not looked at yet."""

    id: str
    entry: str | memoryview
    """The entry as JSON, without its examples."""
    positive: Sequence[Sequence[str]]
    """For each text to look for the literals of which a record that matches holds at least one; empty: unknown."""
    negative: Sequence[Sequence[str]]
    """The same for the texts that must not be there."""
    asks: str
    """`texts`: by its literals; `always`: an item has no literal; `facts`: it has no texts at all."""
    needs: Sequence[str]
    """Facts without which an entry on facts alone cannot hold."""
    general: bool
    mark: str
    """Hash of the content; where the entry stands and its examples do not count."""

    @property
    def literals(self) -> tuple[str, ...]:
        """All literals of the texts to look for."""
        return tuple(dict.fromkeys(literal for literals in self.positive for literal in literals))

    @property
    def against(self) -> tuple[str, ...]:
        """All literals of the texts that must not be there."""
        return tuple(dict.fromkeys(literal for literals in self.negative for literal in literals))

    def signature(self) -> Signature:
        """Make the signature of the row."""
        entry = self.entry if isinstance(self.entry, str) else bytes(self.entry)
        return signature_from_dict(json.loads(entry))


def make_row(entry: Mapping[str, Any]) -> Row:
    """Make the row of a checked entry, without its examples."""
    return make_full_row({key: value for key, value in entry.items() if key != "examples"})


def make_full_row(entry: Mapping[str, Any]) -> Row:
    """Make the row of a checked entry with all it holds."""
    content = {key: value for key, value in entry.items() if key not in ("file", "line", "examples")}
    mark = hashlib.sha256(_json(content).encode()).hexdigest()[:16]
    return row_of(signature_from_dict(entry), json.dumps(entry, ensure_ascii=False, separators=(",", ":")), mark)


def row_of(signature: Signature, entry: str = "", mark: str = "") -> Row:
    """Make the row of a signature; `entry` is its JSON, for a row that is kept without the signature."""
    from logdoctor.database.literals import item_literals

    if signature.match is None:
        wanted = {**signature.when_known, **signature.when}
        needs = tuple(key for key, value in wanted.items() if key not in QUESTIONS and not _holds_without(value))
        return Row(signature.id, entry, (), (), "facts", needs, signature.general, mark)
    positive = tuple(item_literals(item) for item in signature.match.positive)
    negative = tuple(item_literals(item) for item in signature.match.none)
    # An entry that only forbids texts has none to wait for.
    asks = "texts" if positive and all(positive) else "always"
    return Row(signature.id, entry, positive, negative, asks, (), signature.general, mark)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _holds_without(wanted: object) -> bool:
    """Whether a condition can be true of a fact that nothing states."""
    choices = wanted if isinstance(wanted, (list, tuple)) else (wanted,)
    return any(choice is False or choice == "unset" for choice in choices)


def dump_rows(rows: Iterable[Row]) -> bytes:
    """Write rows as bytes: a line with everything but the entries, then the entries, each found by its place."""
    index: list[list[object]] = []
    entries: list[bytes] = []
    start = 0
    for row in rows:
        entry = row.entry.encode() if isinstance(row.entry, str) else bytes(row.entry)
        index.append([row.id, [start, start + len(entry)], *row[2:]])
        entries.append(entry)
        start += len(entry)
    return _json([FORMAT, index]).encode() + b"\n" + b"".join(entries)


def load_rows(data: bytes) -> list[Row]:
    """Read rows; the entries stay bytes until somebody asks for them. Raises ValueError when it is something else."""
    head, _, _ = data.partition(b"\n")
    loaded = json.loads(head)
    if not isinstance(loaded, list) or len(loaded) != 2 or loaded[0] != FORMAT:
        raise ValueError("not the compact form of a signature database")
    entries = memoryview(data)[len(head) + 1 :]
    return [Row(name, entries[place[0] : place[1]], *rest) for name, place, *rest in loaded[1]]
