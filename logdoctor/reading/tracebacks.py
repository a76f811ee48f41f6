"""Read Python tracebacks line by line: frames, the final `Type: message`, chains and groups."""

from __future__ import annotations

import re
from enum import Enum

from logdoctor.model import ExceptionInfo, Frame
from logdoctor.wording import beginning

HEAD = "Traceback (most recent call last):"
_CONNECTORS = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
_FRAME = re.compile(r'\s*File "([^"\n]{1,1000})", line (\d{1,9})(?:, in (.+))?')
_FINAL = re.compile(r"([A-Za-z_][\w.]{0,200}(?:\.<locals>\.[\w.]{1,100})?)(?:: ?(.*))?$", re.S)
_ERROR_WORD = re.compile(
    r"(?:Error|Exception|Exit|Interrupt|Fail(?:ed|ure)|Abort(?:ed)?|Timeout|Died|Death|Group|Cancelled)$"
)
_GROUP_MARK = re.compile(r"\s*(?:\| ?|\+ )")
_GROUP_RULE = re.compile(r"\s*\+[-+]{3,}(?: (?:\d+|\.\.\.) -+)?\s*$")

_MAX_FRAMES_HEAD, _MAX_FRAMES_TAIL = 40, 80
_MAX_CHAIN = 16
_MAX_MESSAGE_LINES, _MAX_MESSAGE_LINE, _MAX_MESSAGE = 80, 4000, 16_000
_FREE_LINES = 40

# Unindented lines that PyTorch and the C++ runtime put behind the first line of an error.
TAILS = (
    "Search for `cuda", "CUDA kernel errors might", "HIP kernel errors might", "For debugging consider",
    "Compile with `TORCH", "Device-side assert", "Exception raised from ", "frame #", "C++ CapturedTraceback",
    "what(): ", "Set TORCHDYNAMO_VERBOSE", "You can suppress this", "For more information",
)  # fmt: skip
# Lines that are surely not the rest of a message, whoever wrote them.
FOREIGN = re.compile(
    r"(?:\[|Process \S{1,80}:\s*$|nanobind: |Exception ignored in|sys:1: |Killed\b|Aborted\b|Segmentation fault"
    r"|terminate called|Fatal Python error: |\S{1,200} exited with code|usage: |=+$|== |\*{5,}"
    r"|Loading |Capturing |Started |\S{1,64}@\S{1,64}[:~ ].{0,200}?[$#]|\S{1,80}: error: "
    r"|Traceback \(most|\S{1,80}\.sh: )"
)


class State(Enum):
    """Where in a traceback the reader is."""

    NONE = "nothing yet"
    STACK = "between the head and the final line"
    MESSAGE = "in the message of the exception"
    CHAIN = "behind a connector, before the next traceback"


def begins_traceback(text: str) -> bool:
    """Whether a line begins a traceback, or is a frame from the middle of one."""
    return HEAD in text or (text.startswith("  File ") and _FRAME.match(text) is not None)


def error_line(text: str) -> bool:
    """Whether a line reads `SomeError: message` all by itself."""
    match = _FINAL.match(text)
    return bool(match and match[2] and _ERROR_WORD.search(match[1]))


