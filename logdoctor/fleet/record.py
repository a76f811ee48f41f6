"""What the fleet adds to the record of a log: where it comes from, and when its starts met those of other nodes."""

from __future__ import annotations

import hashlib
from typing import Any

from logdoctor.fleet.places import Place
from logdoctor.fleet.trace import BootTrace, Trace
from logdoctor.model import BootDiagnosis, Diagnosis
from logdoctor.report.escaping import clip, escape_control, one_line
from logdoctor.report.record import NAME, cause_record, time_text
from logdoctor.report.redaction import Redactor

_MAX_STARTS = 16


def hidden(name: str, keep: bool, kind: str = "host") -> str:
    """Return a host's name as it may be shown: as it is, or a stand-in that is the same for the same name."""
    if not name:
        return ""
    if keep:
        return clip(one_line(escape_control(Redactor(keep_hosts=True).text(name))), NAME)
    digest = hashlib.sha256(name.lower().encode("utf-8", "replace")).hexdigest()
    return f"<{kind}-{digest[:4]}-{int(digest[4:16], 16) % 1_000_000:06d}>"


def fill_place(record: dict[str, Any], in_log: Place, in_path: Place, trace: Trace, keep_hosts: bool) -> None:
    """Write into a record where the log comes from; what the log states goes before its path."""
    hosts = trace.hosts
    record.update(
        node=hidden(in_log.node, keep_hosts) or hidden(in_path.node, True) or None,
        pod=hidden(in_path.pod, True) or hidden(in_log.pod, keep_hosts, "pod") or None,
        host=hidden(in_log.host or (hosts[0] if len(hosts) == 1 else ""), keep_hosts) or None,
        first_seen=time_text(trace.first),
        last_seen=time_text(trace.last),
    )
    if record["image"] is None and in_log.image:
        image = Redactor(keep_hosts=keep_hosts).text(in_log.image)
        record["image"] = clip(one_line(escape_control(image)), NAME)


def starts_of(diagnosis: Diagnosis, trace: Trace, keep_hosts: bool) -> list[dict[str, Any]]:
    """Say of each of the last boots what aligns it with the boots of other nodes; the diagnosis is redacted."""
    found = []
    for boot in diagnosis.boots[-_MAX_STARTS:]:
        seen = trace.boot_at(*boot.lines) or BootTrace(boot.index)
        root = boot.root_cause
        start = {
            "boot": boot.index,
            "verdict": boot.verdict.value,
            "world_size": seen.world_size or None,
            "node_rank": _node_rank(boot, seen),
            "ranks": sorted(seen.ranks),
            "met_at": [_meeting(address, keep_hosts) for address in list(seen.addresses)[:16]],
            "first_seen": time_text(seen.first),
            "last_seen": time_text(seen.last),
            "root_cause": cause_record(root, boot) if root else None,
            "failed_at": None,
            "rank": None,
            "process": "",
        }
        if root is not None and root.evidence:
            first = root.evidence[0]
            rank = seen.rank_of(first.process)
            start.update(failed_at=time_text(seen.time_at(first.line)), rank=rank, process=clip(first.process, 60))
        found.append(start)
    return found


def _node_rank(boot: BootDiagnosis, seen: BootTrace) -> int | None:
    fact = boot.facts.get("args.node_rank")
    stated = str(fact.value) if fact else ""
    return int(stated) if stated.isdecimal() and stated.isascii() and len(stated) < 7 else seen.node_rank


def _meeting(address: str, keep_hosts: bool) -> str:
    """Return a rendezvous address with its host hidden; loopback says only that all ranks are on one node."""
    host, colon, port = address.rpartition(":")
    host, port = (host, port) if colon and port.isdecimal() else (address, "")
    if host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0"):
        return "loopback"
    shown = hidden(host, keep_hosts)
    return f"{shown}:{port}" if port else shown
