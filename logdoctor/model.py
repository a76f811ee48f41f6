"""The words of the project as frozen values: what travels between the rooms.

    bytes ─ reading ─▶ Record ─▶ boots ─ facts ─▶ Fact ┐
                                    └─ matching ─▶ Finding ┴─ diagnosis ─▶ Diagnosis ─▶ report

Nothing here computes a diagnosis; every room may import this module, and this module imports none.

What exists once a line or record is a named tuple, because making one takes a third of the time of a frozen dataclass;
what exists once a report is a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class _Word(str, Enum):
    """A word of a fixed list; printing it prints the word."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, specification: str) -> str:
        return format(self.value, specification)


class Severity(_Word):
    """How bad a finding is; `rank` orders them (higher is worse)."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    FATAL = "fatal"

    @property
    def rank(self) -> int:
        return _SEVERITY_ORDER.index(self.value)


_SEVERITY_ORDER = ("info", "warning", "error", "fatal")


class Role(_Word):
    """What a finding is to the failure of its boot."""

    ROOT_CAUSE = "root_cause"
    CONTRIBUTING = "contributing"
    CONSEQUENCE = "consequence"
    NOTICE = "notice"


class Confidence(_Word):
    """How sure the signature is once it has matched."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Basis(_Word):
    """Where a claim comes from."""

    SOURCE = "source"
    MAINTAINERS = "maintainers"
    FIELD_REPORT = "field-report"


class Verdict(_Word):
    """The state of a boot at the end of its part of the log."""

    READY = "ready"
    DEGRADED = "degraded"
    STARTING = "starting"
    STALLED = "stalled"
    FAILED = "failed"
    CRASHED = "crashed"
    STOPPED = "stopped"
    UNDETERMINED = "undetermined"


class Phase(_Word):
    """Where in a start a record belongs, in the order of a start."""

    LAUNCH = "launch"
    COMMAND_LINE = "command-line"
    CONFIG = "config"
    PLATFORM = "platform"
    DISTRIBUTED = "distributed"
    WEIGHTS = "weights"
    KERNEL_SELECTION = "kernel-selection"
    PROFILING = "profiling"
    KV_CACHE = "kv-cache"
    COMPILE = "compile"
    GRAPH_CAPTURE = "graph-capture"
    SERVER_START = "server-start"
    SERVING = "serving"
    SHUTDOWN = "shutdown"


class Run(NamedTuple):
    """A stretch of whole physical lines of the input, as bytes.

    The reader yields one run after another; where lines were left out (by the pre-filter), the next run's
    `first_line` jumps. `data` ends with a line end, except perhaps the last run of an input.
    """

    first_line: int
    """1-based number of the first line in the input as the reader of the report holds it."""
    data: bytes


class Line(NamedTuple):
    """One physical line after every envelope is peeled off and colour is stripped."""

    number: int
    text: str
    source: str = ""
    """Name of the service, pod or container that the envelope states, else empty."""
    stream: str = ""
    """`stdout`, `stderr`, or empty when the envelope does not say."""
    time: str = ""
    """The outermost envelope's time stamp as text (RFC 3339 where it was one), or empty."""
    more: bool | None = None
    """Whether the same log record goes on in the next line of its process, as vLLM's formatter marks it (it ends
    every line of a record but the last with an extra carriage return); None when the input has lost those marks."""
    gap: bool = False
    """True when lines of the input were left out just before this one."""


class Process(NamedTuple):
    """Who wrote a record, from vLLM's `(Name pid=N)` prefix, Ray's, or the envelope."""

    role: str = ""
    """One of `api`, `engine`, `worker`, `coordinator`, `ray`, `frontend` (Rust), or empty when bare."""
    name: str = ""
    """As printed, e.g. `EngineCore_DP0`, `Worker_TP1`, `APIServer`; empty when bare."""
    pid: str = ""
    rank: str = ""
    """As printed in the name or `rank=N`: `TP1`, `PP0_TP1`, `DP0`, `3`; empty when there is none."""
    host: str = ""
    """Ray's `ip=`, or the envelope's source where several write into one log."""


class Frame(NamedTuple):
    """One frame of a Python traceback."""

    file: str
    line: int
    function: str


class ExceptionInfo(NamedTuple):
    """The exception that a record's traceback ends with (the outermost), and its chain."""

    type: str
    """Dotted name as printed, e.g. `torch.OutOfMemoryError`."""
    message: str
    line: int
    """Physical line number of `type: message`."""
    frames: tuple[Frame, ...] = ()
    """Outermost call first, as Python prints them; capped."""
    cause: ExceptionInfo | None = None
    """The exception printed before `The above exception was the direct cause …` or `During handling …`."""

    def chain(self) -> Iterator[ExceptionInfo]:
        """Yield it and the exceptions behind it, the one that began it all last."""
        link: ExceptionInfo | None = self
        while link is not None:
            yield link
            link = link.cause


