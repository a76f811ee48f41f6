"""The compact form of the database: one row per entry, with what tells whether the entry can match at all.

A run needs a few dozen of the entries. The rest stay text: a row is turned into a `Signature` when one of its literals
was seen, or when the facts it asks for are known. The compact form is made from checked entries, at build time for the
wheel and once per content for a checkout, and holds no examples (they are read from the YAML by those who run them).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from logdoctor.database.schema import Signature, signature_from_dict

FORMAT = 3


class Row(NamedTuple):
    """An entry that is not looked at yet."""

    id: str
    entry: str
    """The entry as JSON, without its examples."""
    positive: tuple[tuple[str, ...], ...]
    """For each text to look for the literals of which a record that matches holds at least one; empty: unknown."""
    negative: tuple[tuple[str, ...], ...]
    """The same for the texts that must not be there."""
    asks: str
    """`texts`: by its literals; `always`: an item has no literal; `facts`: it has no texts at all."""
    needs: tuple[str, ...]
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
        return signature_from_dict(json.loads(self.entry))


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
        needs = tuple(key for key, value in wanted.items() if not _holds_without(value))
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
    """Write rows as bytes."""
    return _json([FORMAT, [list(row) for row in rows]]).encode()


def load_rows(data: bytes) -> list[Row]:
    """Read rows. Raises ValueError when the bytes are something else."""
    loaded = json.loads(data)
    if not isinstance(loaded, list) or len(loaded) != 2 or loaded[0] != FORMAT:
        raise ValueError("not the compact form of a signature database")
    return [
        Row(name, entry, tuple(map(tuple, positive)), tuple(map(tuple, negative)), asks, tuple(needs), *rest)
        for name, entry, positive, negative, asks, needs, *rest in loaded[1]
    ]
