"""Diagnoses made by hand: every shape that a report has to lay out, independent of how they come about."""

from __future__ import annotations

import zlib
from dataclasses import replace

from logdoctor.model import (
    Basis,
    BootDiagnosis,
    Budget,
    BudgetPart,
    Confidence,
    Diagnosis,
    Evidence,
    Fact,
    FactValue,
    Finding,
    Launch,
    PhaseSpan,
    Remedy,
    Role,
    Severity,
    Verdict,
)


def facts(process: str = "EngineCore", /, **values: tuple[FactValue, int]) -> dict[str, Fact]:
    """Make facts from `vllm__version=("0.17.1", 3)`: two underscores stand for the dot."""
    made = {key.replace("__", ".", 1): value for key, value in values.items()}
    return {key: Fact(key, value, line, process) for key, (value, line) in made.items()}


def finding(
    id: str, title: str, *, severity: Severity = Severity.FATAL, role: Role = Role.ROOT_CAUSE, **rest: object
) -> Finding:
    """Make a finding with the usual values where none are given."""
    usual = Finding(
        id=id,
        title=title,
        severity=severity,
        role=role,
        confidence=Confidence.CERTAIN,
        basis=Basis.SOURCE,
        cause="",
        fingerprint=f"{zlib.crc32(id.encode()):08x}",
    )
    return replace(usual, **rest)  # type: ignore[arg-type]


def diagnosis(*boots: BootDiagnosis, **rest: object) -> Diagnosis:
    """Make a diagnosis that the last boot leads."""
    last = boots[-1]
    usual = Diagnosis(
        verdict=last.verdict,
        summary=last.summary,
        boots=boots,
        leading=len(boots) - 1,
        source="nemotron.log",
        tool_version="0.1.0",
        database_version="1.0",
    )
    return replace(usual, **rest)  # type: ignore[arg-type]


GB10 = {
    **facts(
        "APIServer",
        vllm__version=("0.17.1", 4),
        model__name=("/models/nemotron-3-super-nvfp4", 6),
        model__served_name=("nemotron-nvfp4", 7),
        args__max_model_len=(32768, 7),
        args__gpu_memory_utilization=(0.85, 7),
        args__enforce_eager=(True, 7),
        env__unknown=(("VLLM_NVFP4_MOE_BACKEND",), 12),
    ),
    **facts(
        model__architecture=("NemotronHForCausalLM", 21),
        model__quantization=("modelopt_fp4", 30),
        nvfp4__linear_backend=("MARLIN", 410),
        nvfp4__moe_backend=("FLASHINFER_CUTLASS", 431),
        attention__backend=("FLASHINFER", 433),
        memory__total_gib=(121.7, 440),
    ),
    "gpu.name": Fact("gpu.name", "GB10", 440, "EngineCore", "inferred"),
    "gpu.compute_capability": Fact("gpu.compute_capability", "12.1", 440, "EngineCore", "inferred"),
    "prompt.tokens": Fact("prompt.tokens", 24000, 0, "", "given"),
}

CUTLASS = finding(
    "nvfp4-moe-cutlass-sm121",
    "The NVFP4 experts run on CUTLASS kernels that this GPU cannot execute",
    confidence=Confidence.LIKELY,
    cause="The experts were given to FLASHINFER_CUTLASS; on this GPU its kernels stop with an illegal instruction. "
    "The GPU is fine: the kernel was built for another Blackwell.",
    phase="profiling",
    evidence=(
        Evidence(
            431,
            "EngineCore",
            "Using 'FLASHINFER_CUTLASS' NvFp4 MoE backend out of potential backends: ['FLASHINFER_TRTLLM', "
            "'FLASHINFER_CUTLASS', 'VLLM_CUTLASS', 'MARLIN'].",
        ),
        Evidence(
            562,
            "EngineCore",
            "torch.AcceleratorError: CUDA error: an illegal instruction was encountered",
            before=("    return self._op(*args, **kwargs)",),
            after=("CUDA kernel errors might be asynchronously reported at some other API call",),
        ),
    ),
    count=4,
    remedies=(
        Remedy("Give the experts to Marlin", "flag", "--moe-backend marlin", "", "nvfp4-moe-cutlass-sm121"),
        Remedy(
            "Keep FlashInfer away from the experts; the dense layers stay where they are",
            "env",
            "VLLM_USE_FLASHINFER_MOE_FP4=0",
            "vLLM is older than 0.24",
            "nvfp4-moe-cutlass-sm121",
        ),
    ),
    verify="the next start prints: Using 'MARLIN' NvFp4 MoE backend",
    references=("vllm/model_executor/layers/fused_moe/oracle/nvfp4.py", "vllm-project/vllm#31683"),
)

