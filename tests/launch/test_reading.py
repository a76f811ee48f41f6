"""Which launch a text is, and what is read from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from logdoctor.launch import Kind, LaunchCommand, LaunchError, read_launch

OFFICIAL = "vllm/vllm-openai:v0.17.1"


def argv(launch: LaunchCommand) -> list[str]:
    return [word.value for word in launch.argv]


def env(launch: LaunchCommand) -> dict[str, str | None]:
    return {name: variable.value for name, variable in launch.env.items()}


# -- scripts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "program", "expected"),
    [
        ("vllm serve a/b --seed 1", "vllm serve", ["a/b", "--seed", "1"]),
        ("sudo -E /opt/v/bin/vllm serve a/b", "vllm serve", ["a/b"]),
        ("numactl -N 0 vllm serve a/b", "vllm serve", ["a/b"]),
        ("nohup python -m vllm.entrypoints.openai.api_server --model a/b &", "api_server", ["--model", "a/b"]),
        ("python3 -m vllm.entrypoints.cli.main serve a/b", "vllm serve", ["a/b"]),
        ("if true; then exec vllm serve a/b; fi", "vllm serve", ["a/b"]),
        ("bash -lc 'source /x && vllm serve a/b --seed 1'", "vllm serve", ["a/b", "--seed", "1"]),
        ("$ vllm serve a/b", "vllm serve", ["a/b"]),
        ("echo vllm serve c/d\nvllm serve a/b", "vllm serve", ["a/b"]),
    ],
)
def test_a_server_on_a_machine(text: str, program: str, expected: list[str]) -> None:
    launch = read_launch(text)
    assert (launch.kind, launch.program, argv(launch)) == (Kind.SERVE, program, expected)
    assert not launch.env_complete


def test_variables_of_a_script() -> None:
    launch = read_launch("export A=1 B='x y'\nC=2\nexport C\nD=3\nE=4 env F=5 vllm serve m")
    assert env(launch) == {"A": "1", "B": "x y", "C": "2", "E": "4", "F": "5"}


def test_what_the_script_sets_is_put_in_and_the_rest_is_left() -> None:
    launch = read_launch('M=a/b\nL=${LEN:-4096}\nvllm serve "$M" --max-model-len $L --seed $SEED')
    assert argv(launch) == ["a/b", "--max-model-len", "4096", "--seed", "$SEED"]
    assert "what $SEED stands for" in launch.unknown


def test_arrays_and_texts_of_words_are_followed() -> None:
    launch = read_launch(
        'A=(--seed 1 # why\n --enforce-eager)\nA+=(--dtype half)\nE="--port 9 --host x"\nvllm serve m "${A[@]}" $E "$@"'
    )
    words = ["m", "--seed", "1", "--enforce-eager", "--dtype", "half", "--port", "9", "--host", "x", "$@"]
    assert argv(launch) == words


def test_variables_cannot_make_a_value_grow_without_end() -> None:
    lines = ["A=xxxxxxxxxx"] + [f"A{n}=$A$A$A$A\nA=$A{n}" for n in range(40)]
    assert len(argv(read_launch("\n".join([*lines, "vllm serve $A"])))[0]) < 100_000


def test_a_comment_that_ends_the_command_is_told() -> None:
    launch = read_launch("vllm serve m \\\n  --seed 1 \\\n  # --dtype half \\\n  --port 9\n")
    assert argv(launch) == ["m", "--seed", "1"]
    assert any("ends the command too early (line 2)" in text for text in launch.unknown)


# -- docker run -------------------------------------------------------------------------------------------------------


def test_docker_run() -> None:
    launch = read_launch(
        "docker --context x run -itd --name=nemo --gpus all --shm-size 16g --ipc=host -p 127.0.0.1:80:8000/tcp "
        f"-v /a:/b --env-file e.env -eA=1 --env B -e 'C=x y' --restart always {OFFICIAL} m --seed 1"
    )
    assert (launch.kind, launch.name, launch.image) == (Kind.DOCKER, "nemo", OFFICIAL)
    assert str(launch.version) == "0.17.1"
    assert argv(launch) == ["m", "--seed", "1"]
    assert env(launch) == {"A": "1", "B": None, "C": "x y"}
    container = launch.container
    assert (container.gpus, container.shm, container.ipc_host) == ("all", "16g", True)
    assert (container.ports, container.mounts) == ((("80", "8000"),), ("/a:/b",))
    assert not launch.env_complete
    assert "the variables of e.env" in launch.unknown


@pytest.mark.parametrize(
    ("image", "words", "program", "repeated", "expected"),
    [
        (OFFICIAL, "serve m --seed 1", "vllm serve", ["serve"], ["m", "--seed", "1"]),
        (OFFICIAL, "vllm serve m", "vllm serve", ["vllm", "serve"], ["m"]),
        (OFFICIAL, "m", "vllm serve", [], ["m"]),
        ("vllm/vllm-openai:v0.9.1", "--model m", "api_server", [], ["--model", "m"]),
        ("vllm/vllm-openai:v0.11.0", "--model m", "", [], ["--model", "m"]),
        ("vllm/vllm-openai:latest", "m", "vllm serve", [], ["m"]),
        ("nvcr.io/nvidia/vllm:26.01-py3", "vllm serve m", "vllm serve", [], ["m"]),
        ("acme/vllm", "serve m", "vllm serve", [], ["m"]),
        ("acme/vllm", "bash -c 'vllm serve m --seed 1'", "vllm serve", [], ["m", "--seed", "1"]),
    ],
)
def test_what_the_image_starts_itself(
    image: str, words: str, program: str, repeated: list[str], expected: list[str]
) -> None:
    launch = read_launch(f"docker run --gpus all {image} {words}")
    assert launch.program == program
    assert [word.value for word in launch.repeated] == repeated
    assert argv(launch) == expected


def test_an_entry_point_of_its_own() -> None:
    launch = read_launch(f"docker run --entrypoint bash {OFFICIAL} -c 'export X=1; exec vllm serve m'")
    assert (launch.program, argv(launch), env(launch)) == ("vllm serve", ["m"], {"X": "1"})
    launch = read_launch(f"docker run --entrypoint vllm {OFFICIAL} serve m")
    assert (launch.program, argv(launch), launch.repeated) == ("vllm serve", ["m"], ())


@pytest.mark.parametrize(
    ("options", "gpus"),
    [
        ("--gpus all", "all"),
        ("--gpus 2", "2"),
        ("--gpus '\"device=0,1\"'", "device=0,1"),
        ("--device nvidia.com/gpu=all", "all"),
        ("--runtime nvidia", ""),
        ("--rm", "none"),
    ],
)
def test_the_gpus_of_a_container(options: str, gpus: str) -> None:
    assert read_launch(f"docker run {options} {OFFICIAL} m").container.gpus == gpus


def test_the_first_of_several_servers_is_read() -> None:
    launch = read_launch(f"docker run redis\ndocker run {OFFICIAL} a\nvllm serve b\n")
    assert argv(launch) == ["a"]
    assert "the file starts 2 servers; only the first is read" in launch.unknown


@pytest.mark.parametrize("text", ["", "echo hello", "docker run redis", "docker run", "pip install vllm", "a: 1", "[]"])
def test_what_is_no_launch_is_refused(text: str) -> None:
    with pytest.raises(LaunchError):
        read_launch(text)


# -- compose ----------------------------------------------------------------------------------------------------------

COMPOSE = f"""\
x-env: &env
  HF_TOKEN: ${{HF_TOKEN}}
