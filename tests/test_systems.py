"""The situations of Nemotron deployments that must be diagnosed, row by row of the table they were collected in.

A row is a log (a sample, or a line or two), facts given by hand, and what the JSON report must say and must not say.
The samples have expectations of their own in their yaml; here stands what is said beside the root cause, what changes
with a fact, and what must stay unsaid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.running import run
from tests.sample_logs import SAMPLES

OK, FINDING, UNDETERMINED = 0, 1, 3


@dataclass(frozen=True)
class Case:
    """One situation and what the report on it must and must not hold."""

    row: int
    log: str
    """A sample below samples/, or the text itself when it holds a blank."""
    facts: tuple[str, ...] = ()
    status: int | None = None
    verdict: str | tuple[str, ...] = ()
    root: str | None = None
    """Id of the root cause; empty: there must be none."""
    severity: str = ""
    """Of the finding named by `root`, or of the first one in `has`."""
    has: tuple[str, ...] = ()
    """Ids that must be among the findings."""
    lacks: tuple[str, ...] = ()
    """Ids that must not be."""
    types: tuple[str, ...] = ()
    """What must be among the commands of the root cause (or of the first one in `has`)."""
    never_types: tuple[str, ...] = ()
    """Regexes that no command of any finding may match."""
    says: tuple[str, ...] = ()
    """Regexes that the findings' texts must match somewhere."""
    never_says: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = self.log if self.is_sample else self.log.strip()[:40]
        return "-".join([f"row{self.row:02}", name.rpartition("/")[2], *self.facts])

    @property
    def is_sample(self) -> bool:
        return " " not in self.log and "\n" not in self.log


def s(name: str) -> str:
    """The name of a written sample."""
    return f"synthetic/{name}"


