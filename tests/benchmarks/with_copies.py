"""Run the tool on a database with synthetic copies, loaded from its compact form as the shipped one is."""

from __future__ import annotations

import sys
from pathlib import Path

from logdoctor.database import loading
from logdoctor.database.compact import load_rows


def main() -> None:
    """Take the folder with the rows off the command line, and run."""
    folder = Path(sys.argv.pop(1))
    loading.shipped_rows = lambda: load_rows((folder / "rows.json").read_bytes())  # type: ignore[assignment]
    from logdoctor.entry import main as run

    run()


if __name__ == "__main__":
    main()
