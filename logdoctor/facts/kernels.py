"""Fact patterns about the kernels that were chosen, by layer kind: linear, MoE, attention, Mamba.

In every line of this family only the name after `Using` is the choice; the bracketed list that may follow names all
candidates on every GPU, so no expression here reads past the name.
"""

from __future__ import annotations

from logdoctor.facts.pattern import FactPattern, member, text, true, version
from logdoctor.model import FactValue

_NAME = r"'?(?P<name>[A-Za-z][\w.+ -]{0,60}?)'?"


def marlin(captured: str) -> FactValue | None:
    """The name under which later versions print the Marlin kernel."""
    return "MARLIN" if "marlin" in captured.lower() else None


NVFP4: tuple[FactPattern, ...] = (
    # Experts: 0.15.0+ with the quoted name; 0.14 in words; before that one sentence per kernel.
    FactPattern(
        " NvFp4 MoE backend",
        rf"^Using {_NAME} NvFp4 MoE backend(?: out of|\.|$)",
        {"name": ("nvfp4.moe_backend", text)},
        rank=3,
    ),
    FactPattern(
        " backend for NvFp4 MoE",
        rf"^Using {_NAME} backend for NvFp4 MoE",
        {"name": ("nvfp4.moe_backend", text)},
        rank=3,
    ),
    FactPattern(
        "FlashInfer backend for NvFp4 MoE",
        r"Falling back to (?P<name>[\w ]{1,40}) for NvFp4 MoE",
        {"name": ("nvfp4.moe_backend", text)},
    ),
    FactPattern(
        "Falling back to Marlin FP4 MoE kernel",
        r"Falling back to (?P<name>Marlin) FP4 MoE kernel",
        {"name": ("nvfp4.moe_backend", marlin)},
    ),
    FactPattern(
        "Using ",
        r"^Using (?P<name>Marlin|Cutlass|FlashInfer(?: \w+)?(?= kernels))(?: kernels)? for"
        r" (?:ModelOptNvFp4FusedMoE|CompressedTensorsW4A4\w*MoE\w*)",
        {"name": ("nvfp4.moe_backend", text)},
    ),
    # Linear layers: an enum in 0.16.0..0.19.1, a kernel class from 0.20.0, words before.
    FactPattern(
        " for NVFP4 GEMM",
        r"^Using (?P<name>[\w.-]{1,80}) for NVFP4 GEMM",
        {"name": ("nvfp4.linear_backend", member)},
        rank=3,
    ),
    FactPattern(
        " for FP4",
        r"^Using (?P<name>flashinfer-\w+) for FP4$",
        {"name": ("nvfp4.linear_backend", text)},
    ),
    FactPattern(
        "does not support cutlass NVFP4",
        r"does not support cutlass NVFP4\. Running (?P<name>\w+)",
        {"name": ("nvfp4.linear_backend", text)},
    ),
    FactPattern(
        "NVFP4 linear falling back to the slow",
        r"NVFP4 linear falling back to the slow and unoptimized (?P<name>emulation) backend",
        {"name": ("nvfp4.linear_backend", text)},
    ),
    # Marlin proves itself in these, whatever the GPU can do.
    FactPattern(
        "Weight-only FP4 compression will be used",
        r"Weight-only FP4 compression will be used\s+leveraging the Marlin kernel",
        {"all": ("nvfp4.marlin", true)},
    ),
    FactPattern("NVFP4 Marlin assumes", r"^NVFP4 Marlin assumes the scales", {"all": ("nvfp4.marlin", true)}),
    FactPattern(
        "[NVFP4] Using backend:",
        r"\[NVFP4\] Using backend: (?P<name>marlin)\b",
        {"name": ("nvfp4.marlin", true)},
    ),
)

