"""SARIF: one alarm a failure, on the line that the reader holds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from logdoctor.model import Diagnosis, Evidence
from logdoctor.report import RenderOptions, render

from .cases import CASES, CUTLASS, ENGINE_INIT, FAILED, READY, RESTART_LOOP, diagnosis
from .wellformed import check_sarif


def run_of(diagnosis: Diagnosis, **options: bool) -> dict[str, Any]:
    text = render(diagnosis, "sarif", options=RenderOptions(**options))
    check_sarif(text)
    return json.loads(text)["runs"][0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", CASES)
def test_every_case_fits_the_published_schema(name: str) -> None:
    run_of(CASES[name])
    run_of(CASES[name], all_boots=True)


def test_a_finding_is_a_result_on_its_line_and_a_consequence_is_related_to_it() -> None:
    run = run_of(FAILED)
    first, second, third = run["results"]
    assert [first["ruleId"], second["ruleId"], third["ruleId"]] == [
        "nvfp4-moe-cutlass-sm121",
        "unknown-variable",
        "ulimit-not-raised",
    ]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "nemotron.log"}
    assert place["region"]["startLine"] == 431
    assert first["partialFingerprints"] == {"logdoctor/v1": CUTLASS.fingerprint}
    related = first["relatedLocations"]
    assert [one["physicalLocation"]["region"]["startLine"] for one in related] == [562, 655, 661]
    assert [one.get("properties", {}).get("id") for one in related] == [None, "engine-core-init-failed", "engine-dead"]


def test_rules_hold_the_fix_and_stand_once() -> None:
    run = run_of(RESTART_LOOP, all_boots=True)
    assert len(run["results"]) == 9
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [
        "nvfp4-moe-cutlass-sm121", "engine-core-init-failed", "engine-dead", "unknown-variable", "ulimit-not-raised",
    ]  # fmt: skip
    assert rules[0]["help"]["text"].startswith("add --moe-backend marlin (Give the experts to Marlin)\n")
    assert "add `--moe-backend marlin`" in rules[0]["help"]["markdown"]
    assert rules[0]["defaultConfiguration"] == {"level": "error"}


def test_a_consequence_without_its_cause_is_a_result_itself() -> None:
    alone = replace(FAILED.boots[0], findings=(ENGINE_INIT,))
    assert [result["ruleId"] for result in run_of(diagnosis(alone))["results"]] == ["engine-core-init-failed"]


def test_the_work_was_done_whatever_was_found() -> None:
    for made, status in ((FAILED, 1), (READY, 0), (CASES["no-boot"], 3)):
        (invocation,) = run_of(made)["invocations"]
        assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, status)


def test_names_become_relative_uris() -> None:
    for source, uri in (
        ("stdin", "stdin.log"),
        ("a b%.log", "a%20b%25.log"),
        ("/x/y.log", "x/y.log"),
        ("", "stdin.log"),
    ):
        result = run_of(replace(FAILED, source=source))["results"][0]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_log_text_is_neither_a_placeholder_nor_a_link() -> None:
    made = replace(CUTLASS, title="{0} [here](http://x) {x}", evidence=(Evidence(3, "", "[a](1)"),) * 2)
    result = run_of(diagnosis(replace(FAILED.boots[0], findings=(made,))))["results"][0]
    assert result["message"]["text"].startswith("{{0}} [here] (http://x) {x}.")
    assert result["relatedLocations"][0]["message"]["text"] == "[a] (1)"
