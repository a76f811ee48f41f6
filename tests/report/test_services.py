"""Several services in one log: each boot is told with the name of its service."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from logdoctor.model import BootDiagnosis, Diagnosis, Verdict
from logdoctor.report import render
from logdoctor.report.headline import boot_groups, boot_views, headline
from logdoctor.report.options import RenderOptions
from logdoctor.report.words import Words

from .cases import FAILED, READY, diagnosis

WORDS = Words()


def boot(service: str, verdict: Verdict, index: int = 1) -> BootDiagnosis:
    made = FAILED.boots[0] if verdict is Verdict.FAILED else READY.boots[0]
    return replace(made, index=index, verdict=verdict, service=service)


def log(*boots: tuple[str, Verdict]) -> Diagnosis:
    return diagnosis(*(boot(name, verdict, index) for index, (name, verdict) in enumerate(boots, 1)))


UP, DEAD = Verdict.READY, Verdict.FAILED


def test_the_headline_names_the_service_that_failed_and_says_how_the_others_stand() -> None:
    said = headline(log(("nano-1", UP), ("super-1", DEAD)), WORDS)
    assert said[0] == "FAILED super-1 during profiling (warm-up)"
    assert said[1:] == ("2 min 41 s after start", "beside it: nano-1 ready")


def test_a_restart_loop_beside_a_healthy_service_counts_its_own_boots() -> None:
    said = headline(log(("nano-1", UP), *[("super-1", DEAD)] * 3), WORDS)
    assert "its boot 3 of 3, all three died the same way" in said
    assert said[-1] == "beside it: nano-1 ready"


def test_a_healthy_leader_is_not_told_with_the_failures_of_others() -> None:
    said = headline(log(("super-1", DEAD), ("super-1", DEAD), ("nano-1", UP)), WORDS)
    assert said[0].startswith("READY nano-1 after ")
    assert said[-1] == "beside it: super-1 failed"
    assert not any("other boot" in part for part in said)


def test_of_a_service_that_recovered_the_last_boot_tells_how_it_stands() -> None:
    said = headline(log(("super-1", DEAD), ("super-1", UP), ("nano-1", UP)), WORDS)
    assert said[-1] == "beside it: super-1 ready"


def test_many_services_are_counted() -> None:
    said = headline(log(*((f"s{number}-1", UP) for number in range(7)), ("bad-1", DEAD)), WORDS)
    assert said[-1] == "beside it: s0-1 ready, s1-1 ready, s2-1 ready, s3-1 ready and 3 more"


def test_one_service_alone_is_not_named() -> None:
    alone = headline(log(("vllm-1", DEAD), ("vllm-1", DEAD)), WORDS)
    assert not any("vllm-1" in part for part in alone)
    assert "boot 2 of 2, both died the same way" in alone


def test_boots_are_listed_with_their_service() -> None:
    listed = boot_groups(log(("nano-1", UP), ("super-1", DEAD), ("super-1", DEAD)), WORDS)
    assert [line.split(" (")[0] for line in listed] == [
        "1 nano-1: ready",
        "2-3 super-1: failed nvfp4-moe-cutlass-sm121",
    ]
    both = boot_groups(log(("nano-1", UP), ("mini-1", UP)), WORDS)
    assert [line.split(" (")[0] for line in both] == ["1 nano-1: ready", "2 mini-1: ready"]


def test_a_view_of_each_boot_names_its_service() -> None:
    views = boot_views(log(("nano-1", UP), ("super-1", DEAD)), all_boots=True)
    assert [headline(view, WORDS)[0].split()[1] for view in views] == ["nano-1", "super-1"]


@pytest.mark.parametrize("name", ["terminal", "markdown", "jira", "html", "github", "issue", "junit"])
def test_reports_for_people_name_the_service(name: str) -> None:
    text = render(log(("nano-1", UP), ("super-1", DEAD)), name)
    assert "super-1" in text
    assert "nano-1" in text


def test_the_document_holds_the_service() -> None:
    assert [one["service"] for one in json.loads(render(log(("", UP), ("super-1", DEAD)), "json"))["boots"]] == [
        None,
        "super-1",
    ]


def test_the_strip_of_boots_names_each_service_once() -> None:
    page = render(log(("nano-1", UP), ("super-1", DEAD), ("super-1", DEAD)), "html")
    assert page.count("<strong>super-1 </strong>") == page.count("<strong>nano-1 </strong>") == 1


def test_test_cases_are_named_by_service_and_boot() -> None:
    text = render(log(("nano-1", UP), ("super-1", DEAD)), "junit", options=RenderOptions(all_boots=True))
    assert 'name="server start of super-1, boot 2"' in text
    assert 'name="server start of nano-1, boot 1"' in text


def test_chinese_has_its_own_words_for_it() -> None:
    said = headline(log(("nano-1", UP), ("super-1", DEAD), ("super-1", DEAD)), Words("zh"))
    assert said[0] == "启动失败 super-1 (显存测算（预热）时)"
    assert said[-1] == "同一日志中：nano-1 就绪"
    assert "该服务的第 2 次启动（共 2 次），两次失败的原因相同" in said


def test_a_service_without_a_name_is_called_so() -> None:
    assert headline(log(("", UP), ("super-1", DEAD)), WORDS)[-1] == "beside it: a service without a name ready"
