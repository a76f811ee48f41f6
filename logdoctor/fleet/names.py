"""Which files of a directory are logs: by their names, else by their first lines."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from logdoctor.reading.compression import decompressed

SNIFFED = 64 * 1024
"""Bytes of a file, as it lies on disk, that are looked at when its name does not tell."""
_SHOWN_LINES = 20

# `vllm.log`, `vllm.log.1`, `vllm.log-20251130.gz`, `0.log.20251130-093341.zst`, `notes.txt`
_LOG_NAME = re.compile(r"\.log(?:[.\-_~]|$)|\.txt(?:\.(?:gz|zst))?$", re.IGNORECASE)
_ARCHIVE_NAME = re.compile(r"\.(?:tar(?:\.(?:gz|zst))?|tgz|tzst)$", re.IGNORECASE)
_OTHER_ARCHIVE = re.compile(r"\.(?:zip|7z|rar|xz|bz2|tbz2?|txz)$", re.IGNORECASE)
_NEVER = re.compile(
    r"\.(?:ya?ml|md|rst|py|pyc|sh|html?|css|js|png|jpe?g|svg|pdf|so|whl|safetensors|gguf|bin|pt|pth|csv|parquet|db)$",
    re.IGNORECASE,
)

_SHAPES = (
    re.compile(rb'\{[^\n]{0,2000}"(?:log|MESSAGE|textPayload)"\s*:'),  # Docker's json-file, the journal, collectors
    re.compile(rb"\d{4}-\d\d-\d\dT\S{8,40} (?:stdout|stderr) [FP](?: |:|\r|\n|$)"),  # CRI
    re.compile(rb"(?:\x1b\[[0-9;]*m)*\([A-Za-z][^()\n]{0,80}pid=\d"),  # vLLM's own prefixes
    re.compile(rb"(?:\x1b\[[0-9;]*m)*(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d"),
    re.compile(rb"\[pod/[^\]/\s]+/[^\]\s]+\] "),
)


def is_log_name(name: str) -> bool:
    """Whether a file is a log by its name."""
    return not _OTHER_ARCHIVE.search(name) and not is_archive_name(name) and bool(_LOG_NAME.search(_base(name)))


def is_archive_name(name: str) -> bool:
    """Whether a file is an archive that is read through: `.tar`, `.tar.gz`, `.tgz`, `.tar.zst`."""
    return bool(_ARCHIVE_NAME.search(name))


def may_be_log(name: str) -> bool:
    """Whether the content of a file is worth a look when its name says nothing."""
    return not _NEVER.search(name) and not _OTHER_ARCHIVE.search(name) and not is_archive_name(name)


def looks_like_log(start: bytes) -> bool:
    """Whether the first bytes of a file are those of a log: json-file, CRI, the journal, or vLLM's own lines."""
    pieces: Iterable[bytes] = decompressed(io.BytesIO(start), SNIFFED, lambda remark: None)
    text = next(iter(pieces), b"")
    lines = [line for line in text[:SNIFFED].splitlines()[: 2 * _SHOWN_LINES] if line.strip()][:_SHOWN_LINES]
    return any(shape.match(line) for line in lines for shape in _SHAPES)


def _base(name: str) -> str:
    return name.rpartition("/")[2]
