"""Fact patterns about what takes time: weights, compilation, graph capture, and the engine as a whole."""

from __future__ import annotations

from logdoctor.facts.pattern import FactPattern, Policy, integer, number

_N = r"[\d.]+"

PATTERNS: tuple[FactPattern, ...] = (
    FactPattern(
        "Loading weights took",
        rf"^Loading weights took (?P<seconds>{_N}) seconds",
        {"seconds": ("weights.seconds", number)},
        Policy.MOST,
    ),
    FactPattern(
        "Model loading took",
        rf"^Model loading took (?P<gib>{_N}) GiB(?: memory)? and (?P<seconds>{_N}) seconds",
        {
            "gib": ("weights.gib", number),
            "seconds": ("model.load_seconds", number),
        },
        Policy.MOST,
    ),
    FactPattern(
        "torch.compile t",
        rf"torch\.compile (?:takes|took) (?P<seconds>{_N}) s in total",
        {"seconds": ("compile.seconds", number)},
        Policy.MOST,
    ),
    FactPattern(
        "Graph capturing finished in",
        rf"Graph capturing finished in (?P<seconds>{_N}) secs, took (?P<gib>-?{_N}) GiB",
        {"seconds": ("graphs.seconds", number), "gib": ("graphs.gib", number)},
        Policy.MOST,
    ),
    # `took 33.02 seconds` to 0.19.1, `took 32.25 s (compilation: 11.95 s)` from 0.20.0.
    FactPattern(
        "init engine (",
        rf"^init engine \([^)\n]{{1,80}}\) took (?P<seconds>{_N}) s(?:econds)?"
        rf"(?: \(compilation: (?P<compile>{_N}) s\))?",
        {"seconds": ("engine.init_seconds", number), "compile": ("compile.seconds", number)},
        Policy.MOST,
    ),
    FactPattern(
        "Capturing CUDA graph",
        r"Capturing CUDA graphs?[^:\n]{0,60}:\s+\d+%\|[^|\n]{0,60}\| (?P<done>\d+)/(?P<total>\d+) \["
        r"(?P<elapsed>[\d:]+)?",
        {
            "done": ("graphs.done", integer),
            "total": ("graphs.total", integer),
            "elapsed": ("graphs.elapsed_seconds", lambda captured: clock_seconds(captured)),
        },
        Policy.LAST,
    ),
    # Only bars that count shards; a bar over experts or files of a download has another unit.
    FactPattern(
        "% Completed | ",
        r"shards?[^:\n]{0,40}:?\s+\d+% Completed \| (?P<done>\d+)/(?P<total>\d+) \[",
        {"done": ("weights.shards_done", integer), "total": ("weights.shards_total", integer)},
        Policy.LAST,
    ),
    FactPattern(
        "% Completed | ",
        r"% Completed \| \d+/\d+ \[(?P<elapsed>[\d:]+)<",
        {"elapsed": ("weights.elapsed_seconds", lambda captured: clock_seconds(captured))},
        Policy.LAST,
    ),
)


def clock_seconds(captured: str) -> float | None:
    """Seconds of a bar's `MM:SS` or `H:MM:SS`."""
    parts = captured.split(":")
    if not all(part.isdecimal() and len(part) < 8 for part in parts):
        return None
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + int(part)
    return seconds
