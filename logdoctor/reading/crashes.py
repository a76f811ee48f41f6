"""Deaths that are no Python traceback: the Rust front end's list of causes, C++ `terminate`, the fault handler."""

from __future__ import annotations

import re

from logdoctor.model import ExceptionInfo, Frame
from logdoctor.reading.tracebacks import FOREIGN, TAILS
from logdoctor.wording import beginning

CAUSES = "Caused by these errors"
_TERMINATE = re.compile(r"terminate called after throwing an instance of '([^'\n]{1,200})'")
_WHAT = re.compile(r"\s+what\(\):\s+(.*)", re.S)
_FATAL = "Fatal Python error: "
_FRAME = re.compile(r'\s+File "([^"\n]{1,1000})", line (\d{1,9}),? in (.+)')
_THREAD = ("Current thread 0x", "Thread 0x", "Extension modules:", "<no Python frame>", "!!!!!!!")
_CAUSE = re.compile(r"\s+(\d{1,4}): (.*)", re.S)
_RUST = re.compile(r"(?:process failed with error|[Ee]rror): (.*)", re.S)
_MAX_LINES, _MAX_FRAMES, _MAX_TEXT = 40, 120, 4000


def begins_crash(text: str) -> bool:
    """Whether a bare line is the first of a native crash."""
    return text.startswith((_FATAL, "terminate called after throwing"))


class NativeCrash:
    """`terminate called …` with what(), or `Fatal Python error: …` with the frames of the current thread."""

    def __init__(self) -> None:
        self._type = ""
        self._message: list[str] = []
        self._line = 0
        self._frames: list[Frame] = []
        self._threads = 0

    def accepts(self, text: str, *, gap: bool = False, named: bool = True) -> bool:
        """Whether a bare line belongs to the crash."""
        if gap:
            return False
        if not text.strip() or text[0] in " \t" or text.startswith((*TAILS, *_THREAD)):
            return True
        return not self._threads and named and not FOREIGN.match(text)

    def feed(self, number: int, text: str) -> None:
        """Take the next line."""
        if not self._type:
            match = _TERMINATE.match(text)
            if match:
                self._type, self._line = match[1], number
            elif text.startswith(_FATAL):
                self._type, self._line = _FATAL.rstrip(": "), number
                self._message.append(beginning(text[len(_FATAL) :], _MAX_TEXT))
        elif text.startswith(_THREAD):
            self._threads += 1
        elif match := _FRAME.match(text):
            if self._threads <= 1 and len(self._frames) < _MAX_FRAMES:
                self._frames.append(Frame(match[1], int(match[2]), match[3].strip()[:200]))
        elif match := _WHAT.match(text):
            self._message.append(beginning(match[1], _MAX_TEXT))
        elif len(self._message) < _MAX_LINES:
            self._message.append(beginning(text, _MAX_TEXT))

    def result(self) -> ExceptionInfo | None:
        """The crash as an exception; the fault handler prints the innermost frame first."""
        if not self._type:
            return None
        return ExceptionInfo(self._type, "\n".join(self._message).strip(), self._line, tuple(reversed(self._frames)))


class RustError:
    """An error of the Rust front end: a headline, then `Caused by these errors` with a numbered list."""

    def __init__(self, number: int, headline: str) -> None:
        match = _RUST.match(headline)
        self._head = ExceptionInfo("Error", beginning(match[1] if match else headline, _MAX_TEXT), number)
        self._causes: list[ExceptionInfo] = []
        self._listed = False

    def accepts(self, text: str, *, gap: bool = False, named: bool = True) -> bool:
        """Whether a bare line belongs to the list of causes."""
        if gap:
            return False
        return not text.strip() or text.startswith(CAUSES) or (self._listed and text[0] in " \t")

    def feed(self, number: int, text: str) -> None:
        """Take the next line."""
        match = _CAUSE.match(text)
        if text.startswith(CAUSES):
            self._listed = True
        elif match and len(self._causes) < _MAX_LINES:
            self._causes.append(ExceptionInfo("Error", beginning(match[2], _MAX_TEXT), number))
        elif self._causes and text.strip():
            last = self._causes[-1]
            if len(last.message) < _MAX_TEXT:
                self._causes[-1] = last._replace(message=f"{last.message}\n{text.strip()}")

    def result(self) -> ExceptionInfo | None:
        """The headline with the listed errors as its chain: numbered from the outside in, the last is the cause."""
        if not self._causes:
            return None
        cause: ExceptionInfo | None = None
        for listed in reversed(self._causes):
            cause = listed._replace(cause=cause)
        return self._head._replace(cause=cause)
