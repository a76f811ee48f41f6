"""Remedies that do not fight: over all findings of a boot, no two of them pull at one knob in different directions.

What helps the root cause stands. A lesser finding may not advise against it; where that leaves it without any fix of
its own, it says why instead of falling silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from logdoctor.diagnosis.remedies import FLAG
from logdoctor.model import Finding, Remedy, Role, Severity

Conflicts = Callable[[Remedy], tuple[str, ...]]
"""The flags and variables that an entry says its remedy does not go together with."""

_KNOBS: tuple[tuple[str, ...], ...] = (
    ("--gpu-memory-utilization", "--kv-cache-memory-bytes"),
    ("--enforce-eager", "--compilation-config", "--max-cudagraph-capture-size", "--cudagraph-capture-sizes"),
    ("--linear-backend", "VLLM_NVFP4_GEMM_BACKEND", "VLLM_USE_FBGEMM"),
    (
        "--moe-backend",
        "VLLM_USE_FLASHINFER_MOE_FP4",
        "VLLM_USE_FLASHINFER_MOE_FP8",
        "VLLM_USE_FLASHINFER_MOE_FP16",
        "VLLM_FLASHINFER_MOE_BACKEND",
        "VLLM_MXFP4_USE_MARLIN",
    ),
    ("--attention-backend", "VLLM_ATTENTION_BACKEND"),
    ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"),
)
"""Different names that turn one knob: advice about two of them from two findings can contradict."""
_IMAGE = "image"


def settle(findings: Iterable[Finding], conflicts: Conflicts = lambda remedy: ()) -> tuple[Finding, ...]:
    """Take away from later findings the remedies that repeat or fight one of an earlier finding.

    The findings come in the order of the report, the root cause first. Several root causes between which the log does
    not decide keep their own remedies each: only one of them will be followed.
    """
    settled: list[Finding] = []
    touched: dict[str, str] = {}
    named: dict[str, str] = {}
    for finding in findings:
        if finding.role is Role.CONSEQUENCE:
            # What to do about a consequence is to mend its cause.
            settled.append(replace(finding, remedies=()))
            continue
        earlier = {} if finding.role is Role.ROOT_CAUSE else touched
        spoken = {} if finding.role is Role.ROOT_CAUSE else named
        kept = tuple(r for r in finding.remedies if not _fights(r, earlier, spoken, conflicts))
        for remedy in kept:
            for name in (*_knobs(remedy), *conflicts(remedy)):
                touched.setdefault(name, finding.id)
            for name in (*targets(remedy), *conflicts(remedy)):
                named.setdefault(name, finding.id)
        settled.append(replace(finding, remedies=kept or tuple(_stands_back(finding, earlier, conflicts))))
    return tuple(settled)


def targets(remedy: Remedy) -> tuple[str, ...]:
    """Return the flags and variables that a remedy sets or removes."""
    if remedy.kind not in ("flag", "env", "remove"):
        return ()
    flags = [flag.replace("--no-", "--", 1) for flag, _ in FLAG.findall(remedy.command)]
    names = re.findall(r"\b([A-Z][A-Z0-9_]{3,})\b", remedy.command) if not flags else []
    return tuple(dict.fromkeys((*flags, *names)))


def _knobs(remedy: Remedy) -> tuple[str, ...]:
    """Return the names a remedy touches, each with the others that turn the same knob; two images are one knob."""
    if remedy.kind == "image" and not remedy.command.startswith("RUN "):
        return (_IMAGE,)
    names = targets(remedy)
    return tuple(dict.fromkeys((*names, *(name for knob in _KNOBS if set(knob) & set(names) for name in knob))))


def _fights(remedy: Remedy, touched: Mapping[str, str], named: Mapping[str, str], conflicts: Conflicts) -> bool:
    if remedy.kind == "remove":
        # What is taken away makes room for its successor; only advice about the very same name is at odds with it.
        return any(name in named for name in (*targets(remedy), *conflicts(remedy)))
    return any(name in touched for name in (*_knobs(remedy), *conflicts(remedy)))


def _stands_back(finding: Finding, touched: Mapping[str, str], conflicts: Conflicts) -> Iterator[Remedy]:
    """Say for a finding that lost all its remedies to another one's which comes first."""
    if finding.severity is Severity.INFO or not finding.remedies:
        return
    lost = finding.remedies[0]
    other = next((touched[name] for name in (*_knobs(lost), *conflicts(lost)) if name in touched), "")
    yield Remedy(
        f"First apply the fix of {other}, which turns the same knob; then look whether this is still there",
        "advice",
        finding=finding.id,
    )
