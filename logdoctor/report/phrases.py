"""The sentences that the diagnosis itself makes, in another language; what comes from an entry is translated there.

A sentence is known by its English template. `{}` stands for what was filled in and stays as it is (names, numbers, log
text); `{+}` for a part that is looked up again. What no template fits speaks English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from logdoctor.model import BootDiagnosis, Budget, Diagnosis, Finding, Launch, Remedy
from logdoctor.report.words import UNKNOWN_FAILURE
from logdoctor.wording import Part, Worded, joined, own

_HOLE = re.compile(r"\{\+?\}")
_PIECE = re.compile(r"\{\d\}|[^{]+")
_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z-])")
_HOLDS = re.compile(r"it holds (?:only (?=if |with ))?")
_BOUND = ("it holds ", "only as a choice against ", "the value in angle brackets ")
"""How a reason begins that is the condition of a remedy."""
_MAX_LENGTH = 2_000
"""Characters; a longer text is none of the tool's own sentences."""


class Phrases:
    """Looks sentences up in pairs of templates."""

    def __init__(self, pairs: Sequence[tuple[str, str]], fragments: Sequence[tuple[str, str]] = ()) -> None:
        """Take pairs of sentences, and of `fragments` that mean something inside of sentences only."""
        self._fragments = Phrases(fragments) if fragments else None
        self._exact: Mapping[str, str] = {text: other for text, other in pairs if not _HOLE.search(text)}
        self._templates = [_template(text, other) for text, other in pairs if _HOLE.search(text)]

    def __call__(self, text: str) -> str:
        """Return the text in the other language; as it is where no template is known."""
        found = self.find(text)
        return text if found is None else found

    def find(self, text: str) -> str | None:
        """Return the text in the other language; None where no template is known.

        What a log filled in stays marked as such, so that redaction still sees it whole.
        """
        if not text or len(text) > _MAX_LENGTH:
            return text or None
        if text in self._exact:
            return own(self._exact[text]) if isinstance(text, Worded) else self._exact[text]
        for pattern, again, other in self._templates:
            found = pattern.fullmatch(text)
            if found is None:
                continue
            values = [_stretch(text, *found.span(number + 1)) for number in range(len(again))]
            values = [self._part(value) if look else value for value, look in zip(values, again, strict=True)]
            if not isinstance(text, Worded):
                return other.format(*values)
            return joined(
                *(values[int(piece[1])] if piece[:1] == "{" else own(piece) for piece in _PIECE.findall(other))
            )
        return None

    def _part(self, text: str) -> str:
        found = self.find(text)
        if found is None and self._fragments is not None:
            found = self._fragments.find(text)
        return text if found is None else found

    def sentences(self, text: str) -> str | None:
        """Return a text of several sentences in the other language; None where one of them is not known."""
        whole = self.find(text) if text else text
        if whole is not None:
            return whole
        parts = [self.find(part) for part in _SENTENCE_END.split(text)]
        known = [part for part in parts if part is not None]
        return "".join(known) if len(known) == len(parts) > 1 else None

    def all(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return several texts."""
        return tuple(map(self, texts))


def _stretch(text: str, start: int, end: int) -> str:
    return text.stretch(start, end) if isinstance(text, Worded) else text[start:end]


def _template(text: str, other: str) -> tuple[re.Pattern[str], list[bool], str]:
    holes = _HOLE.findall(text)
    pattern = "(.+?)".join(map(re.escape, _HOLE.split(text)))
    return re.compile(pattern, re.DOTALL), [hole == "{+}" for hole in holes], other


def in_language(diagnosis: Diagnosis, lang: str, lang_of: Callable[[str], str] = lambda name: "en") -> Diagnosis:
    """Return the diagnosis with the tool's own sentences in a language; evidence and facts are never touched.

    `lang_of` tells which language an entry of the database speaks: one finding speaks one language throughout.
    """
    if lang != "zh":
        return diagnosis
    speaker = _Speaker(lang_of)
    boots = tuple(map(speaker.boot, diagnosis.boots))
    root = diagnosis.root_cause
    return replace(
        diagnosis,
        summary=speaker.summary(diagnosis.summary, root),
        boots=boots,
        launch=diagnosis.launch and speaker.launch(diagnosis.launch),
        notes=speaker.said.all(diagnosis.notes),
    )


def in_words(text: str, lang: str) -> str:
    """Return one of the tool's own sentences in a language."""
    if lang != "zh":
        return text
    from logdoctor.report.phrases_zh import CHINESE

    return Phrases(CHINESE)(text)


class _Speaker:
    """Words findings anew, each in one language: Chinese as a whole, or English as a whole."""

    def __init__(self, lang_of: Callable[[str], str]) -> None:
        from logdoctor.report.phrases_zh import CHINESE
        from logdoctor.report.sentences_zh import CONDITIONS, FRAGMENTS, NAMES, TRANSLATED_FACTS, VALUES

        self.said = Phrases(CHINESE)
        self._names = Phrases((*NAMES, *CHINESE), FRAGMENTS)
        self._conditions = Phrases(CONDITIONS)
        self._values = Phrases(VALUES)
        self._facts = TRANSLATED_FACTS
        self._lang_of = lang_of

    def boot(self, boot: BootDiagnosis) -> BootDiagnosis:
        return replace(
            boot,
            summary=self.summary(boot.summary, boot.root_cause),
            findings=tuple(map(self.finding, boot.findings)),
            budget=boot.budget and _budget(boot.budget, self.said),
            notes=self.said.all(boot.notes),
        )

    def summary(self, text: str, root: Finding | None) -> str:
        """Return the verdict in one sentence; it keeps to English where the cause that it names does."""
        if root is not None and self.finding(root) is root and root.title in text:
            return text
        if root is not None and root.title in text:
            head, _, _ = text.partition(root.title)
            told = self.said.find(f"{head}x")
            return joined(own(told[:-1]), self.finding(root).title) if told is not None else text
        return self.said(text)

    def finding(self, finding: Finding) -> Finding:
        """Return a finding in Chinese; the same one where a part of it is known in English only."""
        if self._lang_of(finding.id) != "en":
            return self._translated(finding)
        told = [self._names.sentences(text) for text in (finding.title, finding.cause, finding.verify)]
        title, cause, verify = told
        if finding.id == UNKNOWN_FAILURE:
            title = title or finding.title  # the log's own words
        remedies = [self._remedy(remedy) for remedy in finding.remedies]
        if title is None or cause is None or verify is None or any(remedy is None for remedy in remedies):
            return finding
        return replace(
            finding,
            title=title,
            cause=cause,
            verify=verify,
            remedies=tuple(remedy for remedy in remedies if remedy is not None),
            conditional=self._conditions.all(finding.conditional),
        )

    def _translated(self, finding: Finding) -> Finding:
        """Word what the diagnosis added to an entry that is translated."""
        return replace(
            finding,
            title=self._filled(finding.title),
            cause=self._filled(finding.cause),
            verify=self._filled(finding.verify),
            remedies=tuple(
                replace(
                    remedy,
                    summary=self._names(self._filled(remedy.summary)),
                    condition=self._condition(remedy.condition),
                )
                for remedy in finding.remedies
            ),
            conditional=self._conditions.all(finding.conditional),
        )

    def _filled(self, text: str) -> str:
        """Word the values that the tool itself filled into a text, such as the name of a phase."""
        if not isinstance(text, Worded):
            return text
        return Worded(
            Part(self._value(part.text), own=True)
            if part.name in self._facts
            else part._replace(text=self.said(part.text))
            if part.own
            else part
            for part in text.parts
        )

    def _value(self, text: str) -> str:
        whole = self._values.find(text)
        return "；".join(self._values.all(text.split("; "))) if whole is None else whole

    def _remedy(self, remedy: Remedy) -> Remedy | None:
        summary = self._names.sentences(remedy.summary)
        return (summary and replace(remedy, summary=summary, condition=self._condition(remedy.condition))) or None

    def launch(self, launch: Launch) -> Launch:
        """Return a launch whose gaps, and whose reasons for what was not applied, are told in Chinese."""
        from logdoctor.report.launch_zh import REASONS, UNKNOWN

        unknown, reasons = Phrases(UNKNOWN), Phrases(REASONS)
        told = tuple(text if (found := unknown.find(text)) is None else found for text in self.said.all(launch.unknown))
        return replace(launch, unknown=told, skipped=tuple(self._skipped(text, reasons) for text in launch.skipped))

    def _skipped(self, text: str, reasons: Phrases) -> str:
        """Word the reason behind a command that was not applied; a bracket may stand in the command as well."""
        for bracket in reversed([*re.finditer(r" \((?=.+\)$)", text, re.DOTALL)]):
            reason = text[bracket.end() : -1]
            said = reasons.find(reason)
            if said is None and reason.startswith(_BOUND):
                said = self._condition(_HOLDS.sub("", reason))
            if said is not None:
                return f"{text[: bracket.start()]}（{said}）"
        return text

    def _condition(self, text: str) -> str:
        # Several conditions are joined by semicolons.
        return "；".join(self._conditions.all(text.split("; "))) if text else ""


def _budget(budget: Budget, said: Phrases) -> Budget:
    parts = tuple(replace(part, name=said(part.name)) for part in budget.parts)
    return replace(budget, parts=parts, note="；".join(said.all(budget.note.split("; "))) if budget.note else "")
