"""A small cache that can be neither stale nor poisoned, and that nobody misses when it is not there.

A file is named by what it was made from, so another content is another file. It is written whole or not at all, it
carries a checksum, and it is read only from a directory that belongs to this user and that nobody else may write to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

MAX_BYTES = 64 * 2**20
KEPT_FILES = 8
"""Files of one kind that stay; older ones are removed when a new one is written."""


def directory() -> Path | None:
    """Return where this platform keeps caches, below `XDG_CACHE_HOME` or the home directory; None without either."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if Path(base).is_absolute():
        return Path(base, "logdoctor")
    home = os.environ.get("HOME", "")
    if not Path(home).is_absolute():
        return None
    return Path(home, "Library/Caches/logdoctor") if sys.platform == "darwin" else Path(home, ".cache/logdoctor")


def key_of(*parts: bytes) -> str:
    """Return the name of a content."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()[:32]


def cached(kind: str, key: str, build: Callable[[], bytes]) -> bytes:
    """Return what `build` makes, from the cache where it is there and sound."""
    folder = directory()
    payload = _load(folder, kind, key) if folder else None
    if payload is None:
        payload = build()
        if folder:
            with contextlib.suppress(OSError):
                _store(folder, kind, key, payload)
    return payload


def _load(folder: Path, kind: str, key: str) -> bytes | None:
    path = folder / f"{kind}-{key}"
    try:
        if not (_only_mine(folder) and _only_mine(path)) or path.stat().st_size > MAX_BYTES:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    checksum, payload = data[:32], data[32:]
    return payload if hashlib.sha256(payload).digest() == checksum else None


def _only_mine(path: Path) -> bool:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return False
    return os.name != "posix" or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _store(folder: Path, kind: str, key: str, payload: bytes) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _only_mine(folder):
        return
    temporary = folder / f".{kind}-{key}.{os.getpid()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(payload).digest() + payload)
        temporary.replace(folder / f"{kind}-{key}")
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    kept = sorted(folder.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in kept[KEPT_FILES:]:
        old.unlink(missing_ok=True)
