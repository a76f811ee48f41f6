"""What random text looks like: the difference between a key and a word, a name or a number."""

from __future__ import annotations

from itertools import pairwise

from .lazy import Pattern

_DIGIT = Pattern(r"\d")
_LETTER = Pattern(r"[A-Za-z]")
_WORD = Pattern(r"[A-Z]?[a-z]{3,}")
_INNER_CAPITAL = Pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


def is_opaque(text: str, least: int = 6) -> bool:
    """Tell whether `text` is no ordinary word: letters with digits, or capitals inside."""
    if len(text) < least or not _LETTER.search(text):
        return False
    return bool(_DIGIT.search(text) or _INNER_CAPITAL.search(text))


def is_random(text: str) -> bool:
    """Tell whether `text` is drawn from an alphabet rather than written: for keys without a known prefix.

    Random base-62 text changes between small letters, capitals and digits at about 60 % of its places; CamelCase
    kernel names and mangled C++ symbols stay far below, and consist of words for the most part. Hex digests and
    lower-case cache hashes never qualify.
    """
    text = text.replace("_", "").replace("-", "")
    if sum(len(word.group()) for word in _WORD.finditer(text)) > 0.45 * len(text):
        return False
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "-" for c in text]
    if classes.count("d") < 3 or not {"u", "l"} <= set(classes):
        return False
    changes = sum(1 for left, right in pairwise(classes) if left != right)
    return changes / (len(classes) - 1) >= 0.42 and len(set(text)) >= 12
