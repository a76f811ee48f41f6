"""What the shell offers for the values of options; each function takes what is typed so far."""

from __future__ import annotations


def formats(incomplete: str) -> list[str]:
    """Return the formats of reports."""
    from logdoctor.report import FORMATS

    return _beginning(FORMATS, incomplete)


def severities(incomplete: str) -> list[str]:
    """Return the severities, the worst first."""
    from logdoctor.model import Severity

    return _beginning([severity.value for severity in reversed(Severity)], incomplete)


def languages(incomplete: str) -> list[str]:
    """Return the languages of reports."""
    from logdoctor.report.words import LANGUAGES

    return _beginning(LANGUAGES, incomplete)


def recipes(incomplete: str) -> list[str]:
    """Return the names of the recipes."""
    from logdoctor.recipes import names

    return _beginning(("list", *names()), incomplete)


def signature_ids(incomplete: str) -> list[str]:
    """Return the ids of the shipped signatures."""
    from logdoctor.database import DatabaseError
    from logdoctor.database.loading import shipped_rows

    try:
        return _beginning(sorted(row.id for row in shipped_rows()), incomplete)
    except DatabaseError:
        return []


def _beginning(words: tuple[str, ...] | list[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
