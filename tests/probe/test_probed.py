"""What is said of a measured server, alone and together with its log."""

from __future__ import annotations

from functools import cache

import jsonschema
import pytest

from logdoctor.database import Database, load_database
from logdoctor.database.fact_keys import is_fact_key
from logdoctor.diagnosis import diagnose_records
from logdoctor.diagnosis.probed import diagnose_probe
from logdoctor.model import Diagnosis, Fact, Role, Severity, Verdict
from logdoctor.probe import Level, ProbeOptions, compare, probe, stand_ins
from logdoctor.reading import read_text
from logdoctor.report.json import to_dict
from logdoctor.report.schema import schema
from logdoctor.report.status import exit_status
from tests.probe.standin import GARBAGE, Plan, StandIn
from tests.sample_logs import SAMPLES


@cache
def database() -> Database:
    """The shipped entries."""
    return load_database()


@cache
def log_of(name: str) -> Diagnosis:
    """The diagnosis of a sample log."""
    text = (SAMPLES / f"{name}.log").read_text(encoding="utf-8", errors="replace")
    return diagnose_records(read_text(text), database())


def given(**values: object) -> dict[str, Fact]:
    """Facts by hand; `__` stands for a dot."""
    keyed = {key.replace("__", "."): value for key, value in values.items()}
    return {key: Fact(key, value, origin="given") for key, value in keyed.items()}  # type: ignore[arg-type]


def diagnose(plan: Plan, log: Diagnosis | None = None, *, facts: object = None, **options: object) -> Diagnosis:
    """Probe a stand-in and diagnose it; everything that it states is a known fact and fits the schema."""
    with StandIn(plan) as server:
        asked = {"timeout": 10, "patience": 0.2, **options}
        probed = probe(ProbeOptions(server.address, **asked))  # type: ignore[arg-type]
    diagnosis = diagnose_probe(probed, database(), log, given=facts)  # type: ignore[arg-type]
    assert [key for key in probed if not is_fact_key(key)] == []
    jsonschema.validate(to_dict(diagnosis), schema())
    return diagnosis


def ids(diagnosis: Diagnosis) -> set[str]:
    """The ids of what the probe found: what deserves a look or more."""
    assert diagnosis.boot is not None
    return {f.id for f in diagnosis.boot.findings if f.severity is not Severity.INFO}


def test_a_server_in_order_has_no_finding() -> None:
    diagnosis = diagnose(Plan(), level=Level.LOAD, context=True)
    assert diagnosis.verdict is Verdict.READY
    assert ids(diagnosis) == set()
    assert exit_status(diagnosis) == 0
    assert diagnosis.boot is not None
    assert diagnosis.boot.facts["vllm.version"].value == "0.17.1"
    assert diagnosis.boot.facts["model.max_len"].origin == "probe"
    assert "first token after" in diagnosis.summary


THINKS = {"thinking": "hm", "thinking_tokens": 700}
FAULTS = [
    ("probe-engine-dead", Plan(health=503), Verdict.CRASHED),
    ("probe-engine-wedged", Plan(metrics=((0, 3, 9),), hang=True), Verdict.DEGRADED),
    ("probe-answer-timed-out", Plan(hang=True), Verdict.DEGRADED),
    ("probe-answer-timed-out", Plan(drip=True), Verdict.DEGRADED),
    ("probe-answer-failed", Plan(chat_status=500), Verdict.DEGRADED),
    ("probe-answer-rejected", Plan(chat_status=400), Verdict.DEGRADED),
    ("probe-answer-closed", Plan(close=True), Verdict.DEGRADED),
    ("probe-answer-closed", Plan(die=True), Verdict.CRASHED),
    ("probe-answer-unreadable", Plan(body=b"<html>"), Verdict.DEGRADED),
    ("probe-max-tokens-eaten", Plan(**THINKS), Verdict.DEGRADED),  # type: ignore[arg-type]
    ("probe-content-in-reasoning", Plan(thinking="hm", swallow=True), Verdict.DEGRADED),
    ("probe-answer-empty", Plan(content=""), Verdict.DEGRADED),
    ("probe-answer-garbled", Plan(content=GARBAGE), Verdict.DEGRADED),
    ("probe-stream-differs", Plan(stream_loses="content"), Verdict.DEGRADED),
    ("probe-tool-call-in-content", Plan(tool="in content"), Verdict.DEGRADED),
    ("probe-tool-call-stream", Plan(tool_stream="in content"), Verdict.DEGRADED),
    ("probe-tool-call-failed", Plan(tool="broken"), Verdict.DEGRADED),
    ("probe-load-damage", Plan(load="garbled"), Verdict.DEGRADED),
    ("probe-load-damage", Plan(load="wrong"), Verdict.DEGRADED),
    ("probe-load-damage", Plan(load="empty"), Verdict.DEGRADED),
    ("probe-load-failed", Plan(load="failed"), Verdict.DEGRADED),
    ("probe-redirected", Plan(redirect="https://elsewhere.example/"), Verdict.DEGRADED),
    ("probe-not-vllm", Plan(models=False), Verdict.DEGRADED),
    ("probe-key-missing", Plan(key="sk-right-key"), Verdict.DEGRADED),
]


