"""Lines in the order of their sources, as far as that needs no patience."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

WINDOW = 512
"""Lines that may wait for an earlier one. When a log takes longer than this many others, they go before it."""


Numbered = tuple[int, tuple[bytes, ...]]
"""The position of a source and its lines: one, or those of an archive."""


def in_order(numbered: Iterable[Numbered], window: int = WINDOW) -> Iterator[bytes]:
    """Yield lines in the order of their numbers; what waits is bounded.

    An exception of the input, such as Ctrl-C, comes through after the lines that were waiting.
    """
    waiting: dict[int, tuple[bytes, ...]] = {}
    following = 0
    try:
        for number, lines in numbered:
            waiting[number] = lines
            if len(waiting) > window:
                following = min(waiting)
            while following in waiting:
                yield from waiting.pop(following)
                following += 1
    except (KeyboardInterrupt, Exception):
        for number in sorted(waiting):
            yield from waiting.pop(number)
        raise
    for number in sorted(waiting):
        yield from waiting.pop(number)
