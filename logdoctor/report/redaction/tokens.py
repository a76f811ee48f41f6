"""Secrets known by their own shape: the rule table, and long random runs."""

from __future__ import annotations

from collections.abc import Iterator

from .lazy import Pattern
from .rules import TOKEN_RULES
from .shapes import is_random
from .spans import Span

Keywords = tuple[tuple[str, int], ...]
"""Literal keywords, each with the index of the rule that it speaks for."""

ALL_KEYWORDS: Keywords = tuple((keyword, index) for index, rule in enumerate(TOKEN_RULES) for keyword in rule.keywords)
_PATTERNS = tuple(Pattern(rule.pattern) for rule in TOKEN_RULES)


def keywords_in(lower: str) -> Keywords:
    """Return the keywords that occur in a lower-cased text, with the rules they speak for.

    Asked once for all texts of a report, it spares each of them most of the two hundred keywords.
    """
    return tuple(pair for pair in ALL_KEYWORDS if pair[0] in lower)


def find_tokens(text: str, lower: str, keywords: Keywords = ALL_KEYWORDS) -> Iterator[Span]:
    """Yield every token of the rule table."""
    for index in sorted({index for keyword, index in keywords if keyword in lower}):
        rule, pattern, position = TOKEN_RULES[index], _PATTERNS[index], 0
        while match := pattern.search(text, position):
            if rule.word and not may_begin(text, match.start()):
                position = match.start() + 1
                continue
            group = "secret" if "secret" in match.re.groupindex else 0
            yield Span(match.start(group), match.end(group), rule.kind)
            position = match.end()


# What may stand right before a word although it ends in a letter or a digit: an escape, a percent-encoded character,
# a colour sequence.
_LEAD = Pattern(r"(?:\\[nrtbfv0]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[0-9;]{1,12}m)\Z")


def may_begin(text: str, position: int) -> bool:
    """Tell whether a word may begin at `position`."""
    before = text[max(0, position - 16) : position]
    return not (before and before[-1].isalnum() and before[-1].isascii()) or bool(_LEAD.search(before))


# A key without a prefix: 30 or more characters of base64url that nobody wrote by hand. Hex digests, lower-case cache
# hashes, CamelCase names and mangled symbols are told apart by `is_random`; a path or module component is no candidate.
_RUN = Pattern(r"(?<![A-Za-z0-9_./+=%$@\\-])[A-Za-z0-9+/_-]{30,512}={0,2}(?![A-Za-z0-9_./%(:@-])")


def find_random_runs(text: str, lower: str) -> Iterator[Span]:
    """Yield long random runs that no rule names."""
    del lower
    for match in _RUN.finditer(text):
        run = match.group()
        if not run.startswith(("_Z", "/")) and run.count("/") <= 3 and run.count("_") <= 4 and is_random(run):
            yield Span(match.start(), match.end(), "secret")
