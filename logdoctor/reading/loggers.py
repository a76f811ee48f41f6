"""Heads of the other loggers in vLLM's stream, as a table; a new one is a line here."""

from __future__ import annotations

import re

_LEVELS = r"DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE|SUCCESS"
_DATE = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_SHORT = {
    "D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "F": "CRITICAL", "C": "CRITICAL",
    "WARN": "WARNING", "FATAL": "CRITICAL", "TRACE": "DEBUG", "NOTICE": "INFO", "SUCCESS": "INFO", "VERSION": "INFO",
}  # fmt: skip


def level_of(word: str) -> str:
    """One of the five levels of Python's logging for a logger's own word."""
    word = word.upper()
    return _SHORT.get(word, word if word in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL") else "")


OTHER_LOGGERS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    # uvicorn: `INFO:     Started server process [1]`
    ("DIWECT", ": ", re.compile(r"(?P<level>TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL):\s{1,6}(?=\S)")),
    # Python's logging without a format: `WARNING:root:text`
    ("DIWEC", ":", re.compile(r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]{1,100}:")),
    # PyTorch C++: `[W1130 09:00:00.123456789 utils.cpp:68] Warning: text`
    (
        "[",
        "] ",
        re.compile(
            r"\[(?P<level>[IWEF])(?P<time>\d{4} \d\d:\d\d:\d\d\.\d{3,9}) (?P<file>[\w./+-]{1,200}):(?P<line>\d+)\] ?"
        ),
    ),
    # PyTorch Python: `W1130 09:33:41.579000 9189 torch/utils/cpp_extension.py:118] text`
    (
        "IWEF",
        "] ",
        re.compile(
            r"(?P<level>[IWEF])(?P<time>\d{4} \d\d:\d\d:\d\d\.\d{3,9})\s+(?:(?P<pid>\d+)\s+)?"
            r"(?P<file>[\w./+-]{1,200}):(?P<line>\d+)\] ?"
        ),
    ),
    # NCCL: `host:pid:tid [0] NCCL INFO text`, `[date] host:pid:tid [0] file.cc:12 NCCL WARN text`
    (
        "",
        " NCCL ",
        re.compile(
            rf"(?:\[?(?P<time>{_DATE})\]? )?(?P<host>[\w.-]{{1,200}}):(?P<pid>\d+):\d+ \[(?P<rank>-?\d+)\] "
            r"(?:(?P<file>[\w./]{1,100}):(?P<line>\d+) )?NCCL (?P<level>INFO|WARN|TRACE|VERSION|ERROR) ?"
        ),
    ),
    # Python's warnings: `/path/file.py:123: FutureWarning: text`
    (
        "",
        "Warning: ",
        re.compile(r"(?P<file>[^\s:'\"][^:\n'\"]{0,300}|sys|<[^>\n]{1,100}>):(?P<line>\d+): (?P<kind>\w*Warning): "),
    ),
    # Ray's C++ side: `[2026-11-30 09:22:01,123 E 35338 35338] core_worker.cc:215: text`
    (
        "[",
        "] ",
        re.compile(
            rf"\[(?P<time>{_DATE}) (?P<level>[DIWEFC]) (?P<pid>\d+) \d+\] (?:\(\w{{1,40}}\) )?"
            r"(?P<file>[\w./]{1,200}):(?P<line>\d+): ?"
        ),
    ),
    # Ray: `2026-11-30 09:22:01,123\tINFO worker.py:1843 -- text`; FlashInfer: `DATE - INFO - autotuner.py:256 - text`;
    # loguru: `DATE | INFO     | module:function:12 - text`; logging's usual `DATE - name - LEVEL - text`
    (
        "0123456789[",
        "",
        re.compile(
            rf"\[?(?P<time>{_DATE})\]?(?:\s*[-|:,]\s*|\s+)(?:\[?[\w.]{{1,100}}\]?\s*[-|:]\s*|\[[\w.]{{1,100}}\]\s*)??"
            rf"\[?(?P<level>{_LEVELS})\]?(?=[\s:\]|-])\s*(?:[-|:]+\s*)?"
            r"(?:(?P<file>[\w./<>-]{1,200}(?::[\w<>]{1,100})?):(?P<line>\d+)\]?\s*(?:--|[-|:])?\s*)?"
        ),
    ),
)
"""First characters, a text that must occur, and the head; groups: level, time, file, line, pid, rank, host, kind."""
