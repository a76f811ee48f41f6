"""The planted corpus: every secret is caught in every place, and its neighbours stay."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from logdoctor.report.redaction import Redactor
from logdoctor.report.redaction.spans import PLACEHOLDER
from tests.report.redaction_corpus import BARE_PLACES, NAMED_PLACES, Secret, plants, secrets

CORPUS = secrets()
FAMILIES = sorted({secret.family for secret in CORPUS})


def test_size_of_the_corpus() -> None:
    assert len(CORPUS) >= 300
    assert len(NAMED_PLACES) >= 20
    assert all(sum(1 for _ in plants(secret)) >= 20 for secret in CORPUS)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_plant_is_caught(family: str) -> None:
    for secret in (secret for secret in CORPUS if secret.family == family):
        for place, text in plants(secret):
            result = Redactor().text(text)
            left = [fragment for fragment in secret.fragments if fragment in result]
            assert not left, f"{place}: {text!r} -> {result!r}"
            assert result.count("\n") == text.count("\n")


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[A-Za-z_][A-Za-z0-9_./-]+", text))


# Places in which more than the planted secret is secret.
SHARED = {"cookie", "second of two keys", "command line, two keys", "user part of a URL", "proxy"}


@pytest.mark.parametrize("place", sorted({*NAMED_PLACES, *BARE_PLACES} - SHARED))
def test_neighbours_stay(place: str) -> None:
    """Whatever stands around a secret is what a diagnosis needs."""
    for secret in (Secret("plain", "Zq7" * 8 + "xW9", False), Secret("hub", "hf_" + "Zq7Rt5" * 6, True)):
        if place in BARE_PLACES and not secret.shaped:
            continue
        text = {**NAMED_PLACES, **BARE_PLACES}[place](secret.text)
        left = _words(PLACEHOLDER.compiled.sub(" ", Redactor(keep_hosts=True).text(text)))
        lost = {word for word in _words(text) - left if not re.search(r"Zq7|Rt5|hf_Z|^q7", word)}
        assert not lost, f"{place}: {text!r} lost {lost}"
