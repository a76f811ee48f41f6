"""Fact patterns about the machine: GPU, driver, CUDA, PyTorch and their neighbours."""

from __future__ import annotations

import re

from logdoctor.facts.pattern import FactPattern, Policy, capability, integer, text, version
from logdoctor.model import FactValue


def device_name(captured: str) -> FactValue | None:
    """A GPU's name from a file name, where underscores stand for blanks (`NVIDIA_RTX_PRO_6000`)."""
    return text(captured.replace("_", " "))


def capability_pair(captured: str) -> FactValue | None:
    """A compute capability from `major=12, minor=1` or `(12, 1)`."""
    digits = [part for part in captured.replace("=", " ").replace(",", " ").split() if part.isdecimal()]
    return f"{digits[0]}.{digits[1]}" if len(digits) == 2 else None


def gpus_below(rank: str) -> FactValue | None:
    """The number of GPUs that are there when `TP2` is the first rank without one; other ranks count from elsewhere."""
    found = re.fullmatch(r"TP([1-9]\d{0,2})", rank)
    return int(found[1]) if found else None


_GPU = r"(?:NVIDIA|AMD|Intel|Tesla|Quadro|GeForce)[\w .()/-]{1,60}?"

PATTERNS: tuple[FactPattern, ...] = (
    FactPattern(
        "Automatically detected platform",
        r"Automatically detected platform (?P<name>\w+)",
        {"name": ("platform", text)},
        rank=4,
    ),
    FactPattern(
        "platform is available because",
        r"^Confirmed (?P<name>CUDA|ROCm|XPU|TPU|CPU) platform is available because",
        {"name": ("platform", lambda captured: captured.lower())},
        rank=1,
    ),
    # PyTorch's remark about a GPU newer than its wheel (false alarm or not, it names the device).
    FactPattern(
        "which is of cuda capability",
        r"Found GPU\d+ (?P<name>[\w .()/-]{1,60}?) which is of cuda capability (?P<cc>\d+\.\d+)",
        {"name": ("gpu.name", text), "cc": ("gpu.compute_capability", capability)},
        rank=4,
    ),
    FactPattern(
        "with CUDA capability sm_",
        r"(?P<name>[\w .()/-]{1,60}?) with CUDA capability (?P<cc>sm_\d+) is not compatible with the current PyTorch",
        {"name": ("gpu.name", text), "cc": ("gpu.compute_capability", capability)},
        rank=4,
    ),
    FactPattern(
        "GPU has compute capability",
        r"Your (?P<name>[\w .()/-]{1,60}?) GPU has compute capability (?P<cc>\d+\.\d+)",
        {"name": ("gpu.name", text), "cc": ("gpu.compute_capability", capability)},
        rank=4,
    ),
    FactPattern(
        "is not supported for the current GPU",
        r"Minimum capability: \d+\. Current capability: (?P<cc>\d{2,3})\b",
        {"cc": ("gpu.compute_capability", capability)},
        rank=4,
    ),
    FactPattern(
        "DeviceCapability(",
        r"DeviceCapability\((?P<cc>major=\d+, minor=\d+)\)",
        {"cc": ("gpu.compute_capability", capability_pair)},
        rank=3,
    ),
    # Tuned kernel configurations carry the device in their file names, found or not.
    FactPattern(
        "device_name=",
        r"device_name=(?P<name>[A-Za-z][\w-]{1,60})(?=[,.\]\s]|$)",
        {"name": ("gpu.name", device_name)},
        rank=3,
    ),
    FactPattern(
        "does not support current device",
        rf"does not support current device (?P<name>{_GPU})\.?$",
        {"name": ("gpu.name", text)},
        rank=3,
    ),
    # FlashInfer keeps its caches apart by architecture.
    FactPattern(
        "flashinfer_autotune_cache/",
        r"flashinfer_autotune_cache/(?P<version>\d[\w.]*)/(?P<cc>\d{2,3})[a-f]?/",
        {"version": ("flashinfer.version", version), "cc": ("gpu.compute_capability", capability)},
        rank=1,
    ),
    FactPattern(
        "' is not defined for option 'gpu-name'",
        r"Value '(?P<cc>sm_\d+)[a-f]?' is not defined for option 'gpu-name'",
        {"cc": ("gpu.compute_capability", capability)},
        rank=1,
    ),
    FactPattern(
        "accelerator_type:",
        r"accelerator_type:(?P<name>[\w-]{2,40})",
        {"name": ("gpu.name", text)},
        rank=1,
    ),
    # Environment reports and nvidia-smi output in the same log.
    FactPattern(
        "GPU 0: ",
        rf"GPU 0: (?P<name>{_GPU})(?: \(UUID|\s*$)",
        {"name": ("gpu.name", text)},
        rank=3,
    ),
    FactPattern(
        "|   0  NVIDIA",
        r"^\|   0  (?P<name>NVIDIA [\w .()/-]{1,40}?)\s{2,}",
        {"name": ("gpu.name", text)},
        rank=3,
    ),
    FactPattern(
        "NVIDIA-SMI",
        r"Driver Version: (?P<driver>[\d.]+)\s+CUDA Version: (?P<cuda>[\d.]+)",
        {"driver": ("gpu.driver", version), "cuda": ("cuda.driver_version", version)},
    ),
    FactPattern(
        "driver version",
        r"^Nvidia driver version\s*: (?P<driver>\d[\d.]+)",
        {"driver": ("gpu.driver", version)},
    ),
    FactPattern(
        "larger than the number of available GPUs",
        r"larger than the number of available GPUs \((?P<count>\d+)\)",
        {"count": ("gpu.count", integer)},
    ),
    # A Ray cluster may have more of them on other nodes.
    FactPattern(
        "exceeds available GPUs",
        r"Tensor parallel size \((?P<size>\d+)\) exceeds available GPUs \((?P<count>\d+)\)",
        {"size": ("parallel.tensor", integer), "count": ("parallel.gpus", integer)},
    ),
    FactPattern(
        "max local gpu count",
        r"less than (?:than )?max local gpu count \((?P<count>\d+)\)",
        {"count": ("gpu.count", integer)},
    ),
    FactPattern(
        "Total number of attention heads",
        r"attention heads \((?P<heads>\d+)\) must be divisible by tensor parallel size \((?P<size>\d+)\)",
        {"heads": ("model.heads", integer), "size": ("parallel.tensor", integer)},
    ),
    FactPattern(
        "is out of bounds for",
        r"is out of bounds for (?P<count>\d+) devices",
        {"count": ("gpu.count", integer)},
    ),
    # The ranks of one node take its GPUs in order, so those below the lowest rank without one are there.
    FactPattern(
        "invalid device ordinal",
        r"CUDA error: invalid device ordinal",
        {"rank": ("gpu.count", gpus_below)},
        Policy.LEAST,
    ),
    FactPattern(
        "No such file or directory",
        r"FileNotFoundError: (?:\[Errno 2\] )?No such file or directory: "
        r"'[^'\n]{1,300}\.(?:safetensors|bin|pt|pth|gguf)'",
        {"host": ("weights.missing_on", text)},
    ),
    FactPattern(
        "PyTorch version",
        r"^PyTorch version\s*: (?P<version>\d\S*)",
        {"version": ("torch.version", version)},
    ),
    FactPattern(
        "Your installed torch==",
        r"Your installed torch==(?P<version>\d\S*)",
        {"version": ("torch.version", version)},
    ),
    FactPattern(
        "[pip3] torch==",
        r"^\[pip3\] torch==(?P<version>\d\S*)",
        {"version": ("torch.version", version)},
    ),
    FactPattern(
        "CUDA used to build PyTorch",
        r"^CUDA used to build PyTorch\s*: (?P<version>\d[\d.]*)",
        {"version": ("cuda.version", version)},
    ),
    FactPattern(
        "CUDA Version",
        r"^CUDA Version (?P<version>\d+\.[\d.]+)",
        {"version": ("cuda.version", version)},
        rank=1,
    ),
    FactPattern(
        "[pip3] flashinfer",
        r"^\[pip3\] flashinfer[\w-]*==(?P<version>\d\S*)",
        {"version": ("flashinfer.version", version)},
    ),
    FactPattern(
        "is using nccl==",
        r"vLLM is using nccl==(?P<version>\d[\w.]*)",
        {"version": ("nccl.version", version)},
    ),
    FactPattern(
        "NCCL version",
        r"NCCL version (?P<version>\d[\w.+]*)",
        {"version": ("nccl.version", version)},
        rank=1,
    ),
)
