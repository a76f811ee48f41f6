"""The logs that a command line means, one after another in a fixed order: files, directories, patterns, archives.

Nothing is opened here but what must be: a file of a directory whose name does not tell, and archives, whose members
are handed on as pieces of bytes while the archive is read once from front to back.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from logdoctor.fleet.archives import PIECE, ArchiveError, Member, members
from logdoctor.fleet.names import SNIFFED, is_archive_name, is_log_name, looks_like_log, may_be_log
from logdoctor.reading.compression import decompressed

STDIN = "-"
MEMBER = "!"
"""Between the name of an archive and that of a file in it."""
_ANY_NAME = frozenset({"*", "**", "*.*"})
"""Last parts of a pattern that choose no file: what they match is sifted as in a directory."""
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://")


@dataclass(frozen=True, slots=True)
class Source:
    """One log to diagnose."""

    name: str
    """As the user will know it: the path as given, joined with what was found below it."""
    path: str = ""
    """Where to open it; empty for a member of an archive."""
    pieces: Iterator[bytes] | None = field(default=None, compare=False)
    """The bytes of a member; to be used before the next source is asked for."""
    problem: str = ""
    """Why it cannot be read, where that is known already; it is not opened, and gets a record all the same."""
    below: str = ""
    """The first directory between the argument and the file, e.g. the node whose logs it holds."""
    archive: bool = False
    """An archive that is not opened yet; its logs are `archive_sources`."""

    @property
    def key(self) -> str:
        """A short name of the name, the same before and after redaction."""
        return key_of(self.name)


Expand = Callable[[str], Iterable[Source]]


def key_of(name: str) -> str:
    """Return the key of a source's name."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_url(path: str) -> bool:
    """Whether a path is an address in an object store."""
    return bool(_URL.match(path))


def with_list(paths: Iterable[str], stdin: BinaryIO) -> list[str]:
    """Return the paths, `-` replaced by those on standard input, one a line or ended by NUL bytes."""
    named: list[str] = []
    for path in paths:
        if path == STDIN:
            data = stdin.read()
            names = data.split(b"\0") if b"\0" in data else data.splitlines()
            named += (os.fsdecode(name) for name in names if name.strip())
        else:
            named.append(path)
    return named


def find_sources(
    paths: Iterable[str],
    *,
    leave_out: Iterable[str] = (),
    open_archives: bool = True,
    expand_url: Expand | None = None,
) -> Iterator[Source]:
    """Yield every log once, in the order of the paths and sorted by name below each.

    Files in `leave_out` (the output itself) are passed over. `expand_url` finds the logs below an object store's
    address.
    """
    finder = _Finder([os.path.realpath(path) for path in leave_out], open_archives, expand_url)
    seen: set[bytes] = set()
    for path in paths:
        for source in finder.below(path):
            mark = bytes.fromhex(source.key)
            if mark not in seen:
                seen.add(mark)
                yield source


def count_sources(paths: Iterable[str], *, leave_out: Iterable[str] = ()) -> int | None:
    """Return how many logs there are; None when archives would have to be read for it."""
    count = 0
    for source in find_sources(paths, leave_out=leave_out, open_archives=False):
        if source.archive:
            return None
        count += 1
    return count


