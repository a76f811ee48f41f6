"""What makes a naive diagnosis of vLLM's logs wrong: a test per row.

The sections: red herrings; cascades; the same words with different causes; cures that help here and hurt there; what
changed by version; damage in transport; silence (see also test_silence).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from logdoctor.model import BootDiagnosis, Finding, Role, Severity, Verdict
from tests.diagnosis.build import CASCADE, UP, banner, boot, commands, diagnose, ids, lines, raised, root, said
from tests.diagnosis.ranks import ENGINE_NOTICES, failing, started
from tests.diagnosis.trap_logs import (
    ANSWER,
    DENSE_CUTLASS,
    EXPERTS_CUTLASS,
    FATAL,
    GB10,
    H100,
    ILLEGAL_ACCESS,
    LOADED,
    LOADING,
    NO_BLOCKS,
    NO_KERNEL,
    NO_MOE,
    READINGS,
    RTX5090,
    SAMPLER,
    SIZED,
    UNKNOWN,
    Reading,
    left,
    oom,
    refused,
    uncaught,
    unfree,
    warned,
)


def typed(of: BootDiagnosis) -> str:
    """Everything that the root cause says to type or to do."""
    cause = of.root_cause
    return "; ".join(f"{r.kind} {r.command or r.summary}" for r in cause.remedies) if cause else ""


def alarms(of: BootDiagnosis) -> list[Finding]:
    return [finding for finding in of.findings if finding.severity is not Severity.INFO]


# --- 1. red herrings --------------------------------------------------------------------------------------------------

NO_NATIVE_FP4 = (
    "Your GPU does not have native support for FP4 computation but FP4 quantization is being used. Weight-only FP4 "
    "compression will be used leveraging the Marlin kernel. This may degrade performance for compute-heavy workloads."
)
SKIPPED_TACTIC = (
    "[Autotuner]: Skipping tactic <MoERunner object at 0x7f> 14, due to failure while profiling: [TensorRT-LLM][ERROR] "
    "Assertion failed: Failed to initialize cutlass TMA WS grouped gemm. Error: Error Internal"
)
GB10_REMARK = (
    "/opt/torch/cuda/__init__.py:283: UserWarning: \n    Found GPU0 NVIDIA GB10 which is of cuda capability 12.1.\n"
    "    Minimum and Maximum cuda capability supported by this version of PyTorch is\n    (8.0) - (12.0)"
)
SHM_WAIT = (
    "No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are "
    "hanging or doing some time-consuming work (e.g. compilation, weight/kv cache quantization)."
)
SCALE_ONE = (
    "Using KV cache scaling factor 1.0 for fp8_e4m3. If this is unintended, verify that k/v_scale scaling factors are "
    "properly set in the checkpoint."
)
NO_ALL_REDUCE = (
    "Custom allreduce is disabled because your platform lacks GPU P2P capability or P2P test failed. To silence this "
    "warning, specify disable_custom_all_reduce=True explicitly."
)
MOE_REFUSES = (
    "NvFp4 MoE backend 'FLASHINFER_TRTLLM' does not support the deployment configuration since kernel does not support "
    "current device NVIDIA GB10."
)

HERRINGS = {
    "weight-only FP4 on a Blackwell": warned(NO_NATIVE_FP4),
    "GB10 is above the list's end": GB10_REMARK,
    "the autotuner skips tactics": warned(SKIPPED_TACTIC),
    "a process was busy for a minute": lines(said(SHM_WAIT), said("Available KV cache memory: 10.0 GiB")),
    "too few SMs": warned("Not enough SMs to use max_autotune_gemm mode"),
    "default MoE config": warned(
        "Using default MoE config. Performance might be sub-optimal! Config file not found at E=128,N=704.json"
    ),
    "padding layers": warned("Add 3 padding layers, may waste at most 12.50% KV cache memory"),
    "scale 1.0": warned(SCALE_ONE),
    "multi-modal warm-up": warned("Multi-modal warmup failed"),
    "custom all-reduce": warned(NO_ALL_REDUCE),
    "syntax warning": "/opt/x.py:12: SyntaxWarning: invalid escape sequence '\\d'",
    "a variable of the build": warned("Unknown vLLM environment variable detected: VLLM_BASE_DIR"),
    "a variable of Kubernetes": warned("Unknown vLLM environment variable detected: VLLM_SERVICE_HOST"),
    "DeepGEMM off": warned(
        "Auto-disabled DeepGemm for model_type=qwen3_5 on Blackwell. DeepGemm E8M0 scale format causes accuracy "
        "degradation for this architecture. Falling back to CUTLASS."
    ),
    "a candidate refused at DEBUG": said(MOE_REFUSES, level="DEBUG"),
}


@pytest.mark.parametrize("text", HERRINGS.values(), ids=HERRINGS)
def test_a_frightening_line_of_a_healthy_start_is_no_alarm(text: str) -> None:
    made = boot(lines(banner("0.20.0"), text, UP))
    assert made.verdict is Verdict.READY
    assert alarms(made) == []


@pytest.mark.parametrize("text", HERRINGS.values(), ids=HERRINGS)
def test_a_frightening_line_is_not_the_cause_of_a_failure_after_it(text: str) -> None:
    made = boot(refused(UNKNOWN, before=text, version="0.20.0"))
    assert made.root_cause is not None
    assert made.root_cause.title == UNKNOWN


def test_180_warnings_in_325_lines_of_a_healthy_hybrid_start() -> None:
    noise = [
        HERRINGS["default MoE config"],
        HERRINGS["scale 1.0"],
        HERRINGS["padding layers"],
        warned(NO_NATIVE_FP4),
    ] * 45
    made = boot(lines(banner("0.20.0"), *noise, UP))
    assert made.verdict is Verdict.READY
    assert alarms(made) == []


def test_an_architecture_list_that_ends_below_the_gpu_is_the_cause() -> None:
    remark = (
        "/opt/torch/cuda/__init__.py:287: UserWarning: \nNVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not "
        "compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities "
        "sm_50 "
        "sm_60 sm_70 sm_75 sm_80 sm_86 sm_90."
    )
    assert root(boot(refused(NO_KERNEL, before=remark))) == "blackwell-missing-in-wheel"


def test_a_removed_or_invented_switch_is_a_finding() -> None:
    names = ("VLLM_NVFP4_MOE_BACKEND", "VLLM_USE_V1")
    unknown = [warned(f"Unknown vLLM environment variable detected: {name}") for name in names]
    made = boot(lines(banner("0.20.0"), *unknown, UP))
    told = " ".join(finding.title for finding in alarms(made))
    assert all(name in told for name in names)


def test_deadlock_is_only_what_is_printed_after_an_exception() -> None:
    line = "Error executing method 'load_model'. This might cause deadlock in distributed execution."
    made = boot(refused(UNKNOWN, before=said(line, level="ERROR"), version="0.10.0"))
    assert made.root_cause is not None
    assert made.root_cause.title == UNKNOWN
    assert "worker-failed" in ids(made.findings, Role.CONSEQUENCE)


@pytest.mark.parametrize("frame", ["empty", "tolist", "cat"])
def test_the_last_frame_of_a_cuda_error_is_innocent(frame: str) -> None:
    made = boot(lines(banner(), UP, raised(ILLEGAL_ACCESS, "execute_model", "fused_moe", frame, head=FATAL)))
    assert root(made) == "cuda-illegal-memory-access"
    assert "innocent" in made.findings[0].cause
    assert "CUDA_LAUNCH_BLOCKING=1" in typed(made)


def test_only_the_quoted_name_is_the_choice() -> None:
    line = (
        "Using 'FLASHINFER_CUTLASS' NvFp4 MoE backend out of potential backends: ['FLASHINFER_TRTLLM', "
        "'FLASHINFER_CUTLASS', 'VLLM_CUTLASS', 'MARLIN']."
    )
    made = boot(lines(banner("0.20.0"), said(line), UP))
    assert made.facts["nvfp4.moe_backend"].value == "FLASHINFER_CUTLASS"
    assert "nvfp4.marlin" not in made.facts
    assert "nvfp4-experts-on-marlin" not in ids(made.findings)


def test_the_same_refusal_as_an_error_is_the_users_own_flag() -> None:
    made = boot(refused(f"ValueError: {MOE_REFUSES}", version="0.20.0", moe_backend="flashinfer_trtllm"), dict(GB10))
    assert root(made) == "nvfp4-moe-forced-unsupported"
    assert "remove --moe-backend" in typed(made)


def test_a_negative_kv_cache_at_info_is_real() -> None:
    before = lines(
        said("Model loading took 15.0 GiB memory and 12.3 seconds"), said("Available KV cache memory: -8.59 GiB")
    )
    made = boot(refused(NO_BLOCKS, before=before, gpu_memory_utilization=0.45), dict(H100))
    assert root(made) == "kv-cache-two-engines"


def test_no_blocks_at_info_are_real() -> None:
    made = boot(
        "INFO 05-12 10:01:40 [api_server.py:1] vLLM API server version 0.8.5\n"
        "INFO 05-12 10:01:40 [worker.py:1] # GPU blocks: 0, CPU blocks: 2048\n"
        f"ERROR 05-12 10:01:41 [engine.py:448] {NO_BLOCKS}"
    )
    assert made.verdict is Verdict.FAILED
    assert root(made).startswith("kv-cache-")
    assert not [key for key in made.facts if key.startswith("silence.")]


def test_the_fallback_to_transformers_explains_the_attribute_error() -> None:
    fallback = (
        "Gemma3ForConditionalGeneration has no vLLM implementation, falling back to Transformers implementation. Some "
        "features may not be supported and performance may not be optimal."
    )
    error = "AttributeError: 'Gemma3Config' object has no attribute 'vocab_size'"
    made = boot(refused(error, before=warned(fallback, "APIServer pid=1"), version="0.8.5"))
    assert root(made) == "architecture-fallback-failed"


def test_a_model_in_a_variable_is_not_passed() -> None:
    log = lines(
        said("vLLM server version 0.20.0, serving model Qwen/Qwen3-0.6B", "APIServer pid=1"),
        said("non-default args: {'port': 8001}", "APIServer pid=1"),
        warned("Unknown vLLM environment variable detected: VLLM_MODEL", "APIServer pid=1"),
        said("Initializing a V1 LLM engine (v0.20.0) with config: model='Qwen/Qwen3-0.6B', max_seq_len=40960"),
        UP,
    )
    assert {"default-model-served", "settings-as-variables"} <= set(ids(boot(log).findings))


def test_an_engine_length_that_is_not_the_flags() -> None:
    made = boot(lines(banner(max_model_len=32768), UP))
    assert "context-length-not-as-asked" in ids(made.findings)
    assert alarms(boot(lines(banner(max_model_len=8192), UP))) == []


# --- 2. cascades ------------------------------------------------------------------------------------------------------

TWICE = "\n".join(
    f"(EngineCore_DP0 pid=68) {line}"
    for line in [
        "Process EngineCore_DP0:",
        "Traceback (most recent call last):",
        '  File "/opt/x.py", line 7, in run',
        UNKNOWN,
    ]
)
DEAD = (
    'AsyncLLM output_handler failed.\nTraceback (most recent call last):\n  File "/opt/x.py", line 7, in h\n    x()\n'
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the "
    "root cause."
)
HALF_BUILT = (
    "Exception ignored in: <function LLM.__del__ at 0x7f>\nTraceback (most recent call last):\n"
    '  File "/opt/x.py", line 7, in __del__\n    self.engine.shutdown()\n'
    "AttributeError: 'LLM' object has no attribute 'engine'"
)
LOGGING_ERROR = (
    "--- Logging error ---\nTraceback (most recent call last):\n"
    '  File "/usr/lib/python3.12/logging/__init__.py", line 1160, in emit\n    msg = self.format(record)\n'
    "TypeError: not all arguments converted during string formatting"
)
V0_ENGINE = "\n".join(
    f"ERROR 05-12 10:01:41 [engine.py:448] {line}"
    for line in ["Traceback (most recent call last):", '  File "/opt/x.py", line 7, in run', "    run()", UNKNOWN]
)
CASCADES = {
    "empty braces": refused(UNKNOWN),
    "an exit code in the braces": refused(UNKNOWN).replace("{}", "{'EngineCore_0': 1}"),
    "thousands of lines between": lines(
        banner(), raised(UNKNOWN), *[said(f"step {n}", "Worker_TP1 pid=72", "DEBUG") for n in range(3000)], CASCADE
    ),
    "V0": lines(
        "INFO 05-12 10:00:00 [api_server.py:1034] vLLM API server version 0.8.5",
        V0_ENGINE,
        uncaught("RuntimeError: Engine process failed to start. See stack trace for the root cause.", ""),
    ),
    "V0 front end over ZMQ": lines(
        "INFO 05-12 10:00:00 [api_server.py:1034] vLLM API server version 0.8.5",
        V0_ENGINE,
        uncaught("zmq.error.ZMQError: Operation not supported", ""),
    ),
    "a worker": lines(*started(2), "\n".join(failing(1, UNKNOWN)), *ENGINE_NOTICES),
    "every later request": lines(
        banner(), UP, raised(UNKNOWN, head=FATAL), said(DEAD, "APIServer pid=1", "ERROR", file="async_llm.py:700")
    ),
    "a background loop": lines(
        banner("0.8.5"),
        UP,
        raised(UNKNOWN, head="Exception in worker VllmWorkerProcess while processing method execute_model."),
        "ERROR 05-12 10:01:41 [client.py:300] AsyncEngineDeadError: Background loop has errored already.",
    ),
    "Ray": lines(
        banner(),
        f"(RayWorkerWrapper pid=90, ip=10.0.0.2) {UNKNOWN}",
        said("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.", level="ERROR"),
        CASCADE,
    ),
    "a half-built object": lines(banner(), raised(UNKNOWN), HALF_BUILT, CASCADE),
    "an error in logging": lines(
        banner(),
        UP,
        said(
            "Dumping input data for V1 LLM engine (v0.17.1) with config: model=m",
            level="ERROR",
            file="dump_input.py:69",
        ),
        LOGGING_ERROR,
        raised(UNKNOWN, head=FATAL),
    ),
    "the same traceback twice": lines(banner(), raised(UNKNOWN), TWICE, CASCADE),
}


@pytest.mark.parametrize("log", CASCADES.values(), ids=CASCADES)
def test_the_first_exception_leads_whatever_ends_the_log(log: str) -> None:
    made = boot(log)
    assert made.verdict in (Verdict.FAILED, Verdict.CRASHED)
    assert made.root_cause is not None
    assert made.root_cause.title == UNKNOWN
    assert [finding.id for finding in made.findings if finding.role is Role.ROOT_CAUSE] == ["unknown-failure"]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("Worker proc VllmWorker-1 died unexpectedly, shutting down executor.", "process-ended-silently"),
        (
            "Worker proc VllmWorker-1 died unexpectedly (exit code: -9), shutting down executor.",
            "host-oom-process-killed",
        ),
        (
            "Worker proc VllmWorker-1 died unexpectedly (exit code: -11), shutting down executor.",
            "native-crash-segfault",
        ),
    ],
)
def test_a_worker_that_left_no_traceback_was_killed_or_crashed(line: str, cause: str) -> None:
    made = boot(lines(banner(tensor_parallel_size=2), LOADING, said(line, level="ERROR"), CASCADE))
    assert root(made) == cause


def test_what_the_resource_tracker_stumbles_over_is_no_cause() -> None:
    worker = "Exception: WorkerProc initialization failed due to an exception in a background process."
    tracker = (
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/multiprocessing/resource_tracker.py", line 239, in main\n'
        "    cache[rtype].remove(name)\nKeyError: '/psm_11834410'"
    )
    child = f'Process EngineCore:\nTraceback (most recent call last):\n  File "/opt/x.py", line 7, in h\n{worker}'
    made = boot(lines(banner(), LOADING, raised(worker), child, tracker))
    assert root(made) == "process-ended-silently"


def test_nccl_only_reports_an_earlier_fault() -> None:
    nccl = "host1:71:71 [0] NCCL WARN Cuda failure 700 'an illegal memory access was encountered'"
    made = boot(lines(banner(), UP, nccl, raised(ILLEGAL_ACCESS, head=FATAL)))
    assert root(made) == "cuda-illegal-memory-access"
    assert "NCCL_P2P_DISABLE" not in typed(made)


def test_a_model_that_cannot_be_inspected_is_not_the_models_fault() -> None:
    nested = (
        "Error in inspecting model architecture 'AcmeForCausalLM'\nTraceback (most recent call last):\n"
        "  File \"/opt/x.py\", line 7, in h\n    x()\nKeyError: 'getpwuid(): uid not found: 1001'"
    )
    end = uncaught(
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
        "  Value error, Model architectures ['AcmeForCausalLM'] failed to be inspected. Please check the logs for "
        "details."
    )
    made = boot(lines(banner(), said(nested, "APIServer pid=1", "ERROR"), end))
    assert root(made) == "uid-without-passwd-entry"


def test_clean_up_after_a_silent_hang_is_no_cause() -> None:
    clean_up = (
        "[rank0]:[W1130 10:59:00.123456789 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=86): reset by "
        "peer",
        "[rank0]:[W1130 10:59:00.123456789 ProcessGroupNCCL.cpp:1538] Warning: WARNING: destroy_process_group() was "
        "not "
        "called before program exit, which can leak resources.",
        "/usr/lib/python3.12/multiprocessing/resource_tracker.py:279: UserWarning: resource_tracker: There appear to "
        "be 1 "
        "leaked semaphore objects to clean up at shutdown",
    )
    made = boot(lines(banner(), LOADING, *clean_up))
    assert root(made) == ""
    assert alarms(made) == []


def test_one_cause_printed_three_times_is_counted_as_one() -> None:
    error = (
        "ValueError: Free memory on device cuda:0 (38.77/139.8 GiB) on startup is less than desired GPU memory "
        "utilization (0.92, 128.62 GiB)."
    )
    made = boot(lines(banner(), raised(error), TWICE.replace(UNKNOWN, error), CASCADE))
    assert ids(made.findings, Role.ROOT_CAUSE) == ["free-memory-below-desired"]


def test_the_exception_to_root_cause_above_is_a_time_out() -> None:
    late = (
        "TimeoutError: Timed out waiting for engine core processes to start. This is often caused by slow weight "
        "loading "
        "for large models. Waited 600s (configured by VLLM_ENGINE_READY_TIMEOUT_S). To increase the timeout, set the "
        "environment variable: VLLM_ENGINE_READY_TIMEOUT_S=<seconds>"
    )
    made = boot(lines(banner("0.20.0"), said("Loading weights on node 0"), uncaught(late)))
    assert root(made) == "ready-timeout"
    assert "VLLM_ENGINE_READY_TIMEOUT_S" in typed(made)


def test_gb10_short_of_memory_ends_without_a_traceback() -> None:
    made = boot(lines(banner("0.23.0"), CASCADE), dict(GB10))
    assert ids(made.findings, Role.ROOT_CAUSE) == ["unified-memory-silent-exit", "process-ended-silently"]
    assert "docker inspect" in made.summary


@pytest.mark.parametrize("log", [CASCADE, CASCADE.rpartition("\n")[2]])
def test_only_the_cascade_means_the_cause_is_above(log: str) -> None:
    assert root(boot(log)) == "cause-above-excerpt"


# --- 3. the same words, different causes ------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS, ids=[reading.name for reading in READINGS])
def test_what_decides_between_causes_of_the_same_words(reading: Reading) -> None:
    made = boot(reading.log, dict(reading.facts))
    assert root(made) == reading.cause
    assert reading.fix in typed(made)
    assert not reading.never or reading.never not in typed(made)


@pytest.mark.parametrize(
    "error",
    ["an illegal instruction was encountered", "misaligned address", "an illegal memory access was encountered"],
)
def test_one_defect_has_three_names(error: str) -> None:
    made = boot(refused(f"torch.AcceleratorError: CUDA error: {error}", before=EXPERTS_CUTLASS), dict(GB10))
    assert root(made) == "nvfp4-experts-fault-sm12x"


def test_an_rpc_time_out_under_overload_shows_the_overload() -> None:
    load = (
        "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 31.0 tokens/s, Running: 40 reqs, "
        "Waiting: 12 reqs, GPU KV cache usage: 99.8%, Prefix cache hit rate: 0.0%"
    )
    late = raised("TimeoutError: RPC call to execute_model timed out.", head=FATAL)
    made = boot(lines(banner(), UP, said(load, "APIServer pid=1"), late))
    assert root(made) == "worker-rpc-timeout"
    assert "kv-cache-nearly-full" in ids(made.findings)
    assert "kv-cache-nearly-full" not in ids(boot(lines(banner(), UP, late)).findings)


@pytest.mark.parametrize(
    ("content", "reason", "finding"),
    [("null", "length", "thinking-used-up-max-tokens"), ('""', "stop", "content-empty-though-finished")],
)
def test_empty_content_by_the_reason_it_finished(content: str, reason: str, finding: str) -> None:
    assert finding in ids(boot(lines(banner(), UP, ANSWER.format(content, reason))).findings)


# --- 4. cures that help here and hurt there ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "log",
    [left(0.85, 69.5, -2.0), left(0.5, 69.5, -9.0), unfree(101.5, 121.69, 0.9, 109.5), refused(SAMPLER, before=SIZED)],
)
def test_on_unified_memory_nothing_advises_a_larger_share(log: str) -> None:
    made = boot(log, dict(GB10))
    shares = [c.split()[1] for c in commands(made) if c.startswith("--gpu-memory-utilization ")]
    assert all(float(share) <= 0.85 for share in shares)


def test_marlin_is_advised_on_the_build_that_faults_and_not_on_one_that_works() -> None:
    fault = boot(refused("torch.AcceleratorError: CUDA error: misaligned address", before=EXPERTS_CUTLASS), dict(GB10))
    assert "--moe-backend marlin" in typed(fault)
    works = boot(lines(banner("0.24.0"), EXPERTS_CUTLASS, UP), dict(GB10))
    assert works.verdict is Verdict.READY
    assert alarms(works) == []


def test_experts_and_dense_layers_have_switches_of_their_own() -> None:
    dense = boot(refused(NO_KERNEL, before=DENSE_CUTLASS), dict(GB10))
    assert "VLLM_NVFP4_GEMM_BACKEND=marlin" in typed(dense)
    assert "--moe-backend" not in typed(dense)
    both = boot(lines(banner(), EXPERTS_CUTLASS, said("Using NvFp4LinearBackend.MARLIN for NVFP4 GEMM"), UP))
    assert both.facts["nvfp4.moe_backend"].value == "FLASHINFER_CUTLASS"
    assert both.facts["nvfp4.linear_backend"].value == "MARLIN"


def test_flashinfer_cutlass_is_the_only_kernel_for_experts_without_a_gate_in_0_15_1() -> None:
    made = boot(refused(NO_MOE, version="0.15.1"), {"gpu.name": "NVIDIA B200"})
    assert "--moe-backend marlin" not in typed(made)


@pytest.mark.parametrize("version", ["0.17.1", "0.20.0"])
def test_eager_mode_is_no_cure_for_a_missing_kernel(version: str) -> None:
    before = (
        DENSE_CUTLASS
        if version == "0.17.1"
        else DENSE_CUTLASS.replace("NvFp4LinearBackend.FLASHINFER_CUTLASS", "FlashInferCutlassNvFp4LinearKernel")
    )
    made = boot(refused(NO_KERNEL, before=before, version=version), dict(GB10))
    assert root(made) == "nvfp4-dense-no-kernel-image"
    assert "--enforce-eager" not in commands(made)


def test_a_version_is_read_from_the_banner_and_not_from_a_tag() -> None:
    made = boot(lines("docker run vllm/vllm-openai:v0.9.0", banner("0.17.1"), UP))
    assert made.facts["vllm.version"].value == "0.17.1"


DEEP_GEMM = "RuntimeError: Assertion error (/workspace/DeepGEMM/csrc/apis/../utils/layout.hpp:58): Unknown recipe"


def test_deepgemm_is_switched_off_on_sm12x_and_not_on_hopper() -> None:
    log = refused(DEEP_GEMM, "deep_gemm_warmup", version="0.24.0")
    assert "VLLM_USE_DEEP_GEMM=0" in typed(boot(log, dict(RTX5090)))
    assert "VLLM_USE_DEEP_GEMM=0" not in " ".join(commands(boot(log, dict(H100))))


def test_the_switch_that_costs_speed_is_not_the_only_way_out_of_a_first_collective() -> None:
    made = boot(lines(*started(2)[:3], said("vLLM is using nccl==2.28.9", "Worker_TP0 pid=71")))
    offered = " ".join(commands(made))
    assert "NCCL_P2P_DISABLE=1" in offered
    assert "NCCL_P2P_LEVEL=PHB" in offered


def test_a_thor_fault_does_not_speak_on_gb10() -> None:
    log = lines(banner("0.20.0"), UP, raised(ILLEGAL_ACCESS, "execute_model", "replay", head=FATAL))
    assert root(boot(log, {"gpu.name": "NVIDIA Thor"})) == "thor-graph-replay-fault"
    assert "thor-graph-replay-fault" not in ids(boot(log, dict(GB10)).findings)


def test_what_only_hangs_on_an_unknown_fact_is_possible_at_best() -> None:
    made = boot(refused(DEEP_GEMM, "deep_gemm_warmup", version="0.24.0"))
    finding = next(finding for finding in made.findings if finding.id == "deepgemm-warmup-ignores-disable")
    assert finding.confidence.value == "possible"
    assert finding.conditional


# --- 5. what changed by version ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "Using marlin for NVFP4 GEMM",
        "Using NvFp4LinearBackend.MARLIN for NVFP4 GEMM",
        "Using MarlinNvFp4LinearKernel for NVFP4 GEMM",
    ],
)
def test_three_wordings_of_the_dense_line(line: str) -> None:
    assert "nvfp4-dense-on-marlin" in ids(boot(lines(banner(), said(line), UP)).findings)


@pytest.mark.parametrize(
    "line",
    [
        "Falling back to Marlin FP4 MoE kernel.",
        "Using vLLM MARLIN backend for NvFp4 MoE",
        "Using 'MARLIN' NvFp4 MoE backend out of potential backends: ['MARLIN'].",
    ],
)
def test_three_wordings_of_the_experts_line(line: str) -> None:
    assert "nvfp4-experts-on-marlin" in ids(boot(lines(banner(), said(line), UP)).findings)


@pytest.mark.parametrize(
    ("error", "length"),
    [
        (
            "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be "
            "stored in "
            "KV cache (15120). Try increasing `gpu_memory_utilization`",
            "14848",
        ),
        (
            "ValueError: To serve at least one request with the models's max seq len (40960), (5.62 GiB KV cache is "
            "needed, "
            "which is larger than the available KV cache memory (3.99 GiB). Try increasing `gpu_memory_utilization`",
            "27392",
        ),
        (
            "ValueError: To serve at least one request with the model's max seq len (131072), (24.0 GiB KV cache is "
            "needed, "
            "which is larger than the available KV cache memory (13.81 GiB). Based on the available memory, the "
            "estimated "
            "maximum model length is 75440. Try increasing `gpu_memory_utilization`",
            "74496",
        ),
    ],
)
def test_three_wordings_of_the_kv_check_and_the_number_to_type(error: str, length: str) -> None:
    made = boot(refused(error, version="0.9.2"))
    assert root(made).startswith("kv-cache-one-request")
    assert f"--max-model-len {length}" in typed(made)


@pytest.mark.parametrize(
    ("version", "error", "cause"),
    [
        ("0.15.0", "AssertionError", "mamba-blocks-assertion"),
        (
            "0.20.0",
            "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (412). Each decode sequence "
            "requires one "
            "Mamba cache block, so CUDA graph capture cannot proceed.",
            "mamba-blocks-below-sequences",
        ),
    ],
)
def test_two_wordings_of_the_mamba_blocks(version: str, error: str, cause: str) -> None:
    log = refused(error, "causal_conv1d_update", version=version)
    made = boot(log.replace("causal_conv1d_update()", "assert num_cache_lines >= batch"))
    assert root(made) == cause
    assert "--max-num-seqs" in typed(made)


@pytest.mark.parametrize("name", ["torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError"])
def test_two_names_of_pytorchs_error(name: str) -> None:
    log = refused(oom().replace("torch.OutOfMemoryError", name), "load_model", "create_weights", before=LOADING)
    assert root(boot(log)) == "gpu-oom-weights"


@pytest.mark.parametrize("name", ["RuntimeError", "torch.AcceleratorError"])
def test_two_names_of_a_cuda_error(name: str) -> None:
    assert (
        root(boot(refused(f"{name}: CUDA error: an illegal memory access was encountered")))
        == "cuda-illegal-memory-access"
    )


@pytest.mark.parametrize("device", ["device (", "device cuda:0 ("])
def test_two_wordings_of_the_free_memory_check(device: str) -> None:
    assert (
        root(boot(unfree(38.77, 139.8, 0.92, 128.62).replace("device cuda:0 (", device))) == "free-memory-below-desired"
    )


@pytest.mark.parametrize(
    "line",
    [
        "WARNING 05-12 10:01:50 [scheduler.py:1767] Sequence group cmpl-1 is preempted by PreemptionMode.RECOMPUTE "
        "mode "
        "because there is not enough KV cache space. total_num_cumulative_preemption=1",
        said(
            "Engine 000: Avg prompt throughput: 120.4 tokens/s, Avg generation throughput: 310.1 tokens/s, Running: "
            "41 reqs, "
            "Waiting: 17 reqs, Preemptions: 12, GPU KV cache usage: 91.2%, Prefix cache hit rate: 12.0%",
            "APIServer pid=1",
        ),
    ],
)
def test_preemption_is_a_warning_or_a_count(line: str) -> None:
    assert "requests-preempted" in ids(boot(lines(banner(), UP, line)).findings)


def test_a_namespace_that_names_every_argument_hits_no_search() -> None:
    made = boot(
        "INFO 05-12 10:00:00 [api_server.py:1034] vLLM API server version 0.8.5\n"
        "INFO 05-12 10:00:00 [api_server.py:1035] args: Namespace(subparser='serve', model_tag='acme/m', "
        "disable_custom_all_reduce=False, rope_scaling=None, kv_cache_dtype='auto', enable_expert_parallel=False, "
        "model='acme/m', quantization=None)\nINFO:     Application startup complete."
    )
    assert alarms(made) == []


MODEL_OPTION = (
    "With `vllm serve`, you should provide the model as a positional argument or in a config file instead of via the "
    "`--model` option."
)


def test_the_level_decides_between_refusal_and_remark() -> None:
    assert root(boot(uncaught(f"ValueError: {MODEL_OPTION}"))) == "model-option-fatal"
    remark = boot(lines(banner(), warned(f"{MODEL_OPTION} The `--model` option will be removed in v0.13."), UP))
    assert alarms(remark) == []


@pytest.mark.parametrize("version", ["0.1.dev1+g0f3ce4c74", "0.21.0+nv26.01.dev"])
def test_a_fork_is_not_ordered_below_the_first_release(version: str) -> None:
    made = boot(lines(banner(version), said("Using MarlinNvFp4LinearKernel for NVFP4 GEMM"), UP), dict(GB10))
    assert made.facts["vllm.version"].value == version
    assert "nvfp4-dense-on-marlin" in ids(made.findings)


# --- 6. interleaving and damage in transport --------------------------------------------------------------------------

WHOLE = refused(
    "ValueError: Free memory on device cuda:0 (38.77/139.8 GiB) on startup is less than desired GPU memory "
    "utilization (0.92, 128.62 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)


def prefixed(prefix: str, log: str = WHOLE) -> str:
    return "\n".join(prefix + line for line in log.split("\n"))


def at_width(log: str, columns: int) -> Iterator[str]:
    for line in log.split("\n"):
        yield from (line[place : place + columns] for place in range(0, max(len(line), 1), columns))


DAMAGED = {
    "compose over an API server's prefix": prefixed("vllm-1  | (APIServer pid=1) "),
    "journald": prefixed("Feb 22 06:35:27 host env[2827]: "),
    "an outer INFO of a collector": prefixed("2026-02-22T06:35:27Z INFO "),
    "colour": WHOLE.replace("ERROR", "\x1b[31mERROR\x1b[0m").replace("(EngineCore", "\x1b[1;36m(EngineCore"),
    "bars as blobs": prefixed(
        "Feb 22 06:35:27 host env[2827]: ", WHOLE.replace(CASCADE, f"[103B blob data]\n{CASCADE}")
    ),
    "a terminal that wraps in mid-word": "\n".join(at_width(WHOLE, 97)),
}


@pytest.mark.parametrize("log", DAMAGED.values(), ids=DAMAGED)
def test_transport_does_not_change_the_answer(log: str) -> None:
    assert root(boot(log)) == "free-memory-below-desired"


def test_two_prefixes_glued_on_one_line() -> None:
    lines_of_rank = failing(1, UNKNOWN)
    glued = [lines_of_rank[0].replace("(Worker_TP1", "(Worker_TP0 pid=100) (Worker_TP1"), *lines_of_rank[1:]]
    made = boot(lines(*started(2), *glued, *ENGINE_NOTICES))
    assert made.findings[0].title == UNKNOWN


def test_ray_deduplicates_and_lines_are_not_counted() -> None:
    repeated = f"(RayWorkerWrapper pid=91, ip=10.0.0.2) {UNKNOWN} [repeated 15x across cluster]"
    made = boot(lines(banner(), repeated, CASCADE))
    assert made.findings[0].title.startswith(UNKNOWN)
    assert made.findings[0].count == 1


def test_a_restart_loop_is_told_boot_by_boot() -> None:
    exited = "vllm-1 exited with code 1 (restarting)"
    made = diagnose(lines(WHOLE, exited, WHOLE, exited, refused(UNKNOWN)))
    assert [root(each) for each in made.boots] == [*["free-memory-below-desired"] * 2, "unknown-failure"]
    assert made.leading == 2


def test_a_year_that_changes_is_no_negative_time() -> None:
    made = boot(
        lines(banner().replace("11-30 10:00:00", "12-31 23:59:50"), LOADING.replace("11-30 10:00:00", "01-01 00:00:10"))
    )
    assert made.seconds == 20.0


def test_without_the_error_stream_the_report_says_so() -> None:
    log = lines(banner(), LOADED, said("Available KV cache memory: 9.0 GiB"))
    made = boot(log)
    assert "stderr-missing" in ids(made.findings)
    assert "2>&1" in " ".join(commands(made))


# --- 7. silence (one row each in test_silence) ------------------------------------------------------------------------


def idle(running: int, waiting: int) -> list[str]:
    text = (
        "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: "
        f"{running} reqs, "
        f"Waiting: {waiting} reqs, GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%"
    )
    return [said(text, "APIServer pid=1", time=f"11-30 10:0{minute}:00") for minute in range(5)]


@pytest.mark.parametrize(
    ("running", "waiting", "finding"), [(1, 0, "engine-wedged"), (0, 3, "requests-never-scheduled")]
)
def test_a_server_that_is_up_and_stands_still(running: int, waiting: int, finding: str) -> None:
    assert finding in ids(boot(lines(banner(), UP, *idle(running, waiting))).findings)


def test_a_log_that_ends_in_the_trial_run_of_unified_memory_asks_for_the_kernels_log() -> None:
    made = boot(lines(banner(), LOADED, said("torch.compile takes 34.10 s in total")), dict(GB10))
    assert "unified-memory-silent-end" in ids(made.findings)
    assert "NV_ERR_NO_MEMORY" in " ".join(commands(made))


def test_started_and_all_200_but_wrong_output_is_only_a_warning_to_check() -> None:
    answered = 'INFO:     10.0.0.5:51234 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    experts = said("Using 'MARLIN' NvFp4 MoE backend out of potential backends: ['MARLIN'].")
    made = boot(lines(banner("0.17.1"), experts, UP, answered), dict(GB10))
    assert made.verdict is Verdict.READY
    assert "marlin-moe-race-sm12x" in ids(made.findings)
    assert alarms(made) == []
