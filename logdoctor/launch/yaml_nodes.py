"""YAML as a tree of nodes that know their place in the file.

The tree is built from the events of a YAML 1.2 reader without recursion and without resolving anything: a text that
is too big, nests too deep or holds too many aliases is refused before it can cost anything, tags are not looked at,
and nothing is ever constructed. Changes are written into the text at the places of the nodes, so that comments,
order, quoting and indentation stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from logdoctor.launch.errors import LaunchError
from logdoctor.launch.pieces import Piece, Quoting

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 64
MAX_NODES = 20_000
MAX_ALIASES = 2_000

_STYLES = {"'": Quoting.YAML_SINGLE, '"': Quoting.YAML_DOUBLE, "|": Quoting.YAML_BLOCK, ">": Quoting.YAML_BLOCK}
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX = {"x": 2, "u": 4, "U": 8}


@dataclass(slots=True, eq=False)
class Node:
    """A scalar, a list or a mapping; shared by all its aliases."""

    kind: str
    """`scalar`, `list` or `map`."""
    start: int
    end: int
    """Where it ends; for a collection in block style this is where the next thing begins: see `content_end`."""
    value: str = ""
    style: str = ""
    """Of a scalar: empty when plain, else the character it begins with."""
    flow: bool = False
    items: list[Node] = field(default_factory=list)
    """Of a list: its items; of a mapping: keys and values in turn."""

    @property
    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """The entries of a mapping in their order; empty for anything else."""
        if self.kind == "map":
            yield from zip(self.items[::2], self.items[1::2], strict=False)

    def get(self, key: str) -> Node | None:
        """Return the value of a key, also from a mapping merged with `<<`; the own entries win."""
        entry = self.entry(key)
        if entry is not None:
            return entry[1]
        for name, merged in self.pairs:
            if name.value != "<<" or name.style:
                continue
            for source in merged.items if merged.kind == "list" else (merged,):
                found = source.entry(key)
                if found is not None:
                    return found[1]
        return None

    def entry(self, key: str) -> tuple[Node, Node] | None:
        """Return key and value as they stand in this mapping itself."""
        return next((pair for pair in self.pairs if pair[0].kind == "scalar" and pair[0].value == key), None)

    def path(self, *keys: str) -> Node | None:
        """Walk down mappings; None where one of the keys is missing."""
        node: Node | None = self
        for key in keys:
            node = node.get(key) if node is not None else None
        return node

    def text(self, key: str) -> str:
        """Return the text of a scalar entry, or nothing."""
        found = self.get(key)
        return found.value if found is not None and found.kind == "scalar" else ""


def read_documents(text: str) -> list[Node]:
    """Return the root nodes of all documents; raises `LaunchError` for what is no YAML or is not safe to read."""
    if len(text) > MAX_CHARACTERS:
        raise LaunchError(f"the launch file is too big: {len(text):,} characters, at most {MAX_CHARACTERS:,} are read")
    _refuse_deep_brackets(text)
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return _build(YAML(typ="safe", pure=True).parse(text))
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "a character that YAML does not allow"
        raise LaunchError(f"the launch file is no valid YAML{where}: {problem}") from error
    except LaunchError:
        raise
    except (ValueError, IndexError, TypeError, AttributeError, OverflowError) as error:  # the reader's own faults
        raise LaunchError("the launch file is no valid YAML") from error


def _refuse_deep_brackets(text: str) -> None:
    """The reader needs quadratic time for deeply nested brackets, so they are counted before."""
    depth = 0
    for found in re.finditer(r"[\[\]{}]", text):
        depth = depth + 1 if found[0] in "[{" else max(depth - 1, 0)
        if depth > 4 * MAX_DEPTH:
            raise LaunchError("the launch file nests too deep to be read")


def _build(events: Any) -> list[Node]:
    roots: list[Node] = []
    stack: list[Node] = []
    anchors: dict[str, Node] = {}
    nodes = aliases = 0
    for event in events:
        name = type(event).__name__
        if name == "DocumentStartEvent":
            anchors = {}
        elif name in ("SequenceEndEvent", "MappingEndEvent"):
            stack.pop().end = event.end_mark.index
        elif name in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent", "AliasEvent"):
            nodes += 1
            aliases += name == "AliasEvent"
            if nodes > MAX_NODES or aliases > MAX_ALIASES or len(stack) > MAX_DEPTH:
                raise LaunchError("the launch file nests too deep or is too big to be read")
            node = _node(name, event, anchors)
            (stack[-1].items if stack else roots).append(node)
            if name in ("SequenceStartEvent", "MappingStartEvent"):
                stack.append(node)
    return roots


def _node(name: str, event: Any, anchors: dict[str, Node]) -> Node:
    if name == "AliasEvent":
        found = anchors.get(str(event.anchor))
        if found is None:
            raise LaunchError(f"the launch file is no valid YAML: the alias *{event.anchor} has no anchor")
        return found
    start, end = event.start_mark.index, event.end_mark.index
    if name == "ScalarEvent":
        node = Node("scalar", start, end, value=str(event.value), style=event.style or "")
    else:
        kind = "list" if name == "SequenceStartEvent" else "map"
        node = Node(kind, start, end, flow=bool(event.flow_style))
    if event.anchor is not None:
        anchors[str(event.anchor)] = node
    return node


# -- places in the text -----------------------------------------------------------------------------------------------


def value_start(text: str, node: Node) -> int:
    """Return where a scalar's text begins, behind an anchor or a tag."""
    at = node.start
    while text[at : at + 1] in ("&", "!"):
        at += len(re.compile(r"\S+").match(text, at)[0])  # type: ignore[index]
        at += len(re.compile(r"\s*").match(text, at)[0])  # type: ignore[index]
    return at


