"""What all renderers of the summary say: the same statements in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from logdoctor.fleet.summary import Cause, Count, FleetSummary, Group, Unknown
from logdoctor.fleet.together import Member, Start, ranks_text

_LABELS = {
    "nodes": "nodes",
    "hosts": "hosts",
    "pods": "pods",
    "directories": "directories",
    "versions": "vLLM",
    "gpus": "GPUs",
    "models": "models",
    "images": "images",
}


def number(count: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{count:,}"


def logs(count: int) -> str:
    """Return `1 log` or `3,000 logs`."""
    return f"{number(count)} {'log' if count == 1 else 'logs'}"


def counts(names: Sequence[Count], different: int = 0, shown: int = 6) -> str:
    """Return `a (3), b (1)`, and how many more there are."""
    text = ", ".join(f"{one.name} ({number(one.count)})" for one in names[:shown])
    more = max(different, len(names)) - min(len(names), shown)
    return f"{text} and {number(more)} more" if more > 0 else text


def headline(summary: FleetSummary) -> tuple[str, ...]:
    """Return the statements about all logs together."""
    verdicts = ", ".join(f"{number(one.count)} {one.name}" for one in summary.verdicts)
    parts = [logs(summary.logs), verdicts]
    if summary.first_seen:
        parts.append(span(summary.first_seen, summary.last_seen))
    return tuple(parts)


def span(first: str, last: str) -> str:
    """Return `FIRST to LAST`, or the one time there is."""
    return first if first == last else f"{first} to {last}"


def news(summary: FleetSummary) -> str:
    """Say how much is new against the baseline; empty without one."""
    if summary.baseline_logs is None:
        return ""
    new = sum(cause.new for cause in summary.causes) + sum(unknown.new for unknown in summary.unknown)
    what = f"{number(new)} {'cause is' if new == 1 else 'causes are'} new" if new else "no cause is new"
    return f"{what} against the baseline of {logs(summary.baseline_logs)}"


def change(item: Cause | Unknown) -> str:
    """Say how a cause stands against the baseline: `new`, `was 3`, or nothing."""
    if item.before is None:
        return ""
    return "new" if item.new else f"was {number(item.before)}"


def facets(group: Group) -> Iterator[tuple[str, str]]:
    """Yield what the logs of a group have in common, as (label, text)."""
    for dimension, label in _LABELS.items():
        if group.by[dimension]:
            yield label, counts(group.by[dimension], group.different[dimension])
    if group.first_seen:
        yield "seen", span(group.first_seen, group.last_seen)


def cause_facets(cause: Cause) -> Iterator[tuple[str, str]]:
    """Yield everything that is said of a cause below its title."""
    yield from facets(cause.group)
    prints = counts(cause.group.fingerprints, shown=4)
    yield "prints", prints
    if cause.before and cause.new_fingerprints:
        shown = ", ".join(cause.new_fingerprints[:4])
        more = len(cause.new_fingerprints) - 4
        yield "new prints", f"{shown} and {more} more" if more > 0 else shown
    if cause.earlier:
        yield "earlier", f"{number(cause.earlier)} boots before the last one of a log died of it too"
    yield "logs", examples(cause.group)


def unknown_facets(unknown: Unknown) -> Iterator[tuple[str, str]]:
    """Yield everything that is said of an unknown failure below its template."""
    if unknown.phase:
        yield "phase", unknown.phase
    yield from facets(unknown.group)
    yield "prints", counts(unknown.group.fingerprints, shown=4)
    yield "logs", examples(unknown.group)


def examples(group: Group) -> str:
    """Name a few of the logs of a group."""
    more = group.count - len(group.sources)
    text = ", ".join(group.sources)
    return f"{text} and {number(more)} more" if more > 0 else text


def draft_lines(draft: str) -> tuple[str, str]:
    """Return the id and the match of a draft signature, for a report without room for all of it."""
    lines = [line.strip() for line in draft.splitlines()]
    named = next((line.removeprefix("- id: ") for line in lines if line.startswith("- id: ")), "")
    match = next((line.removeprefix("- ") for line in lines if line.startswith(("- pattern:", "- literal:"))), "")
    return named, match


def start_title(start: Start) -> str:
    """Return `start 2: 3 of 4 nodes failed`."""
    nodes = len(start.members)
    dead = sum(member.dead for member in start.members)
    size = f", world size {start.world_size}" if start.world_size else ""
    how = f"{dead} of {nodes} logs failed" if dead else f"{nodes} logs, none failed"
    return f"start {start.number}: {how}{size}"


def began_text(start: Start) -> str:
    """Say where a failure began and why there; empty when nothing failed."""
    if start.began is None:
        return f"not decided: {start.reason}" if start.reason else ""
    return f"began on {place(start.began)}: {start.began.title} ({start.began.cause}); {start.reason}"


def place(member: Member) -> str:
    """Name a node, its rank and the process."""
    parts = [member.where]
    if member.node_rank is not None:
        parts.append(f"node rank {member.node_rank}")
    if member.rank is not None:
        parts.append(f"rank {member.rank}")
    if member.process:
        parts.append(f"process {member.process}")
    return ", ".join(parts)


def member_texts(member: Member) -> Iterable[str]:
    """Return the cells of a node's line: who, ranks, verdict, cause, time."""
    cause = member.cause or "-"
    return (
        member.where,
        ranks_text(member.ranks) or "-",
        f"{member.verdict}, boot {member.boot}",
        cause,
        member.failed_at or member.last_seen or "-",
    )


def missing_text(start: Start) -> str:
    """Say which ranks no log shows; empty when all are there or nothing is known."""
    return f"no log shows rank {ranks_text(start.ranks_missing)}" if start.ranks_missing else ""
