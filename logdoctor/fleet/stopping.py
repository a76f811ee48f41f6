"""Ctrl-C: the first one lets the logs in hand come to their end, the second one stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")


class Stop:
    """Remembers that the user wants to stop; a context manager, which gives the signal back at its end."""

    def __init__(self) -> None:
        self.wanted = False
        self._before: Any = None
        self._ours = threading.current_thread() is threading.main_thread()

    def until(self, items: Iterable[_T]) -> Iterator[_T]:
        """Yield items until the user wants to stop."""
        for item in items:
            if self.wanted:
                return
            yield item

    def __enter__(self) -> Stop:
        if self._ours:
            self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, self._before)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
