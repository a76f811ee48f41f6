"""The shipped database: sound, proven by its examples, and no entry speaks on another's lines undeclared."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from logdoctor.database import Database, Signature, load_database
from logdoctor.database.lint import lint_shipped
from logdoctor.database.schema import Kind
from logdoctor.diagnosis.examples import example_faults, given_facts, matching_lines
from logdoctor.diagnosis.matching import Matcher
from logdoctor.model import Severity
from tests.running import report_of
from tests.sample_logs import name_of, sample_logs, side_file


@cache
def database() -> Database:
    """The shipped entries with their examples."""
    return load_database(environ={}, examples=True)


def test_the_database_is_as_large_as_promised() -> None:
    signatures = database().signatures
    assert len(signatures) >= 200
    assert sum(signature.harmless for signature in signatures) >= 30
    assert all(signature.severity is Severity.INFO for signature in signatures if signature.harmless)


def test_lint_has_no_complaint() -> None:
    assert [str(issue) for issue in lint_shipped()] == []


def test_every_example_does_what_it_stands_for() -> None:
    assert [str(fault) for fault in example_faults(database())] == []


def declared(one: Signature, other: Signature) -> bool:
    """Whether one of two entries says that it knows of the other."""
    return (
        other.id in one.suppresses
        or other.id in one.consequence_of
        or one.id in other.suppresses
        or one.id in other.consequence_of
        or other.id in one.undecided_with
        or one.id in other.undecided_with
    )


def overlaps(signature: Signature, matcher: Matcher) -> list[str]:
    """Other entries that match on the lines of this one's examples, without a word about it in either."""
    found = []
    for example in signature.examples.match:
        lines = matching_lines(example.log, matcher, given_facts(example))
        own = lines.get(signature.id, set())
        for name, others in lines.items():
            other = database().by_id[name]
            # A general entry gives way by itself, and a cascade or a notice is no rival for the root cause.
            aside = other.general or signature.general or Kind.CASCADE in (other.kind, signature.kind)
            if name != signature.id and own & others and not aside and not declared(signature, other):
                found.append(f"{signature.id} ~ {name}")
    return sorted(set(found))


def test_no_entry_speaks_on_anothers_lines_undeclared() -> None:
    matcher = Matcher(database())
    undeclared = [pair for signature in database().signatures for pair in overlaps(signature, matcher)]
    assert undeclared == []


@pytest.mark.parametrize(
    "log", [log for log in sample_logs() if "no_findings_above" in side_file(log)["expect"]], ids=name_of
)
def test_a_healthy_log_gets_no_alarm(log: Path) -> None:
    limit = Severity(side_file(log)["expect"]["no_findings_above"])
    findings = [f for boot in json.loads(report_of(log, "json"))["boots"] for f in boot["findings"]]
    assert [f["id"] for f in findings if Severity(f["severity"]).rank > limit.rank] == []
