"""Where a log comes from: the node, pod, host and image that its envelope or its path states.

Nothing is guessed: each name stands in the log's own lines or in the path under which it was found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

_LINES = 20
_LONGEST = 16 * 1024

_KEYS: Mapping[str, tuple[str, ...]] = {
    "node": ("node_name", "nodeName", "node", "k8s.node.name", "kubernetes_host", "_HOSTNAME"),
    "pod": ("pod_name", "podName", "pod", "k8s.pod.name", "kubernetes_pod_name"),
    "host": ("hostname", "host", "host.name"),
    "image": ("container_image", "container_image_name", "image_name", "container.image.name", "image", "IMAGE_NAME"),
}
"""Keys under which collectors of logs put these: Fluent Bit, Vector, OpenTelemetry, Google Cloud, the journal."""
_INSIDE = ("kubernetes", "resource", "labels", "attributes", "metadata", "stream", "resources")
_DEPTH = 4

_LABELS = re.compile(r"[\[{][^\]}\n]{0,1000}[\]}]")
_LABEL = re.compile(r"(?P<key>[A-Za-z_][\w.]{0,60})\"?\s{0,3}[:=]\s{0,3}\"?(?P<value>[\w./@:-]{1,200})")
_KUBECTL = re.compile(r"\[pod/(?P<pod>[^\]/\s]{1,253})/[^\]\s]{1,253}\] ")
_TIMED_LABELS = re.compile(r"(?:[A-Z]{4,8} )?\d{4}-\d\d-\d\dT\S{8,40} ?[\[{]")
_JOURNAL = re.compile(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) "
    r"(?P<host>[^\s:\[\]()|]{1,253}) [^\s:\[\]()|]{1,253}(?:\[\d+\])?: "
)

# The kubelet's /var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log, and /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log
_POD_DIRECTORY = re.compile(r"(?:^|/)[a-z0-9][a-z0-9-]*_(?P<pod>[a-z0-9][a-z0-9.-]*)_[0-9a-f-]{32,36}(?:/|$)")
_CONTAINER_FILE = re.compile(r"(?:^|/)(?P<pod>[a-z0-9][a-z0-9.-]*)_[a-z0-9-]+_[a-z0-9.-]+-[0-9a-f]{64}\.log")
_NODE_DIRECTORY = re.compile(r"(?:^|/)nodes?/(?P<node>[^/]{1,253})/")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a log comes from; empty where nothing says so."""

    node: str = ""
    pod: str = ""
    host: str = ""
    image: str = ""

    def filled(self, other: Place) -> Place:
        """Return this place with its gaps filled from another."""
        return Place(self.node or other.node, self.pod or other.pod, self.host or other.host, self.image or other.image)


def place_in_log(start: bytes) -> Place:
    """Read the first lines of a log, still in their envelopes."""
    place = Place()
    for line in start[: _LINES * _LONGEST].splitlines()[:_LINES]:
        place = place.filled(_place_in_line(line[:_LONGEST].decode("utf-8", "replace")))
    return place


def place_in_path(path: str) -> Place:
    """Read the path under which a log was found: the kubelet's directories, and `nodes/NAME/`."""
    found = _POD_DIRECTORY.search(path) or _CONTAINER_FILE.search(path)
    node = _NODE_DIRECTORY.search(path)
    return Place(node=node["node"] if node else "", pod=found["pod"] if found else "")


def _place_in_line(line: str) -> Place:
    if line.startswith("{"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return Place()
        return _place_of(_flat(value)) if isinstance(value, dict) else Place()
    kubectl = _KUBECTL.match(line)
    if kubectl:
        return Place(pod=kubectl["pod"])
    if _TIMED_LABELS.match(line):
        labels = _LABELS.search(line, 0, 4000)
        found = [(match["key"], match["value"]) for match in _LABEL.finditer(labels[0])] if labels else []
        return _place_of([(key.removeprefix("resource.labels."), value) for key, value in found])
    journal = _JOURNAL.match(line)
    return Place(host=journal["host"]) if journal else Place()


def _flat(value: Mapping[str, object], depth: int = _DEPTH, inside: str = "") -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if isinstance(item, str):
            # Fluent Bit's `kubernetes.host` is the node.
            yield ("node_name" if inside == "kubernetes" and key == "host" else key), item
        elif isinstance(item, dict) and depth and key in _INSIDE:
            yield from _flat(item, depth - 1, key)


def _place_of(pairs: Iterable[tuple[str, str]]) -> Place:
    known: dict[str, str] = {}
    for key, value in pairs:
        known.setdefault(key, value)
    place = Place()
    for name, keys in _KEYS.items():
        value = next((known[key] for key in keys if known.get(key, "").strip()), "")
        place = replace(place, **{name: value[:253].strip()})
    return place
