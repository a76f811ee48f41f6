"""The logs of one deployment: its starts aligned over the nodes, and the node and rank where a failure began.

Boots of different files are of one start when they begin within minutes of each other; those whose processes met at
the same address come first. Where it began is decided by the times that the logs print and, within the reach of
clocks that differ, by whether a node reports a fault of its own or only the silence of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from logdoctor.fleet.trace import has_year, moment_of
from logdoctor.model import Phase
from logdoctor.report.record import UNKNOWN

STARTS_WITHIN = 900.0
"""Seconds between the first and the last node of one start; containers are pulled and weights fetched before."""
CLOCKS_DIFFER = 60.0
"""Seconds within which the order of failures on two machines does not tell which one was first."""
LOOPBACK = "loopback"
_DEAD = ("failed", "crashed")


@dataclass(frozen=True, slots=True)
class Member:
    """One node's part in a start."""

    source: str
    where: str
    """The node, host or pod; the source where none is known."""
    boot: int
    verdict: str
    node_rank: int | None
    ranks: tuple[int, ...]
    met_at: tuple[str, ...]
    world_size: int | None
    first_seen: str
    last_seen: str
    cause: str
    title: str
    fingerprint: str
    phase: str
    failed_at: str
    rank: int | None
    """The rank whose line is the evidence, where the log tells."""
    process: str

    @property
    def dead(self) -> bool:
        """Whether it failed or crashed."""
        return self.verdict in _DEAD

    @property
    def own_fault(self) -> bool:
        """Whether its cause is something else than the connection between the ranks."""
        # Of a failure that nobody knows the phase says when it came, not what it is about.
        return self.cause == UNKNOWN or (bool(self.cause) and self.phase != Phase.DISTRIBUTED.value)

    @property
    def order(self) -> tuple[int, str, int]:
        """Nodes in the order of their ranks."""
        rank = self.node_rank if self.node_rank is not None else min(self.ranks, default=1 << 20)
        return rank, self.source, self.boot


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the deployment over all its nodes."""

    number: int
    members: tuple[Member, ...]
    began: Member | None
    """Where the failure began; None when nothing failed, or the logs do not decide."""
    reason: str
    """Why there, or why that is open; empty when nothing failed."""
    world_size: int | None
    ranks_missing: tuple[int, ...]
    """Ranks that no log shows, of the world size that one states; empty when that is not known."""

    @property
    def failed(self) -> bool:
        """Whether any node failed."""
        return any(member.dead for member in self.members)


def align(logs: Iterable[Mapping[str, Any]]) -> tuple[Start, ...]:
    """Align the boots of the records of one deployment; the order of the records does not matter."""
    members = [_member(log, start) for log in logs for start in log["starts"]]
    timed = _comparable([member.first_seen for member in members])
    groups = _by_time(members) if timed else _from_the_end(members)
    return tuple(_start(number, group) for number, group in enumerate(groups, 1))


def _member(log: Mapping[str, Any], start: Mapping[str, Any]) -> Member:
    root = start["root_cause"] or {}
    return Member(
        source=log["source"],
        where=next((log[key] for key in ("node", "host", "pod", "directory") if log.get(key)), log["source"]),
        boot=start["boot"],
        verdict=start["verdict"],
        node_rank=start["node_rank"],
        ranks=tuple(start["ranks"]),
        met_at=tuple(address for address in start["met_at"] if address != LOOPBACK),
        world_size=start["world_size"],
        first_seen=start["first_seen"] or "",
        last_seen=start["last_seen"] or "",
        cause=root.get("id", ""),
        title=root.get("title", ""),
        fingerprint=root.get("fingerprint", ""),
        phase=root.get("phase", ""),
        failed_at=start["failed_at"] or "",
        rank=start["rank"],
        process=start["process"],
    )


def _comparable(times: Sequence[str]) -> bool:
    """Whether all of these are times of one kind: with a year, or without."""
    moments = [moment_of(time) for time in times]
    return bool(moments) and all(m is not None and has_year(m) == has_year(moments[0] or 0.0) for m in moments)


def _moment(text: str) -> float:
    return moment_of(text) or 0.0


def _by_time(members: Iterable[Member]) -> list[list[Member]]:
    groups: list[list[Member]] = []
    for member in sorted(members, key=lambda one: (_moment(one.first_seen), one.order)):
        open_groups = [group for group in groups if _fits(member, group)]
        ranked = [
            (_shared(member, group), any(member.world_size == other.world_size for other in group), position)
            for position, group in enumerate(open_groups)
        ]
        if ranked:
            open_groups[max(ranked)[2]].append(member)  # of equals the one that began last
        else:
            groups.append([member])
    return groups


def _fits(member: Member, group: list[Member]) -> bool:
    if any(other.source == member.source for other in group):
        return False
    begun = _moment(member.first_seen)
    if begun - _moment(group[0].first_seen) <= STARTS_WITHIN:
        return True
    # One that comes late to a rendezvous at which the others still wait.
    return _shared(member, group) > 0 and begun <= max(_moment(other.last_seen) for other in group)


def _shared(member: Member, group: list[Member]) -> int:
    met = {address for other in group for address in other.met_at}
    return len(met.intersection(member.met_at))


def _from_the_end(members: Iterable[Member]) -> list[list[Member]]:
    """Without times to compare: the last boots of all files are one start, and so on backwards."""
    by_source: dict[str, list[Member]] = {}
    for member in sorted(members, key=lambda one: one.order):
        by_source.setdefault(member.source, []).append(member)
    for boots in by_source.values():
        boots.sort(key=lambda one: -one.boot)
    longest = max(map(len, by_source.values()), default=0)
    groups = [[boots[back] for boots in by_source.values() if back < len(boots)] for back in range(longest)]
    return groups[::-1]


def _start(number: int, group: list[Member]) -> Start:
    members = tuple(sorted(group, key=lambda member: member.order))
    began, reason = _where_it_began([member for member in members if member.dead and member.cause])
    if began is None and not reason and any(member.dead for member in members):
        reason = "no log states a cause"
    sizes = [member.world_size for member in members if member.world_size]
    size = max(sizes, default=None)
    seen = {rank for member in members for rank in member.ranks}
    missing = tuple(rank for rank in range(size) if rank not in seen) if size and seen and size <= 4096 else ()
    return Start(number, members, began, reason, size, missing)


def _where_it_began(dead: list[Member]) -> tuple[Member | None, str]:
    own = [member for member in dead if member.own_fault]
    if len(dead) == 1 and not own:
        return None, "the log with an error only reports that a peer has gone; the peer's log would tell"
    if len(dead) < 2:
        return (dead[0], "it is the only node whose log states a cause") if dead else (None, "")
    if not _comparable([member.failed_at for member in dead]):
        if len(own) == 1:
            return own[0], "the others report only the connection between the ranks; the logs hold no times to compare"
        return None, "the logs hold no times to compare, and more than one node may be where it began"
    ordered = sorted(dead, key=lambda member: (_moment(member.failed_at), not member.own_fault, member.order))
    first = ordered[0]
    near = [m for m in ordered if _moment(m.failed_at) - _moment(first.failed_at) <= CLOCKS_DIFFER]
    if len(near) == 1:
        return first, f"it failed first, {_gap(first, ordered[1])} before {ordered[1].where}"
    own_near = [member for member in near if member.own_fault]
    if len(own_near) == 1 and len(near) > 1:
        return own_near[0], "the others that failed in the same minute report only the connection between the ranks"
    chosen = own_near[0] if own_near else first
    others = [member for member in (own_near or near) if member is not chosen]
    gap = _gap(chosen, others[0])
    if {member.cause for member in others} == {chosen.cause}:
        return chosen, f"it failed first by {gap}; the others have the same cause"
    return chosen, f"it failed first by {gap}, which the clocks of two machines may differ by"


def _gap(first: Member, second: Member) -> str:
    seconds = int(_moment(second.failed_at) - _moment(first.failed_at))
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"


def ranks_text(ranks: Sequence[int]) -> str:
    """Return ranks as stretches: `0-7, 12`."""
    stretches: list[tuple[int, int]] = []
    for rank in sorted(ranks):
        if stretches and rank == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], rank)
        else:
            stretches.append((rank, rank))
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in stretches)
