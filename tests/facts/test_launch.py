"""Versions, arguments, engine configuration, environment."""

from __future__ import annotations

import pytest

from logdoctor.model import Fact
from tests.facts.build import API, ENGINE, bare, facts_of, record, said

NONE = Fact("", "")

BANNER = (
    "\n"
    "       █     █     █▄   ▄█\n"
    " ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.26.0\n"
    "  █▄█▀ █     █     █     █  model   /models/nemotron nano\n"
    "   ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ ▀     ▀\n"
)
ENGINE_LINE = (
    "Initializing a V1 LLM engine (v0.26.1.dev3+g1a2b3c) with config: model='/m/a', speculative_config=None, "
    "tokenizer='/m/a', dtype=torch.bfloat16, max_seq_len=4096, load_format=dummy, tensor_parallel_size=2, "
    "pipeline_parallel_size=1, data_parallel_size=1, quantization=modelopt_fp4, enforce_eager=True, "
    "kv_cache_dtype=fp8_e4m3, device_config=cuda, structured_outputs_config=StructuredOutputsConfig(backend='auto', "
    "reasoning_parser='nemotron_v3'), served_model_name=nemotron, compilation_config={'mode': "
    "<CompilationMode.VLLM_COMPILE: 3>, 'cudagraph_mode': <CUDAGraphMode.NONE: 0>}, "
    "kernel_config=KernelConfig(moe_backend='marlin', linear_backend='auto')"
)


@pytest.mark.parametrize(
    ("message", "version"),
    [
        ("vLLM API server version 0.8.5.post1", "0.8.5.post1"),
        (BANNER, "0.26.0"),
        ("vLLM server version 0.21.0, serving model nvidia/x", "0.21.0"),
        ("Initializing a V0 LLM engine (v0.8.5) with config: model='m', ", "0.8.5"),
        ("Initializing an LLM engine (v0.6.3) with config: model='m', ", "0.6.3"),
        ("vLLM Version                 : 0.10.1.1", "0.10.1.1"),
    ],
)
def test_every_banner_states_the_version(message: str, version: str) -> None:
    assert said(message)["vllm.version"] == version


def test_the_banner_states_the_line_of_each_fact() -> None:
    facts = facts_of(record(BANNER, line=10))
    assert (facts["vllm.version"].line, facts["model.name"].line) == (12, 13)
    assert facts["model.name"].value == "/models/nemotron nano"


@pytest.mark.parametrize("order", [1, -1])
def test_the_engines_version_wins_over_the_banner(order: int) -> None:
    records = [record(BANNER, process=API), record(ENGINE_LINE, line=9)]
    fact = facts_of(*records[::order])["vllm.version"]
    assert (fact.value, fact.line, fact.process) == ("0.26.1.dev3+g1a2b3c", 9, ENGINE.name)


def test_the_first_banner_of_a_boot_holds() -> None:
    facts = facts_of(record("vLLM API server version 0.9.1"), record("vLLM API server version 0.9.2", line=2))
    assert (facts["vllm.version"].value, facts["vllm.version"].line) == ("0.9.1", 1)


def test_non_default_arguments_are_typed() -> None:
    facts = said(
        "non-default args: {'model_tag': 'a/b', 'model': 'a/b', 'max_model_len': 4096, 'gpu_memory_utilization': 0.85, "
        "'enforce_eager': True, 'served_model_name': ['nemotron', 'alias'], 'speculative_config': {'method': 'mtp', "
        "'num_speculative_tokens': 2}, 'compilation_config': <CompilationMode.NONE: 0>, "
        "'override_pooler_config': PoolerConfig(pooling_type='CLS', normalize=None), 'seed': None}"
    )
    assert facts["args"] is True
    assert facts["args.max_model_len"] == 4096
    assert facts["args.gpu_memory_utilization"] == 0.85
    assert facts["args.enforce_eager"] is True
    assert facts["args.served_model_name"] == '["nemotron", "alias"]'
    assert facts["args.speculative_config"] == '{"method": "mtp", "num_speculative_tokens": 2}'
    assert facts["args.compilation_config"] == "NONE"
    assert facts["args.override_pooler_config"] == "PoolerConfig(pooling_type='CLS', normalize=None)"
    assert "args.seed" not in facts
    assert (facts["model.name"], facts["model.served_name"]) == ("a/b", "nemotron")


def test_secrets_never_become_facts() -> None:
    facts = said("non-default args: {'api_key': ['sk-TESTSECRET'], 'hf_token': 'hf_secret', 'model': 'm'}")
    assert facts["args.api_key"] == facts["args.hf_token"] == "***"
    assert "secret" not in str(facts).lower()


def test_a_backend_inside_a_configuration_object_is_an_argument_too() -> None:
    facts = said("non-default args: {'model': 'm', 'kernel_config': KernelConfig(moe_backend='marlin', x=1)}")
    assert facts["args.moe_backend"] == "marlin"


