"""The termination message of a Kubernetes container: the cause, the fix and the fingerprint in at most 1,024 bytes.

All containers of a pod share 12 KiB, and `kubectl describe` shows the text as it is. Write it over the file that the
kubelet made (`/dev/termination-log`); that file cannot be renamed over.
"""

from __future__ import annotations

from logdoctor.model import Diagnosis, Finding
from logdoctor.report.escaping import defuse_commands, one_line, to_ascii
from logdoctor.report.grouping import Groups, first_fix, fix_heading, fixed_together, group
from logdoctor.report.headline import headline
from logdoctor.report.options import RenderOptions
from logdoctor.report.words import Words

MAX_BYTES = 1_024
_ID, _FIX, _PRINT = 200, 360, 80


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return verdict and cause, the fix, the fingerprint, and of the reason as much as there is room for."""
    words, boot = Words(options.lang), diagnosis.boot
    groups = group(boot) if boot else Groups()
    first = groups.main[0] if groups.main else None
    lines = _lines(diagnosis, groups, first, words)
    lines = [to_ascii(line) if options.ascii else line for line in (defuse_commands(line) for line in lines)]
    # Each line ends with a line feed. What stands first gets what the short lines below it leave.
    lines = [_cut(line, limit) for line, limit in zip(lines, (MAX_BYTES, _FIX, _PRINT, MAX_BYTES), strict=True)]
    lower = sum(len(line.encode()) + 1 for line in lines[1:3] if line)
    lines[0] = _cut(lines[0], MAX_BYTES - lower - 1)
    lines[3] = _cut(lines[3], MAX_BYTES - lower - len(lines[0].encode()) - 2)
    return "\n".join(line for line in lines if line) + "\n"


def _lines(diagnosis: Diagnosis, groups: Groups, first: Finding | None, words: Words) -> list[str]:
    """Return the four lines: cause, fix, fingerprint, reason; empty where there is none."""
    said = "; ".join(headline(diagnosis, words))
    if first is None:
        return [said, "", "", ""]
    verdict = words(f"verdict.{diagnosis.verdict.value}")
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
