"""Write serving logs of any size in vLLM's formats: mostly access lines, some throughput lines, a crash near the end.

Deterministic for a seed; one block of lines is made and repeated with changing numbers, so that a gigabyte is written
in seconds and still looks like months of traffic.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
START = SAMPLES / "gpu" / "healthy-llama-cold.log"
CRASH = SAMPLES / "gpu" / "engine-cuda-oob.log"
_BLOCK_LINES = 20_000
_ROUTES = ("/v1/chat/completions", "/v1/completions", "/health", "/metrics", "/v1/models")


def access_line(rng: random.Random) -> str:
    """One uvicorn access line."""
    address = f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}:{rng.randrange(1024, 65535)}"
    return f'(APIServer pid=1233) INFO:     {address} - "POST {rng.choice(_ROUTES)} HTTP/1.1" 200 OK\n'


def throughput_line(rng: random.Random) -> str:
    """One periodic line of the engine's loggers."""
    return (
        f"(APIServer pid=1233) INFO 11-30 {rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02} "
        f"[loggers.py:310] Engine 000: Avg prompt throughput: {rng.uniform(10, 9000):.1f} tokens/s, "
        f"Avg generation throughput: {rng.uniform(10, 900):.1f} tokens/s, Running: {rng.randrange(1, 64)} reqs, "
        f"Waiting: {rng.randrange(8)} reqs, GPU KV cache usage: {rng.uniform(0, 90):.1f}%, "
        f"Prefix cache hit rate: {rng.uniform(0, 90):.1f}%\n"
    )


def healthy_line(rng: random.Random) -> str:
    """An access line, every thirtieth a throughput line."""
    return throughput_line(rng) if rng.randrange(30) == 0 else access_line(rng)


def hostile_line(rng: random.Random) -> str:
    """Now and then a line that holds the literal core of a signature."""
    if rng.randrange(8) == 0:
        return (
            "(APIServer pid=1233) ERROR 11-30 09:00:00 [serving.py:310] Error in preprocessing prompt inputs: "
            f"CUDA out of memory. Tried to allocate {rng.randrange(1, 99)}.00 GiB. Engine core initialization failed\n"
        )
    return healthy_line(rng)


def start_of_log() -> bytes:
    """A real start, up to the end of its start-up."""
    text = START.read_bytes()
    mark = text.index(b"Application startup complete")
    return text[: text.index(b"\n", mark) + 1]


def crash_of_log() -> bytes:
    """A real CUDA fault with its cascade, as the process prefix of the start has it."""
    text = CRASH.read_bytes()
    return text[text.rindex(b"\n", 0, text.index(b"EngineCore failed to start")) + 1 :]


def write_log(path: Path, size: int, line: Callable[[random.Random], str] = healthy_line, seed: int = 7) -> int:
    """Write a log of about `size` bytes with a crash at its end; return the number of bytes."""
    rng = random.Random(seed)
    blocks = ["".join(line(rng) for _ in range(_BLOCK_LINES)).encode() for _ in range(8)]
    tail = "".join(healthy_line(rng) for _ in range(200)).encode()
    written = 0
    with path.open("wb") as file:
        written += file.write(start_of_log())
        end = crash_of_log()
        for block in _repeated(blocks):
            if written + len(block) + len(end) > size:
                break
            written += file.write(block)
        written += file.write(end)
        written += file.write(tail[:0])
    return written


def _repeated(blocks: list[bytes]) -> Iterator[bytes]:
    while True:
        yield from blocks
