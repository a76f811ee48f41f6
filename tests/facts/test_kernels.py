"""Which kernel was chosen for which kind of layer."""

from __future__ import annotations

import pytest

from tests.facts.build import facts_of, record, said

CANDIDATES = "out of potential backends: ['FLASHINFER_TRTLLM', 'FLASHINFER_CUTLASS', 'VLLM_CUTLASS', 'MARLIN']."


@pytest.mark.parametrize(
    ("message", "key", "name"),
    [
        (f"Using 'VLLM_CUTLASS' NvFp4 MoE backend {CANDIDATES}", "nvfp4.moe_backend", "VLLM_CUTLASS"),
        (f"Using FLASHINFER_CUTLASS NvFp4 MoE backend {CANDIDATES}", "nvfp4.moe_backend", "FLASHINFER_CUTLASS"),
        ("Using FlashInfer CUTLASS backend for NvFp4 MoE", "nvfp4.moe_backend", "FlashInfer CUTLASS"),
        ("Using vLLM CUTASS backend for NvFp4 MoE", "nvfp4.moe_backend", "vLLM CUTASS"),
        (
            "Requested FlashInfer backend for NvFp4 MoE, but it's not there. Falling back to vLLM MARLIN for NvFp4 MoE",
            "nvfp4.moe_backend",
            "vLLM MARLIN",
        ),
        ("Using FlashInfer kernels for ModelOptNvFp4FusedMoE.", "nvfp4.moe_backend", "FlashInfer"),
        ("Using FlashInfer CUTLASS kernels for ModelOptNvFp4FusedMoE.", "nvfp4.moe_backend", "FlashInfer CUTLASS"),
        ("Using Marlin for ModelOptNvFp4FusedMoE.", "nvfp4.moe_backend", "Marlin"),
        ("Using Cutlass for CompressedTensorsW4A4Nvfp4MoEMethod.", "nvfp4.moe_backend", "Cutlass"),
        ("Falling back to Marlin FP4 MoE kernel.", "nvfp4.moe_backend", "MARLIN"),
        ("Using flashinfer-trtllm for FP4", "nvfp4.linear_backend", "flashinfer-trtllm"),
        ("Using flashinfer-cutlass for NVFP4 GEMM", "nvfp4.linear_backend", "flashinfer-cutlass"),
        ("Using NvFp4LinearBackend.VLLM_CUTLASS for NVFP4 GEMM", "nvfp4.linear_backend", "VLLM_CUTLASS"),
        ("Using MarlinNvFp4LinearKernel for NVFP4 GEMM", "nvfp4.linear_backend", "MarlinNvFp4LinearKernel"),
        (
            "Current platform does not support cutlass NVFP4. Running CompressedTensorsW4A16Fp4.",
            "nvfp4.linear_backend",
            "CompressedTensorsW4A16Fp4",
        ),
        (
            "NVFP4 linear falling back to the slow and unoptimized emulation backend as no optimized backend",
            "nvfp4.linear_backend",
            "emulation",
        ),
        ("Using FLASHINFER_CUTLASS Fp8 MoE backend out of x", "fp8.moe_backend", "FLASHINFER_CUTLASS"),
        ("Using Triton backend for FP8 MoE", "fp8.moe_backend", "Triton"),
        ("Using DeepGEMM kernels for Fp8MoEMethod.", "fp8.moe_backend", "DeepGEMM"),
        (
            "Selected CutlassFP8ScaledMMLinearKernel for ModelOptFp8LinearMethod",
            "fp8.linear_backend",
            "CutlassFP8ScaledMMLinearKernel",
        ),
        ("Using 'TRITON' Mxfp4 MoE backend.", "mxfp4.moe_backend", "TRITON"),
        (f"Using TRITON Unquantized MoE backend {CANDIDATES}", "unquantized.moe_backend", "TRITON"),
        ("Using CPU backend for Unquantized MoE", "unquantized.moe_backend", "CPU"),
        ("Using Flash Attention backend on V1 engine.", "attention.backend", "Flash Attention"),
        (f"Using FLASH_ATTN attention backend {CANDIDATES}", "attention.backend", "FLASH_ATTN"),
        (f"Using AttentionBackendEnum.FLASHINFER attention backend {CANDIDATES}", "attention.backend", "FLASHINFER"),
        ("Using AttentionBackendEnum.FLASHINFER backend.", "attention.backend", "FLASHINFER"),
        ("Using HND KV cache layout for CPU_ATTN backend.", "attention.backend", "CPU_ATTN"),
        ("Using triton Mamba SSU backend.", "mamba.backend", "triton"),
    ],
)
def test_the_chosen_name_in_every_wording(message: str, key: str, name: str) -> None:
    assert said(message)[key] == name


