"""The signature database: its schema, how it is loaded, checked, explained and written out as pages."""

from __future__ import annotations

from logdoctor.database.loading import Database, DatabaseError, load_database
from logdoctor.database.schema import Conditions, Example, Examples, MatchBlock, MatchItem, RemedySpec, Signature

__all__ = [
    "Conditions",
    "Database",
    "DatabaseError",
    "Example",
    "Examples",
    "MatchBlock",
    "MatchItem",
    "RemedySpec",
    "Signature",
    "load_database",
]