services:
  db: {{image: postgres}}
  nemo:
    image: {OFFICIAL}
    environment:
      <<: *env
      VLLM_X: "1"
    command: ["m", "--max-model-len", "${{LEN:-4096}}"]
    shm_size: 8gb
    ports: ["8000:8000"]
    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, count: 2}}]}}}}}}
"""


def test_a_compose_file() -> None:
    launch = read_launch(COMPOSE)
    assert (launch.kind, launch.name, launch.program) == (Kind.COMPOSE, "nemo", "vllm serve")
    assert argv(launch) == ["m", "--max-model-len", "4096"]
    assert env(launch) == {"HF_TOKEN": "${HF_TOKEN}", "VLLM_X": "1"}
    assert (launch.container.gpus, launch.container.shm, launch.container.ports) == ("2", "8gb", (("8000", "8000"),))
    assert launch.env_complete


def test_a_service_is_chosen_and_the_others_are_named() -> None:
    text = COMPOSE + f"  second: {{image: '{OFFICIAL}', command: --model n}}\n"
    assert any("also: second" in one for one in read_launch(text).unknown)
    assert argv(read_launch(text, service="second")) == ["--model", "n"]
    with pytest.raises(LaunchError, match="its services: db"):
        read_launch(text, service="db")


def test_an_entry_point_in_compose() -> None:
    text = "services:\n  a:\n    image: acme\n    entrypoint: [bash, -c]\n    command:\n    - vllm serve m --seed 1\n"
    assert argv(read_launch(text)) == ["m", "--seed", "1"]


def test_what_stands_at_an_anchor_is_told() -> None:
    text = f"x: &c [m]\nservices:\n  a:\n    image: {OFFICIAL}\n    command: *c\n"
    assert any("anchor" in one for one in read_launch(text).unknown)


# -- docker inspect ---------------------------------------------------------------------------------------------------


def inspected(**changes: Any) -> str:
    container: dict[str, Any] = {
        "Name": "/nemo",
        "RestartCount": 3,
        "State": {"Status": "exited", "Running": False, "ExitCode": 137, "OOMKilled": True},
        "Config": {
            "Image": OFFICIAL,
            "Env": ["PATH=/usr/bin", "CUDA_VERSION=13.0", "VLLM_X=1", "NOTE=a b"],
            "Entrypoint": ["vllm", "serve"],
            "Cmd": ["m", "--hf-overrides", '{"a": 1}', "--seed", "-1"],
        },
        "HostConfig": {
            "ShmSize": 2**34,
            "IpcMode": "host",
            "NetworkMode": "bridge",
            "Binds": ["/a b:/c:ro"],
            "PortBindings": {"8000/tcp": [{"HostIp": "", "HostPort": "80"}]},
            "DeviceRequests": [{"Driver": "nvidia", "Count": -1}],
            "RestartPolicy": {"Name": "on-failure", "MaximumRetryCount": 3},
            "Ulimits": [{"Name": "memlock", "Soft": -1, "Hard": -1}],
        },
    }
    container.update(changes)
    return json.dumps([container])


def test_docker_inspect_becomes_a_command() -> None:
    launch = read_launch(inspected())
    assert launch.kind is Kind.INSPECT
    assert launch.text.replace(" \\\n ", "") == (
        "docker run -d --name nemo --restart on-failure:3 --gpus all --shm-size 16g --ipc host -p 80:8000 "
        f"-v '/a b:/c:ro' --ulimit memlock=-1 -e VLLM_X=1 -e 'NOTE=a b' {OFFICIAL} m "
        "--hf-overrides '{\"a\": 1}' --seed -1\n"
    )
    assert argv(launch) == ["m", "--hf-overrides", '{"a": 1}', "--seed", "-1"]
    container = launch.container
    assert (container.exit_code, container.oom_killed, container.restarts) == (137, True, 3)
    assert launch.env_complete
    assert "variables that the image sets itself were left out: CUDA_VERSION, PATH" in launch.unknown


def test_an_entry_point_that_inspect_shows_and_the_image_does_not_bring() -> None:
    launch = read_launch(inspected(Config={"Image": "acme/x", "Entrypoint": ["bash", "-c"], "Cmd": ["vllm serve m"]}))
    assert "--entrypoint bash" in launch.text
    assert argv(launch) == ["m"]


def test_a_running_container_has_no_exit_code() -> None:
    state = {"Status": "running", "Running": True, "ExitCode": 0, "OOMKilled": False}
    assert read_launch(inspected(State=state)).container.exit_code is None


def test_hostile_names_in_inspect_stay_words() -> None:
    name = "x; touch /tmp/pwned #"
    launch = read_launch(inspected(Name=name, Config={"Image": OFFICIAL, "Cmd": ["$(id)", "`id`"]}))
    assert launch.name == name
    assert argv(launch) == ["$(id)", "`id`"]
    assert not any(word.expands for word in launch.argv)


# -- Kubernetes -------------------------------------------------------------------------------------------------------

MANIFEST = f"""\
apiVersion: v1
kind: Service
metadata: {{name: vllm}}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: nemo
spec:
  leaderWorkerTemplate:
    leaderTemplate:
      spec:
        containers:
        - name: vllm
          image: {OFFICIAL}
          command: [vllm, serve]
          args: ["m", "--seed=1"]
          env:
          - name: HF_TOKEN
            valueFrom: {{secretKeyRef: {{name: hf, key: token}}}}
          - name: VLLM_X
            value: "1"
          envFrom: [{{configMapRef: {{name: c}}}}]
          resources: {{limits: {{nvidia.com/gpu: "8"}}}}
          volumeMounts: [{{name: shm, mountPath: /dev/shm}}]
        volumes:
        - name: shm
          emptyDir: {{medium: Memory, sizeLimit: 16Gi}}
