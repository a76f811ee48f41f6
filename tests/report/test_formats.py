"""What holds for every format: nothing crashes, nothing acts, and all say the same."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from logdoctor.model import Diagnosis
from logdoctor.report import FORMATS, RenderOptions, render

from .cases import CASES
from .reading_back import READERS, Told, expected
from .strategies import diagnoses
from .test_escaping import VISIBLE
from .wellformed import CHECKS

options = st.builds(
    RenderOptions,
    width=st.sampled_from([1, 20, 40, 80, 200]),
    color=st.booleans(),
    ascii=st.booleans(),
    all_boots=st.booleans(),
)
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def acting_characters(text: str) -> set[str]:
    """Return what a terminal or a reader's eye would take for more than text."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t"} - VISIBLE


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(diagnosis=diagnoses, options=options)
@example(diagnosis=CASES["hostile"], options=RenderOptions(ascii=True))
@example(diagnosis=CASES["hostile"], options=RenderOptions(all_boots=True))
def test_any_text_is_text_in_every_format(diagnosis: Diagnosis, options: RenderOptions) -> None:
    for format in FORMATS:
        text = render(diagnosis, format, options=options)
        assert text.endswith("\n")
        text.encode()
        plain = COLOR.sub("", text) if format == "terminal" and options.color else text
        assert not acting_characters(plain), format
        assert format == "github" or not re.search(r"^\s*::", plain, re.MULTILINE), format
        assert "##[" not in plain, format
        if options.ascii:
            assert text.isascii(), format
        if format in CHECKS:
            CHECKS[format](text)


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(diagnosis=diagnoses)
def test_every_format_tells_the_same(diagnosis: Diagnosis) -> None:
    check_told(diagnosis)


@pytest.mark.parametrize("name", CASES)
def test_every_format_tells_the_same_of_the_cases(name: str) -> None:
    check_told(CASES[name])


def check_told(diagnosis: Diagnosis) -> None:
    """Read verdict, status, ids and fingerprints back out of every format and compare them."""
    whole = expected(diagnosis)
    for format in FORMATS:
        told = READERS[format](render(diagnosis, format))
        for field in fields(Told):
            said = getattr(told, field.name)
            assert said is None or said == getattr(whole, field.name), (format, field.name)


def test_every_format_is_read_back_and_has_a_place_for_what_counts() -> None:
    assert set(READERS) == set(FORMATS)
    for format in FORMATS:
        told = READERS[format](render(CASES["failed"], format))
        assert told.verdict == ("failed" if format != "gitlab" else None)
        assert "nvfp4-moe-cutlass-sm121" in (*(told.ids or ()), *(told.main or ()))


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_diagnosis_gives_the_same_bytes(format: str) -> None:
    for made in CASES.values():
        assert render(made, format) == render(made, format)


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(ValueError, match="unknown format 'xml'; known are terminal, markdown, json, html"):
        render(CASES["ready"], "xml")


def test_only_the_terminal_form_loads_rich() -> None:
    code = (
        "import sys; from logdoctor.model import Diagnosis, Verdict; from logdoctor.report import FORMATS, render;"
        "[render(Diagnosis(Verdict.UNDETERMINED, '', ()), format) for format in FORMATS if format != 'terminal'];"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_boots_are_told_one_after_another() -> None:
    for format in ("terminal", "text", "markdown"):
        text = render(CASES["ready-after-loop"], format, options=RenderOptions(all_boots=True))
        assert [text.count(f"boot {n} of 3") for n in (1, 2, 3)] == [1, 1, 1]