NOT_GB10_WORDS = ("GB10", "SM121", "DGX Spark")
ROW_1 = (
    Case(1, "[NVFP4] Using backend: marlin\n", status=UNDETERMINED, root="", has=("nvfp4-quoted-marlin",),
         severity="info"),
    Case(1, s("01-marlin-gb10-0.17.1"), status=OK, verdict="ready", root="",
         has=("nvfp4-dense-on-marlin", "nvfp4-experts-on-marlin")),
    Case(1, s("01-marlin-gb10-0.33.0"), status=OK, verdict="ready", root="",
         has=("nvfp4-dense-on-marlin", "nvfp4-experts-on-marlin")),
    Case(1, s("01-marlin-a100-0.13.0"), status=OK, has=("nvfp4-experts-on-marlin",),
         lacks=("gb10-marlin-atomic-add",), never_says=NOT_GB10_WORDS),
    Case(1, "gpu/nvfp4-moe-marlin", has=("nvfp4-experts-on-marlin",), lacks=("gb10-marlin-atomic-add",),
         never_says=NOT_GB10_WORDS),
    # The list of candidates behind the chosen name holds MARLIN on every GPU.
    Case(1, s("02-cutlass-right-on-b200-0.26.0"), status=OK,
         lacks=("nvfp4-experts-on-marlin", "nvfp4-dense-on-marlin")),
)  # fmt: skip
ROW_2 = (
    Case(2, "Auto-selected: CUTLASS_FP4\n", status=UNDETERMINED, root="", has=("nvfp4-quoted-cutlass-auto",),
         severity="warning", says=("VLLM_NVFP4_GEMM_BACKEND", "--linear-backend", "--moe-backend")),
    Case(2, s("02-cutlass-works-gb10-0.26.0"), status=OK, verdict="ready", root="",
         has=("nvfp4-dense-not-marlin-gb10",), severity="info"),
    Case(2, s("02-cutlass-right-on-b200-0.26.0"), status=OK, verdict="ready", root="",
         never_says=(*NOT_GB10_WORDS, "not on Marlin")),
    Case(2, s("02-gemm-variable-ignored-crash-gb10-0.24.0"), status=FINDING, root="nvfp4-dense-fault-sm12x",
         severity="fatal", has=("env-nvfp4-gemm-backend-removed",), types=("--linear-backend marlin",),
         never_types=(r"^VLLM_NVFP4_GEMM_BACKEND=",)),
    Case(2, s("02-dense-crash-gb10-0.16.0"), root="nvfp4-dense-fault-sm12x",
         types=("VLLM_NVFP4_GEMM_BACKEND=marlin",), never_types=("--linear-backend", "--moe-backend")),
    Case(2, s("02-dense-crash-gb10-0.22.1"), root="nvfp4-dense-fault-sm12x", types=("--linear-backend marlin",),
         never_types=("--moe-backend",)),
    Case(2, s("02-only-experts-on-marlin-gb10-0.26.0"), root="nvfp4-dense-no-kernel-image",
         types=("--linear-backend marlin",), never_types=(r"^--enforce-eager",)),
    # Only the experts run on NVFP4 in a mixed checkpoint: nothing may be said of dense NVFP4 layers.
    Case(2, s("02-mixed-checkpoint-works-gb10-0.26.0"), status=OK, root="",
         lacks=("nvfp4-dense-not-marlin-gb10", "nvfp4-dense-on-marlin")),
    Case(2, s("02-mixed-checkpoint-forced-marlin-0.24.0"), root="linear-backend-forces-fp8-marlin",
         types=("--linear-backend marlin|--linear-backend",)),
)  # fmt: skip
ROW_3 = (
    Case(3, "CUDA error: an illegal instruction was encountered\n", status=FINDING, root="cuda-illegal-instruction",
         severity="error", says=("built for|target",), never_says=("replace the (?:GPU|card)", "RMA")),
    Case(3, "cudaErrorIllegalInstruction\n", status=FINDING, root="cuda-illegal-instruction", severity="error"),
    Case(3, s("03-illegal-instruction-first-request-gb10-0.17.1"), status=FINDING, verdict="crashed",
         root="nvfp4-experts-fault-sm12x", says=("FLASHINFER_CUTLASS",)),
    Case(3, s("03-illegal-instruction-compiled-code-gb10-0.18.0"), root="gb10-compile-warmup-crash",
         says=(r"torch\.compile",), never_types=("marlin",)),
    Case(3, s("03-illegal-instruction-b200-0.26.0"), status=FINDING, root="nvfp4-kernel-fault"),
    Case(3, s("03-misaligned-address-rtx-pro-6000-0.18.0"), root="nvfp4-experts-fault-sm12x",
         never_says=("GB10 is",)),
)  # fmt: skip
ROW_4 = (
    Case(4, s("04-nightly-warmup-crash-gb10"), status=FINDING, root="gb10-nightly-warmup-crash",
         says=("stable", "serve command"), types=("vllm/vllm-openai:v",), never_types=(r"^--enforce-eager",)),
    Case(4, s("04-nightly-works-gb10"), status=OK, root="", lacks=("gb10-nightly-warmup-crash",)),
    Case(4, s("04-ptxas-does-not-know-gb10-0.11.2"), root="ptxas-too-old", types=("TRITON_PTXAS_PATH",)),
    # The image is this model's: another model is not sent to it.
    Case(4, s("03-illegal-instruction-compiled-code-gb10-0.18.0"), never_types=("vllm/vllm-openai:v",)),
)  # fmt: skip
ROW_5 = (
    Case(5, s("05-moe-variable-without-effect-gb10-0.17.1"), status=OK, root="", has=("env-nvfp4-moe-backend",),
         severity="warning", types=("VLLM_NVFP4_MOE_BACKEND", "--moe-backend marlin")),
    Case(5, s("05-moe-variable-and-crash-gb10-0.17.1"), status=FINDING, root="nvfp4-experts-fault-sm12x",
         has=("env-nvfp4-moe-backend",), types=("--moe-backend marlin",)),
    # Before 0.17 no line names the variable, and the flag does not exist yet.
    Case(5, s("06-moe-crash-gb10-0.16.0"), facts=("env.VLLM_NVFP4_MOE_BACKEND=marlin",),
         has=("env-nvfp4-moe-backend-silent",), never_types=("--moe-backend",)),
    Case(5, s("06-moe-works-gb10-0.26.0"), lacks=("env-nvfp4-moe-backend", "env-nvfp4-moe-backend-silent")),
)  # fmt: skip
ROW_6 = (
    Case(6, s("06-moe-crash-gb10-0.16.0"), status=FINDING, root="nvfp4-experts-fault-sm12x",
         types=("VLLM_USE_FLASHINFER_MOE_FP4=0",), never_types=("--moe-backend", "--linear-backend")),
    Case(6, s("05-moe-variable-and-crash-gb10-0.17.1"), root="nvfp4-experts-fault-sm12x",
         types=("--moe-backend marlin", "VLLM_USE_FLASHINFER_MOE_FP4=0")),
    Case(6, s("06-moe-crash-gb10-0.24.0"), root="nvfp4-experts-fault-sm12x", types=("--moe-backend marlin",),
         never_types=("VLLM_USE_FLASHINFER_MOE_FP4", "VLLM_NVFP4_GEMM_BACKEND")),
    Case(6, s("06-moe-works-gb10-0.26.0"), status=OK, verdict="ready", root="",
         has=("nvfp4-experts-not-marlin-gb10",), severity="info"),
    Case(6, s("06-moe-crash-two-ranks-rtx-5090-0.18.0"), root="nvfp4-experts-fault-sm12x",
         lacks=("unknown-failure",)),
    Case(6, s("06-moe-gate-0.15.0-gb10"), root="nvfp4-moe-gate-0150", says=(r"0\.15\.1",),
         never_types=("--moe-backend",)),
)  # fmt: skip
ROW_7 = (
    Case(7, s("07-mxfp4-variable-on-nvfp4-model-0.22.0"), status=OK, has=("env-mxfp4-backend-invented",),
         severity="warning", types=("VLLM_MXFP4_BACKEND",), says=("--moe-backend marlin",)),
    Case(7, s("07-nvfp4-variable-on-mxfp4-model-0.24.0"), status=OK, has=("env-nvfp4-switch-unknown-on-mxfp4-model",),
         types=("VLLM_NVFP4_GEMM_BACKEND",), says=("--moe-backend", "MXFP4"), never_types=("--linear-backend",),
         lacks=("env-nvfp4-gemm-backend-removed",)),
    Case(7, s("02-dense-crash-gb10-0.22.1"), facts=("env.VLLM_MXFP4_USE_MARLIN=1",),
         has=("env-mxfp4-switch-on-nvfp4-model",)),
)  # fmt: skip
ROW_8 = (
    Case(8, s("01-marlin-gb10-0.17.1"), status=OK, root="", has=("gb10-marlin-atomic-add",), severity="info",
         types=("VLLM_MARLIN_USE_ATOMIC_ADD=1",), says=("concurren", "field")),
    Case(8, s("01-marlin-gb10-0.17.1"), facts=("env.VLLM_MARLIN_USE_ATOMIC_ADD=1",),
         lacks=("gb10-marlin-atomic-add",), never_types=("ATOMIC_ADD",)),
    Case(8, s("06-moe-works-gb10-0.26.0"), lacks=("gb10-marlin-atomic-add",)),
    Case(8, "gpu/marlin-atomic-add", lacks=("gb10-marlin-atomic-add",)),
    Case(8, s("01-quoted-marlin"), facts=("gpu.name=GB10",), has=("gb10-marlin-atomic-add",)),
)  # fmt: skip
ROW_9 = (
    Case(9, s("09-super-v3-0.17.1"), status=FINDING, root="reasoning-parser-nemotron-name", severity="fatal",
         types=("--reasoning-parser nemotron_v3", "--reasoning-parser-plugin")),
    Case(9, s("09-nemotron-super-0.22.1"), status=FINDING, root="reasoning-parser-nemotron-name",
         types=("--reasoning-parser nemotron_v3",)),
    Case(9, s("09-nemotron-0.11.0"), status=FINDING, root="reasoning-parser-nemotron-none",
         says=(r"0\.17\.1", "nemotron_v3")),
    Case(9, s("09-super-v3-0.17.0"), status=FINDING, root="reasoning-parser-nemotron-none",
         says=(r"0\.17\.1", "nemotron_v3"),
         never_types=("--reasoning-parser nemotron_v3",)),
    Case(9, s("09-parser-of-another-model-0.24.0"), status=OK, has=("nemotron-reasoning-parser-of-another-model",),
         severity="warning", types=("--reasoning-parser nemotron_v3",)),
    Case(9, s("09-super-v3-with-plugin-0.17.1"), status=OK, root="", never_says=("reasoning-parser",)),
    Case(9, s("06-moe-works-gb10-0.26.0"), never_says=("parser",)),
)  # fmt: skip
ROW_10 = (
    Case(10, s("06-moe-works-gb10-0.26.0"), facts=("prompt.tokens=24000",), status=OK, root="",
         has=("system-prompt-takes-context",), severity="info", says=("24000", r"8,?768")),
    Case(10, s("06-moe-works-gb10-0.26.0"), lacks=("system-prompt-takes-context",)),
    Case(10, s("10-context-length-400-0.24.0"), status=OK, root="", has=("prompt-longer-than-context",)),
    Case(10, s("10-mamba-align-block-0.22.0"), status=FINDING, root="mamba-align-block-above-batched-tokens",
         types=("--max-num-batched-tokens 2096",), says=(r"0\.26",)),
    Case(10, "cpu/0.27.1/hybrid_batched_tokens_small", lacks=("mamba-align-block-above-batched-tokens",)),
    Case(10, s("10-mamba-blocks-journald-gb10-0.22.0"), root="mamba-blocks-below-sequences",
         types=("--max-num-seqs 171",)),
)  # fmt: skip
ROW_11 = (
    Case(11, s("11-eager-autotuner-crash-gb10-0.17.1"), status=FINDING, root="eager-moe-autotuner-crash",
         types=("--enforce-eager",)),
    Case(11, s("11-eager-works-gb10-0.26.0"), status=OK, root="", lacks=("eager-moe-autotuner-crash",),
         has=("gb10-eager-costs-speed",)),
    Case(11, s("11-fragmented-memory-gb10-0.22.0"), status=FINDING, never_types=(r"^--enforce-eager",)),
    Case(11, s("11-fragmented-memory-h100-0.22.0"), status=FINDING, never_says=("autotuner",)),
)  # fmt: skip
ROW_12 = (
    Case(12, s("12-ollama-holds-memory-gb10-0.26.0"), status=FINDING, root="free-memory-unified-other-server",
         types=("ollama stop",), says=(r"41\.32", r"103\.44")),
    Case(12, s("12-page-cache-gb10-0.23.0"), status=FINDING, root="free-memory-unified-page-cache",
         types=("drop_caches", "--gpu-memory-utilization"), lacks=("free-memory-unified-other-server",)),
    Case(12, s("12-two-containers-start-together-gb10-0.22.0"), status=FINDING, verdict="failed",
         root="kv-cache-no-memory-unified", types=("--kv-cache-memory-bytes", "depends_on")),
    Case(12, s("93-ray-second-node-without-memory-gb10-0.22.0"), status=FINDING,
         root="free-memory-unified-other-server"),
    Case(12, "gpu/gpu-busy-other-process", root="free-memory-below-desired", never_types=("drop_caches",),
         never_says=("nified",)),
)  # fmt: skip
ROW_13 = (
    Case(13, s("13-loading-9-of-17-shards-gb10-0.17.1"), status=UNDETERMINED, verdict="starting", root="",
         has=("loading-in-progress",), severity="info", says=("9 of 17",)),
    Case(13, s("13-loaded-in-8-minutes-gb10-0.17.1"), status=OK, verdict="ready", root="", has=("loading-slow",),
         lacks=("loading-in-progress",)),
)  # fmt: skip
ROW_14 = (
    Case(14, "KV cache is not enough for the requested max_model_len\n", status=FINDING,
         root="kv-cache-quoted-not-enough", severity="error",
         types=("--max-model-len", "--gpu-memory-utilization", "--kv-cache-dtype fp8")),
    Case(14, s("14-kv-cache-one-request-0.17.1"), root="kv-cache-one-request", says=("9888",),
         types=("--kv-cache-dtype fp8",)),
    Case(14, s("14-kv-cache-one-request-0.24.0"), root="kv-cache-one-request", says=("134736",),
         types=("--kv-cache-dtype fp8", "--gpu-memory-utilization")),
    Case(14, s("14-no-cache-blocks-0.22.0"), status=FINDING, types=("--gpu-memory-utilization",)),
    Case(14, s("24-healthy-gb10-0.24.0"), has=("kv-cache-fp8-in-use",), severity="info"),
)  # fmt: skip
ROW_15 = (
    Case(15, s("15-bf16-on-96-gb-0.24.0"), status=FINDING, root="gpu-oom-weights", says=("240 GB", "69.6 GB"),
         never_types=("--gpu-memory-utilization", r"^--enforce-eager")),
    Case(15, s("15-fp8-on-96-gb-0.24.0"), status=FINDING, root="gpu-oom-weights", says=("128 GB",)),
    Case(15, s("15-bf16-on-gb10-0.22.0"), status=FINDING, root="gpu-oom-weights-unified",
         lacks=("gpu-oom-unified-memory",)),
)  # fmt: skip
ROW_16 = (
    Case(16, s("16-gguf-file-0.26.0"), status=FINDING, root="gguf-not-in-core", says=("llama.cpp", "Ollama")),
    Case(16, s("16-quantization-gguf-choice-0.24.0"), status=FINDING, root="quant-choice-invalid", says=("plug-in",)),
    Case(16, s("16-gguf-model-unsupported-0.16.0"), status=FINDING, root="gguf-model-unsupported",
         says=("llama.cpp",)),
    Case(16, s("16-quantization-of-another-kind-0.22.0"), status=FINDING, root="quant-argument-mismatch",
         types=("--quantization",)),
    Case(16, s("16-quantization-method-gone-0.33.0"), status=FINDING, root="quant-method-unknown"),
)  # fmt: skip
ROW_17 = (
    Case(17, s("17-path-not-mounted-0.24.0"), status=FINDING, root="model-path-missing", types=("-v ",)),
    Case(17, s("17-truncated-shard-gb10-0.22.0"), status=FINDING, root="weights-shard-truncated"),
    Case(17, s("17-no-config-json-0.26.0"), status=FINDING, says=(r"config\.json",)),
    Case(17, "gpu/model-path-missing", status=FINDING, root="model-path-missing"),
)  # fmt: skip
ROW_18 = (
    Case(18, s("18-serve-twice-0.26.0"), status=FINDING, verdict="failed", root="serve-given-twice",
         types=("serve",)),
    Case(18, s("18-serve-with-model-flag"), status=FINDING, root="serve-given-twice", types=("serve",)),
    Case(18, "unrecognized arguments: serve\n", status=FINDING, root="serve-given-twice", types=("serve",)),
    Case(18, s("18-serve-old-entrypoint"), status=FINDING, root="serve-unknown-to-api-server",
         lacks=("serve-given-twice",)),
)  # fmt: skip
ROW_19 = (
    Case(19, s("19-model-flag-0.10.2"), status=FINDING, root="model-option-fatal"),
    Case(19, s("19-positional-for-old-entrypoint"), status=FINDING, root="serve-unknown-to-api-server",
         types=("--model",)),
    Case(19, "cpu/0.17.1/model_flag", root="", has=("model-option-in-serve",), severity="info"),
)  # fmt: skip
ROW_20 = (
    Case(20, s("20-hub-timeout-0.24.0"), status=FINDING, root="hub-timeout-after-retries",
         types=("HF_ENDPOINT=", "HF_HUB_OFFLINE=1", "--entrypoint hf")),
    Case(20, s("20-download-read-timeout-0.17.1"), status=FINDING, root="hub-timeout",
         types=("HF_ENDPOINT=", "--entrypoint hf")),
)  # fmt: skip
ROW_21 = (
    Case(21, s("21-humming-too-early-a100-0.22.0"), status=FINDING, root="nvfp4-moe-backend-not-mapped",
         types=("--moe-backend",), says=(r"0\.25",)),
    Case(21, s("21-humming-works-a100-0.26.0"), status=OK, root="", has=("humming-off-hopper",), severity="info"),
    Case(21, s("21-linear-humming-choice-0.22.0"), status=FINDING, root="unknown-value", says=(r"0\.25",)),
    Case(21, s("21-mamba-ssu-algorithm-unknown-0.26.0"), status=FINDING, root="unknown-flag",
         types=("--mamba-ssu-algorithm",), says=(r"0\.27",)),
    Case(21, s("21-horizontal-works-a100-0.28.0"), status=OK, root="", has=("mamba-ssu-horizontal-off-hopper",),
         severity="info"),
    Case(21, s("21-async-scheduling-works-a100-0.16.0"), status=OK, root="",
         has=("async-scheduling-is-not-hopper-only",), severity="info"),
    # On the GPU that the recipe was written for there is nothing to say.
    Case(21, "gpu/cut-nvfp4-moe-humming", lacks=("humming-off-hopper",)),
)  # fmt: skip
ROW_22 = (
    Case(22, s("22-empty-content-response"), root="", has=("thinking-used-up-max-tokens",), severity="warning",
         types=('"max_tokens"',)),
    Case(22, s("22-finish-reason-length-logged-0.24.0"), status=OK, has=("thinking-used-up-max-tokens-logged",),
         severity="warning"),
    Case(22,
         '{"choices":[{"message":{"role":"assistant","content":"Done.","reasoning":"x"},"finish_reason":"length"}]}\n',
         lacks=("thinking-used-up-max-tokens",)),
)  # fmt: skip
ROW_23 = (
    Case(23, s("23-shm-broadcast-then-progress-0.24.0"), status=OK, verdict="ready", root="",
         lacks=("shm-broadcast-hang", "shm-broadcast-hang-in-service")),
    Case(23, s("23-shm-broadcast-hang-0.24.0"), status=FINDING, verdict="stalled", root="shm-broadcast-hang",
         never_types=("--shm-size",)),
    Case(23, s("23-shm-broadcast-worker-killed-0.26.0"), status=FINDING, root="host-oom-process-killed"),
    Case(23, "ERROR: Memory allocation failed\n", status=FINDING, root="memory-allocation-failed"),
    Case(23, "WARNING: Expert routing overhead is high\n", status=UNDETERMINED, root="", has=("moe-load-imbalance",),
         severity="info"),
    Case(23, s("23-eplb-skips-rearrange-0.27.1"), status=OK, verdict="ready", root=""),
    Case(23, s("23-might-cause-deadlock-0.17.1"), status=FINDING, root="gpu-oom-profiling", says=("eadlock",)),
)  # fmt: skip
ROW_24 = (
    Case(24, s("24-healthy-gb10-0.24.0"), status=OK, verdict="ready", root=""),
    Case(24, s("92-compose-healthy-with-web-ui-0.24.0"), status=OK, verdict="ready", root=""),
    Case(24, "gpu/healthy-llama-cold", status=OK, root=""),
)  # fmt: skip
ROW_25 = (
    Case(25, s("25-garbled-response"), root="", has=("answer-of-one-repeated-token",)),
    Case(25, s("25-kv-cache-full-gb10-0.26.0"), status=OK, has=("kv-cache-nearly-full", "requests-preempted")),
    Case(25, s("25-slow-decode-is-bandwidth-gb10-0.26.0"), status=OK, verdict="ready", root="",
         has=("gb10-decode-is-bandwidth",), severity="info"),
    Case(25, s("25-out-of-memory-after-days-gb10-0.22.0"), status=FINDING, verdict="crashed",
         types=("--gpu-memory-utilization",)),
)  # fmt: skip
ROW_26 = (
    Case(26, s("26-bound-to-loopback-0.24.0"), says=(r"127\.0\.0\.1",)),
    Case(26, s("26-port-not-published-0.24.0"), root="client-cannot-connect",
         types=("-p 8000:8000", "docker network connect")),
    Case(26, s("26-image-pull-timeout"), status=FINDING, says=("mirror",)),
    Case(26, s("26-compose-pull-timeout"), status=FINDING, says=("mirror",)),
    # Requests were answered: whoever asked could reach it.
    Case(26, s("24-healthy-gb10-0.24.0"), lacks=("server-bound-to-loopback", "no-request-arrived")),
)  # fmt: skip
CASES = (
    *ROW_1, *ROW_2, *ROW_3, *ROW_4, *ROW_5, *ROW_6, *ROW_7, *ROW_8, *ROW_9, *ROW_10, *ROW_11, *ROW_12, *ROW_13,
    *ROW_14, *ROW_15, *ROW_16, *ROW_17, *ROW_18, *ROW_19, *ROW_20, *ROW_21, *ROW_22, *ROW_23, *ROW_24, *ROW_25,
    *ROW_26,
)  # fmt: skip


