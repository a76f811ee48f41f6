"""Leave out the inner steps of a progress bar that is printed on a line of its own at each step.

vLLM's loader does that: a checkpoint of 160 shards makes 160 lines, of which the first and the last say everything.
Only a line between two others of the same bar goes, so the lines around the bar stay neighbours of a step.
"""

from __future__ import annotations

from collections.abc import Iterator

from logdoctor.model import Run

MARK = b"% Completed | "
_WORTH_IT = 8
"""Steps in a block below which nothing is gained."""
_NO_DIGITS = bytes.maketrans(b"", b"")
_DIGITS = b"0123456789"


def without_inner_steps(run: Run) -> Iterator[Run]:
    """Yield the run without the inner steps of its bars; line numbers stay those of the input."""
    if run.data.count(MARK) < _WORTH_IT:
        yield run
        return
    lines = run.data.split(b"\n")
    names = [_name(line) if MARK in line else b"" for line in lines]
    kept_from = 0
    for number in range(1, len(lines) - 1):
        name = names[number]
        if name and names[number - 1] == name == names[number + 1]:
            if kept_from < number:
                yield Run(run.first_line + kept_from, b"\n".join(lines[kept_from:number]) + b"\n")
            kept_from = number + 1
    rest = b"\n".join(lines[kept_from:])
    if rest:
        yield Run(run.first_line + kept_from, rest)


def _name(line: bytes) -> bytes:
    """What tells one bar from another: how its line begins and what it counts, without the numbers."""
    head = line.partition(MARK)[0]
    return (head[:24] + head[-40:]).translate(_NO_DIGITS, _DIGITS).rstrip()
