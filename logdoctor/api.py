"""The Python interface: `diagnose` for a log that is there, `Diagnoser` for one that is still being written.

Nothing here prints, exits or keeps state between calls: any number of threads may diagnose at once, and a `Report` can
be pickled. What goes wrong is a `LogdoctorError` whose text is one sentence for the user; a mistake in the arguments is
a `TypeError` or `ValueError`.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from logdoctor.database import DatabaseError, load_database
from logdoctor.diagnosis.wanted import wanted_texts
from logdoctor.launch import LaunchError
from logdoctor.model import BootDiagnosis, Diagnosis, Fact, FactValue, Finding, Launch, Run, Severity, Verdict
from logdoctor.pipeline import Context, diagnose_runs, skimmed, stamped
from logdoctor.reading import InputError, open_runs
from logdoctor.reading.pushed import PushedRuns
from logdoctor.report import RenderOptions, exit_status
from logdoctor.report import render as render_report
from logdoctor.report.escaping import escape_diagnosis
from logdoctor.report.redaction import redact
from logdoctor.report.words import LANGUAGES

_STDIN_NOTE = "standard input: "


class LogdoctorError(Exception):
    """The log, the launch or the signatures cannot be used; the text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Report:
    """A finished diagnosis: secrets replaced, control characters made visible, nothing left to decide.

    Most callers need `verdict`, `root_cause`, `to_dict()` and `render()`; everything else is in `boots`.
    """

    diagnosis: Diagnosis
    signature_notes: tuple[str, ...] = ()
    """Remarks about the caller's own signature directories, with their paths; no report holds them."""
    lang: str = "en"
    """Language in which findings are worded, and in which `render` writes unless told otherwise."""

    @property
    def verdict(self) -> Verdict:
        """The state of the server at the end of the log; it compares equal to its text, e.g. `"failed"`."""
        return self.diagnosis.verdict

    @property
    def summary(self) -> str:
        """The verdict and its reason in one sentence."""
        return self.diagnosis.summary

    @property
    def root_cause(self) -> Finding | None:
        """What explains the failure of the last boot; None when nothing failed or nothing explains it."""
        return self.diagnosis.root_cause

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of the last boot, the root cause first."""
        return self.diagnosis.boot.findings if self.diagnosis.boot else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the input as a whole: cut, undecodable, too long."""
        return self.diagnosis.notes

    @property
    def boots(self) -> tuple[BootDiagnosis, ...]:
        """Every start of the server in the log, in order."""
        return self.diagnosis.boots

    @property
    def facts(self) -> Mapping[str, Fact]:
        """What is known about the last boot, by dotted key: `report.facts["vllm.version"].value`."""
        return self.diagnosis.boot.facts if self.diagnosis.boot else {}

    @property
    def launch(self) -> Launch | None:
        """The launch that was given, else rebuilt from the log's arguments, and the same with the remedies applied.

        None when there is neither.
        """
        return self.diagnosis.launch

    def exit_status(self, fail_on: Severity | str = Severity.ERROR) -> int:
        """Return what the command line would end with: 0, 1 (a finding at or above `fail_on`) or 3 (undetermined)."""
        return exit_status(self.diagnosis, Severity(fail_on))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as the dictionaries, lists, texts and numbers of the JSON contract."""
        from logdoctor.report.json import to_dict

        return to_dict(self.diagnosis)

    def render(
        self,
        format: str = "text",
        *,
        width: int = 100,
        color: bool = False,
        ascii: bool = False,
        lang: str | None = None,
        all_boots: bool = False,
    ) -> str:
        """Return the report in one of `logdoctor.report.FORMATS`. Raises ValueError for another one."""
        options = RenderOptions(width=width, color=color, ascii=ascii, lang=lang or self.lang, all_boots=all_boots)
        return render_report(self.diagnosis, format, options=options)

    def __str__(self) -> str:
        return self.render("text")


def diagnose(
    source: bytes | bytearray | memoryview | str | Path | Iterable[str | bytes],
    *,
    facts: Mapping[str, object] | None = None,
    launch: str | Path | None = None,
    signatures: Sequence[str | Path] = (),
    ignore_broken: bool = False,
    keep_hosts: bool = False,
    lang: str = "en",
) -> Report:
    """Diagnose a log and return the report.

    `source` is the log as bytes (also compressed), the path of a file (`str` or `Path`), or its lines: any iterable of
    texts or bytes, such as an open file; a line end is added where one is missing. Pieces that may end inside a line
    are for `Diagnoser`.
    `facts` are what the log does not hold, e.g. `{"gpu.name": "GB10"}`. `launch` is what started the server: a path, or
    the text of a command line, a compose file, a manifest, or of `docker inspect`; the report then holds it corrected.
    `signatures` are directories laid over the shipped database; with `ignore_broken` faults in them become notes.
    `keep_hosts` leaves host names, addresses and GPU ids readable.

    Raises `LogdoctorError` when something cannot be read.
    """
    if isinstance(source, (str, Path)):
        return _diagnose_file(source, _Setting(facts, launch, signatures, ignore_broken, keep_hosts, lang))
    if isinstance(source, (bytes, bytearray, memoryview)):
        setting = _Setting(facts, launch, signatures, ignore_broken, keep_hosts, lang)
        return _diagnose_opened(("-",), io.BytesIO(source), "bytes", setting)
    diagnoser = Diagnoser(
        facts=facts,
        launch=launch,
        signatures=signatures,
        ignore_broken=ignore_broken,
        keep_hosts=keep_hosts,
        lang=lang,
        source="lines",
    )
    for line in source:
        diagnoser.feed(_with_end(line))
    return diagnoser.finish()


def check_launch(
    launch: str | Path,
    *,
    facts: Mapping[str, object] | None = None,
    signatures: Sequence[str | Path] = (),
    ignore_broken: bool = False,
    keep_hosts: bool = False,
    lang: str = "en",
) -> Report:
    """Diagnose a launch before it runs and return the report; the arguments are those of `diagnose`.

    The verdict `ready` means that nothing known would keep the server from starting. Raises `LogdoctorError` when the
    launch cannot be read.
    """
    return _Setting(facts, launch, signatures, ignore_broken, keep_hosts, lang).launch_report()


class Diagnoser:
    """Diagnoses a log that comes in pieces.

    `feed` takes bytes as they come, plain text in UTF-8 or UTF-16; `verdict` and `report()` tell how things stand;
    `finish` gives the final report. The log is held in memory as far as it matters for the diagnosis: at most 64 MiB,
    of a server's log of a gigabyte far less. One object may be used from several threads.
    """

    def __init__(
        self,
        *,
        facts: Mapping[str, object] | None = None,
        launch: str | Path | None = None,
        signatures: Sequence[str | Path] = (),
        ignore_broken: bool = False,
        keep_hosts: bool = False,
        lang: str = "en",
        source: str = "stream",
    ) -> None:
        """Take what `diagnose` takes beside the log; `source` names the log in reports."""
        self._setting = _Setting(facts, launch, signatures, ignore_broken, keep_hosts, lang)
        self._source = source
        self._lock = threading.RLock()
        self._stream = PushedRuns(lambda: wanted_texts(self._setting.database))
        self._report: Report | None = None
        self._finished = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the log. Raises ValueError after `finish`."""
        with self._lock:
            if self._finished:
                raise ValueError("feed() after finish()")
            self._stream.feed(data)
            self._report = None

    @property
    def verdict(self) -> Verdict:
        """The verdict on what was fed so far, as if the log ended here."""
        return self.report().verdict

    def report(self) -> Report:
        """Return the report on what was fed so far, as if the log ended here.

        After each feed what is kept is read anew: ask when there is a reason to, not after every line.
        """
        with self._lock:
            if self._report is None:
                with _named_errors():
                    self._report = self._setting.report(self._stream.runs(), self._source, lambda: self._stream.notes)
            return self._report

    def finish(self) -> Report:
        """Return the report on the whole log; nothing can be fed any more."""
        with self._lock:
            report = self.report()
            self._finished = True
            return report


