"""The short forms for machines: metrics, the termination message, the record of one line."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from logdoctor.model import Evidence, Fact, Remedy, Severity
from logdoctor.report import RenderOptions, render
from logdoctor.report.record import base_record, decode

from .cases import CASES, CUTLASS, FAILED, HOSTILE, HOSTILE_TEXT, NO_BOOT, RESTART_LOOP, UNDECIDABLE, diagnosis
from .wellformed import check_jsonl, check_prometheus, check_termination


def test_metrics_of_a_failure() -> None:
    lines = render(RESTART_LOOP, "prometheus").splitlines()
    assert 'logdoctor_verdict{source="nemotron.log",verdict="failed"} 1' in lines
    assert (
        'logdoctor_finding{source="nemotron.log",id="nvfp4-moe-cutlass-sm121",severity="fatal",role="root_cause"} 1'
        in lines
    )
    assert 'logdoctor_boots{source="nemotron.log"} 3' in lines
    assert 'logdoctor_boots_failed{source="nemotron.log"} 3' in lines
    assert 'logdoctor_log_lines{source="nemotron.log"} 1983' in lines
    assert 'logdoctor_exit_status{source="nemotron.log"} 1' in lines


def test_metrics_without_a_boot() -> None:
    text = render(NO_BOOT, "prometheus")
    check_prometheus(text)
    assert 'logdoctor_verdict{source="access.log",verdict="undetermined"} 1\n' in text
    assert 'logdoctor_exit_status{source="access.log"} 3\n' in text
    assert "logdoctor_finding" not in text


def test_labels_hold_no_text_of_the_log() -> None:
    text = render(replace(HOSTILE, source='a"b\\c\nd'), "prometheus")
    check_prometheus(text)
    assert 'source="a\\"b\\\\c d"' in text
    assert not any(word in text for word in ("owned", "markup", "someone"))


@pytest.mark.parametrize("name", CASES)
def test_termination_messages_are_short(name: str) -> None:
    for ascii in (False, True):
        check_termination(render(CASES[name], "termination", options=RenderOptions(ascii=ascii)))


def test_the_termination_message_says_cause_fix_and_fingerprint() -> None:
    fix = "fix: add --moe-backend marlin (Give the experts to Marlin)"
    said = f"FAILED nvfp4-moe-cutlass-sm121: {CUTLASS.title}; {fix}"
    assert render(FAILED, "termination").startswith(f"{said}; fingerprint {CUTLASS.fingerprint}; ")
    assert render(UNDECIDABLE, "termination").startswith("FAILED host-memory-exhausted or killed-from-outside: ")


def test_a_long_termination_message_is_cut_at_a_character() -> None:
    long = "漢字" * 900
    made = replace(CUTLASS, title=long, cause=long, remedies=(Remedy(long, "flag", "--x 漢"),))
    text = render(diagnosis(replace(FAILED.boots[0], findings=(made,))), "termination")
    check_termination(text)
    assert len(text.encode()) > 1_000
    first, second, third = text.rstrip("\n").split("; ")[:3]
    assert first.startswith("FAILED nvfp4-moe-cutlass-sm121: 漢字")
    assert first.endswith("...")
    assert second.startswith("fix: add --x 漢 (漢字")
    assert third == f"fingerprint {CUTLASS.fingerprint}"


def test_a_record_is_the_fleets() -> None:
    text = render(RESTART_LOOP, "jsonl")
    record = decode(text.encode())
    assert record is not None
    assert set(record) == set(base_record("", "", ("", "")))
    assert record["source"] == "nemotron.log"
    assert record["root_cause"]["fingerprint"] == CUTLASS.fingerprint
    assert record["root_cause"]["line"] == 431
    assert (record["boots"], record["boots_failed"], record["lines"]) == (3, 3, 1983)
    assert record["vllm_version"] == "0.17.1"
    assert record["earlier"] == [{"id": CUTLASS.id, "fingerprint": CUTLASS.fingerprint, "boots": 2}]


def test_a_record_follows_the_threshold() -> None:
    strict = render(CASES["degraded"], "jsonl", options=RenderOptions(fail_on=Severity.WARNING))
    assert json.loads(strict)["exit_status"] == 1
    assert json.loads(render(CASES["degraded"], "jsonl"))["exit_status"] == 0


@pytest.mark.parametrize("ascii", [False, True])
def test_a_record_stays_short(ascii: bool) -> None:
    long = ("漢字 ##[x] " + HOSTILE_TEXT) * 400
    unknown = replace(
        CUTLASS, id="unknown-failure", title=long, cause=long, evidence=(Evidence(1, long, long),), remedies=()
    )
    boot = replace(FAILED.boots[0], findings=(unknown,) * 200, notes=(long,) * 50, summary=long)
    text = render(diagnosis(boot, notes=(long,) * 50), "jsonl", options=RenderOptions(ascii=ascii))
    check_jsonl(text)
    assert "##[" not in text


def test_a_given_number_is_a_number_in_the_record() -> None:
    facts = {"gpu.count": Fact("gpu.count", "4", origin="given"), "vllm.version": Fact("vllm.version", 1, 2)}
    record = json.loads(render(diagnosis(replace(FAILED.boots[0], facts=facts)), "jsonl"))
    assert (record["gpu_count"], record["vllm_version"]) == (4, "1")
