"""A log that just stops: where, since when, what is normal there, how much is left, and which question decides."""

from __future__ import annotations

import pytest

from logdoctor.diagnosis.silence import STRETCHES, in_words
from logdoctor.model import BootDiagnosis, Severity, Verdict
from tests.diagnosis.build import UP, banner, boot, commands, ids, lines, raised, said

LOADING = said("Starting to load model acme/m...")


def fact(of: BootDiagnosis, key: str) -> object:
    return of.facts[f"silence.{key}"].value if f"silence.{key}" in of.facts else None


def shards(done: int, total: int, pace: float = 28.2) -> str:
    return "\n".join(
        f"(EngineCore pid=68) Loading safetensors checkpoint shards: {100 * n // total:3}% Completed | {n}/{total} "
        f"[{int(n * pace) // 60:02}:{int(n * pace) % 60:02}<05:38, {pace}s/it]"
        for n in range(done + 1)
    )


def test_eight_minutes_of_loading_17_shards_is_no_hang() -> None:
    made = boot(lines(banner(), LOADING, shards(5, 17)))
    assert made.verdict is Verdict.STARTING
    assert (fact(made, "kind"), fact(made, "phase")) == ("loading", "weights")
    assert fact(made, "remaining_seconds") == 338  # 12 shards at 28.2 s
    finding = next(finding for finding in made.findings if finding.id == "loading-in-progress")
    assert finding.severity is Severity.INFO
    assert finding.title == "Still loading: 5 of 17 shards, about 5 min 38 s to go"
    assert "log-ends-unfinished" not in ids(made.findings)
    assert all(finding.severity.rank < Severity.ERROR.rank for finding in made.findings)


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ("2025-07-20 09:22:01,123 INFO worker.py:1888 -- Started a local Ray instance.", "placement"),
        (
            said("world_size=2 rank=0 local_rank=0 distributed_init_method=tcp://10.0.0.1:41811 backend=nccl"),
            "rendezvous",
        ),
        (said("vLLM is using nccl==2.28.9", "Worker_TP0 pid=71"), "first-collective"),
        (said("generating GPU P2P access cache in /root/.cache/vllm/gpu_p2p_access_cache_for_0,1.json"), "p2p-test"),
        (said("Using model weights format ['*.safetensors']"), "download"),
        (LOADING, "loading"),
        (said("Model loading took 69.5 GiB memory and 480.123456 seconds"), "after-loading"),
        (said("Dynamo bytecode transform time: 3.28 s"), "compile"),
        (said("Warming up Mamba2 SSD Triton kernels..."), "mamba-warmup"),
        (said("Using FlashInfer for top-p & top-k sampling."), "jit"),
        (
            "(EngineCore pid=68) 2026-11-30 10:13:35,167 - INFO - autotuner.py:651 - flashinfer.jit: [Autotuner]: "
            "Autotuning process starts ...",
            "autotune",
        ),
        (said("torch.compile takes 34.10 s in total"), "profiling"),
        (said("GPU KV cache size: 48,128 tokens"), "after-kv-cache"),
        (
            "(EngineCore pid=68) Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  12%|#2   | 3/25 "
            "[00:06<00:44,  2.00s/it]",
            "graphs",
        ),
        (said("init engine (profile, create kv cache, warmup model) took 33.02 seconds"), "server-start"),
    ],
)
def test_the_last_telling_line_names_the_stretch(last: str, kind: str) -> None:
    made = boot(lines(banner(), last, said("Some remark that tells nothing")))
    assert made.verdict in (Verdict.STARTING, Verdict.STALLED)
    assert fact(made, "kind") == kind
    assert fact(made, "normal") == next(stretch.normal for stretch in STRETCHES if stretch.kind == kind)
    assert fact(made, "last_text") == "Some remark that tells nothing"
    assert fact(made, "since") == "11-30 10:00:00"
    assert all(finding.severity.rank < Severity.ERROR.rank for finding in made.findings), "silence is no error"
    said_about_it = [finding for finding in made.findings if finding.severity.rank <= Severity.WARNING.rank]
    assert said_about_it, "the report says something about where it stopped"


def test_the_question_that_decides_between_killed_hung_and_slow() -> None:
    made = boot(lines(banner(), said("Dynamo bytecode transform time: 3.28 s")))
    finding = next(finding for finding in made.findings if finding.id == "log-ends-unfinished")
    assert "137" in finding.cause
    assert "several minutes are normal" in finding.cause
    typed = " ".join(commands(made))
    assert "OOMKilled" in typed
    assert "py-spy dump" in typed
    assert "docker top" in typed


def test_graphs_by_their_own_pace() -> None:
    bar = "(EngineCore pid=68) Capturing CUDA graphs (decode, FULL):  12%|#2   | 3/25 [00:06<00:44,  2.00s/it]"
    made = boot(lines(banner(), said("GPU KV cache size: 48,128 tokens"), bar))
    assert fact(made, "remaining_seconds") == 44
    assert "graph-capture-silent" in ids(made.findings)


def test_wait_lines_do_not_hide_the_stretch() -> None:
    wait = said(
        "No available shared memory broadcast block found in 60 seconds. This typically happens when",
        "Worker_TP0 pid=7",
    )
    made = boot(lines(banner(), LOADING, wait))
    assert fact(made, "kind") == "loading"
    assert "broadcast" not in str(fact(made, "last_text"))


def test_a_wait_that_the_log_itself_shows_is_stalled() -> None:
    waits = [
        said(
            "No available shared memory broadcast block found in 60 seconds. This typically", time=f"11-30 10:{n:02}:00"
        )
        for n in range(1, 13)
    ]
    made = boot(lines(banner(), said("vLLM is using nccl==2.28.9"), *waits))
    assert made.verdict is Verdict.STALLED
    assert fact(made, "kind") == "first-collective"


def test_time_in_the_phase_is_the_logs_own() -> None:
    early = said("Starting to load model acme/m...", time="11-30 10:00:40")
    late = said("Loading weights on node 0", time="11-30 10:04:40")
    assert fact(boot(lines(banner(), early, late)), "seconds") == 240.0


@pytest.mark.parametrize("log", [lines(banner(), UP), lines(banner(), LOADING, raised("ValueError: no"))])
def test_a_server_that_is_up_or_failed_is_not_silent(log: str) -> None:
    made = boot(log)
    assert not [key for key in made.facts if key.startswith("silence.")]
    assert "log-ends-unfinished" not in ids(made.findings)


def test_text_of_a_client_is_no_last_line() -> None:
    asked = said(
        "Received request cmpl-1: prompt: 'Capturing CUDA graphs', params: SamplingParams(n=1)", "APIServer pid=1"
    )
    made = boot(lines(banner(), LOADING, asked))
    assert fact(made, "kind") == "loading"


def test_the_whole_unfinished_start_leads_the_notices() -> None:
    noise = said(
        "Padding mamba page size by 5.11% to ensure that mamba page size and attention page size are exactly equal."
    )
    made = boot(lines(banner(), noise, said("Dynamo bytecode transform time: 3.28 s"), shards(0, 2)))
    infos = [finding.id for finding in made.findings if finding.severity is Severity.INFO]
    assert infos.index("log-ends-unfinished") < infos.index("hybrid-cache-sizing")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59.6, "1 min 00 s"), (338, "5 min 38 s"), (3840, "1 h 04 min")]
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
