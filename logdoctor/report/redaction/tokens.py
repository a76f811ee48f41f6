"""Secrets known by their own shape: the rule table, and long random runs."""

from __future__ import annotations

from collections.abc import Iterator

from .lazy import Pattern
from .rules import TOKEN_RULES
from .shapes import is_random
from .spans import Span

_KEYWORDS = tuple((keyword, index) for index, rule in enumerate(TOKEN_RULES) for keyword in rule.keywords)
_PATTERNS = tuple(Pattern(rule.pattern) for rule in TOKEN_RULES)


def find_tokens(text: str, lower: str) -> Iterator[Span]:
    """Yield every token of the rule table."""
    for index in sorted({index for keyword, index in _KEYWORDS if keyword in lower}):
        for match in _PATTERNS[index].finditer(text):
            group = "secret" if "secret" in match.re.groupindex else 0
            yield Span(match.start(group), match.end(group), TOKEN_RULES[index].kind)


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