def content_end(text: str, node: Node) -> int:
    """Return where the visible text of a node ends, without the line ends and comments behind it."""
    while node.kind != "scalar" and not node.flow and node.items:
        last = node.items[-1]
        if last.end > node.end or last.start < node.start:  # an alias: its node stands elsewhere
            break
        node = last
    if node.kind != "scalar":
        if node.flow:
            return node.end
        return _without_comments(text, node.start, node.end)
    if node.style in ("|", ">"):
        lines = block_lines(text, node)
        return lines[-1][1] if lines else line_end(text, node.start)
    return max(node.start, len(text[node.start : node.end].rstrip()) + node.start)


def _without_comments(text: str, start: int, end: int) -> int:
    """Step back over blank lines and comment lines."""
    while end > start:
        begin = text.rfind("\n", start, end - 1) + 1 if end - 1 > start else start
        line = text[max(begin, start) : end].strip()
        if line and not line.startswith("#"):
            break
        end = max(begin, start)
    return start + len(text[start:end].rstrip())


def line_start(text: str, at: int) -> int:
    """Return where the line begins that holds a place."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return where the line ends that holds a place, before its line end."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" and end > at else end


def after_line(text: str, at: int) -> int:
    """Return where the next line begins."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def column(text: str, at: int) -> int:
    """Return how many characters stand before a place in its line."""
    return at - line_start(text, at)


def block_lines(text: str, node: Node) -> list[tuple[int, int]]:
    """Return where the lines of a block scalar begin (behind the indentation) and end; blank lines at its end left out.

    Returned are only the lines that the reader counts as its text.
    """
    at = after_line(text, value_start(text, node))
    lines: list[tuple[int, int]] = []
    indent: int | None = _indicated(text, node)
    limit = max(node.end, at)
    while at < limit:
        end = line_end(text, at)
        body = text[at:end]
        width = len(body) - len(body.lstrip(" "))
        if body.strip():
            indent = width if indent is None else indent
            if width < indent:
                break
            lines.append((at + indent, end))
        else:
            lines.append((min(at + (indent or 0), end), end))
        at = after_line(text, at)
    while lines and not text[lines[-1][0] : lines[-1][1]].strip():
        lines.pop()
    return lines


