"""The summary: counts by cause and fingerprint, what is new, and the same whatever the order."""

from __future__ import annotations

import random
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.fleet.summary import NOT_READ, Baseline, Count, FleetSummary, Tally, read_baseline
from tests.fleet.build import made, record_of, unknown


def summed(*records: dict[str, Any], baseline: Baseline | None = None, together: bool = False) -> FleetSummary:
    tally = Tally(baseline, together=together)
    for record in records:
        tally.add(record)
    return tally.summary()


FLEET = [
    made("a.log", "shard", fingerprint="aa", node="n1", vllm_version="0.17.1", first_seen="2026-11-30T10:00:00Z"),
    made("b.log", "shard", fingerprint="ab", node="n2", vllm_version="0.17.1", last_seen="2026-11-30T12:00:00Z"),
    made("c.log", "shard", fingerprint="aa", node="n1", vllm_version="0.27.1", first_seen="11-01 00:00:00"),
    made("d.log", "port", fingerprint="bb", node="n1"),
    made("e.log", node="n3"),
    made("f.log", verdict=None, exit_status=2, error="does not exist"),
    made("g.log", earlier=[{"id": "shard", "fingerprint": "aa", "boots": 4}]),
]


def test_causes_are_counted_with_where_and_when() -> None:
    summary = summed(*FLEET)
    shard, port = summary.causes
    assert (shard.id, shard.group.count, shard.earlier) == ("shard", 3, 4)
    assert shard.group.fingerprints == (Count("aa", 2), Count("ab", 1))
    assert shard.group.by["nodes"] == (Count("n1", 2), Count("n2", 1))
    assert shard.group.by["versions"] == (Count("0.17.1", 2), Count("0.27.1", 1))
    assert (shard.group.first_seen, shard.group.last_seen) == ("2026-11-30T10:00:00Z", "2026-11-30T12:00:00Z")
    assert shard.group.sources == ("a.log", "b.log", "c.log")
    assert (port.id, port.group.count) == ("port", 1)
    assert summary.logs == 7
    assert {one.name: one.count for one in summary.verdicts} == {"failed": 4, "ready": 2, NOT_READ: 1}
    assert [(one.source, one.error) for one in summary.troubles] == [("f.log", "does not exist")]


@given(st.integers())
def test_the_order_of_the_records_does_not_matter(seed: int) -> None:
    mixed = list(FLEET)
    random.Random(seed).shuffle(mixed)
    assert summed(*mixed) == summed(*FLEET)


def test_the_status_is_that_of_the_worst_log() -> None:
    up, open_, failed = made("a"), made("b", exit_status=3), made("c", "shard")
    broken = made("d", exit_status=2)
    assert summed(up).status == 0
    assert summed(up, open_).status == 3
    assert summed(up, open_, failed).status == 1
    assert summed(up, open_, failed, broken).status == 2


def test_what_is_new_against_a_baseline() -> None:
    baseline = read_baseline([made("x", "shard", fingerprint="aa"), made("y", "gone"), made("z")])
    summary = summed(*FLEET, baseline=baseline)
    shard, port = summary.causes
    assert (shard.before, shard.new, shard.new_fingerprints) == (1, False, ("ab",))
    assert (port.before, port.new) == (0, True)
    assert summary.gone == (Count("gone", 1),)
    assert summary.baseline_logs == 3
    without = summed(*FLEET)
    assert (without.causes[0].before, without.causes[0].new, without.baseline_logs) == (None, False, None)


def test_unknown_failures_are_clustered_by_template_with_a_draft() -> None:
    records = [
        record_of(unknown("flux 17 overheated in '/a'"), "a.log"),
        record_of(unknown("flux 3 overheated in '/b/c'"), "b.log"),
        record_of(unknown("no such planet: 9"), "c.log"),
    ]
    summary = summed(*records)
    flux, planet = summary.unknown
    assert (flux.template, flux.group.count) == ("RuntimeError: flux N overheated in S", 2)
    assert (planet.template, planet.group.count) == ("RuntimeError: no such planet: N", 1)
    assert not summary.causes
    (entry,) = yaml.safe_load(flux.draft)
    assert entry["id"] == "flux-overheated"
    assert "overheated" in entry["match"]["any"][0]["pattern"]
    later = summed(*records, baseline=read_baseline(records[:2]))
    assert [(one.template, one.before, one.new) for one in later.unknown] == [
        (flux.template, 2, False),
        (planet.template, 0, True),
    ]


def test_a_draft_takes_no_id_that_is_taken() -> None:
    tally = Tally()
    tally.add(record_of(unknown()))
    (entry,) = yaml.safe_load(tally.summary(["flux-overheated"]).unknown[0].draft)
    assert entry["id"] == "flux-overheated-2"


def test_memory_does_not_grow_with_the_number_of_logs() -> None:
    tally = Tally()
    for number in range(12_000):
        tally.add(made(f"{number}.log", "shard", fingerprint=f"{number:08x}", node=f"node-{number}"))
    (cause,) = tally.summary().causes
    assert cause.group.count == 12_000
    assert sum(one.count for one in cause.group.by["nodes"]) == 12_000
    assert sum(one.count for one in cause.group.fingerprints) == 12_000
    assert len(cause.group.by["nodes"]) < 100
    assert len(tally._causes["shard"].names["nodes"].counts) <= 5000


def test_more_different_failures_than_can_be_told_apart() -> None:
    tally = Tally()
    for number in range(2100):
        unknown_ = {"template": f"t{number:05}", "text": f"x{number} is broken here", "process": "", "phase": "weights"}
        tally.add(made(f"{number}.log", "unknown-failure", fingerprint=f"{number}", unknown=unknown_))
    assert len(tally._unknown) == 2001
    assert sum(logs.count for logs in tally._unknown.values()) == 2100


def test_a_stored_record_that_somebody_changed_does_no_harm() -> None:
    tally = Tally(together=True)
    tally.add_stored({**made("a.log", "shard"), "root_cause": {"id": 5}})
    tally.add_stored({**made("b.log"), "earlier": [7]})
    tally.add(made("c.log"))
    assert tally.summary().verdicts
