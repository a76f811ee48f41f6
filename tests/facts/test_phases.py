"""Where in a start a record stands."""

from __future__ import annotations

import itertools
import random

from logdoctor.facts import MARKERS
from logdoctor.model import Phase, Record
from tests.facts.build import API, bare, collect, record

START = [
    ("10:00:00", "Triton is installed but 0 active driver(s) found", "launch"),
    ("10:00:02", "vLLM API server version 0.12.0", "command-line"),
    ("10:00:02", "non-default args: {'model': 'm'}", "config"),
    ("10:00:10", "Resolved architecture: LlamaForCausalLM", "config"),
    ("10:00:20", "Initializing a V1 LLM engine (v0.12.0) with config: model='m'", "platform"),
    (
        "10:00:22",
        "world_size=1 rank=0 local_rank=0 distributed_init_method=tcp://1.2.3.4:5",
        "distributed",
    ),
    ("10:00:24", "Starting to load model m...", "weights"),
    ("10:00:25", "Using 'MARLIN' NvFp4 MoE backend out of potential backends: ['MARLIN'].", "kernel-selection"),
    ("10:02:25", "Loading weights took 119.00 seconds", "weights"),
    ("10:02:26", "Model loading took 69.5 GiB and 122.0 seconds", "profiling"),
    ("10:02:30", "Dynamo bytecode transform time: 2.40 s", "compile"),
    ("10:03:00", "Initial profiling/warmup run took 0.15 s", "profiling"),
    ("10:03:01", "Available KV cache memory: 20.00 GiB", "kv-cache"),
    ("10:03:02", "GPU KV cache size: 1,000 tokens", "kv-cache"),
    ("10:03:10", "Graph capturing finished in 8 secs, took 0.23 GiB", "graph-capture"),
    ("10:03:11", "init engine (profile, create kv cache, warmup model) took 45.00 s", "server-start"),
    ("10:03:12", "Application startup complete.", "serving"),
    ("10:09:12", "Shutting down FastAPI HTTP server.", "shutdown"),
]


def records() -> list[Record]:
    return [record(text, line=n, time=f"11-30 {clock}") for n, (clock, text, _) in enumerate(START, 1)]


def test_each_record_of_a_start_has_its_phase() -> None:
    for n in range(1, len(START) + 1):
        assert collect(records()[:n]).phase == START[n - 1][2], START[n - 1][1]


def test_the_timeline_has_each_phase_once_with_its_time() -> None:
    spans = collect(records()).timeline()
    assert [span.phase for span in spans] == [
        "launch",
        "command-line",
        "config",
        "platform",
        "distributed",
        "weights",
        "kernel-selection",
        "profiling",
        "compile",
        "kv-cache",
        "graph-capture",
        "server-start",
        "serving",
        "shutdown",
    ]
    by_phase = {span.phase: span for span in spans}
    assert by_phase["weights"].seconds == 1 + 1
    assert by_phase["kernel-selection"].seconds == 120
    assert by_phase["profiling"].seconds == 4 + 1
    assert by_phase["serving"].seconds == 360
    assert (by_phase["weights"].first_line, by_phase["weights"].last_line) == (7, 9)
    assert by_phase["config"].start == "11-30 10:00:02"
    assert sum(span.seconds or 0 for span in spans) == 552


def test_the_timeline_can_be_asked_twice() -> None:
    collector = collect(records())
    assert collector.timeline() == collector.timeline()


def test_a_start_without_stamps_has_no_durations() -> None:
    spans = collect(bare(text, line=n) for n, (_, text, _) in enumerate(START, 1)).timeline()
    assert all(span.seconds is None and span.start == "" for span in spans)


def test_a_boot_never_goes_back_to_an_earlier_phase() -> None:
    order = [phase for _, _, phase in START]
    last = {phase: n for n, phase in enumerate(order)}
    for seed in range(30):
        shuffled = random.Random(seed).sample(records(), len(START))
        seen: list[str] = []
        for n in range(1, len(START) + 1):
            seen.append(collect(shuffled[:n]).phase)
        # Some phases come twice in a start: no step may lead from behind the last of one to before the first.
        assert all(order.index(a) <= last[b] for a, b in itertools.pairwise(seen)), seen


def test_an_answered_request_means_serving() -> None:
    line = record('1.2.3.4:5 - "GET /health HTTP/1.1" 200 OK', file="", time="", process=API)
    assert collect([line]).phase == Phase.SERVING.value
    refused = record('1.2.3.4:5 - "GET /health HTTP/1.1" 503 X', file="", time="", process=API)
    assert collect([refused]).phase == Phase.LAUNCH.value


def test_an_error_text_moves_no_boot() -> None:
    assert collect([record("Graph capturing finished in 8 secs", level="ERROR")]).phase == "launch"
    assert collect([record("Graph capturing finished in 8 secs", quoted=True)]).phase == "launch"


def test_the_cpu_compiles_after_its_cache() -> None:
    lines = ["Starting to load model m", "GPU KV cache size: 1 tokens", "Warming up model for the compilation..."]
    assert collect(record(text, line=n) for n, text in enumerate(lines, 1)).phase == "compile"


def test_the_markers_rise_and_name_every_phase() -> None:
    steps = [marker.step for marker in MARKERS]
    assert steps == sorted(steps)
    assert {marker.phase for marker in MARKERS} | {Phase.LAUNCH} == set(Phase)
