"""Make nine synthetic copies of every row of the database: the words of each literal permuted, other ids."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from logdoctor.database import load_database
from logdoctor.database.compact import Row, dump_rows

COPIES = 9


def permuted(literal: str, rng: random.Random) -> str:
    """The words of a literal in another order; a single word gets its letters mixed."""
    words = literal.split(" ")
    if len(words) < 3:
        letters = list(literal)
        rng.shuffle(letters)
        return "".join(letters)
    rng.shuffle(words)
    return " ".join(words)


def copied(row: Row, number: int, rng: random.Random) -> Row:
    """A copy of a row that looks for other texts."""
    positive = tuple(tuple(permuted(literal, rng) for literal in literals) for literals in row.positive)
    return row._replace(id=f"{row.id}-copy-{number}", positive=positive)


def main() -> None:
    """Write the rows of the database and of its copies to a file in the folder named on the command line."""
    rng = random.Random(11)
    rows = load_database(environ={}).rows
    copies = [copied(row, number, rng) for number in range(COPIES) for row in rows if row.asks == "texts"]
    Path(sys.argv[1], "rows.json").write_bytes(dump_rows([*rows, *copies]))


if __name__ == "__main__":
    main()
