"""Asking docker and podman, with a stand-in on PATH."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from logdoctor.launch import ContainerError, container_input, read_launch

INSPECT = json.dumps(
    [{"Name": "/nemo", "State": {}, "Config": {"Image": "vllm/vllm-openai:v0.17.1", "Cmd": ["m"]}, "HostConfig": {}}]
)
GOOD = """\
echo "$@" >> "$0.calls"
case "$1" in
  inspect) cat "$0.json" ;;
  logs) echo "to standard output"; echo "to standard error" >&2; echo "again" ;;
esac
"""


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory in front of what the stand-ins themselves need."""
    for tool in ("sh", "cat", "echo", "head", "yes", "sleep"):
        found = next((Path(place) / tool for place in ("/bin", "/usr/bin") if (Path(place) / tool).exists()), None)
        if found is not None:
            (tmp_path / tool).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def stand_in(directory: Path, name: str, body: str = GOOD) -> Path:
    path = directory / name
    path.write_text(f"#!{directory / 'sh'}\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (directory / f"{name}.json").write_text(INSPECT)
    return path


@pytest.mark.parametrize("tool", ["docker", "podman"])
def test_both_streams_and_the_description(bin_dir: Path, tool: str) -> None:
    stand_in(bin_dir, tool)
    found = container_input("nemo")
    assert found.runner == tool
    with found.log as log:
        assert log.read() == b"to standard output\nto standard error\nagain\n"
    assert read_launch(found.inspect).name == "nemo"
    calls = (bin_dir / f"{tool}.calls").read_text().splitlines()
    assert calls == ["inspect --type container -- nemo", "logs -- nemo"]


def test_docker_is_asked_first_and_podman_when_wanted(bin_dir: Path) -> None:
    stand_in(bin_dir, "docker")
    stand_in(bin_dir, "podman")
    assert container_input("nemo").runner == "docker"
    assert container_input("nemo", "podman").runner == "podman"


def test_podman_is_asked_for_what_docker_does_not_know(bin_dir: Path) -> None:
    stand_in(bin_dir, "docker", 'echo "Error: No such container: nemo" >&2; exit 1')
    stand_in(bin_dir, "podman")
    assert container_input("nemo").runner == "podman"


@pytest.mark.parametrize(
    "name", ["", "-it", "--help", "a b", "a;b", "../x", "a/b", "$(id)", "a\n", "é", "x" * 300, ".x", "a'b"]
)
def test_a_name_that_is_none_never_reaches_docker(bin_dir: Path, name: str) -> None:
    stand_in(bin_dir, "docker")
    with pytest.raises(ContainerError, match="is no container name or id"):
        container_input(name)
    assert not (bin_dir / "docker.calls").exists()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('echo "Error: No such container: nemo" >&2; exit 1', "docker knows no container 'nemo'"),
        ('echo "permission denied while trying to connect" >&2; exit 1', "may not be used by this user"),
        ('echo "Cannot connect to the Docker daemon at unix:///x." >&2; exit 1', "is not running here"),
        ('echo "something else" >&2; exit 3', "docker inspect failed: something else"),
        ("exit 1", "docker inspect failed and said nothing"),
        (
            '[ "$1" = logs ] && { echo "Error: x" >&2; exit 1; }; cat "$0.json"',
            "docker logs failed: Error: x",
        ),
    ],
)
def test_what_fails_is_one_line(bin_dir: Path, body: str, message: str) -> None:
    stand_in(bin_dir, "docker", body)
    with pytest.raises(ContainerError) as caught:
        container_input("nemo")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_installed(bin_dir: Path) -> None:
    with pytest.raises(ContainerError, match="docker and podman are not installed here"):
        container_input("nemo")
    with pytest.raises(ContainerError, match="podman is not installed here"):
        container_input("nemo", "podman")
    with pytest.raises(ContainerError, match="unknown container tool"):
        container_input("nemo", "kubectl")


def test_a_long_log_is_a_stream(bin_dir: Path) -> None:
    stand_in(bin_dir, "docker", '[ "$1" = inspect ] && { cat "$0.json"; exit; }; yes | head -c 1000000; echo end >&2')
    with container_input("nemo").log as log:
        data = log.read()
    assert len(data) == 1_000_004
    assert data.endswith(b"y\nend\n")


def test_closing_early_ends_the_program(bin_dir: Path) -> None:
    stand_in(bin_dir, "docker", '[ "$1" = inspect ] && { cat "$0.json"; exit; }; exec yes')
    log = container_input("nemo").log
    assert log.read(4) == b"y\ny\n"
    log.close()
    assert log.closed
