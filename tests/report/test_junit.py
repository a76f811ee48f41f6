"""JUnit XML: the test fails where the exit status says so."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from logdoctor.model import Diagnosis, Evidence, Severity
from logdoctor.report import RenderOptions, render

from .cases import CASES, CUTLASS, ENGINE_INIT, FAILED, READY, RESTART_LOOP, diagnosis
from .wellformed import check_junit


def suite_of(diagnosis: Diagnosis, options: RenderOptions | None = None) -> Element:
    text = render(diagnosis, "junit", options=options)
    check_junit(text)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    return ElementTree.fromstring(text.encode())


def test_a_failure_names_the_cause_and_the_fix() -> None:
    case = next(suite_of(FAILED).iter("testcase"))
    assert case.get("classname") == "logdoctor.nemotron.log"
    assert (case.get("name"), case.get("file"), case.get("line")) == ("server start", "nemotron.log", "431")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "nvfp4-moe-cutlass-sm121"
    assert failure.get("message") == CUTLASS.title
    assert "fix: add --moe-backend marlin" in (failure.text or "")
    assert CUTLASS.fingerprint in (failure.text or "")


def test_status_decides_between_passed_failed_and_skipped() -> None:
    outcomes = {}
    for name, made in CASES.items():
        case = next(suite_of(made).iter("testcase"))
        outcomes[name] = next((tag for tag in ("failure", "skipped") if case.find(tag) is not None), "passed")
    assert {name for name, outcome in outcomes.items() if outcome == "passed"} == {
        "ready", "ready-after-loop", "degraded", "stopped",
    }  # fmt: skip
    assert {name for name, outcome in outcomes.items() if outcome == "skipped"} == {"starting", "no-boot", "one-line"}


def test_the_threshold_is_the_one_of_the_exit_status() -> None:
    strict = suite_of(CASES["degraded"], RenderOptions(fail_on=Severity.WARNING))
    failure = strict.find(".//failure")
    assert failure is not None
    assert failure.get("type") == "parser-of-another-model"


def test_an_unknown_failure_has_its_type_even_without_a_finding() -> None:
    assert suite_of(CASES["unknown"]).find(".//failure[@type='unknown-failure']") is not None
    silent = diagnosis(replace(FAILED.boots[0], findings=()))
    assert suite_of(silent).find(".//failure[@type='unknown-failure']") is not None
    only = diagnosis(replace(FAILED.boots[0], findings=(ENGINE_INIT,)))
    assert suite_of(only).find(".//failure[@type='engine-core-init-failed']") is not None


def test_each_boot_is_a_case_when_all_are_asked_for() -> None:
    suite = suite_of(RESTART_LOOP, RenderOptions(all_boots=True))
    assert [case.get("name") for case in suite.iter("testcase")] == [f"server start, boot {n}" for n in (1, 2, 3)]
    assert suite.get("failures") == "3"


def test_what_xml_cannot_hold_is_dropped() -> None:
    title = "a\ufffe\uffff\x00b ]]> <b> & \U0001f600"
    made = replace(CUTLASS, title=title, evidence=(Evidence(3, "", "\ufffe\nx\ty"),))
    failure = suite_of(diagnosis(replace(FAILED.boots[0], findings=(made,)))).find(".//failure")
    assert failure is not None
    assert failure.get("message") == "a\\x00b ]]> <b> & \U0001f600"
    assert suite_of(READY).find(".//failure") is None
