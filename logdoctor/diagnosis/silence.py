"""A log that just stops: in which stretch of a start, since when, what is normal there, and how much is left.

The log alone cannot tell a server that was killed from one that hangs or is only slow. It can tell where it stopped,
and by its own pace how long that stretch takes; the rest are questions, which the signatures on these facts ask.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from logdoctor.model import Fact, Facts, FactValue, Phase, PhaseSpan, Record, Verdict
from logdoctor.wording import beginning

KEPT = 60
"""Last records that are looked at; of many ranks each writes the same few lines."""
_TEXT = 160
DEFAULT_PATIENCE = 600.0
"""Seconds of waiting that are no hang yet where nothing tells in which stretch of a start the log stands."""
_UNFINISHED = frozenset({Verdict.STARTING, Verdict.STALLED})


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a start in which nothing may be printed for a while."""

    kind: str
    literals: tuple[str, ...]
    """Any of these begins it, or shows that it goes on."""
    normal: str
    """How long it usually takes, as an end of the sentence `here …`."""
    patience: float
    """Seconds of nothing but wait lines after which it counts as stalled."""


STRETCHES: tuple[Stretch, ...] = (
    Stretch(
        "placement",
        (
            "Started a local Ray instance",
            "Connecting to existing Ray cluster",
            "Waiting for creating a placement group",
        ),
        "seconds are normal; with too few free GPUs Ray waits for half an hour",
        180.0,
    ),
    Stretch("rendezvous", ("distributed_init_method=",), "seconds are normal once every process is there", 180.0),
    Stretch("first-collective", ("is using nccl==",), "a second or two are normal", 180.0),
    Stretch("p2p-test", ("generating GPU P2P access cache",), "up to two minutes are normal", 300.0),
    Stretch(
        "download",
        ("Fetching ", "Time spent downloading", "model weights format ['"),
        "it takes as long as the line needs for the files, and newer versions draw no bar for it",
        1800.0,
    ),
    Stretch(
        "loading",
        (
            "Starting to load model",
            "Loading model from scratch",
            "Loading weights on ",
            "% Completed | ",
            "Checkpoint size:",
        ),
        "seconds from a local disk and page cache, some eight minutes for 70 GB from a slow one are normal",
        1800.0,
    ),
    Stretch(
        "after-loading",
        ("Loading weights took", "Model loading took", "Encoder cache will be initialized"),
        "up to a minute or two of preparing weights and compiling are normal",
        900.0,
    ),
    Stretch(
        "compile",
        (
            "Using cache directory:",
            "Dynamo bytecode transform",
            "Compiling a graph for",
            "Cache the graph",
            "Directly load ",
        ),
        "half a minute to several minutes are normal, 10 to 30 on a GPU without any cached kernels",
        1800.0,
    ),
    Stretch("mamba-warmup", ("Warming up Mamba2 SSD",), "74 to 112 seconds were seen on a cold cache", 600.0),
    Stretch(
        "jit",
        (
            "Loading JIT ops",
            "JIT kernel warmup",
            "DeepGEMM warmup",
            "Using FlashInfer for top-p",
            "Building CUDA extension",
        ),
        "minutes are normal while kernels are built for the first time; nothing is printed meanwhile",
        1800.0,
    ),
    Stretch(
        "autotune",
        ("Autotuning process starts", "Using FlashInfer autotune cache"),
        "seconds to minutes are normal; 40 minutes were seen once, silent to the end",
        2700.0,
    ),
    Stretch(
        "profiling",
        ("torch.compile t", "Initial profiling/warmup run", "Profiling CUDA graph memory", "Memory profiling takes"),
        "up to a minute is normal",
        600.0,
    ),
    Stretch(
        "graphs",
        ("Capturing CUDA graph", "Capturing the model for"),
        "seconds to a few minutes are normal, by the number of sizes",
        900.0,
    ),
    Stretch(
        "after-kv-cache",
        (
            "Available KV cache memory:",
            "KV cache size:",
            "Maximum concurrency for",
            "GPU blocks:",
            "for KV Cache as specified",
        ),
        "up to some minutes of kernel builds, tuning and graph capture are normal",
        1800.0,
    ),
    Stretch(
        "server-start",
        (
            "init engine (",
            "Graph capturing finished",
            "Supported tasks:",
            "Starting vLLM ",
            "Waiting for application startup",
        ),
        "seconds are normal",
        300.0,
    ),
    Stretch(
        "engine-start",
        (
            " LLM engine (v",
            "non-default args: ",
            "Resolved architecture:",
            "Using max model len",
            "Chunked prefill is enabled",
        ),
        "10 to 60 seconds are normal while processes start and import their libraries",
        300.0,
    ),
)
"""Literal to stretch, the more telling before the more general: the last record that holds one of them decides."""

