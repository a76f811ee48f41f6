"""A launch in a Kubernetes manifest: the container that runs vLLM, whatever kind of object holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from logdoctor.launch.command import Container, Form, Kind, LaunchCommand, Layout, Slot, Variable, Word, is_official
from logdoctor.launch.containers import served
from logdoctor.launch.errors import LaunchError
from logdoctor.launch.from_script import open_words
from logdoctor.launch.pieces import Quoting
from logdoctor.launch.yaml_nodes import Node, after_line, column, content_end, line_start, value_start
from logdoctor.launch.yaml_words import QUOTING, entry_cut, item_cut, words_of

MAX_WALKED = 50_000
_GPU_RESOURCE = re.compile(r"(?:nvidia|amd)\.com/(?:gpu|mig-.+)|gpu\.intel\.com/.+")


def is_kubernetes(roots: list[Node]) -> bool:
    """Whether any document is a Kubernetes object."""
    return any(root.kind == "map" and root.text("kind") and root.get("apiVersion") is not None for root in roots)


@dataclass(frozen=True, slots=True)
class _Found:
    """A container with what holds it."""

    container: Node
    pod: Node
    object_name: str
    object_kind: str
    status: Node | None


def read_kubernetes(text: str, roots: list[Node]) -> LaunchCommand:
    """Read the first container that runs vLLM."""
    found = [one for root in roots for one in _containers(root)]
    services = dict(_services(roots))
    launches = [launch for one in found for launch, is_server in [_launch(text, one, services)] if is_server]
    if not launches:
        raise LaunchError("no container of the manifest runs vLLM")
    if len(launches) == 1:
        return launches[0]
    others = ", ".join(dict.fromkeys(one.name for one in launches[1:]))
    more = f"{launches[0].name} is read; the manifest has {len(launches)} vLLM containers, also: {others[:200]}"
    return replace(launches[0], unknown=(*launches[0].unknown, more))


def _containers(root: Node) -> Iterator[_Found]:
    """Walk an object without following an alias twice; a pod is whatever has `containers`."""
    seen: set[int] = set()
    stack = [(root, root)]
    while stack and len(seen) < MAX_WALKED:
        node, owner = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.kind == "map":
            owner = node if node.text("kind") and node.get("metadata") is not None else owner
            yield from _pod(node, owner)
            stack.extend((value, owner) for _, value in reversed(list(node.pairs)))
        elif node.kind == "list":
            stack.extend((item, owner) for item in reversed(node.items))


def _pod(node: Node, owner: Node) -> Iterator[_Found]:
    containers = node.get("containers")
    if containers is None or containers.kind != "list":
        return
    metadata = owner.get("metadata")
    name = metadata.text("name") if metadata is not None else ""
    for container in containers.items:
        if container.kind == "map" and (container.get("image") is not None or container.get("args") is not None):
            yield _Found(container, node, name, owner.text("kind"), owner.get("status"))


def _services(roots: list[Node]) -> Iterator[tuple[str, int]]:
    """Yield the names of the services in the file, with their places."""
    for root in roots:
        items = root.get("items") if root.kind == "map" else None
        for one in (root, *(items.items if items is not None else ())):
            metadata = one.get("metadata") if one.kind == "map" and one.text("kind") == "Service" else None
            if metadata is not None:
                yield metadata.text("name"), metadata.start


def _launch(text: str, found: _Found, services: Mapping[str, int]) -> tuple[LaunchCommand, bool]:
    node = found.container
    image = node.text("image")
    entry = words_of(text, node.get("command"), node)
    arguments = words_of(text, node.get("args"), node)
    both = entry + arguments
    server = served(both.words, image, bool(entry.words), both.inside)
    env, partly = _variables(text, node)
    server = replace(server, argv=tuple(_filled(word, env) for word in server.argv))
    unknown = [*server.notes, *open_words(server.argv)]
    if partly:
        unknown.append("the variables of config maps and secrets")
    exit_code, oom_killed, restarts = _state(found.status, node.text("name"))
    name = "/".join(part for part in (found.object_kind.lower(), found.object_name) if part)
    launch = LaunchCommand(
        kind=Kind.KUBERNETES,
        text=text,
        name=f"{name} container {node.text('name')}" if node.text("name") else name,
        image=image,
        image_word=_image_word(text, node),
        program=server.program,
        repeated=server.repeated,
        argv=server.argv,
        after=server.after,
        env={**server.env, **env},
        env_complete=not partly and is_official(image),
        new_variable=_variable_slot(text, node),
        container=Container(
            mounts=tuple(_mounts(node)),
            gpus=_gpus(node, by_runtime="nvidia" in found.pod.text("runtimeClassName")),
            shm=_shm(node, found.pod),
            ipc_host=found.pod.text("hostIPC") == "true",
            network_host=found.pod.text("hostNetwork") == "true",
            liveness_seconds=_liveness(node),
            liveness_at=_place(node, "livenessProbe"),
            service_variables=_service_variables(found.pod, services, env),
            service_at=services.get("vllm", -1),
            exit_code=exit_code,
            oom_killed=oom_killed,
            restarts=restarts,
        ),
        unknown=tuple(unknown),
    )
    return launch, server.found or bool(server.program) or "vllm" in image.lower()


def _filled(word: Word, env: Mapping[str, Variable]) -> Word:
    """Put in what `$(NAME)` stands for where the container's own variables tell; it is no shell that does so."""
    if not word.expands or "`" in word.value:
        return word
    left = False

    def one(found: re.Match[str]) -> str:
        nonlocal left
        variable = env.get(found[1])
        known = variable is not None and variable.known and variable.value is not None
        left = left or not known
        return (variable.value or "") if variable is not None and known else found[0]

    value = re.sub(r"\$\(([A-Za-z_]\w*)\)", one, word.value)
    return word if left or "$" in value else replace(word, value=value, expands=False, filled=True)