def test_a_cut_argument_line_keeps_what_is_whole() -> None:
    facts = said("non-default args: {'model': 'm', 'max_model_len': 409")
    assert facts["args"] is True
    assert "args.max_model_len" not in facts


def test_the_namespace_of_0_8_5_leaves_the_defaults_out() -> None:
    facts = said(
        "args: Namespace(subparser='serve', model_tag='m', config='', host=None, port=8000, api_key=None, "
        "allowed_origins=['*'], load_format='auto', config_format=<ConfigFormat.AUTO: 'auto'>, dtype='auto', "
        "max_model_len=8192, gpu_memory_utilization=0.95, enforce_eager=False, enable_reasoning=True, "
        "reasoning_parser='deepseek_r1', dispatch_function=<function ServeSubcommand.cmd at 0x7f>)"
    )
    assert {key for key in facts if key.startswith("args")} == {
        "args",
        "args.model_tag",
        "args.max_model_len",
        "args.gpu_memory_utilization",
        "args.enable_reasoning",
        "args.reasoning_parser",
    }


def test_the_engines_configuration() -> None:
    facts = said(ENGINE_LINE)
    assert facts["vllm.engine"] == "V1"
    assert facts["model.name"] == "/m/a"
    assert facts["model.served_name"] == "nemotron"
    assert facts["model.dtype"] == "bfloat16"
    assert facts["model.max_len"] == 4096
    assert facts["model.quantization"] == "modelopt_fp4"
    assert facts["kv_cache.dtype"] == "fp8_e4m3"
    assert facts["load_format"] == "dummy"
    assert facts["platform"] == "cuda"
    assert (facts["parallel.tensor"], facts["parallel.pipeline"], facts["parallel.data"]) == (2, 1, 1)
    assert facts["config.moe_backend"] == "marlin"
    assert facts["config.compilation_mode"] == "VLLM_COMPILE"
    assert facts["config.cudagraph_mode"] == "NONE"


def test_without_an_argument_line_the_engine_stands_in_for_it() -> None:
    facts = facts_of(record(ENGINE_LINE, line=5))
    assert "args" not in facts
    inferred = {key: fact.value for key, fact in facts.items() if key.startswith("args.")}
    assert inferred == {
        "args.enforce_eager": True,
        "args.moe_backend": "marlin",
        "args.reasoning_parser": "nemotron_v3",
        "args.tensor_parallel_size": 2,
    }
    assert all(facts[key].origin == "inferred" and facts[key].line == 5 for key in inferred)


def test_with_an_argument_line_the_engine_adds_no_arguments() -> None:
    facts = facts_of(record("non-default args: {'model': 'm'}"), record(ENGINE_LINE, line=2))
    assert {key for key in facts if key.startswith("args.")} == {"args.model"}


def test_the_dump_after_a_crash_is_no_configuration() -> None:
    dump = ENGINE_LINE.replace("Initializing a V1", "Dumping input data for V1")
    assert "model.name" not in facts_of(record(dump, level="ERROR"))
    assert "model.name" not in facts_of(record(ENGINE_LINE, quoted=True))


def test_unknown_variables_are_listed_once_each_with_the_first_line() -> None:
    facts = facts_of(
        record("Unknown vLLM environment variable detected: VLLM_A", level="WARNING", line=3),
        record("Unknown vLLM environment variable detected: VLLM_B", level="WARNING", line=4),
        record("Unknown vLLM environment variable detected: VLLM_A", level="WARNING", line=9),
    )
    assert (facts["env.unknown"].value, facts["env.unknown"].line) == (("VLLM_A", "VLLM_B"), 3)


def test_two_unknown_variables_in_one_record() -> None:
    one = "Unknown vLLM environment variable detected: "
    assert said(f"{one}VLLM_A\n{one}VLLM_B")["env.unknown"] == ("VLLM_A", "VLLM_B")


@pytest.mark.parametrize(
    ("message", "name", "value"),
    [
        (
            "FlashInfer top-p/top-k sampling disabled via VLLM_USE_FLASHINFER_SAMPLER=0.",
            "VLLM_USE_FLASHINFER_SAMPLER",
            "0",
        ),
        (
            "Found VLLM_USE_FLASHINFER_MOE_FP4=1, but no FlashInfer NVFP4 MoE backend supports the configuration.",
            "VLLM_USE_FLASHINFER_MOE_FP4",
            "1",
        ),
        (
            "ValueError: Invalid value 'Marlin' for VLLM_NVFP4_GEMM_BACKEND. Valid options: ['cutlass'].",
            "VLLM_NVFP4_GEMM_BACKEND",
            "Marlin",
        ),
        ("Setting VLLM_WORKER_MULTIPROC_METHOD to 'spawn'", "VLLM_WORKER_MULTIPROC_METHOD", "spawn"),
        ("\tVLLM_CPU_OMP_THREADS_BIND='auto', auto_setup=True", "VLLM_CPU_OMP_THREADS_BIND", "auto"),
    ],
)
def test_variables_are_known_where_a_line_states_the_value(message: str, name: str, value: str) -> None:
    assert said(message)[f"env.{name}"] == value


