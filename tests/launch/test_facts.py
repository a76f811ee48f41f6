"""The facts of a launch, what a release would refuse of it, and what follows from both."""

from __future__ import annotations

from typing import Any

import pytest

from logdoctor.database.fact_keys import is_fact_key
from logdoctor.facts.derived import derived_facts
from logdoctor.knowledge.releases import parse_version
from logdoctor.launch import check_facts, facts, launch_facts, read_launch
from logdoctor.launch.stated import refused_values
from logdoctor.model import Fact

OFFICIAL = "vllm/vllm-openai:v0.17.1"
SCRIPT = f"""\
docker run --gpus all --shm-size 16g -p 9000:8000 \\
  -e VLLM_X=1 -e TOKEN=$TOKEN \\
  {OFFICIAL} \\
  a/b --max-model-len 32k -tp 2 --enforce-eager --no-enable-prefix-caching \\
  --gpu-memory-utilization=0.9 --hf-overrides '{{"a": 1}}' --api-key secret --port $PORT
"""


def values(text: str) -> dict[str, Any]:
    return {key: fact.value for key, fact in facts(read_launch(text)).items()}


def test_what_a_launch_states() -> None:
    assert values(SCRIPT) == {
        "args": True,
        "args.model_tag": "a/b",
        "args.max_model_len": 32000,
        "args.tensor_parallel_size": 2,
        "args.enforce_eager": True,
        "args.enable_prefix_caching": False,
        "args.gpu_memory_utilization": 0.9,
        "args.hf_overrides": '{"a": 1}',
        "args.api_key": "***",
        "env": True,
        "env.VLLM_X": "1",
        "vllm.entrypoint": "vllm serve",
        "vllm.version": "0.17.1",
        "model.name": "a/b",
        "image.name": OFFICIAL,
        "launch.kind": "docker",
        "launch.open": True,
        "container.gpus": "all",
        "container.shm_gib": 16.0,
        "container.ipc_host": False,
        "container.network_host": False,
        "server.published_port": 9000,
    }


def test_every_fact_says_where_it_comes_from_and_has_a_known_key() -> None:
    launch = read_launch(SCRIPT)
    everything = {**facts(launch), **launch_facts(launch), **check_facts(launch, launch.version)}
    assert {fact.origin for fact in everything.values()} == {"launch"}
    derived = derived_facts(everything)
    assert {fact.origin for fact in derived.values()} <= {"inferred"}
    assert [key for key in {**everything, **derived} if not is_fact_key(key)] == []


def test_lines_are_those_of_the_launch_where_it_is_the_input() -> None:
    launch = read_launch(SCRIPT)
    assert {fact.line for fact in facts(launch).values()} == {0}
    lines = {key: fact.line for key, fact in facts(launch, lines=True).items()}
    assert (lines["env.VLLM_X"], lines["image.name"], lines["args.enforce_eager"], lines["args.api_key"]) == (
        2,
        3,
        4,
        5,
    )


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("vllm serve m --seed 1", True),
        ("vllm serve $M --seed $S", True),
        ('vllm serve m "$@"', False),
        ("vllm serve m $ARGS", False),
        ("python -m vllm.entrypoints.openai.api_server $ARGS", False),
        ("vllm serve m \\\n # --seed 1\n", False),
    ],
)
def test_whether_all_arguments_are_known(text: str, known: bool) -> None:
    assert ("args" in values(text)) is known


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("vllm serve m", "m"),
        ("vllm serve --model m", "m"),
        ("vllm serve --trust-remote-cod a/b", "a/b"),
        ("vllm serve $M", None),
        ("vllm serve --seed 1", "Qwen/Qwen3-0.6B"),
        ("vllm serve --config c.yaml", None),
        (f"docker run {OFFICIAL}", "Qwen/Qwen3-0.6B"),
        ("docker run acme/vllm", None),
        ("vllm serve $ARGS --seed 1 $MORE", None),
    ],
)
def test_the_model(text: str, model: str | None) -> None:
    assert values(text).get("model.name") == model


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("vllm/vllm-openai:v0.17.1", "0.17.1"),
        ("vllm/vllm-openai:v0.17.1-cu130", "0.17.1"),
        ("registry:5000/x/vllm-openai:v0.20.0rc1@sha256:abc", "0.20.0rc1"),
        ("vllm/vllm-openai:latest", None),
        ("vllm/vllm-openai", None),
        ("nvcr.io/nvidia/vllm:26.01-py3", None),
        ("acme/server:1.2.3", None),
    ],
)
def test_the_version_is_that_of_the_tag(image: str, version: str | None) -> None:
    assert values(f"docker run --gpus all {image} vllm serve m").get("vllm.version") == version


