"""What only the launch suggests gives way to what the log of the same run shows."""

from __future__ import annotations

import pytest

from logdoctor.diagnosis import diagnose_records
from logdoctor.diagnosis.conditions import Truth, holds
from logdoctor.diagnosis.launch_check import corrected_launch
from logdoctor.diagnosis.refuted import contradictions, unrefuted
from logdoctor.launch import facts, read_launch
from logdoctor.model import BootDiagnosis, Diagnosis, Fact, FactValue, Phase, Severity
from logdoctor.reading import read_text
from tests.diagnosis.build import banner, lines, raised, said, shipped

COMPOSE = """\
services:
  vllm:
    image: vllm/vllm-openai:latest
    command: --model acme/m --gpu-memory-utilization 90
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
            fact("args.max_num_seqs", 8),
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


def stated(**values: FactValue) -> dict[str, Fact]:
    return dict(fact(key.replace("__", "."), value, "log") for key, value in values.items())


RUN = stated(args=True, vllm__version="0.22.0", model__name="a/Qwen3-8B", args__tensor_parallel_size=2)
BARE = "docker run vllm/vllm-openai:v0.22.0 a/Qwen3-8B"
DOCKER = f"{BARE} --tensor-parallel-size 2"


@pytest.mark.parametrize(
    ("launch", "log", "words"),
    [
        (DOCKER, RUN, ""),
        (DOCKER.replace("v0.22.0", "v0.22.0-cu130"), RUN, ""),
        (DOCKER.replace("v0.22.0", "latest"), RUN, ""),
        (DOCKER.replace("v0.22.0", "v0.26.0"), RUN, "its image is of vLLM 0.26.0, the log of 0.22.0"),
        (DOCKER.replace("vllm/vllm-openai:v0.22.0", "nvcr.io/nvidia/vllm:25.09-py3"), RUN, ""),
        (DOCKER, {**RUN, **stated(vllm__version="0.22.1.dev3+gabc")}, ""),
        (DOCKER, stated(vllm__version="0.22.0"), ""),
        (DOCKER.replace("a/Qwen3-8B", "/models/Qwen3-8B"), RUN, ""),
        (DOCKER.replace("a/Qwen3-8B", "a/Llama"), RUN, "it starts a/Llama, the log is of a/Qwen3-8B"),
        (DOCKER.replace("a/Qwen3-8B", "$MODEL"), RUN, ""),
        (DOCKER.replace("size 2", "size 4"), RUN, "--tensor-parallel-size is 4 here and 2 in the log"),
        (DOCKER.replace("size 2", "size $N --seed 1"), RUN, ""),
        (BARE, RUN, "--tensor-parallel-size is 2 in the log and not given here"),
        (f"{BARE} --config c.yaml", RUN, ""),
        (DOCKER + " --max-model-len 32k", RUN, "--max-model-len is 32000 here and not given in the log"),
        (DOCKER + " --max-model-len 32k", {**RUN, **stated(args__max_model_len=32000)}, ""),
        (DOCKER + " --gpu-memory-utilization 0.90", RUN, ""),
        (DOCKER + " --max-model-len auto", {**RUN, **stated(args__max_model_len=-1)}, ""),
        (DOCKER + " --max-model-len -1", {**RUN, **stated(args__max_model_len=-1)}, ""),
        (DOCKER + " --gpu-memory-utilization .90", {**RUN, **stated(args__gpu_memory_utilization=0.9)}, ""),
        (DOCKER + " --seed 1 --port 1", RUN, ""),
        ("vllm serve a/Qwen3-8B -tp 2", RUN, ""),
    ],
)  # fmt: skip
def test_a_launch_of_another_start(launch: str, log: dict[str, Fact], words: str) -> None:
    given = facts(read_launch(launch))
    assert "; ".join(contradictions(given, log)) == words
    assert ("launch.contradicts" in unrefuted(given, log)) is bool(words)


def test_a_launch_of_another_start_is_told_and_left_as_it_is() -> None:
    log = lines(banner(version="0.24.0", model="Qwen/Qwen3-8B"), raised("RuntimeError: strange"))
    launch = COMPOSE.replace("latest", "v0.22.0").replace("acme/m", "Qwen/Qwen3-8B")
    made = of(log, launch)
    found = next(one for one in made.findings if one.id == "launch-of-another-start")
    assert found.title == "This launch did not write this log: its image is of vLLM 0.22.0, the log of 0.24.0"
    assert found.severity is Severity.WARNING
    left = corrected_launch(Diagnosis(made.verdict, "", (made,)), launch)
    assert left is not None
    assert left.corrected == left.original == launch


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
