"""What is shown of the log as evidence: the line that states a fact, and first of all the one that decides."""

from __future__ import annotations

import pytest

from logdoctor.database import Signature
from logdoctor.database.schema import MatchBlock, MatchItem
from logdoctor.facts import FactCollector
from logdoctor.model import Basis, Confidence, Finding, Phase, Severity
from logdoctor.reading import read_text

from .build import boot, database, said

LOADING = "\n".join(
    (
        said("vLLM API server version 0.24.0", "APIServer pid=1"),
        said("Starting to load model /models/x..."),
        said("Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:10<00:10,  5.00s/it]"),
    )
)


def only(log: str, **asked: object) -> Finding:
    """The finding of a signature made for a test."""
    made = Signature(
        id="made-up", title="It is so", severity=Severity.FATAL, phase=Phase.CONFIG, cause="It is.",
        confidence=Confidence.LIKELY, basis=Basis.SOURCE, **asked,  # type: ignore[arg-type]
    )  # fmt: skip
    return next(finding for finding in boot(log, signatures=database(made)).findings if finding.id == "made-up")


def test_a_fact_is_shown_by_its_line() -> None:
    finding = only(LOADING, when={"weights.shards_total": ">=1"})
    assert [(item.line, item.text.split(":")[0]) for item in finding.evidence] == [
        (3, "Loading safetensors checkpoint shards")
    ]


def test_a_fact_from_elsewhere_says_who_gave_it() -> None:
    made = Signature(
        id="made-up", title="It is so", severity=Severity.FATAL, phase=Phase.CONFIG, cause="It is.",
        confidence=Confidence.LIKELY, basis=Basis.SOURCE, when={"gpu.name": "GB10"},
    )  # fmt: skip
    finding = boot(LOADING, {"gpu.name": "GB10"}, database(made)).findings[0]
    assert [(item.line, item.process, item.text) for item in finding.evidence] == [(0, "given", "gpu.name = GB10")]


@pytest.mark.parametrize("block", ["sequence", "all"])
def test_the_line_that_decides_leads(block: str) -> None:
    items = (MatchItem(literal="Starting to load model"), MatchItem(literal="made up and died"))
    log = LOADING + "\n" + said("made up and died", level="ERROR")
    finding = only(log, match=MatchBlock(**{block: items}))
    assert [item.line for item in finding.evidence] == [4, 2]


def test_texts_of_lines_are_kept_for_standing_facts_only() -> None:
    bars = "\n".join(
        said(f"Loading safetensors checkpoint shards:  50% Completed | {n}/9000 [00:10<00:10,  5.00s/it]")
        for n in range(1, 5000)
    )
    collector = FactCollector()
    for _, record in read_text(LOADING + "\n" + bars):
        collector.observe(record)
    assert len(collector.texts) <= 2100
    facts = collector.facts()
    assert facts["weights.shards_done"].line in collector.texts