@pytest.mark.parametrize(
    ("options", "gib"),
    [("", 0.0625), ("--shm-size 16g", 16.0), ("--shm-size=512m", 0.5), ("--shm-size x", None), ("--ipc host", None)],
)
def test_shared_memory(options: str, gib: float | None) -> None:
    assert values(f"docker run {options} {OFFICIAL} m").get("container.shm_gib") == gib


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("m --max-model-length 1 --moe-backend marlin", {"cli.unrecognized": ("--max-model-length",)}),
        ("m --linear_backend marlin", {"cli.unrecognized": ("--linear_backend",)}),
        ("m --max-model 1", {}),
        ("m --quantization x", {"cli.invalid_flag": "--quantization", "cli.invalid_value": "x"}),
        ("m --reasoning-parser x", {}),
        ("m --enable-prefix-caching true n", {"launch.stray": "true n"}),
        ("m --dtype half", {}),
        ("serve m", {"launch.repeated": "serve"}),
        ("m '--dtype half'", {"launch.glued": "--dtype half"}),
        ("--model m", {"launch.model_option": True}),
        ("n --model m", {"launch.model_option": True, "launch.model_twice": True}),
    ],
)
def test_what_a_release_refuses(arguments: str, expected: dict[str, Any]) -> None:
    launch = read_launch(f"docker run {OFFICIAL} {arguments}")
    found = {key: fact.value for key, fact in check_facts(launch, launch.version).items()}
    assert found == expected


def test_all_refused_values_are_told() -> None:
    launch = read_launch("vllm serve m --quantization x --kv-cache-dtype y --dtype half")
    found = refused_values(launch, parse_version("0.17.1"))
    assert [pair["cli.invalid_value"].value for pair in found] == ["x", "y"]


def test_without_a_version_only_what_no_release_has_is_refused() -> None:
    launch = read_launch("vllm serve m --linear-backend marlin --max-model-length 1")
    assert check_facts(launch, None)["cli.unrecognized"].value == ("--max-model-length",)


# -- what follows -----------------------------------------------------------------------------------------------------


def derived(**stated: Any) -> dict[str, Any]:
    given = {key.replace("__", "."): value for key, value in stated.items()}
    found = derived_facts({key: Fact(key, value) for key, value in given.items()})
    return {key: fact.value for key, fact in found.items()}


def test_what_follows_from_the_model() -> None:
    name = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"
    found = derived(model__name=name, vllm__version="0.15.1", args__reasoning_parser="deepseek_r1")
    assert found["model.family"] == "Nemotron 3 Super"
    assert found["model.hybrid"] is True
    assert found["model.needs_vllm"] == "0.17.1"
    assert "parser.reasoning_of_another" not in found  # 0.15.1 has no parser to name instead
    found = derived(model__name=name, vllm__version="0.20.0", args__reasoning_parser="deepseek_r1")
    assert (found["parser.reasoning_of_another"], found["model.reasoning_parser"]) == ("deepseek_r1", "nemotron_v3")
    assert "model.needs_vllm" not in found


@pytest.mark.parametrize("parser", ["nemotron_v3", "none", "no_such_parser"])
def test_a_parser_that_is_right_or_nobodys_is_not_another_models(parser: str) -> None:
    name = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"
    assert "parser.reasoning_of_another" not in derived(model__name=name, args__reasoning_parser=parser)


def test_what_follows_from_numbers() -> None:
    assert (
        derived(args__tensor_parallel_size=4, args__pipeline_parallel_size=2, gpu__count=4)["launch.gpus_missing"] == 4
    )
    assert derived(args__tensor_parallel_size=2, container__gpus="1")["launch.gpus_missing"] == 1
    assert derived(args__tensor_parallel_size=2, container__gpus="all") == {}
    assert derived(args__tensor_parallel_size=2, gpu__count=1, args__distributed_executor_backend="ray") == {}
    assert derived(args__max_num_batched_tokens=8, args__max_num_seqs=9)["launch.batched_tokens_below_seqs"] is True
    assert derived(args__max_num_batched_tokens=9, args__max_num_seqs=9) == {}


def test_what_follows_from_the_gpu() -> None:
    assert derived(gpu__name="NVIDIA GB10")["gpu.unified"] is True
    assert derived(gpu__name="NVIDIA H100 80GB HBM3")["gpu.memory_gb"] == 80


def test_what_is_stated_is_not_replaced() -> None:
    assert "model.hybrid" not in derived(
        model__name="nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4", model__hybrid=False
    )


@pytest.mark.parametrize(
    ("options", "arguments", "mismatch"),
    [
        ("-p 8000:8000", "m", None),
        ("-p 9000:8000", "m", None),
        ("-p 8000:9000", "m", "the server listens on 8000, published is 9000"),
        ("-p 8000:8000", "m --port 9000", "the server listens on 9000, published is 8000"),
        ("-p 8000:8000 -p 9000:9000", "m --port 9000", None),
        ("-p 8000:8000 --network host", "m --port 9000", None),
        ("-p 8000:8000", "m --port $P", None),
    ],
)
def test_ports(options: str, arguments: str, mismatch: str | None) -> None:
    found = launch_facts(read_launch(f"docker run {options} {OFFICIAL} {arguments}"))
    assert (found["launch.port_mismatch"].value if "launch.port_mismatch" in found else None) == mismatch


@pytest.mark.parametrize(
    ("options", "kept"),
    [("", False), ("-v ~/.cache/huggingface:/root/.cache/huggingface", True), ("-e HF_HOME=/hf", True)],
)
def test_the_hub_cache(options: str, kept: bool) -> None:
    assert launch_facts(read_launch(f"docker run {options} {OFFICIAL} m"))["container.hub_cache_kept"].value is kept