def _report(case: Case, boot: str = "last") -> tuple[dict[str, Any], int]:
    data = (SAMPLES / f"{case.log}.log").read_bytes() if case.is_sample else case.log.encode()
    result = run(data, facts=case.facts, boot=boot)
    return json.loads(result.text), result.status


def _findings(report: dict[str, Any]) -> list[dict[str, Any]]:
    boots = report["boots"]
    return list(boots[-1]["findings"]) if boots else []


def _commands(finding: dict[str, Any]) -> list[str]:
    return [remedy["command"] or "" for remedy in finding["remedies"]]


def _text(findings: Sequence[dict[str, Any]]) -> str:
    kept = ("id", "title", "cause", "remedies", "verify", "conditional", "evidence", "basis")
    return json.dumps([{key: finding.get(key) for key in kept} for finding in findings], ensure_ascii=False)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_row_is_diagnosed(case: Case) -> None:
    report, status = _report(case)
    findings = _findings(report)
    by_id = {finding["id"]: finding for finding in findings}
    roots = [finding["id"] for finding in findings if finding["role"] == "root_cause"]
    if case.status is not None:
        assert status == case.status
    if case.verdict:
        assert report["verdict"] in ((case.verdict,) if isinstance(case.verdict, str) else case.verdict)
    if case.root is not None:
        assert roots[:1] == ([case.root] if case.root else [])
    assert [name for name in case.has if name not in by_id] == []
    assert [name for name in case.lacks if name in by_id] == []
    told = case.root or next(iter(case.has), "") or next(iter(roots), "")
    if case.severity:
        assert by_id[told]["severity"] == case.severity
    if case.types:
        typed = "\n".join(_commands(by_id[told]))
        assert [wanted for wanted in case.types if not re.search(wanted, typed)] == []
    commands = [command for finding in findings for command in _commands(finding)]
    typed_wrongly = [(bad, c) for bad in case.never_types for c in commands if re.search(bad, c)]
    assert [(bad, c) for bad, c in typed_wrongly if not _removes(findings, c)] == []
    text = _text(findings)
    assert [wanted for wanted in case.says if not re.search(wanted, text)] == []
    assert [bad for bad in case.never_says if re.search(bad, text)] == []