class _Finder:
    """Finds the logs that one path means."""

    def __init__(self, leave_out: list[str], open_archives: bool, expand_url: Expand | None) -> None:
        self._leave_out = frozenset(leave_out)
        self._open_archives = open_archives
        self._expand_url = expand_url

    def below(self, path: str) -> Iterator[Source]:
        if is_url(path):
            yield from self._url(path)
            return
        try:
            mode = Path(path).stat().st_mode
        except (OSError, ValueError) as error:
            # `Path.glob` takes no absolute pattern.
            matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []  # noqa: PTH207
            if not matches:
                yield Source(_clean(path), problem=sentence(error))
            named = Path(path).name not in _ANY_NAME
            for match in matches:
                yield from self._match(match, len(_fixed(path)), named=named)
            return
        if stat.S_ISDIR(mode):
            yield from self._directory(path, len(Path(path).parts))
        else:
            yield from self._file(path, mode, named=True)

    def _url(self, path: str) -> Iterator[Source]:
        if self._expand_url is None:
            yield Source(path, problem="is in an object store, which only the Ray engine reads (--engine ray)")
        else:
            yield from self._expand_url(path)

    def _match(self, path: str, base: int, *, named: bool) -> Iterator[Source]:
        try:
            mode = Path(path).stat().st_mode
        except OSError as error:
            yield Source(_clean(path), problem=sentence(error))
            return
        if stat.S_ISDIR(mode):
            yield from self._directory(path, base)
        else:
            yield from self._file(path, mode, named=named, base=base)

    def _directory(self, path: str, base: int) -> Iterator[Source]:
        """Yield the logs below a directory; links to directories are not followed, hidden names are passed over."""
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError as error:
            yield Source(_clean(path), problem=sentence(error))
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield from self._directory(entry.path, base)
                elif entry.is_file():
                    yield from self._file(entry.path, stat.S_IFREG, named=False, base=base)
            except OSError as error:
                yield Source(_clean(entry.path), problem=sentence(error))

    def _file(self, path: str, mode: int, *, named: bool, base: int = -1) -> Iterator[Source]:
        if self._leave_out and os.path.realpath(path) in self._leave_out:
            return
        name = _clean(path)
        parts = Path(name).parts
        below = parts[base] if 0 <= base < len(parts) - 1 else ""
        if not stat.S_ISREG(mode):
            yield Source(name, problem="is no regular file")
        elif not os.access(path, os.R_OK):
            if named or is_log_name(name) or is_archive_name(name):
                yield Source(name, problem="cannot be read: permission denied", below=below)
        elif is_archive_name(name):
            if self._open_archives:
                yield from archive_sources(name, chunks_of(path), below)
            else:
                yield Source(name, path=path, below=below, archive=True)
        elif named or is_log_name(name) or (may_be_log(name) and _starts_like_log(path)):
            yield Source(name, path=path, below=below)


Chunks = Callable[[Callable[[str], None]], Iterator[bytes]]


def archive_sources(name: str, open_chunks: Chunks, below: str = "") -> Iterator[Source]:
    """Yield the logs of an archive; when it cannot be read to its end, that is the last source.

    `open_chunks` takes a function for remarks and gives the archive's bytes, decompressed.
    """
    remarks: list[str] = []
    stem = re.sub(r"\.(?:tar(?:\.\w+)?|tgz|tzst)$", "", Path(name).name, flags=re.IGNORECASE)
    problem = ""
    try:
        for member in members(open_chunks(remarks.append)):
            found = _member_source(name, member, stem, below)
            if found is not None:
                yield found
    except ArchiveError as error:
        problem = str(error)
    except OSError as error:
        problem = sentence(error)
    if problem or remarks:
        yield Source(name, problem="; ".join(filter(None, [problem, *remarks])).rstrip("."), below=below)


def _member_source(archive: str, member: Member, stem: str, below: str) -> Source | None:
    inside = [part for part in member.name.split("/") if part not in ("", ".", "..")]
    if not inside or inside[-1].startswith("."):
        return None
    path = "/".join(inside)
    name = f"{archive}{MEMBER}{path}"
    if is_archive_name(path):
        return Source(name, problem="is an archive inside an archive, which is not opened")
    pieces = member.pieces
    if not is_log_name(path):
        if not may_be_log(path):
            return None
        start = next(pieces, b"")
        if not looks_like_log(start[:SNIFFED]):
            return None
        pieces = chain([start], pieces)
    directories = inside[1:-1] if inside[0] == stem else inside[:-1]
    return Source(name, pieces=pieces, below=below or (directories[0] if directories else ""))


def chunks_of(path: str) -> Chunks:
    """Return what opens an archive on disk and gives its bytes, decompressed."""

    def read(remark: Callable[[str], None]) -> Iterator[bytes]:
        with Path(path).open("rb") as file:
            yield from decompressed(file, PIECE, remark)

    return read


def _starts_like_log(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return looks_like_log(file.read(SNIFFED))
    except OSError:
        return False


def _fixed(pattern: str) -> tuple[str, ...]:
    """The parts of a pattern before its first wildcard."""
    parts = Path(pattern).parts
    wild = next((position for position, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return parts[:wild]


def _clean(path: str) -> str:
    return str(Path(path))


def sentence(error: OSError | ValueError) -> str:
    """Say why a file cannot be read, without its name and without a full stop."""
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.ENOENT, errno.ENOTDIR):
        return "does not exist"
    if code in (errno.EACCES, errno.EPERM):
        return "cannot be read: permission denied"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {reason[:1].lower()}{reason[1:]}"
