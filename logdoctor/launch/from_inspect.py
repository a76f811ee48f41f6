"""A launch as `docker inspect` or `podman inspect` tells it, turned into the `docker run` command that it came from."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from logdoctor.launch.command import Kind, LaunchCommand, is_official
from logdoctor.launch.errors import LaunchError
from logdoctor.launch.from_script import read_script

DEFAULT_SHM = 64 * 2**20
_IMAGE_VARIABLES = re.compile(
    r"PATH|HOME|HOSTNAME|LANG|LC_ALL|TERM|container|LIBRARY_PATH|NVARCH|NV_\w+|NVIDIA_REQUIRE_\w+|NVIDIA_PRODUCT_NAME|"
    r"NVIDIA_DRIVER_CAPABILITIES|NVIDIA_VISIBLE_DEVICES|NVIDIA_\w+_VERSION|NVIDIA_BUILD_ID|CUDA_VERSION|"
    r"CUDA_\w+_VERSION|NCCL_VERSION|\w+_COMMIT|PYTHON_VERSION|PYTHON_SHA256|PYTHONIOENCODING|GPG_KEY|"
    r"DEBIAN_FRONTEND|UV_\w+|PIP_\w+|VLLM_USAGE_SOURCE|VLLM_BUILD_\w+"
)
"""Variables that base images set: a new container of the image gets them again."""
_SERVER_ENTRIES = (
    ("vllm", "serve"),
    ("python3", "-m", "vllm.entrypoints.openai.api_server"),
    ("python", "-m", "vllm.entrypoints.openai.api_server"),
)

Json = Mapping[str, Any]


def containers_in(text: str) -> list[Json]:
    """Return the containers of an inspect document; empty when the text is something else."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("[", "{")):
        return []
    try:
        document = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return []
    listed = document if isinstance(document, list) else [document]
    return [
        one for one in listed if isinstance(one, dict) and "Config" in one and ("State" in one or "HostConfig" in one)
    ]


def read_inspect(containers: Sequence[Json]) -> LaunchCommand:
    """Read the container that runs vLLM (the only one, or the first whose image or command says so)."""
    chosen = next((one for one in containers if "vllm" in _described(one)), None)
    if chosen is None and len(containers) == 1:
        chosen = containers[0]
    if chosen is None:
        raise LaunchError(f"none of the {len(containers)} inspected containers runs vLLM")
    text, left_out = _run_command(chosen)
    try:
        launch = read_script(text)
    except LaunchError as error:
        raise LaunchError("the inspected container does not run vLLM") from error
    state = _map(chosen, "State")
    exited = state.get("Running") is False or str(state.get("Status", "")) in ("exited", "dead", "stopped")
    notes = (f"variables that the image sets itself were left out: {', '.join(left_out)}",) if left_out else ()
    container = replace(
        launch.container,
        exit_code=_number(state.get("ExitCode")) if exited else None,
        oom_killed=state.get("OOMKilled") if isinstance(state.get("OOMKilled"), bool) else None,
        restarts=_number(chosen.get("RestartCount")),
        shm=launch.container.shm or _size(_number(_map(chosen, "HostConfig").get("ShmSize"))),
    )
    unknown = (*launch.unknown, *notes)
    return replace(launch, kind=Kind.INSPECT, env_complete=True, container=container, unknown=unknown)


def _described(container: Json) -> str:
    config = _map(container, "Config")
    return " ".join([str(config.get("Image", "")), *_strings(config.get("Entrypoint")), *_strings(config.get("Cmd"))])


def _map(container: Json, key: str) -> Json:
    found = container.get(key)
    return found if isinstance(found, dict) else {}


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    return [str(item) for item in value if isinstance(item, (str, int, float))] if isinstance(value, list) else []


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _run_command(container: Json) -> tuple[str, tuple[str, ...]]:
    """Build the command, one option a line, and name the variables that were left out."""
    config, host = _map(container, "Config"), _map(container, "HostConfig")
    left_out: list[str] = []
    lines = ["docker run -d", *_host_options(container, host)]
    for setting in _strings(config.get("Env")):
        name = setting.partition("=")[0]
        if _IMAGE_VARIABLES.fullmatch(name):
            left_out.append(name)
        else:
            lines.append(f"-e {shlex.quote(setting)}")
    entry, words = _strings(config.get("Entrypoint")), _strings(config.get("Cmd"))
    image = str(config.get("Image", "")) or "IMAGE"
    if entry and not _is_own_entry(entry, image):
        lines.append(f"--entrypoint {shlex.quote(entry[0])}")
        words = [*entry[1:], *words]
    lines.append(shlex.quote(image))
    lines.extend(_argument_lines(words))
    return " \\\n  ".join(lines) + "\n", tuple(sorted(left_out))


def _is_own_entry(entry: Sequence[str], image: str) -> bool:
    """Whether the image starts this itself."""
    return any(tuple(entry[-len(own) :]) == own for own in _SERVER_ENTRIES) and is_official(image)


def _argument_lines(words: Sequence[str]) -> Iterator[str]:
    """Put a flag and its values on one line."""
    line: list[str] = []
    for word in words:
        if line and (word.startswith("-") and not word[1:2].isdigit()):
            yield " ".join(line)
            line = []
        line.append(shlex.quote(word))
    if line:
        yield " ".join(line)


def _host_options(container: Json, host: Json) -> Iterator[str]:
    name = str(container.get("Name", "")).lstrip("/")
    if name:
        yield f"--name {shlex.quote(name)}"
    policy = _map(host, "RestartPolicy")
    if policy.get("Name") not in (None, "", "no"):
        count = _number(policy.get("MaximumRetryCount"))
        yield "--restart " + shlex.quote(f"{policy['Name']}:{count}" if count else str(policy["Name"]))
    if host.get("AutoRemove") is True:
        yield "--rm"
    yield from _gpu_options(host)
    shm = _number(host.get("ShmSize"))
    if shm is not None and shm not in (0, DEFAULT_SHM):
        yield f"--shm-size {_size(shm)}"
    for key, option, default in (
        ("IpcMode", "--ipc", ("", "private", "shareable")),
        ("NetworkMode", "--network", ("", "default", "bridge")),
        ("PidMode", "--pid", ("",)),
    ):
        value = str(host.get(key) or "")
        if value not in default:
            yield f"{option} {shlex.quote(value)}"
    yield from _ports(host)
    yield from _mounts(container, host)
    yield from _limits(container, host)


def _gpu_options(host: Json) -> Iterator[str]:
    if host.get("Runtime") not in (None, "", "runc", "oci", "crun"):
        yield f"--runtime {shlex.quote(str(host['Runtime']))}"
    requests = host.get("DeviceRequests")
    for request in requests if isinstance(requests, list) else ():
        if not isinstance(request, dict):
            continue
        ids = _strings(request.get("DeviceIDs"))
        count = _number(request.get("Count"))
        if ids and request.get("Driver") == "cdi":
            yield from (f"--device {shlex.quote(one)}" for one in ids)
        elif ids:
            yield f"""--gpus '"device={",".join(re.sub("[^A-Za-z0-9-]", "", one) for one in ids)}"'"""
        else:
            yield "--gpus all" if count in (None, -1) else f"--gpus {count}"


def _size(size: int | None) -> str:
    if not size:
        return ""
    for unit, factor in (("g", 2**30), ("m", 2**20), ("k", 2**10)):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def _ports(host: Json) -> Iterator[str]:
    for target, bindings in sorted(_map(host, "PortBindings").items()):
        for binding in bindings if isinstance(bindings, list) else ():
            if isinstance(binding, dict):
                address, port = str(binding.get("HostIp") or ""), str(binding.get("HostPort") or "")
                plain = str(target).removesuffix("/tcp")
                address = "" if address == "0.0.0.0" else address
                yield "-p " + shlex.quote(":".join(part for part in (address, port, plain) if part))


def _mounts(container: Json, host: Json) -> Iterator[str]:
    binds = _strings(host.get("Binds"))
    yield from (f"-v {shlex.quote(bind)}" for bind in binds)
    told = {bind.split(":")[1] for bind in binds if ":" in bind}
    mounts = container.get("Mounts")
    for mount in mounts if isinstance(mounts, list) else ():
        if not isinstance(mount, dict) or mount.get("Destination") in told:
            continue
        source = mount.get("Name") if mount.get("Type") == "volume" else mount.get("Source")
        if source and mount.get("Destination") and mount.get("Type") in ("volume", "bind"):
            mode = ":ro" if mount.get("RW") is False else ""
            yield f"-v {shlex.quote(str(source))}:{shlex.quote(str(mount['Destination']))}{mode}"


def _limits(container: Json, host: Json) -> Iterator[str]:
    if host.get("Privileged") is True:
        yield "--privileged"
    for key, option in (
        ("CapAdd", "--cap-add"),
        ("SecurityOpt", "--security-opt"),
        ("ExtraHosts", "--add-host"),
        ("GroupAdd", "--group-add"),
    ):
        yield from (f"{option} {shlex.quote(value)}" for value in _strings(host.get(key)))
    devices = host.get("Devices")
    for device in devices if isinstance(devices, list) else ():
        if isinstance(device, dict) and device.get("PathOnHost"):
            yield f"--device {shlex.quote(str(device['PathOnHost']))}"
    memory = _number(host.get("Memory"))
    if memory:
        yield f"--memory {_size(memory)}"
    limits = host.get("Ulimits")
    for limit in limits if isinstance(limits, list) else ():
        if isinstance(limit, dict) and limit.get("Name"):
            soft, hard = limit.get("Soft"), limit.get("Hard")
            yield "--ulimit " + shlex.quote(f"{limit['Name']}={soft}" + ("" if soft == hard else f":{hard}"))
    user = str(_map(container, "Config").get("User") or "")
    if user:
        yield f"--user {shlex.quote(user)}"
