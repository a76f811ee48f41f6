"""Each envelope by itself: what it takes for its own, and what it states about a line."""

from __future__ import annotations

import json

import pytest

from logdoctor.reading.envelopes.base import Envelope, Peeled
from logdoctor.reading.envelopes.collectors import CollectorJson, CollectorLabels, CollectorTime, DesktopTime
from logdoctor.reading.envelopes.containers import Compose, Cri, DockerTime, JsonFile, Kubectl
from logdoctor.reading.envelopes.journal import Journal, JournalJson
from logdoctor.reading.envelopes.pasted import Fence, Indent, PowerShell, Quote

T = "2026-11-30T09:20:42.5Z"


@pytest.mark.parametrize(
    ("kind", "line", "peeled"),
    [
        (DockerTime, f"{T} text", Peeled("text", time=T)),
        (DockerTime, f"{T}\ttext", Peeled("text", time=T)),
        (DockerTime, T, Peeled("", time=T)),
        (DockerTime, f"{T}x", None),
        (Compose, "vllm-1  | text", Peeled("text", source="vllm-1")),
        (Compose, "[vllm] | text", Peeled("text", source="vllm")),
        (Compose, "vllm-1  |", Peeled("", source="vllm-1")),
        (Compose, "INFO | text", None),
        (Compose, "SUCCESS  | text", None),
        (Compose, "vllm-1 exited with code 1", Peeled("vllm-1 exited with code 1", source="vllm-1")),
        (Compose, "it exited", None),
        (Kubectl, "[pod/nemo-0/vllm] text", Peeled("text", source="nemo-0/vllm")),
        (Kubectl, "[pod/nemo-0] text", None),
        (Kubectl, "x [pod/nemo-0/vllm] text", None),
        (Cri, f"{T} stdout F text", Peeled("text", stream="stdout", time=T)),
        (Cri, f"{T} stderr P text", Peeled("text", stream="stderr", time=T, partial=True)),
        (Cri, f"{T} stderr F", Peeled("", stream="stderr", time=T)),
        (Cri, f"{T} stdlog F text", None),
        (Cri, "word stdout F text", None),
        (Cri, "2x stdout F text", Peeled("text", stream="stdout", time="2x")),
        (CollectorTime, "2026-04-19 13:05:22.330 | text", Peeled("text", time="2026-04-19 13:05:22.330")),
        (CollectorTime, "2026-04-19 13:05:22.330 | INFO  | x", Peeled("x", time="2026-04-19 13:05:22.330")),
        (CollectorTime, "2026-04-19 13:05:22.330 | info | x", Peeled("x", time="2026-04-19 13:05:22.330")),
        (CollectorTime, "2026-04-19 13:05:22.330 | INFO     | app.main:run:12 - x", None),
        (CollectorTime, "2026-04-19 13:05:22 | text", None),
        (DesktopTime, "2026-04-19 13:05:22 text", Peeled("text", time="2026-04-19 13:05:22")),
        (DesktopTime, "2026-04-19 13:05:22x", None),
        (CollectorLabels, f"INFO {T} [labels.container_name: vllm] text", Peeled("text", source="vllm", time=T)),
        (CollectorLabels, f"ERROR {T} [x: y] text", Peeled("text", time=T)),
        (CollectorLabels, f"ERROR {T} text", Peeled("text", time=T)),
        (CollectorLabels, f'{T} {{pod="nemo-0"}} text', Peeled("text", source="nemo-0", time=T)),
        (CollectorLabels, f"{T} text", None),
        (Journal, "Nov 30 09:33:41 host vllm[22]: text", Peeled("text", source="vllm", time="Nov 30 09:33:41")),
        (Journal, "Nov 30 09:33:41 host systemd[1]: text", Peeled("text", time="Nov 30 09:33:41")),
        (Journal, "Nov 30 09:33:41 host kernel: text", Peeled("text", time="Nov 30 09:33:41")),
        (Journal, "Nov 30 09:33:41 host vllm: text", None),
        (Quote, "> text", Peeled("text")),
        (Quote, "&gt; text", Peeled("text")),
        (Quote, ">", Peeled("")),
        (Quote, "&gt;\r", Peeled("")),
        (Quote, ">text", None),
        (Quote, ">\t", None),
        (Fence, "```", Peeled("", noise=True)),
        (Fence, "```text\r", Peeled("", noise=True)),
        (Fence, "~~~~", Peeled("", noise=True)),
        (Fence, "<details>", Peeled("", noise=True)),
        (Fence, "``", None),
        (Fence, "", None),
        (Fence, "text ```", None),
        (PowerShell, "docker : text", Peeled("text")),
        (PowerShell, "vllm.exe : text", Peeled("text")),
        (PowerShell, "other : text", None),
    ],
)  # fmt: skip
def test_lines(kind: type[Envelope], line: str, peeled: Peeled | None) -> None:
    assert kind().peel(line) == peeled


