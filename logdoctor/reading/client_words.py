"""Take what a client chose out of the records in which a server that is up complains about a request.

Such a record begins with the server's own words and goes on with what came over the wire: a model's name, an answer
that no parser could read, a schema. In a log they look like any other error; no signature may see them.
"""

from __future__ import annotations

import re

from logdoctor.model import Record

_FILES = re.compile(
    r"(?:serving\w*|protocol|chat_utils|api_router|api_server|\w+_parser|preprocess|(?:input_)?processor)\.py$"
)
"""Modules of the API server that handle requests; versions without process prefixes are known by them."""
_HANDLER = "Exception in ASGI application"
_COMPLAINTS = frozenset({"WARNING", "ERROR", "CRITICAL"})
_BORDER = re.compile(r"[:.](?:\s|$)|['\"`{]|=")
"""Where the words of the program end and a value begins."""
_REPLY = re.compile(r"\bErrorInfo\(message=(?P<quote>['\"])")
_NAMED = re.compile(r"`[^`]*`|'[^']{40,}'|\"[^\"]{40,}\"")
"""What a reply names of the request: between backquotes, or too long for a word of the server's own."""
_QUOTING = frozenset({"jinja2.exceptions.TemplateError", "pydantic_core._pydantic_core.ValidationError"})
"""Exceptions that quote the request: what a template says of its messages, and what is wrong with its fields."""
_LEFT_OUT = "…"
_TRACEBACK = re.compile(r"[\s|+]*(?:Exception Group )?Traceback \(most recent call")
_SERVERS_FRAME = re.compile(r'[\s|]*File "[^"\n]*(?:-packages/|/vllm/|/lib/python)')


def is_about_a_request(record: Record) -> bool:
    """Whether a server that is up speaks of a request here: a complaint of the API server's, or a handler's traceback.

    In a start the same processes speak of the start; who asks must know that it is over.
    """
    if record.process.role in ("api", "frontend"):
        return record.level in _COMPLAINTS
    if record.process.role or record.level not in _COMPLAINTS:
        return False
    return _FILES.match(record.file) is not None or record.lines[0][1].startswith(_HANDLER)


def without_client_words(record: Record, before: Record | None = None) -> Record:
    """Return the record of a request with the client's words left out.

    They stand in its head behind the server's own words, and in the message of an exception that quotes the request.
    An empty line in a client's words looks like the end of the record: what comes from the same place in the same
    second as the complaint `before` goes on with it.
    """
    head = _head(record)
    if before is not None and _same_place(before, record):
        kept = [*((number, _LEFT_OUT) for number, _ in record.lines[:head]), *record.lines[head:]]
    else:
        kept = [*_without_values(record.lines[:head]), *record.lines[head:]]
    exception = record.exception
    if exception is not None and exception.line <= record.lines[head - 1][0]:
        exception = None
    elif exception is not None and exception.type in _QUOTING:
        place = next((i for i, (number, _) in enumerate(kept) if number == exception.line), len(kept) - 1)
        number = kept[place][0]
        kept[place:] = [
            (number, f"{exception.type}: {_LEFT_OUT}"),
            *((number, _LEFT_OUT) for number, _ in kept[place + 1 :]),
        ]
        exception = exception._replace(message=_LEFT_OUT)
    return record._replace(lines=tuple(kept), exception=exception)


def _same_place(one: Record, other: Record) -> bool:
    return bool(one.file) and (one.process, one.level, one.time, one.file, one.file_line) == (
        other.process,
        other.level,
        other.time,
        other.file,
        other.file_line,
    )


def _without_values(lines: tuple[tuple[int, str], ...]) -> list[tuple[int, str]]:
    """Return the lines of a head with what stands behind the words of the program left out."""
    number, first = lines[0]
    border, reply = _BORDER.search(first), _REPLY.search(first)
    text = first
    if border is not None:
        text = first[: border.end()].rstrip("'\"`{") + _LEFT_OUT
    if reply is not None:
        text = first[: reply.end()] + _NAMED.sub(_LEFT_OUT, first[reply.end() :])
    return [(number, text), *((number, _LEFT_OUT) for number, _ in lines[1:])]


def _head(record: Record) -> int:
    """Return how many lines come before the traceback that Python added; all of them where there is none.

    A traceback within the client's words has no frame of the server's before it ends.
    """
    for place in range(1, len(record.lines)):
        if _TRACEBACK.match(record.lines[place][1]):
            frames = record.lines[place + 1 : place + 4]
            if any(_SERVERS_FRAME.match(text) for _, text in frames):
                return place
    return len(record.lines)
