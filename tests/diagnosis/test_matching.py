"""What the patterns of one entry catch comes together, also when several of them match the same line."""

from __future__ import annotations

from logdoctor.model import Severity
from tests.database.build import any_of, signature
from tests.diagnosis.build import boot, database, raised

LOG = raised("ValidationError: 1 error for StoreConfig\nblock_size\n  Input should be greater than 0")


def test_a_broad_pattern_takes_nothing_from_a_sharp_one_on_the_same_line() -> None:
    entry = signature(
        id="refused",
        title="{config} refuses {field|something}",
        severity=Severity.FATAL,
        match=any_of(
            r"ValidationError: \d+ error for (?P<config>\w{4,60})\n(?P<field>\w{4,60})\n",
            r"ValidationError: \d+ error for (?P<config>\w{4,60})",
        ),
    )
    finding = boot(LOG, signatures=database(entry)).root_cause
    assert finding is not None
    assert finding.title == "StoreConfig refuses block_size"
    assert len(finding.evidence) == 1
