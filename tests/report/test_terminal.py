"""The terminal report: the first screen answers, nothing passes the edge but what is pasted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from logdoctor.model import Diagnosis, Evidence, Remedy
from logdoctor.report import RenderOptions, render

from .cases import CASES, CUTLASS, FAILED, LAUNCHED, READY, RESTART_LOOP, UNDECIDABLE, UNKNOWN, diagnosis
from .strategies import diagnoses


def at(diagnosis: Diagnosis, width: int = 80, **rest: bool) -> str:
    return render(diagnosis, "terminal", options=RenderOptions(width=width, **rest))


def test_the_first_screen_answers() -> None:
    screen = "\n".join(at(FAILED).splitlines()[:24])
    assert screen.startswith("FAILED during profiling")
    assert "ROOT CAUSE  fatal  nvfp4-moe-cutlass-sm121" in screen
    assert "likely · source" in screen
    assert "  add         --moe-backend marlin" in screen
    assert "verify      the next start prints: Using 'MARLIN' NvFp4 MoE backend" in screen


def test_ready_is_little_more_than_a_line() -> None:
    wide = at(READY, 200).splitlines()
    assert wide[0].startswith(
        "READY after 2 min 52 s · KV cache 450,112 tokens · 7.48x concurrency at 200,000 tokens · "
    )
    assert "NVFP4 linear MARLIN, NVFP4 experts MARLIN, attention FLASHINFER" in "\n".join(wide[:2])
    assert len(wide) <= 5
    assert len(at(READY).splitlines()) <= 8


def test_a_restart_loop_says_that_all_died_the_same_way() -> None:
    assert "boot 3 of 3, all three died the same way" in at(RESTART_LOOP)
    two = diagnosis(*RESTART_LOOP.boots[:2])
    assert "boot 2 of 2, both died the same way" in at(two)
    other = replace(CUTLASS, id="something-else")
    mixed = diagnosis(replace(RESTART_LOOP.boots[0], findings=(other,)), *RESTART_LOOP.boots[1:])
    assert "boot 3 of 3, 2 of them died of this" in at(mixed)
    assert "BOOTS  1 failed something-else (lines 1-661), 2-3 failed nvfp4-moe-cutlass-sm121" in at(mixed)
    alone = diagnosis(*RESTART_LOOP.boots[:2], replace(RESTART_LOOP.boots[2], findings=(other,)))
    assert "boot 3 of 3, no other boot died this way" in at(alone)
    assert "boot 3 of 3, 2 other boots failed" in at(CASES["ready-after-loop"], 120)


def test_an_unknown_failure_says_so_and_how_to_report_it() -> None:
    text = at(UNKNOWN)
    assert re.search(r"^UNKNOWN FAILURE  error  unknown-failure +not in the database$", text, re.MULTILINE)
    assert "    logdoctor --format issue LOG\n" in text
    assert "NEXT\n  run  logdoctor signatures new LOG   Draft" in text
    assert "FIX" not in text
    assert "explain" not in text
    assert "fingerprint" in text


def test_two_causes_stand_side_by_side_with_what_decides() -> None:
    text = at(UNDECIDABLE)
    places = [
        text.index(word) for word in ("DECIDE", "CAUSE 1 OF 2", "OOMKilled true", "CAUSE 2 OF 2", "OOMKilled false")
    ]
    assert places == sorted(places)
    assert "ROOT CAUSE" not in text


def test_color_marks_the_verdict_and_the_severities_only() -> None:
    text = at(FAILED, color=True)
    painted = re.findall(r"\x1b\[([\d;]+)m([^\x1b]*)\x1b\[0m", text)
    assert {word for style, word in painted if style != "1"} == {"FAILED", "fatal", "warning"}
    assert "\x1b[36minfo\x1b[0m" in at(CASES["one-line"], color=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == at(FAILED)
    assert "\x1b" not in at(FAILED)


def test_rich_markup_in_log_text_stays_text() -> None:
    assert "[bold red]markup[/]" in at(CASES["hostile"], 200)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_commands_are_never_wrapped(width: int) -> None:
    long = "--override-generation-config '" + "x " * 200 + "'"
    made = replace(CUTLASS, remedies=(Remedy("Because", "flag", long), Remedy("Else", "host", "a \\\n  b")))
    text = at(diagnosis(replace(FAILED.boots[0], findings=(made,))), width)
    assert long in text
    assert "a \\\n" in text
    assert "vllm/vllm-openai:v0.17.1 --model nvidia/nemotron-3-super-nvfp4 --max-model-len 32768 " in at(
        LAUNCHED, width
    )


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(diagnosis=diagnoses, width=st.sampled_from([60, 80, 133, 200]))
def test_only_what_is_pasted_passes_the_edge(diagnosis: Diagnosis, width: int) -> None:
    boots = tuple(
        replace(boot, findings=tuple(replace(finding, remedies=()) for finding in boot.findings))
        for boot in diagnosis.boots
    )
    text = at(replace(diagnosis, boots=boots, launch=None, redactions={}), width)
    # Defusing a workflow command at the start of a line may lengthen it by three characters.
    assert max(cell_len(line.replace("\\x3a:", "::").replace("\\x23#[", "##[")) for line in text.splitlines()) <= width


def test_evidence_is_cut_with_the_cut_shown() -> None:
    made = replace(CUTLASS, evidence=(Evidence(7, "EngineCore", "word " * 200),), count=1)
    lines = at(diagnosis(replace(FAILED.boots[0], findings=(made,)))).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("    line 7  EngineCore  word"))
    assert lines[start + 3].endswith("…")
    assert not lines[start + 4].strip()


def test_a_line_said_twice_is_shown_once() -> None:
    said = Evidence(7, "EngineCore", "ValueError: no")
    made = replace(CUTLASS, evidence=(said, Evidence(9, "EngineCore", "other"), replace(said, line=30)), count=5)
    text = at(diagnosis(replace(FAILED.boots[0], findings=(made,))))
    assert "    line 7  EngineCore  ValueError: no\n    again on line 30\n    line 9  EngineCore  other\n" in text
    assert "    2 more like this\n" in text


def test_a_single_line_of_evidence_gets_more_room() -> None:
    made = replace(CUTLASS, evidence=(Evidence(7, "EngineCore", "word " * 50 + "end"),), count=1)
    assert "end\n" in at(diagnosis(replace(FAILED.boots[0], findings=(made,))))


def test_nothing_known_is_wrong_has_a_next_step_and_no_fix() -> None:
    boot = CASES["starting"].boots[0]
    asked = replace(boot.findings[0], remedies=(Remedy("Ask the container", "host", "docker inspect NAME"),))
    noise = replace(asked, id="noise", phase="config", remedies=())
    text = at(diagnosis(replace(boot, findings=(noise, asked))))
    assert "FOUND  info  weights-still-loading" in text
    assert "NEXT\n  run  docker inspect NAME   Ask the container\n" in text
    assert "NOTED  noise (line 95)" in text


def test_wide_characters_keep_to_the_width() -> None:
    made = replace(CUTLASS, title="漢字" * 60, cause="漢字 " * 90, evidence=(Evidence(7, "Engine", "漢字" * 90),))
    for line in at(diagnosis(replace(FAILED.boots[0], findings=(made,)))).splitlines():
        assert cell_len(line) <= 80


def test_no_line_ends_in_blanks() -> None:
    for name in CASES:
        for width in (80, 200):
            assert not re.search(r"[ \t]$", at(CASES[name], width), re.MULTILINE)


def line_of(text: str, start: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith(start))


def test_evidence_that_would_push_the_fix_off_the_first_screen_follows_it() -> None:
    long = replace(CUTLASS, cause="The kernel was built for another GPU. " * 6)
    text = at(diagnosis(replace(FAILED.boots[0], findings=(long,))))
    assert line_of(text, "FIX") <= 15
    assert line_of(text, "EVIDENCE") > line_of(text, "FIX")
    assert "line 562" in text[text.index("EVIDENCE") :]
    short = at(diagnosis(replace(FAILED.boots[0], findings=(replace(CUTLASS, cause=CUTLASS.title),))))
    assert "EVIDENCE" not in short
    assert short.index("line 562") < short.index("FIX")


def test_what_decides_stands_above_the_causes_and_the_same_evidence_once() -> None:
    shared = tuple(replace(cause, evidence=CUTLASS.evidence) for cause in UNDECIDABLE.boots[0].findings[:2])
    boot = replace(UNDECIDABLE.boots[0], findings=shared, summary="did not start; this decides: nvidia-smi")
    text = at(diagnosis(boot))
    assert "\nDECIDE  nvidia-smi\n" in text
    assert text.index("DECIDE") < text.index("CAUSE 1 OF 2")
    assert "did not start" not in text
    crowded = tuple(replace(one, cause="So it is. " * 70) for one in shared)
    text = at(diagnosis(replace(boot, findings=crowded)))
    assert text.count("line 562") == 1
    assert text.index("EVIDENCE") > text.index("CAUSE 2 OF 2")


def test_the_fix_of_a_candidate_is_headed_once() -> None:
    both = (Remedy("One", "flag", "--a"), Remedy("Two", "flag", "--b"))
    causes = tuple(replace(cause, remedies=both) for cause in UNDECIDABLE.boots[0].findings[:2])
    text = at(diagnosis(replace(UNDECIDABLE.boots[0], findings=causes)))
    assert "  FIX add     --a" in text
    assert "      or add  --b" in text


def test_lines_are_counted_in_their_number() -> None:
    first, second = CUTLASS.evidence
    for lines, said in (((900,), "again on line 900"), ((900, 901), "again on lines 900, 901")):
        made = replace(CUTLASS, evidence=(first, second, *(replace(first, line=line) for line in lines)))
        boot = replace(FAILED.boots[0], findings=(made,))
        assert said in at(diagnosis(boot))
        assert said in render(diagnosis(boot), "text")


def test_a_long_name_of_a_model_stands_beside_the_version() -> None:
    name = replace(FAILED.boots[0].facts["model.served_name"], value="nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4")
    boot = replace(FAILED.boots[0], facts={**FAILED.boots[0].facts, "model.served_name": name})
    lines = at(diagnosis(boot)).splitlines()
    assert "vLLM 0.17.1 · nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4" in lines
    assert lines[lines.index("vLLM 0.17.1 · nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4") + 1].startswith(
        "  (NemotronHForCausalLM, modelopt_fp4)"
    )


def test_the_names_of_a_finding_stand_apart_where_a_line_cannot_hold_both() -> None:
    long = replace(CUTLASS, id="a-finding-with-a-name-of-some-forty-letters")
    lines = at(diagnosis(replace(FAILED.boots[0], findings=(long,))), 70).splitlines()
    assert f"logdoctor explain {long.id}" in lines
    assert f"fingerprint {long.fingerprint}" in lines
    assert f"logdoctor explain {CUTLASS.id} · fingerprint {CUTLASS.fingerprint}" in at(FAILED)