@pytest.mark.parametrize(("finding", "plan", "verdict"), FAULTS, ids=[f"{row[0]}-{n}" for n, row in enumerate(FAULTS)])
def test_each_fault_is_an_error_with_its_name_and_a_way_out(finding: str, plan: Plan, verdict: Verdict) -> None:
    level = Level.LOAD if plan.load else Level.ANSWER
    timeout = 1 if plan.hang or plan.drip else 10
    diagnosis = diagnose(plan, level=level, timeout=timeout)
    root = diagnosis.root_cause
    assert root is not None
    assert (root.id, diagnosis.verdict) == (finding, verdict)
    assert root.remedies
    assert root.evidence
    assert all(evidence.process == "probe" and evidence.line == 0 for evidence in root.evidence)
    assert "<probe." not in root.title + root.cause + "".join(r.command for r in root.remedies)
    assert exit_status(diagnosis) == 1


@pytest.mark.parametrize(
    ("finding", "plan"),
    [
        ("probe-answer-wrong", Plan(content="Paris")),
        ("probe-think-in-content", Plan(thinking="hm", fields=())),
        ("probe-engine-no-progress", Plan(metrics=((1, 0, 9),))),
        ("probe-kv-cache-full", Plan()),
    ],
)
def test_what_may_be_no_fault_is_a_warning(finding: str, plan: Plan) -> None:
    level = Level.HEALTH if finding == "probe-engine-no-progress" else Level.ANSWER
    facts = given(probe__metrics__kv_usage=0.99, probe__metrics__waiting=4) if finding == "probe-kv-cache-full" else {}
    with StandIn(plan) as server:
        probed = {**probe(ProbeOptions(server.address, level=level, patience=0.2)), **facts}
    diagnosis = diagnose_probe(probed, database())
    assert ids(diagnosis) == {finding}
    assert diagnosis.verdict is Verdict.READY
    assert (exit_status(diagnosis), exit_status(diagnosis, Severity.WARNING)) == (0, 1)


def test_an_answer_that_max_tokens_cut_is_no_wrong_answer() -> None:
    diagnosis = diagnose(Plan(thinking="hm", thinking_tokens=600, fields=()))
    assert ids(diagnosis) == {"probe-answer-cut", "probe-think-in-content"}


def test_nobody_there_is_an_error() -> None:
    with StandIn() as server:
        address = server.address
    diagnosis = diagnose_probe(probe(ProbeOptions(address)), database())
    root = diagnosis.root_cause
    assert root is not None
    assert (root.id, root.severity, diagnosis.verdict) == ("probe-unreachable", Severity.ERROR, Verdict.FAILED)
    assert str(address) in root.title
    assert exit_status(diagnosis) == 1


def test_the_swallowed_answer_tells_how_many_tokens_it_took() -> None:
    root = diagnose(Plan(**THINKS)).root_cause  # type: ignore[arg-type]
    assert root is not None
    assert "512" in root.title
    assert "702" in root.cause


