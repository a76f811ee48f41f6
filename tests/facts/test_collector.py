"""All of it together, on recorded logs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.facts import LITERALS, FactCollector
from logdoctor.facts.collector import PATTERNS
from logdoctor.facts.events import EVENTS
from logdoctor.facts.index import LiteralIndex
from logdoctor.facts.phases import MARKERS
from logdoctor.model import FactValue
from logdoctor.reading import open_runs, read_lines, read_records
from tests.facts.build import record
from tests.sample_logs import SAMPLES, sample_logs


def last_boot(log: Path) -> FactCollector:
    boots: dict[int, FactCollector] = {}
    for boot, each in read_records(read_lines(open_runs([str(log)], stdin=io.BytesIO()))):
        boots.setdefault(boot, FactCollector()).observe(each)
    return boots[max(boots)]


def values(log: str) -> dict[str, FactValue]:
    return {key: fact.value for key, fact in last_boot(SAMPLES / log).facts().items()}


EXPECTED: dict[str, dict[str, Any]] = {
    "gpu/healthy-llama-cold.log": {
        "vllm.version": "0.26.0",
        "vllm.engine": "V1",
        "vllm.runner": "V2",
        "platform": "cuda",
        "model.name": "/models/tiny-llama",
        "model.architecture": "LlamaForCausalLM",
        "args.max_model_len": 4096,
        "attention.backend": "FLASH_ATTN",
        "weights.gib": 0.25,
        "compile.seconds": 11.95,
        "kv_cache.memory_gib": 127.88,
        "kv_cache.tokens": 16_761_392,
        "kv_cache.concurrency": 4092.14,
        "graphs.done": 51,
        "graphs.seconds": 2.0,
        "memory.total_gib": 139.8,
        "engine.init_seconds": 32.25,
        "start.seconds": 87.0,
        "server.requests_ok": 1,
        "gpu.compute_capability": "9.0",
        "boot.ready": True,
        "boot.failed": False,
        "boot.excerpt": False,
        "boot.stderr_missing": False,
    },
    "gpu/nemotron-h-nvfp4-auto.log": {
        "model.quantization": "modelopt_fp4",
        "model.hybrid": True,
        "model.moe": True,
        "nvfp4.linear_backend": "MarlinNvFp4LinearKernel",
        "nvfp4.moe_backend": "MARLIN",
        "nvfp4.marlin": True,
        "mamba.backend": "triton",
        "kv_cache.dtype": "fp8_e4m3",
        "kv_cache.block_size": 2096,
        "gpu.name": "NVIDIA H200",
        "memory.weights_gib": 0.22,
        "memory.activation_gib": 0.65,
    },
    "gpu/gpu-busy-other-process.log": {
        "memory.free_gib": 38.77,
        "memory.desired_gib": 128.62,
        "args.enforce_eager": True,
        "boot.failed": True,
        "boot.ready": False,
    },
    "gpu/max-model-len-too-long.log": {
        "args.gpu_memory_utilization": 0.25,
        "kv_cache.needed_gib": 24.0,
        "kv_cache.memory_gib": 13.81,
        "kv_cache.estimated_max_len": 75440,
        "boot.phase": "kv-cache",
    },
    "cpu/0.17.1/healthy.log": {
        "vllm.version": "0.17.1",
        "platform": "cpu",
        "kv_cache.tokens": 2_097_152,
        "server.requests_ok": 4,
        "server.requests_error": 4,
        "start.seconds": 48.0,
    },
    "cpu/0.27.1/healthy.log": {"vllm.version": "0.27.1", "kv_cache.memory_gib": 1.0, "boot.failed": False},
    "cpu/0.27.1/env_nvfp4.log": {"boot.ready": True, "vllm.version": "0.27.1"},
    "cpu/0.17.1/restart_loop.log": {"args.max_model_len": 1048576, "boot.failed": True, "boot.phase": "config"},
    "cpu/0.17.1/split_streams.stdout.log": {"boot.stderr_missing": True, "boot.ready": True, "boot.failed": False},
    "cpu/0.17.1/split_streams.stderr.log": {"boot.stderr_missing": False, "boot.ready": True, "boot.excerpt": True},
    "cpu/0.17.1/split_streams_fail.stdout.log": {"boot.stderr_missing": True, "boot.failed": False},
    "cpu/0.17.1/split_streams_fail.stderr.log": {"boot.failed": True, "boot.excerpt": True},
    "cpu/0.27.1/lora_missing.log": {"boot.failed": True, "boot.phase": "server-start"},
    "gpu/engine-cuda-illegal_instruction.log": {"boot.phase": "profiling"},
}


@pytest.mark.parametrize("log", EXPECTED)
def test_the_facts_of_a_recorded_log(log: str) -> None:
    facts = values(log)
    assert {key: facts.get(key) for key in EXPECTED[log]} == EXPECTED[log]


@pytest.mark.parametrize("log", sample_logs(), ids=lambda log: log.stem)
def test_facts_point_at_lines_that_exist(log: Path) -> None:
    collector = last_boot(log)
    reached = collector.milestones
    facts = collector.facts()
    assert all(0 <= fact.line <= reached.last_line for fact in facts.values())
    assert all(fact.line >= reached.first_line or fact.key.startswith("boot.") for fact in facts.values())
    spans = collector.timeline()
    assert len({span.phase for span in spans}) == len(spans)
    assert all(span.first_line <= span.last_line for span in spans)


def test_every_literal_is_exported() -> None:
    rows = {row.literal for table in (PATTERNS, EVENTS, MARKERS) for row in table}
    assert rows <= set(LITERALS)
    assert len(LITERALS) == len(set(LITERALS))
    assert all(literal.strip() for literal in LITERALS)


@given(st.sampled_from(LITERALS), st.text(max_size=20), st.text(max_size=20))
def test_the_index_keeps_the_order_of_the_table(literal: str, before: str, after: str) -> None:
    message = f"{before}{literal}{after}"
    index = LiteralIndex((each, each) for each in LITERALS)
    present = [each for each in LITERALS if each in message]
    assert index.find(reversed(present)) == present


@given(st.lists(st.tuples(st.sampled_from(LITERALS), st.text(max_size=60)), max_size=8))
def test_no_text_raises(parts: list[tuple[str, str]]) -> None:
    collector = FactCollector()
    for line, (literal, text) in enumerate(parts, 1):
        collector.observe(record(f"{literal}{text}", line=line))
        collector.observe(record(f"{text}{literal}", line=line, level="", file="", time=text))
    collector.facts()
    collector.timeline()


def test_the_same_records_give_the_same_facts_in_the_same_order() -> None:
    log = SAMPLES / "gpu/healthy-llama-cold.log"
    assert list(last_boot(log).facts().items()) == list(last_boot(log).facts().items())
