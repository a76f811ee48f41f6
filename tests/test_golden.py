"""Every sample's report in the formats for people and programs, compared with what was looked at and accepted.

UPDATE_GOLDEN=1 python -m pytest tests/test_golden.py      writes them anew; read the diff before committing it
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest

from logdoctor import __version__
from logdoctor.report.schema import schema
from tests.running import report_of, result_of
from tests.sample_logs import name_of, sample_logs

GOLDEN = Path(__file__).parent / "golden"
ENDINGS = {"text": ".txt", "markdown": ".md", "json": ".json"}
_DATABASE = re.compile(r"\b\d{3,4}-[0-9a-f]{8}\b")
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def _masked(text: str) -> str:
    """The report without what every change of the database or the tool moves."""
    return _DATABASE.sub("X", text.replace(__version__, "X"))


@pytest.mark.parametrize("log", sample_logs(), ids=name_of)
@pytest.mark.parametrize("format_", sorted(ENDINGS))
def test_report_is_as_accepted(log: Path, format_: str) -> None:
    path = (GOLDEN / name_of(log)).with_name(Path(name_of(log)).name + ENDINGS[format_])
    text = _masked(report_of(log, format_))
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("log", sample_logs(), ids=name_of)
def test_json_report_holds_to_the_schema(log: Path) -> None:
    jsonschema.validate(json.loads(report_of(log, "json")), schema())


@pytest.mark.parametrize("log", sample_logs(), ids=name_of)
def test_exit_status_is_the_same_in_every_format(log: Path) -> None:
    assert len({result_of(log, format_).status for format_ in ENDINGS}) == 1


def test_no_golden_report_is_left_over() -> None:
    known = {name_of(log) for log in sample_logs()}
    kept = {path.relative_to(GOLDEN).as_posix().rsplit(".", 1)[0] for path in GOLDEN.rglob("*.*") if path.is_file()}
    assert kept - known == set()
