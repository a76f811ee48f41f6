"""Findings in their places, and the fix that they add up to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logdoctor.model import BootDiagnosis, Diagnosis, Evidence, Remedy, Role, Severity, Verdict
from logdoctor.report import render
from logdoctor.report.grouping import (
    condition_text,
    distinct_evidence,
    first_line,
    fix_steps,
    fixed_together,
    group,
    in_log_order,
    is_undecided,
    notes,
    place,
    prose_summary,
    shorten,
)
from logdoctor.report.words import Words

from .cases import (
    CUTLASS,
    ENGINE_DEAD,
    ENGINE_INIT,
    FAILED,
    NO_BOOT,
    READY,
    ULIMIT,
    UNDECIDABLE,
    UNKNOWN_VARIABLE,
    diagnosis,
)

WORDS = Words()


def test_each_finding_has_one_place() -> None:
    groups = group(FAILED.boots[0])
    assert groups.main == (CUTLASS,)
    assert groups.also == (UNKNOWN_VARIABLE,)
    assert groups.noted == (ULIMIT,)
    assert groups.explained == (ENGINE_INIT, ENGINE_DEAD)


def test_without_a_root_cause_the_worst_stand_in() -> None:
    severe = replace(CUTLASS, role=Role.CONTRIBUTING, severity=Severity.ERROR)
    made = replace(FAILED.boots[0], findings=(ULIMIT, UNKNOWN_VARIABLE, severe, ENGINE_INIT))
    assert group(made).main == (severe,)
    assert group(made).also == (UNKNOWN_VARIABLE,)


def test_on_a_server_that_is_up_a_warning_is_no_main_matter() -> None:
    made = replace(READY.boots[0], findings=(UNKNOWN_VARIABLE, ULIMIT))
    assert group(made).main == ()
    assert group(made).also == (UNKNOWN_VARIABLE,)
    assert group(replace(made, verdict=Verdict.UNDETERMINED)).main == (UNKNOWN_VARIABLE,)


def test_a_command_stands_in_the_fix_once() -> None:
    other = replace(UNKNOWN_VARIABLE, remedies=(*UNKNOWN_VARIABLE.remedies, CUTLASS.remedies[0]))
    steps = fix_steps((CUTLASS, other, CUTLASS), WORDS)
    assert [(step.joint, step.verb, step.command) for step in steps] == [
        ("", "add", "--moe-backend marlin"),
        ("or", "set", "VLLM_USE_FLASHINFER_MOE_FP4=0"),
        ("and", "remove", "VLLM_NVFP4_MOE_BACKEND=marlin"),
    ]
    assert [step.condition for step in steps] == ["", "if vLLM is older than 0.24", ""]


def test_advice_has_no_command_and_an_unheard_of_kind_keeps_its_name() -> None:
    made = replace(CUTLASS, remedies=(Remedy("Wait", "advice"), Remedy("Do", "ritual", "dance")))
    assert [(s.verb, s.command, s.summary) for s in fix_steps([made], WORDS)] == [
        ("", "", "Wait"),
        ("ritual", "dance", "Do"),
    ]


def test_or_is_said_once() -> None:
    made = replace(CUTLASS, remedies=(Remedy("Or so", "flag", "--a"), Remedy("Or raise it", "flag", "--b")))
    assert [(s.joint, s.summary) for s in fix_steps([made], WORDS)] == [("", "Or so"), ("or", "Raise it")]


def test_parts_of_one_correction_are_joined_by_and_and_other_ways_by_or() -> None:
    made = replace(
        CUTLASS,
        remedies=(
            Remedy("Write --b instead of --a", "flag", "--b"),
            Remedy("Take --a out", "remove", "--a", with_previous=True),
            Remedy("Or use a newer version", "advice"),
        ),
    )
    assert [step.joint for step in fix_steps([made], WORDS)] == ["", "and", "or"]
    for name in ("terminal", "text", "markdown", "jira", "html"):
        text = render(diagnosis(replace(FAILED.boots[0], findings=(made,))), name)
        assert "or remove" not in text
        assert "or: remove" not in text
    steps = fix_steps([replace(made, remedies=made.remedies[1:])], WORDS)
    assert steps[0].joint == "", "what stands first is joined to nothing"


def test_a_notice_is_no_part_of_the_fix() -> None:
    notice = replace(UNKNOWN_VARIABLE, role=Role.NOTICE)
    assert fixed_together(group(replace(FAILED.boots[0], findings=(CUTLASS, UNKNOWN_VARIABLE)))) == (
        CUTLASS,
        UNKNOWN_VARIABLE,
    )
    assert fixed_together(group(replace(FAILED.boots[0], findings=(CUTLASS, notice)))) == (CUTLASS,)


def test_causes_between_which_nothing_decides_have_no_common_fix() -> None:
    groups = group(UNDECIDABLE.boots[0])
    assert is_undecided(groups)
    assert fixed_together(groups) == ()
    assert prose_summary(UNDECIDABLE).startswith("This decides: ")
    assert prose_summary(NO_BOOT) == NO_BOOT.summary
    assert prose_summary(FAILED) == ""


def test_conditions_read_behind_a_statement() -> None:
    assert condition_text("vLLM is old", WORDS) == "if vLLM is old"
    assert condition_text("only on GB10", WORDS) == "only on GB10"
    assert condition_text(" ", WORDS) == ""


def test_the_same_line_of_a_process_is_evidence_once() -> None:
    first, second = CUTLASS.evidence
    made = replace(CUTLASS, evidence=(first, second, replace(first, line=900), replace(first, process="Worker")))
    assert [(item.line, again) for item, again in distinct_evidence(made)] == [
        (431, (900,)),
        (431, ()),
        (562, ()),
    ]


def test_lists_are_cut_with_a_count_and_notes_stand_once() -> None:
    assert shorten(["a", "b", "c"], 2, WORDS) == "a, b and 1 more"
    assert shorten(["a", "b"], 2, WORDS) == "a, b"
    assert notes(replace(NO_BOOT, notes=("x", " ", "x\ny", "x"))) == ("x", "x y")


@pytest.mark.parametrize(
    ("evidence", "phase", "said"),
    [
        ((Evidence(7, "EngineCore", "x"),), "config", "line 7"),
        ((Evidence(0, "probe", "probe.wedged = true"),), "serving", "by the probe"),
        ((Evidence(0, "launch", "args.x = 1"),), "config", "in the launch"),
        ((Evidence(0, "given", "gpu.name = GB10"),), "config", "as given"),
        ((), "launch", "in the launch"),
        ((), "config", ""),
    ],
)  # fmt: skip
def test_a_finding_says_where_it_stands(evidence: tuple[Evidence, ...], phase: str, said: str) -> None:
    finding = replace(CUTLASS, evidence=evidence, phase=phase)
    assert place(finding, Words()) == said
    boot = BootDiagnosis(1, Verdict.FAILED, "config", (1, 9), findings=(finding,))
    shown = Diagnosis(Verdict.FAILED, "x", (boot,))
    for name in ("text", "terminal", "markdown", "jira", "html", "junit"):
        assert "line 0" not in render(shown, name)
    text = render(shown, "text").splitlines()
    assert any(line.startswith(" ".join(part for part in ("FATAL", finding.id, said) if part) + ": ") for line in text)
    assert all(not item.line or f"line {item.line}" in render(shown, "terminal") for item in evidence)


def test_evidence_is_shown_in_the_order_of_the_log_and_led_by_what_decides() -> None:
    finding = replace(CUTLASS, evidence=(Evidence(9, "E", "it died"), Evidence(3, "E", "it was chosen")))
    assert first_line(finding) == 9
    assert [item.line for item in in_log_order(finding)] == [3, 9]
    assert [item.line for item, _ in distinct_evidence(finding)] == [3, 9]


@pytest.mark.parametrize(
    ("kind", "command", "verb"),
    [
        ("host", "-v hf-cache:/root/.cache/huggingface", "docker run: add"),
        ("host", "--ipc=host", "docker run: add"),
        ("host", "nvidia-smi", "run"),
        ("image", "RUN pip install -U transformers", "Dockerfile: add"),
        ("image", "vllm/vllm-openai:v0.22.0", "use image"),
    ],
)
def test_what_is_no_command_is_not_told_as_one(kind: str, command: str, verb: str) -> None:
    made = replace(CUTLASS, remedies=(Remedy("Do it", kind, command),))
    assert [step.verb for step in fix_steps([made], WORDS)] == [verb]


def test_a_pasted_block_runs_no_image_and_no_option() -> None:
    remedies = (
        Remedy("Newer", "image", "vllm/vllm-openai:v0.22.0"),
        Remedy("Kept", "host", "-v hf-cache:/root/.cache/huggingface", with_previous=True),
        Remedy("Looked at", "host", "nvidia-smi", with_previous=True),
    )
    boot = BootDiagnosis(1, Verdict.FAILED, "weights", (1, 9), findings=(replace(CUTLASS, remedies=remedies),))
    text = render(Diagnosis(Verdict.FAILED, "x", (boot,)), "markdown")
    block = text.partition("```sh\n")[2].partition("```")[0]
    assert [line for line in block.splitlines() if not line.startswith("#")] == ["nvidia-smi"]
