"""Two causes that fit the same log are both shown, with what tells them apart and the command that decides."""

from __future__ import annotations

from logdoctor.database.schema import RemedySpec
from logdoctor.model import Role, Severity
from logdoctor.report import RenderOptions, render
from tests.database.build import any_of, signature
from tests.diagnosis.build import banner, boot, database, diagnose, ids, lines, raised, said

FIRST = signature(
    id="first",
    title="The first cause",
    severity=Severity.FATAL,
    match=any_of("strange failure of the store"),
    undecided_with=("second",),
    decide="docker inspect -f '{{.State.OOMKilled}}' NAME",
    decided_when="it prints true",
    remedies=(RemedySpec("Share more", "flag", "--gpu-memory-utilization 0.5"),),
)
SECOND = signature(
    id="second",
    title="The second cause",
    severity=Severity.FATAL,
    match=any_of("strange failure of the store"),
    decided_when="it prints false",
    remedies=(RemedySpec("Share less", "flag", "--gpu-memory-utilization 0.4"),),
)
LOG = raised("RuntimeError: strange failure of the store")


def test_both_causes_are_root_causes_with_what_tells_them_apart() -> None:
    made = boot(LOG, signatures=database(FIRST, SECOND))
    roots = [finding for finding in made.findings if finding.role is Role.ROOT_CAUSE]
    assert [finding.id for finding in roots] == ["first", "second"]
    assert [finding.conditional for finding in roots] == [("it prints true",), ("it prints false",)]
    assert "docker inspect -f '{{.State.OOMKilled}}' NAME" in made.summary


def test_each_keeps_its_own_remedies_although_they_fight() -> None:
    made = boot(LOG, signatures=database(FIRST, SECOND))
    assert [[remedy.command for remedy in finding.remedies] for finding in made.findings] == [
        ["--gpu-memory-utilization 0.5"],
        ["--gpu-memory-utilization 0.4"],
    ]


def test_every_format_shows_both_and_the_command() -> None:
    made = diagnose(LOG, signatures=database(FIRST, SECOND))
    for name in ("terminal", "markdown", "json", "text"):
        text = " ".join(render(made, name, options=RenderOptions()).split())
        for words in ("first", "second", "it prints true", "it prints false", ".State.OOMKilled"):
            assert words in text, (name, words)


def test_a_fact_decides() -> None:
    decided = signature(
        id="second",
        severity=Severity.FATAL,
        match=any_of("strange failure of the store"),
        when={"container.oom_killed": False},
        decided_when="it prints false",
    )
    both = database(FIRST, decided)
    assert len([f for f in boot(LOG, signatures=both).findings if f.role is Role.ROOT_CAUSE]) == 2
    made = boot(LOG, {"container.oom_killed": True}, both)
    assert [finding.id for finding in made.findings] == ["first"]
    assert made.findings[0].conditional == ()
    assert "decides" not in made.summary


def test_causes_that_do_not_name_each_other_stay_one_and_the_others() -> None:
    alone = signature(id="alone", severity=Severity.FATAL, match=any_of("strange failure of the store"))
    made = boot(LOG, signatures=database(FIRST, alone))
    assert [finding.role for finding in made.findings] == [Role.ROOT_CAUSE, Role.CONTRIBUTING]


KILLED = lines(
    banner(tensor_parallel_size=2),
    said("Worker proc VllmWorker-1 died unexpectedly (exit code: -9), shutting down executor.", level="ERROR"),
)


def test_killed_for_memory_or_from_outside_is_open_until_the_container_tells() -> None:
    made = boot(KILLED)
    assert ids(made.findings, Role.ROOT_CAUSE) == ["host-oom-process-killed", "process-killed-from-outside"]
    assert "docker inspect" in made.summary
    told = boot(KILLED, {"container.oom_killed": True})
    assert ids(told.findings, Role.ROOT_CAUSE) == ["host-oom-process-killed"]
    assert ids(boot(KILLED, {"container.oom_killed": False}).findings, Role.ROOT_CAUSE) == [
        "process-killed-from-outside"
    ]


def test_no_blocks_without_any_number_are_open() -> None:
    made = boot("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`")
    assert ids(made.findings, Role.ROOT_CAUSE) == ["kv-cache-share-too-small", "kv-cache-neighbour-charged"]
    assert made.summary.endswith("this decides: nvidia-smi")