# -- the setting of a diagnosis ---------------------------------------------------------------------------------------


class _Setting:
    """The checked arguments of a diagnosis, and its database."""

    def __init__(
        self,
        facts: Mapping[str, object] | None,
        launch: str | Path | None,
        signatures: Sequence[str | Path],
        ignore_broken: bool,
        keep_hosts: bool,
        lang: str,
    ) -> None:
        if lang not in LANGUAGES:
            raise ValueError(f"lang wants {' or '.join(LANGUAGES)}, not {lang!r}")
        if isinstance(signatures, (str, Path)):
            raise TypeError("signatures wants a sequence of directories")
        given = {key: Fact(_key(key), _value(key, value), origin="given") for key, value in (facts or {}).items()}
        with _named_errors():
            text, name = _launch_text(launch)
            self._context = Context(given, text, name)
            self.database = load_database(signatures, ignore_broken, lang=lang)
        self._keep_hosts = keep_hosts
        self._lang = lang

    def report(self, runs: Iterable[Run], source: str, notes: Callable[[], Iterable[str]]) -> Report:
        """Diagnose skimmed runs; `notes` is asked once they have been read."""
        diagnosis = diagnose_runs(runs, self.database, self._context, source=source)
        return self._finished(replace(diagnosis, notes=(*diagnosis.notes, *notes())))

    def launch_report(self) -> Report:
        """Diagnose the launch alone."""
        from logdoctor.diagnosis.launch_check import diagnose_launch

        with _named_errors():
            found = diagnose_launch(self._context.launch or "", self.database, self._context.facts)
        return self._finished(stamped(found, self.database, self._context.launch_name or "launch"))

    def _finished(self, diagnosis: Diagnosis) -> Report:
        shown = escape_diagnosis(redact(diagnosis, keep_hosts=self._keep_hosts))
        return Report(shown, self.database.notes, self._lang)


