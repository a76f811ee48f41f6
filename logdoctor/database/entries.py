"""From YAML text to checked plain dictionaries, one per entry, with every mistake named as `file:line: what`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from logdoctor.database.issues import Issue
from logdoctor.database.nodes import Bad, Node, Read, Reader
from logdoctor.database.schema import LEVELS, NONE, REMEDY_KINDS, ROLES, Kind
from logdoctor.model import Basis, Confidence, Phase, Severity

MAX_FILE_BYTES = 4 * 2**20
"""A larger file is not a hand-written database."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_FACT_KEY = re.compile(r"[A-Za-z_][\w]*(?:\.[\w-]+)*")


def read_entries(text: str, file: str, *, strict: bool = True) -> tuple[list[dict[str, Any]], list[Issue]]:
    """Return the entries of one YAML file as plain dictionaries, and all complaints.

    An entry with a complaint is left out. Every dictionary carries `file` and `line`. `strict` also compiles
    patterns and reads version ranges; it is left off only for files that tests have already checked.
    """
    import yaml

    reader = Reader(file, strict)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        return [], [_yaml_issue(error, text, file)]
    except RecursionError:
        return [], [Issue(file, 1, "nested too deeply")]
    return _all_entries(reader, root), sorted(reader.issues)


def _yaml_issue(error: Exception, text: str, file: str) -> Issue:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    # A ReaderError has no mark, only the position of the character.
    line = mark.line if mark else text.count("\n", 0, getattr(error, "position", 0) or 0)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    return Issue(file, line + 1, f"not valid YAML: {problem}")


def _all_entries(reader: Reader, root: Node | None) -> list[dict[str, Any]]:
    """Read every entry; one with a complaint is left out."""
    if root is None:
        return []
    try:
        nodes = reader.sequence(root, "the file")
    except Bad:
        return []
    entries = []
    for node in nodes:
        before = len(reader.issues)
        try:
            entry = _entry(reader, node)
        except Bad:
            continue
        if len(reader.issues) == before:
            entries.append(entry)
    return entries


def _entry(reader: Reader, node: Node) -> dict[str, Any]:
    pairs = reader.pairs(node, "an entry")
    if "disabled" in pairs:
        values = reader.fields(node, pairs, {"id": _slug, "disabled": _boolean}, ("id",), "a disabled entry")
        if values.get("disabled") is False:
            reader.complain(pairs["disabled"], "disabled: false says nothing; leave it out")
    else:
        values = reader.fields(node, pairs, _ENTRY, _REQUIRED, "an entry")
        _rules(reader, node, values)
    return values | {"file": reader.file, "line": node.start_mark.line + 1}


def _rules(reader: Reader, node: Node, values: Mapping[str, Any]) -> None:
    """Check what only several fields together can get wrong."""
    name = values.get("id", "this entry")
    if not any(values.get(key) for key in ("match", "when", "when_known")):
        reader.complain(node, f"{name}: needs match, or when / when_known")
    if values.get("undecided_with") and not (values.get("decide") and values.get("decided_when")):
        reader.complain(node, f"{name}: undecided_with needs decide and decided_when")
    if values.get("harmless") and values.get("severity", "info") != "info":
        reader.complain(node, f"{name}: a harmless entry must have severity info")


# --- one function per kind of value ---------------------------------------------------------------------------------


def _text(reader: Reader, node: Node, name: str) -> str:
    text = reader.scalar(node, name).strip()
    if not text:
        raise reader.bad(node, f"{name} is empty")
    return text


def _exact(reader: Reader, node: Node, name: str) -> str:
    """Read text whose blanks count."""
    text = reader.scalar(node, name)
    if not text.strip():
        raise reader.bad(node, f"{name} is empty")
    return text


def _log(reader: Reader, node: Node, name: str) -> str:
    return _exact(reader, node, name).rstrip("\n")


def _texts(reader: Reader, node: Node, name: str) -> list[str]:
    return reader.each(node, name, _text)


def _slug(reader: Reader, node: Node, name: str) -> str:
    text = reader.scalar(node, name)
    if not _SLUG.fullmatch(text):
        raise reader.bad(node, f"{name}: {text!r} is not a slug of a-z, 0-9 and single hyphens")
    return text


def _slugs(reader: Reader, node: Node, name: str) -> list[str]:
    return reader.each(node, name, _slug)


def _boolean(reader: Reader, node: Node, name: str) -> bool:
    text = reader.scalar(node, name)
    if node.style not in (None, "") or text not in ("true", "false"):
        raise reader.bad(node, f"{name} must be true or false")
    return text == "true"


def _choice(*choices: str) -> Read:
    def read(reader: Reader, node: Node, name: str) -> str:
        text = reader.scalar(node, name)
        if text not in choices:
            raise reader.bad(node, f"{name}: {text!r} is not one of {', '.join(choices)}")
        return text

    return read


def _choices(*choices: str) -> Read:
    one = _choice(*choices)

    def read(reader: Reader, node: Node, name: str) -> list[str]:
        values = reader.each(node, name, one)
        if not node.value:
            raise reader.bad(node, f"{name} is an empty list; leave it out")
        return values

    return read


