"""The records of many logs summed up: by root cause and fingerprint, with where and when, and what is new.

The tally takes one record after another and keeps counts, so its size depends on how many different causes, nodes and
versions there are, not on how many logs. The same records in another order give the same summary.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from logdoctor.fleet.together import Start, align
from logdoctor.report.record import UNKNOWN
from logdoctor.report.status import EXIT_FAILED, EXIT_FINDING, EXIT_OK, EXIT_UNDETERMINED

SCHEMA_VERSION = 1
NOT_READ = "not read"
"""Stands in the count of verdicts for logs without one."""
MAX_NAMES = 5000
"""Different nodes, pods, versions … that are counted by name per cause; further ones are counted together."""
MAX_TEMPLATES = 2000
SHOWN_NAMES = 50
EXAMPLES = 5
_PRECEDENCE = (EXIT_FAILED, EXIT_FINDING, EXIT_UNDETERMINED, EXIT_OK)
_OTHERS = "(others)"

DIMENSIONS: Mapping[str, str] = {
    "nodes": "node",
    "hosts": "host",
    "pods": "pod",
    "directories": "directory",
    "versions": "vllm_version",
    "gpus": "gpu_name",
    "models": "model_name",
    "images": "image",
}
"""What a cause is broken down by, and the column of the records that states it."""


@dataclass(frozen=True, slots=True)
class Count:
    """A name and how often it came."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Group:
    """The logs that have one thing in common."""

    count: int
    fingerprints: tuple[Count, ...]
    by: Mapping[str, tuple[Count, ...]]
    """For each of `DIMENSIONS` the names, most frequent first."""
    different: Mapping[str, int]
    """For each of `DIMENSIONS` how many different names there are, shown or not."""
    first_seen: str
    last_seen: str
    sources: tuple[str, ...]
    """A few of the logs, the first by name."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A root cause and the logs that have it."""

    id: str
    title: str
    """The title as one of the logs words it."""
    severity: str
    group: Group
    earlier: int
    """Boots before the leading one, of any log, that died of it."""
    before: int | None
    """How many logs of the baseline had it; None without a baseline."""
    new_fingerprints: tuple[str, ...]

    @property
    def new(self) -> bool:
        """Whether no log of the baseline had it."""
        return self.before == 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """Failures that the database does not know and that read alike."""

    template: str
    text: str
    """The message as one of the logs has it."""
    phase: str
    group: Group
    before: int | None
    draft: str
    """A draft signature, as YAML."""

    @property
    def new(self) -> bool:
        """Whether no log of the baseline had it."""
        return self.before == 0


@dataclass(frozen=True, slots=True)
class Trouble:
    """A log that could not be read."""

    source: str
    error: str


@dataclass(frozen=True, slots=True)
class FleetSummary:
    """Everything said about a fleet."""

    logs: int
    verdicts: tuple[Count, ...]
    causes: tuple[Cause, ...]
    unknown: tuple[Unknown, ...]
    gone: tuple[Count, ...]
    """Causes of the baseline that no log has now."""
    baseline_logs: int | None
    troubles: tuple[Trouble, ...]
    not_read: int
    first_seen: str
    last_seen: str
    starts: tuple[Start, ...]
    """With `--together`: the starts of the deployment, aligned over its nodes."""
    status: int
    tool_version: str
    database_version: str


@dataclass(slots=True)
class Baseline:
    """What an earlier output says."""

    logs: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    titles: dict[str, str] = field(default_factory=dict)
    marks: Counter[tuple[str, str]] = field(default_factory=Counter)
    templates: Counter[str] = field(default_factory=Counter)


def read_baseline(records: Iterable[Mapping[str, Any]]) -> Baseline:
    """Count the causes of an earlier output."""
    baseline = Baseline()
    for record in records:
        baseline.logs += 1
        root = record.get("root_cause")
        if root:
            baseline.causes[root["id"]] += 1
            baseline.marks[root["id"], root["fingerprint"]] += 1
        if record.get("unknown"):
            baseline.templates[record["unknown"]["template"]] += 1
    return baseline


