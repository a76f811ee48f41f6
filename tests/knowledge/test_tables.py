"""What exists in which release: ranges, neighbours, spellings of flags."""

from __future__ import annotations

import subprocess
import sys

import pytest

from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.knowledge.tables import (
    Kind,
    canonical,
    deprecation,
    is_covered,
    known_versions,
    log_names,
    lookup,
    names,
    read_flag,
    versions_in,
)


def v(text: str) -> Version:
    parsed = parse_version(text)
    assert parsed is not None
    return parsed


def exists(kind: Kind, name: str, version: str) -> bool | None:
    entry = lookup(kind, name)
    assert entry is not None, name
    return entry.exists_in(v(version))


def test_known_versions_are_in_order_and_distinct() -> None:
    known = known_versions()
    assert list(known) == sorted(set(known)) and str(known[0]) == "0.8.5" and len(known) >= 42
    assert [str(item) for item in versions_in(">=0.17,<0.18")] == ["0.17.0", "0.17.1"]


@pytest.mark.parametrize(
    ("kind", "name", "present", "absent"),
    [
        (Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", ["0.11.1", "0.23.0"], ["0.11.0", "0.24.0", "0.33.0"]),
        (Kind.ENV, "VLLM_USE_FLASHINFER_MOE_FP4", ["0.10.0", "0.23.0"], ["0.9.2", "0.24.0"]),
        (Kind.ENV, "VLLM_MARLIN_USE_ATOMIC_ADD", ["0.8.5", "0.33.0"], []),
        (Kind.FLAG, "--moe-backend", ["0.17.0", "0.33.0"], ["0.16.0"]),
        (Kind.FLAG, "--linear-backend", ["0.22.0"], ["0.21.0"]),
        (Kind.FLAG, "--mamba-backend", ["0.20.0"], ["0.19.1"]),
        (Kind.FLAG, "--enable-reasoning", ["0.9.2"], ["0.10.0"]),
        (Kind.FLAG, "--enforce-eager", ["0.8.5", "0.33.0"], []),
        (Kind.REASONING_PARSER, "nemotron_v3", ["0.17.1", "0.33.0"], ["0.17.0"]),
        (Kind.TOOL_PARSER, "qwen3_coder", ["0.10.0"], ["0.9.2"]),
        (Kind.QUANTIZATION, "gguf", ["0.23.0"], ["0.24.0"]),
        (Kind.QUANTIZATION, "bitsandbytes", ["0.27.1"], ["0.28.0"]),
        (Kind.ATTENTION_BACKEND, "TRITON_ATTN", ["0.11.0"], ["0.10.2"]),
        (Kind.ARCHITECTURE, "NemotronHForCausalLM", ["0.9.1"], ["0.9.0.1"]),
    ],
)
def test_ranges_of_well_known_names(kind: Kind, name: str, present: list[str], absent: list[str]) -> None:
    assert [exists(kind, name, item) for item in present] == [True] * len(present)
    assert [exists(kind, name, item) for item in absent] == [False] * len(absent)


def test_names_that_never_existed() -> None:
    assert lookup(Kind.ENV, "VLLM_NVFP4_MOE_BACKEND") is None
    assert lookup(Kind.ENV, "VLLM_MXFP4_BACKEND") is None
    assert lookup(Kind.REASONING_PARSER, "super_v3") is None
    assert lookup(Kind.FLAG, "--no-max-model-len") is None


def test_first_and_last_release() -> None:
    entry = lookup(Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND")
    assert entry is not None and entry.removed is not None
    assert (str(entry.introduced), str(entry.last), str(entry.removed)) == ("0.11.1", "0.23.0", "0.24.0")
    always = lookup(Kind.FLAG, "--dtype")
    assert always is not None and always.removed is None and always.since_the_oldest


def test_a_gap_is_a_gap() -> None:
    name = "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM"
    assert [exists(Kind.ENV, name, item) for item in ("0.28.0", "0.30.0", "0.31.0", "0.33.0")] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("--moe-backend", "0.16.1", None),  # 0.16.0 lacks it, 0.17.0 has it
        ("--moe-backend", "0.17.2", True),
        ("--moe-backend", "0.15.2", False),
        ("--moe-backend", "0.34.0", True),  # newer than all: an open range goes on
        ("--enable-reasoning", "0.34.0", None),  # and nothing is known of a closed one
        ("--moe-backend", "0.8.1", False),  # older than all: what came later was not there
        ("--enforce-eager", "0.8.1", None),
        ("--moe-backend", "0.16.1rc1.dev4+gabc", None),  # built from main on the way to 0.17
        ("--moe-backend", "0.17.1.dev4", True),
        ("--linear-backend", "0.21.1rc1.dev4", None),
        ("--moe-backend", "0.17.1+cu130", True),
        ("--moe-backend", "0.17.0rc1", None),
    ],
)
def test_versions_that_were_not_read(name: str, version: str, expected: bool | None) -> None:
    assert exists(Kind.FLAG, name, version) is expected


