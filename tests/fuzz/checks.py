"""What must hold for whatever bytes come in; shared by the fuzzer and by the tests on what it found."""

from __future__ import annotations

import io
import json
import re
from functools import cache
from typing import Any

from logdoctor.database import Database, load_database
from logdoctor.model import Diagnosis, Severity
from logdoctor.pipeline import diagnose_runs, skimmed
from logdoctor.reading import InputError, open_runs
from logdoctor.report import FORMATS, RenderOptions, exit_status, render
from logdoctor.report.redaction import redact

# What acts on a terminal or on the eye: C0 and C1 without line feed and tab, bidirectional and invisible characters.
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
STATUSES = frozenset({0, 1, 2, 3})
HUMAN = tuple(name for name in FORMATS if name not in ("json",))


@cache
def database() -> Database:
    """The shipped database, loaded once."""
    return load_database(environ={})


def diagnosis_of(data: bytes, *, max_bytes: int = 2**30) -> Diagnosis:
    """Diagnose and redact bytes as the command line does; an empty diagnosis stands for unreadable input."""
    runs = open_runs(["-"], stdin=io.BytesIO(data), max_bytes=max_bytes)
    return redact(diagnose_runs(skimmed(runs, database()), database(), source="stdin"))


def check(data: bytes, format: str = "json") -> None:
    """Raise when something does not hold for this input."""
    try:
        diagnosis = diagnosis_of(data)
    except InputError:
        return
    status = exit_status(diagnosis, Severity.ERROR)
    if status not in STATUSES:
        raise AssertionError(f"status {status}")
    text = render(diagnosis, format, options=RenderOptions())
    text.encode()
    found = ACTING.search(text)
    if found:
        raise AssertionError(f"{format} holds {found[0]!r}")
    if not text.endswith("\n"):
        raise AssertionError(f"{format} does not end with a line end")
    if format == "json":
        check_json(json.loads(text))


def check_json(document: dict[str, Any]) -> None:
    """Raise when a report in JSON contradicts itself."""
    boots = document["boots"]
    if boots:
        leading = next(boot for boot in boots if boot["index"] == document["boots_summary"]["leading"])
        if leading["verdict"] != document["verdict"]:
            raise AssertionError("the verdict is not that of the leading boot")
    for boot in boots:
        roots = [finding["id"] for finding in boot["findings"] if finding["role"] == "root_cause"]
        if (boot["root_cause"] or None) != (roots[0] if roots else None):
            raise AssertionError("the root cause is not the first finding of that role")
        if roots and boot["findings"][0]["role"] != "root_cause":
            raise AssertionError("the root cause does not come first")
        ids = [(finding["id"], finding["title"]) for finding in boot["findings"]]
        if len(set(ids)) != len(ids):
            raise AssertionError(f"told twice: {ids}")
