"""The redactor: replaces the same secret by the same placeholder, everywhere in a report."""

from __future__ import annotations

import re
from collections.abc import Iterator

from logdoctor.wording import Part, Worded

from .finding import find, lower_case
from .lazy import Pattern
from .names import kind_of_name
from .shapes import is_opaque
from .spans import HOST_KINDS, PLACEHOLDER, UNNUMBERED, Span, merge
from .tokens import keywords_in
from .values import is_secret_value, read_value
from .wraps import Joined

_EDGE = Pattern(r"^[ \t]*([\w+/=.~-]{6,})|([\w+/=.~-]{6,})[ \t]*$", re.MULTILINE)
_LINE_END = Pattern(r"[ \t]*$", re.MULTILINE)
_PASSES = 8  # each pass hides what the one before uncovered; two are usual
_MOST = 500  # secrets that are looked for in whatever surroundings: bounded work on a log made of secrets


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
        self._ordered: list[str] = []
        self._found: dict[str, list[Span]] = {}
        self._done: dict[str, str] = {}
        self._filled: dict[tuple[Part, ...], list[list[Span]]] = {}

    @property
    def counts(self) -> dict[str, int]:
        """How many different secrets of each kind were replaced, sorted by kind."""
        return {kind: len(values) for kind, values in sorted(self._seen.items())}

    def learn(self, *texts: str) -> None:
        """Take note of the secrets in `texts`, and of the placeholders that stand in them already."""
        new = [text for text in dict.fromkeys(texts) if text not in self._found]
        for text in new:
            self._reserve(text)
        keywords = keywords_in(lower_case("\n".join(new)))
        for text in new:
            self._found[text] = find(text, keep_hosts=self.keep_hosts, keywords=keywords)
            for span in self._found[text]:
                self._placeholder(span, text)

    def learn_worded(self, text: Worded) -> None:
        """Take note of the secrets in what a text was filled with; the tool's own words are none."""
        for part, spans in zip(text.parts, self._spans(text.parts), strict=True):
            self._reserve(part.text)
            for span in spans:
                self._placeholder(span, part.text)
            if not part.own:
                self.learn(part.text)

    def _spans(self, parts: tuple[Part, ...]) -> list[list[Span]]:
        """Return what the whole text shows to be secret, part for part: a value may be one by the word before it."""
        if parts not in self._filled:
            found = find("".join(part.text for part in parts), keep_hosts=self.keep_hosts)
            self._filled[parts] = [*_clipped(parts, found)]
        return self._filled[parts]

    def worded(self, text: Worded) -> Worded:
        """Return a text with the secrets replaced in what it was filled with, folded, cut and quoted after that."""
        done = []
        for part, spans in zip(text.parts, self._spans(text.parts), strict=True):
            if not part.own:
                value = self._apply(part.text, spans)
                value = self.value(part.name, value) if part.name else self.text(value)
                part = Part(part._replace(text=value).shown)
            done.append(part)
        return Worded(done)

    def text(self, text: str) -> str:
        """Return `text` with every secret replaced."""
        if text not in self._done:
            self._reserve(text)
            result = text
            for _ in range(_PASSES):
                changed = self._swept(self._replaced(result))
                if changed == result:
                    break
                result = changed
            self._done[text] = result
        return self._done[text]

    def value(self, name: str, text: str) -> str:
        """Return `text` redacted as the value of a setting called `name`, e.g. `args.api_key`."""
        kind = kind_of_name(name.rpartition(".")[2])
        if not kind or not is_secret_value(text) or (kind.endswith("token") and text.isdigit() and len(text) < 12):
            return self.text(text)
        extents = [(0, len(text))]
        if text[0] in "[({":
            extents = list(read_value(text, 0)) or extents
        self._reserve(text)
        return self.text(self._apply(text, [Span(start, end, kind) for start, end in extents]))

    def _replaced(self, text: str) -> str:
        if text not in self._found:
            self._found[text] = find(text, keep_hosts=self.keep_hosts)
        return self._apply(text, self._found[text])

    def _apply(self, text: str, spans: list[Span]) -> str:
        parts, last = [], 0
        for span in spans:
            parts += [text[last : span.start], self._placeholder(span, text)]
            last = span.end
        return "".join([*parts, text[last:]])

    def _placeholder(self, span: Span, text: str) -> str:
        """Return the placeholder of a span's secret, the same for the same secret."""
        value = span.value or text[span.start : span.end]
        if span.kind in UNNUMBERED:
            self._seen.setdefault(span.kind, set()).add(value)
            return f"<{span.kind}>"
        key = value.lower() if span.kind in HOST_KINDS else value
        if key not in self._placeholders:
            number = self._taken.get(span.kind, 0) + 1
            self._taken[span.kind] = number
            self._placeholders[key] = f"<{span.kind}-{number}>"
            self._seen.setdefault(span.kind, set()).add(key)
            self._remember(value, span.kind, self._placeholders[key])
        return self._placeholders[key]

    def _remember(self, value: str, kind: str, placeholder: str) -> None:
        """Look for a secret in all texts from now on."""
        if len(self._sweep) < _MOST:
            for spelling in _spellings(value, kind):
                self._sweep.setdefault(spelling, placeholder)
            self._ordered = sorted(self._sweep, key=lambda secret: (-len(secret), secret))
            self._done.clear()

    def _reserve(self, text: str) -> None:
        """Let new numbers begin above those of placeholders that stand in the text already."""
        if "<" in text:
            for match in PLACEHOLDER.finditer(text):
                kind, _, number = match.group().strip("<>").rpartition("-")
                if number.isdigit():
                    self._taken[kind] = max(self._taken.get(kind, 0), int(number))

    def _swept(self, text: str) -> str:
        """Replace known secrets wherever they stand, also cut by a line break or by the end of an excerpt."""
        for secret in self._ordered:
            if secret in text:
                text = _replace_word(text, secret, self._sweep[secret])
        if "\n" in text and self._sweep:
            text = self._swept_lines(text)
        long = [secret for secret in self._sweep if len(secret) >= 12]
        if any(secret[:6] in text or secret[-6:] in text for secret in long):
            text = _EDGE.sub(self._fragment, text)
        return text

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
        alone = bool(head) and _LINE_END.match(match.string, match.end())
        for secret, placeholder in self._sweep.items():
            rest = (head and secret.endswith(run)) or ((tail or alone) and secret.startswith(run))
            if rest and len(secret) >= 12 and len(run) < len(secret) and (is_opaque(run) or len(run) >= 10):
                return whole.replace(run, placeholder)
        return whole


