"""Logs of many ranks, made line by line as their processes would interleave them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

FRAMES = (
    ("v1/executor/multiproc_executor.py", "worker_main"),
    ("v1/worker/gpu_worker.py", "determine_available_memory"),
    ("v1/worker/gpu_model_runner.py", "profile_run"),
)


def failing(
    rank: int, error: str, *, time: str = "11-30 10:00:30", frames: Sequence[tuple[str, str]] = FRAMES
) -> list[str]:
    """The lines with which a worker reports its failure."""
    head = f"(Worker_TP{rank} pid={100 + rank}) ERROR {time} [multiproc_executor.py:880] "
    lines = ["WorkerProc failed to start.", "Traceback (most recent call last):"]
    for file, function in frames:
        lines += [f'  File "/opt/vllm/{file}", line {10 + rank}, in {function}', f"    {function}()"]
    return [head + line for line in [*lines, error]]


def interleaved(*streams: Sequence[str]) -> str:
    """One line of each stream in turn, until all are used up."""
    return "\n".join(_turns([list(stream) for stream in streams]))


def _turns(streams: list[list[str]]) -> Iterator[str]:
    while any(streams):
        for stream in streams:
            if stream:
                yield stream.pop(0)


def started(size: int, version: str = "0.17.1") -> list[str]:
    """The lines of a start with so many workers, up to loading."""
    lines = [
        f"(APIServer pid=1) INFO 11-30 10:00:00 [api_server.py:1] vLLM API server version {version}",
        f"(APIServer pid=1) INFO 11-30 10:00:00 [utils.py:233] non-default args: {{'model': 'acme/m', "
        f"'tensor_parallel_size': {size}}}",
        f"(EngineCore_DP0 pid=68) INFO 11-30 10:00:05 [core.py:1] Initializing a V1 LLM engine (v{version}) with "
        "config: model='acme/m', tokenizer='acme/m', max_seq_len=8192",
    ]
    for rank in range(size):
        worker = f"(Worker_TP{rank} pid={100 + rank})"
        lines.append(f"{worker} INFO 11-30 10:00:10 [gpu_model_runner.py:1] Starting to load model acme/m...")
    return lines


ENGINE_NOTICES = [
    "(EngineCore_DP0 pid=68) ERROR 11-30 10:00:31 [core.py:1100] EngineCore failed to start.",
    "(EngineCore_DP0 pid=68) ERROR 11-30 10:00:31 [core.py:1100] Traceback (most recent call last):",
    '(EngineCore_DP0 pid=68) ERROR 11-30 10:00:31 [core.py:1100]   File "/opt/v1/engine/core.py", line 9, in __init__',
    "(EngineCore_DP0 pid=68) ERROR 11-30 10:00:31 [core.py:1100]     self.model_executor = executor_class(vllm_config)",
    "(EngineCore_DP0 pid=68) ERROR 11-30 10:00:31 [core.py:1100] Exception: WorkerProc initialization failed due to an "
    "exception in a background process. See stack trace for root cause.",
    "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
]
