"""Conditions on facts in three values: true, false, unknown.

A log states few of the facts a signature would like to know. An unknown fact never makes a condition false; it
makes the finding conditional, and the condition is then said in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum

from logdoctor.knowledge.releases import parse_range, parse_version
from logdoctor.model import Fact, Facts, FactValue, Phase

ConditionValue = str | int | float | bool
Condition = ConditionValue | tuple[ConditionValue, ...]

# Facts that mean "no" when nothing states them, because whoever states them would have printed a line.
_ABSENT_MEANS_NO = ("boot.", "budget.", "cli.", "silence.", "env.unknown", "container.gpu_in_use", "model.mixed")
_NVFP4_BACKENDS = ("nvfp4.linear_backend", "nvfp4.moe_backend")
_VERSION_KEYS = frozenset(
    {"vllm.version", "torch.version", "cuda.version", "gpu.compute_capability", "flashinfer.version", "nccl.version"}
)
_OPERATOR = re.compile(r"^(>=|<=|==|!=|>|<)\s*(.+)$")


BEFORE = "boot.before"
"""Not a fact but a question: whether the boot has not come to this phase. A launch that never ran is before all."""
_PHASES = [phase.value for phase in Phase]


class Truth(Enum):
    """The outcome of a condition."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return the conjunction: one false makes it false, else one unknown makes it unknown."""
    outcome = Truth.TRUE
    for truth in truths:
        if truth is Truth.FALSE:
            return Truth.FALSE
        if truth is Truth.UNKNOWN:
            outcome = Truth.UNKNOWN
    return outcome


def evaluate(conditions: Mapping[str, Condition], facts: Facts) -> Truth:
    """Evaluate every condition of a mapping; an empty mapping is true."""
    return all_of(holds(key, wanted, facts) for key, wanted in conditions.items())


def undecided(conditions: Mapping[str, Condition], facts: Facts) -> tuple[str, ...]:
    """Return the unknown conditions in words, in their order."""
    return tuple(in_words(k, w) for k, w in conditions.items() if holds(k, w, facts) is Truth.UNKNOWN)


def holds(key: str, wanted: Condition, facts: Facts) -> Truth:
    """Evaluate one condition against the facts of a boot."""
    if key == BEFORE:
        return _truth(_is_before(str(wanted), facts.get("boot.phase")))
    fact = facts.get(key)
    if fact is None:
        return _absent(key, wanted, facts)
    if wanted == "set":
        return Truth.TRUE
    if wanted == "unset":
        return Truth.FALSE
    choices = wanted if isinstance(wanted, tuple) else (wanted,)
    outcome = Truth.FALSE
    for choice in choices:
        truth = _matches(key, choice, fact)
        if truth is Truth.TRUE:
            return Truth.TRUE
        if truth is Truth.UNKNOWN:
            outcome = Truth.UNKNOWN
    return outcome


def _is_before(wanted: str, phase: Fact | None) -> bool:
    if phase is None or not phase.value:
        return True
    if str(phase.value) not in _PHASES or wanted not in _PHASES:
        return False
    return _PHASES.index(str(phase.value)) < _PHASES.index(wanted)


def _absent(key: str, wanted: Condition, facts: Facts) -> Truth:
    known_absent = key.startswith(_ABSENT_MEANS_NO)
    known_absent = known_absent or (key.startswith("args.") and "args" in facts)
    # `env` is set when a launch file or `docker inspect` told the whole environment.
    known_absent = known_absent or (key.startswith("env.") and "env" in facts)
    known_absent = known_absent or (key in _NVFP4_BACKENDS and _all_backends_told(facts))
    choices = wanted if isinstance(wanted, tuple) else (wanted,)
    # Of a machine and of vLLM `unset` asks for what is known of it, not for what it is.
    if key.startswith(("gpu.", "vllm.")) and "unset" in choices:
        return Truth.TRUE
    if not known_absent:
        return Truth.UNKNOWN
    return Truth.TRUE if "unset" in choices or False in choices else Truth.FALSE


def _all_backends_told(facts: Facts) -> bool:
    """Whether the model is loaded and its NVFP4 back ends were printed: layers of the other kind it has none then."""
    excerpt = facts.get("boot.excerpt")
    whole = excerpt is not None and excerpt.value is False
    return whole and "weights.gib" in facts and any(key in facts for key in _NVFP4_BACKENDS)


def _matches(key: str, wanted: ConditionValue, fact: Fact) -> Truth:
    values = fact.value if isinstance(fact.value, tuple) else (fact.value,)
    if isinstance(wanted, bool):
        return _truth(any(_as_bool(value) is wanted for value in values))
    if isinstance(wanted, (int, float)):
        return _truth(any(_as_number(value) == wanted for value in values))
    if wanted.startswith("~"):
        return _truth(any(re.search(wanted[1:], str(value), re.I) for value in values))
    if _OPERATOR.match(wanted):
        return _in_range(key, wanted, fact.value)
    return _truth(any(str(value).casefold() == wanted.casefold() for value in values))


