"""The first lines of a report for people: the verdict, how the boots compare, and what was started."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from logdoctor.model import BootDiagnosis, Diagnosis, Phase, Role, Verdict
from logdoctor.report.escaping import clip, one_line
from logdoctor.report.services import is_shared, others_state, own_boots, service_of
from logdoctor.report.values import duration, fact_value, number, origin_text
from logdoctor.report.words import UNKNOWN_FAILURE, Words

DEAD = frozenset({Verdict.FAILED, Verdict.CRASHED})
_UP = frozenset({Verdict.READY, Verdict.DEGRADED})
MAX_BOOTS = 100
"""Boots told one after another; more are read by no one, and are in the JSON report."""
_UNFINISHED = frozenset({Verdict.STARTING, Verdict.STALLED})

_BACKENDS = (
    "nvfp4.linear_backend",
    "nvfp4.moe_backend",
    "fp8.linear_backend",
    "fp8.moe_backend",
    "mxfp4.moe_backend",
    "unquantized.moe_backend",
    "attention.backend",
    "mamba.backend",
)


def boot_views(diagnosis: Diagnosis, all_boots: bool, limit: int = MAX_BOOTS) -> tuple[Diagnosis, ...]:
    """Return the diagnosis, or with `all_boots` one view of it per boot, each led by that boot.

    Of more boots than `limit` those are kept that tell most: the first, the leading one, and the last ones.
    """
    count = len(diagnosis.boots)
    if not all_boots or count < 2:
        return (diagnosis,)
    kept = range(count)
    chosen = sorted({0, diagnosis.leading, *kept[2 - limit :]}) if count > limit else kept
    return tuple(_led_by(diagnosis, position) for position in chosen)


def _led_by(diagnosis: Diagnosis, position: int) -> Diagnosis:
    boot = diagnosis.boots[position]
    return replace(diagnosis, leading=position, verdict=boot.verdict, summary=boot.summary)


def boots_left_out(diagnosis: Diagnosis, views: Sequence[Diagnosis], words: Words) -> str:
    """Name the boots that have no view although every boot was asked for; empty when there is none."""
    told = {view.leading for view in views}
    left = [boot.index for position, boot in enumerate(diagnosis.boots) if position not in told]
    if len(views) < 2 or not left:
        return ""
    stretches = [[left[0], left[0]]]
    for index in left[1:]:
        if index == stretches[-1][1] + 1:
            stretches[-1][1] = index
        else:
            stretches.append([index, index])
    names = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in stretches)
    return words("boots_left_out", boots=names, count=len(diagnosis.boots))


def verdict_word(diagnosis: Diagnosis, words: Words) -> str:
    """Return the word for the verdict; a launch that was looked at before it ran is not up."""
    boot = diagnosis.boot
    never_ran = boot is not None and "launch.kind" in boot.facts and "boot.verdict" not in boot.facts
    return words(
        "verdict.launch" if never_ran and diagnosis.verdict is Verdict.READY else f"verdict.{diagnosis.verdict.value}"
    )


def headline(diagnosis: Diagnosis, words: Words) -> tuple[str, ...]:
    """Return the statements of the first line; the first begins with the verdict word."""
    word = verdict_word(diagnosis, words)
    boot = diagnosis.boot
    if boot is None:
        return (word, words("no_boot"))
    service = service_of(boot, diagnosis)
    word = words("of_service", verdict=word, service=service) if service else word
    if diagnosis.verdict in _UP:
        seconds = load_seconds(boot)
        first = word if seconds is None else f"{word} {words('after', time=duration(seconds))}"
        parts = [first, *serving_parts(boot, words)]
        return (*parts, *filter(None, _about_boots(diagnosis, words)))
    return (_first_statement(diagnosis, boot, word, words), *_other_statements(diagnosis, boot, words))


def _first_statement(diagnosis: Diagnosis, boot: BootDiagnosis, word: str, words: Words) -> str:
    if diagnosis.verdict is Verdict.STOPPED:
        root = boot.root_cause
        return f"{word} {words('orderly' if root is None else 'before_up')}"
    if diagnosis.verdict is Verdict.UNDETERMINED or not boot.phase:
        return word
    phase = _told_phase(boot)
    return f"{word} {words.get('phase.' + phase, one_line(phase))}"


_PHASES = tuple(phase.value for phase in Phase)
_CHECKED_LATE = (Phase.PLATFORM.value, Phase.DISTRIBUTED.value)
_AFTER_THE_START = (Phase.SERVING.value, Phase.SHUTDOWN.value)


def _told_phase(boot: BootDiagnosis) -> str:
    """Return the phase of the headline: where the log stands, or what failed where that came later in a start.

    A check may be the first of its phase to write anything: then the log still stands in the phase before.
    """
    root = boot.root_cause
    if boot.verdict is not Verdict.FAILED or root is None or root.phase not in _PHASES or boot.phase not in _PHASES:
        return boot.phase
    # Processes connect before the memory of their device is checked: what says the latter knows better.
    later = _PHASES.index(root.phase) > _PHASES.index(boot.phase) or (root.phase, boot.phase) == _CHECKED_LATE
    return root.phase if later and root.phase not in _AFTER_THE_START else boot.phase


def _other_statements(diagnosis: Diagnosis, boot: BootDiagnosis, words: Words) -> Iterable[str]:
    if diagnosis.verdict in _UNFINISHED:
        yield from progress_parts(boot, words)
    if diagnosis.verdict is Verdict.UNDETERMINED:
        yield words("cannot_tell")
    own, *others = _about_boots(diagnosis, words)
    if own:
        yield own
    if boot.seconds is not None and not 0 <= boot.seconds < 1:
        yield words("after_start", time=duration(boot.seconds))
    yield from others


def _about_boots(diagnosis: Diagnosis, words: Words) -> Iterable[str]:
    """Compare the leading boot with the others of its service, if any, and say how other services stand."""
    yield boots_phrase(diagnosis, words) if len(own_boots(diagnosis).boots) > 1 else ""
    if is_shared(diagnosis):
        yield others_state(diagnosis, words)


@dataclass(frozen=True, slots=True)
class BootsSummary:
    """How the boots of one log compare with the leading one."""

    count: int
    leading: int
    """Index of the leading boot, from 1."""
    failed: int
    """Boots that failed or crashed."""
    same_cause: int
    """Boots, the leading one included, that died of its cause; 0 when it did not die or why is open."""


def boots_summary(diagnosis: Diagnosis) -> BootsSummary | None:
    """Compare the boots; None when there is no boot."""
    boot = diagnosis.boot
    if boot is None:
        return None
    dead = [other for other in diagnosis.boots if other.verdict in DEAD]
    cause = _cause(boot) if boot.verdict in DEAD else ()
    same = sum(_cause(other) == cause for other in dead) if cause else 0
    return BootsSummary(len(diagnosis.boots), boot.index, len(dead), same)


def _cause(boot: BootDiagnosis) -> tuple[str, ...]:
    """Return what tells this boot's cause from another's: unknown failures are compared by fingerprint."""
    roots = (finding for finding in boot.findings if finding.role is Role.ROOT_CAUSE)
    return tuple(sorted(f.fingerprint or f.title if f.id == UNKNOWN_FAILURE else f.id for f in roots))


def boots_phrase(diagnosis: Diagnosis, words: Words) -> str:
    """Say which boot leads and how the others went, e.g. `boot 3 of 3, all three died the same way`.

    Where several services write into the log, its own boots are those that count.
    """
    shared, diagnosis = is_shared(diagnosis), own_boots(diagnosis)
    summary = boots_summary(diagnosis)
    if summary is None:
        return ""
    count, same = summary.count, summary.same_cause
    others_failed = summary.failed - (1 if diagnosis.boots[diagnosis.leading].verdict in DEAD else 0)
    how = ""
    if same == count == 2:
        how = words("same_both")
    elif same == count:
        how = words("same_all", count=words.get(f"number.{count}", str(count)))
    elif same > 1:
        how = words("same_some", same=same, count=count)
    elif same == 1 and others_failed:
        how = words("same_none")
    elif others_failed:
        how = words("others_failed_one") if others_failed == 1 else words("others_failed", failed=others_failed)
    index = diagnosis.leading + 1 if shared else summary.leading
    which = words("own_boot_of" if shared else "boot_of", index=index, count=count)
    return words("comma").join(part for part in (which, how) if part)


def boot_groups(diagnosis: Diagnosis, words: Words) -> tuple[str, ...]:
    """Return one statement per stretch of boots that went the same way; empty when all did."""
    groups: list[tuple[tuple[str, ...], list[BootDiagnosis]]] = []
    for boot in diagnosis.boots:
        service = service_of(boot, diagnosis)
        verdict, cause = words(f"verdict.{boot.verdict.value}").lower(), boot.root_cause.id if boot.root_cause else ""
        key = (words("service_verdict", service=service, verdict=verdict) if service else verdict, cause)
        if groups and groups[-1][0] == key:
            groups[-1][1].append(boot)
        else:
            groups.append((key, [boot]))
    return tuple(_group_text(key, boots) for key, boots in groups) if len(groups) > 1 else ()


def _group_text(key: tuple[str, ...], boots: Sequence[BootDiagnosis]) -> str:
    first, last = boots[0], boots[-1]
    which = str(first.index) if first is last else f"{first.index}-{last.index}"
    return " ".join(part for part in (which, *key, f"(lines {first.lines[0]}-{last.lines[1]})") if part)


def load_seconds(boot: BootDiagnosis) -> float | None:
    """Return how long the start took, from the log's own statement or the time line before serving."""
    stated = number(boot, "start.seconds")
    if stated is not None:
        return stated
    spans = [span.seconds for span in boot.timeline if span.seconds is not None and not _after_start(span.phase)]
    return sum(spans) if spans else None


