"""Derive from a pattern the literal texts of which every match contains at least one.

The matcher asks a message for these first and runs the pattern only when one is there; so a literal too many costs
time, and a literal too few would lose a diagnosis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from logdoctor.database.patterns import Char, Choice, Gap, Group, Look, Node, Repeat, Sequence, Unsupported, parse
from logdoctor.database.schema import MatchBlock, MatchItem

MIN_LITERAL = 4
"""A shorter literal is in half of all lines and filters nothing."""
MAX_SPELLINGS = 16
"""Texts followed through a sequence at once: `a(b|c)d` is two."""
MAX_ALTERNATIVES = 64

_Texts = tuple[str, ...]
_EMPTY: _Texts = ("",)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is certain about the text that a node matches."""

    exact: _Texts | None = None
    """The text is one of these, entirely; None when it is not known entirely."""
    required: _Texts = ()
    """The text contains one of these; nothing when there is no such set."""
    prefix: _Texts = _EMPTY
    suffix: _Texts = _EMPTY

    @property
    def best(self) -> _Texts:
        return _better(self.required, self.exact or ())


_NOTHING = _Known()


@lru_cache(maxsize=4096)
def literal_core(pattern: str) -> _Texts:
    """Return the best set of literals, however short: every match contains at least one. Empty: there is none."""
    try:
        return _shortened(_known(parse(pattern)).best)
    except Unsupported:
        return ()


def required_literals(pattern: str) -> _Texts:
    """Return literals of at least four characters such that every match contains one; empty when there are none.

    Case counts. No literal holds a control character, so each stands within one line.
    """
    core = literal_core(pattern)
    return core if _weight(core) >= MIN_LITERAL else ()


def item_literals(item: MatchItem) -> _Texts:
    """Return the required literals of an item, whether it is a pattern or a literal."""
    if item.pattern:
        return required_literals(item.pattern)
    lines = [line for line in item.literal.splitlines() if len(line) >= MIN_LITERAL]
    return (max(lines, key=len),) if lines else ()


def block_literals(block: MatchBlock) -> _Texts:
    """Return literals of which a boot must hold at least one for the block to match; empty when there are none."""
    needed = [item_literals(item) for item in (*block.all, *block.sequence)]
    of_any = [item_literals(item) for item in block.any]
    if of_any and all(of_any):
        needed.append(tuple(dict.fromkeys(text for texts in of_any for text in texts)))
    best: _Texts = ()
    for texts in needed:
        best = _better(best, texts)
    return best


def _weight(texts: _Texts) -> int:
    """Return how much a set filters: the length of its shortest text, blanks at the ends aside."""
    return min((len(text.strip()) for text in texts), default=0)


def _better(one: _Texts, other: _Texts) -> _Texts:
    first, second = _weight(one), _weight(other)
    if first != second:
        return one if first > second else other
    if not first:
        return ()
    return other if len(other) < len(one) else one


def _shortened(texts: _Texts) -> _Texts:
    """Leave out a text that contains another one of the set: the other is enough."""
    return tuple(text for text in texts if not any(other in text for other in texts if other != text))


def _known(node: Node) -> _Known:
    if isinstance(node, Char):
        return _NOTHING if node.text < " " or node.text == "\x7f" else _Known(exact=(node.text,))
    if isinstance(node, Look):
        return _Known(exact=_EMPTY)
    if isinstance(node, Group):
        return _known(node.body)
    if isinstance(node, Sequence):
        return _of_sequence(node.items)
    if isinstance(node, Choice):
        return _of_choice(list(map(_known, node.branches)))
    if isinstance(node, Repeat):
        return _of_repeat(node)
    assert isinstance(node, Gap)
    return _NOTHING


def _of_sequence(items: Iterable[Node]) -> _Known:
    run: _Texts = _EMPTY  # what the text is known to hold without a gap, up to here
    best: _Texts = ()
    prefix: _Texts | None = None
    for known in map(_known, items):
        longer = _joined(run, known.prefix if known.exact is None else known.exact)
        if longer is not None and known.exact is not None:
            run = longer
            continue
        best = _better(best, run)
        if longer is not None:
            best = _better(best, longer)
        best = _better(best, known.best)
        if prefix is None:
            prefix = run if longer is None else longer
        run = known.suffix if known.exact is None else known.exact
    if prefix is None:
        return _Known(exact=run)
    return _Known(required=_better(best, run), prefix=prefix, suffix=run)


def _joined(left: _Texts, right: _Texts) -> _Texts | None:
    """Return every text of `left` followed by every one of `right`, or None when those are too many."""
    if len(left) * len(right) > MAX_SPELLINGS:
        return None
    return tuple(dict.fromkeys(a + b for a in left for b in right))


def _of_choice(branches: list[_Known]) -> _Known:
    exact = [known.exact for known in branches if known.exact is not None]
    if len(exact) == len(branches):
        texts = tuple(dict.fromkeys(text for texts in exact for text in texts))
        if len(texts) <= MAX_SPELLINGS:
            return _Known(exact=texts)
    best = [known.best for known in branches]
    texts = tuple(dict.fromkeys(text for texts in best for text in texts))
    if not all(best) or len(texts) > MAX_ALTERNATIVES:
        return _NOTHING
    return _Known(required=texts)


def _of_repeat(node: Repeat) -> _Known:
    body = _known(node.body)
    if node.most == 0:
        return _Known(exact=_EMPTY)
    if node.least == 0:
        if node.most == 1 and body.exact is not None and len(body.exact) < MAX_SPELLINGS:
            return _Known(exact=tuple(dict.fromkeys((*body.exact, ""))))
        return _NOTHING
    if node.least == node.most == 1:
        return body
    ends = (body.prefix, body.suffix) if body.exact is None else (body.exact, body.exact)
    return _Known(required=body.best, prefix=ends[0], suffix=ends[1])
