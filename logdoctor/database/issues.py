"""What is wrong with an entry, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Issue:
    """One complaint about one place of the database; sorts by file and line."""

    file: str
    line: int
    what: str
    rule: str = "schema"
    """Name of the check that complains."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"
