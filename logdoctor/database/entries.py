"""From YAML text to checked plain dictionaries, one per entry, with every mistake named as `file:line: what`.

YAML is taken as a tree of nodes and never turned into objects by the YAML library: so every complaint knows its
line, no tag can construct anything, and plain words such as `no` or `0.10` stay what the writer wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from logdoctor.database.issues import Issue
from logdoctor.database.schema import LEVELS, NONE, REMEDY_KINDS, ROLES, Kind
from logdoctor.model import Basis, Confidence, Phase, Severity

MAX_FILE_BYTES = 4 * 2**20
"""A larger file is not a hand-written database."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_FACT_KEY = re.compile(r"[A-Za-z_][\w]*(?:\.[\w-]+)*")
_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "value", "merge")
)
_NULL = "tag:yaml.org,2002:null"

_Node = Any
_Read = Callable[["_Reader", _Node, str], Any]


class _Bad(Exception):
    """A value could not be used; the complaint is already in the list."""


def read_entries(text: str, file: str, *, strict: bool = True) -> tuple[list[dict[str, Any]], list[Issue]]:
    """Return the entries of one YAML file as plain dictionaries, and all complaints.

    An entry with a complaint is left out. Every dictionary carries `file` and `line`. `strict` also compiles
    patterns and version ranges; it is left off only for files that tests have already checked.
    """
    import yaml

    reader = _Reader(file, strict)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        return [], [_yaml_issue(error, text, file)]
    except RecursionError:
        return [], [Issue(file, 1, "nested too deeply")]
    return reader.entries(root), sorted(reader.issues)


def _yaml_issue(error: Exception, text: str, file: str) -> Issue:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    # A ReaderError has no mark, only the position of the character.
    line = mark.line if mark else text.count("\n", 0, getattr(error, "position", 0) or 0)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    return Issue(file, line + 1, f"not valid YAML: {problem}")


