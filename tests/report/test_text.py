"""The piped form: stable first lines that nothing else can be taken for."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from logdoctor.model import Diagnosis, Remedy, Severity
from logdoctor.report import RenderOptions, render

from .cases import CASES, CUTLASS, FAILED, LAUNCHED, NO_BOOT, diagnosis
from .strategies import diagnoses

SEVERE = re.compile(r"^(FATAL|ERROR|WARNING|INFO)\b.*$", re.MULTILINE)


def test_each_finding_has_one_line_at_the_left_edge() -> None:
    assert SEVERE.sub("", "") == ""
    assert [match[0] for match in SEVERE.finditer(render(FAILED, "text"))] == [
        "FATAL nvfp4-moe-cutlass-sm121 line 431: The NVFP4 experts run on CUTLASS kernels that this GPU cannot execute",
        "WARNING unknown-variable line 12: VLLM_NVFP4_MOE_BACKEND is read by no version of vLLM and has no effect",
        "INFO ulimit-not-raised line 9: The limit of open files could not be raised; harmless at this size",
        "ERROR engine-core-init-failed line 655: Engine core initialization failed",
        "ERROR engine-dead line 661: EngineDeadError",
    ]


def test_the_first_line_is_the_verdict() -> None:
    for name, made in CASES.items():
        assert render(made, "text").startswith(made.verdict.value.upper()), name
    assert render(NO_BOOT, "text").startswith("UNDETERMINED; no vLLM start recognised in this input\n")


@settings(deadline=None, max_examples=50, suppress_health_check=list(HealthCheck))
@given(diagnoses)
def test_no_text_of_the_log_looks_like_a_finding(diagnosis: Diagnosis) -> None:
    count = len(diagnosis.boot.findings) if diagnosis.boot else 0
    assert len(SEVERE.findall(render(diagnosis, "text"))) == count


def test_a_model_name_cannot_pose_as_a_finding() -> None:
    boot = FAILED.boots[0]
    posing = replace(boot.facts["model.served_name"], value="FATAL made-up line 1: lies")
    text = render(diagnosis(replace(boot, facts={"model.name": posing}, summary="ERROR x line 2: y")), "text")
    assert len(SEVERE.findall(text)) == len(boot.findings)


def test_a_finding_without_a_line_says_line_0() -> None:
    assert "WARNING parser-of-another-model: " in render(CASES["degraded"], "text")


def test_commands_and_first_lines_are_never_wrapped() -> None:
    long = "--x '" + "y " * 150 + "'"
    made = replace(CUTLASS, title="long " * 60, remedies=(Remedy("", "flag", long),))
    text = render(diagnosis(replace(FAILED.boots[0], findings=(made,))), "text")
    assert f"  fix: add {long}\n" in text
    assert f"FATAL {CUTLASS.id} line 431: {('long ' * 60).strip()}\n" in text
    assert "--gpu-memory-utilization 0.85 --moe-backend marlin\n" in render(LAUNCHED, "text")


def test_prose_is_wrapped_at_100() -> None:
    text = render(FAILED, "text", options=RenderOptions())
    prose = [line for line in text.splitlines()[2:] if line.startswith("  ") and not line.startswith("    line")]
    assert max(map(len, prose)) <= 100


def test_severity_words_follow_the_model() -> None:
    for severity in Severity:
        made = replace(CUTLASS, severity=severity)
        text = render(diagnosis(replace(FAILED.boots[0], findings=(made,))), "text")
        assert f"\n{severity.value.upper()} {CUTLASS.id} line 431: " in text
