"""What argparse refuses of a value whatever the release: no JSON, no number, a switch with a value, no value at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from logdoctor.knowledge.tables import Kind, record_of
from logdoctor.launch.command import LaunchCommand
from logdoctor.launch.flags import Arguments, Use, is_switch

_WHOLE = frozenset(
    [
        *("--max-num-seqs", "--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size", "--port"),
        *("--block-size", "--seed", "--max-loras", "--nnodes", "--node-rank", "--api-server-count"),
    ]
)
_COUNTS = frozenset({"--max-model-len", "--max-num-batched-tokens"})
_SHARES = frozenset({"--gpu-memory-utilization", "--cpu-offload-gb"})
_NUMBERS = (
    (_WHOLE, re.compile(r"[Nn]one|[+-]?\d[\d_]*")),
    (_COUNTS, re.compile(r"auto|[+-]?\d[\d_]*(?:\.\d+)?[kKmMgGtT]?")),
    (_SHARES, re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")),
)
_CUT = re.compile(r"(a blank or a comment after a backslash|the command ends before --)")

Stated = tuple[str, str, int]
"""Key and value of a fact, and the place of the word."""


def mistakes(launch: LaunchCommand, arguments: Arguments) -> Iterator[Stated]:
    """Yield the first mistake of each kind."""
    for use in arguments.uses:
        at = launch.argv[use.first].start
        if record_of(Kind.FLAG, use.name) is None or use.nested or not use.known:
            continue
        if use.value is not None and is_switch(use.name):
            yield "launch.switch_value", f"{use.spelled}={use.value}", at
            off = use.value.strip().casefold() in ("false", "0", "no", "off")
            yield "launch.switch_plain", f"no-{use.name[2:]}" if off is not use.negated else use.name[2:], at
        elif use.value is None and not is_switch(use.name) and _takes_number(use.name):
            yield "launch.no_value", use.spelled, at
        elif use.value is not None and _is_no_json(use):
            yield "launch.no_json", f"{use.spelled} {use.value}"[:200], at
        elif use.value is not None and _is_no_number(use):
            yield "launch.no_number", f"{use.spelled} {use.value}"[:200], at
    cut = next((note for note in launch.unknown if _CUT.match(note)), "")
    if cut:
        yield "launch.cut_off", cut, launch.statement[-1].start if launch.statement else -1


def _takes_number(name: str) -> bool:
    return any(name in names for names, _ in _NUMBERS)


def _is_no_number(use: Use) -> bool:
    form = next((form for names, form in _NUMBERS if use.name in names), None)
    text = (use.value or "").strip()
    if use.name == "--gpu-memory-utilization":
        # `0,9` is told as no share; here it would be told twice.
        text = text.replace(",", "")
    return form is not None and form.fullmatch(text) is None


def _is_no_json(use: Use) -> bool:
    """Only what begins as a mapping is meant as one."""
    text = (use.value or "").strip()
    if not text.startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False