def _image_word(text: str, node: Node) -> Word | None:
    image = node.get("image")
    if image is None or image.kind != "scalar":
        return None
    start, end = value_start(text, image), content_end(text, image)
    quoting = (QUOTING.get(image.style, Quoting.YAML_PLAIN),)
    return Word(image.value, start, end, layout=Layout.BLOCK, quoting=quoting, raw=text[start:end])


def _variables(text: str, node: Node) -> tuple[dict[str, Variable], bool]:
    env = node.get("env")
    variables: dict[str, Variable] = {}
    partly = node.get("envFrom") is not None
    items = env.items if env is not None and env.kind == "list" else []
    for place, item in enumerate(items):
        name = item.text("name")
        if not name or env is None:
            continue
        own = len(items) == 1 and node.entry("env") is not None
        cut = entry_cut(text, node, "env") if own else item_cut(text, env, place)
        value = item.get("value")
        if value is None or value.kind != "scalar":
            variables[name] = Variable(name, None, cut, known=False)
            continue
        start, end = value_start(text, value), content_end(text, value)
        quoting = (QUOTING.get(value.style, Quoting.YAML_PLAIN),)
        word = Word(value.value, start, end, layout=Layout.BLOCK, quoting=quoting, raw=text[start:end])
        variables[name] = Variable(name, value.value, cut, word, "", known="$(" not in value.value)
    return variables, partly


def _variable_slot(text: str, node: Node) -> Slot | None:
    entry = node.entry("env")
    if entry is not None and entry[1].items and entry[1].start >= entry[0].start:
        return _next_pair(text, entry[1])
    image = node.entry("image")
    if entry is not None or node.flow or image is None:
        return None
    at = after_line(text, content_end(text, image[1]))
    newline = "" if text[at - 1 : at] == "\n" else "\n"
    indent = " " * column(text, image[0].start)
    return Slot(at, f"{newline}{indent}env:\n{indent}- ", "\n", Form.PAIR, indent=f"{indent}  ")


