"""What the entries advise can be done by the reader, and reads as a sentence where the log leaves values open."""

from __future__ import annotations

import re

import pytest

from logdoctor.database import Signature
from logdoctor.model import Severity
from tests.diagnosis.build import shipped

SIGNATURES = tuple(shipped().signatures)
ALWAYS_KNOWN = {"launch-weights-do-not-fit"}
"""Entries that stand on the facts which their texts name."""
HOLE = re.compile(
    r"«(?![^»]*(?:\d|number of»))[^»]*» (?:GiB|GB|tokens|bytes|seconds|s)\b"
    r"|«»|\b(?:is|are|takes?|lacking) «un(?:known|printed)»"
)
"""A number's place without a number, and an empty fallback: the marks stand around what came from a fallback."""
_FALLBACK = re.compile(r"\{[\w.]+\|([^{}]*)\}")
INVENTED = re.compile(r"/models/(?!MODEL\b)[\w./-]+\.(?:py|jinja|json)|ORIGINAL_MODEL|\bX\.Y\.Z\b")
"""Paths and names that nobody's machine has, yet look as if they could be typed."""


def texts(signature: Signature) -> list[str]:
    """Every text for people of an entry, with its fallbacks in marks."""
    own = [signature.title, signature.cause, signature.verify, signature.decided_when, signature.wrong_when]
    own += [remedy.summary for remedy in signature.remedies]
    return [marked(text) for text in own if text]


def marked(text: str) -> str:
    """A text filled with nothing but its fallbacks."""
    return _FALLBACK.sub(r"«\1»", text)


@pytest.mark.parametrize("signature", [s for s in SIGNATURES if s.id not in ALWAYS_KNOWN], ids=lambda s: s.id)
def test_a_text_without_facts_reads_as_a_sentence(signature: Signature) -> None:
    assert [(found[0], text) for text in texts(signature) if (found := HOLE.search(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "what fits: {estimate|none printed} tokens",
        "(others: {budget.foreign_gib|not stated} GiB)",
        "all {probe.answer.reasoning_tokens|} tokens",
        "cannot run: {other|}{need|}.",
        "lacking {budget.missing_gib|unknown}.",
    ],
)
def test_a_hole_is_seen(text: str) -> None:
    assert HOLE.search(marked(text))


def test_nobody_is_sent_into_a_container_that_has_ended() -> None:
    sent = [
        (signature.id, remedy.value)
        for signature in SIGNATURES
        if signature.severity is Severity.FATAL and signature.phase not in ("serving", "shutdown")
        for remedy in signature.remedies
        if remedy.kind == "host" and "docker exec" in remedy.value and "py-spy" not in remedy.value
    ]
    assert sent == []


def test_no_remedy_names_a_file_or_version_that_nobody_has() -> None:
    assert [
        (signature.id, remedy.value)
        for signature in SIGNATURES
        for remedy in signature.remedies
        if INVENTED.search(remedy.value)
    ] == []


def test_a_fixed_kv_cache_is_no_cure_for_a_share_that_is_not_free() -> None:
    for name in ("free-memory-below-desired", "free-memory-just-missed", "free-memory-unified-page-cache"):
        values = [remedy.value for remedy in shipped().by_id[name].remedies]
        assert not any("kv-cache-memory-bytes" in value for value in values), name
