"""From runs of bytes to lines of text: envelopes peeled, pieces joined, colour and carriage returns gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from logdoctor.model import Line, Run
from logdoctor.reading.ansi import strip_colour
from logdoctor.reading.decoding import CUT, MAX_LINE, capped, without_bar
from logdoctor.reading.envelopes import KINDS, Envelope, Peeled
from logdoctor.reading.envelopes.base import LOG_HEAD
from logdoctor.reading.envelopes.pasted import Fence, PowerShell
from logdoctor.reading.wrapping import Wrapping

_BLOCK = 512
_SAMPLES = 24
_DEPTH = 5
_SCRAP_STARTS = frozenset("`~<Adknpvw")

Kinds = tuple[type[Envelope], ...]
Part = tuple[int, Peeled, bool]
"""Line number, what is inside, and whether lines are missing before it."""


def read_lines(runs: Iterable[Run]) -> Iterator[Line]:
    """Decode runs and undo every envelope; numbers are those of the input.

    A line that came in pieces has the number of its first piece and is given out when its last one has come.
    """
    peeler = _Peeler()
    marks = _Marks()
    for run in runs:
        text = strip_colour(run.data.decode("utf-8", "replace"))
        if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
            text = text[1:]
        raw = text.split("\n")
        if not raw[-1]:
            raw.pop()
        for start in range(0, len(raw), _BLOCK):
            yield from marks.lines(peeler.peel(run.first_line + start, raw[start : start + _BLOCK]))
    yield from marks.lines(peeler.rest())


class _Marks:
    """Find vLLM's marks of continuation: one carriage return more than the lines of this input end in."""

    def __init__(self) -> None:
        self._usual: int | None = None
        self._seen = False

    def lines(self, parts: list[Part]) -> Iterator[Line]:
        endings = [len(peeled.text) - len(peeled.text.rstrip("\r")) for _, peeled, _ in parts]
        if self._usual != 0 and endings:
            # A terminal and Windows end every line with a return; one line without says that this input does not.
            self._usual = min(min(endings), 1)
        usual = self._usual or 0
        self._seen = self._seen or any(ending > usual for ending in endings)
        for (number, peeled, gap), ending in zip(parts, endings, strict=True):
            text = peeled.text
            if ending:
                text = text[:-ending]
            if "\r" in text:
                text = without_bar(text)
            if len(text) > MAX_LINE:
                text = capped(text)
            more = ending > usual if self._seen else None
            yield Line(number, text, peeled.source[:200], peeled.stream, peeled.time, more, gap)


class _Peeler:
    """Peel the lines of one input block by block, looking at each block anew for a change of envelopes."""

    def __init__(self) -> None:
        self._stack: list[Envelope] = []
        self._mixed: dict[Kinds, list[Envelope]] = {}
        self._present: set[Kinds] = set()
        self._pieces: dict[tuple[str, str], _Pieces] = {}
        self._fence = Fence()
        self._powershell = PowerShell()
        self._expected = 0

    def peel(self, first: int, raw: list[str]) -> list[Part]:
        """Peel a block of consecutive lines."""
        numbered = list(enumerate(raw, first))
        after = first + len(raw)
        wrapping = Wrapping(raw)
        if wrapping.width:
            numbered = wrapping.undo(numbered)
            raw = [line for _, line in numbered]
        mixed = self._look(raw)
        parts: list[Part] = []
        gap = first != self._expected and self._expected > 0
        self._expected = after
        for number, line in numbered:
            if line[:1] in _SCRAP_STARTS or self._powershell.busy:
                scrap = self._fence.peel(line) or self._powershell.peel(line)
                if scrap is not None:
                    if scrap.noise:
                        gap = True
                        continue
                    line = scrap.text
            stack = self._stack_for(line) if mixed else self._stack
            if not stack:
                parts.append((number, Peeled(line), gap))
                gap = False
                continue
            peeled = _unwrap(line, stack)
            if peeled.partial or self._pieces:
                joined = self._join(number, peeled)
                if joined is None:
                    continue
                number, peeled = joined
            parts.append((number, peeled, gap))
            gap = False
        return parts

    def rest(self) -> list[Part]:
        """What was begun and never ended, in the order in which it began."""
        begun = sorted(self._pieces.values(), key=lambda pieces: pieces.number)
        self._pieces = {}
        return [(pieces.number, pieces.peeled(), False) for pieces in begun]

    def _look(self, raw: list[str]) -> bool:
        """Choose the stack for a block from a sample of it; True when several stacks take turns in it."""
        sample = [line for line in raw[:: max(1, len(raw) // _SAMPLES)] if line.strip()]
        seen = Counter(_kinds(line) for line in sample)
        # A few lines that look wrapped among many that do not are text that only looks so.
        self._present = {kinds for kinds, count in seen.items() if count * 5 >= len(sample)}
        if len(self._present) > 1:
            return True
        for kinds in self._present:
            if kinds != _kinds_of(self._stack) and (kinds or not self._fit(sample)):
                self._stack = [kind() for kind in kinds]
        return False

    def _fit(self, sample: list[str]) -> bool:
        return bool(self._stack) and any(self._stack[0].peel(line) for line in sample)

    def _stack_for(self, line: str) -> list[Envelope]:
        kinds = _kinds(line)
        if not kinds or kinds not in self._present:
            return []
        if kinds != _kinds_of(self._stack):
            self._stack = self._mixed.setdefault(kinds, [kind() for kind in kinds])
        return self._stack

    def _join(self, number: int, peeled: Peeled) -> tuple[int, Peeled] | None:
        """Collect the pieces of a line per source and stream."""
        key = peeled.source, peeled.stream
        pieces = self._pieces.get(key)
        if pieces is None:
            if not peeled.partial:
                return number, peeled
            self._pieces[key] = _Pieces(number, peeled)
            return None
        pieces.add(peeled.text)
        if peeled.partial:
            return None
        del self._pieces[key]
        return pieces.number, pieces.peeled()


class _Pieces:
    """A line that arrives in pieces."""

    def __init__(self, number: int, first: Peeled) -> None:
        self.number = number
        self._first = first
        self._texts = [first.text]
        self._kept = len(first.text)
        self._cut = False

    def add(self, text: str) -> None:
        if self._kept < MAX_LINE:
            self._texts.append(text)
            self._kept += len(text)
        else:
            self._cut = True

    def peeled(self) -> Peeled:
        text = "".join(self._texts) + (CUT if self._cut else "")
        return self._first._replace(text=text, partial=False)


def _kinds(line: str, depth: int = _DEPTH) -> Kinds:
    """Which envelopes are around a line, outermost first."""
    if depth == 0:
        return ()
    for kind in KINDS:
        envelope = kind()
        if envelope.fits(line):
            peeled = envelope.peel(line)
            if peeled is None:
                continue
            text = strip_colour(peeled.text)
            inner = _kinds(text, depth - 1)
            if inner or not kind.weak or LOG_HEAD.match(text):
                return (kind, *inner)
    return ()


def _kinds_of(stack: list[Envelope]) -> Kinds:
    return tuple(type(envelope) for envelope in stack)


def _unwrap(line: str, stack: list[Envelope]) -> Peeled:
    """Peel a line; an envelope that is not there is passed over."""
    text, source, stream, time, partial = line, "", "", "", False
    for envelope in stack:
        peeled = envelope.peel(text)
        if peeled is not None:
            text = strip_colour(peeled.text)
            source = peeled.source or source
            stream = peeled.stream or stream
            time = time or peeled.time
            partial = partial or peeled.partial
    return Peeled(text, source, stream, time, partial)