def test_what_surely_fits() -> None:
    assert DockerTime().fits(f"{T} text")
    assert not DockerTime().fits("text")
    assert Compose().fits("vllm-1  | text")
    assert not Compose().fits("vllm-1 exited with code 1")  # proves nothing about other lines
    assert not Compose().fits("INFO | text")
    assert [kind.weak for kind in (DockerTime, DesktopTime)] == [False, True]


@pytest.mark.parametrize(
    ("value", "peeled"),
    [
        ({"log": "text\n", "stream": "stderr", "time": T}, Peeled("text", stream="stderr", time=T)),
        ({"log": "text\n", "stream": "stdout"}, Peeled("text", stream="stdout")),
        ({"log": "text\n", "stream": "other"}, Peeled("text")),
        ({"log": "text\n", "time": 5}, Peeled("text")),
        ({"log": "text\n\n"}, Peeled("text\n")),
        ({"log": "text\n", "container_name": "/vllm"}, Peeled("text", source="vllm")),
        ({"log": "text\n", "kubernetes": {"container_name": "k"}, "container_name": "c"}, Peeled("text", source="k")),
        ({"log": "text\n", "kubernetes": {}, "container_name": "c"}, Peeled("text")),
        ({"log": 5}, None),
        ({"other": '"log"'}, None),
        ({"log": "text"}, Peeled("text")),
        ({"log": "x" * (16 * 1024)}, Peeled("x" * (16 * 1024), partial=True)),
        ({"log": "x" * (16 * 1024 - 1)}, Peeled("x" * (16 * 1024 - 1))),
        ({"log": "\u00e9" * (8 * 1024)}, Peeled("\u00e9" * (8 * 1024), partial=True)),
    ],
)
def test_json_file(value: object, peeled: Peeled | None) -> None:
    assert JsonFile().peel(json.dumps(value)) == peeled


def test_json_file_knows_pieces_once_it_has_seen_a_line_end() -> None:
    envelope = JsonFile()
    assert envelope.peel('{"log": "a"}') == Peeled("a")
    assert envelope.peel('{"log": "b\\n"}') == Peeled("b")
    assert envelope.peel('{"log": "c"}') == Peeled("c", partial=True)


@pytest.mark.parametrize("kind", [JsonFile, JournalJson, CollectorJson])
@pytest.mark.parametrize(
    "line", ['{"log"', ' {"log": "x\\n"}', '["log"]', '{"log": ' + "[" * 100_000, "", '{"MESSAGE"', '{"x": "MESSAGE"}',
             ' {"MESSAGE": "x"}',
             '{"time": "x", "msg"'],
)  # fmt: skip
def test_what_is_no_such_json(kind: type[Envelope], line: str) -> None:
    assert kind().peel(line) is None


@pytest.mark.parametrize(
    ("value", "peeled"),
    [
        ({"MESSAGE": "text"}, Peeled("text")),
        ({"MESSAGE": [104, 105, 255]}, Peeled("hi\ufffd")),
        ({"MESSAGE": [104, 256]}, Peeled("")),
        ({"MESSAGE": [104, -1]}, Peeled("")),
        ({"MESSAGE": [0]}, Peeled("\0")),
        ({"MESSAGE": ["one", "two"]}, Peeled("one")),
        ({"MESSAGE": []}, Peeled("")),
        ({"MESSAGE": None}, Peeled("")),
        ({"MESSAGE": "x", "SYSLOG_IDENTIFIER": "vllm"}, Peeled("x", source="vllm")),
        ({"MESSAGE": "x", "CONTAINER_NAME": "c", "SYSLOG_IDENTIFIER": "d", "PRIORITY": 3},
         Peeled("x", source="c", stream="stderr")),
        ({"MESSAGE": "x", "CONTAINER_ID": "1", "PRIORITY": "6"}, Peeled("x", stream="stdout")),
        ({"MESSAGE": "x", "CONTAINER_ID": "1", "PRIORITY": "4"}, Peeled("x")),
        ({"MESSAGE": "x", "PRIORITY": "3"}, Peeled("x")),
        ({"MESSAGE": "x", "SYSLOG_IDENTIFIER": "kernel"}, Peeled("x")),
        ({"MESSAGE": "x", "SYSLOG_IDENTIFIER": 5}, Peeled("x")),
        ({"MESSAGE": "x", "CONTAINER_PARTIAL_MESSAGE": "true"}, Peeled("x", partial=True)),
        ({"MESSAGE": "x", "CONTAINER_PARTIAL_MESSAGE": True}, Peeled("x", partial=True)),
        ({"MESSAGE": "x", "CONTAINER_PARTIAL_MESSAGE": "no"}, Peeled("x")),
        ({"MESSAGE": "x", "__REALTIME_TIMESTAMP": "1000001"}, Peeled("x", time="1970-01-01T00:00:01.000001Z")),
        ({"MESSAGE": "x", "__REALTIME_TIMESTAMP": 10**30}, Peeled("x")),
        ({"MESSAGE": "x", "__REALTIME_TIMESTAMP": "soon"}, Peeled("x")),
    ],
)  # fmt: skip
def test_journal_json(value: object, peeled: Peeled) -> None:
    assert JournalJson().peel(json.dumps(value)) == peeled