def _range(reader: Reader, node: Node, name: str) -> str:
    text = _text(reader, node, name)
    if reader.strict:
        _check_range(reader, node, name, text)
    return text


def _check_range(reader: Reader, node: Node, name: str, text: str) -> None:
    from logdoctor.knowledge.releases import parse_range

    try:
        parse_range(text)
    except ValueError:
        raise reader.bad(node, f"{name}: {text!r} is not a version range such as '>=0.17,<0.20'") from None


def _pattern(reader: Reader, node: Node, name: str) -> str:
    text = _exact(reader, node, name)
    if reader.strict:
        _compile(reader, node, name, text)
    return text


def _compile(reader: Reader, node: Node, name: str, pattern: str) -> None:
    import regex

    try:
        regex.compile(pattern)
    except regex.error as error:
        raise reader.bad(node, f"{name}: not a valid regular expression: {error}") from None


def _value(reader: Reader, node: Node, name: str) -> str | int | float | bool:
    """Read a scalar as what it looks like; versions stay text, or 0.10 would become 0.1."""
    text = reader.scalar(node, name)
    if node.style not in (None, "") or name.endswith((".version", ".compute_capability")):
        return text
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        return float(text) if set(text) & set(".eE") else int(text)
    return text


def _condition(reader: Reader, node: Node, name: str) -> Any:
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


def _keyed(read: Read) -> Read:
    """Return a reader of a mapping from fact keys to values or lists of values."""

    def read_all(reader: Reader, node: Node, name: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in reader.pairs(node, name).items():
            if not _FACT_KEY.fullmatch(key):
                reader.complain(value, f"{name}: {key!r} is not a fact key")
                continue
            try:
                values[key] = reader.each(value, key, read) if value.id == "sequence" else read(reader, value, key)
            except Bad:
                continue
            if values[key] == []:
                reader.complain(value, f"{name}: {key} has an empty list")
        return values

    return read_all


_ITEM: dict[str, Read] = {
    "pattern": _pattern,
    "literal": _exact,
    "level": _choices(*LEVELS, NONE),
    "not_level": _choices(*LEVELS, NONE),
    "from": _choices(*ROLES, NONE),
}


def _item(reader: Reader, node: Node, name: str) -> dict[str, Any]:
    pairs = reader.pairs(node, f"an item of {name}")
    values = reader.fields(node, pairs, _ITEM, (), f"an item of {name}")
    if ("pattern" in pairs) == ("literal" in pairs):
        reader.complain(node, f"an item of {name} needs a pattern or a literal, and not both")
    return values


def _items(reader: Reader, node: Node, name: str) -> list[dict[str, Any]]:
    values = reader.each(node, name, _item)
    if not node.value:
        raise reader.bad(node, f"{name} is an empty list; leave it out")
    return values


_BLOCK: dict[str, Read] = dict.fromkeys(("any", "all", "none", "sequence"), _items)


def _block(reader: Reader, node: Node, name: str) -> dict[str, Any]:
    pairs = reader.pairs(node, name)
    if not pairs:
        raise reader.bad(node, f"{name} needs any, all, none or sequence")
    return reader.fields(node, pairs, _BLOCK, (), name)


_REMEDY: dict[str, Read] = {
    "summary": _text,
    **dict.fromkeys(REMEDY_KINDS, _text),
    "vllm": _range,
    "when": _keyed(_condition),
    "not_when": _keyed(_condition),
    "conflicts_with": _texts,
    "with_previous": _boolean,
}


def _remedy(reader: Reader, node: Node, name: str) -> dict[str, Any]:
    pairs = reader.pairs(node, "a remedy")
    values = reader.fields(node, pairs, _REMEDY, ("summary",), "a remedy")
    kinds = [kind for kind in REMEDY_KINDS if kind in pairs]
    if len(kinds) > 1:
        reader.complain(node, f"a remedy is one change, not {' and '.join(kinds)}; write one remedy for each")
    return values


def _remedies(reader: Reader, node: Node, name: str) -> list[dict[str, Any]]:
    return reader.each(node, name, _remedy)


_EXAMPLE: dict[str, Read] = {"log": _log, "facts": _keyed(_value)}


def _example(reader: Reader, node: Node, name: str) -> str | dict[str, Any]:
    if node.id == "scalar":
        return _log(reader, node, name)
    pairs = reader.pairs(node, f"an example of {name}")
    values = reader.fields(node, pairs, _EXAMPLE, (), "an example")
    if not pairs:
        reader.complain(node, "an example needs log or facts")
    return values


def _example_list(reader: Reader, node: Node, name: str) -> list[Any]:
    return reader.each(node, name, _example)


def _examples(reader: Reader, node: Node, name: str) -> dict[str, Any]:
    spec = {"match": _example_list, "no_match": _example_list}
    return reader.fields(node, reader.pairs(node, name), spec, (), name)


_REQUIRED = ("id", "title", "severity", "phase", "cause", "confidence", "basis")
_ENTRY: dict[str, Read] = {
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
    "undecided_with": _slugs,
    "decide": _text,
    "decided_when": _text,
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
