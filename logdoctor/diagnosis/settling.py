"""Remedies that do not fight: over all findings of a boot, no two of them pull at one knob in different directions.

What helps the root cause stands, and what helps an error before a warning. A lesser finding may not advise against it;
where that leaves it without any fix of its own, it says why instead of falling silent. Between findings of one weight
nothing decides: there both ways are told as a choice, each with its price.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

from logdoctor.diagnosis.prices import price, sized
from logdoctor.diagnosis.remedies import FLAG
from logdoctor.model import Facts, Finding, Remedy, Role, Severity
from logdoctor.wording import Worded, joined, own

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
_DEFAULTS = {"--gpu-memory-utilization": 0.9, "--tensor-parallel-size": 1, "--pipeline-parallel-size": 1}
"""Where a knob stands that nobody turned; what is not here is only ever lowered."""
_IMAGE = "image"
_VERBS = {"flag": "add", "env": "set", "remove": "remove", "image": "image"}
_JOINED = re.compile(r"(?:Or|Otherwise|And|Then),? (?=\S)")
"""How a remedy goes on from the one before it."""


def settle(
    findings: Iterable[Finding], conflicts: Conflicts = lambda remedy: (), facts: Facts | None = None
) -> tuple[Finding, ...]:
    """Take away from later findings the remedies that repeat or fight one of an earlier finding.

    The findings come in the order of the report, the root cause first. Several root causes between which the log does
    not decide keep their own remedies each: only one of them will be followed.
    """
    settled = [_Settled(finding, []) for finding in findings]
    for place, one in enumerate(settled):
        # What to do about a consequence is to mend its cause.
        if one.finding.role is not Role.CONSEQUENCE:
            earlier = [] if one.finding.role is Role.ROOT_CAUSE else settled[:place]
            _choose(one, earlier, conflicts, facts or {})
    return tuple(replace(one.finding, remedies=_begun(one.kept)) for one in settled)


@dataclass(slots=True)
class _Settled:
    """A finding with the remedies that it keeps."""

    finding: Finding
    kept: list[Remedy]


def _choose(one: _Settled, earlier: list[_Settled], conflicts: Conflicts, facts: Facts) -> None:
    """Keep the remedies of a finding that go together with those of earlier ones, or make a choice of both."""
    lost: list[tuple[Remedy, Finding]] = []
    for remedy in one.finding.remedies:
        first, place = next(_against(remedy, earlier, conflicts), (one, -1))
        if place < 0:
            one.kept.append(remedy)
            continue
        rival = first.kept[place]
        if _outweighs(first.finding, one.finding) or _same_way(remedy, rival, facts):
            lost.append((remedy, first.finding))
        else:
            one.kept.append(_as_choice(remedy, rival, first.finding))
            if not rival.condition:
                first.kept[place] = _as_choice(rival, remedy, one.finding)
    if not one.kept:
        one.kept.extend(_stands_back(one.finding, lost))


def _outweighs(other: Finding, finding: Finding) -> bool:
    """Whether the facts settle it: what keeps the server from running comes first, and a note never decides."""
    serious = Severity.ERROR.rank
    if other.role is Role.ROOT_CAUSE or finding.severity is Severity.INFO:
        return True
    return other.severity.rank >= serious > finding.severity.rank


def _same_way(remedy: Remedy, rival: Remedy, facts: Facts) -> bool:
    """Whether two remedies turn a knob in one direction, seen from where it stands."""
    if remedy.kind == rival.kind and (remedy.command == rival.command or remedy.kind == "remove"):
        return True
    mine, theirs = sized(remedy), sized(rival)
    if remedy.kind != rival.kind or mine is None or theirs is None or mine[0] != theirs[0]:
        return False
    stated = facts.get("args." + mine[0][2:].replace("-", "_"))
    value = stated.value if stated is not None else None
    now = float(value) if isinstance(value, (int, float)) else _DEFAULTS.get(mine[0], inf)
    return (mine[1] > now) is (theirs[1] > now)


def _as_choice(remedy: Remedy, rival: Remedy, finding: Finding) -> Remedy:
    """Say of a remedy what it stands against and what it costs; nothing of a choice is applied unasked."""
    cost = price(remedy, rival)
    against = f"only as a choice against {_VERBS.get(rival.kind, '')} {rival.command} of {finding.id}".replace(
        "  ", " "
    )
    words = "; ".join(part for part in (remedy.condition, against, f"its price: {cost}" if cost else "") if part)
    return replace(remedy, condition=words)


def _begun(remedies: list[Remedy]) -> tuple[Remedy, ...]:
    """Let the first remedy not begin with the word that joined it to one that is gone."""
    if not remedies:
        return ()
    first, summary = remedies[0], remedies[0].summary
    found = _JOINED.match(summary)
    if found is None or found.end() >= len(summary):
        return tuple(remedies)
    end = found.end()
    rest = summary.stretch(end + 1, len(summary)) if isinstance(summary, Worded) else summary[end + 1 :]
    begun = joined(own(summary[end].upper()), rest) if isinstance(summary, Worded) else summary[end].upper() + rest
    return (replace(first, summary=begun), *remedies[1:])


def targets(remedy: Remedy) -> tuple[str, ...]:
    """Return the flags and variables that a remedy sets or removes."""
    return _targets(remedy.kind, str(remedy.command))


@lru_cache(4096)
def _targets(kind: str, command: str) -> tuple[str, ...]:
    if kind not in ("flag", "env", "remove"):
        return ()
    flags = [flag.replace("--no-", "--", 1) for flag, _ in FLAG.findall(command)]
    names = re.findall(r"\b([A-Z][A-Z0-9_]{3,})\b", command) if not flags else []
    return tuple(dict.fromkeys((*flags, *names)))


@lru_cache(4096)
def _knobs(kind: str, command: str) -> frozenset[str]:
    """Return the names a remedy touches, each with the others that turn the same knob; two images are one knob."""
    if kind == "image" and not command.startswith("RUN "):
        return frozenset((_IMAGE,))
    names = _targets(kind, command)
    return frozenset((*names, *(name for knob in _KNOBS if set(knob) & set(names) for name in knob)))


def _against(remedy: Remedy, earlier: list[_Settled], conflicts: Conflicts) -> Iterator[tuple[_Settled, int]]:
    """Yield the kept remedies that turn a knob of this one, or that an entry says it does not go with."""
    kind, command, unwanted = remedy.kind, str(remedy.command), conflicts(remedy)
    # What is taken away makes room for its successor; only advice about the very same name is at odds with it.
    turned = _targets if kind == "remove" else _knobs
    mine = {*turned(kind, command), *unwanted}
    for other in earlier:
        for place, kept in enumerate(other.kept):
            theirs = turned(kept.kind, str(kept.command))
            if not mine.isdisjoint(theirs) or not mine.isdisjoint(conflicts(kept)):
                yield other, place


def _stands_back(finding: Finding, lost: list[tuple[Remedy, Finding]]) -> Iterator[Remedy]:
    """Say for a finding that lost all its remedies to another one's which comes first."""
    if finding.severity is Severity.INFO or not lost:
        return
    other = lost[0][1]
    yield Remedy(
        f"First apply the fix of {other.id}, which turns the same knob; then look whether this is still there",
        "advice",
        finding=finding.id,
    )
