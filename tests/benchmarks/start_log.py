"""Write a start-up log of about 3,000 lines: a real start, as eight workers with many shards would print it."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.serving_log import START

RANKS = 8
_TOTAL = 3000
_REPEATED = ("[backends.py", "[marlin", "[kv_cache", "[gpu_model_runner.py", "[parallel_state.py", "[monitor.py")


def start_lines(total: int = _TOTAL) -> list[str]:
    """The lines of the log; per-worker lines come once a rank, and the checkpoint has as many shards as are missing."""
    lines: list[str] = []
    for line in START.read_text(encoding="utf-8").split("\n"):
        if line.startswith("(EngineCore pid=") and any(mark in line for mark in _REPEATED):
            _, _, rest = line.partition(") ")
            lines += [f"(Worker_TP{rank} pid={2000 + rank}) {rest}" for rank in range(RANKS)]
        elif line.strip():
            lines.append(line)
        else:
            lines.append("")
    middle = next(n for n, line in enumerate(lines) if "Starting to load model" in line or "Loading model" in line)
    missing = max(total - len(lines), 0)
    shards = [
        f"(Worker_TP0 pid=2000) \rLoading safetensors checkpoint shards: {100 * n // missing:3}% Completed | "
        f"{n}/{missing} [{n // 60:02}:{n % 60:02}<{(missing - n) // 60:02}:{(missing - n) % 60:02},  1.00s/it]"
        for n in range(1, missing + 1)
    ]
    return lines[: middle + 1] + shards + lines[middle + 1 :]


def write_start(path: Path, total: int = _TOTAL) -> None:
    """Write the log."""
    path.write_text("\n".join(start_lines(total)) + "\n", encoding="utf-8")
