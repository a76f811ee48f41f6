"""One log to one record: what is in it, that it is short, and that it holds nothing secret."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.fleet.sources import key_of
from logdoctor.fleet.work import Diagnoser, Task, WorkOptions, stream_of
from logdoctor.model import Fact, Severity
from logdoctor.report.record import MAX_BYTES, SCHEMA_VERSION, decode, encode
from tests.fleet import hooks
from tests.fleet.build import READY, SHARD, diagnoser, made, record_of, unknown
from tests.running import run
from tests.sample_logs import ROOT

COLUMNS = set(made("a.log"))
TOKEN = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"[:34]


def test_a_server_that_is_up() -> None:
    record = record_of(READY)
    assert (record["verdict"], record["exit_status"], record["root_cause"]) == ("ready", 0, None)
    assert record["vllm_version"] == "0.27.1"
    assert record["model_name"] == "/models/tiny"
    assert (record["first_seen"], record["last_seen"]) == ("11-30 10:00:01", "11-30 10:00:20")
    assert (record["boots"], record["boots_failed"], record["lines"]) == (1, 0, READY.count("\n"))
    assert record["bytes"] == len(READY.encode())


def test_a_known_failure() -> None:
    record = record_of(SHARD)
    assert record["verdict"] == "failed"
    assert record["exit_status"] == 1
    assert record["root_cause"]["id"] == "weights-shard-truncated"
    assert record["root_cause"]["line"] == 10
    assert "engine-core-initialization-failed" in record["findings"]
    assert record["unknown"] is None


def test_an_unknown_failure_brings_its_template() -> None:
    record = record_of(unknown("flux 17 overheated in '/srv/x'"))
    assert record["root_cause"]["id"] == "unknown-failure"
    assert record["unknown"]["template"] == "RuntimeError: flux N overheated in S"
    assert record["unknown"]["text"].startswith("RuntimeError: flux 17")
    assert record_of(unknown("flux 3 overheated in '/y'"))["unknown"]["template"] == record["unknown"]["template"]


def test_the_record_says_what_the_report_says() -> None:
    for log in (READY, SHARD, unknown()):
        record, result = record_of(log), run(log.encode())
        report = json.loads(result.text)
        assert (record["verdict"], record["exit_status"]) == (report["verdict"], result.status)
        findings = report["boots"][-1]["findings"]
        assert record["findings"] == [finding["id"] for finding in findings]
        roots = [finding["fingerprint"] for finding in findings if finding["role"] == "root_cause"]
        assert ([record["root_cause"]["fingerprint"]] if record["root_cause"] else []) == roots[:1]


def test_every_record_has_every_key() -> None:
    error = json.loads(diagnoser().problem(Task("gone.log", key_of("gone.log")), "does not exist"))
    for record in (record_of(READY), record_of(SHARD), record_of(unknown()), record_of(""), error):
        assert set(record) == COLUMNS
        assert record["schema_version"] == SCHEMA_VERSION


def test_records_keep_to_the_published_schema() -> None:
    text = files("logdoctor.fleet").joinpath("record.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(schema["properties"]) == list(made("a.log"))
    strict = json.loads(text.replace('"type": "object"', '"additionalProperties": false, "type": "object"'))
    error = json.loads(diagnoser().problem(Task("gone.log", key_of("gone.log")), "does not exist"))
    samples = [record_of(log.read_bytes(), together=True) for log in sorted(ROOT.glob("samples/*/**/*.log"))[::9]]
    for record in (record_of(READY), record_of(unknown()), error, *samples):
        jsonschema.validate(record, strict)


def test_earlier_boots_are_counted() -> None:
    loop = (ROOT / "samples/cpu/0.17.1/restart_loop.log").read_text(encoding="utf-8")
    record = record_of(loop + READY)
    assert record["verdict"] == "ready"
    assert record["boots"] > 2
    assert record["boots_failed"] == record["boots"] - 1 == sum(one["boots"] for one in record["earlier"])


def test_options_reach_the_diagnosis() -> None:
    assert record_of(SHARD, fail_on=Severity.FATAL)["exit_status"] == 1
    assert record_of(READY, given=(Fact("gpu.name", "GB10", origin="given"),))["gpu_name"] == "GB10"
    cut = record_of(READY, max_bytes=200)
    assert cut["bytes"] == 200
    assert any("reading stopped" in note for note in cut["notes"])


def test_notes_name_no_standard_input() -> None:
    assert not [note for note in record_of(READY, max_bytes=200)["notes"] if "standard input" in note]


def test_nothing_in_it_is_a_log_like_any_other() -> None:
    for nothing in (b"", b"\x00\x01\x02" * 1000, b"\n\n", b"no vLLM here\n"):
        record = record_of(nothing)
        assert (record["verdict"], record["exit_status"], record["error"]) == ("undetermined", 3, None)


# --- nothing secret ---------------------------------------------------------------------------------------------------


def test_no_secret_of_the_log_or_its_name_is_in_the_record() -> None:
    log = unknown(f"cannot log in with {TOKEN} at https://bob:sesame12@hub.corp.lan/x")
    text = json.dumps(record_of(log, f"/home/alice/{TOKEN}/a.log"))
    for secret in (TOKEN, "sesame12", "alice", "bob:"):
        assert secret not in text


def test_hosts_become_stand_ins_that_are_the_same_everywhere() -> None:
    logs = [
        '{"log":"x\\n","stream":"stdout","time":"2026-11-30T10:00:01Z","kubernetes":{"host":"gpu-node-17",'
        f'"pod_name":"llm-7d9f8b6c5d-x2x4z","container_image":"vllm/vllm-openai:v0.27.{number}"}}}}\n'
        for number in (0, 1)
    ]
    first, second = (record_of(log) for log in logs)
    assert first["node"] == second["node"] != ""
    assert first["node"].startswith("<host-") and first["pod"].startswith("<pod-")
    assert first["image"] == "vllm/vllm-openai:v0.27.0"
    kept = record_of(logs[0], keep_hosts=True)
    assert (kept["node"], kept["pod"]) == ("gpu-node-17", "llm-7d9f8b6c5d-x2x4z")
    assert "gpu-node" not in json.dumps(first)


def test_control_characters_stay_text() -> None:
    line = diagnoser().record(
        Task("a\x1b[31m\u202e.log", "00" * 8), stream_of([unknown("\x1b]0;x\x07 \u202e boom").encode()])
    )
    assert line.endswith(b"\n")
    assert not [char for char in line.decode().rstrip("\n") if not char.isprintable()]


def test_a_name_that_is_no_text_can_be_printed() -> None:
    assert record_of(READY, "caf\udce9.log")["source"] == "caf\\udce9.log"


# --- where ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "column", "value"),
    [
        ("pods/default_llm-0_0a1b2c3d-1111-2222-3333-444455556666/vllm/0.log", "pod", "llm-0"),
        (f"containers/llm-0_default_vllm-{'0' * 64}.log", "pod", "llm-0"),
        ("dump/nodes/gpu-7/vllm.log", "node", "gpu-7"),
        ("logs/vllm.log", "node", None),
    ],
)
def test_places_in_paths(path: str, column: str, value: str | None) -> None:
    assert record_of(READY, path)[column] == value


@pytest.mark.parametrize(
    ("log", "column", "value"),
    [
        ("[pod/llm-0/vllm] INFO 11-30 10:00:01 [a.py:1] x\n", "pod", "llm-0"),
        ("Nov 30 10:00:01 gpu-7 vllm[17]: INFO 11-30 10:00:01 [a.py:1] x\n", "host", "gpu-7"),
        (
            "INFO 2026-11-30T10:00:01.5Z [resource.labels.pod_name: llm-0] INFO 11-30 10:00:01 [a.py:1] x\n",
            "pod",
            "llm-0",
        ),
        ('{"MESSAGE":"x","_HOSTNAME":"gpu-7","__REALTIME_TIMESTAMP":"1"}\n', "node", "gpu-7"),
        ("(RayWorkerWrapper pid=7, ip=10.1.2.3) INFO 11-30 10:00:01 [a.py:1] x\n", "host", "10.1.2.3"),
        (
            '{"resource":{"labels":{"pod_name":"llm-0","node_name":"n1"}},"textPayload":"x","timestamp":"t"}\n',
            "node",
            "n1",
        ),
    ],
)
def test_places_in_logs(log: str, column: str, value: str) -> None:
    assert record_of(log * 3, keep_hosts=True)[column] == value


def test_the_first_directory_is_only_called_a_directory() -> None:
    record = record_of(READY, "logs/a/x.log", below="a")
    assert (record["directory"], record["node"]) == ("a", None)


def test_times_with_a_year_are_utc() -> None:
    log = "".join(f"2026-11-30T12:00:0{n}.5+02:00 {line}\n" for n, line in enumerate(READY.splitlines()))
    record = record_of(log)
    assert (record["first_seen"], record["last_seen"]) == ("2026-11-30T10:00:00Z", "2026-11-30T10:00:06Z")


# --- whatever happens, there is a record ------------------------------------------------------------------------------


def test_a_file_that_is_not_there() -> None:
    record = json.loads(diagnoser().record(Task("gone.log", key_of("gone.log"), path="/nowhere/gone.log")))
    assert (record["error"], record["exit_status"], record["verdict"]) == ("does not exist", 2, None)


def test_a_fault_of_the_tool_is_a_record_without_the_text_of_the_fault() -> None:
    options = WorkOptions(before=hooks.fail)
    for name, said in (("faulty.log", "KeyError"), ("hungry.log", "memory")):
        line = diagnoser(options).record(Task(name, key_of(name)), stream_of([b""]))
        assert said in json.loads(line)["error"]
        assert b"hf_" not in line


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=3000), st.text(max_size=200))
def test_any_bytes_under_any_name_give_one_line(data: bytes, name: str) -> None:
    line = diagnoser(WorkOptions(together=True)).record(Task(name, key_of(name)), stream_of([data]))
    assert line.count(b"\n") == 1
    assert len(line) <= MAX_BYTES
    assert decode(line) is not None


def test_a_hostile_log_gives_a_short_record() -> None:
    flood = "".join(unknown("€" * 30_000 + str(number), number % 60) for number in range(40))
    ranks = "".join(
        f"(Worker pid={n}) INFO 11-30 10:00:01 [parallel_state.py:1] world_size=99999 rank={n} local_rank=0 "
        f"distributed_init_method=tcp://{'h' * 280}{n}:1 backend=nccl\n"
        for n in range(600)
    )
    line = diagnoser(WorkOptions(together=True)).record(
        Task("n" * 5000, "00" * 8), stream_of([(ranks + flood).encode()])
    )
    assert len(line) <= MAX_BYTES


def test_what_makes_a_record_too_long_goes_and_is_said() -> None:
    record = made("a.log", starts=[{"x": "€" * 30_000}], findings=["a"])
    line = encode(record)
    assert len(line) <= MAX_BYTES
    short = json.loads(line)
    assert short["cut"] is True and short["starts"] is None and short["findings"] == ["a"]


@pytest.mark.parametrize("line", [b"", b"{}", b"[1]", b"null", b'{"schema_version":1}', b"\xff", b"[" * 100_000])
def test_lines_that_are_no_records(line: bytes) -> None:
    assert decode(line) is None


def test_escapes_in_a_file_of_somebody_else_stay_text() -> None:
    record = decode(json.dumps(made("a\x1b[2J.log")).encode())
    assert record is not None
    assert record["source"] == "a\\x1b[2J.log"


def test_a_stream_of_pieces_reads_as_the_whole(tmp_path: Path) -> None:
    pieces = [b"", b"abc", b"", b"d" * 3_000_000, b"e"]
    stream = stream_of(pieces)
    assert stream.read(2) == b"ab"
    assert stream.read(1 << 20) == (b"c" + b"d" * 3_000_000)[: 1 << 20]
    assert len(stream.read()) == 3_000_002 - (1 << 20)


def test_what_a_worker_has_read_before_does_not_matter() -> None:
    logs = sorted((ROOT / "samples/cpu/0.27.1").glob("*.log"))[:40]
    tasks = [Task(log.name, key_of(log.name), path=str(log)) for log in logs]
    fresh = {task.name: Diagnoser(WorkOptions()).record(task) for task in tasks[::4]}
    one = Diagnoser(WorkOptions())
    forward = {task.name: one.record(task) for task in tasks}
    backward = {task.name: one.record(task) for task in reversed(tasks)}
    assert forward == backward
    assert {name: forward[name] for name in fresh} == fresh