def test_an_unknown_version_decides_nothing() -> None:
    entry = lookup(Kind.FLAG, "--enforce-eager")
    assert entry is not None and entry.exists_in(None) is None


def test_every_name_is_where_its_own_range_says() -> None:
    for kind in Kind:
        for name in names(kind):
            entry = lookup(kind, name)
            assert entry is not None and entry.exists_in(entry.introduced) and entry.exists_in(entry.last)
            assert entry.removed is None or entry.exists_in(entry.removed) is False


def test_names_of_a_release() -> None:
    assert "nemotron_v3" in names(Kind.REASONING_PARSER, v("0.17.1"))
    assert "nemotron_v3" not in names(Kind.REASONING_PARSER, v("0.17.0"))
    assert list(names(Kind.FLAG, v("0.24.0"))) == sorted(names(Kind.FLAG, v("0.24.0")))


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("--max_model_len", "--max-model-len"),
        ("--max-model-len=8192", "--max-model-len"),
        ("--compilation_config.cudagraph_mode", "--compilation-config"),
        ("--no-enable-prefix-caching", "--no-enable-prefix-caching"),
        ("--no_enable_prefix_caching", "--no-enable-prefix-caching"),
        ("-tp", "--tensor-parallel-size"),
        ("-tp=2", "--tensor-parallel-size"),
        ("-q", "--quantization"),
        ("-O3", "--compilation-config"),
        ("-O.level", "--compilation-config"),
        ("--device-memory-utilization", "--gpu-memory-utilization"),
        ("--not-a-flag", "--not-a-flag"),
    ],
)
def test_spellings_of_flags(typed: str, name: str) -> None:
    assert canonical(Kind.FLAG, typed) == name


def test_parts_of_a_flag() -> None:
    flag = read_flag("--structured_outputs-config.backend=xgrammar")
    assert (flag.name, flag.nested, flag.value) == ("--structured-outputs-config", "backend", "xgrammar")
    assert read_flag("--hf-overrides.list+").nested == "list"
    assert read_flag("-O3").value == "3" and read_flag("--no-async-scheduling").negated


def test_a_second_spelling_exists_only_where_the_release_has_it() -> None:
    assert exists(Kind.FLAG, "--device-memory-utilization", "0.30.0") is False
    assert exists(Kind.FLAG, "--device-memory-utilization", "0.31.0") is True
    assert exists(Kind.FLAG, "-sc", "0.18.0") is False and exists(Kind.FLAG, "-sc", "0.19.0") is True
    assert exists(Kind.FLAG, "-O3", "0.8.5") is True and exists(Kind.FLAG, "-O3", "0.33.0") is True


def test_other_spellings() -> None:
    assert canonical(Kind.ENV, "VLLM_USE_V1=1") == "VLLM_USE_V1"
    assert canonical(Kind.ATTENTION_BACKEND, "AttentionBackendEnum.FLASH_ATTN") == "FLASH_ATTN"
    assert canonical(Kind.ATTENTION_BACKEND, "flashinfer") == "FLASHINFER"


def test_coverage() -> None:
    assert is_covered(Kind.ARCHITECTURE, "Qwen3ForCausalLM") and not is_covered(Kind.ARCHITECTURE, "OPTForCausalLM")
    assert is_covered(Kind.ENV, "VLLM_ANYTHING") and not is_covered(Kind.ENV, "HF_TOKEN")
    assert is_covered(Kind.ENV, "CUDA_VISIBLE_DEVICES")


def test_deprecations() -> None:
    found = deprecation(Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", v("0.22.0"))
    assert found is not None and found.removal == "v0.23" and "--linear-backend" in found.advice
    assert deprecation(Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", v("0.21.0")) is None
    assert deprecation(Kind.FLAG, "--task", v("0.12.0")) is not None
    assert deprecation(Kind.FLAG, "--task", None) is None


def test_log_names() -> None:
    assert log_names("nvfp4_moe", v("0.13.0")) is None
    assert "FLASHINFER_CUTLASS" in (log_names("nvfp4_moe", v("0.15.0")) or ())
    assert log_names("nvfp4_linear_enum", v("0.20.0")) is None
    assert "MarlinNvFp4LinearKernel" in (log_names("nvfp4_linear_kernels", v("0.20.0")) or ())


def test_nothing_is_read_and_little_is_imported_before_the_first_question() -> None:
    code = (
        "import sys, logdoctor.knowledge.versions as k\n"
        "from logdoctor.knowledge import tables\n"
        "assert tables.document.cache_info().currsize == 0\n"
        "heavy = {'yaml', 'rich', 'packaging', 'difflib', 'zipfile', 'argparse', 'logdoctor.knowledge.absence'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert k.describe_absence(k.Kind.FLAG, '--dtype', None).presence is k.Presence.EXISTS\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_facade_has_what_it_promises() -> None:
    from logdoctor.knowledge import versions

    assert all(getattr(versions, name) is not None for name in versions.__all__)
    with pytest.raises(AttributeError):
        _ = versions.no_such_name
