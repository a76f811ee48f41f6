"""A short stable name for a failure: equal for the same failure on another day, host or rank.

Whatever varies without meaning (numbers, quoted values, paths, long tokens) is folded before hashing, so that a
fingerprint neither changes with a secret nor reveals one.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from logdoctor.model import ExceptionInfo

MAX_TEXT = 2000
"""Characters of a message that count."""
_FOLDS = (
    (
        re.compile(r"\b(?:eyJ|(?:sk|hf|gsk|pplx|xai|xapp|nvapi|glpat|pypi|npm|dapi|gh[pousr]|xox[a-z])[-_])[\w.-]{6,}"),
        "T",
    ),
    (
        re.compile(
            r"(?i)((?:key|token|passw(?:or)?d|secret|cookie|authorization)[\"']?\s?[=:]\s?)"
            r"(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s,;]+)"
        ),
        r"\1S",
    ),
    (re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`"), "S"),
    (re.compile(r"(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://|/|~/|[A-Z]:\\)[^\s,;:)\]}]+"), "P"),
    (re.compile(r"(?<![\w-])(?=[\w-]{12})(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]+"), "T"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|[-+]?\d[\d,._]*"), "N"),
    (re.compile(r"\s+"), " "),
)


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Replace what varies in a message by letters."""
    text = text[:MAX_TEXT]
    for pattern, letter in _FOLDS:
        text = pattern.sub(letter, text)
    return text.strip()


def fingerprint(*parts: str) -> str:
    """Return eight hexadecimal digits for the parts, as given."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:8]


def of_finding(identifier: str, text: str) -> str:
    """Fingerprint of a known finding: its id and the folded first evidence line."""
    return fingerprint(identifier, fold(text))


def of_exception(exception: ExceptionInfo, phase: str) -> str:
    """Fingerprint of an unknown failure: type, folded message, the last frames, without line numbers."""
    frames = [f"{frame.file.rpartition('/')[2]}:{frame.function}" for frame in exception.frames[-3:]]
    return fingerprint(exception.type, fold(exception.message), phase, *frames)