class TracebackReader:
    """Fed with the lines of one record in order; `result` is the outermost exception with its chain of causes."""

    def __init__(self) -> None:
        self.state = State.NONE
        self._indent = 0
        self._finished: ExceptionInfo | None = None
        self._depth = 0
        self._in_group = False
        self._outer: ExceptionInfo | None = None
        self._members: list[ExceptionInfo] = []
        self._free, self._room = 0, _MAX_MESSAGE
        self._clear()

    def _clear(self) -> None:
        self._frames: list[Frame] = []
        self._tail: list[Frame] = []
        self._type = ""
        self._message: list[str] = []
        self._line = 0

    @property
    def half_read(self) -> bool:
        """Whether the final line has not come yet."""
        return self.state in (State.STACK, State.CHAIN)

    # -- what may come next ----------------------------------------------------------------------------------------

    def accepts(self, text: str, *, gap: bool = False, named: bool = True) -> bool:
        """Whether a line without a head of its own goes on here.

        `gap`: lines are missing before it, so only what clearly belongs counts. `named`: the line has a process
        prefix, so the same process wrote it.
        """
        if not text.strip():
            return not gap
        if self._in_group and text.lstrip()[0] in "|+":
            return True
        if self.state is State.STACK:
            return self._stack_accepts(text, gap=gap)
        if self.state is State.CHAIN:
            return text.startswith(HEAD) or (not gap and not FOREIGN.match(text))
        if self.state is State.NONE:
            return False
        return self._message_accepts(text, gap=gap, named=named)

    def _stack_accepts(self, text: str, *, gap: bool) -> bool:
        inner = self._inner(text)
        if inner[0] in " \t":
            return True
        if inner.startswith(HEAD) or FOREIGN.match(inner):
            return False
        match = _FINAL.match(inner)
        return bool(match and (not gap or _ERROR_WORD.search(match[1])))

    def _message_accepts(self, text: str, *, gap: bool, named: bool) -> bool:
        if text.startswith(_CONNECTORS):
            return True
        if gap:
            return bool(_FRAME.match(text))
        if text[0] in " \t" or text.startswith(TAILS):
            return True
        last = self._message[-1].rstrip() if self._message else ""
        if text.startswith(HEAD) or text.startswith('"""'):
            return '"""' in self._message  # a traceback of another process, quoted as the message
        if FOREIGN.match(text):
            return False
        return self._free < _FREE_LINES and (named or bool(last))

    def _inner(self, text: str) -> str:
        return text[self._indent :] if not text[: self._indent].strip() and len(text) > self._indent else text

    # -- reading ---------------------------------------------------------------------------------------------------

    def feed(self, number: int, text: str) -> None:
        """Take the next line of the record."""
        if self._in_group or "+ Exception Group " in text:
            inside = self._ungroup(text)
            if inside is None:
                return
            text = inside
        stripped = text.strip()
        if stripped == HEAD or stripped.endswith(" " + HEAD):
            self._open(len(text) - len(text.lstrip()))
        elif self.state is State.STACK:
            self._stack_line(number, text)
        elif stripped.startswith(_CONNECTORS):
            self._finish()
            self.state = State.CHAIN
        elif self.state is State.MESSAGE:
            if len(self._message) < _MAX_MESSAGE_LINES and self._room > 0:
                self._message.append(text[: min(_MAX_MESSAGE_LINE, self._room)])
                self._room -= len(text)
            self._free += text[:1] not in ("", " ", "\t")
        elif self.state is State.CHAIN:
            if stripped:
                self._final(number, text)
        elif match := _FRAME.match(text):
            self._open(0)
            self._frame(match)
        elif error_line(text):
            self._final(number, text)

    def _ungroup(self, text: str) -> str | None:
        """The line without the marks of an exception group, or None when it holds nothing else."""
        self._in_group = True
        if _GROUP_RULE.match(text):
            info = self._plain()
            if info is not None and self._outer is None:
                self._outer = info
            elif info is not None:
                self._members.append(info)
            self._clear()
            self.state = State.NONE
            return None
        match = _GROUP_MARK.match(text)
        if match:
            return text[match.end() :]
        if text.strip():
            self._in_group = False
        return text

    def _open(self, indent: int) -> None:
        if self.state is not State.CHAIN and not self._in_group:
            self._finish()
        self._frames, self._tail = [], []
        self._indent = 0 if self._in_group else indent
        self.state = State.STACK

    def _stack_line(self, number: int, text: str) -> None:
        inner = self._inner(text)
        if inner[:1] in (" ", "\t"):
            match = _FRAME.match(inner)
            if match:
                self._frame(match)
        elif inner.strip():
            self._final(number, inner)

    def _final(self, number: int, text: str) -> None:
        match = _FINAL.match(text.rstrip())
        if match:
            self._type, self._message, self._line = match[1], [beginning(match[2] or "", _MAX_MESSAGE_LINE)], number
            self._free, self._room = 0, _MAX_MESSAGE
            self.state = State.MESSAGE
        else:
            self._clear()
            self.state = State.NONE

    def _frame(self, match: re.Match[str]) -> None:
        frame = Frame(match[1], int(match[2]), (match[3] or "").strip()[:200])
        if len(self._frames) < _MAX_FRAMES_HEAD:
            self._frames.append(frame)
            return
        self._tail.append(frame)
        if len(self._tail) > 2 * _MAX_FRAMES_TAIL:
            del self._tail[:-_MAX_FRAMES_TAIL]

    # -- the end ---------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Close the current exception; it becomes the cause of the next one."""
        info = self._current()
        if info is not None:
            self._depth += 1
            # A chain without end keeps its innermost links.
            self._finished = info if self._depth <= _MAX_CHAIN else self._finished
        self._outer, self._members, self._in_group = None, [], False
        self._clear()
        self.state = State.NONE

    def _plain(self) -> ExceptionInfo | None:
        if not self._type:
            return None
        message = "\n".join(self._message).strip("\n").rstrip()
        return ExceptionInfo(
            self._type, message, self._line, (*self._frames, *self._tail[-_MAX_FRAMES_TAIL:]), self._finished
        )

    def _current(self) -> ExceptionInfo | None:
        info = self._plain()
        if info is not None and self._known(info):
            info = None
        if self._outer is None:
            return info
        members = [*self._members, *([info] if info else [])]
        # Of the members of a group the first that is no group itself stands for all.
        leaf = next((m for m in members if not m.type.endswith("Group")), members[0] if members else None)
        return self._outer._replace(cause=leaf or self._outer.cause)

    def _known(self, info: ExceptionInfo) -> bool:
        """Whether the chain has it already: some records hold their traceback twice."""
        chain = self._finished.chain() if self._finished is not None else ()
        return any((link.type, link.message, link.frames) == (info.type, info.message, info.frames) for link in chain)

    def result(self) -> ExceptionInfo | None:
        """The outermost exception read so far, or None."""
        return self._current() or self._finished