class _Names:
    """Counts names, a bounded number of different ones."""

    __slots__ = ("counts", "others")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.others = 0

    def add(self, name: str) -> None:
        if name in self.counts or len(self.counts) < MAX_NAMES:
            self.counts[name] += 1
        else:
            self.others += 1

    def shown(self) -> tuple[Count, ...]:
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        rest = sum(count for _, count in ordered[SHOWN_NAMES:]) + self.others
        others = [Count(_OTHERS, rest)] if rest else []
        return (*(Count(name, count) for name, count in ordered[:SHOWN_NAMES]), *others)


class _Times:
    """The first and the last of times, those with a year before those without."""

    __slots__ = ("dated", "undated")

    def __init__(self) -> None:
        self.dated: tuple[str, str] | None = None
        self.undated: tuple[str, str] | None = None

    def add(self, first: str | None, last: str | None) -> None:
        for text in (first, last):
            if text and text[:4].isdigit():
                self.dated = _widened(self.dated, text)
            elif text:
                self.undated = _widened(self.undated, text)

    @property
    def span(self) -> tuple[str, str]:
        return self.dated or self.undated or ("", "")


def _widened(span: tuple[str, str] | None, text: str) -> tuple[str, str]:
    return (min(span[0], text), max(span[1], text)) if span else (text, text)


class _Logs:
    """Collects the logs of one group."""

    def __init__(self) -> None:
        self.count = 0
        self.fingerprints = _Names()
        self.names = {dimension: _Names() for dimension in DIMENSIONS}
        self.times = _Times()
        self.sources: list[str] = []
        self.wording: tuple[str, str, str] | None = None
        """Smallest of (title or text, severity or phase, version): the same whatever the order of the records."""

    def add(self, record: Mapping[str, Any], wording: tuple[str, str, str]) -> None:
        self.count += 1
        self.fingerprints.add(record["root_cause"]["fingerprint"])
        for dimension, column in DIMENSIONS.items():
            if record.get(column):
                self.names[dimension].add(str(record[column]))
        self.times.add(record.get("first_seen"), record.get("last_seen"))
        self.sources = sorted([*self.sources, record["source"]])[:EXAMPLES]
        self.wording = min(self.wording, wording) if self.wording else wording

    def group(self) -> Group:
        first, last = self.times.span
        return Group(
            self.count,
            self.fingerprints.shown(),
            {dimension: names.shown() for dimension, names in self.names.items()},
            {dimension: len(names.counts) + bool(names.others) for dimension, names in self.names.items()},
            first,
            last,
            tuple(self.sources),
        )


