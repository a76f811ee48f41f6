"""Write one page per signature, their index, and the changelog; or say which of them are stale.

python -m logdoctor.database.pages [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from logdoctor.database import changelog
from logdoctor.database.explain import escaped, explain, readable, to_markdown
from logdoctor.database.loading import DatabaseError, make_database, shipped_directory, shipped_entries
from logdoctor.database.schema import Signature

PAGES = "pages"
INDEX = "README.md"
CHANGELOG = "CHANGELOG.md"
_COMMAND = "python -m logdoctor.database.pages"


def render(signatures: Iterable[Signature]) -> dict[str, str]:
    """Return the pages and their index by file name."""
    signatures = tuple(signatures)
    pages = {f"{signature.id}.md": _page(signature) for signature in signatures}
    return pages | {INDEX: _index(signatures)}


def _page(signature: Signature) -> str:
    file = Path(signature.file).name
    note = f"<!-- Written by {_COMMAND} from {file}; change it there. -->"
    return f"{note}\n\n{to_markdown(explain(signature))}\n[All signatures]({INDEX})\n"


def _index(signatures: Sequence[Signature]) -> str:
    harmless = sum(signature.harmless for signature in signatures)
    out = [f"<!-- Written by {_COMMAND}. -->", "", "# Signatures", ""]
    out += [f"{len(signatures)} signatures, {harmless} of them for harmless lines.", ""]
    by_file: dict[str, list[Signature]] = {}
    for signature in signatures:
        by_file.setdefault(Path(signature.file).name, []).append(signature)
    for file, entries in by_file.items():
        out += [f"## {file}", "", "| id | severity | phase | title |", "| --- | --- | --- | --- |"]
        for entry in entries:
            severity = "harmless" if entry.harmless else entry.severity.value
            title = escaped(readable(entry.title))
            out.append(f"| [{entry.id}]({entry.id}.md) | {severity} | {entry.phase.value} | {title} |")
        out.append("")
    return "\n".join(out)


def stale(directory: Path, wanted: Mapping[str, str]) -> list[str]:
    """Return the names of pages that are missing, old, or left over, sorted."""
    present = {path.name: path.read_text("utf-8") for path in directory.glob("*.md")}
    return sorted(name for name in present.keys() | wanted.keys() if present.get(name) != wanted.get(name))


def write(directory: Path, wanted: Mapping[str, str]) -> list[str]:
    """Bring a directory of pages up to date and return the names that changed."""
    directory.mkdir(exist_ok=True)
    names = stale(directory, wanted)
    for name in names:
        if name in wanted:
            (directory / name).write_text(wanted[name], "utf-8")
        else:
            (directory / name).unlink()
    return names


def main(arguments: Sequence[str]) -> int:
    """Write everything, or with `--check` only say what is stale; return the exit status."""
    if set(arguments) - {"--check"}:
        print(f"usage: {_COMMAND} [--check]", file=sys.stderr)
        return 2
    try:
        signatures = make_database(shipped_entries()).signatures
    except DatabaseError as error:
        print(error, file=sys.stderr)
        return 2
    return refresh(shipped_directory(), signatures, only_check=bool(arguments))


def refresh(directory: Path, signatures: Sequence[Signature], only_check: bool) -> int:
    """Write or check the pages and the changelog of one `signatures/` directory."""
    wanted = render(signatures)
    log = directory / CHANGELOG
    before = log.read_text("utf-8") if log.exists() else ""
    after = changelog.updated(before, [signature.id for signature in signatures])
    if only_check:
        names = [f"{PAGES}/{name}" for name in stale(directory / PAGES, wanted)] + [CHANGELOG] * (before != after)
        for name in names:
            print(f"{directory.name}/{name}: stale; run {_COMMAND}")
        return 1 if names else 0
    names = write(directory / PAGES, wanted)
    if before != after:
        log.write_text(after, "utf-8")
    print(f"{len(wanted) - 1} pages, {len(names)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
