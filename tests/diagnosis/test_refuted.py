"""What only the launch suggests gives way to what the log of the same run shows."""

from __future__ import annotations

import pytest

from logdoctor.diagnosis import diagnose_records
from logdoctor.diagnosis.conditions import Truth, holds
from logdoctor.diagnosis.refuted import unrefuted
from logdoctor.launch import facts, read_launch
from logdoctor.model import BootDiagnosis, Fact, FactValue, Phase
from logdoctor.reading import read_text
from tests.diagnosis.build import banner, lines, raised, said, shipped

COMPOSE = """\
services:
  vllm:
    image: vllm/vllm-openai:v0.22.0
    command: --model Qwen/Qwen3-8B --tensor-parallel-size 2 --gpu-memory-utilization 90
"""
NO_GPU = "launch-container-without-gpu"
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB "
    "of which 1.00 GiB is free."
)


def of(log: str, launch: str) -> BootDiagnosis:
    made = diagnose_records(read_text(log), shipped(), given=facts(read_launch(launch))).boot
    assert made is not None
    return made


def told(log: str, launch: str = COMPOSE) -> set[str]:
    return {finding.id for finding in of(log, launch).findings}


@pytest.mark.parametrize(
    "log",
    [
        lines(banner(), said("Automatically detected platform cuda."), raised(OOM)),
        lines(banner(), said("Model loading took 15.27 GiB and 12.3 seconds"), raised("RuntimeError: strange")),
        lines(banner(), said("vLLM is using nccl==2.27.3"), raised("RuntimeError: strange")),
        raised(OOM),
    ],
)
def test_a_gpu_in_use_was_given_to_the_container(log: str) -> None:
    assert NO_GPU not in told(log)


def test_a_log_without_any_gpu_keeps_the_finding() -> None:
    log = lines(banner(), raised("RuntimeError: Failed to infer device type, please set VLLM_LOGGING_LEVEL=DEBUG"))
    assert NO_GPU in told(log)


def test_what_would_have_been_refused_before_the_weights_was_not() -> None:
    early = lines(banner(), raised("RuntimeError: strange"))
    late = lines(banner(), said("Model loading took 15.27 GiB and 12.3 seconds"), raised("RuntimeError: strange"))
    refused = "launch-utilization-not-a-fraction"
    assert refused in told(early)
    assert refused not in told(late)


def test_every_entry_that_foretells_a_failure_says_until_when() -> None:
    # The budget of the weights is only asked of a launch alone; the share of unified memory shows at any time.
    free = {"launch-weights-do-not-fit", "launch-utilization-high-on-unified-memory"}
    entries = [row.signature() for row in shipped().rows if row.asks == "facts"]
    foretelling = [one for one in entries if one.id.startswith("launch-") and "boot.ready" in one.when_known]
    assert len(foretelling) > 10
    assert {one.id for one in foretelling if "boot.before" not in one.when_known} == free


def fact(key: str, value: FactValue, origin: str = "launch") -> tuple[str, Fact]:
    return key, Fact(key, value, origin=origin)


def test_an_argument_that_the_log_does_not_print_was_not_given() -> None:
    launch = dict(
        (
            fact("args.moe_backend", "flashinfer_trtllm"),
            fact("args.dtype", "auto"),
            fact("args.enable_prefix_caching", True),
            fact("args.max_model_len", 8192),
            fact("args.host", "127.0.0.1"),
            fact("image.name", "vllm/vllm-openai:v0.22.0"),
        )
    )
    log = dict((fact("args", True, "log"), fact("args.host", "0.0.0.0", "log")))
    assert set(unrefuted(launch, log)) == set(launch) - {"args.moe_backend"}
    assert unrefuted(launch, {}) == launch


def test_the_logs_version_and_model_win_over_the_image_and_the_command() -> None:
    log = lines(banner(version="0.24.0", model="acme/other"), raised("RuntimeError: strange"))
    made = of(log, COMPOSE).facts
    assert made["vllm.version"].value == "0.24.0"
    assert made["model.name"].value == "acme/other"


@pytest.mark.parametrize(
    ("phase", "wanted", "truth"),
    [
        (None, "launch", True),
        ("", "weights", True),
        ("config", "weights", True),
        ("weights", "weights", False),
        ("serving", "weights", False),
        ("no phase", "weights", False),
    ],
)
def test_whether_a_boot_came_to_a_phase(phase: str | None, wanted: str, truth: bool) -> None:
    known = {} if phase is None else {"boot.phase": Fact("boot.phase", phase)}
    assert holds("boot.before", wanted, known) is (Truth.TRUE if truth else Truth.FALSE)
    assert wanted in [one.value for one in Phase]