UNKNOWN_VARIABLE = finding(
    "unknown-variable",
    "VLLM_NVFP4_MOE_BACKEND is read by no version of vLLM and has no effect",
    severity=Severity.WARNING,
    role=Role.CONTRIBUTING,
    cause="The variable was set so that Marlin runs the experts; this version does not know it.",
    phase="config",
    evidence=(Evidence(12, "APIServer", "Unknown vLLM environment variable detected: VLLM_NVFP4_MOE_BACKEND"),),
    remedies=(
        Remedy("No version of vLLM reads it", "remove", "VLLM_NVFP4_MOE_BACKEND=marlin", "", "unknown-variable"),
    ),
)

ULIMIT = finding(
    "ulimit-not-raised",
    "The limit of open files could not be raised; harmless at this size",
    severity=Severity.INFO,
    role=Role.NOTICE,
    cause="vLLM asks for more file handles than the container may have and goes on with what it has.",
    phase="command-line",
    evidence=(Evidence(9, "APIServer", "Found ulimit of 20000 and failed to automatically increase"),),
)

ENGINE_INIT = finding(
    "engine-core-init-failed",
    "Engine core initialization failed",
    severity=Severity.ERROR,
    role=Role.CONSEQUENCE,
    cause="The API server reports that the engine died.",
    phase="server-start",
    evidence=(Evidence(655, "APIServer", "RuntimeError: Engine core initialization failed. See root cause above."),),
    explained_by=("nvfp4-moe-cutlass-sm121",),
)

ENGINE_DEAD = replace(
    ENGINE_INIT,
    id="engine-dead",
    title="EngineDeadError",
    evidence=(Evidence(661, "APIServer", "vllm.v1.engine.exceptions.EngineDeadError"),),
    fingerprint="0badf00d",
)

TIMELINE = (
    PhaseSpan("command-line", 1, 20, "11-30 09:55:09", 2.0),
    PhaseSpan("config", 21, 40, "11-30 09:55:11", 3.4),
    PhaseSpan("weights", 41, 408, "11-30 09:55:14", 112.0),
    PhaseSpan("kernel-selection", 409, 439, "11-30 09:57:06", 0.4),
    PhaseSpan("compile", 440, 520, "11-30 09:57:07", 31.2),
    PhaseSpan("profiling", 521, 661, "11-30 09:57:38", 12.0),
)

BUDGET = Budget(
    121.7,
    0.85,
    (
        BudgetPart("weights", 69.5, 408),
        BudgetPart("activations", 4.1, 520),
        BudgetPart("KV cache", 29.8, 521),
    ),
    "The page cache counts as used memory on this device.",
)

FAILED_BOOT = BootDiagnosis(
    index=1,
    verdict=Verdict.FAILED,
    phase="profiling",
    lines=(1, 661),
    summary="Failed: the NVFP4 experts run on CUTLASS kernels that this GPU cannot execute.",
    facts=GB10,
    findings=(CUTLASS, UNKNOWN_VARIABLE, ULIMIT, ENGINE_INIT, ENGINE_DEAD),
    timeline=TIMELINE,
    budget=BUDGET,
    seconds=161.0,
)

FAILED = diagnosis(FAILED_BOOT, redactions={"hf-token": 1, "path-user": 3})

