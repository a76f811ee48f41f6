"""`check`, `--launch`, `--container` and `--nvidia-smi`, as the command line runs them."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from logdoctor.checking import run_check
from logdoctor.commands import Request, run_diagnosis
from logdoctor.console import CommandFailed

LOG = Path(__file__).parent.parent / "samples" / "gpu" / "max-model-len-too-long.log"
SCRIPT = """\
docker run --gpus all -p 8000:8000 \\
  -e HF_TOKEN=hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345 \\
  vllm/vllm-openai:v0.20.0 \\
  serve Qwen/Qwen3-8B --max-model-len 131072
"""


SCRIPT_OF_LOG = SCRIPT.replace("v0.20.0", "v0.26.0").replace("Qwen/Qwen3-8B", "/models/mid-llama-11b")


@pytest.fixture
def script_of_log(tmp_path: Path) -> Path:
    path = tmp_path / "start llama.sh"
    path.write_text(SCRIPT_OF_LOG)
    return path


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "start nemo.sh"
    path.write_text(SCRIPT)
    return path


def call(*words: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "logdoctor.entry", *words],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def as_json(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_check_finds_and_corrects(script: Path) -> None:
    done = call("check", str(script), "--format", "json")
    report = as_json(done.stdout)
    assert done.returncode == 1
    assert report["verdict"] == "failed"
    assert report["source"] == "start nemo.sh"
    assert report["boots"][0]["findings"][0]["id"] == "launch-program-repeated"
    assert "  Qwen/Qwen3-8B --max-model-len" in report["launch"]["corrected"]
    assert "hf_aBc" not in done.stdout


def test_check_of_a_corrected_launch_is_quiet(script: Path) -> None:
    script.write_text(SCRIPT.replace("serve ", ""))
    done = call("check", str(script), "--fact", "gpu.name=NVIDIA H100")
    assert done.returncode == 0
    assert call("check", "-", stdin=script.read_bytes()).returncode == 0


def test_check_takes_what_nvidia_smi_prints(script: Path, tmp_path: Path) -> None:
    gpus = tmp_path / "gpus.csv"
    gpus.write_text("name, memory.total [MiB], compute_cap\nTesla T4, 15360 MiB, 7.5\n")
    script.write_text(SCRIPT.replace("serve ", "") + "")
    result = run_check(str(script), str(gpus), Request(format="json"), io.BytesIO())
    report = as_json(result.text)
    assert report["boots"][0]["facts"]["gpu.compute_capability"]["value"] == "7.5"
    assert "launch-weights-do-not-fit" in [finding["id"] for finding in report["boots"][0]["findings"]]


@pytest.mark.parametrize("format_", ["terminal", "markdown", "json"])
def test_the_exit_status_does_not_depend_on_the_format(script: Path, format_: str) -> None:
    assert run_check(str(script), "", Request(format=format_), io.BytesIO()).status == 1
    assert run_check(str(script), "", Request(format=format_, fail_on="fatal"), io.BytesIO()).status == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "/no/such/file"], "cannot read the launch file /no/such/file: No such file or directory"),
        (["check", "-"], "the launch file is empty"),
        (["check", "-", "--nvidia-smi", "-"], "only one of the launch and --nvidia-smi can be standard input"),
        (["check", __file__, "--nvidia-smi", __file__], "no GPU in the nvidia-smi output"),
        ([str(LOG), "--launch", "/no/such/file"], "cannot read the launch file"),
        ([str(LOG), "--launch", str(LOG)], "no vLLM launch in the file"),
        (["-", "--launch", "-"], "standard input can be only one of"),
        ([str(LOG), "--container", "nemo"], "--container brings its own log"),
        (["--container", "a b"], "'a b' is no container name or id"),
        (["--container", "--help"], ""),
        (["--follow", "--container", "nemo"], "to follow a container: docker logs -f NAME"),
    ],
)
def test_what_cannot_be_done_is_one_line(words: list[str], message: str) -> None:
    done = call(*words)
    assert done.returncode == 2
    assert message in done.stderr
    if message:
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1


def test_a_log_with_its_launch(script_of_log: Path) -> None:
    result = run_diagnosis(Request(paths=(str(LOG),), format="json", launch=str(script_of_log)), io.BytesIO())
    report = as_json(result.text)
    assert report["boots"][0]["facts"]["env.HF_TOKEN"]["origin"] == "launch"
    assert report["boots"][0]["facts"]["vllm.version"]["origin"] == "log"
    length = report["boots"][0]["findings"][0]["remedies"][0]["command"].split()[1]
    assert f"--max-model-len {length}" in report["launch"]["corrected"]
    assert "hf_aBc" not in result.text


def test_a_log_from_standard_input_with_its_launch(script: Path) -> None:
    done = call("--launch", str(script), "--format", "json", stdin=LOG.read_bytes())
    assert as_json(done.stdout)["launch"] is not None


STAND_IN = """\
#!/bin/sh
case "$1" in
  inspect) cat "$(dirname "$0")/inspect.json" ;;
  logs) cat "$(dirname "$0")/log" >&2 ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path) -> Path:
    """A directory with a stand-in for docker that knows one container."""
    directory = tmp_path / "bin"
    directory.mkdir()
    program = directory / "docker"
    program.write_text(STAND_IN)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (directory / "log").write_bytes(LOG.read_bytes())
    config = {
        "Image": "vllm/vllm-openai:v0.26.0",
        "Entrypoint": ["vllm", "serve"],
        "Cmd": ["/models/mid-llama-11b", "--max-model-len", "131072"],
        "Env": ["HF_TOKEN=hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"],
    }
    state = {"Running": False, "Status": "exited", "ExitCode": 1, "OOMKilled": False}
    described = [{"Name": "/nemo", "Config": config, "State": state, "HostConfig": {}, "RestartCount": 5}]
    (directory / "inspect.json").write_text(json.dumps(described))
    return directory


