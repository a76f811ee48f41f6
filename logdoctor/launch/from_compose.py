"""A launch in a compose file: the service that runs vLLM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from logdoctor.launch.command import Container, Form, Kind, LaunchCommand, Layout, Slot, Variable, Word, is_official
from logdoctor.launch.containers import served
from logdoctor.launch.errors import LaunchError
from logdoctor.launch.from_script import by_variable, open_words, published
from logdoctor.launch.pieces import Quoting
from logdoctor.launch.yaml_nodes import Node, after_line, column, content_end, value_start
from logdoctor.launch.yaml_words import QUOTING, variable_slot, variables_of, words_of


def is_compose(roots: list[Node]) -> bool:
    """Whether the first document is a compose file."""
    return bool(roots) and roots[0].path("services") is not None


def read_compose(text: str, roots: list[Node], service: str = "") -> LaunchCommand:
    """Read the service that runs vLLM (the first one, or the one of that name)."""
    services = roots[0].path("services")
    found = [
        _service(text, name.value, node, roots[0])
        for name, node in (services.pairs if services is not None else ())
        if node.kind == "map" and (not service or name.value == service)
    ]
    servers = [one for one, is_server in found if is_server]
    if not servers:
        names = ", ".join(one.name for one, _ in found) or "none"
        raise LaunchError(f"no service of the compose file runs vLLM; its services: {names[:200]}")
    if len(servers) == 1:
        return servers[0]
    others = ", ".join(one.name for one in servers[1:])
    more = f"service {servers[0].name} is read; the file has {len(servers)} vLLM services, also: {others[:200]}"
    return replace(servers[0], unknown=(*servers[0].unknown, more))


def _service(text: str, name: str, node: Node, root: Node) -> tuple[LaunchCommand, bool]:
    image = node.text("image")
    entry = words_of(text, node.get("entrypoint"), node)
    command = words_of(text, node.get("command"), node)
    both = entry + command
    server = served(both.words, image, bool(entry.words), both.inside)
    env, shared = variables_of(text, node, "environment")
    files = node.get("env_file") is not None or node.get("extends") is not None
    unknown = [*server.notes, *open_words(server.argv)]
    if files:
        unknown.append("the variables of env_file" if node.get("env_file") is not None else "what extends brings")
    if shared or both.shared:
        unknown.append("a part of the service stands at an anchor; a change there reaches every service that uses it")
    launch = LaunchCommand(
        kind=Kind.COMPOSE,
        text=text,
        name=name,
        image=image,
        image_word=_image_word(text, node),
        program=server.program,
        repeated=server.repeated,
        argv=server.argv,
        after=server.after,
        new_arguments=_new_command(text, node) if server.after is None else None,
        env={**server.env, **env},
        env_complete=not files and is_official(image),
        new_variable=variable_slot(text, node, "environment", ("image", "container_name", "build")),
        container=Container(
            mounts=tuple(_volume(item) for item in _items(node.get("volumes"))),
            ports=tuple(port for item in _items(node.get("ports")) for port in _port(item)),
            gpus=_gpus(node, env),
            shm=node.text("shm_size"),
            ipc_host=node.text("ipc") == "host",
            network_host=node.text("network_mode") == "host",
        ),
        unknown=tuple(unknown),
    )
    return launch, server.found or bool(server.program) or "vllm" in image.lower()


def _image_word(text: str, node: Node) -> Word | None:
    image = node.get("image")
    if image is None or image.kind != "scalar":
        return None
    start, end = value_start(text, image), content_end(text, image)
    quoting = (QUOTING.get(image.style, Quoting.YAML_PLAIN),)
    return Word(image.value, start, end, layout=Layout.BLOCK, quoting=quoting, raw=text[start:end])


def _new_command(text: str, node: Node) -> Slot | None:
    image = node.entry("image")
    if node.get("command") is not None or image is None or node.flow:
        return None
    at = after_line(text, content_end(text, image[1]))
    newline = "" if text[at - 1 : at] == "\n" else "\n"
    return Slot(at, f"{newline}{' ' * column(text, image[0].start)}command: [", "]\n", Form.ITEM, flow=True)


def _items(node: Node | None) -> list[Node]:
    return node.items if node is not None and node.kind == "list" else []


def _volume(item: Node) -> str:
    return item.value if item.kind == "scalar" else f"{item.text('source')}:{item.text('target')}"


def _port(item: Node) -> tuple[tuple[str, str], ...]:
    if item.kind == "scalar":
        return published(item.value)
    host, target = item.text("published"), item.text("target")
    return ((host, target),) if host.isdigit() and target.isdigit() else ()


def _gpus(node: Node, variables: Mapping[str, Variable]) -> str:
    devices = node.path("deploy", "resources", "reservations", "devices")
    for device in _items(devices):
        ids = _items(device.get("device_ids"))
        if ids:
            return str(len(ids))
        count = device.text("count")
        if count or device.text("driver") or device.get("capabilities") is not None:
            return count or "all"
    named = node.text("gpus")
    if named:
        return named
    if node.text("runtime") or node.text("privileged") == "true" or _items(node.get("devices")):
        return ""
    if any(by_variable(f"{name}={variable.value}") for name, variable in variables.items()):
        return ""
    return "" if node.get("extends") is not None or node.get("<<") is not None else "none"