def _next_pair(text: str, node: Node) -> Slot | None:
    last = node.items[-1]
    if node.flow:
        quoting = QUOTING.get(last.items[0].style) if last.items else None
        return Slot(content_end(text, last), ", ", "", Form.PAIR, (quoting,) if quoting else (), flow=True)
    lead = text[line_start(text, node.items[0].start) : node.items[0].start]
    if lead.strip(" -"):
        return None
    at = after_line(text, content_end(text, last))
    newline = "" if text[at - 1 : at] == "\n" else "\n"
    return Slot(at, newline + lead, "\n", Form.PAIR, indent=" " * len(lead))


_PROBE = {"initialDelaySeconds": 0, "periodSeconds": 10, "failureThreshold": 3}
"""What Kubernetes takes where a probe does not say."""


def _liveness(node: Node) -> int | None:
    """Return after how many seconds the liveness probe ends a container that never answered."""
    probe = node.get("livenessProbe")
    if probe is None or node.get("startupProbe") is not None:
        return None
    stated = {name: probe.text(name) for name in _PROBE}
    delay, period, failures = (
        int(text) if text.isdigit() and len(text) < 7 else _PROBE[name] for name, text in stated.items()
    )
    return delay + period * failures


def _place(node: Node, key: str) -> int:
    entry = node.entry(key)
    return entry[0].start if entry is not None else -1


def _service_variables(pod: Node, services: Mapping[str, int], env: Mapping[str, Variable]) -> tuple[str, ...]:
    """Return which of vLLM's variables the pod gets from a service of the file, as an address."""
    linked = pod.text("enableServiceLinks") != "false"
    return ("VLLM_PORT",) if linked and "vllm" in services and "VLLM_PORT" not in env else ()


def _mounts(node: Node) -> Iterator[str]:
    volumes = node.get("volumeMounts")
    for item in volumes.items if volumes is not None and volumes.kind == "list" else ():
        yield f"{item.text('name')}:{item.text('mountPath')}"


def _gpus(node: Node, *, by_runtime: bool) -> str:
    for part in ("limits", "requests"):
        resources = node.path("resources", part)
        for name, value in resources.pairs if resources is not None else ():
            if _GPU_RESOURCE.fullmatch(name.value) and value.kind == "scalar":
                return value.value
    # The runtime of that class gives GPUs to whatever image asks for them, as vLLM's does.
    return "" if by_runtime or node.path("resources", "claims") is not None else "none"


def _shm(node: Node, pod: Node) -> str:
    """Return the size of an in-memory volume at /dev/shm; `memory` when it has no limit of its own."""
    volumes = node.get("volumeMounts")
    names = {
        item.text("name")
        for item in (volumes.items if volumes is not None and volumes.kind == "list" else ())
        if item.text("mountPath").rstrip("/") == "/dev/shm"
    }
    listed = pod.get("volumes")
    for volume in listed.items if listed is not None and listed.kind == "list" else ():
        empty = volume.get("emptyDir")
        if volume.text("name") in names and empty is not None:
            return empty.text("sizeLimit") or "memory"
    return "memory" if names else ""


def _state(status: Node | None, name: str) -> tuple[int | None, bool | None, int | None]:
    """Return exit code, killed for memory, and restarts, of `kubectl get -o yaml`."""
    listed = status.get("containerStatuses") if status is not None else None
    for one in listed.items if listed is not None and listed.kind == "list" else ():
        if one.text("name") != name:
            continue
        ended = one.path("state", "terminated") or one.path("lastState", "terminated")
        restarts = one.text("restartCount")
        code = ended.text("exitCode") if ended is not None else ""
        killed = ended.text("reason") == "OOMKilled" if ended is not None else None
        return (
            int(code) if code.isdigit() and len(code) < 6 else None,
            killed,
            int(restarts) if restarts.isdigit() and len(restarts) < 9 else None,
        )
    return None, None, None