def _in_range(key: str, wanted: str, value: FactValue) -> Truth:
    outcomes = []
    for part in wanted.split(","):
        found = _OPERATOR.match(part.strip())
        if found is None:
            return Truth.FALSE
        outcomes.append(_compare(key, found[1], found[2].strip(), value))
    return all_of(outcomes)


def _compare(key: str, operator: str, bound: str, value: FactValue) -> Truth:
    order: int | None
    if key == "vllm.version":
        return _truth_or_unknown(version_in(str(value), operator + bound))
    if key in _VERSION_KEYS:
        order = _compare_numbers(str(value), bound)
    else:
        number, limit = _as_number(value), _as_number(bound)
        if number is None or limit is None:
            if operator in ("==", "!="):
                return _truth((str(value).casefold() == bound.casefold()) is (operator == "=="))
            return Truth.UNKNOWN
        order = (number > limit) - (number < limit)
    if order is None:
        return Truth.UNKNOWN
    return _truth(
        {
            ">=": order >= 0,
            "<=": order <= 0,
            ">": order > 0,
            "<": order < 0,
            "==": order == 0,
            "!=": order != 0,
        }[operator]
    )


def version_in(version: str, allowed: str) -> bool | None:
    """Return whether a vLLM version lies in a PEP 440 range; None when it is no release that can be ordered."""
    parsed = parse_version(version)
    return parse_range(allowed).contains(parsed) if parsed else None


def _compare_numbers(left: str, right: str) -> int | None:
    """Order dotted numbers such as 12.1 or 2.9.1+cu130 by their numeric beginning."""
    heads = [re.match(r"[\d.]+", text) for text in (left, right)]
    keys = [tuple(int(part) for part in head[0].split(".") if part) for head in heads if head]
    if len(keys) < 2:
        return None
    width = max(map(len, keys))
    a, b = (key + (0,) * (width - len(key)) for key in keys)
    return (a > b) - (a < b)


def _truth_or_unknown(value: bool | None) -> Truth:
    return Truth.UNKNOWN if value is None else _truth(value)


def _truth(value: object) -> Truth:
    return Truth.TRUE if value else Truth.FALSE


def _as_bool(value: FactValue) -> bool | None:
    if isinstance(value, bool):
        return value
    text = str(value).casefold()
    if text in ("true", "1", "yes", "on"):
        return True
    return False if text in ("false", "0", "no", "off", "none") else None


def _as_number(value: FactValue) -> float | None:
    if isinstance(value, (bool, tuple)):
        return None
    try:
        return float(str(value).replace(",", "").replace("_", ""))
    except ValueError:
        return None


_KEY_WORDS = {
    "gpu.compute_capability": "the GPU's compute capability",
    "gpu.name": "the GPU",
    "vllm.version": "the vLLM version",
    "cuda.version": "the CUDA version",
    "torch.version": "the PyTorch version",
    "model.name": "the model",
    "model.moe": "MoE (experts in the model)",
    "model.multimodal": "multimodal input",
    "fp8.linear_backend": "a kernel for FP8 layers",
    "nvfp4.linear_backend": "a kernel for dense NVFP4 layers",
    "nvfp4.moe_backend": "a back end for NVFP4 experts",
    "gpu.count": "the number of GPUs",
    "budget.cause": "what the memory numbers say",
    "model.quantization": "the quantization",
    "container.gpu_in_use": "use of a GPU in the log",
}


def in_words(key: str, wanted: Condition) -> str:
    """Say a condition in plain words, e.g. `the GPU's compute capability is 12.0 or 12.1`."""
    if key == BEFORE:
        return f"the start has not come to {wanted}"
    subject = _KEY_WORDS.get(key)
    if subject is None:
        if key.startswith("env."):
            subject = f"the variable {key[4:]}"
        elif key.startswith("args."):
            subject = "--" + key[5:].replace("_", "-")
        else:
            subject = key
    choices = wanted if isinstance(wanted, tuple) else (wanted,)
    # A setting is set; what a log or a machine states is known.
    there = "set" if key.startswith(("env.", "args.")) else "known"
    return f"{subject} {' or '.join(_choice_words(choice, there) for choice in choices)}"


def _choice_words(wanted: ConditionValue, there: str) -> str:
    if wanted in ("set", "unset"):
        return f"is {'not ' if wanted == 'unset' else ''}{there}"
    if isinstance(wanted, bool):
        return f"is {'on' if wanted else 'off'}"
    text = str(wanted)
    if text.startswith("~"):
        return f"matches {text[1:]}"
    parts = [_OPERATOR.match(part.strip()) for part in text.split(",")]
    if all(parts):
        words = {">=": "is at least", "<=": "is at most", ">": "is above", "<": "is below", "==": "is", "!=": "is not"}
        return " and ".join(f"{words[part[1]]} {part[2]}" for part in parts if part)
    return f"is {text}"