"""


def test_a_manifest() -> None:
    launch = read_launch(MANIFEST)
    assert (launch.kind, launch.name) == (Kind.KUBERNETES, "leaderworkerset/nemo container vllm")
    assert (launch.program, argv(launch)) == ("vllm serve", ["m", "--seed=1"])
    assert env(launch) == {"HF_TOKEN": None, "VLLM_X": "1"}
    assert (launch.container.gpus, launch.container.shm) == ("8", "16Gi")
    assert not launch.env_complete
    assert "the variables of config maps and secrets" in launch.unknown


def test_the_state_of_a_pod() -> None:
    text = (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{}}\nspec:\n  containers:\n  - {{name: v, image: '{OFFICIAL}'}}\n"
        "status:\n  containerStatuses:\n  - name: v\n    restartCount: 4\n"
        "    lastState: {terminated: {exitCode: 137, reason: OOMKilled}}\n"
    )
    container = read_launch(text).container
    assert (container.exit_code, container.oom_killed, container.restarts) == (137, True, 4)


def test_a_script_that_holds_a_manifest_is_a_script() -> None:
    text = "#!/bin/sh\nkubectl apply -f - <<E\napiVersion: v1\nkind: Pod\nE\nvllm serve m\n"
    assert read_launch(text).kind is Kind.SERVE
    assert read_launch(text.removeprefix("#!/bin/sh\n")).kind is Kind.SERVE


def test_a_manifest_without_the_server_is_refused() -> None:
    with pytest.raises(LaunchError, match="no container"):
        read_launch("apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {containers: [{name: a, image: redis}]}\n")
