"""GPU names as drivers print them and as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.knowledge.gpus import find_gpu, gpus, infer_from_memory


@pytest.mark.parametrize(
    ("name", "found", "capability", "memory"),
    [
        ("NVIDIA GB10", "NVIDIA GB10", "12.1", 128),
        ("DGX Spark", "NVIDIA GB10", "12.1", 128),
        ("dgx-spark", "NVIDIA GB10", "12.1", 128),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100", "9.0", 80),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA H100", "9.0", 80),
        ("NVIDIA H100 NVL", "NVIDIA H100 NVL", "9.0", 94),
        ("NVIDIA H200", "NVIDIA H200", "9.0", 141),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100", "8.0", 80),
        ("NVIDIA A100-PCIE-40GB", "NVIDIA A100", "8.0", 40),
        ("A100 40 GB", "NVIDIA A100", "8.0", 40),
        ("a100", "NVIDIA A100", "8.0", None),
        ("NVIDIA B200", "NVIDIA B200", "10.0", 192),
        ("NVIDIA GB200", "NVIDIA GB200", "10.0", 192),
        ("NVIDIA B300 SXM6 AC", "NVIDIA B300", "10.3", 288),
        ("NVIDIA GH200 480GB", "NVIDIA GH200", "9.0", None),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA RTX PRO 6000 Blackwell", "12.0", 96),
        ("RTX 6000 Pro", "NVIDIA RTX PRO 6000 Blackwell", "12.0", 96),
        ("NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX 6000 Ada Generation", "8.9", 48),
        ("Quadro RTX 6000", "Quadro RTX 6000", "7.5", 24),
        ("NVIDIA RTX A6000", "NVIDIA RTX A6000", "8.6", 48),
        ("NVIDIA GeForce RTX 5090", "NVIDIA GeForce RTX 5090", "12.0", 32),
        ("rtx5090", "NVIDIA GeForce RTX 5090", "12.0", 32),
        ("RTX4090", "NVIDIA GeForce RTX 4090", "8.9", 24),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "NVIDIA GeForce RTX 4070 Ti SUPER", "8.9", 16),
        ("NVIDIA L4", "NVIDIA L4", "8.9", 24),
        ("NVIDIA L40", "NVIDIA L40", "8.9", 48),
        ("L40S", "NVIDIA L40S", "8.9", 48),
        ("Tesla T4", "Tesla T4", "7.5", 16),
        ("Tesla V100-SXM2-32GB", "Tesla V100", "7.0", 32),
        ("NVIDIA Thor", "NVIDIA Thor", "11.0", 128),
        ("Jetson AGX Thor", "NVIDIA Thor", "11.0", 128),
        ("AMD Instinct MI300X", "AMD Instinct MI300X", "9.4", 192),
    ],
)
def test_names(name: str, found: str, capability: str, memory: int | None) -> None:
    gpu = find_gpu(name)
    assert gpu is not None
    assert (gpu.name, gpu.compute_capability, gpu.memory_gb) == (found, capability, memory)


@pytest.mark.parametrize("name", ["", None, "NVIDIA", "RTX 6000", "some GPU", "Graphics Device", "L400", "H1000"])
def test_names_that_are_not_known(name: str | None) -> None:
    assert find_gpu(name) is None


def test_a_laptops_memory_is_not_the_desktops() -> None:
    gpu = find_gpu("NVIDIA GeForce RTX 5090 Laptop GPU")
    assert gpu is not None and gpu.compute_capability == "12.0" and gpu.memory_gb is None


def test_build_names_and_unified_memory() -> None:
    unified = [gpu.name for gpu in gpus() if gpu.unified]
    assert unified == ["NVIDIA GB10", "NVIDIA Thor", "NVIDIA Orin"]
    spark, instinct = find_gpu("GB10"), find_gpu("MI300X")
    assert spark is not None and spark.sm == "sm_121" and spark.architecture == "Blackwell"
    assert instinct is not None and instinct.sm == "" and instinct.vendor == "AMD"


def test_every_gpu_is_found_by_its_own_name() -> None:
    for gpu in gpus():
        found = find_gpu(gpu.name)
        assert found is not None and found.name == gpu.name


@pytest.mark.parametrize("gib", [121.69, 121.7, 121.63, 119.63])
def test_memory_that_only_one_gpu_reports(gib: float) -> None:
    gpu = infer_from_memory(gib)
    assert gpu is not None and gpu.name == "NVIDIA GB10" and gpu.unified


@pytest.mark.parametrize("gib", [0.0, 79.2, 139.8, 23.6, 94.97, 128.0, 122.8, 31.4])
def test_memory_that_several_report(gib: float) -> None:
    assert infer_from_memory(gib) is None


@given(st.text(max_size=80))
def test_any_text_is_answered(text: str) -> None:
    gpu = find_gpu(text)
    assert gpu is None or gpu in {find_gpu(text)}
