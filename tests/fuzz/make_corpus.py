"""Write seeds for the fuzzer (pieces of samples, examples of signatures, short hostile shapes), and a dictionary.

python -m tests.fuzz.make_corpus DIRECTORY
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from logdoctor.database import load_database
from logdoctor.facts import LITERALS
from tests.hostile.bombs import BOMBS

ROOT = Path(__file__).resolve().parents[2]
SEEDS = Path(__file__).parent / "corpus"
PIECE = 3000
TOKENS = (
    "(APIServer pid=1) ", "(EngineCore_DP0 pid=2) ", "(Worker_TP0 pid=3) ", "ERROR 11-30 09:20:57 [core.py:101] ",
    "INFO 11-30 09:20:57 [core.py:101] ", "Traceback (most recent call last):\\x0a", "\\x0a", "\\x0d",
    "\\x1b[31m", "> ",
    "  File \\\"a.py\\\", line 1, in f\\x0a", "vllm-1  | ", "{\\\"log\\\":\\\"",
    "\\\\n\\\",\\\"stream\\\":\\\"stderr\\\"}\\x0a",
    "2026-11-30T09:20:57.123456789Z ", "stdout F ", "stdout P ", "[pod/a/b] ", "Nov 30 09:20:57 host unit[1]: ",
    "non-default args: {'", "args: Namespace(", " with config: ", "The above exception was the direct cause of the ",
    "hf_abcdefghijklmnopqrstuvwxyz012345", "--api-key ", "\\xff\\xfe", "\\x1f\\x8b\\x08", "\\x28\\xb5\\x2f\\xfd",
    "usage: vllm ", "vllm serve: error: ", "vLLM API server version 0.17.1",
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    """Yield the seeds; the first byte chooses what the fuzzer checks."""
    for path in sorted((ROOT / "samples").rglob("*.log")):
        data = path.read_bytes()
        yield b"\0" + data[:PIECE]
        yield b"\x80" + data[-PIECE:]
        at = data.find(b"Traceback")
        if at >= 0:
            yield b"\x81" + data[max(at - 1000, 0) : at + PIECE]
    for signature in load_database(environ={}, examples=True).signatures:
        for example in signature.examples.match[:2]:
            yield b"\x01" + example.log.encode()
    for bomb in BOMBS.values():
        yield b"\xff" + bomb(1000)
    for path in sorted(SEEDS.glob("*")):
        yield path.read_bytes()


def main(directory: str) -> None:
    """Write everything."""
    target = Path(directory)
    (target / "corpus").mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (target / "corpus" / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    words = [*TOKENS, *(_escaped(text) for text in LITERALS)]
    (target / "words.dict").write_text("".join(f'"{word}"\n' for word in words if word))


def _escaped(text: str) -> str:
    data = text.encode()[:60]
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in data)


if __name__ == "__main__":
    main(sys.argv[1])