@pytest.mark.parametrize(
    "message",
    [
        "To disable, set VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0.",
        "You can consider set environment variable VLLM_MARLIN_USE_ATOMIC_ADD to 1 if possible.",
        "set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1",
    ],
)
def test_advice_states_no_variable(message: str) -> None:
    assert not [key for key in said(message) if key.startswith("env.")]


def test_model_scheduler_and_server_lines() -> None:
    assert said("Resolved architecture: NemotronHForCausalLM")["model.architecture"] == "NemotronHForCausalLM"
    assert said("Using max model len 32768")["model.max_len"] == 32768
    assert said("Asynchronous scheduling is disabled.")["scheduler.async"] is False
    assert said("Asynchronous scheduling is enabled.")["scheduler.async"] is True
    chunked = "Chunked prefill is enabled with max_num_batched_tokens=8192."
    assert said(chunked)["scheduler.max_num_batched_tokens"] == 8192
    assert said("rank 1 in world size 4 is assigned as DP rank 0, PP rank 0, TP rank 1")["parallel.world_size"] == 4
    assert said("Using V2 Model Runner")["vllm.runner"] == "V2"
    assert said("Starting to load model m...", file="gpu_model_runner.py")["vllm.runner"] == "V1"


@pytest.mark.parametrize(
    "message",
    [
        "Starting vLLM API server on http://0.0.0.0:8000",
        "Starting vLLM API server 0 on http://0.0.0.0:8000",
        "Starting vLLM server on http://0.0.0.0:8000",
    ],
)
def test_the_address_in_every_wording(message: str) -> None:
    assert said(message)["server.address"] == "http://0.0.0.0:8000"


@pytest.mark.parametrize(
    ("message", "entrypoint"),
    [
        ("usage: vllm serve [model_tag] [options]\nvllm serve: error: argument --dtype: invalid choice", "vllm serve"),
        ("vllm: error: unrecognized arguments: serve", "vllm serve"),
        ("api_server.py: error: unrecognized arguments: serve /models/x", "api_server"),
        ("non-default args: {'model_tag': 'm', 'model': 'm'}", "vllm serve"),
        ("non-default args: {'model': 'm'}", None),
    ],
)
def test_how_the_server_was_started(message: str, entrypoint: str | None) -> None:
    assert facts_of(bare(message)).get("vllm.entrypoint", NONE).value == (entrypoint or NONE.value)


@pytest.mark.parametrize(
    ("version", "style"),
    [
        ("0.17.1", "release"),
        ("0.8.5.post1", "release"),
        ("0.17.1+cpu", "release"),
        ("0.1.dev1+g1a2b3c4", "nightly"),
        ("0.18.0rc2.dev110+gdeadbeef", "nightly"),
        ("0.19.0rc1", "nightly"),
    ],
)
def test_the_kind_of_image_follows_from_the_version(version: str, style: str) -> None:
    fact = facts_of(record(f"vLLM API server version {version}"))["image.style"]
    assert (fact.value, fact.origin) == (style, "inferred")


def test_ngc_images_say_so() -> None:
    facts = facts_of(bare("NVIDIA Release 26.01 (build 2345)"), record("vLLM API server version 0.13.0", line=2))
    assert (facts["image.style"].value, facts["image.release"].value) == ("ngc", "26.01")


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("vllm: error: unrecognized arguments: --mamba-ssu-algorithm horizontal", ("--mamba-ssu-algorithm",)),
        ("vllm: error: unrecognized arguments: --apikey=sk-1 --swap-space 8", ("--apikey", "--swap-space")),
        ("vllm: error: unrecognized arguments: serve acme/model", None),
        ("the client sent: vllm: error, unrecognized arguments: --x", None),
    ],
)
def test_options_that_argparse_refused(message: str, options: tuple[str, ...] | None) -> None:
    assert facts_of(bare(message)).get("cli.unrecognized", Fact("", "")).value == (options or "")


@pytest.mark.parametrize(
    ("message", "flag", "value"),
    [
        ("vllm serve: error: argument --dtype: invalid choice: 'fp4' (choose from 'auto')", "--dtype", "fp4"),
        (
            "vllm serve: error: argument --quantization/-q: invalid choice: 'gguf' (choose from awq)",
            "--quantization",
            "gguf",
        ),
        (
            "vllm serve: error: argument -tp/--tensor-parallel-size: invalid choice: 3 (choose from 1)",
            "--tensor-parallel-size",
            "3",
        ),
    ],
)
def test_values_that_argparse_refused(message: str, flag: str, value: str) -> None:
    facts = facts_of(bare(message))
    assert (facts["cli.invalid_flag"].value, facts["cli.invalid_value"].value) == (flag, value)
