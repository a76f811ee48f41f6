"""What each command does: the only place that knows every room of the package.

`cli` parses words into the values of this module; nothing here prints or exits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from logdoctor.console import CommandFailed, append_step_summary, complain, render_options, write_report
from logdoctor.model import Diagnosis, Fact, Severity
from logdoctor.pipeline import Context
from logdoctor.report.options import RenderOptions
from logdoctor.report.status import exit_status

if TYPE_CHECKING:
    from logdoctor.database import Database
    from logdoctor.follow.command import Following


MAX_DRAFT_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Request:
    """A diagnosis as the command line asks for it; the texts are not checked yet."""

    paths: tuple[str, ...] = ("-",)
    format: str = "terminal"
    fail_on: str = "error"
    boot: str = "last"
    facts: tuple[str, ...] = ()
    signature_dirs: tuple[str | Path, ...] = ()
    ignore_broken: bool = False
    keep_hosts: bool = False
    max_bytes: int = 20 * 2**30
    launch: str = ""
    """Path of a launch file, or empty."""
    container: str = ""
    """Name of a container whose log and description docker or podman is asked for, or empty."""
    nvidia_smi: str = ""
    """Path of a file with nvidia-smi's output, or empty."""
    lang: str = ""
    """`en`, `zh`, or empty: English, at a terminal what the locale says."""
    plain: bool = True
    """`terminal` becomes plain text: the report goes to a pipe or a file."""
    options: RenderOptions = field(default_factory=RenderOptions)


@dataclass(frozen=True, slots=True)
class GivenLaunch:
    """A launch as text, with the name of its file."""

    text: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A rendered report and what the process ends with."""

    text: str
    status: int
    notes: tuple[str, ...] = ()
    """For standard error."""
    step_summary: str = ""
    """Markdown for the summary of a step of GitHub Actions; with `--format github` only."""


def diagnose(request: Request, output: str | Path | None = None) -> int:
    """Do the main job as the command line asks for it: write the report and return the exit status."""
    options, plain = render_options(to_file=output is not None, lang=request.lang, format_=request.format)
    result = run_diagnosis(replace(request, plain=plain, options=options), sys.stdin.buffer)
    for note in result.notes:
        complain(note)
    write_report(result.text, Path(output) if output is not None else None)
    if result.step_summary:
        append_step_summary(result.step_summary)
    return result.status


def follow(request: Request, following: Following, output: str | Path | None = None) -> int:
    """Follow a log until its verdict is settled; write the report and return the exit status."""
    from logdoctor.api import Diagnoser
    from logdoctor.follow.command import follow_log

    if request.container:
        raise CommandFailed("to follow a container: docker logs -f NAME 2>&1 | logdoctor --follow")
    options, plain = render_options(to_file=output is not None, lang=request.lang, format_=request.format)
    request = replace(request, plain=plain, options=options)
    given, launch = _beside(request, sys.stdin.buffer)

    def make() -> Diagnoser:
        return Diagnoser(
            facts={key: fact.value for key, fact in given.items()},
            launch=launch.text,
            signatures=request.signature_dirs,
            ignore_broken=request.ignore_broken,
            keep_hosts=request.keep_hosts,
            source=source_name(request.paths),
            lang=options.lang,
        )

    format_, fail_on = format_of(request), severity_of(request.fail_on)
    text, status = follow_log(request.paths, sys.stdin.buffer, following, make, format_, options, fail_on)
    write_report(text, Path(output) if output is not None else None)
    return status


def run_diagnosis(request: Request, stdin: BinaryIO) -> Result:
    """Read, diagnose, redact and render. Raises `CommandFailed` with one line for the user."""
    facts, launch = _beside(request, stdin)
    if not request.container:
        return _run(request, stdin, Context(facts, launch.text, launch.name))
    from logdoctor.checking import container

    if request.paths != ("-",):
        raise CommandFailed("--container brings its own log: give no file beside it")
    with container(request.container) as (log, described):
        launch = launch if launch.text is not None else described
        return _run(request, log, Context(facts, launch.text, launch.name), source=request.container)


def _beside(request: Request, stdin: BinaryIO) -> tuple[Mapping[str, Fact], GivenLaunch]:
    """Return what is given beside the log: facts, and the launch."""
    facts = parse_facts(request.facts)
    if not request.launch and not request.nvidia_smi:
        return facts, GivenLaunch()
    from logdoctor.checking import gpu_facts, launch_of

    streams = [*(() if request.container else request.paths), request.launch, request.nvidia_smi]
    if streams.count("-") > 1:
        raise CommandFailed("standard input can be only one of the log, --launch and --nvidia-smi")
    return {**gpu_facts(request.nvidia_smi, stdin), **facts}, launch_of(request.launch, stdin)


def _run(request: Request, stdin: BinaryIO, context: Context, source: str = "") -> Result:
    from logdoctor.launch.errors import LaunchError
    from logdoctor.pipeline import diagnose_runs, skimmed
    from logdoctor.reading import InputError, open_runs
    from logdoctor.report import render
    from logdoctor.report.redaction import redact

    format_ = format_of(request)
    fail_on = severity_of(request.fail_on)
    database = open_database(request.signature_dirs, request.ignore_broken, lang=request.options.lang)
    try:
        runs = open_runs(request.paths, stdin=stdin, max_bytes=request.max_bytes)
        source = source or source_name(request.paths)
        diagnosis = diagnose_runs(skimmed(runs, database), database, context, source=source)
    except (InputError, LaunchError) as error:
        raise CommandFailed(str(error)) from error
    diagnosis = replace(diagnosis, notes=(*diagnosis.notes, *runs.notes))
    diagnosis = choose_boot(diagnosis, request.boot)
    options = replace(request.options, all_boots=request.boot == "all", fail_on=fail_on)
    redacted = redact(diagnosis, keep_hosts=request.keep_hosts)
    text = render(redacted, format_, options=options)
    summary = ""
    if format_ == "github":
        from logdoctor.report.escaping import escape_diagnosis
        from logdoctor.report.github import step_summary

        summary = step_summary(escape_diagnosis(redacted), options)
    return Result(text, exit_status(diagnosis, fail_on), (*database.notes, *runs.notes), summary)


def format_of(request: Request) -> str:
    """Return the format of the report: `terminal` becomes plain text where the report leaves the terminal."""
    from logdoctor.report import FORMATS

    if request.format not in FORMATS:
        raise CommandFailed(f"unknown format {request.format!r}; known are {', '.join(FORMATS)}")
    return "text" if request.format == "terminal" and request.plain else request.format


def open_database(
    extra_dirs: Iterable[str | Path], ignore_broken: bool, *, examples: bool = False, lang: str = "en"
) -> Database:
    """Load the database, with the examples in it or without; complaints become the message of a `CommandFailed`."""
    from logdoctor.database import DatabaseError, load_database

    try:
        return load_database(extra_dirs, ignore_broken, examples=examples, lang=lang)
    except DatabaseError as error:
        raise CommandFailed(str(error)) from error


def parse_facts(texts: Iterable[str]) -> dict[str, Fact]:
    """Turn `KEY=VALUE` words into facts that say they were given."""
    from logdoctor.database.fact_keys import is_fact_key, nearest

    facts = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise CommandFailed(f"--fact wants KEY=VALUE, e.g. gpu.name=GB10; got {text!r}")
        key = key.strip()
        if not is_fact_key(key):
            near = nearest(key)
            hint = f"; did you mean {near}" if near else ", keys are dotted as gpu.name and vllm.version"
            raise CommandFailed(f"--fact knows no {key!r}{hint} (args.NAME and env.NAME may be any)")
        facts[key] = Fact(key, value.strip(), origin="given")
    return facts


def source_name(paths: tuple[str, ...]) -> str:
    """Name the input without the machine's directories: reports must not depend on where a log lies."""
    names = ["stdin" if path == "-" else Path(path).name for path in paths]
    return " + ".join(names)


