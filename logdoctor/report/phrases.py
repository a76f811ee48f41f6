"""The sentences that the diagnosis itself makes, in another language; what comes from an entry is translated there.

A sentence is known by its English template. `{}` stands for what was filled in and stays as it is (names, numbers, log
text); `{+}` for a part that is looked up again. What no template fits speaks English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from logdoctor.model import BootDiagnosis, Budget, Diagnosis, Finding, Launch, Remedy

_HOLE = re.compile(r"\{\+?\}")
_MAX_LENGTH = 2_000
"""Characters; a longer text is none of the tool's own sentences."""


class Phrases:
    """Looks sentences up in pairs of templates."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._exact: Mapping[str, str] = {own: other for own, other in pairs if not _HOLE.search(own)}
        self._templates = [_template(own, other) for own, other in pairs if _HOLE.search(own)]

    def __call__(self, text: str) -> str:
        """Return the text in the other language, as far as its templates are known."""
        if not text or len(text) > _MAX_LENGTH:
            return text
        if text in self._exact:
            return self._exact[text]
        for pattern, again, other in self._templates:
            found = pattern.fullmatch(text)
            if found is not None:
                values = [self(value) if look else value for value, look in zip(found.groups(), again, strict=True)]
                return other.format(*values)
        return text

    def all(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return several texts."""
        return tuple(map(self, texts))


def _template(own: str, other: str) -> tuple[re.Pattern[str], list[bool], str]:
    holes = _HOLE.findall(own)
    pattern = "(.+?)".join(map(re.escape, _HOLE.split(own)))
    return re.compile(pattern, re.DOTALL), [hole == "{+}" for hole in holes], other


def in_language(diagnosis: Diagnosis, lang: str) -> Diagnosis:
    """Return the diagnosis with the tool's own sentences in a language; evidence and facts are never touched."""
    if lang != "zh":
        return diagnosis
    from logdoctor.report.phrases_zh import CHINESE

    said = Phrases(CHINESE)
    return replace(
        diagnosis,
        summary=said(diagnosis.summary),
        boots=tuple(_boot(boot, said) for boot in diagnosis.boots),
        launch=diagnosis.launch and _launch(diagnosis.launch, said),
        notes=said.all(diagnosis.notes),
    )


def _boot(boot: BootDiagnosis, said: Phrases) -> BootDiagnosis:
    return replace(
        boot,
        summary=said(boot.summary),
        findings=tuple(_finding(finding, said) for finding in boot.findings),
        budget=boot.budget and _budget(boot.budget, said),
        notes=said.all(boot.notes),
    )


def _finding(finding: Finding, said: Phrases) -> Finding:
    return replace(
        finding,
        title=said(finding.title),
        cause=said(finding.cause),
        remedies=tuple(_remedy(remedy, said) for remedy in finding.remedies),
        conditional=said.all(finding.conditional),
    )


def _remedy(remedy: Remedy, said: Phrases) -> Remedy:
    # Several conditions are joined by semicolons.
    parts = remedy.condition.split("; ") if remedy.condition else []
    return replace(remedy, summary=said(remedy.summary), condition="；".join(said.all(parts)))


def _budget(budget: Budget, said: Phrases) -> Budget:
    parts = tuple(replace(part, name=said(part.name)) for part in budget.parts)
    return replace(budget, parts=parts, note="；".join(said.all(budget.note.split("; "))) if budget.note else "")


def _launch(launch: Launch, said: Phrases) -> Launch:
    return replace(launch, unknown=said.all(launch.unknown))