class Record(NamedTuple):
    """One log record of one process: a message with its continuation lines."""

    lines: tuple[tuple[int, str], ...]
    """Physical line numbers with the text that belongs to the message (prefixes removed)."""
    process: Process = Process()
    level: str = ""
    """`DEBUG`, `INFO`, `WARNING`, `ERROR`, `CRITICAL`, or empty for a bare line."""
    time: str = ""
    """vLLM's own `MM-DD HH:MM:SS`, or another logger's stamp, as printed; empty when bare."""
    outer_time: str = ""
    """The envelope's time stamp, as `Line.time`."""
    file: str = ""
    """Base name (or shortened path) in `[file:line]`; empty when bare."""
    file_line: int = 0
    stream: str = ""
    exception: ExceptionInfo | None = None
    quoted: bool = False
    """True for text that a client sent (request logging, engine dumps): no signature may match it."""

    @property
    def message(self) -> str:
        """The whole text, continuation lines joined by newlines."""
        return "\n".join(text for _, text in self.lines)

    @property
    def first_line(self) -> int:
        return self.lines[0][0]

    @property
    def last_line(self) -> int:
        return self.lines[-1][0]


FactValue = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One typed thing known about a boot."""

    key: str
    """Dotted: `vllm.version`, `gpu.compute_capability`, `args.max_model_len`, `kv_cache.tokens`."""
    value: FactValue
    line: int = 0
    """Physical line that states it; 0 when it was given by hand or comes from a launch file."""
    process: str = ""
    origin: str = "log"
    """`log`, `given` (--fact), `launch` (a launch file), or `inferred` (from another fact)."""


Facts = Mapping[str, Fact]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line of the log that carries a finding."""

    line: int
    process: str
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remedy:
    """One concrete change, already worded for this boot."""

    summary: str
    kind: str
    """`flag`, `env`, `remove`, `image`, `host`, `config` or `advice`."""
    command: str = ""
    """The exact text to add, set, remove or run; empty for `advice`."""
    condition: str = ""
    """Under which circumstance it holds, in words; empty when it holds here."""
    finding: str = ""
    """Id of the finding it came from."""
    with_previous: bool = False
    """Whether it and the one before it in the same finding make up one correction; else it is another way."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A signature that matched in a boot, worded with the captures and facts of that boot."""

    id: str
    title: str
    severity: Severity
    role: Role
    confidence: Confidence
    basis: Basis
    cause: str
    phase: str = ""
    evidence: tuple[Evidence, ...] = ()
    count: int = 1
    """How many records matched (evidence is capped)."""
    ranks: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    verify: str = ""
    """What shows that the fix worked."""
    explained_by: tuple[str, ...] = ()
    """Ids of the findings that this one is a consequence of."""
    conditional: tuple[str, ...] = ()
    """Conditions on facts that the log does not decide, in words."""
    references: tuple[str, ...] = ()
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """One phase of a start on the time line."""

    phase: str
    first_line: int
    last_line: int
    start: str = ""
    """Time stamp as printed at its first record; empty when none."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """One part of the memory budget, in GiB."""

    name: str
    gib: float
    line: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """The memory budget of a boot rebuilt from its own numbers."""

    total_gib: float
    utilization: float
    parts: tuple[BudgetPart, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class BootDiagnosis:
    """Everything said about one boot. The root cause, if any, is the first finding."""

    index: int
    verdict: Verdict
    phase: str
    lines: tuple[int, int]
    summary: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    timeline: tuple[PhaseSpan, ...] = ()
    budget: Budget | None = None
    seconds: float | None = None
    """From the first to the last time stamp, where both are known."""
    notes: tuple[str, ...] = ()
    """Remarks about the input itself: stderr missing, excerpt too short, cut input."""
    service: str = ""
    """Name of the service, pod or container that wrote the boot, where the log signs its lines; else empty."""

    @property
    def root_cause(self) -> Finding | None:
        """The finding that explains the failure, or None."""
        return next((f for f in self.findings if f.role is Role.ROOT_CAUSE), None)


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch command as found, and with the remedies applied."""

    original: str
    corrected: str
    unknown: tuple[str, ...] = ()
    """What the launch does not tell, in words."""
    ready_command: str = ""
    """One line to paste: the corrected command, or what starts the corrected file."""
    applied: tuple[str, ...] = ()
    """What was changed, each with the finding it comes from."""
    skipped: tuple[str, ...] = ()
    """Which remedies were not applied, each with the reason."""

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty when there is none."""
        from difflib import unified_diff

        before, after = self.original.splitlines(), self.corrected.splitlines()
        return "\n".join(unified_diff(before, after, "launch", "launch (corrected)", lineterm=""))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer: all boots, the leading one, and how the input was."""

    verdict: Verdict
    summary: str
    boots: tuple[BootDiagnosis, ...]
    leading: int = 0
    """Position in `boots` of the boot that leads the report (the last one unless chosen)."""
    launch: Launch | None = None
    redactions: Mapping[str, int] = field(default_factory=dict)
    """How many of each kind of secret were replaced; filled by redaction."""
    source: str = "stdin"
    tool_version: str = ""
    database_version: str = ""
    notes: tuple[str, ...] = ()

    @property
    def boot(self) -> BootDiagnosis | None:
        """The leading boot, or None when no boot was recognised."""
        return self.boots[self.leading] if self.boots else None

    @property
    def root_cause(self) -> Finding | None:
        return self.boot.root_cause if self.boot else None
