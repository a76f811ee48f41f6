"""Fact patterns about what was started: version, model, configuration, environment, addresses.

The arguments and the engine's configuration are long reprs and have a module of their own (`arguments.py`).
"""

from __future__ import annotations

from logdoctor.facts.pattern import FactPattern, Policy, constant, integer, text, true, version
from logdoctor.model import FactValue


def refused_options(captured: str) -> FactValue | None:
    """The options among the words that argparse did not know; a value may be anything, a secret too."""
    options = (word.partition("=")[0] for word in captured.split() if word.startswith("-"))
    return tuple(dict.fromkeys(options)) or None


def long_option(captured: str) -> FactValue | None:
    """The long name of an option that argparse names with all its names (`--quantization/-q`)."""
    return next((name for name in captured.split("/") if name.startswith("--")), None)


PATTERNS: tuple[FactPattern, ...] = (
    # ---- version: reports and banners name the front end's, the engine's line wins ------------------------------
    FactPattern(
        "vLLM API server version",
        r"vLLM API server version (?P<version>\S+)",
        {"version": ("vllm.version", version)},
    ),
    FactPattern(
        " version ",
        r"█\s+version\s+(?P<version>\S+)",
        {"version": ("vllm.version", version)},
    ),
    FactPattern(
        "█  model ",
        r"█\s+model\s+(?P<model>\S[^\n]{0,500})",
        {"model": ("model.name", text)},
        rank=1,
    ),
    FactPattern(
        "vLLM server version",
        r"vLLM server version (?P<version>[^\s,]+), serving model (?P<model>\S[^\n]{0,500})",
        {"version": ("vllm.version", version), "model": ("model.name", text)},
    ),
    FactPattern(
        "LLM engine (v",
        r"^Initializing an? (?:(?P<engine>V[01]) )?LLM engine \(v(?P<version>[^)\s]{1,60})\) with config",
        {"version": ("vllm.version", version), "engine": ("vllm.engine", text)},
        rank=3,
    ),
    FactPattern(
        "vLLM Version",
        r"^vLLM Version(?:[ \t]*:)?[ \t]+(?P<version>\d\S*)",
        {"version": ("vllm.version", version)},
        rank=1,
    ),
    FactPattern(
        "NVIDIA Release",
        r"^NVIDIA Release (?P<release>\d\d\.\d\d\S*)",
        {"release": ("image.release", text), "all": ("image.style", constant("ngc"))},
    ),
    # ---- what argparse refused: whether some version has it, the version knowledge tells ---------------------------
    FactPattern(
        "error: unrecognized arguments: ",
        r"(?:^|: )error: unrecognized arguments: (?P<words>[^\n]{1,2000})$",
        {"words": ("cli.unrecognized", refused_options)},
    ),
    FactPattern(
        "invalid choice: ",
        r"(?:^|: )error: argument (?P<flag>-[^\s:]{1,120}): invalid choice: '?(?P<value>[^'\s()]{1,200})'? \(",
        {"flag": ("cli.invalid_flag", long_option), "value": ("cli.invalid_value", text)},
    ),
    # Docker names the image that it has to fetch.
    FactPattern(
        "Unable to find image '",
        r"^Unable to find image '(?P<image>[\w./:@-]{1,200})' locally",
        {"image": ("image.name", text)},
    ),
    # ---- how it was started: the image's entry point decides what its arguments may be -----------------------------
    FactPattern(
        "usage: ",
        r"^usage: vllm\b",
        {"all": ("vllm.entrypoint", constant("vllm serve"))},
    ),
    FactPattern(
        ": error: ",
        r"^vllm(?: [a-z-]+)?: error: ",
        {"all": ("vllm.entrypoint", constant("vllm serve"))},
    ),
    FactPattern(
        "api_server.py",
        r"^(?:usage: )?api_server\.py(?: \[|: error: )",
        {"all": ("vllm.entrypoint", constant("api_server"))},
    ),
    FactPattern(
        "vllm/entrypoints/cli/main.py",
        r"vllm/entrypoints/cli/main\.py",
        {"all": ("vllm.entrypoint", constant("vllm serve"))},
        rank=1,
    ),
    FactPattern("Using V2 Model Runner", r"^Using V2 Model Runner", {"all": ("vllm.runner", constant("V2"))}),
    FactPattern(
        "using the V1 model runner instead",
        r"using the V1 model runner instead",
        {"all": ("vllm.runner", constant("V1"))},
    ),
    FactPattern(
        "Starting to load model",
        r"^Starting to load model",
        {"all": ("vllm.runner", constant("V1"))},
        rank=1,
        files=("gpu_model_runner.py", "cpu_model_runner.py"),
    ),
    # ---- model ------------------------------------------------------------------------------------------------
    FactPattern(
        "Resolved architecture:",
        r"^Resolved architecture: (?P<name>\w+)",
        {"name": ("model.architecture", text)},
    ),
    FactPattern(
        "Using max model len",
        r"^Using max model len (?P<len>\d+)",
        {"len": ("model.max_len", integer)},
    ),
    FactPattern(
        "Detected ModelOpt",
        r"^Detected ModelOpt (?:NVFP4|nvfp4) checkpoint",
        {"all": ("model.quantization", constant("modelopt_fp4"))},
        rank=1,
    ),
    FactPattern(
        "Detected ModelOpt",
        r"^Detected ModelOpt (?:FP8|fp8) checkpoint",
        {"all": ("model.quantization", constant("modelopt"))},
        rank=1,
    ),
    FactPattern(
        "The quantization method",
        r"The quantization method (?P<name>[\w-]{1,40}) is not supported for the current GPU",
        {"name": ("model.quantization", text)},
        rank=1,
    ),
    # ---- scheduler and parallelism ------------------------------------------------------------------------------
    FactPattern(
        "max_num_batched_tokens=",
        r"^Chunked prefill is enabled with max_num_batched_tokens=(?P<tokens>\d+)",
        {"tokens": ("scheduler.max_num_batched_tokens", integer)},
    ),
    FactPattern(
        "Defaulting max_num_batched_tokens to",
        r"^Defaulting max_num_batched_tokens to (?P<tokens>\d+)",
        {"tokens": ("scheduler.max_num_batched_tokens", integer)},
        rank=1,
    ),
    FactPattern(
        "Defaulting max_num_seqs to",
        r"^Defaulting max_num_seqs to (?P<seqs>\d+)",
        {"seqs": ("scheduler.max_num_seqs", integer)},
    ),
    FactPattern(
        "Asynchronous scheduling is enabled",
        r"^Asynchronous scheduling is enabled",
        {"all": ("scheduler.async", true)},
    ),
    FactPattern(
        "Asynchronous scheduling is disabled",
        r"^Asynchronous scheduling is disabled",
        {"all": ("scheduler.async", constant(False))},
    ),
    FactPattern(
        " in world size ",
        r"^rank \d+ in world size (?P<size>\d+) is assigned",
        {"size": ("parallel.world_size", integer)},
        Policy.MOST,
    ),
    FactPattern(
        "world_size=",
        r"^world_size=(?P<size>\d+) rank=\d+",
        {"size": ("parallel.world_size", integer)},
        Policy.MOST,
    ),
    # ---- environment: only where the line states the value -------------------------------------------------------
    FactPattern(
        "Unknown vLLM environment variable detected:",
        r"Unknown vLLM environment variable detected: (?P<name>\w+)",
        {"name": ("env.unknown", text)},
        Policy.APPEND,
    ),
    FactPattern(
        " via VLLM_",
        r" via (?P<name>VLLM_\w+)=(?P<value>[^\s.,;]+)",
        {"value": ("env.{name}", text)},
    ),
    FactPattern(
        "VLLM_CPU_OMP_THREADS_BIND=",
        r"^[ \t]*(?P<name>VLLM_CPU_OMP_THREADS_BIND)='(?P<value>[^'\n]{1,200})'",
        {"value": ("env.{name}", text)},
    ),
    FactPattern(
        "Found VLLM_",
        r"Found (?P<name>VLLM_\w+)=(?P<value>[^\s,;]+),? but",
        {"value": ("env.{name}", text)},
    ),
    FactPattern(
        "Invalid value '",
        r"Invalid value '(?P<value>[^'\n]{1,200})' for (?P<name>VLLM_\w+)\b",
        {"value": ("env.{name}", text)},
    ),
    FactPattern(
        "Setting VLLM_",
        r"^Setting (?P<name>VLLM_\w+) to '(?P<value>[^'\n]{1,200})'",
        {"value": ("env.{name}", text)},
    ),
    FactPattern(
        " is deprecated and will be removed in v",
        r"Warning: (?P<name>VLLM_\w+) is deprecated and will be removed",
        {"name": ("env.deprecated", text)},
        Policy.APPEND,
    ),
    # ---- server -----------------------------------------------------------------------------------------------
    FactPattern(
        "Starting vLLM ",
        r"^Starting vLLM (?:API )?server(?: \d+)? on (?P<address>\S+)",
        {"address": ("server.address", text)},
        rank=3,
    ),
    FactPattern(
        "Uvicorn running on",
        r"Uvicorn running on (?P<address>\S+)",
        {"address": ("server.address", text)},
    ),
)