_BY_PHASE: Mapping[str, str] = {
    Phase.DISTRIBUTED.value: "rendezvous",
    Phase.WEIGHTS.value: "loading",
    Phase.KERNEL_SELECTION.value: "loading",
    Phase.PROFILING.value: "profiling",
    Phase.KV_CACHE.value: "after-kv-cache",
    Phase.COMPILE.value: "compile",
    Phase.GRAPH_CAPTURE.value: "graphs",
    Phase.SERVER_START.value: "server-start",
}
"""Where none of the last records tells more."""
_WAITING = ("shared memory broadcast block found in",)
"""Lines that only say that somebody waits."""


class LastRecords:
    """Keeps the last records of a boot that say something about where it is."""

    def __init__(self) -> None:
        self._kept: deque[Record] = deque(maxlen=KEPT)

    def observe(self, record: Record) -> None:
        """Take note of a record."""
        if not record.quoted:
            self._kept.append(record)

    def newest_first(self) -> Iterator[Record]:
        """Yield the kept records, the last one first, without blank and waiting ones."""
        for record in reversed(self._kept):
            first = record.lines[0][1]
            if any(text.strip() for _, text in record.lines) and not any(words in first for words in _WAITING):
                yield record

    def texts(self) -> dict[int, str]:
        """Return the kept lines by their number."""
        return {number: text for record in self._kept for number, text in record.lines if text.strip()}


def patience(records: LastRecords, phase: str) -> float:
    """Return for how many seconds processes may wait for each other where the log stands, before it is a hang."""
    stretch = _stretch(records, phase)
    return stretch.patience if stretch else DEFAULT_PATIENCE


def silence_facts(
    verdict: Verdict, facts: Facts, records: LastRecords, timeline: Sequence[PhaseSpan], waited: float = 0.0
) -> dict[str, Fact]:
    """Return what is known about the end of a log of a start that is neither finished nor failed.

    `waited` are the seconds at its end in which processes only waited for each other.
    """
    if verdict not in _UNFINISHED:
        return {}
    last = next(records.newest_first(), None)
    if last is None:
        return {}
    line, text = next((n, t) for n, t in reversed(last.lines) if t.strip())
    process = last.process.name
    values = dict(_values(facts, records, timeline))
    if waited:
        values["silence.waited_seconds"] = round(waited)
        values["silence.waited"] = in_words(waited)
        values["silence.patience"] = in_words(patience(records, str(values["silence.phase"])))
    values["silence.last_text"] = beginning(" ".join(text.split()), _TEXT)
    if last.time or last.outer_time:
        values["silence.since"] = last.time or last.outer_time
    return {key: Fact(key, value, line, process, "inferred") for key, value in values.items()}


def _values(facts: Facts, records: LastRecords, timeline: Sequence[PhaseSpan]) -> Iterator[tuple[str, FactValue]]:
    phase = str(facts["boot.phase"].value) if "boot.phase" in facts else ""
    yield "silence.phase", phase
    stretch = _stretch(records, phase)
    if stretch is not None:
        yield "silence.kind", stretch.kind
        yield "silence.normal", stretch.normal
    seconds = next((span.seconds for span in reversed(timeline) if span.phase == phase), None)
    if seconds is not None:
        yield "silence.seconds", round(seconds, 1)
    remaining = _remaining(stretch.kind if stretch else "", facts)
    if remaining is not None:
        yield "silence.remaining_seconds", remaining
        yield "silence.remaining", in_words(remaining)


def _stretch(records: LastRecords, phase: str) -> Stretch | None:
    for record in records.newest_first():
        message = record.message[-2000:]
        for stretch in STRETCHES:
            if any(literal in message for literal in stretch.literals):
                return stretch
    kind = _BY_PHASE.get(phase)
    return next((stretch for stretch in STRETCHES if stretch.kind == kind), None)


def _remaining(kind: str, facts: Facts) -> int | None:
    """Return the seconds that the stretch needs yet, by the pace it has had so far."""
    if kind in ("loading", "download", ""):
        done, total = _number(facts, "weights.shards_done"), _number(facts, "weights.shards_total")
        pace = _number(facts, "weights.seconds_per_shard")
    elif kind == "graphs":
        done, total = _number(facts, "graphs.done"), _number(facts, "graphs.total")
        elapsed = _number(facts, "graphs.elapsed_seconds")
        pace = elapsed / done if elapsed and done else None
    else:
        return None
    if done is None or total is None or not pace or done >= total:
        return None
    return round((total - done) * pace)


def _number(facts: Facts, key: str) -> float | None:
    value = facts[key].value if key in facts else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def in_words(seconds: float) -> str:
    """Return a duration as people say it: `48 s`, `5 min 38 s`, `1 h 04 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
