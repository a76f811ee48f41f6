"""Which texts a long log is searched for before it is read: the cores of all signatures, facts and events."""

from __future__ import annotations

from collections.abc import Callable

from logdoctor.database import Database
from logdoctor.database.prefilter import build_prefilter, safe_core, safe_cores
from logdoctor.facts import LITERALS
from logdoctor.facts.events import EVENTS
from logdoctor.reading.skim import Wanted

_TRACEBACK = "Traceback (most recent call last)"
_FAILURES = (_TRACEBACK, " ERROR ", " CRITICAL ", ": error: ")
"""What an unknown failure looks like."""
_HIGH_VOLUME = frozenset({' HTTP/1.1" ', ' HTTP/1.0" ', ' HTTP/2" ', " throughput: ", "usage: ", "%|"})
"""Access and throughput lines and progress bars (`usage: ` stands in the KV cache's as in argparse's, whose error line
is wanted anyway): the kept head and tail hold the first and the last of them."""
_SURE_START = 12
"""Characters that a text which begins a boot must have, so that no other line resets what was met."""


def wanted_texts(database: Database) -> tuple[Wanted, Callable[[bytes], list[int]]]:
    """Return the texts for `Skimmer` and the search for them."""
    cores = [literal for row in database.rows for literal in (*row.literals, *row.against)]
    facts = [literal for literal in LITERALS if literal not in _HIGH_VOLUME]
    literals = safe_cores((*cores, *facts, *_FAILURES))
    begins = (safe_core(pattern.literal) for pattern in EVENTS if pattern.event == "begin")
    starts = frozenset(core for core in begins if len(core) >= _SURE_START and core in literals)
    wanted = Wanted(literals, starts, frozenset({safe_core(_TRACEBACK)}))
    return wanted, build_prefilter(literals)
