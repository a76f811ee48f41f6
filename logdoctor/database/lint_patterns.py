"""What lint asks of patterns: a literal core, bounded work, and which captures they set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from logdoctor.database.literals import literal_core
from logdoctor.database.patterns import Unsupported, certain_groups, group_names, has_nested_repeats, parse
from logdoctor.database.schema import MatchBlock, MatchItem

CORE = 8
"""Characters that every match must hold literally."""
HOSTILE_LENGTH = 4000
HOSTILE_SECONDS = 1.0
"""A pattern that takes longer on a hostile text of that length is refused."""

_FILL = ("a", " ", "0", "a ", "0,", "a=", "(", "'", "/", "\n")


def all_items(block: MatchBlock | None) -> tuple[MatchItem, ...]:
    """Return the items of every part of a block."""
    return (*block.positive, *block.none) if block else ()


def captures(items: Iterable[MatchItem]) -> frozenset[str]:
    """Return the names that the patterns may capture."""
    return frozenset().union(*(_groups(item.pattern)[0] for item in items))


def certain_captures(block: MatchBlock | None) -> frozenset[str]:
    """Return the names that every match of the block captures."""
    if block is None:
        return frozenset()
    certain = frozenset().union(*(_groups(item.pattern)[1] for item in (*block.all, *block.sequence)))
    of_any = [_groups(item.pattern)[1] for item in block.any]
    return certain | frozenset.intersection(*of_any) if of_any else certain


@lru_cache(maxsize=4096)
def _groups(pattern: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of all groups of a pattern, and of those that every match sets."""
    try:
        tree = parse(pattern)
    except Unsupported:
        import regex

        names = frozenset(regex.compile(pattern).groupindex)
        return names, names
    return group_names(tree), certain_groups(tree)


def complaints(item: MatchItem) -> Iterator[str]:
    """Say what is wrong with one item."""
    if not item.pattern:
        if len(item.literal.strip()) < CORE:
            yield f"a literal needs {CORE} characters: {item.literal!r}"
        return
    if item.pattern.endswith("\n"):
        yield f"the pattern ends with a line end: {item.pattern!r}"
    try:
        nested = has_nested_repeats(parse(item.pattern))
    except Unsupported as error:
        yield f"the pattern uses what the pre-filter cannot follow ({error}): {item.pattern!r}"
        nested = False
    else:
        core = min((len(text.strip()) for text in literal_core(item.pattern)), default=0)
        if core < CORE:
            found = ", ".join(map(repr, literal_core(item.pattern))) or "none"
            yield f"the pattern needs a literal core of {CORE} characters, it has {found}: {item.pattern!r}"
    if nested:
        yield f"an unbounded repetition inside another one: {item.pattern!r}"
    if is_slow(item.pattern):
        yield f"takes over {HOSTILE_SECONDS:g} s on a hostile text of {HOSTILE_LENGTH} characters: {item.pattern!r}"


def hostile_texts(pattern: str) -> Iterator[str]:
    """Yield texts that make a careless pattern try again and again: its own core, then much of one thing."""
    core = max(literal_core(pattern), key=len, default="")
    for fill in _FILL:
        run = fill * (HOSTILE_LENGTH // len(fill))
        yield core + run
        yield run + core
    if core:
        yield (core + " ") * (HOSTILE_LENGTH // (len(core) + 1))


def is_slow(pattern: str) -> bool:
    """Return whether some hostile text runs the pattern into its time limit."""
    import regex

    compiled = regex.compile(pattern, regex.MULTILINE)
    for text in hostile_texts(pattern):
        try:
            compiled.search(text, timeout=HOSTILE_SECONDS)
        except TimeoutError:
            return True
    return False
