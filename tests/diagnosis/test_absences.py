"""What argparse refused, told by the version knowledge: which versions have it, and what to type."""

from __future__ import annotations

import json
from typing import Any

from tests.running import run

NO_FLAG = b"vllm: error: unrecognized arguments: --mamba-ssu-algorithm horizontal\n"
NO_VALUE = b"vllm serve: error: argument --dtype: invalid choice: 'fp4' (choose from 'auto', 'bfloat16', 'float16')\n"


def root(text: bytes, *facts: str) -> dict[str, Any]:
    findings = json.loads(run(text, facts=facts).text)["boots"][-1]["findings"]
    return dict(next(finding for finding in findings if finding["role"] == "root_cause"))


def test_a_flag_of_a_newer_version_is_named_with_it() -> None:
    found = root(NO_FLAG, "vllm.version=0.26.0")
    assert found["id"] == "unknown-flag"
    assert found["title"] == "vLLM 0.26.0 has no flag --mamba-ssu-algorithm"
    assert [r["command"] for r in found["remedies"] if r["kind"] == "remove"] == ["--mamba-ssu-algorithm"]
    assert any("0.27.0 or newer" in remedy["summary"] for remedy in found["remedies"])


def test_without_a_version_the_range_is_told() -> None:
    found = root(NO_FLAG)
    assert found["title"] == "This vLLM has no flag --mamba-ssu-algorithm"
    assert "0.27.0" in found["cause"]
    assert any("0.27.0 to " in remedy["summary"] for remedy in found["remedies"])


def test_the_list_of_valid_values_is_kept() -> None:
    found = root(NO_VALUE)
    assert found["id"] == "unknown-value"
    assert "'bfloat16'" in found["cause"]
    assert found["remedies"][0]["kind"] == "remove"


def test_an_entry_about_the_name_is_left_alone() -> None:
    text = b"vllm serve: error: argument --quantization/-q: invalid choice: 'gguf' (choose from awq, fp8)\n"
    assert root(text)["id"] == "quant-choice-invalid"