class Tally:
    """Takes records and gives their summary."""

    def __init__(self, baseline: Baseline | None = None, *, together: bool = False) -> None:
        self._baseline = baseline
        self._together = together
        self._logs = 0
        self._verdicts: Counter[str] = Counter()
        self._causes: dict[str, _Logs] = {}
        self._earlier: Counter[str] = Counter()
        self._unknown: dict[str, _Logs] = {}
        self._times = _Times()
        self._troubles: list[Trouble] = []
        self._not_read = 0
        self._statuses: set[int] = set()
        self._versions: tuple[str, str] = ("", "")
        self._starts: list[Mapping[str, Any]] = []

    @property
    def logs(self) -> int:
        """How many records were counted."""
        return self._logs

    def add_stored(self, record: Mapping[str, Any]) -> None:
        """Count a record from a file, unless somebody has changed it beyond use."""
        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
            self.add(record)

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a record."""
        self._logs += 1
        self._verdicts[record["verdict"] or NOT_READ] += 1
        self._statuses.add(record["exit_status"])
        self._times.add(record.get("first_seen"), record.get("last_seen"))
        self._versions = max(self._versions, (record["tool_version"], record["database_version"]))
        if record.get("error"):
            self._not_read += 1
            trouble = Trouble(record["source"], record["error"])
            self._troubles = sorted([*self._troubles, trouble], key=lambda one: (one.source, one.error))[:SHOWN_NAMES]
        for cause in record.get("earlier") or ():
            self._earlier[cause["id"]] += cause["boots"]
        root = record.get("root_cause")
        if root:
            self._add_root(root, record)
        if self._together and record.get("starts"):
            self._starts.append(
                {key: record.get(key) for key in ("source", "node", "pod", "host", "directory", "starts")}
            )

    def _add_root(self, root: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        unknown = record.get("unknown")
        version = record.get("vllm_version") or ""
        if root["id"] == UNKNOWN and unknown:
            known = unknown["template"] in self._unknown or len(self._unknown) < MAX_TEMPLATES
            logs = self._unknown.setdefault(unknown["template"] if known else _OTHERS, _Logs())
            logs.add(record, (unknown["text"], unknown["phase"], str(version)))
        else:
            logs = self._causes.setdefault(root["id"], _Logs())
            logs.add(record, (root["title"], root["severity"], str(version)))

    @property
    def status(self) -> int:
        """The exit status over all logs: 2 before 1 before 3 before 0."""
        return next((status for status in _PRECEDENCE if status in self._statuses), EXIT_OK)

    def summary(self, taken_ids: Iterable[str] = ()) -> FleetSummary:
        """Sum up; `taken_ids` are those that a draft signature must not have."""
        taken = tuple(taken_ids)
        first, last = self._times.span
        return FleetSummary(
            logs=self._logs,
            verdicts=tuple(Count(*item) for item in sorted(self._verdicts.items(), key=lambda i: (-i[1], i[0]))),
            causes=tuple(sorted((self._cause(*item) for item in self._causes.items()), key=_cause_order)),
            unknown=tuple(
                sorted((self._unknown_failure(*item, taken) for item in self._unknown.items()), key=_unknown_order)
            ),
            gone=self._gone(),
            baseline_logs=self._baseline.logs if self._baseline else None,
            troubles=tuple(self._troubles),
            not_read=self._not_read,
            first_seen=first,
            last_seen=last,
            starts=align(self._starts) if self._together else (),
            status=self.status,
            tool_version=self._versions[0],
            database_version=self._versions[1],
        )

    def _cause(self, id_: str, logs: _Logs) -> Cause:
        title, severity, _ = logs.wording or ("", "", "")
        baseline = self._baseline
        new = [mark for mark in logs.fingerprints.counts if baseline and (id_, mark) not in baseline.marks]
        return Cause(
            id_,
            title,
            severity,
            logs.group(),
            self._earlier[id_],
            baseline.causes[id_] if baseline else None,
            tuple(sorted(new)[:SHOWN_NAMES]),
        )

    def _unknown_failure(self, template: str, logs: _Logs, taken: tuple[str, ...]) -> Unknown:
        from logdoctor.database.draft import Unrecognised, draft_signature

        text, phase, version = logs.wording or ("", "", "")
        baseline = self._baseline
        before = None
        if baseline:
            seen = sum(baseline.marks[UNKNOWN, mark] for mark in logs.fingerprints.counts)
            before = max(seen, baseline.templates[template])
        draft = draft_signature(Unrecognised(text, text.split("\n"), phase=phase, vllm=version), taken)
        return Unknown(template, text, phase, logs.group(), before, draft)

    def _gone(self) -> tuple[Count, ...]:
        before = self._baseline.causes if self._baseline else Counter[str]()
        gone = [(id_, count) for id_, count in before.items() if id_ not in self._causes and id_ != UNKNOWN]
        return tuple(Count(*item) for item in sorted(gone, key=lambda item: (-item[1], item[0])))


def _cause_order(cause: Cause) -> tuple[int, str]:
    return -cause.group.count, cause.id


def _unknown_order(unknown: Unknown) -> tuple[int, str]:
    return -unknown.group.count, unknown.template