def _removes(findings: Sequence[dict[str, Any]], command: str) -> bool:
    """Whether the command is one to take away; naming it there is no advice to use it."""
    kinds = {r["kind"] for f in findings for r in f["remedies"] if r["command"] == command}
    return kinds == {"remove"}


def test_every_row_of_the_table_has_cases() -> None:
    assert {case.row for case in CASES} == set(range(1, 27))


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("[NVFP4] Using backend: marlin", "info"),
        ("Auto-selected: CUTLASS_FP4", "warning"),
        ("CUDA error: an illegal instruction was encountered", "error"),
        ("cudaErrorIllegalInstruction", "error"),
        ("KV cache is not enough for the requested max_model_len", "error"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "", "\r\n"])
def test_a_quoted_line_alone_has_its_severity(line: str, severity: str, ending: str) -> None:
    findings = _findings(json.loads(run((line + ending).encode()).text))
    assert findings[0]["severity"] == severity
    assert {finding["severity"] for finding in findings[1:]} <= {"info"}


def test_quoted_line_decides_more_with_a_given_gpu() -> None:
    line = b"[NVFP4] Auto-selected: CUTLASS_FP4\n"
    on_gb10 = _findings(json.loads(run(line, facts=("gpu.name=GB10",)).text))
    on_b200 = _findings(json.loads(run(line, facts=("gpu.name=B200",)).text))
    assert [finding["id"] for finding in on_gb10] == ["nvfp4-quoted-cutlass-auto"]
    assert [finding["id"] for finding in on_b200] == []


