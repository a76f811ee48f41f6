"""Short ways to diagnose a piece of log with the shipped signatures, or with a few made for a test."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from functools import cache

from logdoctor.database import Database, Signature, load_database
from logdoctor.diagnosis import diagnose_records
from logdoctor.model import BootDiagnosis, Diagnosis, Fact, FactValue, Finding, Role
from logdoctor.reading import read_text


@cache
def shipped() -> Database:
    """The shipped signatures, without a user's own."""
    return load_database(environ={})


def database(*signatures: Signature) -> Database:
    """A database of a few signatures made for a test."""
    return Database.of(signatures, "test")


def diagnose(log: str, facts: dict[str, FactValue] | None = None, signatures: Database | None = None) -> Diagnosis:
    """The diagnosis of a piece of log; `facts` are given by hand."""
    given = {key: Fact(key, value, origin="given") for key, value in (facts or {}).items()}
    return diagnose_records(read_text(textwrap.dedent(log).strip("\n")), signatures or shipped(), given=given)


def boot(log: str, facts: dict[str, FactValue] | None = None, signatures: Database | None = None) -> BootDiagnosis:
    """The leading boot of a piece of log that is a vLLM server's."""
    made = diagnose(log, facts, signatures).boot
    assert made is not None
    return made


def ids(findings: Iterable[Finding], *roles: Role) -> list[str]:
    """The ids of findings, of some roles only if any are named."""
    return [finding.id for finding in findings if not roles or finding.role in roles]


def root(of: BootDiagnosis) -> str:
    """The id of the root cause; empty when there is none."""
    return of.root_cause.id if of.root_cause else ""


def commands(of: BootDiagnosis) -> list[str]:
    """Everything the report says to type, the root cause's first."""
    return [remedy.command for finding in of.findings for remedy in finding.remedies if remedy.command]


# --- lines as vLLM prints them ----------------------------------------------------------------------------------------


def said(
    message: str,
    process: str = "EngineCore pid=68",
    level: str = "INFO",
    time: str = "11-30 10:00:00",
    file: str = "core.py:1330",
) -> str:
    """A logger's line; every line of a longer message carries the prefix, as vLLM's formatter does."""
    return "\n".join(f"({process}) {level} {time} [{file}] {line}" for line in message.split("\n"))


def raised(
    error: str, *functions: str, process: str = "EngineCore pid=68", head: str = "EngineCore failed to start."
) -> str:
    """A logged traceback through these functions, the last one innermost."""
    lines = [head, "Traceback (most recent call last):"]
    for function in functions or ("run_engine_core",):
        lines += [f'  File "/opt/vllm/{function}.py", line 7, in {function}', f"    {function}()"]
    return said("\n".join([*lines, error]), process, "ERROR", file="core.py:1100")


def banner(version: str = "0.17.1", **arguments: object) -> str:
    """The first lines of a start."""
    given = {"model_tag": "acme/m", "model": "acme/m", **arguments}
    config = f"model='{given['model']}', tokenizer='acme/m', dtype=torch.bfloat16, max_seq_len=8192"
    return "\n".join(
        [
            said(f"vLLM API server version {version}", "APIServer pid=1"),
            said(f"non-default args: {given!r}", "APIServer pid=1"),
            said(f"Initializing a V1 LLM engine (v{version}) with config: {config}"),
        ]
    )


CASCADE = (
    "(APIServer pid=1) Traceback (most recent call last):\n"
    '(APIServer pid=1)   File "/opt/vllm/entrypoints/cli/main.py", line 73, in main\n'
    "(APIServer pid=1)     args.dispatch_function(args)\n"
    "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
)
"""The last lines of a start whose engine failed."""

UP = "(APIServer pid=1) INFO:     Application startup complete."


def lines(*parts: str) -> str:
    """Join pieces of log."""
    return "\n".join(_each(parts))


def _each(parts: Iterable[str]) -> Iterator[str]:
    yield from (part for part in parts if part)
