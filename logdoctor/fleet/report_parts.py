"""What all renderers of the summary say: the same statements in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from logdoctor.fleet.summary import Cause, Count, FleetSummary, Group, Unknown
from logdoctor.fleet.together import Member, Start, ranks_text
from logdoctor.fleet.words import FleetWords

_DIMENSIONS = ("nodes", "hosts", "pods", "directories", "versions", "gpus", "models", "images")
_ENGLISH = FleetWords()


def number(count: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{count:,}"


def logs(count: int, words: FleetWords = _ENGLISH) -> str:
    """Return `1 log` or `3,000 logs`."""
    return words("log" if count == 1 else "logs", count=number(count))


def counts(names: Sequence[Count], different: int = 0, shown: int = 6, words: FleetWords = _ENGLISH) -> str:
    """Return `a (3), b (1)`, and how many more there are."""
    text = ", ".join(f"{one.name} ({number(one.count)})" for one in names[:shown])
    more = max(different, len(names)) - min(len(names), shown)
    return words("more", text=text, count=number(more)) if more > 0 else text


def headline(summary: FleetSummary, words: FleetWords = _ENGLISH) -> tuple[str, ...]:
    """Return the statements about all logs together."""
    verdicts = ", ".join(
        words("of_verdict", count=number(one.count), verdict=words.verdict(one.name)) for one in summary.verdicts
    )
    parts = [logs(summary.logs, words), verdicts]
    if summary.first_seen:
        parts.append(span(summary.first_seen, summary.last_seen, words))
    return tuple(parts)


def span(first: str, last: str, words: FleetWords = _ENGLISH) -> str:
    """Return `FIRST to LAST`, or the one time there is."""
    return first if first == last else words("span", first=first, last=last)


def news(summary: FleetSummary, words: FleetWords = _ENGLISH) -> str:
    """Say how much is new against the baseline; empty without one."""
    if summary.baseline_logs is None:
        return ""
    new = sum(cause.new for cause in summary.causes) + sum(unknown.new for unknown in summary.unknown)
    key = "news.none" if not new else "news.one" if new == 1 else "news.many"
    return words(key, count=number(new), logs=logs(summary.baseline_logs, words))


def change(item: Cause | Unknown, words: FleetWords = _ENGLISH) -> str:
    """Say how a cause stands against the baseline: `new`, `was 3`, or nothing."""
    if item.before is None:
        return ""
    return words("new") if item.new else words("was", count=number(item.before))


def facets(group: Group, words: FleetWords = _ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield what the logs of a group have in common, as (label, text)."""
    for dimension in _DIMENSIONS:
        if group.by[dimension]:
            yield words(dimension), counts(group.by[dimension], group.different[dimension], words=words)
    if group.first_seen:
        yield words("seen"), span(group.first_seen, group.last_seen, words)


def cause_facets(cause: Cause, words: FleetWords = _ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield everything that is said of a cause below its title."""
    yield from facets(cause.group, words)
    yield words("prints"), counts(cause.group.fingerprints, shown=4, words=words)
    if cause.before and cause.new_fingerprints:
        shown = ", ".join(cause.new_fingerprints[:4])
        more = len(cause.new_fingerprints) - 4
        yield words("new_prints"), words("more", text=shown, count=more) if more > 0 else shown
    if cause.earlier:
        told = "earlier.one" if cause.earlier == 1 else "earlier.many"
        yield words("earlier"), words(told, count=number(cause.earlier))
    yield words("examples"), examples(cause.group, words)


def unknown_facets(unknown: Unknown, words: FleetWords = _ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield everything that is said of an unknown failure below its template."""
    if unknown.phase:
        yield words("phase"), words.phase(unknown.phase)
    yield from facets(unknown.group, words)
    yield words("prints"), counts(unknown.group.fingerprints, shown=4, words=words)
    yield words("examples"), examples(unknown.group, words)


def examples(group: Group, words: FleetWords = _ENGLISH) -> str:
    """Name a few of the logs of a group."""
    more = group.count - len(group.sources)
    text = ", ".join(group.sources)
    return words("more", text=text, count=number(more)) if more > 0 else text


def draft_lines(draft: str) -> tuple[str, str]:
    """Return the id and the match of a draft signature, for a report without room for all of it."""
    lines = [line.strip() for line in draft.splitlines()]
    named = next((line.removeprefix("- id: ") for line in lines if line.startswith("- id: ")), "")
    match = next((line.removeprefix("- ") for line in lines if line.startswith(("- pattern:", "- literal:"))), "")
    return named, match


def start_title(start: Start, words: FleetWords = _ENGLISH) -> str:
    """Return `start 2: 3 of 4 nodes failed`."""
    nodes = len(start.members)
    dead = sum(member.dead for member in start.members)
    size = words("world", size=start.world_size) if start.world_size else ""
    how = words("start.dead" if dead else "start.alive", dead=dead, nodes=nodes)
    return words("start", number=start.number, how=how + size)


def began_text(start: Start, words: FleetWords = _ENGLISH) -> str:
    """Say where a failure began and why there; empty when nothing failed."""
    if start.began is None:
        return words("undecided", reason=start.reason) if start.reason else ""
    began = start.began
    return words("began", place=place(began, words), title=began.title, cause=began.cause, reason=start.reason)


def place(member: Member, words: FleetWords = _ENGLISH) -> str:
    """Name a node, its rank and the process."""
    parts = [member.where]
    if member.node_rank is not None:
        parts.append(words("node_rank", rank=member.node_rank))
    if member.rank is not None:
        parts.append(words("rank", rank=member.rank))
    if member.process:
        parts.append(words("process", name=member.process))
    return ", ".join(parts)


def member_texts(member: Member, words: FleetWords = _ENGLISH) -> Iterable[str]:
    """Return the cells of a node's line: who, ranks, verdict, cause, time."""
    cause = member.cause or "-"
    return (
        member.where,
        ranks_text(member.ranks) or "-",
        words("boot", verdict=words.verdict(member.verdict), boot=member.boot),
        cause,
        member.failed_at or member.last_seen or "-",
    )


def missing_text(start: Start, words: FleetWords = _ENGLISH) -> str:
    """Say which ranks no log shows; empty when all are there or nothing is known."""
    return words("missing", ranks=ranks_text(start.ranks_missing)) if start.ranks_missing else ""