def test_marlin_is_confirmed_as_a_fact_too() -> None:
    report, _ = _report(Case(1, s("01-marlin-gb10-0.26.0")))
    facts = report["boots"][-1]["facts"]
    assert facts["nvfp4.linear_backend"]["value"] == "MarlinNvFp4LinearKernel"
    assert facts["nvfp4.moe_backend"]["value"] == "MARLIN"
    assert facts["nvfp4.marlin"]["value"] is True


def test_gb10_is_inferred_from_its_memory_and_says_so() -> None:
    report, _ = _report(Case(1, s("01-marlin-gb10-0.33.0")))
    facts = report["boots"][-1]["facts"]
    assert (facts["gpu.name"]["value"], facts["gpu.name"]["origin"]) == ("NVIDIA GB10", "inferred")
    assert facts["gpu.compute_capability"]["value"] == "12.1"


def test_a_given_gpu_name_gives_the_compute_capability() -> None:
    report, _ = _report(Case(6, s("10-mamba-align-block-0.22.0"), facts=("gpu.name=GB10",)))
    fact = report["boots"][-1]["facts"]["gpu.compute_capability"]
    assert (fact["value"], fact["origin"]) == ("12.1", "inferred")


def test_pace_of_loading_is_a_fact() -> None:
    report, _ = _report(Case(13, s("13-loading-9-of-17-shards-gb10-0.17.1")))
    facts = report["boots"][-1]["facts"]
    assert (facts["weights.shards_done"]["value"], facts["weights.shards_total"]["value"]) == (9, 17)
    assert facts["weights.seconds_per_shard"]["value"] == pytest.approx(28.2, abs=4)