class _Reader:
    """Walks the nodes of one file and collects what is wrong."""

    def __init__(self, file: str, strict: bool) -> None:
        self.file = file
        self.strict = strict
        self.issues: list[Issue] = []
        self._seen: dict[int, _Node] = {}  # keeps the nodes alive, so that an id is never reused

    def complain(self, node: _Node, what: str) -> None:
        self.issues.append(Issue(self.file, node.start_mark.line + 1, what))

    def bad(self, node: _Node, what: str) -> _Bad:
        self.complain(node, what)
        return _Bad(what)

    def entries(self, root: _Node | None) -> list[dict[str, Any]]:
        if root is None:
            return []
        try:
            nodes = self.sequence(root, "the file")
        except _Bad:
            return []
        entries = []
        for node in nodes:
            before = len(self.issues)
            try:
                entry = self.entry(node)
            except _Bad:
                continue
            if len(self.issues) == before:
                entries.append(entry)
        return entries

    def entry(self, node: _Node) -> dict[str, Any]:
        pairs = self.pairs(node, "an entry")
        if "disabled" in pairs:
            values = self.fields(node, pairs, {"id": _slug, "disabled": _boolean}, ("id",), "a disabled entry")
            if values.get("disabled") is False:
                self.complain(pairs["disabled"], "disabled: false says nothing; leave it out")
        else:
            values = self.fields(node, pairs, _ENTRY, _REQUIRED, "an entry")
            self.rules(node, values)
        return values | {"file": self.file, "line": node.start_mark.line + 1}

    def rules(self, node: _Node, values: Mapping[str, Any]) -> None:
        """Check what only several fields together can get wrong."""
        name = values.get("id", "this entry")
        if not any(values.get(key) for key in ("match", "when", "when_known")):
            self.complain(node, f"{name}: needs match, or when / when_known")
        if values.get("harmless") and values.get("severity", "info") != "info":
            self.complain(node, f"{name}: a harmless entry must have severity info")

    def fields(
        self, node: _Node, pairs: Mapping[str, _Node], spec: Mapping[str, _Read], required: tuple[str, ...], what: str
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
            except _Bad:
                continue
        missing = [key for key in required if key not in pairs]
        if missing:
            self.complain(node, f"{what} lacks {', '.join(missing)}")
        return values

    def _once(self, node: _Node) -> None:
        if id(node) in self._seen:
            raise self.bad(node, "anchors and aliases (& and *) are not allowed; write the value out")
        self._seen[id(node)] = node

    def pairs(self, node: _Node, what: str) -> dict[str, _Node]:
        if node.id != "mapping" or node.tag != "tag:yaml.org,2002:map":
            raise self.bad(node, f"{what} must be a mapping (key: value)")
        self._once(node)
        pairs: dict[str, _Node] = {}
        for key_node, value in node.value:
            if key_node.id != "scalar":
                raise self.bad(key_node, f"{what}: a key must be a plain word")
            if key_node.value in pairs:
                self.complain(key_node, f"{key_node.value}: stands twice in {what}")
            pairs[key_node.value] = value
        return pairs

    def sequence(self, node: _Node, what: str) -> list[_Node]:
        if node.id != "sequence" or node.tag != "tag:yaml.org,2002:seq":
            raise self.bad(node, f"{what} must be a list")
        self._once(node)
        return list(node.value)

    def scalar(self, node: _Node, what: str) -> str:
        if node.id != "scalar" or node.tag not in _PLAIN_TAGS:
            raise self.bad(node, f"{what} must be text")
        self._once(node)
        if node.tag == _NULL:
            raise self.bad(node, f"{what} is empty")
        return str(node.value)

    def each(self, node: _Node, what: str, read: _Read) -> list[Any]:
        """Read every item of a list; a bad item is left out, its complaint is kept."""
        values = []
        for item in self.sequence(node, what):
            try:
                values.append(read(self, item, what))
            except _Bad:
                continue
        return values


def _hint(key: str, known: Mapping[str, object]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


# --- one function per kind of value ---------------------------------------------------------------------------------


def _text(reader: _Reader, node: _Node, name: str) -> str:
    text = reader.scalar(node, name).strip()
    if not text:
        raise reader.bad(node, f"{name} is empty")
    return text


def _exact(reader: _Reader, node: _Node, name: str) -> str:
    """Read text whose blanks count."""
    text = reader.scalar(node, name)
    if not text.strip():
        raise reader.bad(node, f"{name} is empty")
    return text


def _log(reader: _Reader, node: _Node, name: str) -> str:
    return _exact(reader, node, name).rstrip("\n")


def _texts(reader: _Reader, node: _Node, name: str) -> list[str]:
    return reader.each(node, name, _text)


def _slug(reader: _Reader, node: _Node, name: str) -> str:
    text = reader.scalar(node, name)
    if not _SLUG.fullmatch(text):
        raise reader.bad(node, f"{name}: {text!r} is not a slug of a-z, 0-9 and single hyphens")
    return text


def _slugs(reader: _Reader, node: _Node, name: str) -> list[str]:
    return reader.each(node, name, _slug)


def _boolean(reader: _Reader, node: _Node, name: str) -> bool:
    text = reader.scalar(node, name)
    if node.style not in (None, "") or text not in ("true", "false"):
        raise reader.bad(node, f"{name} must be true or false")
    return text == "true"


def _choice(*choices: str) -> _Read:
    def read(reader: _Reader, node: _Node, name: str) -> str:
        text = reader.scalar(node, name)
        if text not in choices:
            raise reader.bad(node, f"{name}: {text!r} is not one of {', '.join(choices)}")
        return text

    return read


def _choices(*choices: str) -> _Read:
    one = _choice(*choices)

    def read(reader: _Reader, node: _Node, name: str) -> list[str]:
        values = reader.each(node, name, one)
        if not node.value:
            raise reader.bad(node, f"{name} is an empty list; leave it out")
        return values

    return read


def _range(reader: _Reader, node: _Node, name: str) -> str:
    text = _text(reader, node, name)
    if reader.strict:
        _check_range(reader, node, name, text)
    return text


def _check_range(reader: _Reader, node: _Node, name: str, text: str) -> None:
    from logdoctor.knowledge.releases import parse_range

    try:
        parse_range(text)
    except ValueError:
        raise reader.bad(node, f"{name}: {text!r} is not a version range such as '>=0.17,<0.20'") from None


def _pattern(reader: _Reader, node: _Node, name: str) -> str:
    text = _exact(reader, node, name)
    if reader.strict:
        _compile(reader, node, name, text)
    return text


def _compile(reader: _Reader, node: _Node, name: str, pattern: str) -> None:
    import regex

    try:
        regex.compile(pattern)
    except regex.error as error:
        raise reader.bad(node, f"{name}: not a valid regular expression: {error}") from None


def _value(reader: _Reader, node: _Node, name: str) -> str | int | float | bool:
    """Read a scalar as what it looks like; versions stay text, or 0.10 would become 0.1."""
    text = reader.scalar(node, name)
    if node.style not in (None, "") or name.endswith((".version", ".compute_capability")):
        return text
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        return float(text) if set(text) & set(".eE") else int(text)
    return text


def _condition(reader: _Reader, node: _Node, name: str) -> Any:
    value = _value(reader, node, name)
    if not reader.strict or not isinstance(value, str):
        return value
    if name == "vllm.version" and value[:1] in "<>=!":
        _check_range(reader, node, name, value)
    if value.startswith("~"):
        try:  # conditions are searched with `re`
            re.compile(value[1:])
        except re.error as error:
            raise reader.bad(node, f"{name}: not a valid regular expression: {error}") from None
    return value


def _keyed(read: _Read) -> _Read:
    """Return a reader of a mapping from fact keys to values or lists of values."""

    def read_all(reader: _Reader, node: _Node, name: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in reader.pairs(node, name).items():
            if not _FACT_KEY.fullmatch(key):
                reader.complain(value, f"{name}: {key!r} is not a fact key")
                continue
            try:
                values[key] = reader.each(value, key, read) if value.id == "sequence" else read(reader, value, key)
            except _Bad:
                continue
            if values[key] == []:
                reader.complain(value, f"{name}: {key} has an empty list")
        return values

    return read_all


_ITEM: dict[str, _Read] = {
    "pattern": _pattern,
    "literal": _exact,
    "level": _choices(*LEVELS, NONE),
    "not_level": _choices(*LEVELS, NONE),
    "from": _choices(*ROLES, NONE),
}


def _item(reader: _Reader, node: _Node, name: str) -> dict[str, Any]:
    pairs = reader.pairs(node, f"an item of {name}")
    values = reader.fields(node, pairs, _ITEM, (), f"an item of {name}")
    if ("pattern" in pairs) == ("literal" in pairs):
        reader.complain(node, f"an item of {name} needs a pattern or a literal, and not both")
    return values


def _items(reader: _Reader, node: _Node, name: str) -> list[dict[str, Any]]:
    values = reader.each(node, name, _item)
    if not node.value:
        raise reader.bad(node, f"{name} is an empty list; leave it out")
    return values


_BLOCK: dict[str, _Read] = dict.fromkeys(("any", "all", "none", "sequence"), _items)


def _block(reader: _Reader, node: _Node, name: str) -> dict[str, Any]:
    pairs = reader.pairs(node, name)
    if not pairs:
        raise reader.bad(node, f"{name} needs any, all, none or sequence")
    return reader.fields(node, pairs, _BLOCK, (), name)


_REMEDY: dict[str, _Read] = {
    "summary": _text,
    **dict.fromkeys(REMEDY_KINDS, _text),
    "vllm": _range,
    "when": _keyed(_condition),
    "not_when": _keyed(_condition),
    "conflicts_with": _texts,
}


def _remedy(reader: _Reader, node: _Node, name: str) -> dict[str, Any]:
    pairs = reader.pairs(node, "a remedy")
    values = reader.fields(node, pairs, _REMEDY, ("summary",), "a remedy")
    kinds = [kind for kind in REMEDY_KINDS if kind in pairs]
    if len(kinds) > 1:
        reader.complain(node, f"a remedy is one change, not {' and '.join(kinds)}; write one remedy for each")
    return values


def _remedies(reader: _Reader, node: _Node, name: str) -> list[dict[str, Any]]:
    return reader.each(node, name, _remedy)


_EXAMPLE: dict[str, _Read] = {"log": _log, "facts": _keyed(_value)}


def _example(reader: _Reader, node: _Node, name: str) -> str | dict[str, Any]:
    if node.id == "scalar":
        return _log(reader, node, name)
    pairs = reader.pairs(node, f"an example of {name}")
    values = reader.fields(node, pairs, _EXAMPLE, (), "an example")
    if not pairs:
        reader.complain(node, "an example needs log or facts")
    return values


def _example_list(reader: _Reader, node: _Node, name: str) -> list[Any]:
    return reader.each(node, name, _example)


def _examples(reader: _Reader, node: _Node, name: str) -> dict[str, Any]:
    spec = {"match": _example_list, "no_match": _example_list}
    return reader.fields(node, reader.pairs(node, name), spec, (), name)


_REQUIRED = ("id", "title", "severity", "phase", "cause", "confidence", "basis")
_ENTRY: dict[str, _Read] = {
    "id": _slug,
    "title": _text,
    "severity": _choice(*(value.value for value in Severity)),
    "kind": _choice(*(value.value for value in Kind)),
    "harmless": _boolean,
    "general": _boolean,
    "phase": _choice(*(value.value for value in Phase)),
    "vllm": _range,
    "match": _block,
    "when": _keyed(_condition),
    "when_known": _keyed(_condition),
    "cause": _text,
    "consequence_of": _slugs,
    "suppresses": _slugs,
    "remedies": _remedies,
    "verify": _text,
    "wrong_when": _text,
    "confidence": _choice(*(value.value for value in Confidence)),
    "basis": _choice(*(value.value for value in Basis)),
    "references": _texts,
    "examples": _examples,
}
ENTRY_KEYS = tuple(_ENTRY)
"""The keys of an entry in the order of the documentation."""