def choose_boot(diagnosis: Diagnosis, wanted: str) -> Diagnosis:
    """Let another boot than the last one lead: `last`, `all`, or its number."""
    if wanted in ("last", "all"):
        return diagnosis
    try:
        number = int(wanted)
    except ValueError:
        raise CommandFailed(f"--boot wants last, all or a number, not {wanted!r}") from None
    position = next((i for i, boot in enumerate(diagnosis.boots) if boot.index == number), None)
    if position is None:
        raise CommandFailed(f"the log holds {len(diagnosis.boots)} boots; there is no boot {number}")
    boot = diagnosis.boots[position]
    return replace(diagnosis, leading=position, verdict=boot.verdict, summary=boot.summary)


def severity_of(text: str) -> Severity:
    """Return the severity of `--fail-on`."""
    try:
        return Severity(text)
    except ValueError:
        raise CommandFailed(f"--fail-on wants fatal, error, warning or info, not {text!r}") from None


def explain_signature(
    query: str, format_: str, signature_dirs: tuple[Path, ...], ignore_broken: bool, lang: str = "en"
) -> str:
    """Return the page of the signature that is meant by an id, its beginning, or a pasted log line."""
    from difflib import get_close_matches

    from logdoctor.database.explain import explain, find, to_dict, to_markdown, to_text
    from logdoctor.diagnosis.own_findings import OWN_FINDINGS

    database = open_database(signature_dirs, ignore_broken, examples=True, lang=lang)

    def match_line(text: str) -> list[str]:
        from logdoctor.diagnosis.examples import matching_ids
        from logdoctor.diagnosis.matching import Matcher

        found = matching_ids(text, Matcher(database), {})
        return [signature.id for signature in database.signatures if signature.match and signature.id in found]

    own = [signature for signature in OWN_FINDINGS if signature.id == query.strip()]
    found = own or find(database, query, match_line)
    if not found:
        near = get_close_matches(query.strip(), [row.id for row in database.rows], 1)
        hint = f"did you mean {near[0]}?" if near else "see: logdoctor signatures list"
        raise CommandFailed(f"no signature is called or matches {query[:80]!r}; {hint}")
    pages = [explain(signature, database.lang_of(signature.id)) for signature in found]
    if format_ == "json":
        dicts = [to_dict(page) for page in pages]
        return _json(dicts[0] if len(dicts) == 1 else dicts)
    if len(pages) > 1 and not any(character.isspace() for character in query):
        names = "\n".join(f"  {page.id}  {page.title}" for page in pages)
        raise CommandFailed(f"{query!r} is the beginning of {len(pages)} ids:\n{names}")
    if format_ == "markdown":
        return "\n".join(map(to_markdown, pages))
    if format_ != "text":
        raise CommandFailed(f"--format wants text, markdown or json, not {format_!r}")
    return "\n".join(map(to_text, pages))