@pytest.mark.parametrize(
    ("value", "peeled"),
    [
        ({"textPayload": "a", "timestamp": T}, Peeled("a", time=T)),
        ({"log": "a\n", "time": T, "stream": "stdout"}, Peeled("a", time=T, stream="stdout")),
        ({"log": "a\n", "time": T, "stream": "stderr"}, Peeled("a", time=T, stream="stderr")),
        ({"line": "a\n\n", "ts": T, "stream": "other"}, Peeled("a\n", time=T)),
        ({"message": "a", "@timestamp": T, "stream": {"app": "vllm"}}, Peeled("a", time=T, source="vllm")),
        ({"msg": "a", "date": T, "container": "c", "pod": "p"}, Peeled("a", time=T, source="c")),
        ({"body": "a", "observedTimestamp": T}, Peeled("a", time=T)),
        ({"Body": "a", "receiveTimestamp": T, "attributes": {"k8s.pod.name": "p"}}, Peeled("a", time=T, source="p")),
        ({"jsonPayload": {"message": "a"}, "timestamp": T}, Peeled("a", time=T)),
        ({"message": "out", "jsonPayload": {"message": "in"}, "timestamp": T}, Peeled("out", time=T)),
        ({"resource": {"labels": {"container_name": "c"}}, "msg": "a", "time": T}, Peeled("a", time=T, source="c")),
        ({"resource": {"labels": {"labels": {"app": "deep"}}}, "msg": "a", "time": T}, Peeled("a", time=T)),
        ({"labels": {"x": "y"}, "metadata": {"pod": "p"}, "msg": "a", "time": T}, Peeled("a", time=T, source="p")),
        ({"labels": {"app": ""}, "metadata": {"pod": "p"}, "msg": "a", "time": T}, Peeled("a", time=T, source="p")),
        ({"message": "a"}, None),
        ({"timestamp": T}, None),
        ({"message": 5, "timestamp": T}, None),
        ({"message": "a", "timestamp": 5}, None),
        ({"message": "a", "timestamp": T, "levelname": "INFO"}, None),
        ({"message": "a", "timestamp": T, "MESSAGE": "b"}, None),
    ],
)
def test_collector_json(value: object, peeled: Peeled | None) -> None:
    assert CollectorJson().peel(json.dumps(value)) == peeled


def test_power_shell_speaks_about_the_command_for_six_lines() -> None:
    envelope = PowerShell()
    assert envelope.peel("    + CategoryInfo          : NotSpecified") is None
    assert not envelope.busy
    assert envelope.peel("At line:1 char:1") == Peeled("", noise=True)
    for _ in range(6):
        assert envelope.busy
        assert envelope.peel("+ docker logs vllm") == Peeled("", noise=True)
    assert not envelope.busy
    assert envelope.peel("+ docker logs vllm") is None


def test_power_shell_stops_at_the_first_line_of_the_log() -> None:
    envelope = PowerShell()
    envelope.peel("At C:\\run.ps1:10 char:5")
    assert envelope.peel("    + FullyQualifiedErrorId : NativeCommandError") == Peeled("", noise=True)
    assert envelope.peel("INFO text") is None
    assert not envelope.busy
    assert envelope.peel("+ docker logs vllm") is None


def test_an_indent_is_that_of_the_first_line() -> None:
    envelope = Indent()
    assert envelope.peel("text") is None
    assert envelope.peel("") is None
    assert envelope.peel("    text") == Peeled("text")
    assert envelope.peel("      more") == Peeled("  more")
    assert envelope.peel("  ") == Peeled("")
    assert envelope.peel("  text") is None
    assert envelope.peel("\ttext") is None
    assert Indent().peel(" " * 41 + "text") is None
    assert Indent().peel(" " * 40 + "text") == Peeled("text")
