"""A small tree of what a pattern is made of, enough to reason about it without running it.

Own instead of Python's parser: that one knows neither the syntax of the `regex` module nor the same syntax in every
version of Python. What it cannot follow it refuses (`Unsupported`) and never guesses, because the pre-filter drops
whatever a wrong reading would miss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


class Unsupported(ValueError):
    """The pattern uses syntax that this tree does not describe."""


@dataclass(frozen=True, slots=True)
class Char:
    """Exactly this text, mostly one character."""

    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Some text that the tree does not describe: a class, a dot, a back reference."""


@dataclass(frozen=True, slots=True)
class Look:
    """A test that takes no text: an anchor, or a look-around with its body."""

    body: Node | None = None
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body `least` to `most` times; `most` is None when unbounded."""

    body: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Group:
    body: Node
    name: str = ""


Node = Char | Gap | Look | Sequence | Choice | Repeat | Group

_QUANTIFIER = re.compile(r"\{(?:(\d+)(,(\d*))?|,(\d+))\}")
_FUZZY = re.compile(r"\{(?:[\deids(<]|,?\})[^{}]*\}?")
_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_GROUP_FLAGS = re.compile(r"\?([a-zA-Z0-9]*)(?:-([a-zA-Z]+))?([:)])")
_KNOWN_FLAGS = frozenset("imsau")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a"}
_HEX = {name: re.compile(rf"[0-9a-fA-F]{{{digits}}}") for name, digits in (("x", 2), ("u", 4), ("U", 8))}
_ZERO_WIDTH = frozenset("bBAZmMGK")
_ONE_CHARACTER = frozenset("dDwWsSXRv")
_PLAIN_RUN = re.compile(r"[^\x00-\x1f\x7f\\.^$*+?{}\[\]|()]{2,}(?![*+?{])")
_NAMED = re.compile(r"\?P?<([A-Za-z_]\w*)>")
_BACK_REFERENCE = re.compile(r"\?P=\w+\)")
_COMMENT = re.compile(r"\?#[^)]*\)")
_LOOK = re.compile(r"\?<?([=!])")
_ATOMIC = re.compile(r"\?[>|]")
_DIGITS = re.compile(r"\d+")
_CARET = re.compile(r"\^")
_POSIX_CLASS = re.compile(r"\[:\^?\w+:\]")
_BRACED = re.compile(r"\{[^}]{0,200}\}|<[^>]{0,200}>|[A-Z]")


class _IgnoreCase(Exception):
    """`(?i)` was met: it holds for the whole pattern, also for what stands before it."""


def parse(pattern: str) -> Node:
    """Return the tree of a pattern in the syntax of the `regex` module (its version 0 behaviour)."""
    try:
        try:
            return _Parser(pattern, ignore_case=False).whole()
        except _IgnoreCase:
            return _Parser(pattern, ignore_case=True).whole()
    except RecursionError:
        raise Unsupported("nested too deeply") from None


class _Parser:
    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self.global_ignore_case = self.ignore_case = ignore_case

    def whole(self) -> Node:
        node = self.choice()
        if self.at < len(self.pattern):
            raise Unsupported("unbalanced parenthesis")
        return node

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        if self.at >= len(self.pattern):
            raise Unsupported("ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def take_match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def choice(self) -> Node:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.take()
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            run = None if self.ignore_case else self.take_match(_PLAIN_RUN)
            items.append(Char(run[0]) if run else self.quantified(self.atom()))
        return Sequence(tuple(items))

    def quantified(self, node: Node) -> Node:
        while True:
            if self.peek() and self.peek() in "*+?":
                least, most = _SIMPLE[self.take()]
            elif found := self.take_match(_QUANTIFIER):
                least = int(found[1] or 0)
                top = found[4] or (found[3] if found[2] else found[1])
                most = int(top) if top else None
            elif _FUZZY.match(self.pattern, self.at):
                raise Unsupported("write a literal { as \\{")
            else:
                return node
            if self.peek() in ("?", "+"):  # lazy or possessive: the same texts or fewer
                self.take()
            node = Repeat(node, least, most)

    def atom(self) -> Node:
        char = self.take()
        if char == "(":
            return self.group()
        if char == "[":
            return self.character_set()
        if char == "\\":
            return self.escape()
        if char == ".":
            return Gap()
        if char in "^$":
            return Look()
        if char in "*+?":
            raise Unsupported("nothing to repeat")
        if char == "{" and _FUZZY.match(self.pattern, self.at - 1):
            raise Unsupported("write a literal { as \\{")
        return self.char(char)

    def char(self, char: str) -> Node:
        # Without case only what has no case stays certain; outside ASCII folding has surprises.
        return Gap() if self.ignore_case and (char.isalpha() or not char.isascii()) else Char(char)

    # --- groups -----------------------------------------------------------------------------------------------------

    def group(self) -> Node:
        if self.peek() == "*":
            raise Unsupported("a verb")
        if self.peek() != "?":
            return Group(self.body())
        if found := self.take_match(_NAMED):
            return Group(self.body(), found[1])
        if self.take_match(_BACK_REFERENCE):
            return Gap()
        if self.take_match(_COMMENT):
            return self.no_atom()
        if found := self.take_match(_LOOK):
            return Look(self.body(), negative=found[1] == "!")
        if self.take_match(_ATOMIC):
            return Group(self.body())
        found = self.take_match(_GROUP_FLAGS)
        if found is None:
            raise Unsupported("a kind of group that is not known here")
        return self.flags(set(found[1]), set(found[2] or ""), scoped=found[3] == ":")

    def flags(self, on: set[str], off: set[str], scoped: bool) -> Node:
        if (on | off) - _KNOWN_FLAGS:
            raise Unsupported("a flag that is not known here")
        if not scoped:
            if "i" in on and not self.global_ignore_case:
                raise _IgnoreCase
            return self.no_atom()
        before = self.ignore_case
        self.ignore_case = (before or "i" in on) and "i" not in off
        node = Group(self.body())
        self.ignore_case = before
        return node

    def no_atom(self) -> Node:
        if self.peek() and self.peek() in "*+?{":  # it would repeat what stands before this group
            raise Unsupported("a quantifier after a group that is none")
        return Look()

    def body(self) -> Node:
        before = self.ignore_case
        node = self.choice()
        if self.take() != ")":
            raise Unsupported("unbalanced parenthesis")
        self.ignore_case = before
        return node

    # --- single characters ------------------------------------------------------------------------------------------

    def escape(self) -> Node:
        char = self.take()
        if char in _CONTROL:
            return Char(_CONTROL[char])
        if char in _HEX:
            found = self.take_match(_HEX[char])
            if found is None:
                raise Unsupported("a broken escape")
            return self.char(chr(int(found[0], 16)))
        if char in _ZERO_WIDTH:
            return Look()
        if char in _ONE_CHARACTER:
            return Gap()
        if char in "pPNgL" and self.take_match(_BRACED):
            return Gap()
        if char.isdigit():
            self.take_match(_DIGITS)
            return Gap()
        if char.isalnum():
            raise Unsupported(f"the escape \\{char}")
        return self.char(char)

    def character_set(self) -> Node:
        negative = bool(self.take_match(_CARET))
        members: list[str] = []
        first = True
        while first or self.peek() != "]":
            first = False
            if self.take_match(_POSIX_CLASS):
                members.append("")
                continue
            char = self.take()
            if char == "\\":
                node = self.escape_in_set()
                members.append(node.text if isinstance(node, Char) else "")
            else:
                members.append(char)
        self.take()
        if len(members) == 1 and members[0] and not negative:
            return self.char(members[0])
        return Gap()

    def escape_in_set(self) -> Node:
        if self.peek() in _ZERO_WIDTH:  # \b is a backspace here
            self.take()
            return Gap()
        return self.escape()


# --- what the tree tells --------------------------------------------------------------------------------------------


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of a node."""
    if isinstance(node, Sequence):
        return node.items
    if isinstance(node, Choice):
        return node.branches
    if isinstance(node, (Repeat, Group)):
        return (node.body,)
    if isinstance(node, Look) and node.body is not None:
        return (node.body,)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything in it."""
    yield node
    for child in children(node):
        yield from walk(child)


def has_nested_repeats(node: Node) -> bool:
    """Return whether an unbounded repetition stands inside another: the door to endless backtracking."""
    return any(
        isinstance(outer, Repeat)
        and outer.most is None
        and any(isinstance(inner, Repeat) and inner.most is None for inner in walk(outer.body))
        for outer in walk(node)
    )


def group_names(node: Node) -> frozenset[str]:
    """Return the names of all groups."""
    return frozenset(part.name for part in walk(node) if isinstance(part, Group) and part.name)


def certain_groups(node: Node) -> frozenset[str]:
    """Return the names of the groups that every match sets."""
    if isinstance(node, Sequence):
        return frozenset().union(*map(certain_groups, node.items))
    if isinstance(node, Choice):
        return frozenset.intersection(*map(certain_groups, node.branches))
    if isinstance(node, Repeat):
        return certain_groups(node.body) if node.least else frozenset()
    if isinstance(node, Group):
        return certain_groups(node.body) | ({node.name} if node.name else frozenset())
    if isinstance(node, Look) and node.body is not None and not node.negative:
        return certain_groups(node.body)
    return frozenset()
