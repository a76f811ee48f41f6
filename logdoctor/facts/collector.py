"""Takes the records of one boot and keeps what they state: facts, phases, milestones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from logdoctor.facts import arguments, hardware, kernels, launch, loading, memory, milestones, phases, serving
from logdoctor.facts.clock import Stamp, stamp
from logdoctor.facts.inference import FindGpu, InferGpu, infer_facts
from logdoctor.facts.milestones import Milestones, MilestoneTracker
from logdoctor.facts.pattern import MAX_TEXT, FactPattern, FactStore, PatternTable, Statement
from logdoctor.facts.phases import PhaseTracker
from logdoctor.facts.serving import Serving
from logdoctor.model import Fact, PhaseSpan, Record
from logdoctor.reading.quoting import settings_head
from logdoctor.wording import beginning

PATTERNS: tuple[FactPattern, ...] = (
    *launch.PATTERNS,
    *hardware.PATTERNS,
    *kernels.PATTERNS,
    *memory.PATTERNS,
    *loading.PATTERNS,
)
"""All fact patterns."""

LITERALS: tuple[str, ...] = tuple(
    dict.fromkeys(
        (
            *(pattern.literal for pattern in PATTERNS),
            *arguments.LITERALS,
            *serving.LITERALS,
            *(marker.literal for marker in phases.MARKERS),
            *milestones.LITERALS,
        )
    )
)
"""Every substring that a line must hold at least one of to state anything here: a pre-filter may skip the others."""

_CLIENT_TEXT = ("Received request ", "Added request ", "Generated response ", "Request ", "Aborted request")
"""Beginnings of lines that hold what a client chose, down to the request's id."""

MAX_TEXTS = 2000
"""Lines of which the text is kept; beyond it only of those whose facts still stand."""


class FactCollector:
    """Watches the records of one boot in the order of the log."""

    def __init__(self, find_gpu: FindGpu | None = None, infer_from_memory: InferGpu | None = None) -> None:
        """Start empty; the GPU table of the package is used unless another one is handed in."""
        self._store = FactStore()
        self._table = PatternTable(PATTERNS)
        self._phases = PhaseTracker()
        self._milestones = MilestoneTracker()
        self._serving = Serving()
        self._gpus = (find_gpu, infer_from_memory)
        self._texts: dict[int, str] = {}

    def observe(self, record: Record, present: Collection[str] | None = None) -> None:
        """Take in the next record; text that clients sent counts as a line and states nothing.

        `present` are the literals known to stand in its message, at least those of `LITERALS`; they are looked for
        where nobody did it before.
        """
        now = stamp(record.time, record.outer_time)
        self._milestones.touch(record, now)
        message = record.message
        if message.startswith(_CLIENT_TEXT):
            self._serving.answer(record, message)
            return
        worked = self._serving.last_work_line
        status = self._serving.access(record, message)  # counts quoted ones too: the path is the client's, not the form
        if 200 <= status < 300:
            self._phases.serve(record, now)
            self._milestones.serve(record)
            self._note_work(worked)
        elif status:
            self._phases.extend(record)
        if status or record.quoted:
            return
        if present is None:
            present = [literal for literal in LITERALS if literal in message]
        head = settings_head(message)
        if head:
            present = [literal for literal in present if literal in head]
        self._phases.observe(record, head or message, present, now)
        self._milestones.observe(record, head or message, present, self._phases.before_shutdown, now)
        self._keep(self._statements(record, message, present, now), record)

    def _statements(self, record: Record, message: str, present: Collection[str], now: Stamp) -> Iterator[Statement]:
        yield from self._table.read(record, message, present)
        if any(literal in message for literal in arguments.LITERALS):
            yield from arguments.read_arguments(record, message)
        if " throughput: " in message or "is preempted by" in message:
            worked = self._serving.last_work_line
            yield from self._serving.throughput(record, message, now)
            self._note_work(worked)

    def _note_work(self, before: int) -> None:
        """Tell the milestones when the engine has worked beyond where it had worked before."""
        if self._serving.last_work_line > before:
            self._milestones.work(self._serving.last_work_line)

    def _keep(self, statements: Iterable[Statement], record: Record) -> None:
        process = record.process.name or record.process.role
        lines: dict[int, str] = {}
        for statement in statements:
            self._store.add(statement, process)
            lines = lines or dict(record.lines)
            if statement.line in lines:
                self._texts[statement.line] = beginning(lines[statement.line], MAX_TEXT)
        if len(self._texts) > MAX_TEXTS:
            told = {fact.line for fact in self._store.copy().values()}
            self._texts = {line: text for line, text in self._texts.items() if line in told}

    @property
    def texts(self) -> Mapping[int, str]:
        """The lines that state the facts, as far as their text begins, by their number."""
        return self._texts

    @property
    def up(self) -> bool:
        """Whether the server is up at this place of the log: it has said so, or a request was answered."""
        return self._milestones.up

    @property
    def milestones(self) -> Milestones:
        """The events that decide the verdict, as they stand."""
        return self._milestones.result(self._serving.answered, self._serving.refused, self._serving.last_work_line)

    @property
    def phase(self) -> str:
        """The phase the boot is in; of a boot that failed, the one in which it failed."""
        reached = self.milestones
        if reached.failed and not (reached.ready_line > reached.failure_line):
            return reached.failures[0].phase
        return self._phases.current.value

    @property
    def left_out(self) -> int:
        """How many arguments and variables are no facts, there being too many."""
        return self._store.left_out

    def timeline(self) -> tuple[PhaseSpan, ...]:
        """Give the phases with their lines and durations."""
        return self._phases.timeline()

    def facts(self) -> dict[str, Fact]:
        """Give all facts by key: stated, counted, inferred, and the state of the boot."""
        reached = self.milestones
        if not reached.last_line:
            return {}
        store = FactStore()
        for fact in self._store.copy().values():
            store.add(Statement(fact.key, fact.value, fact.line, origin=fact.origin), fact.process)
        for statement in (
            *arguments.stand_in_arguments(store),
            *self._serving.counts(),
            *_boot_state(reached, self.phase),
        ):
            store.add(statement)
        return infer_facts(store.copy(), *self._gpus)


def _boot_state(reached: Milestones, phase: str) -> Iterator[Statement]:
    yield Statement("boot.phase", phase, reached.last_line)
    yield Statement("boot.ready", reached.ready is not None, reached.ready_line)
    yield Statement("boot.failed", reached.failed, reached.failure_line)
    yield Statement("boot.excerpt", reached.excerpt, reached.first_line)
    yield Statement("boot.stderr_missing", reached.stderr_missing, reached.last_line)
    if reached.ready is not None and reached.start_seconds is not None and not reached.excerpt:
        yield Statement("start.seconds", reached.start_seconds, reached.ready_line)
