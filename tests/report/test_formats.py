"""What holds for every format: nothing crashes, nothing acts, and all say the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logdoctor.model import Diagnosis
from logdoctor.report import FORMATS, RenderOptions, render

from .cases import CASES
from .strategies import diagnoses
from .test_escaping import VISIBLE

options = st.builds(
    RenderOptions,
    width=st.sampled_from([1, 20, 40, 80, 200]),
    color=st.booleans(),
    ascii=st.booleans(),
    all_boots=st.booleans(),
)
FIRST_LINE = re.compile(r"^(FATAL|ERROR|WARNING|INFO) (\S+) line (\d+): ", re.MULTILINE)
COLOR = re.compile(r"\x1b\[[0-9;]*m")
relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


def acting_characters(text: str) -> set[str]:
    """Return what a terminal or a reader's eye would take for more than text."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t"} - VISIBLE


@pytest.mark.parametrize("format", FORMATS)
@relaxed
@given(diagnosis=diagnoses, options=options)
def test_any_text_renders_as_text(format: str, diagnosis: Diagnosis, options: RenderOptions) -> None:
    text = render(diagnosis, format, options=options)
    assert text.endswith("\n")
    text.encode()
    plain = COLOR.sub("", text) if format == "terminal" and options.color else text
    assert not acting_characters(plain)
    assert not re.search(r"^\s*::", plain, re.MULTILINE)
    assert "##[" not in plain
    if options.ascii:
        assert text.isascii()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_the_same_diagnosis_gives_the_same_bytes(name: str, format: str) -> None:
    assert render(CASES[name], format) == render(CASES[name], format)


@relaxed
@given(diagnosis=diagnoses)
def test_text_and_json_tell_the_same_findings(diagnosis: Diagnosis) -> None:
    text, document = render(diagnosis, "text"), json.loads(render(diagnosis, "json"))
    boot = document["boots"][diagnosis.leading] if document["boots"] else {"findings": []}
    told = sorted((severity.lower(), id, int(line)) for severity, id, line in FIRST_LINE.findall(text))
    held = sorted(
        (f["severity"], f["id"], (f["evidence"][0]["line"] or 0) if f["evidence"] else 0) for f in boot["findings"]
    )
    assert told == held
    assert text.split(maxsplit=1)[0].rstrip(";").lower() == document["verdict"]
    assert set(re.findall(r"fingerprint ([0-9a-f]{8})$", text, re.MULTILINE)) <= {
        f["fingerprint"] for f in boot["findings"]
    }


@pytest.mark.parametrize("name", [name for name in CASES if name != "hostile"])
def test_every_form_says_verdict_ids_and_fingerprint(name: str) -> None:
    diagnosis = CASES[name]
    boot = diagnosis.boot
    findings = boot.findings if boot else ()
    for format in FORMATS:
        text = render(diagnosis, format)
        assert diagnosis.verdict.value in text.lower()
        for finding in findings:
            assert finding.id in text or (format == "terminal" and finding.title in text)
        root = diagnosis.root_cause
        if root is not None:
            assert root.fingerprint in text


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(ValueError, match="unknown format 'xml'; known are terminal, text"):
        render(CASES["ready"], "xml")


@pytest.mark.parametrize("format", ["json", "text", "markdown"])
def test_only_the_terminal_form_loads_rich(format: str) -> None:
    code = (
        "import sys; from logdoctor.model import Diagnosis, Verdict; from logdoctor.report import render;"
        f"render(Diagnosis(Verdict.UNDETERMINED, '', ()), {format!r});"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_boots_are_told_one_after_another() -> None:
    for format in ("terminal", "text", "markdown"):
        text = render(CASES["ready-after-loop"], format, options=RenderOptions(all_boots=True))
        assert [text.count(f"boot {n} of 3") for n in (1, 2, 3)] == [1, 1, 1]
