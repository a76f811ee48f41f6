"""Lists, mappings and texts of a YAML file as the words and variables of a launch, with what removes each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from logdoctor.launch import shell
from logdoctor.launch.command import Form, Layout, Slot, Span, Variable, Word
from logdoctor.launch.pieces import Piece, Quoting
from logdoctor.launch.scripts import Script
from logdoctor.launch.yaml_nodes import (
    Node,
    after_line,
    column,
    content_end,
    line_end,
    line_start,
    scalar_piece,
    value_start,
)

QUOTING = {"'": Quoting.YAML_SINGLE, '"': Quoting.YAML_DOUBLE}
_REFERENCE = re.compile(
    r"(?<!\$)\$(?:\{(?P<braced>\w+)(?::?-(?P<default>[^{}]*)|[^{}\w][^{}]*)?\}|(?P<plain>\w+)|\((?P<k8s>\w+)\))"
)


@dataclass(frozen=True, slots=True)
class Words:
    """The words that an entry holds."""

    words: tuple[Word, ...] = ()
    insides: tuple[Callable[[], Piece | None], ...] = ()
    """What stands inside each word, looked into when it is asked for."""
    shared: bool = False
    """True when they stand at an anchor that other entries may use too."""

    def inside(self, position: int) -> Piece | None:
        """Return what stands inside a word."""
        return self.insides[position]() if 0 <= position < len(self.insides) else None

    def __add__(self, other: Words) -> Words:
        return Words(self.words + other.words, self.insides + other.insides, self.shared or other.shared)


def words_of(text: str, node: Node | None, owner: Node) -> Words:
    """Read `command: [a, b]`, a list with one item a line, or a text that is split like a shell's."""
    if node is None:
        return Words()
    shared = not owner.start <= node.start <= owner.end
    if node.kind == "list":
        insides = tuple(partial(_piece, text, item) for item in node.items)
        return Words(tuple(list_words(text, node)), insides, shared)
    if node.kind != "scalar" or (not node.style and node.value in ("", "null", "~")):
        return Words()
    piece = scalar_piece(text, node)
    if piece is None:
        word = Word(node.value, node.start, node.end, expands=True, raw=node.value[:80])
        return Words((word,), (partial(_piece, text, None),), shared)
    rows = shell.split(piece, newline_ends=False)
    script = Script(piece, newline_ends=False)
    found = [*script.row(piece, [token for row in rows for token in row.tokens])]
    return Words(tuple(_interpolated(one.word) for one in found), tuple(one.inside for one in found), shared)


def _piece(text: str, node: Node | None) -> Piece | None:
    return scalar_piece(text, node) if node is not None and node.kind == "scalar" else None


def _interpolated(word: Word) -> Word:
    """Put in the default of `${NAME:-default}`; any other variable is known only where the launch runs."""
    if "$" not in word.value:
        return word
    left = False

    def one(found: re.Match[str]) -> str:
        nonlocal left
        if found["default"] is not None:
            return found["default"]
        left = True
        return found[0]

    value = _REFERENCE.sub(one, word.value).replace("$$", "$")
    return replace(word, value=value, expands=left)


def list_words(text: str, node: Node) -> list[Word]:
    """Return the items of a list as words."""
    shell.refuse_many(len(node.items))
    layout = Layout.FLOW if node.flow else Layout.BLOCK
    words = []
    for place, item in enumerate(node.items):
        start = value_start(text, item)
        end = content_end(text, item)
        word = Word(
            value=item.value if item.kind == "scalar" else "",
            start=start,
            end=end,
            before=content_end(text, node.items[place - 1]) if place else -1,
            after=node.items[place + 1].start if place + 1 < len(node.items) else -1,
            layout=layout,
            quoting=(QUOTING.get(item.style, Quoting.YAML_PLAIN),),
            raw=text[start:end],
        )
        words.append(_interpolated(word))
    return words


# -- what removes and what adds ---------------------------------------------------------------------------------------


def entry_cut(text: str, owner: Node, key: str) -> Span:
    """Return what removes an entry of a mapping together with its lines."""
    pairs = list(owner.pairs)
    return _pair_cut(text, owner, pairs, next(at for at, pair in enumerate(pairs) if pair[0].value == key))


def _pair_cut(text: str, owner: Node, pairs: Sequence[tuple[Node, Node]], place: int) -> Span:
    name, value = pairs[place]
    end = max(content_end(text, value), name.end) if value.start >= name.start else _alias_end(text, name)
    if owner.flow:
        following = pairs[place + 1][0].start if place + 1 < len(pairs) else -1
        previous = _pair_end(text, pairs[place - 1]) if place else -1
        return flow_cut(name.start, end, previous, following)
    return line_start(text, name.start), after_line(text, end)


def _pair_end(text: str, pair: tuple[Node, Node]) -> int:
    name, value = pair
    return content_end(text, value) if value.start >= name.start else _alias_end(text, name)