def test_old_mxfp4_lines_and_forced_attention_are_told_apart_by_their_file() -> None:
    assert said("Using Triton backend", file="mxfp4.py") == {"mxfp4.moe_backend": "Triton"}
    assert "attention.backend" not in said("Using Marlin backend.", file="mxfp4.py")
    assert said("Using FLASHINFER backend.", file="cuda.py") == {"attention.backend": "FLASHINFER"}


@pytest.mark.parametrize(
    "message",
    [
        f"Using 'VLLM_CUTLASS' NvFp4 MoE backend {CANDIDATES}",
        f"Using FLASH_ATTN attention backend {CANDIDATES}",
        "Using CutlassNvFp4LinearKernel for NVFP4 GEMM",
    ],
)
def test_marlin_among_the_candidates_is_not_marlin(message: str) -> None:
    assert "nvfp4.marlin" not in said(message)


@pytest.mark.parametrize(
    "message",
    [
        f"Using 'MARLIN' NvFp4 MoE backend {CANDIDATES}",
        "Using MarlinNvFp4LinearKernel for NVFP4 GEMM",
        "Using marlin for NVFP4 GEMM",
        "Falling back to Marlin FP4 MoE kernel.",
        "[NVFP4] Using backend: marlin",
        "NVFP4 Marlin assumes the scales to be >=0, but has encountered negative scales.",
        "Your GPU does not have native support for FP4 computation but FP4 quantization is being used. "
        "Weight-only FP4 compression will be used leveraging the Marlin kernel.",
    ],
)
def test_what_proves_marlin(message: str) -> None:
    assert said(message)["nvfp4.marlin"] is True


def test_a_refused_or_considered_backend_is_no_choice() -> None:
    refused = "ValueError: NvFp4 MoE backend 'MARLIN' does not support the deployment configuration since kernel"
    assert not [key for key in said(refused, level="ERROR") if "backend" in key or "marlin" in key]
    considered = "NvFp4 MoE backend 'FLASHINFER_TRTLLM' does not support the deployment configuration since kernel"
    assert not [key for key in said(considered, level="DEBUG") if "backend" in key]


def test_the_kind_of_model() -> None:
    assert said(
        "Setting attention block size to 2096 tokens to ensure that attention page size is >= mamba page size."
    ) == {
        "model.hybrid": True,
        "kv_cache.block_size": 2096,
    }
    assert said(f"Using 'MARLIN' NvFp4 MoE backend {CANDIDATES}")["model.moe"] is True
    assert "model.moe" not in said("Using MarlinNvFp4LinearKernel for NVFP4 GEMM")


def test_linear_layers_and_experts_are_separate() -> None:
    facts = facts_of(
        record("Using FlashInferCutlassNvFp4LinearKernel for NVFP4 GEMM"),
        record(f"Using 'MARLIN' NvFp4 MoE backend {CANDIDATES}", line=2),
    )
    assert facts["nvfp4.linear_backend"].value == "FlashInferCutlassNvFp4LinearKernel"
    assert facts["nvfp4.moe_backend"].value == "MARLIN"
    assert (facts["nvfp4.marlin"].origin, facts["nvfp4.marlin"].line) == ("inferred", 2)
