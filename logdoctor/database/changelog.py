"""Keep `signatures/CHANGELOG.md`: which ids each release of the database added, changed and removed.

The format is Keep a Changelog. Read from the oldest section to the newest, the added ids less the removed ones are
the ids of the database; `updated` writes what is missing for that into the section of the next release. What has
changed in an entry is for people to say, under `### Changed`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

UNRELEASED = "[Unreleased]"
EMPTY = f"""# Changelog of the signatures

The ids that each release added, changed and removed. An id is never used again for something else.

## {UNRELEASED}
"""
PARTS = ("Added", "Changed", "Removed")

_RELEASE = re.compile(r"## (\S.*)")
_PART = re.compile(r"### (\w+)")
_ENTRY = re.compile(r"- `([a-z0-9-]+)`")


@dataclass(slots=True)
class Section:
    """One release: its heading, and the lines under each part."""

    heading: str
    parts: dict[str, list[str]] = field(default_factory=dict)

    def ids(self, part: str) -> set[str]:
        """Return the ids under `Added`, `Changed` or `Removed`."""
        return {found[1] for line in self.parts.get(part, ()) if (found := _ENTRY.match(line))}


def parse(text: str) -> tuple[list[str], list[Section]]:
    """Return the lines before the first release, and the releases, the newest first."""
    head: list[str] = []
    sections: list[Section] = []
    lines = head
    for line in text.splitlines():
        if found := _RELEASE.fullmatch(line):
            sections.append(Section(found[1]))
            lines = sections[-1].parts.setdefault("", [])
        elif sections and (found := _PART.fullmatch(line)):
            lines = sections[-1].parts.setdefault(found[1], [])
        else:
            lines.append(line)
    return head, sections


def recorded_ids(sections: Iterable[Section]) -> set[str]:
    """Return the ids that the log says are in force; sections come the newest first."""
    ids: set[str] = set()
    for section in reversed(list(sections)):
        ids = (ids | section.ids("Added")) - section.ids("Removed")
    return ids


def updated(text: str, ids: Collection[str]) -> str:
    """Return the log with every id that is missing from it added, and every one that is gone removed."""
    head, sections = parse(text or EMPTY)
    if not sections or sections[0].heading != UNRELEASED:
        sections.insert(0, Section(UNRELEASED))
    current, released = sections[0], recorded_ids(sections[1:])
    for part, wanted in (("Added", set(ids) - released), ("Removed", released - set(ids))):
        notes = {found[1]: line for line in current.parts.get(part, ()) if (found := _ENTRY.match(line))}
        current.parts[part] = [notes.get(name, f"- `{name}`") for name in sorted(wanted)]
    return _rendered(head, sections)


def _rendered(head: list[str], sections: Iterable[Section]) -> str:
    blocks = ["\n".join(head).strip("\n")]
    for section in sections:
        blocks.append(f"## {section.heading}")
        for part in ("", *PARTS, *(name for name in section.parts if name and name not in PARTS)):
            body = "\n".join(section.parts.get(part, ())).strip("\n")
            if body:
                blocks.append(f"### {part}\n\n{body}" if part else body)
    return "\n\n".join(block for block in blocks if block) + "\n"