LAUNCHED = replace(
    FAILED,
    launch=Launch(
        original="docker run --gpus all -e VLLM_NVFP4_MOE_BACKEND=marlin \\\n  vllm/vllm-openai:v0.17.1 "
        "--model nvidia/nemotron-3-super-nvfp4 --max-model-len 32768 --gpu-memory-utilization 0.85\n",
        corrected="docker run --gpus all \\\n  vllm/vllm-openai:v0.17.1 "
        "--model nvidia/nemotron-3-super-nvfp4 --max-model-len 32768 --gpu-memory-utilization 0.85 "
        "--moe-backend marlin\n",
        unknown=("the image", "the published ports"),
    ),
)

RESTART_LOOP = diagnosis(
    replace(FAILED_BOOT, index=1, lines=(1, 661)),
    replace(FAILED_BOOT, index=2, lines=(662, 1322)),
    replace(FAILED_BOOT, index=3, lines=(1323, 1983)),
)

_READY_FACTS = {
    **GB10,
    **facts(
        nvfp4__moe_backend=("MARLIN", 431),
        kv_cache__tokens=(450112, 470),
        kv_cache__concurrency=(7.48, 471),
        kv_cache__max_len=(200000, 471),
        start__seconds=(172.3, 600),
    ),
}

READY = diagnosis(
    BootDiagnosis(
        index=1,
        verdict=Verdict.READY,
        phase="serving",
        lines=(1, 640),
        summary="The server is up.",
        facts=_READY_FACTS,
        findings=(ULIMIT,),
    )
)

READY_AFTER_LOOP = diagnosis(
    replace(FAILED_BOOT, index=1),
    replace(FAILED_BOOT, index=2, lines=(662, 1322)),
    replace(READY.boots[0], index=3, lines=(1323, 1962), findings=(ULIMIT,)),
)

DEGRADED = diagnosis(
    replace(
        READY.boots[0],
        verdict=Verdict.DEGRADED,
        summary="Up, but the reasoning parser belongs to another model.",
        findings=(
            finding(
                "parser-of-another-model",
                "The reasoning parser qwen3 is not the one of this model",
                severity=Severity.WARNING,
                confidence=Confidence.LIKELY,
                basis=Basis.MAINTAINERS,
                cause="The model writes its reasoning in another form; answers come back empty or unsplit.",
                remedies=(Remedy("The parser of this model", "flag", "--reasoning-parser nemotron_v3"),),
                conditional=("the chat template is the one that came with the model",),
            ),
            finding(
                "marlin-atomic-add",
                "Wrong output under concurrency was reported without VLLM_MARLIN_USE_ATOMIC_ADD=1",
                severity=Severity.WARNING,
                role=Role.NOTICE,
                confidence=Confidence.POSSIBLE,
                basis=Basis.FIELD_REPORT,
                cause="The log does not show whether the variable is set.",
                evidence=(Evidence(410, "EngineCore", "Using MarlinNvFp4LinearKernel for NVFP4 GEMM"),),
                remedies=(Remedy("Sum in another order", "env", "VLLM_MARLIN_USE_ATOMIC_ADD=1"),),
            ),
            ULIMIT,
        ),
    )
)

UNKNOWN = diagnosis(
    BootDiagnosis(
        index=1,
        verdict=Verdict.FAILED,
        phase="weights",
        lines=(1, 290),
        summary="Failed while loading weights: ZeroDivisionError in vllm/model_executor/models/new_model.py.",
        facts=facts(vllm__version=("0.27.1", 3), model__name=("acme/new-model", 5)),
        findings=(
            finding(
                "unknown-failure",
                "ZeroDivisionError: division by zero",
                severity=Severity.ERROR,
                confidence=Confidence.POSSIBLE,
                cause="Raised by load_weights in vllm/model_executor/models/new_model.py, line 214, in Worker_TP1, the "
                "first process to fail. The last healthy line is 121: Loading safetensors checkpoint shards.",
                phase="weights",
                evidence=(Evidence(158, "Worker_TP1", "ZeroDivisionError: division by zero"),),
                count=4,
                ranks=("TP0", "TP1", "TP2", "TP3"),
                remedies=(Remedy("Draft a signature for it from this log", "advice", "logdoctor signatures new LOG"),),
            ),
            replace(ENGINE_INIT, explained_by=("unknown-failure",)),
        ),
        seconds=48.0,
    )
)

