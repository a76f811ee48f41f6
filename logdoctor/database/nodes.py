"""Walk the nodes of a YAML file and collect what is wrong with them.

YAML is taken as a tree of nodes and never turned into objects by the YAML library: so every complaint knows its
line, no tag can construct anything, and plain words such as `no` or `0.10` stay what the writer wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from logdoctor.database.issues import Issue

_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "value", "merge")
)
_NULL = "tag:yaml.org,2002:null"

Node = Any
"""A node of the YAML library, which has no types for them."""
Read = Callable[["Reader", Node, str], Any]
"""Reads one kind of value; the text names it in complaints."""


class Bad(Exception):
    """A value could not be used; the complaint is already in the list."""


class Reader:
    """The complaints about one file, and the ways to take a node apart."""

    def __init__(self, file: str, strict: bool) -> None:
        self.file = file
        self.strict = strict
        self.issues: list[Issue] = []
        self._seen: dict[int, Node] = {}  # keeps the nodes alive, so that an id is never reused

    def complain(self, node: Node, what: str) -> None:
        """Note a complaint at the line of a node."""
        self.issues.append(Issue(self.file, node.start_mark.line + 1, what))

    def bad(self, node: Node, what: str) -> Bad:
        """Note a complaint and return what to raise."""
        self.complain(node, what)
        return Bad(what)

    def fields(
        self, node: Node, pairs: Mapping[str, Node], spec: Mapping[str, Read], required: tuple[str, ...], what: str
    ) -> dict[str, Any]:
        """Read the known keys of a mapping; complain about unknown and missing ones."""
        values: dict[str, Any] = {}
        for key, value in pairs.items():
            read = spec.get(key)
            if read is None:
                self.complain(value, f"{key}: unknown key in {what}{_hint(key, spec)}")
                continue
            try:
                values[key] = read(self, value, key)
            except Bad:
                continue
        missing = [key for key in required if key not in pairs]
        if missing:
            self.complain(node, f"{what} lacks {', '.join(missing)}")
        return values

    def _once(self, node: Node) -> None:
        if id(node) in self._seen:
            raise self.bad(node, "anchors and aliases (& and *) are not allowed; write the value out")
        self._seen[id(node)] = node

    def pairs(self, node: Node, what: str) -> dict[str, Node]:
        """Return the keys of a mapping with the nodes of their values."""
        if node.id != "mapping" or node.tag != "tag:yaml.org,2002:map":
            raise self.bad(node, f"{what} must be a mapping (key: value)")
        self._once(node)
        pairs: dict[str, Node] = {}
        for key_node, value in node.value:
            if key_node.id != "scalar":
                raise self.bad(key_node, f"{what}: a key must be a plain word")
            if key_node.value in pairs:
                self.complain(key_node, f"{key_node.value}: stands twice in {what}")
            pairs[key_node.value] = value
        return pairs

    def sequence(self, node: Node, what: str) -> list[Node]:
        """Return the nodes of a list."""
        if node.id != "sequence" or node.tag != "tag:yaml.org,2002:seq":
            raise self.bad(node, f"{what} must be a list")
        self._once(node)
        return list(node.value)

    def scalar(self, node: Node, what: str) -> str:
        """Return the text of a scalar as written."""
        if node.id != "scalar" or node.tag not in _PLAIN_TAGS:
            raise self.bad(node, f"{what} must be text")
        self._once(node)
        if node.tag == _NULL:
            raise self.bad(node, f"{what} is empty")
        return str(node.value)

    def each(self, node: Node, what: str, read: Read) -> list[Any]:
        """Read every item of a list; a bad item is left out, its complaint is kept."""
        values = []
        for item in self.sequence(node, what):
            try:
                values.append(read(self, item, what))
            except Bad:
                continue
        return values


def _hint(key: str, known: Mapping[str, object]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
