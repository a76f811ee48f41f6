"""What follows from facts and tables: the family of a model, its parsers, and settings that contradict each other."""

from __future__ import annotations

import pytest

from logdoctor.facts.derived import derived_facts
from logdoctor.model import Fact, FactValue

SUPER = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"


def derived(**values: FactValue) -> dict[str, FactValue]:
    keys = {name.replace("__", "."): value for name, value in values.items()}
    return {key: fact.value for key, fact in derived_facts({k: Fact(k, v, 3) for k, v in keys.items()}).items()}


def test_a_family_by_the_models_name() -> None:
    found = derived(model__name=SUPER, vllm__version="0.20.0")
    assert found["model.family"] == "Nemotron 3 Super"
    assert found["model.hybrid"] is True
    assert found["model.reasoning_parser"] == "nemotron_v3"


@pytest.mark.parametrize("parser", ["qwen3_coder", "qwen3_xml"])
def test_both_tool_parsers_of_nemotron_3_are_right(parser: str) -> None:
    assert "parser.tool_of_another" not in derived(model__name=SUPER, args__tool_call_parser=parser)


def test_a_parser_of_another_model() -> None:
    found = derived(model__name=SUPER, args__tool_call_parser="hermes", args__reasoning_parser="deepseek_r1")
    assert found["parser.tool_of_another"] == "hermes"
    assert found["parser.reasoning_of_another"] == "deepseek_r1"


def test_a_plugin_may_bring_any_parser() -> None:
    found = derived(model__name=SUPER, args__reasoning_parser="deepseek_r1", args__reasoning_parser_plugin="p.py")
    assert "parser.reasoning_of_another" not in found


@pytest.mark.parametrize(
    ("values", "key", "text"),
    [
        (
            {"args__max_model_len": 32768, "model__max_len": 8192},
            "contradiction.max_model_len",
            "32768 asked, 8192 used",
        ),
        ({"args__max_model_len": 8192, "model__max_len": 8192}, "contradiction.max_model_len", None),
        ({"args__max_model_len": -1, "model__max_len": 8192}, "contradiction.max_model_len", None),
        ({"args__max_model_len": "auto", "model__max_len": 8192}, "contradiction.max_model_len", None),
        (
            {"args__kv_cache_dtype": "fp8", "kv_cache__dtype": "bfloat16"},
            "contradiction.kv_cache_dtype",
            "fp8 asked, bfloat16 used",
        ),
        ({"args__kv_cache_dtype": "fp8", "kv_cache__dtype": "fp8_e4m3"}, "contradiction.kv_cache_dtype", None),
        ({"args__quantization": "awq", "model__quantization": "awq_marlin"}, "contradiction.quantization", None),
        (
            {"args__quantization": "awq", "model__quantization": "modelopt_fp4"},
            "contradiction.quantization",
            "awq asked, modelopt_fp4 used",
        ),
    ],
)
def test_settings_that_contradict_each_other(values: dict[str, FactValue], key: str, text: str | None) -> None:
    assert derived(**values).get(key) == text


def test_nothing_follows_from_nothing() -> None:
    assert derived() == {}
    assert derived(model__name="acme/unheard-of") == {}


def test_what_is_stated_is_not_replaced() -> None:
    assert "model.hybrid" not in derived(model__name=SUPER, model__hybrid=False)


@pytest.mark.parametrize(
    ("values", "mixed"),
    [
        ({"nvfp4__linear_backend": "VLLM_CUTLASS", "fp8__linear_backend": "CutlassFP8ScaledMMLinearKernel"}, True),
        ({"fp8__linear_backend": "CutlassFP8ScaledMMLinearKernel"}, None),
        ({"nvfp4__linear_backend": "FlashInferCutlassNvFp4LinearKernel", "model__name": SUPER}, True),
        ({"nvfp4__linear_backend": "VLLM_CUTLASS", "model__quantization": "modelopt_mixed"}, True),
        ({"nvfp4__linear_backend": "VLLM_CUTLASS", "model__name": "nvidia/Llama-3.3-70B-Instruct-NVFP4"}, None),
        ({"model__name": SUPER}, None),
    ],
)
def test_whether_a_checkpoint_mixes_nvfp4_and_fp8(values: dict[str, FactValue], mixed: bool | None) -> None:
    assert derived(**values).get("model.mixed") == mixed


@pytest.mark.parametrize(
    ("version", "tag"), [("0.17.1", "v0.17.1"), ("0.19.1rc2.dev123+g1a2b3c4d5", None), ("0.10.1.1", "v0.10.1.1")]
)
def test_a_release_has_an_image_of_its_own(version: str, tag: str | None) -> None:
    assert derived(vllm__version=version, boot__failed=True).get("image.own") == tag
    assert "image.own" not in derived(vllm__version=version, boot__failed=False)


def test_the_image_that_a_family_needs() -> None:
    found = derived(model__name="Qwen/Qwen3-Next-80B-A3B-Instruct", vllm__version="0.9.2")
    assert found["image.needed"] == "v0.10.2"
    assert "image.needed" not in derived(model__name="Qwen/Qwen3-Next-80B-A3B-Instruct", vllm__version="0.24.0")
