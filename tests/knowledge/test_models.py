"""Model families by name, and their parsers against the version data."""

from __future__ import annotations

import pytest

from logdoctor.knowledge.models import find_model, models
from logdoctor.knowledge.releases import parse_version
from logdoctor.knowledge.tables import Kind, is_covered, lookup


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", "Nemotron 3 Nano"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16", "Nemotron 3 Nano 4B"),
        ("/models/nemotron_3_super_120b_nvfp4/", "Nemotron 3 Super"),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4", "Nemotron 3 Ultra"),
        (
            "/root/.cache/huggingface/hub/models--nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4/snapshots/0a1b2c",
            "Nemotron 3 Super",
        ),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "Nemotron Nano 2"),
        ("deepseek-ai/DeepSeek-R1-0528", "DeepSeek R1"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "DeepSeek R1 distilled"),
        ("/data/qwen3-8b/DeepSeek-V3.1", "DeepSeek V3.1"),
        ("Qwen/Qwen3-8B", "Qwen3"),
        ("Qwen/Qwen3-235B-A22B-Thinking-2507", "Qwen3 MoE"),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "Qwen3 Coder"),
        ("Qwen/Qwen3.5-397B-A17B", "Qwen3.5 / Qwen3.6"),
        ("openai/gpt-oss-20b", "gpt-oss"),
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama 3"),
    ],
)
def test_names(name: str, family: str) -> None:
    facts = find_model(name)
    assert facts is not None and facts.family == family


@pytest.mark.parametrize(
    "name", [None, "", "facebook/opt-125m", "/models/model", "nvidia/Llama-3_3-Nemotron-Super-49B-v1"]
)
def test_names_that_are_not_known(name: str | None) -> None:
    assert find_model(name) is None


@pytest.mark.parametrize("size", ["Nano-30B-A3B", "Super-120B-A12B", "Ultra-550B-A55B"])
def test_nemotron_3(size: str) -> None:
    facts = find_model(f"nvidia/NVIDIA-Nemotron-3-{size}-NVFP4")
    assert facts is not None and facts.hybrid and facts.moe and facts.gated_experts is False
    assert facts.reasoning_parser(parse_version("0.17.1")) == "nemotron_v3"
    assert facts.reasoning_parser(parse_version("0.17.0")) is None
    assert facts.tool_parser(parse_version("0.24.0")) == "qwen3_coder"
    assert "qwen3_xml" in facts.tool_parsers


def test_the_parser_of_the_release() -> None:
    facts = find_model("openai/gpt-oss-120b")
    assert facts is not None
    assert facts.reasoning_parser(parse_version("0.10.1")) == "GptOss"
    assert facts.reasoning_parser(parse_version("0.24.0")) == "openai_gptoss"
    assert facts.reasoning_parser(None) == "openai_gptoss"


def test_every_parser_and_architecture_is_one_that_vllm_has() -> None:
    for facts in models():
        assert facts.basis in ("source", "maintainers") and facts.reference
        assert not facts.vllm or parse_version(facts.vllm) is not None
        assert all(lookup(Kind.REASONING_PARSER, name) for name in facts.reasoning_parsers), facts.family
        assert all(lookup(Kind.TOOL_PARSER, name) for name in facts.tool_parsers), facts.family
        for name in facts.architectures:
            assert not is_covered(Kind.ARCHITECTURE, name) or lookup(Kind.ARCHITECTURE, name), name
