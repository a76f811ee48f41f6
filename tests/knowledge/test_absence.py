"""The answers about a name or value: what they say and what they recommend."""

from __future__ import annotations

import pytest

from logdoctor.knowledge.absence import Absence, Presence, describe_absence, describe_setting, describe_value
from logdoctor.knowledge.releases import Version, parse_version
from logdoctor.knowledge.tables import Kind, known_versions, names


def v(text: str | None) -> Version | None:
    parsed = parse_version(text)
    assert (parsed is None) == (text is None)
    return parsed


def ask(kind: Kind, name: str, version: str | None) -> Absence:
    answer = describe_absence(kind, name, v(version))
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("kind", "name", "version", "presence", "suggestion"),
    [
        (Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", "0.24.0", Presence.DROPPED, "--linear-backend"),
        (Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", "0.9.2", Presence.LATER, ""),
        (Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", "0.17.1", Presence.EXISTS, ""),
        (Kind.ENV, "VLLM_USE_FLASHINFER_MOE_FP4", "0.24.0", Presence.DROPPED, "--moe-backend"),
        (Kind.ENV, "VLLM_NVFP4_MOE_BACKEND", "0.17.1", Presence.NEVER, "--moe-backend"),
        (Kind.ENV, "VLLM_NVFP4_MOE_BACKEND", "0.12.0", Presence.NEVER, "VLLM_USE_FLASHINFER_MOE_FP4"),
        (Kind.ENV, "VLLM_MXFP4_BACKEND", "0.24.0", Presence.NEVER, "--moe-backend"),
        (Kind.ENV, "VLLM_MXFP4_BACKEND", "0.12.0", Presence.NEVER, "VLLM_MXFP4_USE_MARLIN"),
        (Kind.ENV, "VLLM_ATTENTION_BACKEND", "0.15.0", Presence.DROPPED, "--attention-backend"),
        (Kind.ENV, "VLLM_MODEL", "0.24.0", Presence.NEVER, "vllm serve MODEL"),
        (Kind.ENV, "VLLM_MAX_MODEL_LEN", "0.24.0", Presence.NEVER, "--max-model-len"),  # named after a flag
        (Kind.ENV, "VLLM_LOGING_LEVEL", "0.24.0", Presence.NEVER, "VLLM_LOGGING_LEVEL"),
        (Kind.ENV, "VLLM_USE_V1", "0.12.0", Presence.DROPPED, ""),
        (Kind.FLAG, "--linear-backend", "0.21.0", Presence.LATER, "VLLM_NVFP4_GEMM_BACKEND"),
        (Kind.FLAG, "--moe_backend=marlin", "0.17.0", Presence.EXISTS, ""),
        (Kind.FLAG, "--attention-backend", "0.12.0", Presence.LATER, "VLLM_ATTENTION_BACKEND"),
        (Kind.FLAG, "--logging-level", "0.24.0", Presence.NEVER, "VLLM_LOGGING_LEVEL"),
        (Kind.FLAG, "--gpu-memory-utilisation", "0.24.0", Presence.NEVER, "--gpu-memory-utilization"),
        (Kind.FLAG, "--no-max-model-len", "0.24.0", Presence.NEVER, "--max-model-len"),
        (Kind.FLAG, "--no-enable-prefix-caching", "0.24.0", Presence.EXISTS, ""),
        (Kind.FLAG, "--swap-space", "0.24.0", Presence.DROPPED, ""),
        (Kind.FLAG, "--max", "0.24.0", Presence.NEVER, ""),  # an ambiguous abbreviation
        (Kind.REASONING_PARSER, "super_v3", "0.24.0", Presence.NEVER, "nemotron_v3"),
        (Kind.REASONING_PARSER, "nemotron-v3", "0.24.0", Presence.NEVER, "nemotron_v3"),
        (Kind.REASONING_PARSER, "nemotron_v3", "0.17.0", Presence.LATER, ""),
        (Kind.TOOL_PARSER, "nemotron_v3", "0.24.0", Presence.NEVER, "qwen3_coder"),
        (Kind.QUANTIZATION, "compressed_tensors", "0.24.0", Presence.NEVER, "compressed-tensors"),
        (Kind.ATTENTION_BACKEND, "FLASHINFER_VLLM_V1", "0.24.0", Presence.DROPPED, "FLASHINFER"),
        (Kind.ARCHITECTURE, "NemotronHForCausalLM", "0.9.0.1", Presence.LATER, ""),
        (Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", None, Presence.UNKNOWN, "--linear-backend"),
        (Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", "0.34.0", Presence.UNKNOWN, "--linear-backend"),
        (Kind.FLAG, "--something-new", "0.34.0", Presence.UNKNOWN, ""),
        (Kind.FLAG, "--dtype", None, Presence.EXISTS, ""),
        (Kind.FLAG, "--something-new", None, Presence.NEVER, ""),
    ],
)
def test_answers(kind: Kind, name: str, version: str | None, presence: Presence, suggestion: str) -> None:
    answer = ask(kind, name, version)
    assert (answer.presence, answer.suggestion) == (presence, suggestion)
    assert answer.is_absent == (presence in (Presence.NEVER, Presence.DROPPED, Presence.LATER))


@pytest.mark.parametrize(
    ("kind", "name", "version", "sentence"),
    [
        (
            Kind.ENV,
            "VLLM_USE_FLASHINFER_MOE_FP4",
            "0.24.0",
            "The environment variable VLLM_USE_FLASHINFER_MOE_FP4 was dropped in vLLM 0.24.0 (0.23.0 was the last "
            "release with it); use --moe-backend instead. For example flashinfer_trtllm, flashinfer_cutlass or marlin.",
        ),
        (
            Kind.ENV,
            "VLLM_NVFP4_GEMM_BACKEND",
            "0.22.1",
            "The environment variable VLLM_NVFP4_GEMM_BACKEND exists in vLLM 0.22.1 but is deprecated "
            "(removal announced for v0.23): Use --linear-backend.",
        ),
        (
            Kind.FLAG,
            "--mamba-backend",
            "0.19.1",
            "The flag --mamba-backend comes with vLLM 0.20.0; 0.19.1 does not have it.",
        ),
        (
            Kind.REASONING_PARSER,
            "qwen3_coder",
            "0.24.0",
            "The reasoning parser qwen3_coder does not exist in any vLLM release from 0.8.5 to 0.33.0. "
            "It is the name of a tool call parser.",
        ),
        (
            Kind.FLAG,
            "--max-model",
            "0.24.0",
            "The flag --max-model exists in vLLM 0.24.0. It is read as an abbreviation of --max-model-len.",
        ),
        (
            Kind.ENV,
            "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM",
            "0.30.0",
            "The environment variable VLLM_ROCM_USE_AITER_FP4_ASM_GEMM was dropped in vLLM 0.29.0 (0.28.0 was the last "
            "release with it) and is back from 0.31.0.",
        ),
    ],
)
def test_sentences(kind: Kind, name: str, version: str, sentence: str) -> None:
    newest = str(known_versions()[-1])
    assert ask(kind, name, version).sentence == sentence.replace("0.33.0", newest)


def test_sentences_that_own_up_to_what_is_not_known() -> None:
    assert "the version of this start is not known" in ask(Kind.FLAG, "--moe-backend", None).sentence
    assert "newer than the newest release known here" in ask(Kind.ENV, "VLLM_USE_V1", "0.99.0").sentence
    assert "whether 0.16.1 has it is not known" in ask(Kind.FLAG, "--moe-backend", "0.16.1").sentence


def test_what_is_not_vllms_gets_no_answer() -> None:
    assert describe_absence(Kind.ENV, "HF_TOKEN", v("0.24.0")) is None
    assert describe_absence(Kind.ARCHITECTURE, "OPTForCausalLM", v("0.24.0")) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("VLLM_SERVICE_HOST", "Kubernetes"),
        ("VLLM_PORT_8000_TCP_ADDR", "Kubernetes"),
        ("VLLM_ROUTER_SERVICE_PORT_HTTP", "Kubernetes"),
        ("VLLM_IMAGE_TAG", "building an image"),
        ("VLLM_RS_LOG", "Rust front end"),
    ],
)
def test_variables_that_others_set(name: str, words: str) -> None:
    answer = ask(Kind.ENV, name, "0.24.0")
    assert words in answer.sentence and not answer.suggestion


@pytest.mark.parametrize(
    ("owner", "value", "version", "presence", "suggestion"),
    [
        ("--mamba-cache-mode", "all", "0.32.0", Presence.DROPPED, "align"),
        ("--moe-backend", "vllm_cutlass", "0.24.0", Presence.NEVER, "cutlass"),
        ("--moe-backend", "flashinfer_cutlas", "0.24.0", Presence.NEVER, "flashinfer_cutlass"),
        ("--moe-backend", "b12x", "0.24.0", Presence.LATER, ""),
        ("--moe-backend", "MARLIN", "0.24.0", Presence.EXISTS, ""),
        ("--reasoning-parser", "super_v3", "0.24.0", Presence.NEVER, "nemotron_v3"),
        ("VLLM_NVFP4_GEMM_BACKEND", "flashinfer_cutlass", "0.17.1", Presence.NEVER, "flashinfer-cutlass"),
        ("--dtype", "bf16", "0.24.0", Presence.NEVER, "bfloat16"),
        ("--moe-backend", "brand_new", "0.99.0", Presence.UNKNOWN, ""),
    ],
)
def test_values(owner: str, value: str, version: str, presence: Presence, suggestion: str) -> None:
    answer = describe_value(owner, value, v(version))
    assert answer is not None and (answer.presence, answer.suggestion) == (presence, suggestion)
    assert answer.owner == owner and owner in answer.sentence


def test_values_without_an_answer() -> None:
    assert describe_value("--host", "0.0.0.0", v("0.24.0")) is None
    assert describe_value("--reasoning-parser", "none", v("0.33.0")) is None
    assert describe_value("--no-such-flag", "x", v("0.24.0")) is None


def test_settings_as_typed() -> None:
    def absent(text: str, version: str) -> list[str]:
        return [answer.name for answer in describe_setting(text, v(version)) if answer.is_absent]

    assert absent("--moe-backend marlin", "0.17.0") == []
    assert absent("--moe-backend marlin", "0.16.0") == ["--moe-backend"]
    assert absent("--moe-backend b12x", "0.24.0") == ["b12x"]
    assert absent("--moe-backend=b12x --linear-backend marlin", "0.21.0") == ["b12x", "--linear-backend"]
    assert absent("VLLM_NVFP4_GEMM_BACKEND=marlin", "0.24.0") == ["VLLM_NVFP4_GEMM_BACKEND"]
    assert absent("VLLM_NVFP4_GEMM_BACKEND=marlin", "0.14.1") == ["marlin"]
    assert absent("--enable-auto-tool-choice --tool-call-parser qwen3_coder", "0.9.2") == ["qwen3_coder"]
    assert absent("--structured-outputs-config.backend xgrammar", "0.10.2") == ["--structured-outputs-config"]
    assert absent("--no-enable-prefix-caching", "0.24.0") == []
    assert absent("HF_TOKEN=x", "0.24.0") == [] and describe_setting("vllm serve MODEL", v("0.24.0")) == ()


def test_every_name_gets_an_answer_in_every_release() -> None:
    for kind in Kind:
        for name in names(kind)[::7]:
            for version in known_versions()[::9]:
                answer = describe_absence(kind, name, version)
                assert answer is not None and answer.presence is not Presence.UNKNOWN
                assert answer.sentence.endswith(".") and "None" not in answer.sentence
