"""The verdict in one sentence, and remarks about the input itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from logdoctor.diagnosis.templates import as_text
from logdoctor.facts import Milestones
from logdoctor.model import Facts, Finding, Role, Verdict
from logdoctor.wording import joined, own

_HEADS = {
    Verdict.READY: "up",
    Verdict.DEGRADED: "up, but not as it should be",
    Verdict.STARTING: "still starting when the log ends",
    Verdict.STALLED: "starting, and nothing moves any more",
    Verdict.FAILED: "did not start",
    Verdict.CRASHED: "died after it was up",
    Verdict.STOPPED: "was stopped on request",
    Verdict.UNDETERMINED: "cannot be told from this excerpt",
}


def boot_summary(
    verdict: Verdict, findings: Sequence[Finding], facts: Facts, milestones: Milestones, *, decide: str = ""
) -> str:
    """Return one sentence: how the server stands and, where there is one, the root cause.

    `decide` is the command that decides between several root causes; each of them then says what it would show.
    """
    text = _HEADS[verdict]
    if decide and sum(f.role is Role.ROOT_CAUSE for f in findings) > 1:
        return joined(own(f"{text}; this decides: "), decide)
    root = next((f for f in findings if f.role is Role.ROOT_CAUSE), None)
    if root is not None:
        return joined(own(f"{text}: "), root.title)
    if verdict in (Verdict.STARTING, Verdict.STALLED):
        text += _progress(facts, milestones)
    elif verdict is Verdict.READY:
        text += _up(facts)
    return text


def _progress(facts: Facts, milestones: Milestones) -> str:
    phase = as_text(facts["boot.phase"].value) if "boot.phase" in facts else ""
    text = f", in the phase {phase}" if phase else ""
    done, total = facts.get("weights.shards_done"), facts.get("weights.shards_total")
    if phase == "weights" and done and total:
        text += f", shard {as_text(done.value)} of {as_text(total.value)}"
    return text


def _up(facts: Facts) -> str:
    parts = []
    if "start.seconds" in facts:
        parts.append(f"started in {as_text(facts['start.seconds'].value)} s")
    if "kv_cache.tokens" in facts:
        parts.append(f"KV cache {_grouped(facts['kv_cache.tokens'].value)} tokens")
    if "kv_cache.concurrency" in facts:
        parts.append(f"concurrency {as_text(facts['kv_cache.concurrency'].value)}x")
    return ": " + ", ".join(parts) if parts else ""


def _grouped(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def boot_notes(
    milestones: Milestones,
    too_slow: Iterable[str],
    facts_left_out: int = 0,
    findings_left_out: int = 0,
    strangers: int = 0,
) -> tuple[str, ...]:
    """Return remarks on what the input lacks, on patterns that took too long, and on what was too much."""
    notes = []
    if milestones.excerpt:
        notes.append("The start of this boot is not in the input; what happened before its first line is unknown.")
    if milestones.stderr_missing:
        notes.append("Nothing of standard error is in the input; take the log with: docker logs NAME 2>&1")
    if strangers:
        notes.append(f"Errors of another program in this stream are left aside, the first on line {strangers}.")
    slow = list(too_slow)
    if slow:
        notes.append(f"{len(slow)} patterns ran into their time limit and were skipped on some records.")
    if findings_left_out:
        notes.append(f"{findings_left_out} further findings of this boot are left out.")
    if facts_left_out:
        notes.append(f"{facts_left_out} further arguments and variables in this log were not looked at.")
    return tuple(notes)
