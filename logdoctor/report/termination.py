"""The termination message of a Kubernetes container: cause, fix and fingerprint on one line of at most 1,024 bytes.

One line, because a health check's output is shown as one, too: by Docker, by cron's mail, by `kubectl describe`.
All containers of a pod share 12 KiB, and `kubectl describe` shows the text as it is. Write it over the file that the
kubelet made (`/dev/termination-log`); that file cannot be renamed over.
"""

from __future__ import annotations

from logdoctor.model import Diagnosis, Finding
from logdoctor.report.escaping import defuse_commands, one_line, to_ascii
from logdoctor.report.grouping import Groups, first_fix, fix_heading, fixed_together, group
from logdoctor.report.headline import headline, verdict_word
from logdoctor.report.options import RenderOptions
from logdoctor.report.words import Words

MAX_BYTES = 1_024
_BETWEEN = "; "
_ID, _FIX, _PRINT = 200, 360, 80


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return one line: verdict and cause, the fix, the fingerprint, and of the reason as much as there is room for."""
    words, boot = Words(options.lang), diagnosis.boot
    groups = group(boot) if boot else Groups()
    first = groups.main[0] if groups.main else None
    parts = _parts(diagnosis, groups, first, words)
    parts = [to_ascii(part) if options.ascii else part for part in (defuse_commands(part) for part in parts)]
    # What stands first gets what the short parts behind it leave; a separator or the line's end follows each.
    parts = [_cut(part, limit) for part, limit in zip(parts, (MAX_BYTES, _FIX, _PRINT, MAX_BYTES), strict=True)]
    room = MAX_BYTES - 1 - sum(len(part.encode()) + len(_BETWEEN) for part in parts[1:3] if part)
    parts[0] = _cut(parts[0], room)
    parts[3] = _cut(parts[3], room - len(parts[0].encode()) - len(_BETWEEN))
    return _BETWEEN.join(part for part in parts if part) + "\n"


def _parts(diagnosis: Diagnosis, groups: Groups, first: Finding | None, words: Words) -> list[str]:
    """Return cause, fix, fingerprint and reason; empty where there is none."""
    said = "; ".join(headline(diagnosis, words))
    if first is None:
        return [said, "", "", ""]
    verdict = verdict_word(diagnosis, words)
    ids = f" {words('or')} ".join(_cut(one_line(finding.id), _ID) for finding in groups.main)
    together = fixed_together(groups) or groups.main
    fix = first_fix(together, words)
    heading = fix_heading(together, words).lower()
    return [
        f"{verdict} {ids}: {one_line(first.title)}",
        f"{heading}: {fix}" if fix else "",
        words("fingerprint", fingerprint=one_line(first.fingerprint)) if first.fingerprint else "",
        "" if one_line(first.cause) == one_line(first.title) else one_line(first.cause),
    ]


def _cut(text: str, limit: int) -> str:
    """Return at most `limit` bytes of `text`, cut at a character, the cut shown where there is room for it."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    return data[: max(0, limit - 3)].decode("utf-8", "ignore") + ("..." if limit >= 3 else "")