UNDECIDABLE = diagnosis(
    BootDiagnosis(
        index=1,
        verdict=Verdict.FAILED,
        phase="kv-cache",
        lines=(1, 412),
        summary="This decides: docker inspect -f '{{.State.OOMKilled}}' NAME. true means the first, false the second.",
        facts=facts(vllm__version=("0.26.0", 2), platform=("cpu", 2)),
        findings=(
            finding(
                "host-memory-exhausted",
                "The kernel killed the engine because the host ran out of memory",
                confidence=Confidence.POSSIBLE,
                cause="The log stops without an exception while memory is being claimed.",
                evidence=(Evidence(401, "EngineCore", "Available KV cache memory: 52.13 GiB"),),
                conditional=("docker inspect shows OOMKilled true",),
                remedies=(Remedy("Claim less memory", "env", "VLLM_CPU_KVCACHE_SPACE=16"),),
            ),
            finding(
                "killed-from-outside",
                "The engine was stopped from outside",
                confidence=Confidence.POSSIBLE,
                basis=Basis.FIELD_REPORT,
                cause="A supervisor or a person sent a signal; vLLM itself did not fail.",
                evidence=(Evidence(412, "APIServer", "Engine core initialization failed. See root cause above."),),
                conditional=("docker inspect shows OOMKilled false",),
                remedies=(Remedy("Give the start more time before the probe kills it", "advice"),),
            ),
            replace(
                ENGINE_INIT,
                explained_by=("host-memory-exhausted",),
                evidence=(Evidence(412, "APIServer", "See root cause above."),),
            ),
        ),
        seconds=95.0,
        notes=("The cause stands above the first line of this excerpt, or the engine was killed.",),
    )
)

STARTING = diagnosis(
    BootDiagnosis(
        index=1,
        verdict=Verdict.STARTING,
        phase="weights",
        lines=(1, 96),
        summary="still starting when the log ends, in the phase weights, shard 5 of 17",
        findings=(
            finding(
                "weights-still-loading",
                "The weights are still loading; this is no hang",
                severity=Severity.INFO,
                role=Role.NOTICE,
                cause="At 28 s a shard about 5 min 36 s are left for the weights.",
                phase="weights",
                evidence=(Evidence(95, "EngineCore", "Loading safetensors checkpoint shards:  29% 5/17"),),
            ),
        ),
        facts={**GB10, **facts(weights__shards_done=(5, 95), weights__shards_total=(17, 95))},
        timeline=TIMELINE[:3],
        seconds=146.0,
    )
)

STOPPED = diagnosis(
    BootDiagnosis(
        index=1,
        verdict=Verdict.STOPPED,
        phase="shutdown",
        lines=(1, 300),
        summary="The server was up and was stopped on request; its last lines belong to the shutdown.",
        facts=_READY_FACTS,
        findings=(
            replace(ENGINE_DEAD, severity=Severity.INFO, role=Role.NOTICE, title="EngineDeadError during a stop"),
        ),
        seconds=7384.0,
    )
)

NO_BOOT = Diagnosis(
    verdict=Verdict.UNDETERMINED,
    summary="Nothing in 1,204 lines looks like a vLLM server.",
    boots=(),
    source="access.log",
    tool_version="0.1.0",
    database_version="1.0",
    notes=("The lines look like an nginx access log.",),
)

ONE_LINE = diagnosis(
    BootDiagnosis(
        index=1,
        verdict=Verdict.UNDETERMINED,
        phase="kernel-selection",
        lines=(1, 1),
        findings=(
            finding(
                "nvfp4-on-marlin",
                "NVFP4 runs on Marlin",
                severity=Severity.INFO,
                role=Role.NOTICE,
                cause="The log confirms that the FP4 weights are run by the Marlin kernels.",
                evidence=(Evidence(1, "", "[NVFP4] Using backend: marlin"),),
            ),
        ),
        notes=("The start of the log is not in this excerpt.",),
    )
)