def test_healthy_start_states_the_numbers_that_matter() -> None:
    report, _ = _report(Case(24, s("24-healthy-gb10-0.24.0")))
    facts = report["boots"][-1]["facts"]
    wanted = {"kv_cache.tokens", "kv_cache.concurrency", "weights.seconds", "start.seconds", "attention.backend"}
    assert wanted - set(facts) == set()


def test_ranks_that_say_the_same_are_one_finding() -> None:
    report, _ = _report(Case(6, s("06-moe-crash-two-ranks-rtx-5090-0.18.0")))
    root = _findings(report)[0]
    assert root["role"] == "root_cause"
    assert root["ranks"] == ["TP0", "TP1"]
    assert [finding["id"] for finding in _findings(report)].count(root["id"]) == 1


def test_restart_loop_tells_its_boots_and_their_causes_apart() -> None:
    report, status = _report(Case(12, s("90-restart-loop-two-causes-gb10-0.17.1")))
    causes = [[f["id"] for f in boot["findings"] if f["role"] == "root_cause"] for boot in report["boots"]]
    assert causes == [
        ["free-memory-unified-other-server"],
        ["free-memory-unified-other-server"],
        ["nvfp4-experts-fault-sm12x"],
        ["nvfp4-experts-fault-sm12x"],
    ]
    assert status == FINDING
    assert re.search(r"boot 4 of 4", report["summary"]) or len(report["boots"]) == 4


