"""Records of other programs in the same stream: side-cars, clients, scripts, and the answers that they print.

A container's log is everybody's. vLLM's own exceptions come with a traceback through its code, or from a process that
says its name; what does neither, once vLLM has spoken, is somebody else's trouble.
"""

from __future__ import annotations

import re

from logdoctor.model import Record
from logdoctor.reading.recognition import passes_through

_LONE = re.compile(r"\s*(?:[\w-]+: )?(?:[A-Za-z_][\w.]{0,100}\.)?[A-Z]\w{0,80}(?:Error|Exception)\b: ")
_ANSWER = re.compile(r'"choices": ?\[|"object": ?"(?:chat\.completion|text_completion|response)|"content": ?"')
_SHELL = re.compile(
    r"\S{1,200}: line \d+: +\d+ (?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction)"
    r"(?: +\(core dumped\))? +(?P<command>\S.*)"
)
_OURS = re.compile(r"vllm|python|ray|uvicorn|serve", re.IGNORECASE)


def is_strangers(record: Record, *, begun: bool, up: bool) -> bool:
    """Whether a bare record is another program's.

    `begun`: vLLM has spoken before; `up`: its server answers. Before that a script that starts it may fail in any way.
    """
    if record.process.role or record.level:
        return False
    first = record.lines[0][1]
    named = _SHELL.match(first)
    if named is not None and not _OURS.search(named["command"]):
        return True
    if record.exception is not None and record.exception.frames:
        # The command's own file, /usr/local/bin/vllm, is a part of it too.
        return begun and not passes_through(record.exception, "vllm")
    return up and any(_LONE.match(text) for _, text in record.lines)


def is_an_answer(record: Record) -> bool:
    """Whether a bare record is a response of the server that somebody printed: JSON with a model's words in it."""
    first = record.lines[0][1]
    return not record.level and first.lstrip().startswith("{") and _ANSWER.search(first) is not None
