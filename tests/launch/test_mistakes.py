"""What is wrong with a launch whatever the release, and what only looks wrong."""

from __future__ import annotations

import pytest

from logdoctor.launch import LaunchError, check_facts, facts, read_launch
from logdoctor.launch.stated import gpu_text
from logdoctor.model import FactValue
from tests.diagnosis.test_launch_check import check, ids

IMAGE = "vllm/vllm-openai:v0.22.0"


def told(text: str) -> dict[str, FactValue]:
    launch = read_launch(text)
    return {key: fact.value for key, fact in {**facts(launch), **check_facts(launch, None)}.items()}


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        ("--enable-prefix-caching=true", "launch.switch_value", "--enable-prefix-caching=true"),
        ("--no-enable-prefix-caching=1", "launch.switch_plain", "no-enable-prefix-caching"),
        ("--enforce-eager=False", "launch.switch_plain", "no-enforce-eager"),
        ("--speculative-config {method:ngram}", "launch.no_json", "--speculative-config {method:ngram}"),
        ("""--hf-overrides "{'a': 1}" """, "launch.no_json", "--hf-overrides {'a': 1}"),
        ("--max-num-seqs many", "launch.no_number", "--max-num-seqs many"),
        ("-tp auto", "launch.no_number", "-tp auto"),
        ("--max-model-len 32,768", "launch.no_number", "--max-model-len 32,768"),
        ("--max-model-len --seed 1", "launch.no_value", "--max-model-len"),
        ("--port", "launch.no_value", "--port"),
    ],
)
def test_what_argparse_refuses_whatever_the_release(words: str, key: str, value: str) -> None:
    assert told(f"vllm serve m {words}\n")[key] == value


@pytest.mark.parametrize(
    "words",
    [
        "--enable-prefix-caching --no-enforce-eager",
        "--max-model-len 32k --max-num-batched-tokens 8K --kv-cache-memory-bytes 20G",
        "--max-model-len auto --seed None --port 8_000 --gpu-memory-utilization .9",
        "--max-model-len -1 --seed -1 --gpu-memory-utilization=1e-1",
        """--speculative-config '{"method": "ngram"}' -O3 -O.mode=3 --compilation-config.level 3""",
        "--max-num-seqs $N --max-model-len ${LEN} --port=$PORT",
        """--limit-mm-per-prompt image=2,video=1 --allowed-origins '["*"]'""",
        "--served-model-name a b --lora-modules x=/x",
    ],
)
def test_what_only_looks_wrong(words: str) -> None:
    found = told(f"vllm serve m {words}\n")
    assert not {key for key in found if key.startswith("launch.")} - {"launch.kind", "launch.open"}


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (f"docker run --gpus all {IMAGE} m \\\n  # why\n  --seed 1\n", True),
        (f"docker run --gpus all {IMAGE} m \\ \n  --seed 1\n", True),
        ("vllm serve m --seed 1\n  --port 1\n", True),
        ("vllm serve m --seed 1  # why\n\n  --port 1\n", True),
        ("vllm serve m \\\n  --seed 1 \\\n  --port 1\n", False),
        ("# --port 1\nvllm serve m --seed 1\n# --port 2\necho done\n", False),
        (f"docker run --gpus all {IMAGE} m --seed 1\ncurl --fail localhost\n", False),
    ],
)
def test_a_command_that_ends_too_early(text: str, cut: bool) -> None:
    assert ("launch.cut_off" in told(text)) is cut


def test_where_the_image_is_cut_off_the_reason_is_said() -> None:
    with pytest.raises(LaunchError, match="line 2 ends in a backslash with a blank"):
        read_launch(f"# start\ndocker run --gpus all \\  \n  {IMAGE} m\n")


@pytest.mark.parametrize(("mark", "end"), [("^", "\r\n"), ("`", "\r\n"), ("`", "\n"), ("^", "\n")])
def test_other_shells_go_on_in_their_own_way(mark: str, end: str) -> None:
    rows = ["docker run --gpus all", "--ipc=host", IMAGE, "Qwen/Qwen3-8B", "--max-model-lenght 8192", "--port 8000"]
    text = f" {mark}{end}  ".join(rows) + end
    launch = check(text).launch
    assert launch is not None
    assert launch.original == text
    assert launch.corrected == text.replace("lenght", "len")