OTHERS: tuple[FactPattern, ...] = (
    FactPattern(
        " Fp8 MoE backend",
        rf"^Using {_NAME} (?:Fp8|FP8) MoE backend(?: out of|\.|$)",
        {"name": ("fp8.moe_backend", text)},
        rank=3,
    ),
    FactPattern(
        " backend for FP8 MoE",
        rf"^Using {_NAME} backend for FP8 MoE",
        {"name": ("fp8.moe_backend", text)},
    ),
    FactPattern(
        " for Fp8MoEMethod",
        rf"^Using {_NAME}(?: kernels)? for Fp8MoEMethod",
        {"name": ("fp8.moe_backend", text)},
    ),
    FactPattern(
        "Selected ",
        r"^Selected (?P<name>\w*(?:F[Pp]8|ScaledMM)\w*) for \w*[Ff][Pp]8\w*",
        {"name": ("fp8.linear_backend", text)},
    ),
    FactPattern(
        " Mxfp4 MoE backend",
        rf"^Using {_NAME} Mxfp4 MoE backend(?: out of|\.|$)",
        {"name": ("mxfp4.moe_backend", text)},
        rank=3,
    ),
    FactPattern(
        "Using ",
        r"^Using (?P<name>Marlin|Triton|FlashInfer MXFP4 [\w ]{1,40}?) backend(?: for SM\d+)?\.?$",
        {"name": ("mxfp4.moe_backend", text)},
        files=("mxfp4.py", "mxfp4_utils.py"),
    ),
    FactPattern(
        " Unquantized MoE backend",
        rf"^Using {_NAME} Unquantized MoE backend(?: out of|\.|$)",
        {"name": ("unquantized.moe_backend", text)},
        rank=3,
    ),
    FactPattern(
        " backend for Unquantized MoE",
        rf"^Using {_NAME} backend for Unquantized MoE",
        {"name": ("unquantized.moe_backend", text)},
    ),
    # Attention.
    FactPattern(
        " attention backend",
        rf"^Using {_NAME} attention backend(?: out of|\.|$)",
        {"name": ("attention.backend", member)},
        rank=3,
    ),
    FactPattern(
        " backend on V1 engine",
        rf"^Using {_NAME} backend on V1 engine",
        {"name": ("attention.backend", text)},
        rank=3,
    ),
    FactPattern(
        " backend.",
        r"^Using (?P<name>[A-Za-z][\w.]{1,60}|[A-Z]\w+ (?:Attention|MLA|SDPA)) backend\.$",
        {"name": ("attention.backend", member)},
        files=("cuda.py", "rocm.py", "xpu.py", "cpu.py", "tpu.py", "selector.py", "platform.py"),
    ),
    FactPattern(
        " KV cache layout for ",
        r"^Using \w+ KV cache layout for (?P<name>[\w.]{1,60}) backend",
        {"name": ("attention.backend", member)},
        rank=1,
    ),
    FactPattern(
        "Using FlashAttention version",
        r"^Using FlashAttention version (?P<version>\d+)",
        {"version": ("attention.flash_version", version)},
    ),
    FactPattern(
        " Mamba SSU backend",
        rf"^Using {_NAME} Mamba SSU backend",
        {"name": ("mamba.backend", text)},
    ),
    # What kind of model it is shows in the same place.
    FactPattern("mamba page size", r"mamba page size", {"all": ("model.hybrid", true)}),
    FactPattern("Mamba cache mode is set", r"^Mamba cache mode is set", {"all": ("model.hybrid", true)}),
    FactPattern("Warming up Mamba2 SSD", r"^Warming up Mamba2 SSD", {"all": ("model.hybrid", true)}),
    FactPattern("mamba_ssm_cache_dtype", r"mamba_ssm_cache_dtype", {"all": ("model.hybrid", true)}),
    FactPattern(" Mamba SSU backend", r"^Using \S+ Mamba SSU backend", {"all": ("model.hybrid", true)}),
    FactPattern(
        " MoE backend",
        r"^Using '?[\w +-]{1,60}?'? (?:NvFp4|Fp8|FP8|Mxfp4|Unquantized|\w+) MoE backend",
        {"all": ("model.moe", true)},
    ),
    FactPattern(
        " MoE",
        r"^Using '?[\w +-]{1,60}?'?(?: backend| kernels)? for (?:NvFp4 MoE|FP8 MoE|Unquantized MoE|\w*FusedMoE\w*)",
        {"all": ("model.moe", true)},
    ),
    FactPattern("Using default MoE config", r"^Using default MoE config", {"all": ("model.moe", true)}),
)

PATTERNS: tuple[FactPattern, ...] = NVFP4 + OTHERS
