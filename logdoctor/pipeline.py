"""The one way from bytes to a diagnosis: skim, read, diagnose, join with the launch, stamp with the versions.

The command line, the Python interface and the probe all go this way, so that they cannot differ. Nothing here prints,
exits or renders; what comes out is not redacted yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from logdoctor import __version__
from logdoctor.model import Diagnosis, Fact, Record, Run

if TYPE_CHECKING:
    from logdoctor.database import Database
    from logdoctor.diagnosis.matching import Matcher


@dataclass(frozen=True, slots=True)
class Context:
    """What is known beside the log."""

    facts: Mapping[str, Fact] = field(default_factory=dict)
    """Facts that were given; they outweigh those of the log, and these those of the launch."""
    launch: str | None = None
    """Text of the launch: a command line, a compose file, a manifest, or what `docker inspect` prints."""
    launch_name: str = ""
    """Name of the launch file, for the command to paste."""


def skimmed(runs: Iterable[Run], database: Database) -> Iterator[Run]:
    """Leave out of a long log what no signature and no fact asks for."""
    from logdoctor.diagnosis.wanted import wanted_texts
    from logdoctor.reading.skim import Skimmer

    return Skimmer(lambda: wanted_texts(database)).runs(runs)


Records = Iterable[tuple[int, Record]]


def diagnose_runs(
    runs: Iterable[Run],
    database: Database,
    context: Context | None = None,
    *,
    source: str = "",
    watch: Callable[[Records], Records] | None = None,
    matcher: Matcher | None = None,
) -> Diagnosis:
    """Diagnose skimmed runs. Raises `InputError` and, for a launch that cannot be read, `LaunchError`.

    `watch` sees the records pass by and hands them on; a `matcher` can be kept from one log to the next.
    """
    from logdoctor.diagnosis import diagnose_records
    from logdoctor.reading import read_lines, read_records
    from logdoctor.reading.thinning import Thinner

    context = context or Context()
    given = {**launch_facts(context.launch), **context.facts}
    thinner = Thinner()
    records: Records = read_records(read_lines(thinner.runs(runs)))
    records = records if watch is None else watch(records)
    diagnosis = diagnose_records(records, database, given=given, matcher=matcher)
    diagnosis = replace(diagnosis, notes=(*diagnosis.notes, *thinner.notes))
    if context.launch is not None or _can_be_rebuilt(diagnosis):
        from logdoctor.diagnosis.launch_check import corrected_launch, launch_notes

        launch = corrected_launch(diagnosis, context.launch, source=context.launch_name)
        # A command that is only rebuilt leaves nothing undone: without a change it is not shown.
        notes = launch_notes(launch) if context.launch is not None else ()
        diagnosis = replace(diagnosis, launch=launch, notes=(*diagnosis.notes, *notes))
    return stamped(diagnosis, database, source)


def _can_be_rebuilt(diagnosis: Diagnosis) -> bool:
    """Whether the log prints its arguments, and the root cause has a change to make to them."""
    root, boot = diagnosis.root_cause, diagnosis.boot
    if root is None or boot is None or "args" not in boot.facts:
        return False
    return any(remedy.kind in ("flag", "remove") and not remedy.condition for remedy in root.remedies)


def launch_facts(launch: str | None) -> Mapping[str, Fact]:
    """Return what a launch states, for a log that does not; its lines are not those of the log."""
    if launch is None:
        return {}
    from logdoctor.launch import facts, read_launch

    return facts(read_launch(launch), lines=False)


def stamped(diagnosis: Diagnosis, database: Database, source: str) -> Diagnosis:
    """Return the diagnosis with the name of its input and the versions that made it, in the database's language."""
    if database.lang != "en":
        from logdoctor.report.phrases import in_language

        diagnosis = in_language(diagnosis, database.lang, database.lang_of)
    return replace(diagnosis, source=source, tool_version=__version__, database_version=database.version)
