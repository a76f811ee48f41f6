"""The JSON report keeps its contract: published schema, fixed keys, numbers as numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from logdoctor.model import Diagnosis
from logdoctor.report import RenderOptions, render
from logdoctor.report.json import to_dict
from logdoctor.report.schema import schema, schema_text

from .cases import CASES, FAILED, HOSTILE, NO_BOOT, READY
from .strategies import diagnoses

VALIDATOR = Draft202012Validator(schema())


def undocumented(value: Any, described: dict[str, Any], at: str = "") -> list[str]:
    """Return the paths of keys that the schema does not describe."""
    described = schema()["$defs"][described["$ref"].rsplit("/", 1)[1]] if "$ref" in described else described
    if value is not None and "anyOf" in described:
        return undocumented(value, next(one for one in described["anyOf"] if "$ref" in one), at)
    if isinstance(value, list):
        return [path for item in value for path in undocumented(item, described.get("items", {}), f"{at}[]")]
    if not isinstance(value, dict):
        return [] if described.get("description") or at.endswith("[]") else [at]
    known, other = described.get("properties", {}), described.get("additionalProperties")
    found = []
    for key, item in value.items():
        place = f"{at}.{key}"
        if key in known:
            found += undocumented(item, known[key], place)
        elif isinstance(other, dict):
            found += undocumented(item, {"description": "by key", **other}, place)
        else:
            found.append(place)
    return found


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema_text().endswith("}\n")
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", CASES)
def test_every_report_fits_the_schema_and_has_no_key_of_its_own(name: str) -> None:
    document = json.loads(render(CASES[name], "json"))
    VALIDATOR.validate(document)
    assert undocumented(document, schema()) == []


def test_a_wrong_document_does_not_fit() -> None:
    document = json.loads(render(FAILED, "json"))
    document["boots"][0]["findings"][0]["evidence"][0]["line"] = "431"
    assert not VALIDATOR.is_valid(document)
    assert undocumented({"tool": {"secret": 1}}, schema()) == [".tool.secret"]


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(diagnoses)
def test_any_diagnosis_is_valid_json_of_the_contract(diagnosis: Diagnosis) -> None:
    document = json.loads(render(diagnosis, "json"))
    VALIDATOR.validate(document)
    assert json.loads(render(diagnosis, "json", options=RenderOptions(ascii=True))) == document


def test_keys_of_the_contract_in_their_order() -> None:
    document = json.loads(render(FAILED, "json"))
    assert list(document) == [
        "schema_version", "tool", "source", "verdict", "summary", "boots_summary", "boots", "launch", "redactions",
        "notes",
    ]  # fmt: skip
    boot = document["boots"][0]
    assert list(boot) == [
        "index", "verdict", "phase", "lines", "summary", "seconds", "root_cause", "facts", "findings", "timeline",
        "budget", "notes", "service",
    ]  # fmt: skip
    assert list(boot["findings"][0]) == [
        "id", "title", "severity", "role", "confidence", "basis", "cause", "phase", "evidence", "count", "ranks",
        "remedies", "verify", "explained_by", "conditional", "references", "fingerprint",
    ]  # fmt: skip
    assert list(boot["findings"][0]["remedies"][0]) == [
        "summary",
        "kind",
        "command",
        "condition",
        "finding",
        "with_previous",
    ]
    assert list(boot["facts"]) == sorted(boot["facts"])


def test_facts_keep_their_types_and_say_where_they_come_from() -> None:
    facts = json.loads(render(READY, "json"))["boots"][0]["facts"]
    assert facts["kv_cache.tokens"] == {"value": 450112, "line": 470, "process": "EngineCore", "origin": "log"}
    assert facts["kv_cache.concurrency"]["value"] == 7.48
    assert facts["args.enforce_eager"]["value"] is True
    assert facts["gpu.compute_capability"]["value"] == "12.1"
    assert facts["gpu.name"]["origin"] == "inferred"
    assert facts["prompt.tokens"] == {"value": 24000, "line": None, "process": "", "origin": "given"}
    assert facts["env.unknown"]["value"] == ["VLLM_NVFP4_MOE_BACKEND"]


def test_boots_are_compared() -> None:
    def compared(name: str) -> Any:
        return to_dict(CASES[name])["boots_summary"]

    assert compared("restart-loop") == {"count": 3, "leading": 3, "failed": 3, "same_cause": 3}
    assert compared("ready-after-loop") == {"count": 3, "leading": 3, "failed": 2, "same_cause": 0}
    assert compared("no-boot") is None
    assert to_dict(NO_BOOT)["boots"] == []


def test_no_number_that_json_lacks() -> None:
    budget = json.loads(render(HOSTILE, "json"))["boots"][0]["budget"]
    assert budget["total_gib"] is None
    assert [part["gib"] for part in budget["parts"]] == [-1.5, None]


def test_control_characters_stay_visible_after_decoding() -> None:
    document = json.loads(render(HOSTILE, "json"))
    assert "\\x1b]0;owned\\x07" in document["boots"][0]["findings"][0]["title"]
    assert "##[error]y" in document["boots"][0]["findings"][0]["title"]