HOSTILE_TEXT = (
    "\x1b]0;owned\x07\x1b[2J[bold red]markup[/] \u202egnp.exe \u200bzero\x9b31m\r"
    "::error file=a::x ##[error]y @someone #12 GH-7 org/repo#3 | a | <script>alert(1)</script> "
    "![i](http://evil.example/a.png) [l](javascript:x) https://evil.example/?a=1 ``` ```` ~~~ $x$ &amp; "
    ":tada: </details>"
)

HOSTILE = diagnosis(
    BootDiagnosis(
        index=1,
        verdict=Verdict.FAILED,
        phase=f"weights{HOSTILE_TEXT}",
        lines=(1, 9),
        summary=f"::error::{HOSTILE_TEXT}",
        facts={
            f"args.{HOSTILE_TEXT}": Fact(f"args.{HOSTILE_TEXT}", HOSTILE_TEXT, 3, HOSTILE_TEXT),
            "vllm.version": Fact("vllm.version", f"1.0\n::stop-commands::{HOSTILE_TEXT}", 2, ""),
            "model.name": Fact("model.name", (HOSTILE_TEXT, "b"), 2, ""),
        },
        findings=(
            finding(
                "hostile-text",
                f"::set-output name=x::{HOSTILE_TEXT}",
                cause=f"# heading\n\n::warning::{HOSTILE_TEXT}\n    code\n- list\n===\n",
                evidence=(
                    Evidence(3, HOSTILE_TEXT, f"::error::{HOSTILE_TEXT}", (HOSTILE_TEXT,), ("````\n::debug::x",)),
                ),
                ranks=(HOSTILE_TEXT, "1"),
                remedies=(
                    Remedy(HOSTILE_TEXT, "flag", f"--x '{HOSTILE_TEXT}'", HOSTILE_TEXT),
                    Remedy(f"1. {HOSTILE_TEXT}", "advice"),
                ),
                verify=f"::notice::{HOSTILE_TEXT}",
                conditional=(HOSTILE_TEXT,),
                references=(f"@someone #1 {HOSTILE_TEXT}",),
            ),
            finding(
                "hostile-also",
                HOSTILE_TEXT,
                severity=Severity.WARNING,
                role=Role.NOTICE,
                cause=HOSTILE_TEXT,
                evidence=(Evidence(5, "", HOSTILE_TEXT),),
            ),
            finding(
                "hostile-consequence",
                HOSTILE_TEXT,
                severity=Severity.ERROR,
                role=Role.CONSEQUENCE,
                cause=HOSTILE_TEXT,
                explained_by=("hostile-text",),
            ),
        ),
        timeline=(PhaseSpan(HOSTILE_TEXT, 1, 9, HOSTILE_TEXT, 1.5),),
        budget=Budget(
            float("nan"), 0.9, (BudgetPart(HOSTILE_TEXT, -1.5), BudgetPart("inf", float("inf"))), HOSTILE_TEXT
        ),
        notes=(f"::group::{HOSTILE_TEXT}",),
    ),
    launch=Launch(f"docker run {HOSTILE_TEXT}", f"::add-mask::x\ndocker run {HOSTILE_TEXT}\n```\n", (HOSTILE_TEXT,)),
    redactions={HOSTILE_TEXT: 2},
    source=HOSTILE_TEXT,
    notes=(HOSTILE_TEXT,),
)

SERVICES = diagnosis(
    replace(READY.boots[0], index=1, lines=(2, 470), service="nano-1"),
    *(replace(boot, index=boot.index + 1, service="super-1") for boot in RESTART_LOOP.boots),
)
"""A restart loop of one service beside another one that is up."""

CASES: dict[str, Diagnosis] = {
    "failed": FAILED,
    "launched": LAUNCHED,
    "restart-loop": RESTART_LOOP,
    "ready": READY,
    "ready-after-loop": READY_AFTER_LOOP,
    "degraded": DEGRADED,
    "unknown": UNKNOWN,
    "undecidable": UNDECIDABLE,
    "starting": STARTING,
    "stopped": STOPPED,
    "no-boot": NO_BOOT,
    "one-line": ONE_LINE,
    "hostile": HOSTILE,
    "services": SERVICES,
}
