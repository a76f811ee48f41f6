"""What nvidia-smi prints, in each of its forms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.database.fact_keys import is_fact_key
from logdoctor.launch import LaunchError, read_nvidia_smi

TABLE = """\
Fri Nov 28 09:12:44 2025
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:01:00.0 Off |                    0 |
| N/A   31C    P0             72W /  700W |    1024MiB /  81559MiB |      0%      Default |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:02:00.0 Off |                    0 |
| N/A   31C    P0             72W /  700W |       0MiB /  81559MiB |      0%      Default |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
"""
GB10 = """\
| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |
|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |
| N/A   38C    P8              4W /  N/A  | Not Supported          |      0%      Default |
"""
QUERY = """\
==============NVSMI LOG==============

Driver Version                            : 580.95.05
CUDA Version                              : 13.0

Attached GPUs                             : 1
GPU 00000000:01:00.0
    Product Name                          : NVIDIA RTX PRO 6000 Blackwell
    FB Memory Usage
        Total                             : 97887 MiB
        Reserved                          : 500 MiB
        Used                              : 2048 MiB
    BAR1 Memory Usage
        Total                             : 256 MiB
"""
CSV = """\
index, name, memory.total [MiB], memory.used [MiB], driver_version, compute_cap
0, NVIDIA A100-SXM4-80GB, 81920 MiB, 3 MiB, 550.54.15, 8.0
1, NVIDIA A100-SXM4-80GB, 40960 MiB, 4 MiB, 550.54.15, 8.0
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            TABLE,
            {
                "gpu.name": "NVIDIA H100 80GB HBM3",
                "gpu.count": 2,
                "gpu.memory_gib": 79.65,
                "gpu.used_gib": 1.0,
                "gpu.driver": "580.95.05",
                "cuda.driver_version": "13.0",
            },
        ),
        (GB10, {"gpu.name": "NVIDIA GB10", "gpu.count": 1, "gpu.driver": "580.95.05", "cuda.driver_version": "13.0"}),
        (
            QUERY,
            {
                "gpu.name": "NVIDIA RTX PRO 6000 Blackwell",
                "gpu.count": 1,
                "gpu.memory_gib": 95.59,
                "gpu.used_gib": 2.0,
                "gpu.driver": "580.95.05",
                "cuda.driver_version": "13.0",
            },
        ),
        (
            CSV,
            {
                "gpu.name": "NVIDIA A100-SXM4-80GB",
                "gpu.count": 2,
                "gpu.memory_gib": 40.0,
                "gpu.used_gib": 0.0,
                "gpu.driver": "550.54.15",
                "gpu.compute_capability": "8.0",
            },
        ),
        (
            "GPU 0: NVIDIA L4 (UUID: GPU-abc)\nGPU 1: NVIDIA L4 (UUID: GPU-def)\n",
            {"gpu.name": "NVIDIA L4", "gpu.count": 2},
        ),
    ],
)
def test_forms(text: str, expected: dict[str, object]) -> None:
    found = read_nvidia_smi(text)
    assert {key: fact.value for key, fact in found.items()} == expected
    assert all(fact.origin == "given" and is_fact_key(key) for key, fact in found.items())


@pytest.mark.parametrize("text", ["", "command not found", "NVIDIA-SMI has failed", "name\n", "a" * (3 * 2**20)])
def test_what_is_something_else_is_refused(text: str) -> None:
    with pytest.raises(LaunchError):
        read_nvidia_smi(text)


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(0, 2000))
def test_damaged_output_is_read_or_refused(text: str, at: int) -> None:
    for whole in (TABLE, QUERY, CSV):
        try:
            read_nvidia_smi(whole[:at] + text + whole[at:])
        except LaunchError as error:
            assert "\n" not in str(error)
