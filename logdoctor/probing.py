"""What `logdoctor probe` does: measure, join with the log, diagnose, render; once or again and again.

Like `commands`, this knows every room and neither prints nor exits.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from logdoctor.commands import Result, open_database, parse_facts, source_name
from logdoctor.console import CommandFailed
from logdoctor.model import Diagnosis, Severity
from logdoctor.pipeline import Context, diagnose_runs, skimmed, stamped
from logdoctor.report.options import RenderOptions
from logdoctor.report.status import exit_status

if TYPE_CHECKING:
    from logdoctor.probe import ProbeOptions

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A probe as the command line asks for it; the texts are not checked yet."""

    url: str
    log: str = ""
    container: str = ""
    model: str = ""
    api_key_env: str = ""
    level: str = "answer"
    timeout: str = "60s"
    max_tokens: int = 512
    context: bool = False
    ollama: str = ""
    format: str = "terminal"
    fail_on: str = "error"
    facts: tuple[str, ...] = ()
    signature_dirs: tuple[str | Path, ...] = ()
    ignore_broken: bool = False
    keep_hosts: bool = False
    plain: bool = True
    options: RenderOptions = field(default_factory=RenderOptions)


def seconds(text: str, option: str) -> float:
    """Read a duration such as `30s`, `2m`, `500ms` or `30`."""
    found = _DURATION.fullmatch(text.strip().lower())
    value = float(found[1]) * _SECONDS[found[2] or ""] if found else 0.0
    if not 0 < value <= 86_400:
        raise CommandFailed(f"{option} wants a duration such as 30s or 2m, not {text!r}")
    return value


class Prober:
    """A checked request with everything that stays the same from one round to the next."""

    def __init__(self, request: ProbeRequest, stdin: BinaryIO) -> None:
        from logdoctor.report import FORMATS

        if request.format not in FORMATS:
            raise CommandFailed(f"unknown format {request.format!r}; known are {', '.join(FORMATS)}")
        if request.log and request.container:
            raise CommandFailed("--log and --container exclude each other")
        try:
            self._fail_on = Severity(request.fail_on)
        except ValueError:
            raise CommandFailed(f"--fail-on wants fatal, error, warning or info, not {request.fail_on!r}") from None
        self._request = request
        self._stdin = stdin
        self._from_stdin: Diagnosis | None = None
        self._given = parse_facts(request.facts)
        self._options = _probe_options(request)
        self._database = open_database(request.signature_dirs, request.ignore_broken, lang=request.options.lang)
        self.notes = self._database.notes

    def run(self) -> Result:
        """Measure once and return the report."""
        diagnosis = self._diagnose()
        return Result(self._render(diagnosis), exit_status(diagnosis, self._fail_on))

    def watch(self, interval: float, show: Callable[[str], None], pause: Callable[[float], object] = time.sleep) -> int:
        """Measure again and again until interrupted; show the report when verdict or findings change."""
        status, before = 0, None
        try:
            while True:
                diagnosis = self._diagnose()
                status = exit_status(diagnosis, self._fail_on)
                state = (status, _state(diagnosis))
                if state != before:
                    show(self._render(diagnosis))
                before = state
                pause(interval)
        except KeyboardInterrupt:
            return status

    def _render(self, diagnosis: Diagnosis) -> str:
        from logdoctor.report import render
        from logdoctor.report.redaction import redact

        request = self._request
        format_ = "text" if request.format == "terminal" and request.plain else request.format
        return render(redact(diagnosis, keep_hosts=request.keep_hosts), format_, options=request.options)

    def _diagnose(self) -> Diagnosis:
        from logdoctor.diagnosis.probed import diagnose_probe
        from logdoctor.probe import probe

        witness = self._witness()
        probed = probe(self._options)
        if "probe.tool_call" in probed and probed["probe.tool_call"].value == "not configured":
            # Asking for a tool every round would write an error into the server's log every round.
            self._options = replace(self._options, tools=False)
        diagnosis = diagnose_probe(probed, self._database, witness.log, given=self._given)
        if witness.launch and "probe.log_disagrees" not in (diagnosis.boot.facts if diagnosis.boot else {}):
            from logdoctor.diagnosis.launch_check import corrected_launch

            diagnosis = replace(diagnosis, launch=corrected_launch(diagnosis, witness.launch))
        source = " + ".join(part for part in (str(self._options.address), witness.name) if part)
        return stamped(diagnosis, self._database, source)

    def _witness(self) -> _Witness:
        """Read what else tells of the server: its log, the container's description."""
        request = self._request
        if request.container:
            from logdoctor.launch import ContainerError, container_input

            try:
                found = container_input(request.container)
            except ContainerError as error:
                raise CommandFailed(str(error)) from error
            launch = found.inspect if _is_launch(found.inspect) else None
            return _Witness(self._read("-", found.log, launch), request.container, launch)
        if request.log == "-":
            self._from_stdin = self._from_stdin or self._read("-", self._stdin)
            return _Witness(self._from_stdin, source_name(("-",)))
        if request.log:
            return _Witness(self._read(request.log, self._stdin), source_name((request.log,)))
        return _Witness()

    def _read(self, path: str, stdin: BinaryIO, launch: str | None = None) -> Diagnosis:
        from logdoctor.reading import InputError, open_runs

        try:
            runs = open_runs((path,), stdin=stdin)
            context = Context(self._given, launch)
            diagnosis = diagnose_runs(skimmed(runs, self._database), self._database, context)
        except InputError as error:
            raise CommandFailed(str(error)) from error
        return replace(diagnosis, notes=(*diagnosis.notes, *runs.notes))


@dataclass(frozen=True, slots=True)
class _Witness:
    """What is known of the server beside the measurements."""

    log: Diagnosis | None = None
    name: str = ""
    launch: str | None = None


def _is_launch(inspect: str) -> bool:
    from logdoctor.launch import LaunchError, read_launch

    try:
        read_launch(inspect)
    except LaunchError:
        return False
    return True


def _state(diagnosis: Diagnosis) -> tuple[object, ...]:
    findings = diagnosis.boot.findings if diagnosis.boot else ()
    return (diagnosis.verdict, *sorted((finding.id, finding.role.value) for finding in findings))


def _probe_options(request: ProbeRequest) -> ProbeOptions:
    from logdoctor.probe import Level, ProbeError, ProbeOptions, parse_address

    levels = [level.value for level in Level]
    if request.level not in levels:
        raise CommandFailed(f"--level wants {', '.join(levels[:-1])} or {levels[-1]}, not {request.level!r}")
    key = os.environ.get(request.api_key_env, "").strip() if request.api_key_env else ""
    if request.api_key_env and not key:
        raise CommandFailed(
            f"the variable {request.api_key_env} is not set; --api-key-env names one that holds the key"
        )
    try:
        return ProbeOptions(
            address=parse_address(request.url),
            level=Level(request.level),
            model=request.model,
            key=key,
            timeout=seconds(request.timeout, "--timeout"),
            max_tokens=request.max_tokens,
            context=request.context,
            ollama=parse_address(request.ollama) if request.ollama else None,
        )
    except ProbeError as error:
        raise CommandFailed(str(error)) from error