def test_split_lines_of_a_container_runtime_are_joined() -> None:
    report, _ = _report(Case(14, s("91-kubernetes-cri-split-lines-0.24.0")))
    facts = report["boots"][-1]["facts"]
    assert facts["vllm.version"]["value"] == "0.24.0"
    assert facts["model.max_len"]["value"] == 1048576
    assert facts["args.reasoning_parser"]["value"] == "nemotron_v3"


def test_services_of_one_stream_have_boots_of_their_own_and_the_failed_one_leads() -> None:
    report, _ = _report(Case(12, s("12-two-containers-start-together-gb10-0.22.0")))
    assert [boot["verdict"] for boot in report["boots"]] == ["ready", "failed"]
    assert report["verdict"] == "failed"


def test_remote_node_is_named_in_the_evidence() -> None:
    report, _ = _report(Case(12, s("93-ray-second-node-without-memory-gb10-0.22.0")))
    root = _findings(report)[0]
    assert "ray-actor-died" not in root["id"]
    assert any("22.9" in evidence["text"] for evidence in root["evidence"])


def _without(name: str, pattern: str) -> bytes:
    """A sample without the lines that a pattern finds."""
    lines = (SAMPLES / f"{name}.log").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not re.search(pattern, line)).encode()


LOGGER_LINE = r"^(?!.*(?:(?:INFO|WARNING|ERROR) \d\d-\d\d |HTTP/1\.1\"))"
"""What does not go to standard output: neither a logger's line nor an access line."""


