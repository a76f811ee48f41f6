"""Counts of answered requests and the last throughput line.

These are the lines of a log's long tail: millions of access lines in a served week. They are recognised by one
substring and counted, never kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from logdoctor.facts.pattern import Policy, Statement, line_at
from logdoctor.model import Record

LITERALS = (' HTTP/1.1" ', ' HTTP/1.0" ', ' HTTP/2" ', " throughput: ", "is preempted by PreemptionMode")

_ACCESS = re.compile(r' - "[A-Z]{3,10} \S.* HTTP/[\d.]+" (?P<status>\d{3})\b')
_NUMBERS = (
    ("serving.prompt_tokens_per_second", re.compile(r"Avg prompt throughput: (\d+(?:\.\d+)?) tokens/s"), False),
    ("serving.tokens_per_second", re.compile(r"Avg generation throughput: (\d+(?:\.\d+)?) tokens/s"), True),
    ("serving.running", re.compile(r"Running: (\d+) reqs"), True),
    ("serving.waiting", re.compile(r"(?:Waiting|Pending): (\d+) reqs"), True),
    ("serving.preemptions", re.compile(r"Preemptions: (\d+)"), True),
    ("serving.kv_cache_usage_percent", re.compile(r"KV cache usage: (\d+(?:\.\d+)?)%"), True),
    ("serving.prefix_cache_hit_percent", re.compile(r"Prefix cache hit rate: (?:GPU: )?(\d+(?:\.\d+)?)%"), False),
)
"""Fact key, where the number stands, and whether its highest value is worth keeping too."""
_PREEMPTED = re.compile(r"is preempted by PreemptionMode.*?total_num_cumulative_preemption=(\d+)", re.DOTALL)


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
        self.last_refused_line = 0
        self.first_throughput_line = 0

    def access(self, record: Record, message: str) -> int:
        """Count an access line and return its status; 0 when the record is none."""
        if " HTTP/" not in message:
            return 0
        status = 0
        for number, text in record.lines:
            found = _ACCESS.search(text)
            if found is None:
                continue
            status = int(found["status"])
            if 200 <= status < 300:
                self.answered += 1
                self.last_answered_line = number
            elif status >= 400:
                self.refused += 1
                self.broken += status >= 500
                self.last_refused_line = number
        return status

    def throughput(self, record: Record, message: str) -> Iterator[Statement]:
        """Yield the facts of a throughput or preemption line."""
        if "Avg generation throughput: " in message:
            self.first_throughput_line = self.first_throughput_line or record.first_line
            yield from _throughput(record, message)
        elif "is preempted by" in message:
            found = _PREEMPTED.search(message)
            if found is not None:
                yield Statement("serving.preemptions", int(found[1][:18]), record.first_line, Policy.LAST)

    def counts(self) -> Iterator[Statement]:
        """Yield the counts of the boot."""
        if self.answered:
            yield Statement("server.requests_ok", self.answered, self.last_answered_line)
        if self.refused:
            yield Statement("server.requests_error", self.refused, self.last_refused_line)
        if self.broken:
            yield Statement("server.requests_5xx", self.broken, self.last_refused_line)


def _throughput(record: Record, message: str) -> Iterator[Statement]:
    for key, place, keep_peak in _NUMBERS:
        found = None
        for found in place.finditer(message):  # noqa: B007 - the last one is wanted
            pass
        if found is None or len(found[1]) > 18:
            continue
        value = float(found[1]) if "." in found[1] else int(found[1])
        line = line_at(record, message, found.start())
        yield Statement(key, value, line, Policy.LAST)
        if keep_peak:
            yield Statement(f"{key}_peak", value, line, Policy.MOST)
