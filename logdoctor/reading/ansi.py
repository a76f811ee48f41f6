"""Colour and cursor codes, also those that lost their escape character on the way."""

from __future__ import annotations

import re

# CSI, OSC and two-character sequences; never past a line end.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
# What is left of a colour after copying from a web page (`[0;36m`) or through rsyslog (`#033[0m`). An escape that is
# only spelled out belongs to quoted text or to JSON, which is undone first.
_REMAINS = re.compile(
    r"(?<!u001b)(?<!u001B)(?<!x1b)(?<!\\033)(?:#033|\^\[|\N{SYMBOL FOR ESCAPE})?\[[0-9]{1,3}(?:;[0-9]{1,3}){0,3}m"
)


def strip_colour(text: str) -> str:
    """The text without terminal codes; works on one line or on many."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "0m" in text and ("[0m" in text or ";0m" in text):
        text = _REMAINS.sub("", text)
    return text