def _alias_end(text: str, name: Node) -> int:
    found = re.compile(r"\s*:\s*\*[^\s,}\]]+").match(text, name.end)
    return found.end() if found else line_end(text, name.end)


def flow_cut(start: int, end: int, before: int, after: int) -> Span:
    """Return what removes an item of a list in brackets together with one comma."""
    if after >= 0:
        return start, after
    return (before, end) if before >= 0 else (start, end)


def item_cut(text: str, node: Node, place: int) -> Span:
    """Return what removes an item of a list."""
    item = node.items[place]
    end = content_end(text, item)
    if node.flow:
        following = node.items[place + 1].start if place + 1 < len(node.items) else -1
        return flow_cut(item.start, end, content_end(text, node.items[place - 1]) if place else -1, following)
    return line_start(text, item.start), after_line(text, end)


def variables_of(text: str, owner: Node, key: str) -> tuple[dict[str, Variable], bool]:
    """Read compose's `environment`, a mapping or a list; also whether it stands at an anchor shared with others."""
    node = owner.get(key)
    if node is None:
        return {}, False
    shared = not owner.start <= node.start <= owner.end
    found = _from_mapping(text, node) if node.kind == "map" else _from_list(text, node)
    if len(found) == 1 and not shared and owner.entry(key) is not None:
        found = {name: replace(variable, cut=entry_cut(text, owner, key)) for name, variable in found.items()}
    return found, shared


def _from_mapping(text: str, node: Node) -> dict[str, Variable]:
    variables: dict[str, Variable] = {}
    pairs = list(node.pairs)
    for _, merged in (pair for pair in node.pairs if pair[0].value == "<<" and pair[1].kind == "map"):
        inherited = {name.value: value for name, value in merged.pairs}
        variables.update({n: Variable(n, v.value, (0, 0)) for n, v in inherited.items() if v.kind == "scalar"})
    for at, (name, value) in enumerate(pairs):
        if value.kind != "scalar" or name.value == "<<":
            continue
        empty = not value.style and value.value in ("", "null", "~")
        place = None if empty else _value_word(text, value)
        known = place is None or not place.expands
        setting = None if empty else place.value if place else value.value
        cut = _pair_cut(text, node, pairs, at)
        variables[name.value] = Variable(name.value, setting, cut, place, "", known)
    return variables


def _value_word(text: str, value: Node) -> Word:
    start, end = value_start(text, value), content_end(text, value)
    quoting = (QUOTING.get(value.style, Quoting.YAML_PLAIN),)
    return _interpolated(Word(value.value, start, end, layout=Layout.BLOCK, quoting=quoting, raw=text[start:end]))


def _from_list(text: str, node: Node) -> dict[str, Variable]:
    variables = {}
    for place, word in enumerate(list_words(text, node) if node.kind == "list" else []):
        name, equals, value = word.value.partition("=")
        cut = item_cut(text, node, place)
        variables[name] = Variable(name, value if equals else None, cut, word, f"{name}=", not word.expands)
    return variables


def variable_slot(text: str, owner: Node, key: str, behind: Sequence[str]) -> Slot | None:
    """Return where a new variable goes: into the entry, or into a new one behind the first of `behind` there is."""
    entry = owner.entry(key)
    if entry is not None and entry[1].items and entry[1].start >= entry[0].start:
        return _next_entry(text, entry[1])
    if entry is not None or owner.flow:
        return None
    anchor = next((found for name in behind if (found := owner.entry(name)) is not None), None)
    if anchor is None:
        return None
    at = after_line(text, _pair_end(text, anchor))
    indent = " " * column(text, anchor[0].start)
    newline = "" if text[at - 1 : at] == "\n" else "\n"
    return Slot(at, f"{newline}{indent}{key}:\n{indent}  ", "\n", Form.ENTRY)


def _next_entry(text: str, node: Node) -> Slot | None:
    form = Form.ENTRY if node.kind == "map" else Form.ITEM
    if node.flow:
        pairs = list(node.pairs)
        end = _pair_end(text, pairs[-1]) if pairs else content_end(text, node.items[-1])
        quoting = QUOTING.get(node.items[-1 if form is Form.ITEM else -2].style)
        return Slot(end, ", ", "", form, (quoting,) if quoting else (), flow=True)
    first = node.items[0]
    last = list(node.pairs)[-1] if node.kind == "map" else (node.items[-1], node.items[-1])
    at = after_line(text, _pair_end(text, last))
    lead = text[line_start(text, first.start) : first.start]
    if lead.strip(" -") or (form is Form.ENTRY and lead.strip()):
        return None
    newline = "" if text[at - 1 : at] == "\n" else "\n"
    quoting = QUOTING.get(node.items[-1].style) if form is Form.ITEM else None
    return Slot(at, newline + lead, "\n", form, (quoting,) if quoting else ())
