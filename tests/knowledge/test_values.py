"""Values of flags and variables by release."""

from __future__ import annotations

import pytest

from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.knowledge.values import (
    canonical_value,
    env_choices,
    flag_choices,
    has_choices,
    lookup_value,
    value_exists,
)


def v(text: str) -> Version:
    parsed = parse_version(text)
    assert parsed is not None
    return parsed


def test_choices_of_a_flag_follow_the_release() -> None:
    assert flag_choices("--moe-backend", v("0.16.0")) is None
    early, late = flag_choices("--moe-backend", v("0.17.0")), flag_choices("--moe_backend", v("0.22.0"))
    assert early is not None and late is not None
    assert "marlin" in early and "flashinfer_b12x" not in early and "flashinfer_b12x" in late
    assert flag_choices("--kv-cache-dtype", v("0.8.5")) == ("auto", "fp8", "fp8_e4m3", "fp8_e5m2")
    assert flag_choices("--kv-cache-dtype", v("0.17.1")) == flag_choices("--kv-cache-dtype", v("0.11.1"))


def test_no_choices_for_free_text_or_an_unknown_version() -> None:
    assert flag_choices("--host", v("0.24.0")) is None and not has_choices("--host")
    assert flag_choices("--moe-backend", None) is None
    assert flag_choices("--block-size", v("0.17.1")) is not None and flag_choices("--block-size", v("0.18.0")) is None


def test_choices_that_are_another_table() -> None:
    assert "nemotron_v3" in (flag_choices("--reasoning-parser", v("0.17.1")) or ())
    assert "nemotron_v3" not in (flag_choices("--reasoning-parser", v("0.17.0")) or ())
    assert "FLASH_ATTN" in (env_choices("VLLM_ATTENTION_BACKEND", v("0.12.0")) or ())
    assert env_choices("VLLM_ATTENTION_BACKEND", v("0.15.0")) is None


def test_choices_of_a_variable() -> None:
    before, after = (
        env_choices("VLLM_NVFP4_GEMM_BACKEND", v("0.14.1")),
        env_choices("VLLM_NVFP4_GEMM_BACKEND", v("0.15.0")),
    )
    assert before is not None and after is not None and set(after) - set(before) == {"marlin"}


@pytest.mark.parametrize(
    ("owner", "value", "version", "expected"),
    [
        ("--moe-backend", "marlin", "0.17.0", True),
        ("--moe-backend", "FLASHINFER-CUTLASS", "0.17.0", True),  # folded by the flag itself
        ("--moe-backend", "b12x", "0.28.0", False),
        ("--moe-backend", "b12x", "0.29.0", True),
        ("--moe-backend", "marlin", "0.16.0", False),  # no such flag
        ("--mamba-cache-mode", "all", "0.31.0", True),
        ("--mamba-cache-mode", "all", "0.32.0", False),
        ("--block-size", "512", "0.17.1", False),
        ("--block-size", "512", "0.18.0", True),  # free from there on
        ("--quantization", "gguf", "0.23.0", True),
        ("--quantization", "gguf", "0.24.0", False),
        ("--attention-backend", "flashinfer", "0.24.0", True),
        ("--attention-backend", "auto", "0.24.0", None),
        ("--host", "0.0.0.0", "0.24.0", None),
        ("VLLM_NVFP4_GEMM_BACKEND", "flashinfer-cutlass", "0.17.1", True),
        ("VLLM_NVFP4_GEMM_BACKEND", "flashinfer_cutlass", "0.17.1", False),  # hyphens, not underscores
        ("VLLM_NVFP4_GEMM_BACKEND", "marlin", "0.24.0", False),
        ("VLLM_FLOAT32_MATMUL_PRECISION", "HIGH", "0.24.0", True),
        ("--no-such-flag", "x", "0.24.0", None),
        ("--moe-backend", "new_one", "0.35.0", None),  # newer than what is known
    ],
)
def test_value_exists(owner: str, value: str, version: str, expected: bool | None) -> None:
    assert value_exists(owner, value, v(version)) is expected


def test_value_exists_without_a_version() -> None:
    assert value_exists("--moe-backend", "marlin", None) is None


def test_range_of_a_value() -> None:
    entry = lookup_value("--mamba-cache-mode", "all")
    assert entry is not None and (str(entry.introduced), str(entry.last)) == ("0.15.0", "0.31.0")
    assert entry.owner == "--mamba-cache-mode" and lookup_value("--moe-backend", "cutlass_fp4") is None


def test_canonical_value() -> None:
    assert canonical_value("--linear-backend", "Flashinfer-Cutlass") == "flashinfer_cutlass"
    assert canonical_value("VLLM_NVFP4_GEMM_BACKEND", "Flashinfer-Cutlass") == "Flashinfer-Cutlass"
    assert canonical_value("--attention-backend", "'flash_attn'") == "FLASH_ATTN"
