"""Every sample log gets the diagnosis that its yaml states, and leaks none of the secrets it lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.running import report_of
from tests.sample_logs import complaints, name_of, sample_logs, side_file


@pytest.mark.parametrize("log", sample_logs(), ids=name_of)
def test_sample_gets_its_diagnosis(log: Path) -> None:
    side = side_file(log)
    assert "expect" in side, "a sample states what must be said of it"
    report = json.loads(report_of(log, "json"))
    assert complaints(side["expect"], report) == []


@pytest.mark.parametrize("log", [log for log in sample_logs() if side_file(log).get("secrets")], ids=name_of)
@pytest.mark.parametrize("format_", ["json", "markdown", "text", "terminal"])
def test_no_listed_secret_passes(log: Path, format_: str) -> None:
    text = report_of(log, format_)
    assert [secret for secret in side_file(log)["secrets"] if secret in text] == []


def test_every_log_has_a_side_file_that_says_where_it_comes_from() -> None:
    assert [name_of(log) for log in sample_logs() if "origin" not in side_file(log)] == []
