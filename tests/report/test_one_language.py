"""One finding speaks one language: no sentence of a Chinese report is half English."""

from __future__ import annotations

import re

import pytest

from logdoctor import Diagnoser, diagnose
from logdoctor.diagnosis.own_findings import OWN_FINDINGS
from logdoctor.diagnosis.silence import STRETCHES
from logdoctor.follow.command import timed_out
from logdoctor.model import Finding
from logdoctor.report.phrases import Phrases
from logdoctor.report.sentences_zh import VALUES
from tests.sample_logs import SAMPLES

from .test_redaction_cuts import BANNER, traceback

CHINESE = re.compile(r"[\u4e00-\u9fff]")
OWN = {signature.id for signature in OWN_FINDINGS}
LOGS = [
    *sorted((SAMPLES / "synthetic").glob("*.log"))[::3],
    *sorted((SAMPLES / "gpu").glob("*.log"))[::3],
]
UNKNOWN = "(APIServer pid=1) WARNING 11-30 10:00:00 [envs.py:1] Unknown vLLM environment variable detected: {}\n"


def languages(finding: Finding, english: Finding) -> set[bool]:
    """Whether the parts of a finding hold Chinese; what the log or a command says does not count."""
    parts = [finding.cause, *finding.conditional]
    parts += [text for remedy in finding.remedies for text in (remedy.summary, remedy.condition)]
    if finding.id != "unknown-failure":
        parts.append(finding.title)
    return {CHINESE.search(text) is not None for text in parts if text}


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_no_finding_mixes_languages(log: object) -> None:
    chinese, english = diagnose(str(log), lang="zh"), diagnose(str(log))
    assert chinese.verdict == english.verdict
    for boot, other in zip(chinese.boots, english.boots, strict=True):
        assert [finding.id for finding in boot.findings] == [finding.id for finding in other.findings]
        for finding, said in zip(boot.findings, other.findings, strict=True):
            assert finding.fingerprint == said.fingerprint
            assert [remedy.command for remedy in finding.remedies] == [remedy.command for remedy in said.remedies]
            told = languages(finding, said)
            assert len(told) == 1, finding
            if told == {False}:
                assert finding == said
        assert all(CHINESE.search(note) for note in boot.notes)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (UNKNOWN.format("VLLM_NVFP4_MOE_BACKEND_X"), "unknown-variable"),
        (UNKNOWN.format("VLLM_SERVICE_HOST"), "unknown-variable"),
        ("vllm: error: unrecognized arguments: --swap-spacee 4 --max-num-seq 3\n", "unknown-flag"),
        ("vllm: error: unrecognized arguments: --some-flag-of-nobody\n", "unknown-flag"),
        (traceback("of nobody").removeprefix(BANNER), "unknown-failure"),
    ],
)
def test_what_the_tables_say_is_translated(line: str, name: str) -> None:
    report = diagnose((BANNER + line).encode(), lang="zh")
    finding = next(finding for finding in report.findings if finding.id == name)
    assert languages(finding, finding) == {True}
    assert "第" in report.render("text").split(name, 1)[1].split(":", 1)[0]
    assert "line" not in report.render("text").split(name, 1)[1].split("\n", 1)[0].split(":", 1)[0]


def test_an_english_sentence_that_resembles_a_condition_stays() -> None:
    said = Phrases((("{+} is {}", "{0}是 {1}"),), (("vLLM {}", "vLLM {0}"),))
    assert said.sentences("This holds no verb. That neither.") is None
    assert said.find("vLLM 0.24") is None


@pytest.mark.parametrize("stretch", STRETCHES, ids=lambda stretch: stretch.kind)
def test_the_usual_times_are_translated(stretch: object) -> None:
    assert CHINESE.search(Phrases(VALUES)(stretch.normal))  # type: ignore[attr-defined]


def test_following_speaks_one_language_too() -> None:
    diagnoser = Diagnoser(lang="zh")
    diagnoser.feed(BANNER.encode())
    assert CHINESE.search(timed_out(diagnoser.report(), 5).boots[-1].notes[-1])