def _after_start(phase: str) -> bool:
    return phase in ("serving", "shutdown")


def serving_parts(boot: BootDiagnosis, words: Words) -> Iterable[str]:
    """Say what a server that is up works with: KV cache, concurrency, back ends."""
    tokens = number(boot, "kv_cache.tokens")
    if tokens is not None:
        yield words("kv_cache", tokens=f"{tokens:,.0f}")
    factor = number(boot, "kv_cache.concurrency")
    length = number(boot, "kv_cache.max_len")
    length = number(boot, "model.max_len") if length is None else length
    shown = "" if factor is None else f"{factor:,.2f}".rstrip("0").rstrip(".")
    if shown and length is not None:
        yield words("concurrency", factor=shown, length=f"{length:,.0f}")
    elif shown:
        yield words("concurrency_bare", factor=shown)
    backends = [words("backend." + key, name=clip(fact_value(boot, key), 40)) for key in _BACKENDS if key in boot.facts]
    if backends:
        yield ", ".join(backends)


def progress_parts(boot: BootDiagnosis, words: Words) -> Iterable[str]:
    """Say how far a start has come: shards loaded, graphs captured."""
    for what, done, total in (
        ("shards", "weights.shards_done", "weights.shards_total"),
        ("graphs", "graphs.done", "graphs.total"),
    ):
        count, of = number(boot, done), number(boot, total)
        if count is not None and of is not None and count < of:
            yield words("progress", what=words(what), done=f"{count:.0f}", total=f"{of:.0f}")


