"""GPU, driver, libraries, where a log states them."""

from __future__ import annotations

import pytest

from logdoctor.facts import infer_facts
from logdoctor.model import Fact, Process
from tests.facts.build import bare, facts_of, record, said


@pytest.mark.parametrize(
    ("message", "name", "capability"),
    [
        ("Found GPU0 NVIDIA GB10 which is of cuda capability 12.1.", "NVIDIA GB10", "12.1"),
        (
            "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch",
            "NVIDIA GeForce RTX 5090",
            "12.0",
        ),
        (
            "Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute "
            "capability 7.5.",
            "Tesla T4",
            "7.5",
        ),
        ("Minimum capability: 89. Current capability: 121.", None, None),
        (
            "The quantization method modelopt is not supported for the current GPU. Minimum capability: 89. "
            "Current capability: 86.",
            None,
            "8.6",
        ),
        ("AttentionSelectorConfig for DeviceCapability(major=12, minor=1)", None, "12.1"),
        ("Config file not found at /x/E=256,N=512,device_name=NVIDIA_GB10.json", "NVIDIA GB10", None),
        ("Using SSM config from /x/dstate=128,device_name=NVIDIA_H200,cache_dtype=float32.json", "NVIDIA H200", None),
        (
            "at /x/E=8,N=1,device_name=NVIDIA_RTX_PRO_6000_Blackwell_Server_Edition,dtype=fp8.json",
            "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            None,
        ),
        ("since kernel does not support current device NVIDIA GB10.", "NVIDIA GB10", None),
        ("since kernel does not support current device cuda.", None, None),
        ("Using FlashInfer autotune cache file: /c/flashinfer_autotune_cache/0.6.14/121a/ab/x.json", None, "12.1"),
        ("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", None, "12.1"),
        ("GPU 0: NVIDIA GB10 (UUID: GPU-1234)", "NVIDIA GB10", None),
        ("GPU models and configuration : GPU 0: NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3", None),
        ("|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |", "NVIDIA GB10", None),
    ],
)
def test_what_names_the_gpu(message: str, name: str | None, capability: str | None) -> None:
    facts = said(message)
    assert (facts.get("gpu.name"), facts.get("gpu.compute_capability")) == (name, capability)


def test_an_environment_report() -> None:
    facts = facts_of(
        bare("PyTorch version              : 2.9.0+cu130", line=1),
        bare("CUDA used to build PyTorch   : 13.0", line=2),
        bare("Nvidia driver version        : 580.95.05", line=3),
        bare("[pip3] flashinfer-python==0.6.1", line=4),
        bare("| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05      CUDA Version: 13.0     |", line=5),
    )
    assert facts["torch.version"].value == "2.9.0+cu130"
    assert (facts["cuda.version"].value, facts["cuda.version"].line) == ("13.0", 2)
    assert facts["gpu.driver"].value == "580.95.05"
    assert facts["flashinfer.version"].value == "0.6.1"
    assert facts["cuda.driver_version"].value == "13.0"


def test_other_versions_and_counts() -> None:
    assert said("vLLM is using nccl==2.27.3")["nccl.version"] == "2.27.3"
    assert said("World size (2) is larger than the number of available GPUs (1) in this node.")["gpu.count"] == 1
    assert said("Automatically detected platform cuda.")["platform"] == "cuda"


def test_the_platforms_own_line_beats_the_device_type() -> None:
    engine = "Initializing a V1 LLM engine (v0.17.1) with config: model='m', device_config=cuda, seed=0"
    assert facts_of(record(engine), record("Automatically detected platform rocm."))["platform"].value == "rocm"


class TestInference:
    """With the GPU table of the package."""

    def infer(self, **stated: object) -> dict[str, Fact]:
        facts = {key.replace("__", "."): value for key, value in stated.items()}
        return infer_facts({key: Fact(key, value, 7) for key, value in facts.items()})  # type: ignore[arg-type]

    def test_unified_memory_of_gb10(self) -> None:
        facts = self.infer(memory__total_gib=121.69)
        assert facts["gpu.name"].value == "NVIDIA GB10"
        assert (facts["gpu.name"].origin, facts["gpu.name"].line) == ("inferred", 7)
        assert facts["gpu.compute_capability"].value == "12.1"
        assert facts["gpu.memory_gib"].value == 121.69

    def test_a_stated_name_is_never_replaced(self) -> None:
        facts = self.infer(memory__total_gib=121.69, gpu__name="NVIDIA H200")
        assert (facts["gpu.name"].value, facts["gpu.name"].origin) == ("NVIDIA H200", "log")
        assert facts["gpu.compute_capability"].value == "9.0"

    def test_memory_that_contradicts_the_capability_names_nothing(self) -> None:
        assert "gpu.name" not in self.infer(memory__total_gib=121.69, gpu__compute_capability="9.0")

    def test_a_cpu_has_no_gpu(self) -> None:
        assert "gpu.name" not in self.infer(memory__total_gib=121.69, platform="cpu")

    def test_inference_again_follows_facts_given_by_hand(self) -> None:
        known = self.infer(memory__total_gib=121.69)
        known["gpu.name"] = Fact("gpu.name", "NVIDIA H100", 0, origin="given")
        assert infer_facts(known)["gpu.compute_capability"].value == "9.0"

    def test_architectures_tell_the_kind_of_model(self) -> None:
        facts = self.infer(model__architecture="NemotronHForCausalLM")
        assert facts["model.hybrid"].value is True
        assert "model.moe" not in facts
        assert self.infer(model__architecture="Qwen3MoeForCausalLM")["model.moe"].value is True
        assert "model.hybrid" not in self.infer(model__architecture="LlamaForCausalLM")


@pytest.mark.parametrize(
    ("ranks", "count"), [(("TP2", "TP3"), 2), (("TP3", "TP1"), 1), (("TP0",), None), (("PP0_TP2",), None)]
)
def test_the_ranks_below_the_first_one_without_a_gpu_have_one(ranks: tuple[str, ...], count: int | None) -> None:
    said_by = [
        record("torch.AcceleratorError: CUDA error: invalid device ordinal", line=line, level="ERROR", process=worker)
        for line, worker in enumerate((Process("worker", f"Worker_{rank}", "3", rank) for rank in ranks), 1)
    ]
    found = facts_of(*said_by).get("gpu.count")
    assert (found.value if found else None) == count


def test_a_missing_weight_file_is_missing_on_the_node_that_says_so() -> None:
    error = "FileNotFoundError: [Errno 2] No such file or directory: '/models/m/model-00005-of-000163.safetensors'"
    ray = Process("ray", "RayWorkerWrapper", "901", host="10.0.0.6")
    assert facts_of(record(error, level="ERROR", process=ray))["weights.missing_on"].value == "10.0.0.6"
    assert "weights.missing_on" not in facts_of(record(error.replace(".safetensors", ".json"), process=ray))