@contextmanager
def _named_errors() -> Iterator[None]:
    """Turn what the rooms raise into the one error of this interface."""
    try:
        yield
    except (InputError, DatabaseError, LaunchError) as error:
        raise LogdoctorError(str(error)) from error


def _diagnose_file(path: str | Path, setting: _Setting) -> Report:
    name = str(path)
    if "\n" in name:
        raise ValueError("a str is the path of a log; give its text as bytes or as lines")
    # `-` would be standard input, which is the command line's business.
    return _diagnose_opened((f"./{name}" if name == "-" else name,), io.BytesIO(), Path(name).name, setting)


def _diagnose_opened(paths: tuple[str, ...], stdin: io.BytesIO, source: str, setting: _Setting) -> Report:
    with _named_errors():
        runs = open_runs(paths, stdin=stdin)
        return setting.report(
            skimmed(runs, setting.database), source, lambda: [note.removeprefix(_STDIN_NOTE) for note in runs.notes]
        )


def _launch_text(launch: str | Path | None) -> tuple[str | None, str]:
    """Return the text of a launch and the name of its file."""
    if launch is None or (isinstance(launch, str) and not _names_a_file(launch)):
        return launch, ""
    path = Path(launch)
    try:
        return path.read_bytes().decode("utf-8", "replace"), path.name
    except OSError as error:
        raise LaunchError(f"{path} cannot be read: {error.strerror or error}") from error


def _names_a_file(text: str) -> bool:
    try:
        return "\n" not in text and Path(text).is_file()
    except (OSError, ValueError):
        return False


def _key(key: str) -> str:
    from logdoctor.database.fact_keys import is_fact_key, nearest

    if not is_fact_key(key):
        near = nearest(key)
        raise ValueError(f"facts: no {key!r} is known{f'; did you mean {near}' if near else ''}")
    return key


def _value(key: str, value: object) -> FactValue:
    if isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise TypeError(f"the fact {key} wants a text, a number, a bool or a list of texts, not {type(value).__name__}")


def _with_end(line: str | bytes) -> bytes:
    data = line.encode("utf-8", "replace") if isinstance(line, str) else bytes(line)
    return data if data.endswith(b"\n") else data + b"\n"
