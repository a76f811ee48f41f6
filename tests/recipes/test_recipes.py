"""Every recipe is read as its own program would read it, and run with stand-ins for daemons and clusters."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from logdoctor import recipes
from logdoctor.cli import app
from tests.probe.standin import Plan, StandIn
from tests.sample_logs import SAMPLES

from .stage import Stage

FAILED = SAMPLES / "cpu/0.17.1/max_len_gt_model.log"
ROOT_CAUSE = "max-model-len-above-derived"
HEALTHY = SAMPLES / "cpu/0.17.1/healthy.log"
BAD_LAUNCH = "docker run --gpus all vllm/vllm-openai:v0.17.1 serve facebook/opt-125m\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, FAILED)


def recipe(name: str) -> str:
    """The text of a recipe as the command prints it."""
    result = CliRunner().invoke(app, ["recipe", name])
    assert result.exit_code == 0, result.output
    return result.stdout


def document(name: str) -> Any:
    return yaml.safe_load(recipe(name))


# -- all of them ------------------------------------------------------------------------------------------------------


def test_the_list_tells_each_with_its_use() -> None:
    lines = recipe("list").splitlines()
    assert [line.split()[0] for line in lines] == list(recipes.names())
    assert len(lines) >= 11
    assert all(len(line.split()) > 4 for line in lines)


def test_an_unknown_recipe_names_those_there_are() -> None:
    with pytest.raises(Exception, match="docker-doctor"):
        CliRunner().invoke(app, ["recipe", "helm"], standalone_mode=False, catch_exceptions=False)


def test_a_recipe_can_be_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "vector.yaml"
    assert CliRunner().invoke(app, ["recipe", "vector", "--output", str(target)]).exit_code == 0
    assert target.read_text(encoding="utf-8") == recipe("vector")


@pytest.mark.parametrize("name", recipes.names())
def test_a_recipe_says_how_it_is_put_to_use_and_names_only_official_images(name: str) -> None:
    text = recipe(name)
    head = [line for line in text.splitlines()[:14] if line.startswith("#")]
    assert len(head) >= 3
    assert recipes.summary(name)
    images = re.findall(r"^\s*(?:- )?image: *(\S+)|^\s*FROM (\S+)", text, re.M)
    assert {image.partition(":")[0] for pair in images for image in pair if image} <= {"python", "vllm/vllm-openai"}


@pytest.mark.parametrize("name", [n for n in recipes.names() if recipe(n).startswith("#!")])
def test_a_script_is_plain_shell(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(recipe(name), encoding="utf-8")
    for shell in ("sh", "dash", "bash", "busybox"):
        if shutil.which(shell):
            words = [shell, "sh", "-n"] if shell == "busybox" else [shell, "-n"]
            subprocess.run([*words, str(path)], check=True)


@pytest.mark.parametrize("name", recipes.names())
def test_every_call_of_logdoctor_has_options_that_exist(name: str) -> None:
    known = all_options()
    for call in re.findall(r"\blogdoctor(?:\.entry)? [^\n|;&>\"')]*", recipe(name)):
        for option in re.findall(r"(?<=\s)--?[a-z][\w-]*", call):
            assert option in known, f"{option} in: {call}"


def all_options() -> set[str]:
    """Every option of every command."""
    from typer.main import get_command

    found: set[str] = set()
    waiting: list[Any] = [get_command(app)]
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        found.update(option for parameter in command.params for option in parameter.opts)
    return found | {"--help"}


# -- Docker -----------------------------------------------------------------------------------------------------------


def in_shell(stage: Stage, command: str, url: str, where: str) -> int:
    """Run a health command against another address than the one it names."""
    assert where in command
    return stage.run("sh", "-c", command.replace(where, url)).returncode


@pytest.mark.parametrize(
    ("plan", "status"), [(Plan(), 0), (Plan(health=503), 1), (None, 1)], ids=["in order", "sick", "nobody there"]
)
def test_the_health_of_the_side_car_is_that_of_the_server(stage: Stage, plan: Plan | None, status: int) -> None:
    health = document("compose")["services"]["doctor"]["healthcheck"]
    kind, command = health["test"]
    assert kind == "CMD-SHELL"
    if plan is None:
        assert in_shell(stage, command, "http://127.0.0.1:9", "http://vllm:8000") == status
        return
    with StandIn(plan) as server:
        assert in_shell(stage, command, server.url, "http://vllm:8000") == status


def test_the_compose_file_starts_vllm_with_the_model_first() -> None:
    services = document("compose")["services"]
    assert services["vllm"]["image"].startswith("vllm/vllm-openai:")
    assert services["vllm"]["command"][0].startswith("${MODEL")
    assert services["doctor"]["depends_on"] == ["vllm"]
    assert "FROM python:" in services["doctor"]["build"]["dockerfile_inline"]


def test_the_compose_file_passes_the_check_of_launches(stage: Stage) -> None:
    (stage.directory / "compose.yaml").write_text(recipe("compose"), encoding="utf-8")
    done = stage.run("logdoctor", "check", "compose.yaml", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_side_car_by_hand(stage: Stage) -> None:
    (stage.directory / "docker-sidecar.sh").write_text(recipe("docker-sidecar"), encoding="utf-8")
    assert stage.run("sh", "docker-sidecar.sh").returncode != 0
    assert stage.run("sh", "docker-sidecar.sh", "nemotron", "8001").returncode != 0
    assert stage.run("sh", "docker-sidecar.sh", "nemotron", "8001", "logdoctor-0.1.0-py3-none-any.whl").returncode == 0
    words = (stage.directory / "run.words").read_text(encoding="utf-8").splitlines()
    assert words[words.index("--name") + 1] == "nemotron-doctor"
    command = words[words.index("--health-cmd") + 1]
    assert in_shell(stage, command, "http://127.0.0.1:9", "http://host.docker.internal:8001") == 1
    with StandIn() as server:
        assert in_shell(stage, command, server.url, "http://host.docker.internal:8001") == 0
    start = words[words.index("python:3.12-slim") + 1 :]
    assert stage.run(*start).returncode == 0
    assert "logdoctor-0.1.0" in (stage.directory / "pip.calls").read_text(encoding="utf-8")


def plug_in(stage: Stage) -> Path:
    path = stage.directory / ".docker" / "cli-plugins" / "docker-doctor"
    path.parent.mkdir(parents=True)
    path.write_text(recipe("docker-doctor"), encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_docker_plug_in_introduces_itself(stage: Stage) -> None:
    done = stage.run(str(plug_in(stage)), "docker-cli-plugin-metadata")
    told = json.loads(done.stdout)
    assert told["SchemaVersion"] == "0.1.0"
    assert {"Vendor", "Version", "ShortDescription"} <= told.keys()
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", told["Version"])


def test_the_docker_plug_in_diagnoses_a_container(stage: Stage) -> None:
    done = stage.run(str(plug_in(stage)), "doctor", "nemotron", "--format", "json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["boots"][-1]["root_cause"] == ROOT_CAUSE
    assert report["source"] == "nemotron"


def test_the_docker_plug_in_passes_on_which_daemon_is_meant(stage: Stage) -> None:
    stage.put("docker", 'echo "$DOCKER_HOST $DOCKER_CONTEXT" >&2; exit 1')
    path = plug_in(stage)
    options = ["--log-level", "debug", "-H", "ssh://gpu", "--context=spark"]
    done = stage.run(str(path), *options, "doctor", "nemotron")
    assert done.returncode == 2
    assert "ssh://gpu spark" in done.stderr


@pytest.mark.parametrize(("words", "status"), [(["doctor"], 1), (["doctor", "--help"], 0), (["doctor", "missing"], 2)])
def test_the_docker_plug_in_without_a_container(stage: Stage, words: list[str], status: int) -> None:
    done = stage.run(str(plug_in(stage)), *words)
    assert done.returncode == status
    assert "Usage:" in done.stdout or "knows no container" in done.stderr


@pytest.mark.skipif(shutil.which("docker") is None, reason="needs the docker command (no daemon)")
def test_the_docker_command_takes_the_plug_in(stage: Stage) -> None:
    plug_in(stage)
    docker = shutil.which("docker")
    assert docker is not None
    done = stage.run(docker, "doctor", "nemotron", "--format", "json", DOCKER_CONFIG=str(stage.directory / ".docker"))
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["boots"][-1]["root_cause"] == ROOT_CAUSE


# -- Kubernetes -------------------------------------------------------------------------------------------------------


class Pod:
    """The container of the recipe, its paths inside the stage."""

    def __init__(self, stage: Stage, server: str) -> None:
        self.stage = stage
        self.spec = document("kubernetes")["spec"]
        (stage.directory / "doctor").mkdir()
        self.message = stage.directory / "termination-log"
        self.message.touch()  # as the kubelet does
        self.own_log = stage.directory / "container.log"
        self.own_log.touch()
        stage.put("vllm", server)

    def inside(self, text: str) -> str:
        """The text with the paths of this machine."""
        text = text.replace("/doctor/", f"{self.stage.directory}/doctor/").replace("PYTHONPATH=", "OTHER_PATH=")
        text = text.replace("/dev/termination-log", str(self.message))
        return text.replace("/proc/1/fd/1", str(self.own_log))

    @property
    def words(self) -> list[str]:
        (container,) = self.spec["containers"]
        return [*container["command"], *(self.inside(text) for text in container["args"])]


def test_the_termination_message_is_the_diagnosis(stage: Stage) -> None:
    pod = Pod(stage, 'cat "$STAGE/vllm.log"; exit 7')
    for _ in range(2):  # the volume outlives a restart of the container
        done = stage.run(*pod.words, MODEL="owner/name")
        assert done.returncode == 7, done.stderr
        assert done.stdout == stage.log.read_text(encoding="utf-8")
        message = pod.message.read_text(encoding="utf-8")
        assert ROOT_CAUSE in message
        assert len(message.encode()) <= 1024


def test_a_stop_reaches_the_server(stage: Stage) -> None:
    server = "trap 'echo stopping; exit 0' TERM; echo up; while :; do /bin/sleep 0.1; done"
    pod = Pod(stage, server)
    environ = {**os.environ, "PATH": f"{stage.bin}:{os.environ['PATH']}", "STAGE": str(stage.directory), "MODEL": "m"}
    shell = subprocess.Popen(pod.words, env=environ, stdout=subprocess.PIPE, text=True, cwd=stage.directory)
    assert shell.stdout is not None
    assert shell.stdout.readline() == "up\n"
    shell.send_signal(signal.SIGTERM)
    assert shell.wait(timeout=60) == 0
    assert "stopping" in shell.stdout.read()


def test_the_hook_before_a_stop_writes_one_record(stage: Stage) -> None:
    pod = Pod(stage, "")
    shutil.copy(stage.log, stage.directory / "doctor" / "server.log")
    (container,) = pod.spec["containers"]
    command = container["lifecycle"]["preStop"]["exec"]["command"]
    assert stage.run(*map(pod.inside, command)).returncode == 0
    (record,) = pod.own_log.read_text(encoding="utf-8").splitlines()
    assert ROOT_CAUSE in json.dumps(json.loads(record))


def test_both_containers_have_the_same_python_and_volume() -> None:
    spec = document("kubernetes")["spec"]
    (first,), (second,) = spec["initContainers"], spec["containers"]
    assert first["image"] == second["image"]
    assert first["volumeMounts"][0] in second["volumeMounts"]
    assert {mount["name"] for mount in second["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    assert first["command"][-1].endswith('"$LOGDOCTOR"')
    assert [variable["name"] for variable in first["env"]] == ["LOGDOCTOR"]


# -- systemd ----------------------------------------------------------------------------------------------------------


def stop_post() -> list[str]:
    """The words of ExecStopPost as systemd hands them over."""
    (line,) = (line for line in recipe("systemd").splitlines() if line.startswith("ExecStopPost="))
    command = line.removeprefix("ExecStopPost=").removeprefix("-")
    return shlex.split(command.replace("%N", "vllm").replace("$$", "$"))


@pytest.mark.parametrize(("result", "written"), [("exit-code", True), ("success", False)])
def test_systemd_writes_a_diagnosis_after_a_failure_only(stage: Stage, result: str, written: bool) -> None:
    stage.put("journalctl", 'echo "$@" > "$STAGE/journal.words"; cat "$STAGE/vllm.log"')
    stage.run(*stop_post(), SERVICE_RESULT=result, INVOCATION_ID="abc123", LOGS_DIRECTORY=str(stage.directory))
    report = stage.directory / "vllm.txt"
    assert report.exists() is written
    if written:
        assert ROOT_CAUSE in report.read_text(encoding="utf-8")
        assert "_SYSTEMD_INVOCATION_ID=abc123" in (stage.directory / "journal.words").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_drop_in(tmp_path: Path) -> None:
    unit = tmp_path / "vllm.service"
    unit.write_text(f"[Service]\nExecStart=/bin/true\n{recipe('systemd')}", encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], text=True, capture_output=True)
    assert not [line for line in done.stderr.splitlines() if "vllm.service" in line], done.stderr


# -- CI ---------------------------------------------------------------------------------------------------------------


def steps() -> dict[str, dict[str, Any]]:
    """The steps of the workflow by their names."""
    (job,) = document("github-actions")["jobs"].values()
    return {step["name"]: step for step in job["steps"] if "name" in step}


def test_the_workflow_annotates_and_writes_the_summary(stage: Stage) -> None:
    step = steps()["Diagnose"]
    assert step["if"] == "always()"
    done = stage.shell(step["run"], GITHUB_STEP_SUMMARY=str(stage.directory / "summary.md"))
    assert done.returncode == 1
    assert "::error file=vllm.log" in done.stdout
    assert ROOT_CAUSE in (stage.directory / "summary.md").read_text(encoding="utf-8")


def test_the_workflow_stops_before_a_launch_that_cannot_work(stage: Stage) -> None:
    (stage.directory / "serve.sh").write_text(BAD_LAUNCH, encoding="utf-8")
    done = stage.shell(steps()["Check the launch before anything is loaded"]["run"])
    assert done.returncode == 1
    assert "::error" in done.stdout


def test_the_workflow_waits_for_health(stage: Stage) -> None:
    (stage.directory / "serve.sh").write_text("docker run vllm\n", encoding="utf-8")
    assert stage.shell(steps()["Start vLLM and wait until it is up"]["run"]).returncode == 0


def test_the_gitlab_job_leaves_both_reports(stage: Stage) -> None:
    job = document("gitlab-ci")["diagnose-vllm"]
    done = stage.shell("\n".join(job["script"]))
    assert done.returncode == 1
    assert ROOT_CAUSE in done.stdout
    reports = job["artifacts"]["reports"]
    assert ROOT_CAUSE in json.dumps(json.loads((stage.directory / reports["codequality"]).read_text(encoding="utf-8")))
    assert ROOT_CAUSE in (stage.directory / reports["junit"]).read_text(encoding="utf-8")


def hook(stage: Stage, *files: str) -> subprocess.CompletedProcess[str]:
    """Run the pre-commit hook over files."""
    (entry,) = (one["entry"] for repo in document("pre-commit")["repos"] for one in repo["hooks"])
    return stage.run(*shlex.split(entry), *files)


def test_the_hook_refuses_a_launch_that_cannot_work(stage: Stage) -> None:
    (stage.directory / "bad launch.sh").write_text(BAD_LAUNCH, encoding="utf-8")
    (stage.directory / "good.sh").write_text(BAD_LAUNCH.replace(" serve ", " "), encoding="utf-8")
    (stage.directory / "other.yaml").write_text("a: [1\n", encoding="utf-8")
    assert hook(stage, "good.sh", "other.yaml").returncode == 0
    done = hook(stage, "bad launch.sh", "good.sh")
    assert done.returncode == 1
    assert "serve" in done.stdout


# -- metrics and records ----------------------------------------------------------------------------------------------


def test_cron_writes_metrics_for_each_container(stage: Stage) -> None:
    script = stage.directory / "logdoctor-metrics"
    script.write_text(recipe("cron-prometheus"), encoding="utf-8")
    done = stage.run("sh", str(script), "nemotron", "qwen", TEXTFILE_DIRECTORY=str(stage.directory))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    for name in ("nemotron", "qwen"):
        metrics = (stage.directory / f"logdoctor-{name}.prom").read_text(encoding="utf-8")
        assert f'source="{name}"' in metrics
        assert f'id="{ROOT_CAUSE}"' in metrics


def test_cron_is_told_what_could_not_be_done(stage: Stage) -> None:
    script = stage.directory / "logdoctor-metrics"
    script.write_text(recipe("cron-prometheus"), encoding="utf-8")
    done = stage.run("sh", str(script), "missing", "nemotron", TEXTFILE_DIRECTORY=str(stage.directory))
    assert done.returncode == 1
    assert "missing" in done.stderr
    assert (stage.directory / "logdoctor-nemotron.prom").exists()


def vector_command() -> list[str]:
    source = document("vector")["sources"]["logdoctor"]
    assert (source["type"], source["mode"], source["decoding"]["codec"]) == ("exec", "scheduled", "json")
    return list(source["command"])


def fluent_bit_command() -> list[str]:
    loaded = document("fluent-bit")
    (given,) = loaded["pipeline"]["inputs"]
    assert given["parser"] in {parser["name"] for parser in loaded["parsers"]}
    assert loaded["pipeline"]["outputs"][0]["match"] == given["tag"]
    return ["sh", "-c", given["command"]]  # handed to popen


@pytest.mark.parametrize("command", [vector_command, fluent_bit_command])
def test_a_shipper_gets_one_record(stage: Stage, command: Callable[[], list[str]]) -> None:
    done = stage.run(*command())
    assert done.returncode == 0
    (line,) = done.stdout.splitlines()
    assert len(line) < 128 * 1024
    assert ROOT_CAUSE in json.dumps(json.loads(line))


def test_the_sinks_take_what_the_sources_give() -> None:
    loaded = document("vector")
    assert [sink["inputs"] for sink in loaded["sinks"].values()] == [list(loaded["sources"])]