# --- together with a log ---------------------------------------------------------------------------------------------


def test_the_log_of_a_dead_server_explains_why_nobody_answers() -> None:
    with StandIn() as server:
        address = server.address
    log = log_of("cpu/0.17.1/sigkill_worker_serving")
    diagnosis = diagnose_probe(probe(ProbeOptions(address)), database(), log)
    assert diagnosis.verdict is Verdict.CRASHED
    assert diagnosis.root_cause == log.root_cause
    assert diagnosis.boot is not None
    found = next(f for f in diagnosis.boot.findings if f.id == "probe-unreachable")
    assert found.role is Role.CONSEQUENCE
    assert log.root_cause is not None
    assert found.explained_by == (log.root_cause.id,)
    assert len(diagnosis.boots) == len(log.boots)


def starting() -> Diagnosis:
    """A log that ends while weights are loaded."""
    text = (SAMPLES / "cpu/0.17.1/enforce_eager.log").read_text(encoding="utf-8", errors="replace")
    return diagnose_records(read_text(text.partition("Starting to load model")[0]), database())


def test_a_server_that_is_still_starting_is_no_error() -> None:
    with StandIn() as server:
        address = server.address
    log = starting()
    assert log.verdict is Verdict.STARTING
    diagnosis = diagnose_probe(probe(ProbeOptions(address)), database(), log)
    assert diagnosis.verdict is Verdict.STARTING
    assert ids(diagnosis) == set()
    assert exit_status(diagnosis) == 3


def test_an_answer_outweighs_a_log_that_ends_before_the_server_was_up() -> None:
    diagnosis = diagnose(Plan(served=("/models/tiny",)), starting())
    assert diagnosis.verdict is Verdict.READY
    assert exit_status(diagnosis) == 0


def served() -> Diagnosis:
    """A log of a server that is up."""
    text = (SAMPLES / "cpu/0.17.1/enforce_eager.log").read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines(keepends=True)
    up = next(number for number, line in enumerate(lines) if "Application startup complete" in line)
    return diagnose_records(read_text("".join(lines[: up + 1])), database())


def test_log_and_probe_become_one_boot() -> None:
    log = served()
    assert log.verdict is Verdict.READY
    diagnosis = diagnose(Plan(served=("/models/tiny",)), log)
    assert diagnosis.verdict is Verdict.READY
    assert len(diagnosis.boots) == len(log.boots)
    assert diagnosis.boot is not None
    assert log.boot is not None
    assert diagnosis.boot.facts["probe.version_agrees"].value is True
    assert diagnosis.boot.facts["probe.served_name_agrees"].value is True
    assert diagnosis.boot.facts["vllm.version"].origin == "log"
    assert {f.id for f in log.boot.findings} <= {f.id for f in diagnosis.boot.findings}


def test_a_server_up_by_its_log_that_nobody_reaches() -> None:
    with StandIn() as server:
        address = server.address
    diagnosis = diagnose_probe(probe(ProbeOptions(address)), database(), served())
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.id == "probe-unreachable"
    assert exit_status(diagnosis) == 1


@pytest.mark.parametrize(
    ("plan", "log", "word"),
    [
        (Plan(version="0.19.0", served=("/models/tiny",)), served, "version 0.19.0 (in the log 0.17.1)"),
        (Plan(served=("nemotron",)), served, "served name nemotron"),
        (Plan(served=("/models/tiny",), max_model_len=4096), served, "context length 4096 (in the log 2048)"),
        (Plan(), lambda: log_of("cpu/0.17.1/sigkill_worker_serving"), "crashed"),
    ],
)
def test_the_log_of_another_start_is_kept_apart(plan: Plan, log: object, word: str) -> None:
    of_log: Diagnosis = log()  # type: ignore[operator]
    diagnosis = diagnose(plan, of_log)
    assert "probe-log-of-another-start" in ids(diagnosis)
    assert len(diagnosis.boots) == len(of_log.boots) + 1
    assert diagnosis.boot is diagnosis.boots[-1]
    assert diagnosis.boots[:-1] == of_log.boots
    assert diagnosis.verdict is Verdict.READY
    assert not any(key.startswith("args") for key in diagnosis.boot.facts)
    assert word in str(diagnosis.boot.facts["probe.log_disagrees"].value)


