"""Weights, compilation, graphs: sizes, seconds, progress."""

from __future__ import annotations

import pytest

from tests.facts.build import WORKER, bare, facts_of, record, said

BAR = "Loading safetensors checkpoint shards: {percent:3d}% Completed | {done}/17 [{elapsed}<04:21, 21.79s/it]"


def test_the_last_bar_says_how_far_loading_is() -> None:
    facts = facts_of(
        bare(BAR.format(percent=24, done=4, elapsed="01:52"), line=30),
        bare(BAR.format(percent=29, done=5, elapsed="02:20"), line=31),
    )
    assert (facts["weights.shards_done"].value, facts["weights.shards_done"].line) == (5, 31)
    assert facts["weights.shards_total"].value == 17
    assert facts["weights.seconds_per_shard"].value == 28.0
    assert facts["weights.seconds_per_shard"].origin == "inferred"


def test_no_pace_before_the_first_shard() -> None:
    facts = facts_of(bare("Loading safetensors checkpoint shards:   0% Completed | 0/17 [00:00<?, ?it/s]"))
    assert facts["weights.shards_done"].value == 0
    assert "weights.seconds_per_shard" not in facts


def test_hours_of_loading() -> None:
    facts = facts_of(bare(BAR.format(percent=50, done=2, elapsed="1:00:10")))
    assert facts["weights.elapsed_seconds"].value == 3610.0


@pytest.mark.parametrize("words", ["GiB and", "GiB memory and"])
def test_the_size_of_the_weights(words: str) -> None:
    facts = said(f"Model loading took 69.5 {words} 112.25 seconds")
    assert facts["weights.gib"] == facts["memory.weights_gib"] == 69.5
    assert facts["weights.seconds"] == 112.25


def test_the_loaders_own_time_is_better() -> None:
    facts = facts_of(
        record("Loading weights took 100.50 seconds"), record("Model loading took 69.5 GiB and 112.25 seconds")
    )
    assert facts["weights.seconds"].value == 100.5


def test_the_slowest_worker_decides() -> None:
    facts = facts_of(
        record("Loading weights took 100.50 seconds", line=1),
        record("Loading weights took 130.00 seconds", line=2, process=WORKER),
        record("Loading weights took 90.00 seconds", line=3),
    )
    assert (facts["weights.seconds"].value, facts["weights.seconds"].line) == (130.0, 2)


@pytest.mark.parametrize("verb", ["takes", "took"])
def test_compilation(verb: str) -> None:
    assert said(f"torch.compile {verb} 11.95 s in total") == {"compile.seconds": 11.95}
    assert said(f"[backbone] torch.compile {verb} 11.95 s in total") == {"compile.seconds": 11.95}


def test_graph_capture() -> None:
    assert said("Graph capturing finished in 5 secs, took 0.24 GiB") == {
        "graphs.seconds": 5.0,
        "graphs.gib": 0.24,
        "memory.graphs_gib": 0.24,
    }
    bar = "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  12%|#2   | 3/25 [00:01<00:09,  2.44it/s]"
    facts = facts_of(bare(bar))
    assert (facts["graphs.done"].value, facts["graphs.total"].value) == (3, 25)


@pytest.mark.parametrize(
    ("tail", "compile_seconds"),
    [("129.13 seconds", None), ("129.13 s", None), ("129.13 s (compilation: 9.79 s)", 9.79)],
)
def test_the_engine_is_up(tail: str, compile_seconds: float | None) -> None:
    facts = said(f"init engine (profile, create kv cache, warmup model) took {tail}")
    assert facts["engine.init_seconds"] == 129.13
    assert facts.get("compile.seconds") == compile_seconds
