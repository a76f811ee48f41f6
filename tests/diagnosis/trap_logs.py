"""Logs of the traps: how a start ends, and the readings of words that have several causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from logdoctor.model import FactValue
from tests.diagnosis.build import CASCADE, UP, banner, lines, raised, said
from tests.diagnosis.ranks import ENGINE_NOTICES, failing, started

Given = Mapping[str, FactValue]

H100: Given = {"gpu.name": "NVIDIA H100 80GB HBM3"}
GB10: Given = {"gpu.name": "NVIDIA GB10"}
RTX5090: Given = {"gpu.name": "NVIDIA GeForce RTX 5090"}

UNKNOWN = "ValueError: the flux is out of phase"
ILLEGAL_ACCESS = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
FATAL = "EngineCore encountered a fatal error."
LOADING = said("Starting to load model acme/m...")


def warned(text: str, process: str = "EngineCore_DP0 pid=68") -> str:
    return said(text, process, "WARNING")


def refused(error: str, *functions: str, version: str = "0.17.1", before: str = "", **arguments: object) -> str:
    """A start that ends in this error of its engine."""
    return lines(banner(version, **arguments), before, raised(error, *functions), CASCADE)


def uncaught(error: str, process: str = "(APIServer pid=1) ") -> str:
    """A bare traceback of the API server."""
    frames = ["Traceback (most recent call last):", '  File "/opt/vllm/main.py", line 7, in <module>', "    main()"]
    return "\n".join(process + line for line in [*frames, *error.split("\n")])


NO_BLOCKS = (
    "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing "
    "the "
    "engine."
)


@dataclass(frozen=True)
class Reading:
    """A log whose words have other causes elsewhere, and what decides here."""

    name: str
    log: str
    cause: str
    facts: Given = field(default_factory=dict)
    fix: str = ""
    never: str = ""
    """What would do harm here."""


def left(share: float, weights: float, kv_cache: float, version: str = "0.17.1") -> str:
    before = lines(
        said(f"Model loading took {weights} GiB memory and 12.3 seconds"),
        said(f"Available KV cache memory: {kv_cache} GiB"),
    )
    return refused(NO_BLOCKS, before=before, version=version, gpu_memory_utilization=share)


def unfree(free: float, total: float, share: float, desired: float) -> str:
    return refused(
        f"ValueError: Free memory on device cuda:0 ({free}/{total} GiB) on startup is less than desired GPU memory "
        f"utilization ({share}, {desired} GiB). Decrease GPU memory utilization or reduce GPU memory used by other "
        "processes."
    )


def oom(total: str = "23.64 GiB", own: str = "23.10 GiB", others: str = "", unused: str = "41.20 MiB") -> str:
    return (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 0 has a total capacity of "
        f"{total} of "
        f"which 340.00 MiB is free. {others}Including non-PyTorch memory, this process has {own} memory in use. Of the "
        f"allocated memory 22.10 GiB is allocated by PyTorch, and {unused} is reserved by PyTorch but unallocated."
    )


LOADED = lines(LOADING, said("Model loading took 10.0 GiB memory and 12.3 seconds"))
SIZED = lines(LOADED, said("Available KV cache memory: 9.0 GiB"), said("GPU KV cache size: 48,128 tokens"))
ELEVEN = "Process 11234 has 10.12 GiB memory in use. "
SAMPLER = (
    "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering "
    "`max_num_seqs` or `gpu_memory_utilization` when initializing the engine."
)
SM90_LIST = (
    "    NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
    "    The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90."
)
DENSE_CUTLASS = lines(
    said("Using NvFp4LinearBackend.FLASHINFER_CUTLASS for NVFP4 GEMM"),
    said("Model loading took 69.5 GiB memory and 480.1 seconds"),
    said("torch.compile takes 34.10 s in total"),
)
EXPERTS_CUTLASS = said(
    "Using 'FLASHINFER_CUTLASS' NvFp4 MoE backend out of potential backends: ['FLASHINFER_CUTLASS', 'MARLIN']."
)
UNIFIED_TOTAL = "121.69 GiB"
NO_MOE = "NotImplementedError: No NvFp4 MoE backend supports the deployment configuration."
DEVICE_COUNT = (
    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before? Error "
)
UNHANDLED = "RuntimeError: NCCL error: unhandled {} error (run with NCCL_DEBUG=INFO for details)"
SHM_SEGMENT = "node1:68:68 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-aB3dE9 (size 9637888)"
NINJA = "RuntimeError: Ninja build failed. Ninja output:\n/bin/sh: 1: {}: not found"
REPO_ID = (
    "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': "
    "'/models/nope'. Use `repo_type` argument if needed."
)
ANSWER = (
    '{{"id":"chatcmpl-1","object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":{},'
    '"reasoning_content":"Let me think"}},"finish_reason":"{}"}}]}}'
)
HEADER = "safetensors_rust.SafetensorError: Error while deserializing header: "
ONE_REASON = (
    "ValueError: Failed to find a kernel that can implement the NVFP4 linear layer. Reasons: \n"
    "CutlassNvFp4LinearKernel: CUTLASS FP4 kernels not available"
)

RAISE, LOWER = "--gpu-memory-utilization 0.95", "--gpu-memory-utilization 0.84"

READINGS = (
    # No available memory for the cache blocks
    Reading("adds up: raise", left(0.3, 20.0, -0.4), "kv-cache-share-too-small", H100, fix=RAISE),
    Reading("at 0.95: too big", left(0.95, 74.0, -0.4), "kv-cache-no-memory-at-limit", H100, never="utilization"),
    Reading(
        "does not add up: a neighbour", left(0.9, 15.0, -3.0, "0.8.5"), "kv-cache-neighbour-charged", H100, never=RAISE
    ),
    Reading(
        "negative though positive: start order", left(0.45, 15.0, -8.59), "kv-cache-two-engines", H100, never=RAISE
    ),
    # Free memory on device … less than desired
    Reading("misses by less than one GiB", unfree(23.07, 23.64, 0.98, 23.17), "free-memory-just-missed", fix=RAISE),
    Reading("GB10 page cache", unfree(101.5, 121.69, 0.9, 109.5), "free-memory-unified-page-cache", fix="drop_caches"),
    Reading("GB10 Ollama", unfree(41.07, 121.69, 0.9, 109.5), "free-memory-unified-other-server", fix="ollama stop"),
    Reading("another process", unfree(38.77, 139.8, 0.92, 128.62), "free-memory-below-desired", fix="nvidia-smi"),
    # CUDA out of memory
    Reading("create_weights", refused(oom(), "load_model", "create_weights", before=LOADING), "gpu-oom-weights"),
    Reading("loading, no frame", refused(oom(), before=LOADING), "gpu-oom-while-loading", never="utilization"),
    Reading("trial run", refused(oom(), "profile_run", before=LOADED), "gpu-oom-profiling", fix="batched-tokens"),
    Reading("trial run, no frame", refused(oom(), before=LOADED), "gpu-oom-in-trial-run", never="utilization"),
    Reading(
        "graph capture", refused(oom(), "capture_model", before=SIZED), "gpu-oom-graph-capture", fix=LOWER, never=RAISE
    ),
    Reading("after the KV cache", refused(oom(), before=SIZED), "gpu-oom-after-kv-cache", fix=LOWER, never=RAISE),
    Reading("sampler", refused(SAMPLER, before=SIZED), "gpu-oom-sampler-warmup", fix="--max-num-seqs 512", never=RAISE),
    Reading(
        "foreign processes",
        refused(oom(own="13.10 GiB", others=ELEVEN), "load_model", "create_weights", before=LOADING),
        "gpu-oom-foreign-processes",
        fix="nvidia-smi",
    ),
    Reading(
        "hidden neighbour", refused(oom(own="13.10 GiB"), "load_model", before=LOADING), "gpu-oom-hidden-neighbour"
    ),
    Reading(
        "121.69 GiB are the machine's",
        refused(oom(total=UNIFIED_TOTAL, own="60.0 GiB"), "profile_run", before=LOADED),
        "gpu-oom-unified-memory",
        never=RAISE,
    ),
    Reading(
        "enough, but in pieces",
        lines(banner(), SIZED, UP, raised(oom(unused="4.31 GiB"), "execute_model", head=FATAL)),
        "gpu-oom-fragmentation",
        fix="expandable_segments",
    ),
    # no kernel image is available
    Reading("below 7.0", refused(NO_KERNEL), "gpu-older-than-supported", {"gpu.name": "Tesla P40"}),
    Reading("a wheel without SM120", refused(NO_KERNEL, before=SM90_LIST), "blackwell-missing-in-wheel"),
    Reading("one library without SM121", refused(NO_KERNEL, before=DENSE_CUTLASS), "nvfp4-dense-no-kernel-image", GB10),
    # ptxas fatal
    Reading(
        "sm_121a not defined",
        refused("RuntimeError: ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'"),
        "ptxas-too-old",
        fix="TRITON_PTXAS_PATH",
    ),
    Reading(
        "two cutlass wheels",
        refused("RuntimeError: ptxas fatal   : Unexpected instruction types specified for '_mma'"),
        "cutlass-dsl-packages-collide",
        never="TRITON_PTXAS_PATH",
    ),
    Reading(
        "PTX newer than this ptxas",
        refused("RuntimeError: ptxas fatal   : Unsupported .version 8.8; current version is '8.4'"),
        "nvcc-and-headers-differ",
    ),
    # cutlass … Error Internal
    Reading(
        "block-scaled FP8 on GB10",
        refused(
            "RuntimeError: cutlass_gemm_caller, /workspace/csrc/cutlass_gemm_caller.cuh:51, Error Internal",
            version="0.20.0",
            before=said("Selected CutlassFp8BlockScaledMMKernel for Fp8LinearMethod"),
        ),
        "fp8-block-cutlass-sm121",
        GB10,
    ),
    Reading(
        "another GPU", refused("RuntimeError: Error Internal"), "cutlass-error-internal", {"gpu.name": "NVIDIA L20"}
    ),
    # No NvFp4 MoE backend supports …
    Reading("the gate of 0.15.0", refused(NO_MOE, version="0.15.0"), "nvfp4-moe-gate-0150", GB10),
    Reading("reasons only at DEBUG", refused(NO_MOE), "nvfp4-moe-none", H100, fix="VLLM_LOGGING_LEVEL=DEBUG"),
    # Failed to find a kernel … Reasons:
    Reading(
        "one reason: the own flag",
        refused(ONE_REASON, version="0.22.0", linear_backend="cutlass"),
        "nvfp4-linear-forced",
        fix="--linear-backend",
    ),
    # Error 802 / 803 / 804
    Reading("802", refused(DEVICE_COUNT + "802: system not yet initialized"), "cuda-error-802-fabric-manager"),
    Reading(
        "803",
        refused(DEVICE_COUNT + "803: system has unsupported display driver / cuda driver combination"),
        "cuda-error-803-compat-library",
        never="newer driver",
    ),
    Reading(
        "804",
        refused(DEVICE_COUNT + "804: forward compatibility was attempted on non supported HW"),
        "cuda-error-804-driver-too-old",
        fix="newer driver",
    ),
    # FlashInfer requires GPUs with sm75 or higher
    Reading(
        "an old nvcc",
        refused("RuntimeError: FlashInfer requires GPUs with sm75 or higher"),
        "flashinfer-old-nvcc",
        RTX5090,
    ),
    Reading(
        "really old",
        refused("RuntimeError: FlashInfer requires GPUs with sm75 or higher"),
        "flashinfer-gpu-below-sm75",
        {"gpu.name": "Tesla V100"},
    ),
    # nvcc: not found
    Reading("nvcc absent", refused(NINJA.format("/usr/local/cuda/bin/nvcc")), "nvcc-missing"),
    Reading("a stray colon", refused(NINJA.format(":/usr/local/cuda/bin/nvcc")), "cuda-home-stray-colon"),
    # NCCL
    Reading(
        "shared memory",
        lines(*started(2), SHM_SEGMENT, "\n".join(failing(0, UNHANDLED.format("system"))), *ENGINE_NOTICES),
        "shared-memory-too-small",
        fix="--ipc=host",
    ),
    Reading(
        "undecidable without NCCL's lines",
        lines(*started(2), "\n".join(failing(0, UNHANDLED.format("system"))), *ENGINE_NOTICES),
        "nccl-unhandled-system-error",
        fix="NCCL_DEBUG=INFO",
    ),
    Reading(
        "a kernel's fault",
        lines(*started(2), "\n".join(failing(0, UNHANDLED.format("cuda"))), *ENGINE_NOTICES),
        "nccl-kernel-fault-noticed",
        fix="CUDA_LAUNCH_BLOCKING=1",
        never="NCCL_P2P_DISABLE",
    ),
    # invalid literal for int() with base 10
    Reading(
        "a Service named vllm",
        lines(banner(), uncaught("ValueError: invalid literal for int() with base 10: 'tcp://10.96.12.7:8000'")),
        "vllm-port-is-uri",
    ),
    Reading(
        "a MIG device",
        refused("ValueError: invalid literal for int() with base 10: 'MIG-1f2d8a'"),
        "mig-or-gpu-uuid-in-visible-devices",
    ),
    Reading(
        "Ray after a time-out",
        refused("ValueError: invalid literal for int() with base 10: b'\\x01'"),
        "ray-object-not-readable",
    ),
    # the rest
    Reading("a path is no repository", lines(banner(), uncaught(REPO_ID)), "model-path-missing", fix="docker run -v"),
    Reading(
        "the old entrypoint",
        "usage: api_server.py [-h] [--host HOST]\napi_server.py: error: unrecognized arguments: serve acme/m",
        "serve-unknown-to-api-server",
    ),
    Reading(
        "serve twice",
        "usage: vllm serve [model_tag] [options]\nvllm: error: unrecognized arguments: serve acme/m",
        "serve-given-twice",
        fix="remove serve",
    ),
    Reading("an LFS pointer", refused(HEADER + "HeaderTooLarge", "load_model", before=LOADING), "weights-lfs-pointer"),
    Reading(
        "a cut shard",
        refused(HEADER + "MetadataIncompleteBuffer", "load_model", before=LOADING),
        "weights-shard-truncated",
    ),
    Reading(
        "a damaged header",
        refused(HEADER + "InvalidHeaderDeserialization", "load_model", before=LOADING),
        "weights-shard-truncated",
    ),
)