def test_damage_under_load_meets_the_back_end_of_the_log() -> None:
    facts = given(nvfp4__marlin=True, gpu__compute_capability="12.1", vllm__version="0.17.1")
    diagnosis = diagnose(Plan(load="garbled"), facts=facts, level=Level.LOAD)
    root = diagnosis.root_cause
    assert root is not None
    assert root.id == "probe-load-damage-marlin"
    assert "probe-load-damage" not in ids(diagnosis)
    assert "VLLM_MARLIN_USE_ATOMIC_ADD=1" in [remedy.command for remedy in root.remedies]


def test_words_that_differ_under_load_are_no_alarm_while_they_are_right() -> None:
    diagnosis = diagnose(Plan(load="differs"), level=Level.LOAD)
    assert diagnosis.boot is not None
    assert ids(diagnosis) == set()
    assert "probe-load-words-differ" in {f.id for f in diagnosis.boot.findings}


def test_a_parser_that_is_on_makes_thinking_in_content_an_error() -> None:
    facts = given(args=True, args__reasoning_parser="mistral")
    diagnosis = diagnose(Plan(thinking="hm", fields=()), facts=facts)
    assert ids(diagnosis) == {"probe-think-in-content-despite-parser"}
    assert exit_status(diagnosis) == 1


def test_a_context_length_that_is_not_the_one_asked_for() -> None:
    assert ids(diagnose(Plan(), facts=given(args__max_model_len=2048))) == set()
    assert ids(diagnose(Plan(), facts=given(args__max_model_len="131072"))) == {"context-length-not-as-asked"}


def test_ollama_beside_a_failed_start_is_named() -> None:
    loaded = ({"name": "llama3.3:70b", "size": 42 * 2**30},)
    log = log_of("cpu/0.17.1/max_len_gt_model")
    with StandIn() as server, StandIn(Plan(ollama=loaded)) as neighbour:
        server.stop()
        probed = probe(ProbeOptions(server.address, ollama=neighbour.address))
        diagnosis = diagnose_probe(probed, database(), log)
    assert diagnosis.root_cause == log.root_cause
    assert diagnosis.boot is not None
    found = next(f for f in diagnosis.boot.findings if f.id == "probe-ollama-beside-failed-start")
    assert [remedy.command for remedy in found.remedies][:1] == ["ollama stop llama3.3:70b"]


def test_the_command_that_unloads_is_printed_for_each_model() -> None:
    loaded = ({"name": "llama3.3:70b", "size": 42 * 2**30}, {"name": "a b; rm -r /", "size": 2**30})
    with StandIn(Plan(ollama=loaded)) as neighbour:
        diagnosis = diagnose(Plan(), level=Level.HEALTH, ollama=neighbour.address)
    assert diagnosis.boot is not None
    assert [note for note in diagnosis.boot.notes if "Ollama" in note] == [
        "Ollama holds llama3.3:70b 42.0 GiB; this unloads it: ollama stop llama3.3:70b",
        "Ollama holds a b; rm -r / 1.0 GiB; this unloads it: ollama stop 'a b; rm -r /'",
    ]


def test_what_differs_is_told_only_where_both_know() -> None:
    probed = given(probe__version="0.17.1+cu130", probe__models=("a",), probe__served_name="a")
    assert compare(probed, {}) == {}
    assert compare(probed, given(vllm__version="0.17.1"))["probe.version_agrees"].value is True
    assert "probe.log_disagrees" in compare(probed, given(vllm__version="0.17.0"))


def test_the_server_stands_in_for_an_unknown_log() -> None:
    probed = given(probe__version="0.17.1", probe__served_name="a", probe__max_model_len=4096)
    assert {key: fact.value for key, fact in stand_ins(probed).items()} == {
        "vllm.version": "0.17.1",
        "model.served_name": "a",
        "model.max_len": 4096,
    }
