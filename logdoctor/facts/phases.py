"""The phases of a start: where in it a record stands, and how long each part took.

vLLM prints no phase, so a table of markers in the order of a start stands in. A boot only moves forward in it: other
processes, and second models, repeat earlier lines.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from logdoctor.facts.clock import Stamp, seconds_between
from logdoctor.facts.index import LiteralIndex
from logdoctor.model import Phase, PhaseSpan, Record


class PhaseMarker(NamedTuple):
    """A line that begins a phase, or shows that it goes on."""

    step: int
    """Position in a start. Steps rise along a boot; two steps can belong to one phase."""
    phase: Phase
    literal: str
    after: int = 0
    """Counts only once the boot has come to this step: the same line can mean something else earlier."""


_NO_KV_CACHE = ("No available memory for the cache blocks", "serve at least one request with the model")
"""What an error says of the phase itself, where no line before it does (0.8 prints none)."""

MARKERS: tuple[PhaseMarker, ...] = tuple(
    PhaseMarker(step, phase, literal, after)
    for step, phase, after, literals in (
        (1, Phase.COMMAND_LINE, 0, ("█  version ", "vLLM API server version", "vLLM server version", ": error: ")),
        # The arguments are printed once they have been understood.
        (2, Phase.CONFIG, 0, ("non-default args: ", "args: Namespace(", "Resolved architecture:")),
        (2, Phase.CONFIG, 0, ("Using max model len", "Chunked prefill is enabled")),
        (3, Phase.PLATFORM, 0, (" LLM engine (v",)),
        (4, Phase.DISTRIBUTED, 0, ("distributed_init_method=", " in world size ", "is using nccl==")),
        (4, Phase.DISTRIBUTED, 0, ("Started a local Ray instance", "Connecting to existing Ray cluster")),
        (4, Phase.DISTRIBUTED, 0, ("generating GPU P2P access cache",)),
        (5, Phase.WEIGHTS, 0, ("Starting to load model", "Loading model from scratch", "Loading weights on ")),
        (6, Phase.KERNEL_SELECTION, 0, (" for NVFP4 GEMM", " MoE backend", " attention backend", " for FP4")),
        (6, Phase.KERNEL_SELECTION, 0, (" backend on V1 engine", " backend for NvFp4 MoE", "LinearKernel for ")),
        (7, Phase.WEIGHTS, 0, ("% Completed | ", "Loading weights took", "Checkpoint size:")),
        # What follows the weights is the profiling run; where torch.compile is on, it compiles first.
        (8, Phase.PROFILING, 0, ("Model loading took",)),
        (9, Phase.COMPILE, 0, ("Using cache directory:", "Dynamo bytecode transform", "Compiling a graph for")),
        (9, Phase.COMPILE, 0, ("Directly load the compiled graph", "Directly load AOT compilation")),
        (9, Phase.COMPILE, 0, ("torch.compile t", "Warming up model for the compilation")),
        (10, Phase.PROFILING, 0, ("Initial profiling/warmup run", "Profiling CUDA graph memory")),
        (10, Phase.PROFILING, 0, ("Memory profiling takes", "Warming up Mamba2 SSD")),
        (10, Phase.PROFILING, 0, ("Encoder cache will be initialized",)),
        (11, Phase.KV_CACHE, 0, ("Available KV cache memory:", "KV cache size:", "Maximum concurrency for")),
        (11, Phase.KV_CACHE, 0, ("for KV Cache as specified by", "GiB for KV cache on node", "GPU blocks:")),
        # The CPU back end compiles after its KV cache is made.
        (11, Phase.KV_CACHE, 8, _NO_KV_CACHE),
        (12, Phase.COMPILE, 11, ("Warming up model for the compilation",)),
        (13, Phase.GRAPH_CAPTURE, 11, ("Autotuning process starts", "Using FlashInfer autotune cache")),
        (13, Phase.GRAPH_CAPTURE, 0, ("Capturing CUDA graph", "Graph capturing finished", "Capturing the model for")),
        (14, Phase.SERVER_START, 0, ("init engine (", "Supported tasks:", "Supported_tasks:", "Available routes are")),
        (14, Phase.SERVER_START, 0, ("Starting vLLM API server", "Starting vLLM server on", "Started server process")),
        (14, Phase.SERVER_START, 0, ("Waiting for application startup",)),
        (15, Phase.SERVING, 0, ("Application startup complete", "Avg generation throughput: ")),
        (15, Phase.SERVING, 0, ("API server: HTTP server started",)),
        (16, Phase.SHUTDOWN, 0, ("[shutdown] ", "Shutting down FastAPI HTTP server", "Shutdown initiated (timeout=")),
        (16, Phase.SHUTDOWN, 0, ("Received KeyboardInterrupt, shutting down", "Waiting for application shutdown")),
    )
    for literal in literals
)
"""The markers in the order of a start."""

_INDEX = LiteralIndex((marker.literal, marker) for marker in MARKERS)
_SERVING_STEP = 15


@dataclass(slots=True)
class _Span:
    first_line: int
    last_line: int
    start: Stamp
    seconds: float = 0.0
    timed: bool = False


class PhaseTracker:
    """Follows one boot through its phases."""

    def __init__(self) -> None:
        self._step = 0
        self._spans: dict[Phase, _Span] = {}
        self._entered = Stamp()
        """When the current stretch of the current phase began."""
        self._latest = Stamp()
        self.current = Phase.LAUNCH
        self.before_shutdown = Phase.LAUNCH
        """The phase the boot was in, or was in when it began to shut down."""

    def observe(self, record: Record, message: str, present: Collection[str], stamp: Stamp) -> Phase:
        """Give the phase of the record; the boot moves on where the record is a later marker."""
        if stamp.known:
            self._latest = stamp
        calm = record.level in ("", "INFO", "WARNING", "DEBUG") and record.exception is None
        for marker in _INDEX.find(present):
            if (calm or marker.literal in _NO_KV_CACHE) and marker.after <= self._step < marker.step:
                self._move(marker.step, marker.phase)
        self.extend(record)
        return self.current

    def serve(self, record: Record, stamp: Stamp) -> None:
        """Take note of an answered request, which proves that the server serves."""
        if stamp.known:
            self._latest = stamp
        if self._step < _SERVING_STEP:
            self._move(_SERVING_STEP, Phase.SERVING)
        self.extend(record)

    def timeline(self) -> tuple[PhaseSpan, ...]:
        """Give each phase once, in the order of first entry, with the time spent in it."""
        self._close(self._latest)
        self._entered = self._latest
        return tuple(
            PhaseSpan(phase.value, span.first_line, span.last_line, span.start.text, _rounded(span))
            for phase, span in sorted(self._spans.items(), key=lambda item: (item[1].first_line, item[0].value))
        )

    def _move(self, step: int, phase: Phase) -> None:
        self._step = step
        if phase is self.current:
            return
        self._close(self._latest)
        self.current = phase
        if phase is not Phase.SHUTDOWN:
            self.before_shutdown = phase
        self._entered = self._latest

    def _close(self, end: Stamp) -> None:
        span = self._spans.get(self.current)
        passed = seconds_between(self._entered, end)
        if span is not None and passed is not None:
            span.seconds += passed
            span.timed = True

    def extend(self, record: Record) -> None:
        """Let the current phase reach to the record."""
        span = self._spans.get(self.current)
        if span is None:
            start = self._entered if self._entered.known else self._latest
            self._entered = start
            self._spans[self.current] = _Span(record.first_line, record.last_line, start)
            return
        span.first_line = min(span.first_line, record.first_line)
        span.last_line = max(span.last_line, record.last_line)
        if not span.start.known and self._latest.known:
            span.start = self._entered = self._latest


def _rounded(span: _Span) -> float | None:
    return round(span.seconds, 3) if span.timed else None