def test_where_the_log_does_not_name_the_gpu_a_given_one_decides() -> None:
    log = _without(s("02-gemm-variable-ignored-crash-gb10-0.24.0"), "flashinfer_autotune_cache")
    open_ = _findings(json.loads(run(log).text))[0]
    assert (open_["id"], open_["confidence"]) == ("nvfp4-kernel-fault", "possible")
    assert "--moe-backend marlin" not in _commands(open_), "the model has no experts"
    decided = _findings(json.loads(run(log, facts=("gpu.name=GB10",)).text))[0]
    assert (decided["id"], decided["confidence"]) == ("nvfp4-dense-fault-sm12x", "likely")


@pytest.mark.parametrize("lines", [3, 20])
def test_excerpt_of_consequences_says_that_the_cause_is_above(lines: int) -> None:
    log = (SAMPLES / f"{s('05-moe-variable-and-crash-gb10-0.17.1')}.log").read_bytes().splitlines(keepends=True)
    findings = _findings(json.loads(run(b"".join(log[-lines:])).text))
    assert [f["id"] for f in findings if f["role"] == "root_cause"] == ["cause-above-excerpt"]


def test_crash_is_found_without_standard_error() -> None:
    result = run(_without(s("05-moe-variable-and-crash-gb10-0.17.1"), LOGGER_LINE), facts=("gpu.name=GB10",))
    assert _findings(json.loads(result.text))[0]["id"] == "nvfp4-experts-fault-sm12x"
    assert result.status == FINDING


def test_readiness_is_found_without_standard_error() -> None:
    result = run(_without(s("24-healthy-gb10-0.24.0"), LOGGER_LINE))
    report = json.loads(result.text)
    assert (report["verdict"], result.status) == ("ready", OK)
    assert "stderr-missing" in [finding["id"] for finding in _findings(report)]
