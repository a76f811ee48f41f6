"""Counts of answered requests and the last throughput line.

These are the lines of a log's long tail: millions of access lines in a served week. They are recognised by one
substring and counted, never kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from logdoctor.facts.clock import Stamp, seconds_between
from logdoctor.facts.pattern import Policy, Statement
from logdoctor.model import Record

LITERALS = (
    *(' HTTP/1.1" ', ' HTTP/1.0" ', ' HTTP/2" ', " throughput: ", "is preempted by PreemptionMode"),
    "finish_reason: length",
)

_ACCESS = re.compile(r'^(?:INFO:\s+)?\S{1,80} - "(?P<method>[A-Z]{3,10}) \S.* HTTP/[\d.]+" (?P<status>\d{3})\b')
_THROUGHPUT = re.compile(
    r"Avg prompt throughput: (\d[\d.]{0,15}) tokens/s, Avg generation throughput: (\d[\d.]{0,15}) tokens/s"
    r"(?:, Running: (\d{1,12}) reqs)?(?:, Swapped: \d+ reqs)?(?:, (?:Waiting|Pending): (\d{1,12}) reqs)?"
    r"(?:, (?:Deferred|Skipped): \d+ reqs)?(?:, Preemptions: (\d{1,12}))?"
    r"(?:, \w+(?: \+ \w+)? KV cache usage: (\d[\d.]{0,15})%)?"
    r"(?:.{0,80}?Prefix cache hit rate: (?:GPU: )?(\d[\d.]{0,15})%)?"
)
_KEYS = (
    "serving.prompt_tokens_per_second",
    "serving.tokens_per_second",
    "serving.running",
    "serving.waiting",
    "serving.preemptions",
    "serving.kv_cache_usage_percent",
    "serving.prefix_cache_hit_percent",
)
"""The facts of the groups, in their order."""
_PEAKS = range(1, 6)
"""Places whose highest value is worth keeping too."""
_EMPTY_ANSWER = re.compile(
    r"Generated response [^\s:]{1,200}: output: '', (?:output_token_ids: (?:None|\[[\d, ]*\]), )?finish_reason: length$"
)
"""Output logging of a request that ended at its limit without content. No text of a client can make up this line."""
_STUCK = re.compile(
    r"^(?:Engine \d{1,9}: |\d{1,9} Engines Aggregated: )?"
    r"Avg prompt throughput: 0\.0 tokens/s, Avg generation throughput: 0\.0 tokens/s, Running: (?P<run>\d{1,12}) reqs"
    r", (?:Swapped: \d+ reqs, )?(?:Waiting|Pending): (?P<wait>\d{1,12}) reqs"
)
"""A line every ten seconds says how much moved; in this one nothing did."""
_INTERVAL = 10.0
"""Seconds from one throughput line to the next, unless VLLM_LOG_STATS_INTERVAL says otherwise."""
MAX_ENGINES = 4096
_PREEMPTED = re.compile(r"is preempted by PreemptionMode.{0,600}?total_num_cumulative_preemption=(\d{1,12})", re.DOTALL)


class _Standstill(NamedTuple):
    """Throughput lines in a row in which nothing moved although there was something to do."""

    what: str
    """`stuck` while requests run, `waiting` while none does."""
    line: int
    """The first of them."""
    since: Stamp
    lines: int = 1
    seconds: float | None = None
    """From the first to the last; None where they have no stamps."""

    @property
    def total(self) -> float:
        """Seconds that they tell of; each line tells of the interval before it."""
        return _INTERVAL + (self.seconds if self.seconds is not None else _INTERVAL * (self.lines - 1.0))


class Serving:
    """Watches the requests and the throughput of one boot."""

    def __init__(self) -> None:
        self.answered = 0
        """Requests answered with a 2xx status."""
        self.refused = 0
        """Requests answered with a 4xx or 5xx status."""
        self.broken = 0
        """Of these, with a 5xx status."""
        self.last_answered_line = 0
        self.last_work_line = 0
        """Up to which line the engine has surely worked: an answer that needed it, or a throughput line after which
        more tokens were made."""
        self.last_refused_line = 0
        self.empty_answers = 0
        """Logged answers without content that ended because of their length."""
        self._empty_answer_line = 0
        self._throughput: tuple[int, tuple[str | None, ...]] | None = None
        self._peaks: dict[int, tuple[float, int]] = {}
        self._still: dict[str, _Standstill] = {}
        """By engine, what stands still at the end of the log so far."""
        self._still_most = (0.0, 0)

    def access(self, record: Record, message: str) -> int:
        """Count an access line and return its status; 0 when the record is none."""
        if " HTTP/" not in message:
            return 0
        status = 0
        for number, text in record.lines:
            found = _ACCESS.match(text)
            if found is None:
                continue
            status = int(found["status"])
            if 200 <= status < 300:
                self.answered += 1
                self.last_answered_line = number
                if found["method"] == "POST":
                    self.last_work_line = number
            elif status >= 400:
                self.refused += 1
                self.broken += status >= 500
                self.last_refused_line = number
        return status

    def answer(self, record: Record, message: str) -> None:
        """Count the line of output logging if it tells of an empty answer cut at its limit."""
        if message.endswith("finish_reason: length") and _EMPTY_ANSWER.match(message):
            self.empty_answers += 1
            self._empty_answer_line = self._empty_answer_line or record.first_line

    def throughput(self, record: Record, message: str, now: Stamp) -> Iterator[Statement]:
        """Take in a throughput line; yield the fact of a preemption warning."""
        if "Avg generation throughput: " in message:
            for number, text in record.lines:
                found = _THROUGHPUT.search(text)
                if found is not None:
                    self._measured(number, found.groups())
                    self._stands_still(number, text, now)
        elif "is preempted by" in message:
            found = _PREEMPTED.search(message)
            if found is not None:
                yield Statement("serving.preemptions", int(found[1]), record.first_line, Policy.LAST)

    def _measured(self, line: int, values: tuple[str | None, ...]) -> None:
        if values[1] and _value(values[1]) > 0 and self._throughput is not None:
            self.last_work_line = max(self.last_work_line, self._throughput[0])
        self._throughput = (line, values)
        for place in _PEAKS:
            text = values[place]
            if text is not None and (value := _value(text)) > self._peaks.get(place, (-1.0, 0))[0]:
                self._peaks[place] = (value, line)

    def _stands_still(self, line: int, text: str, now: Stamp) -> None:
        found = _STUCK.match(text)
        label = text[: text.find("Avg prompt")]
        what = ""
        if found is not None:
            what = "stuck" if int(found["run"]) else "waiting" if int(found["wait"]) else ""
        before = self._still.pop(label, None)
        if not what or len(self._still) >= MAX_ENGINES:
            return
        if before is not None and before.what == what:
            after = before._replace(lines=before.lines + 1, seconds=seconds_between(before.since, now))
        else:
            after = _Standstill(what, line, now)
        self._still[label] = after
        self._still_most = max(self._still_most, (after.total, after.line))

    def _standing_still(self) -> Iterator[Statement]:
        for what in ("stuck", "waiting"):
            longest = max(((s.total, s.line) for s in self._still.values() if s.what == what), default=None)
            if longest is not None:
                yield Statement(f"serving.{what}_seconds", round(longest[0]), longest[1])
        if self._still_most[0]:
            yield Statement("serving.still_seconds_most", round(self._still_most[0]), self._still_most[1])

    def counts(self) -> Iterator[Statement]:
        """Yield the counts of the boot, and what its last throughput line says."""
        if self.answered:
            yield Statement("server.requests_ok", self.answered, self.last_answered_line)
        if self.refused:
            yield Statement("server.requests_error", self.refused, self.last_refused_line)
        if self.broken:
            yield Statement("server.requests_5xx", self.broken, self.last_refused_line)
        if self.empty_answers:
            yield Statement("serving.empty_answers", self.empty_answers, self._empty_answer_line)
        yield from self._standing_still()
        if self._throughput is not None:
            line, values = self._throughput
            for key, text in zip(_KEYS, values, strict=True):
                if text is not None:
                    yield Statement(key, _value(text), line, rank=3)
            for place, (peak, peak_line) in sorted(self._peaks.items()):
                yield Statement(f"{_KEYS[place]}_peak", peak, peak_line)


def _value(text: str) -> float:
    """A printed number; counts stay whole."""
    if "." not in text:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return 0.0