def test_the_environment_of_a_unit_is_known() -> None:
    unit = (
        '[Service]\nEnvironment="VLLM_ATTENTION_BACKEND=FLASH_ATTN" HF_HOME=/data\n'
        "ExecStart=/opt/venv/bin/vllm serve Qwen/Qwen3-8B --port 8000\n"
    )
    known = told(unit)
    assert known["env.VLLM_ATTENTION_BACKEND"] == "FLASH_ATTN"
    assert known["env.HF_HOME"] == "/data"
    found = ids(check(unit, vllm__version="0.22.0"))
    remedies = found["env-attention-backend-without-effect"].remedies
    assert [remedy.command for remedy in remedies] == ["VLLM_ATTENTION_BACKEND", "--attention-backend FLASH_ATTN"]


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        (f"docker run {IMAGE} m", "none"),
        (f"docker run --gpus '\"device=0,2\"' {IMAGE} m", "2"),
        (f"docker run --gpus=all {IMAGE} m", "all"),
        (f"docker run --device nvidia.com/gpu=all {IMAGE} m", "all"),
        (f"podman run --device=nvidia.com/gpu=0 --device nvidia.com/gpu=1 {IMAGE} m", "2"),
        (f"docker run --runtime nvidia {IMAGE} m", None),
        (f"docker run --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=0 {IMAGE} m", None),
        (f"docker run -e NVIDIA_VISIBLE_DEVICES=all {IMAGE} m", None),
        (f"docker run -e NVIDIA_VISIBLE_DEVICES=none {IMAGE} m", "none"),
        (f"services:\n  v:\n    image: {IMAGE}\n    command: m\n", "none"),
        (f"services:\n  v:\n    image: {IMAGE}\n    command: m\n    gpus: all\n", "all"),
        (f"services:\n  v:\n    image: {IMAGE}\n    command: m\n    runtime: nvidia\n", None),
        (f"services:\n  v:\n    image: {IMAGE}\n    command: m\n    devices: [nvidia.com/gpu=all]\n", None),
        (f"services:\n  v:\n    image: {IMAGE}\n    command: m\n    environment: [NVIDIA_VISIBLE_DEVICES=all]\n", None),
    ],
)
def test_every_way_to_get_a_gpu(text: str, gpus: str | None) -> None:
    assert told(text).get("container.gpus") == gpus


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("all,capabilities=utility", "all"),
        ("device=GPU-3a,GPU-4b", "2"),
        ('"device=0,1",capabilities=compute', "2"),
        ("driver=nvidia,count=2", "2"),
        ("-1", "all"),
        ("capabilities=gpu", "all"),
        ("", ""),
    ],
)
def test_the_forms_of_the_option(given: str, meant: str) -> None:
    assert gpu_text(given) == meant


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: v}}
spec:
  runtimeClassName: {runtime}
  containers:
  - name: server
    image: vllm/vllm-openai:v0.22.0
    args: ["--model=$(MODEL)", "--max-model-len", "$(LEN)", "--tensor-parallel-size", "$(TP)"]
    env:
    - {{name: MODEL, value: Qwen/Qwen3-8B}}
    - {{name: TP, value: "2"}}
    - name: LEN
      valueFrom: {{configMapKeyRef: {{name: c, key: len}}}}
"""


def test_a_manifest_fills_in_its_own_variables() -> None:
    known = told(POD.format(runtime="nvidia"))
    assert known["model.name"] == "Qwen/Qwen3-8B"
    assert known["args.tensor_parallel_size"] == 2
    assert "args.max_model_len" not in known
    assert "container.gpus" not in known
    assert told(POD.format(runtime="runc"))["container.gpus"] == "none"


def test_an_option_of_docker_behind_the_image_is_a_flag_that_vllm_lacks() -> None:
    found = ids(check(f"docker run -p 8000:8000 {IMAGE} Qwen/Qwen3-8B --gpus all"))
    assert found["unknown-flag"].title == "vLLM 0.22.0 has no flag --gpus"
    assert "launch-container-without-gpu" in found


def test_a_misspelt_variable_keeps_its_value() -> None:
    found = ids(check(f"docker run --gpus all -e VLLM_NVFP4_GEMM_BACKND=marlin {IMAGE} m"))
    assert found["unknown-variable"].remedies[0].command == "VLLM_NVFP4_GEMM_BACKEND=marlin"
    named = ids(check(f"docker run --gpus all -e VLLM_MODEL=m {IMAGE}"))["unknown-variable"].remedies[0]
    assert named.kind not in ("env", "flag")
