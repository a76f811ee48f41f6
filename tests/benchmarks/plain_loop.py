"""What the tool is measured against: every pattern of the database on every line of a log."""

from __future__ import annotations

import sys
from pathlib import Path

import regex

from logdoctor.database import load_database


def main() -> None:
    """Search the log named on the command line, and print the number of hits."""
    items = {item for s in load_database(environ={}).signatures if s.match for item in s.match.positive}
    patterns = [regex.compile(item.pattern or regex.escape(item.literal)) for item in sorted(items)]
    hits = 0
    with Path(sys.argv[1]).open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            hits += sum(pattern.search(line) is not None for pattern in patterns)
    print(hits)


if __name__ == "__main__":
    main()
