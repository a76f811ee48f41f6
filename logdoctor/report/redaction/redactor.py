"""The redactor: finds what is secret in a text, and replaces the same secret by the same placeholder everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from .addresses import find_addresses
from .assignments import find_assignments, find_spoken
from .lazy import Pattern
from .names import kind_of_name
from .pem import find_private_keys
from .places import find_devices, find_hosts, find_people
from .prompts import find_prompts
from .shapes import is_opaque
from .spans import HOST_KINDS, PLACEHOLDER, UNNUMBERED, Span, is_masked, mask, merge
from .tokens import find_random_runs, find_tokens
from .urls import find_url_credentials
from .values import is_secret_value, read_value
from .wraps import Joined, cut_spans, line_spans

Detector = Callable[[str, str], Iterable[Span]]
"""A detector gets a text and its lower-case form, and yields what it recognises."""

# Where two detectors claim the same stretch, the earlier one names the kind: a token rule before the name of its variable.
SECRET_DETECTORS: tuple[Detector, ...] = (
    find_tokens,
    find_url_credentials,
    find_assignments,
    find_spoken,
)
OTHER_DETECTORS: tuple[Detector, ...] = (find_private_keys, find_random_runs, find_prompts, find_people)
PLACE_DETECTORS: tuple[Detector, ...] = (find_devices, find_addresses, find_hosts)

_CUT = Pattern(r"(?:…|\.\.\.)?\s*$")
_EDGE = Pattern(r"(?m)^[ \t]*([\w+/=.~-]{6,})|([\w+/=.~-]{6,})[ \t]*$")
_PASSES = 8


def find(text: str, *, keep_hosts: bool = False) -> list[Span]:
    """Return everything in `text` that must not be printed, sorted, without overlaps, none across a line end."""
    text = mask(text)
    lower = text.lower()
    places = () if keep_hosts else PLACE_DETECTORS
    secrets = list(chain.from_iterable(detect(text, lower) for detect in SECRET_DETECTORS))
    others = list(chain.from_iterable(detect(text, lower) for detect in (*OTHER_DETECTORS, *places)))
    if "\n" not in text:
        return merge(_unplaced(text, [*secrets, *others]))
    joined = Joined(text)
    low = joined.text.lower()
    again = list(chain.from_iterable(detect(joined.text, low) for detect in SECRET_DETECTORS))
    spans = [*cut_spans(joined, again, secrets), *line_spans(joined, [*secrets, *others])]
    return merge(_unplaced(text, spans))


def _unplaced(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Leave out what is redacted already."""
    for span in spans:
        stretch = text[span.start : span.end]
        if stretch and not is_masked(stretch):
            yield span


