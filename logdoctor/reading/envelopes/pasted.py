"""What people's hands do to a log: Markdown, e-mail quoting, indentation, PowerShell's error records."""

from __future__ import annotations

import re

from logdoctor.reading.envelopes.base import Envelope, Peeled


class Quote(Envelope):
    """`> text`, as in an answered e-mail or a Markdown quotation."""

    name = "quote"

    def peel(self, line: str) -> Peeled | None:
        if line.startswith("> "):
            return Peeled(line[2:])
        if line.startswith("&gt; "):
            return Peeled(line[5:])
        if line.rstrip("\r") in (">", "&gt;"):
            return Peeled("")
        return None


class Fence(Envelope):
    """Markdown and HTML around a pasted log: fences and folds. Lines outside the fences stay as they are."""

    name = "fence"
    _line = re.compile(r"(?:`{3,}[^`]*|~{3,}[\w-]*|</?(?:details|summary|pre|code)>.*)\r*$")

    def peel(self, line: str) -> Peeled | None:
        if line[:1] in "`~<" and self._line.match(line):
            return Peeled("", noise=True)
        return None


class PowerShell(Envelope):
    """Windows PowerShell wraps what a program first wrote to stderr: `docker : text`, then lines about the command."""

    name = "powershell"
    _program = re.compile(r"(?:docker|docker-compose|podman|kubectl|nerdctl|wsl|vllm)(?:\.exe)? : (?=\S)")
    _place = re.compile(r"At (?:line|.{1,300}\.ps1):\d+ char:\d+\r*$")
    _noise = re.compile(r"(?:\+ .*|\s+\+ (?:CategoryInfo|FullyQualifiedErrorId)\s*: .*|\s*)$")

    def __init__(self) -> None:
        self._left = 0

    @property
    def busy(self) -> bool:
        """Whether lines about the command may follow."""
        return self._left > 0

    def peel(self, line: str) -> Peeled | None:
        if self._left:
            self._left -= 1
            if self._noise.match(line):
                return Peeled("", noise=True)
            self._left = 0
        match = self._program.match(line)
        if match:
            return Peeled(line[match.end() :])
        if self._place.match(line):
            self._left = 6
            return Peeled("", noise=True)
        return None


class Indent(Envelope):
    """The same number of blanks before every line, from a terminal or from Markdown's indented code."""

    name = "indent"
    weak = True
    _line = re.compile(r"[ \t]{1,40}(?=\S)")

    def __init__(self) -> None:
        self._blanks = ""

    def peel(self, line: str) -> Peeled | None:
        if not self._blanks:
            match = self._line.match(line)
            if not match:
                return None
            self._blanks = match[0]
        if line.startswith(self._blanks):
            return Peeled(line[len(self._blanks) :])
        return Peeled("") if not line.strip() else None
