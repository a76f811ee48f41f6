"""How a report is to look, as one frozen value that every renderer receives."""

from __future__ import annotations

from dataclasses import dataclass

from logdoctor.model import Severity


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """What the caller knows about the place the report goes to.

    Renderers ignore what does not concern them: width and colour mean nothing to JSON.
    """

    width: int = 100
    """Columns of the terminal; 100 in a pipe."""
    color: bool = False
    """Escape sequences for colour; only the terminal form has any."""
    ascii: bool = False
    """Keep to ASCII, for an output whose encoding is not UTF-8."""
    lang: str = "en"
    """Language of the tool's own words; log text is never translated."""
    all_boots: bool = False
    """Report on every boot one after another instead of the leading one (forms for people; JSON always has all)."""
    fail_on: Severity = Severity.ERROR
    """Lowest severity that makes the exit status 1; said by the forms that state the status."""