class Redactor:
    """Replaces secrets in the texts of one report.

    What one text reveals to be a secret is hidden in all later texts, in whatever surroundings; `learn` the texts of a
    report first, then print `text` of each.
    """

    def __init__(self, *, keep_hosts: bool = False) -> None:
        self.keep_hosts = keep_hosts
        self._placeholders: dict[str, str] = {}
        self._taken: dict[str, int] = {}
        self._seen: dict[str, set[str]] = {}
        self._sweep: dict[str, str] = {}
        self._done: dict[str, str] = {}

    @property
    def counts(self) -> dict[str, int]:
        """How many different secrets of each kind were replaced, sorted by kind."""
        return {kind: len(values) for kind, values in sorted(self._seen.items())}

    def learn(self, *texts: str) -> None:
        """Take note of the secrets in `texts`, and of the placeholders that stand in them already."""
        for text in texts:
            for match in PLACEHOLDER.finditer(text):
                self._reserve(match.group())
        for text in texts:
            for span in find(text, keep_hosts=self.keep_hosts):
                self._placeholder(span, text)

    def text(self, text: str) -> str:
        """Return `text` with every secret replaced."""
        if not text:
            return text
        known = len(self._sweep)
        if (done := self._done.get(text)) is not None:
            return done
        for match in PLACEHOLDER.finditer(text):
            self._reserve(match.group())
        result = text
        for _ in range(_PASSES):
            changed = self._swept(self._replaced(result))
            if changed == result:
                break
            result = changed
        if known == len(self._sweep):
            self._done[text] = result
        return result

    def value(self, name: str, text: str) -> str:
        """Return `text` redacted as the value of a setting called `name`, e.g. `args.api_key`."""
        kind = kind_of_name(name.rpartition(".")[2])
        if not kind or not is_secret_value(text) or (kind.endswith("token") and text.isdigit() and len(text) < 12):
            return self.text(text)
        extents = [(0, len(text))]
        if text[0] in "[({":
            extents = list(read_value(text, 0)) or extents
        spans = [Span(start, end, kind) for start, end in extents]
        return self.text(self._apply(text, spans))

    def _replaced(self, text: str) -> str:
        return self._apply(text, find(text, keep_hosts=self.keep_hosts))

    def _apply(self, text: str, spans: list[Span]) -> str:
        parts, last = [], 0
        for span in spans:
            parts += [text[last : span.start], self._placeholder(span, text)]
            last = span.end
        return "".join([*parts, text[last:]])

    def _placeholder(self, span: Span, text: str) -> str:
        """Return the placeholder of a span's secret, the same for the same secret."""
        value = span.value or text[span.start : span.end]
        self._done.clear()
        if span.kind in UNNUMBERED:
            self._seen.setdefault(span.kind, set()).add(value)
            return f"<{span.kind}>"
        key = value.lower() if span.kind in HOST_KINDS else value
        if key not in self._placeholders:
            number = self._taken.get(span.kind, 0) + 1
            self._taken[span.kind] = number
            self._placeholders[key] = f"<{span.kind}-{number}>"
            self._seen.setdefault(span.kind, set()).add(key)
            for spelling in _spellings(value, span.kind):
                self._sweep.setdefault(spelling, self._placeholders[key])
        return self._placeholders[key]

    def _reserve(self, placeholder: str) -> None:
        """Let new numbers begin above those of placeholders that stand in the text already."""
        kind, _, number = placeholder.strip("<>").rpartition("-")
        if number.isdigit():
            self._taken[kind] = max(self._taken.get(kind, 0), int(number))

    def _swept(self, text: str) -> str:
        """Replace known secrets wherever they stand, also cut by a line break or by the end of an excerpt."""
        for secret in sorted(self._sweep, key=lambda known: (-len(known), known)):
            if secret in text:
                text = _replace_word(text, secret, self._sweep[secret])
        if self._sweep and "\n" in text:
            text = self._swept_lines(text)
        return _EDGE.sub(self._fragment, text) if self._sweep else text

    def _swept_lines(self, text: str) -> str:
        joined = Joined(text)
        spans: list[Span] = []
        for secret, placeholder in self._sweep.items():
            at = joined.text.find(secret)
            while at != -1:
                if joined.crossed(at, at + len(secret)):
                    spans += joined.pieces(Span(at, at + len(secret), placeholder))
                at = joined.text.find(secret, at + 1)
        for span in reversed(merge(spans)):
            text = text[: span.start] + span.kind + text[span.end :]
        return text

    def _fragment(self, match: re.Match[str]) -> str:
        """Replace what begins or ends a line and is the rest of a known secret."""
        whole, head, tail = match.group(), match.group(1), match.group(2)
        run = head or tail
        for secret, placeholder in self._sweep.items():
            if len(secret) >= 12 and len(run) < len(secret) and (secret.endswith(run) if head else secret.startswith(run)):
                if is_opaque(run) or len(run) >= 10:
                    return whole.replace(run, placeholder)
        return whole


def _spellings(value: str, kind: str) -> Iterator[str]:
    """Yield the spellings under which a secret is looked for in other texts; none if it could be an ordinary word."""
    if kind in HOST_KINDS:
        if re.search(r"[\d.-]", value) and len(value) >= 4 and not re.fullmatch(r"[\d.]+", value):
            yield value
        return
    if kind in ("user", "email", "prompt") or len(value) < 6 or re.fullmatch(r"[\d.,:_-]+|/[\w./-]*|[\w-]+/[\w.-]+", value):
        return
    plain = re.sub(r"\\+(?=[\"'\\/])", "", value)
    if not (is_opaque(plain) or len(plain) >= 20 or re.search(r"[^\w\s.-]", plain)):
        return
    yield value
    if re.search(r"[^\w.~-]", plain):
        from urllib.parse import quote

        yield from {plain, quote(plain, safe=""), plain.replace("\\", "\\\\"), plain.replace('"', '\\"'), plain.replace("'", "\\'")} - {value}


def _replace_word(text: str, secret: str, placeholder: str) -> str:
    """Replace a known secret: anywhere if it is long, else only where it stands alone."""
    if len(secret) >= 16:
        return text.replace(secret, placeholder)
    return re.sub(r"(?<![A-Za-z0-9])" + re.escape(secret) + r"(?![A-Za-z0-9])", placeholder, text)