def test_a_container_by_its_name(docker: Path) -> None:
    done = call("--container", "nemo", "--format", "json", PATH=f"{docker}:{os.environ['PATH']}")
    report = as_json(done.stdout)
    assert done.returncode == 1
    assert report["source"] == "nemo"
    assert report["boots"][0]["findings"][0]["id"] == "kv-cache-one-request"
    facts = report["boots"][0]["facts"]
    assert (facts["container.exit_code"]["value"], facts["container.restarts"]["value"]) == (1, 5)
    assert report["launch"]["original"].startswith("docker run -d \\\n  --name nemo")
    assert "--max-model-len 131072" not in report["launch"]["corrected"]
    assert "hf_aBc" not in done.stdout


def test_a_container_that_is_described_as_something_else_still_has_a_log(docker: Path) -> None:
    (docker / "inspect.json").write_text('[{"Config": {"Image": "acme/x"}, "State": {}}]')
    done = call("--container", "nemo", "--format", "json", PATH=f"{docker}:{os.environ['PATH']}")
    assert as_json(done.stdout)["boots"][0]["findings"][0]["id"] == "kv-cache-one-request"


def test_files_of_windows_and_of_utf_16_are_read(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        path = tmp_path / encoding
        path.write_bytes(SCRIPT.replace("\n", "\r\n").encode(encoding))
        assert run_check(str(path), "", Request(format="json"), io.BytesIO()).status == 1


def test_a_launch_file_of_any_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(CommandFailed, match="more than 16 MiB"):
        run_check(str(path), "", Request(), io.BytesIO())


@pytest.mark.parametrize("format_", ["text", "terminal", "markdown", "html", "jira", "issue", "termination"])
def test_a_launch_that_never_ran_is_not_up(tmp_path: Path, format_: str) -> None:
    launch = tmp_path / "run.sh"
    launch.write_text(
        "docker run -d --gpus all --ipc=host -p 8000:8000 -v hf:/root/.cache/huggingface "
        "vllm/vllm-openai:v0.26.0 Qwen/Qwen3-8B --max-model-len 32768\n"
    )
    result = run_check(str(launch), "", Request(format=format_), io.BytesIO())
    assert "LAUNCH LOOKS RIGHT" in result.text
    assert "READY" not in result.text
    assert result.status == 0
