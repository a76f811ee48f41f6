"""How much the weights take on each card: by the log, or by the size and the precision in the model's name."""

from __future__ import annotations

from logdoctor.budget.arithmetic import precisions
from logdoctor.budget.numbers import Numbers, read_numbers
from logdoctor.model import Facts

_FOUR_BITS = ("fp4", "4bit", "4-bit", "int4", "awq", "gptq", "w4a16", "q4_", "bnb")
_EIGHT_BITS = ("fp8", "8bit", "8-bit", "int8", "w8a8", "w8a16", "q8_")
_NATIVE = {"gpt-oss": "4 bit", "deepseek-r1": "8 bit", "deepseek-v3": "8 bit", "kimi-k2": "8 bit"}
_LEAST = 0.8
"""Of an estimate by the name, what the weights take at least."""


def precision(known: Facts) -> str:
    """Return how the weights are stored, by the model's name or an explicit quantization."""
    keys = ("model.name", "args.quantization", "model.quantization")
    name = " ".join(str(known[key].value) for key in keys if key in known).lower()
    if any(word in name for word in _FOUR_BITS):
        return "4 bit"
    if any(word in name for word in _EIGHT_BITS):
        return "8 bit"
    native = next((bits for word, bits in _NATIVE.items() if word in name), "")
    return native or "16 bit"


def size_gb(numbers: Numbers, known: Facts) -> float | None:
    """Return the size of all weights in GB, by the model's name; None where it tells none."""
    if numbers.billions is None:
        return None
    return next(row.size for row in precisions(numbers.billions, 1.0) if row.name == precision(known))


def fit_into(share: float, known: Facts) -> bool:
    """Whether the weights can fit into a share of the card; True where nothing tells that they do not."""
    numbers = read_numbers(known)
    if numbers.total is None or numbers.cpu or "args.cpu_offload_gb" in known:
        return True
    estimate = size_gb(numbers, known)
    least = numbers.weights
    if least is None and estimate is not None:
        least = estimate * 1e9 / 2**30 / max(numbers.cards, 1) * _LEAST
    return least is None or least < share * numbers.total
