"""Reading: from the bytes of a log to the records of its boots. Knows vLLM's shapes, nothing of its problems.

open_runs ─▶ runs of bytes ─ read_lines ─▶ lines without envelopes ─ read_records ─▶ (boot, record)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logdoctor.model import Line, Record
from logdoctor.reading.boots import cut_boots
from logdoctor.reading.errors import InputError
from logdoctor.reading.lines import read_lines
from logdoctor.reading.recognition import looks_like_vllm
from logdoctor.reading.records import group
from logdoctor.reading.sources import InputRuns, open_runs

__all__ = ["InputError", "InputRuns", "looks_like_vllm", "open_runs", "read_lines", "read_records", "read_text"]


def read_records(lines: Iterable[Line]) -> Iterator[tuple[int, Record]]:
    """The records of a log with the number of their boot, from 1; all of a boot before any of the next."""
    return cut_boots(group(lines))


def read_text(text: str) -> Iterator[tuple[int, Record]]:
    """The records of a log that is already in memory (an example, a pasted excerpt)."""
    from logdoctor.model import Run

    return read_records(read_lines([Run(1, text.encode("utf-8", "replace"))] if text else []))