def subject(boot: BootDiagnosis, words: Words) -> tuple[str, ...]:
    """Say what was started: vLLM's version, the model, the device."""
    version = fact_value(boot, "vllm.version")
    parts = (f"vLLM {clip(version, 40)}" if version else "", _model(boot), _device(boot, words))
    return tuple(part for part in parts if part)


def _model(boot: BootDiagnosis) -> str:
    name = fact_value(boot, "model.served_name") or fact_value(boot, "model.name")
    details = [fact_value(boot, key) for key in ("model.architecture", "model.quantization")]
    inside = ", ".join(clip(detail, 40) for detail in details if detail)
    return " ".join(part for part in (clip(name, 60), f"({inside})" if inside else "") if part)


def _device(boot: BootDiagnosis, words: Words) -> str:
    name = clip(fact_value(boot, "gpu.name"), 40)
    count = number(boot, "gpu.count")
    if name and count is not None and count > 1:
        name = f"{count:.0f} x {name}"
    capability = fact_value(boot, "gpu.compute_capability")
    digits = capability.replace(".", "")
    sm = f"SM{digits}" if digits.isdigit() and len(digits) < 5 else ""
    parts = [part for part in (name, sm) if part]
    if not parts:
        return "CPU" if fact_value(boot, "platform") == "cpu" else ""
    return " ".join(part for part in (", ".join(parts), _device_origin(boot, words)) if part)


def _device_origin(boot: BootDiagnosis, words: Words) -> str:
    fact = boot.facts.get("gpu.name") or boot.facts.get("gpu.compute_capability")
    origin = origin_text(fact, words) if fact else ""
    if fact is not None and fact.origin == "inferred":
        total = number(boot, "memory.total_gib")
        total = number(boot, "gpu.memory_gib") if total is None else total
        origin = words("inferred_from", gib=f"{total:.1f}") if total is not None else origin
    return f"({origin})" if origin else ""
