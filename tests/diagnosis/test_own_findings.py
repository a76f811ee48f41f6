"""Every id that a report may print can be explained."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from logdoctor.commands import explain_signature
from logdoctor.diagnosis.own_findings import OWN_FINDINGS
from tests.sample_logs import name_of, sample_logs
from tests.test_golden import GOLDEN

SOURCE = Path(__file__).resolve().parents[2] / "logdoctor" / "diagnosis"


@pytest.mark.parametrize("name", [signature.id for signature in OWN_FINDINGS])
def test_it_is_explained(name: str) -> None:
    text = explain_signature(name, "text", (), ignore_broken=False)
    assert text.startswith(name + "\n")
    assert "Why" in text
    assert "Fix" in text


def test_all_ids_made_in_code_are_there() -> None:
    made = set(re.findall(r'_Named\("([a-z-]+)"', (SOURCE / "absences.py").read_text(encoding="utf-8")))
    made |= {"unknown-failure"}
    assert made <= {signature.id for signature in OWN_FINDINGS}


def test_every_id_of_the_samples_can_be_explained() -> None:
    """The accepted reports stand for the samples: that each is what the tool says, its own test shows."""
    from logdoctor.database import load_database

    known = {row.id for row in load_database(environ={}).rows} | {signature.id for signature in OWN_FINDINGS}
    reports = [(GOLDEN / name_of(log)).with_name(Path(name_of(log)).name + ".json") for log in sample_logs()]
    assert len(reports) > 200
    told = {
        finding["id"]
        for report in reports
        for boot in json.loads(report.read_text(encoding="utf-8"))["boots"]
        for finding in boot["findings"]
    }
    assert len(told) > 100
    assert told <= known