def _indicated(text: str, node: Node) -> int | None:
    header = text[value_start(text, node) : line_end(text, node.start)].partition("#")[0]
    digit = re.search(r"[1-9]", header)
    if digit is None:
        return None
    begin = line_start(text, node.start)
    line = text[begin : line_end(text, begin)]
    return len(line) - len(line.lstrip(" -")) + int(digit[0])


# -- scalars as pieces ------------------------------------------------------------------------------------------------


def scalar_piece(text: str, node: Node) -> Piece | None:
    """Return what a scalar says with the place of each character; None where the two cannot be brought together."""
    chars = _block_chars(text, node) if node.style in ("|", ">") else _inline_chars(text, node)
    value = "".join(char for char, _, _ in chars)
    if value.rstrip("\n") != node.value.rstrip("\n"):
        return None
    quoting = _STYLES.get(node.style, Quoting.YAML_PLAIN)
    return Piece(value, [start for _, start, _ in chars], [end for _, _, end in chars], (quoting,))


_Char = tuple[str, int, int]


def _block_chars(text: str, node: Node) -> list[_Char]:
    lines = block_lines(text, node)
    folded = node.style == ">"
    chars: list[_Char] = []
    for number, (start, end) in enumerate(lines):
        chars.extend((text[at], at, at + 1) for at in range(start, end))
        if number + 1 == len(lines):
            break
        following = lines[number + 1]
        chars.append(("\n", end, following[0]))
        if folded:
            _fold(text, lines, number, chars)
    return chars


def _fold(text: str, lines: list[tuple[int, int]], number: int, chars: list[_Char]) -> None:
    """Make a line end inside a folded text what it means there: a blank, nothing, or a line end."""
    here, following = (text[slice(*lines[place])] for place in (number, number + 1))
    before = next((text[slice(*lines[p])] for p in range(number, -1, -1) if lines[p][0] < lines[p][1]), "")
    after = next((text[slice(*lines[p])] for p in range(number + 1, len(lines)) if lines[p][0] < lines[p][1]), "")
    if before.startswith((" ", "\t")) or after.startswith((" ", "\t")) or not before:
        return
    if here and following:
        chars[-1] = (" ", chars[-1][1], chars[-1][2])
    elif here:  # the first of several line ends is dropped
        chars.pop()


def _inline_chars(text: str, node: Node) -> list[_Char]:
    at, end = value_start(text, node), len(text[: node.end].rstrip()) if not node.style else node.end
    if node.style:
        at, end = at + 1, end - 1
    chars: list[_Char] = []
    while at < end:
        char = text[at]
        if char in "\r\n" or (char in " \t" and re.compile(r"[ \t]*\r?\n").match(text, at)):
            at = _folded_break(text, at, end, chars)
        elif node.style == "'" and char == "'":
            chars.append(("'", at, at + 2))
            at += 2
        elif node.style == '"' and char == "\\":
            at = _escaped(text, at, chars)
        else:
            chars.append((char, at, at + 1))
            at += 1
    return chars


def _folded_break(text: str, at: int, end: int, chars: list[_Char]) -> int:
    found = re.compile(r"\s+").match(text, at, end)
    stop = found.end() if found else at + 1
    breaks = text.count("\n", at, stop)
    chars.extend([(" ", at, stop)] if breaks <= 1 else [("\n", at, stop)] * (breaks - 1))
    return stop


def _escaped(text: str, at: int, chars: list[_Char]) -> int:
    following = text[at + 1 : at + 2]
    if following in ("\n", "\r"):
        found = re.compile(r"\\\r?\n[ \t]*").match(text, at)
        return found.end() if found else at + 2
    if following in _HEX:
        stop = at + 2 + _HEX[following]
        try:
            chars.append((chr(int(text[at + 2 : stop], 16)), at, stop))
        except (ValueError, OverflowError):
            chars.append(("\ufffd", at, stop))
        return stop
    chars.append((_ESCAPES.get(following, following), at, at + 2))
    return at + 2