def list_signatures(format_: str, signature_dirs: tuple[Path, ...], ignore_broken: bool) -> str:
    """Return all signatures in force, one a line or as one JSON array."""
    database = open_database(signature_dirs, ignore_broken, examples=True)
    if format_ == "json":
        from logdoctor.database.explain import explain, to_dict

        return _json(
            [{**to_dict(explain(s)), "harmless": s.harmless, "kind": s.kind.value} for s in database.signatures]
        )
    if format_ != "text":
        raise CommandFailed(f"--format wants text or json, not {format_!r}")
    width = max((len(signature.id) for signature in database.signatures), default=0)
    return "\n".join(f"{s.severity.value:7}  {s.id:{width}}  {s.title}" for s in database.signatures)


def lint_signatures(directories: tuple[Path, ...]) -> tuple[str, bool]:
    """Check the shipped entries and those of the directories; return the complaints and whether there are none."""
    from logdoctor.database.lint import lint_directory, lint_shipped

    issues = [*lint_shipped(), *(issue for directory in directories for issue in lint_directory(directory))]
    lines = [str(issue) for issue in issues]
    return "\n".join([*lines, f"{len(lines)} problems" if lines else "no problems"]), not lines


def check_examples(directories: tuple[Path, ...]) -> tuple[str, bool]:
    """Run all examples; return the failing ones and whether there are none."""
    from logdoctor.diagnosis.examples import example_faults

    database = open_database(directories, ignore_broken=False, examples=True)
    faults = [str(fault) for fault in example_faults(database)]
    count = sum(len(s.examples.match) + len(s.examples.no_match) for s in database.signatures)
    return "\n".join([*faults, f"{count} examples, {len(faults)} wrong"]), not faults


def draft_from_log(path: str, stdin: BinaryIO) -> str:
    """Return a draft entry for the unknown failure of a log's last boot."""
    import io

    from logdoctor.database.draft import Unrecognised, draft_signature, propose_file, raised_in
    from logdoctor.diagnosis import diagnose_records
    from logdoctor.diagnosis.unknown import UNKNOWN_FAILURE
    from logdoctor.reading import InputError, open_runs, read_lines, read_records
    from logdoctor.report.redaction import Redactor

    database = open_database((), ignore_broken=False)
    try:
        data = b"".join(run.data for run in open_runs([path], stdin=stdin, max_bytes=MAX_DRAFT_BYTES))
        runs = open_runs(["-"], stdin=io.BytesIO(data))
        diagnosis = diagnose_records(read_records(read_lines(runs)), database)
    except InputError as error:
        raise CommandFailed(str(error)) from error
    root = diagnosis.root_cause
    if root is None or root.id != UNKNOWN_FAILURE or diagnosis.boot is None:
        what = f"it is {root.id}" if root else f"the verdict is {diagnosis.verdict.value}"
        raise CommandFailed(f"this log holds no unrecognised failure: {what}")
    evidence = root.evidence[0]
    physical = data.decode("utf-8", "replace").splitlines()
    shown = physical[evidence.line - 1 : evidence.line] or [evidence.text]
    redactor = Redactor()
    version = diagnosis.boot.facts.get("vllm.version")
    failure = Unrecognised(
        message=redactor.text(evidence.text),
        lines=[redactor.text(line) for line in shown],
        phase=diagnosis.boot.phase,
        vllm=str(version.value) if version else "",
    )
    place = raised_in(physical[max(evidence.line - 200, 0) : evidence.line])
    return draft_signature(failure, tuple(database.by_id), propose_file(database.signatures, root.phase, place))


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=2)
