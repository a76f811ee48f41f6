"""Every regular expression of the package, and strings made to send each of them astray.

The strings are made from the pattern itself: what leads to a repetition, the repeated thing many times, and an end that
does not fit. So are strings of what an alternative of the pattern begins with.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import regex

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import sre_constants as constants
    import sre_parse as parser

import logdoctor

MAX_LENGTH = 20_000
_UNENDING = 30
"""Repeats from here on can be pumped."""


class Used(NamedTuple):
    """A pattern and the methods by which the package uses it."""

    pattern: re.Pattern[str]
    methods: frozenset[str]
    longest: int


_ANCHORED = {"match", "fullmatch"}
_KNOWN = {"OTHER_LOGGERS": {"match"}, "_NEXT_LISTED": {"match"}, "_NEXT_WORD": {"match"}, "_TEMPLATES": {"fullmatch"}}
"""Patterns that are not used by a name of their own."""
SHORT_INPUT = {
    "_VERSIONED": 60, "_RANK": 90, "_HOST": 300, "_IMAGE_VARIABLES": 300, "_DEPLOYMENT": 100, "_GROUP": 4000,
    "_VARIABLE": 4000, "_FOLDS": 2000,
}  # fmt: skip
"""Patterns that never see more characters than this: names, and texts that are cut before."""


def _methods(name: str, module: str) -> frozenset[str]:
    """How the package uses a name: `search` stands for everything that begins anywhere."""
    used = _KNOWN.get(name) or _calls(module).get(name) or _calls("").get(name, set())
    anywhere = {"search"} if used - _ANCHORED or not used else set()
    return frozenset((used & _ANCHORED) | anywhere)


@cache
def _calls(module: str) -> dict[str, set[str]]:
    """Which methods a module, or the whole package, calls on which names."""
    if module:
        source = Path(importlib.import_module(module).__file__ or "").read_text()
    else:
        source = "\n".join(path.read_text() for path in sorted(Path(logdoctor.__path__[0]).rglob("*.py")))
    found: dict[str, set[str]] = {}
    for name, method in re.findall(r"\b(\w+)\.(search|match|fullmatch|finditer|findall|sub|split)\(", source):
        found.setdefault(name, set()).add(method)
    return found


def package_patterns() -> dict[str, Used]:
    """Every compiled or lazy pattern in the modules of the package, and those in the rows of its tables."""
    found: dict[str, Used] = {}
    sources: set[tuple[str, int]] = set()
    for module in pkgutil.walk_packages(logdoctor.__path__, "logdoctor."):
        if module.name.endswith("__main__"):
            continue
        try:
            imported = importlib.import_module(module.name)
        except ImportError:  # an optional dependency
            continue
        seen: set[int] = set()
        for name, value in vars(imported).items():
            for inner, source, flags in _sources(value, seen, name):
                if (source, flags) not in sources:  # imported names are met again
                    sources.add((source, flags))
                    used = Used(
                        re.compile(source, flags), _methods(inner, module.name), SHORT_INPUT.get(inner, MAX_LENGTH)
                    )
                    found[f"{module.name}.{name}: {source[:60]} #{len(sources)}"] = used
    return found


def _sources(value: Any, seen: set[int], name: str, depth: int = 0) -> Iterator[tuple[str, str, int]]:
    """Yield name, source and flags of the patterns in a value, at any depth of its tuples, dictionaries and rows."""
    if depth > 4 or id(value) in seen:
        return
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield name, value.pattern, value.flags & ~re.UNICODE
    elif isinstance(getattr(value, "compiled", None), re.Pattern):  # redaction's lazy pattern
        yield name, value.source, value.flags
    elif isinstance(getattr(value, "regex", None), str):  # rows of facts and events
        if value.regex:
            yield "", value.regex, re.MULTILINE
    elif isinstance(value, type):
        if value.__module__.startswith("logdoctor"):
            seen.add(id(value))
            for attribute, inner in vars(value).items():
                yield from _sources(inner, seen, attribute, depth + 1)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _sources(inner, seen, name, depth + 1)
    elif isinstance(value, (tuple, list, frozenset, set)):
        for inner in value:
            yield from _sources(inner, seen, name, depth + 1)


def signature_patterns() -> dict[str, regex.Pattern[str]]:
    """Every pattern of the shipped signatures."""
    from logdoctor.database import load_database

    found = {}
    for signature in load_database(environ={}).signatures:
        if signature.match:
            for item in (*signature.match.positive, *signature.match.none):
                if item.pattern:
                    found[f"{signature.id}: {item.pattern[:60]}"] = regex.compile(item.pattern, regex.MULTILINE)
    return found


# --- attacks --------------------------------------------------------------------------------------------------------


def attacks(pattern: str, flags: int = 0, length: int = MAX_LENGTH) -> Iterator[str]:
    """Yield strings that may take a pattern long."""
    try:
        tree = parser.parse(_plain(pattern), flags)
    except (re.error, RecursionError, OverflowError):
        tree = None
    pumps: dict[tuple[str, str], None] = {}
    if tree is not None:
        for before, again in _repeats(list(tree), ""):
            pumps[before[-400:], again] = None
    for text in re.findall(r"[\w ./:'\"=(,-]{1,12}", pattern)[:6]:
        pumps["", text] = None
    for before, again in pumps:
        if again:
            body = again * (max(length - len(before), 0) // len(again))
            yield f"{before}{body}\x00"
            yield f"{before}{body}\n\x00"
            if before:
                yield (before + again * 3) * (length // (len(before) + 3 * len(again)))
    for letter in "a0 /.-_'\"=:\n[({\\":
        yield letter * length
    yield "a " * (length // 2)
    yield "a.b-" * (length // 4)


def _plain(pattern: str) -> str:
    """The pattern without syntax that only `regex` knows."""
    text = re.sub(r"(?<!\\)([+*?}])\+", r"\1", pattern)
    return text.replace(r"\K", "").replace(r"\h", r"[ \t]").replace("(?|", "(?:")


def _repeats(nodes: list[Any], before: str) -> Iterator[tuple[str, str]]:
    """Yield what leads to each repetition of a pattern, and what is repeated there."""
    for operator, value in nodes:
        if operator in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            low, high, inner = value
            once = _sample(list(inner))
            if high is constants.MAXREPEAT or high >= _UNENDING:
                yield before, once
                yield before, _sample(list(inner), other=True)
            yield from _repeats(list(inner), before)
            before += once * max(min(low, 40), 1 if low else 0)
        elif operator is constants.SUBPATTERN:
            yield from _repeats(list(value[-1]), before)
            before += _sample(list(value[-1]))
        elif operator is constants.BRANCH:
            for branch in value[1]:
                yield from _repeats(list(branch), before)
            before += _sample(list(value[1][0]))
        elif operator in (constants.ASSERT, constants.ASSERT_NOT):
            if value[0] == 1:
                yield from _repeats(list(value[1]), before)
        else:
            before += _sample([(operator, value)])


def _sample(nodes: Iterable[Any], *, other: bool = False) -> str:
    """Return a text that fits the nodes, more or less; `other` chooses differently where there is a choice."""
    out = ""
    for operator, value in nodes:
        if operator is constants.LITERAL:
            out += chr(value)
        elif operator is constants.NOT_LITERAL:
            out += "a" if value != ord("a") else "b"
        elif operator is constants.ANY:
            out += " " if other else "a"
        elif operator is constants.IN:
            out += _member(value, other)
        elif operator in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            out += _sample(list(value[2]), other=other) * max(min(value[0], 40), 1)
        elif operator is constants.SUBPATTERN:
            out += _sample(list(value[-1]), other=other)
        elif operator is constants.BRANCH:
            out += _sample(list(value[1][-1 if other else 0]), other=other)
    return out


@cache
def _category(name: Any) -> str:
    texts = {
        constants.CATEGORY_DIGIT: "0",
        constants.CATEGORY_SPACE: " ",
        constants.CATEGORY_WORD: "a",
        constants.CATEGORY_NOT_DIGIT: "a",
        constants.CATEGORY_NOT_SPACE: "a",
        constants.CATEGORY_NOT_WORD: " ",
    }
    return texts.get(name, "a")


def _member(items: list[Any], other: bool) -> str:
    """Return a character of a class."""
    if items and items[0][0] is constants.NEGATE:
        taken = _sample_pattern(items)
        wanted = "b 0.-" if other else "a 0.-"
        return next((letter for letter in wanted if taken(letter)), "~")
    operator, value = items[-1 if other else 0]
    if operator is constants.LITERAL:
        return chr(value)
    if operator is constants.RANGE:
        return chr(value[0])
    return _category(value)


def _sample_pattern(items: list[Any]) -> Callable[[str], bool]:
    """Return a test of whether a character is in a negated class."""

    def allowed(letter: str) -> bool:
        code = ord(letter)
        for operator, value in items[1:]:
            if operator is constants.LITERAL and value == code:
                return False
            if operator is constants.RANGE and value[0] <= code <= value[1]:
                return False
            if operator is constants.CATEGORY and re.match(_CLASSES.get(value, "$^"), letter):
                return False
        return True

    return allowed


_CLASSES = {
    constants.CATEGORY_DIGIT: r"\d",
    constants.CATEGORY_SPACE: r"\s",
    constants.CATEGORY_WORD: r"\w",
    constants.CATEGORY_NOT_DIGIT: r"\D",
    constants.CATEGORY_NOT_SPACE: r"\S",
    constants.CATEGORY_NOT_WORD: r"\W",
}