def _clipped(parts: tuple[Part, ...], found: list[Span]) -> Iterator[list[Span]]:
    """Yield for each part which stretches of it are secret; none in the tool's own words."""
    start = 0
    for part in parts:
        end = start + len(part.text)
        inside = [span for span in found if span.start < end and span.end > start] if not part.own else []
        spans = []
        for span in inside:
            first, last = max(span.start, start) - start, min(span.end, end) - start
            if any(character.isalnum() for character in part.text[first:last]):
                whole = span.start >= start and span.end <= end
                spans.append(Span(first, last, span.kind, span.value if whole else ""))
        yield spans
        start = end


def _spellings(value: str, kind: str) -> Iterator[str]:
    """Yield the spellings under which a secret is looked for in other texts; none if it could be an ordinary word."""
    if kind in HOST_KINDS:
        if len(value) >= 4 and re.search(r"[.-]|\w{5,}\d\w{2,}", value) and not re.fullmatch(r"[\d.]+", value):
            yield value
        return
    if kind in ("user", "email", "prompt") or len(value) < 6 or PLACEHOLDER.fullmatch(f"<{value}>"):
        return
    if re.fullmatch(r"[\d.,:_-]+|/[\w./-]*|[\w-]+/[\w.-]+", value):  # a number, a path, a model: not everywhere
        return
    plain = re.sub(r"\\+(?=[\"'\\/])", "", value)
    if not (is_opaque(plain) or len(plain) >= 20 or re.search(r"[^\w\s.-]", plain)):
        return
    yield value
    if re.search(r"[^\w.~-]", plain):
        from urllib.parse import quote

        yield from {
            plain,
            quote(plain, safe=""),
            plain.replace("\\", "\\\\"),
            plain.replace('"', '\\"'),
            plain.replace("'", "\\'"),
        } - {value}


def _replace_word(text: str, secret: str, placeholder: str) -> str:
    """Replace a known secret: anywhere if it is long, else only where it stands alone."""
    if len(secret) >= 16:
        return text.replace(secret, placeholder)
    return re.sub(r"(?<![A-Za-z0-9])" + re.escape(secret) + r"(?![A-Za-z0-9])", placeholder, text)
