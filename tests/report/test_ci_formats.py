"""GitLab's Code Quality report and GitHub's annotations."""

from __future__ import annotations

import json
from dataclasses import replace

from logdoctor.model import Evidence, Severity
from logdoctor.report import RenderOptions, render
from logdoctor.report.github import step_summary

from .cases import CASES, CUTLASS, FAILED, HOSTILE, READY, RESTART_LOOP, diagnosis
from .wellformed import check_github, check_gitlab


def test_gitlab_entries_have_the_severities_of_the_format() -> None:
    entries = json.loads(render(FAILED, "gitlab"))
    assert [entry["severity"] for entry in entries] == ["blocker", "major", "info", "critical", "critical"]
    assert entries[0]["location"] == {"path": "nemotron.log", "lines": {"begin": 431}}
    assert entries[0]["fingerprint"] == CUTLASS.fingerprint
    assert "Fix: add --moe-backend marlin" in entries[0]["description"]
    assert entries[3]["description"].endswith("(consequence of nvfp4-moe-cutlass-sm121)")


def test_gitlab_says_each_fingerprint_once_and_nothing_of_a_log_without_findings() -> None:
    text = render(RESTART_LOOP, "gitlab", options=RenderOptions(all_boots=True))
    check_gitlab(text)
    assert len(json.loads(text)) == 5
    assert render(CASES["no-boot"], "gitlab") == "[]\n"


def test_github_annotates_the_cause_first() -> None:
    lines = render(FAILED, "github").splitlines()
    assert lines[0] == "logdoctor: FAILED during profiling (warm-up); 2 min 41 s after start"
    assert lines[1].startswith(
        "::error file=nemotron.log,line=431,title=nvfp4-moe-cutlass-sm121%3A The NVFP4 experts run"
    )
    assert lines[1].endswith(
        f"%0AFix: add --moe-backend marlin (Give the experts to Marlin)%0Afingerprint {CUTLASS.fingerprint}"
    )
    assert [line.split(" ")[0] for line in lines[2:]] == ["::warning", "::notice", "::notice", "::notice"]


def test_github_encodes_what_would_end_a_property_or_a_line() -> None:
    made = replace(CUTLASS, title="a, b: 100%\r\n::error::x ##[group]", evidence=(Evidence(3, "", "x"),))
    text = render(replace(diagnosis(replace(FAILED.boots[0], findings=(made,))), source="a,b:c.log"), "github")
    check_github(text)
    assert "file=a%2Cb%3Ac.log,line=3,title=nvfp4-moe-cutlass-sm121%3A a%2C b%3A 100%25 %3A%3Aerror" in text
    check_github(render(HOSTILE, "github", options=RenderOptions(all_boots=True)))


def test_github_keeps_to_ten_annotations_of_a_level() -> None:
    many = tuple(replace(CUTLASS, id=f"cause-{n}", severity=Severity.ERROR) for n in range(14))
    lines = render(diagnosis(replace(FAILED.boots[0], findings=many)), "github").splitlines()
    assert sum(line.startswith("::error ") for line in lines) == 10
    assert f"error cause-13 (fingerprint {CUTLASS.fingerprint})" in lines


def test_the_step_summary_is_the_markdown_report() -> None:
    assert step_summary(FAILED) == render(FAILED, "markdown") + "\n"
    assert step_summary(READY).startswith("## READY after 2 min 52 s")
