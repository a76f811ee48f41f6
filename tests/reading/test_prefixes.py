"""Heads of lines, in every form seen in vLLM's stream."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.reading.prefixes import BARE, LOGGER, OWN, split_head

LOGGED = "ERROR 11-30 09:00:00 [core.py:1108] EngineCore failed to start."


@pytest.mark.parametrize(
    ("prefix", "role", "name", "pid", "rank", "host"),
    [
        ("", "", "", "", "", ""),
        ("(APIServer pid=1) ", "api", "APIServer", "1", "", ""),
        ("(ApiServer_1 pid=1910) ", "api", "ApiServer_1", "1910", "1", ""),
        ("(EngineCore_0 pid=68) ", "engine", "EngineCore_0", "68", "0", ""),
        ("(EngineCore_DP0 pid=68) ", "engine", "EngineCore_DP0", "68", "DP0", ""),
        ("(EngineCore pid=68) ", "engine", "EngineCore", "68", "", ""),
        ("(VllmWorker rank=3 pid=99) ", "worker", "VllmWorker", "99", "3", ""),
        ("(VllmWorker TP0 pid=99) ", "worker", "VllmWorker TP0", "99", "TP0", ""),
        ("(VllmWorker PP0_TP1 pid=99) ", "worker", "VllmWorker PP0_TP1", "99", "PP0_TP1", ""),
        ("(VllmWorkerProcess pid=99) ", "worker", "VllmWorkerProcess", "99", "", ""),
        ("(Worker pid=99) ", "worker", "Worker", "99", "", ""),
        ("(Worker_DP0_TP0_EP0 pid=99) ", "worker", "Worker_DP0_TP0_EP0", "99", "DP0_TP0_EP0", ""),
        ("(DPSupervisor pid=9) ", "coordinator", "DPSupervisor", "9", "", ""),
        ("(DPMoEEngineCoreActor pid=9, ip=10.0.0.2) ", "engine", "DPMoEEngineCoreActor", "9", "", "10.0.0.2"),
        ("(RayWorkerWrapper pid=12, ip=10.0.0.2) ", "ray", "RayWorkerWrapper", "12", "", "10.0.0.2"),
        ("(RayWorkerProc pid=12) ", "ray", "RayWorkerProc", "12", "", ""),
        ("(pid=12) ", "ray", "", "12", "", ""),
        ("(raylet, ip=10.0.0.2) ", "ray", "raylet", "", "", "10.0.0.2"),
        ("(RustFrontend pid=32302) ", "frontend", "RustFrontend", "32302", "", ""),
        ("[rank3]: ", "", "", "", "3", ""),
        # nested: the innermost counts, the node stays
        ("(APIServer pid=1) (APIServer pid=1) ", "api", "APIServer", "1", "", ""),
        ("(APIServer pid=1) (EngineCore_DP0 pid=68) ", "engine", "EngineCore_DP0", "68", "DP0", ""),
        ("(Worker pid=1) (Worker_TP0 pid=1) ", "worker", "Worker_TP0", "1", "TP0", ""),
        (
            "(RayWorkerWrapper pid=12, ip=10.0.0.2) (Worker_TP3 pid=44) ",
            "worker",
            "Worker_TP3",
            "44",
            "TP3",
            "10.0.0.2",
        ),
    ],
)
def test_process_prefixes_of_all_generations(prefix: str, role: str, name: str, pid: str, rank: str, host: str) -> None:
    for text, form in ((LOGGED, LOGGER), ("Traceback (most recent call last):", BARE)):
        head = split_head(prefix + text)
        process = head.process
        assert (process.role, process.name, process.pid, process.rank, process.host) == (role, name, pid, rank, host)
        assert head.form is form
    assert head.text == "Traceback (most recent call last):"


def test_vllms_own_head() -> None:
    head = split_head("(EngineCore pid=68) " + LOGGED)
    assert head[2:] == (LOGGER, "ERROR", "11-30 09:00:00", "core.py", 1108, "EngineCore failed to start.")
    assert split_head("INFO 11-30 09:00:00 [v1/engine/core.py:3]   indented").text == "  indented"
    assert split_head("DEBUG 11-30 09:00:00 [model_executor/.../utils/fp8_utils.py:3] x").file.endswith("fp8_utils.py")
    assert split_head("INFO 11-30 09:00:00 config.py:12] old form").file == "config.py"
    assert split_head("INFO 11-30 09:00:00 [utils.py:302] ").text == ""
    assert split_head("INFO 11-30 09:00:00 [utils.py:302]").text == ""


@pytest.mark.parametrize(
    "line",
    [
        "node7 INFO 11-30 09:00:00 [core.py:1] m",
        "node7: (EngineCore pid=4) INFO 11-30 09:00:00 [core.py:1] m",
        "(EngineCore pid=4) node7 INFO 11-30 09:00:00 [core.py:1] m",
        "[1,0]<stdout>: (EngineCore pid=4) INFO 11-30 09:00:00 [core.py:1] m",
        "(EngineCore pid=4) Capturing: 100%|###| 2/2 [00:01<00:00,  1.5it/s]INFO 11-30 09:00:00 [core.py:1] m",
    ],
)
def test_the_head_is_found_behind_a_fixed_prefix_or_a_bar(line: str) -> None:
    head = split_head(line)
    assert (head.form, head.level, head.file, head.text) == (LOGGER, "INFO", "core.py", "m")
    assert head.process.pid == ("4" if "pid=4" in line else "")


@pytest.mark.parametrize(
    ("line", "level", "time", "file", "number", "text"),
    [
        ("INFO:     Application startup complete.", "INFO", "", "", 0, "Application startup complete."),
        ("ERROR:    Exception in ASGI application", "ERROR", "", "", 0, "Exception in ASGI application"),
        ("WARNING:  Invalid HTTP request received.", "WARNING", "", "", 0, "Invalid HTTP request received."),
        ("WARNING:root:text", "WARNING", "", "", 0, "text"),
        ("INFO:httpx:HTTP Request: GET", "INFO", "", "", 0, "HTTP Request: GET"),
        (
            "[W1130 09:00:00.123456789 ProcessGroupNCCL.cpp:1538] Warning: w",
            "WARNING", "1130 09:00:00.123456789", "ProcessGroupNCCL.cpp", 1538, "Warning: w",
        ),
        (
            "[rank0]:[E1130 09:00:00.123456789 ProcessGroupNCCL.cpp:15] e",
            "ERROR", "1130 09:00:00.123456789", "ProcessGroupNCCL.cpp", 15, "e",
        ),
        (
            "W1130 09:33:41.579000 9189 torch/utils/cpp_extension.py:118] No CUDA",
            "WARNING", "1130 09:33:41.579000", "torch/utils/cpp_extension.py", 118, "No CUDA",
        ),
        (
            "2026-01-15 10:00:00,123 - INFO - autotuner.py:256 - flashinfer.jit: [Autotuner]: starts",
            "INFO", "2026-01-15 10:00:00,123", "autotuner.py", 256, "flashinfer.jit: [Autotuner]: starts",
        ),
        ("2026-01-15 10:00:00,123 - vllm.x - ERROR - bad", "ERROR", "2026-01-15 10:00:00,123", "", 0, "bad"),
        (
            "2026-04-19 13:05:22.330 | INFO     | vllm.mod:func:12 - text",
            "INFO", "2026-04-19 13:05:22.330", "vllm.mod:func", 12, "text",
        ),
        (
            "2026-11-30 09:22:01,123\tINFO worker.py:1843 -- Started a local Ray instance.",
            "INFO", "2026-11-30 09:22:01,123", "worker.py", 1843, "Started a local Ray instance.",
        ),
        (
            "[2026-07-03 11:58:43,413 E 35338 35338] core_worker.cc:215: Failed to register worker",
            "ERROR", "2026-07-03 11:58:43,413", "core_worker.cc", 215, "Failed to register worker",
        ),
        (
            "/usr/lib/python3.12/x/loader.py:12: FutureWarning: use y",
            "WARNING", "", "loader.py", 12, "FutureWarning: use y",
        ),
    ],
)  # fmt: skip
def test_heads_of_other_loggers(line: str, level: str, time: str, file: str, number: int, text: str) -> None:
    assert split_head(line)[2:] == (OWN, level, time, file, number, text)


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        ("gpu-1:123:456 [0] NCCL INFO Bootstrap : Using eth0", "INFO", "Bootstrap : Using eth0"),
        ("[2026-11-30 09:00:00] gpu-1:123:456 [0] net.cc:12 NCCL WARN Call failed", "WARNING", "Call failed"),
    ],
)
def test_nccl(line: str, level: str, text: str) -> None:
    head = split_head(line)
    assert (head.level, head.text, head.process.pid, head.process.host) == (level, text, "123", "gpu-1")


def test_the_json_formatter() -> None:
    value = {
        "asctime": "2026-11-30 09:00:00,123",
        "levelname": "ERROR",
        "name": "vllm.v1.engine.core",
        "processName": "EngineCore_DP1",
        "process": 68,
        "message": "EngineCore failed to start.",
        "exc_info": "Traceback (most recent call last):\nValueError: x",
    }
    head = split_head(json.dumps(value))
    assert (head.level, head.process.role, head.process.rank, head.process.pid) == ("ERROR", "engine", "DP1", "68")
    assert head.text == "EngineCore failed to start.\nTraceback (most recent call last):\nValueError: x"


def test_rays_deduplication_mark_is_taken_off() -> None:
    mark = " [repeated 3x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable)"
    assert split_head("(RayWorkerWrapper pid=1, ip=10.0.0.2) INFO 11-30 09:00:00 [a.py:1] x" + mark).text == "x"
    assert split_head("(RayWorkerWrapper pid=1, ip=10.0.0.2) plain text" + mark).text == "plain text"
    assert split_head("(RayWorkerWrapper pid=1, ip=10.0.0.2)     return fn()" + mark).text == "    return fn()"


@pytest.mark.parametrize(
    "text",
    [
        "(EngineCore pid=2) ERROR 01-01 00:00:00 [core.py:1] fake",
        "ERROR 01-01 00:00:00 [core.py:1] fake",
        "INFO:     fake",
        "[rank0]: Traceback (most recent call last):",
    ],
)
def test_nothing_behind_a_head_can_fake_another(text: str) -> None:
    head = split_head("(APIServer pid=1) INFO 11-30 09:00:00 [logger.py:63] " + text)
    assert (head.process.name, head.level, head.file, head.text) == ("APIServer", "INFO", "logger.py", text)
    access = split_head(f'INFO:     1.2.3.4:1 - "GET /{text} HTTP/1.1" 404 Not Found')
    assert (access.form, access.level) == (OWN, "INFO")
    quoted = split_head(f"Error parsing '{text}'")
    assert quoted.form is BARE


@given(st.text(max_size=300))
def test_any_text_has_a_head_and_loses_nothing_when_bare(text: str) -> None:
    head = split_head(text)
    if head.form is BARE and not head.process.pid and not head.process.rank and not head.process.name:
        assert head.text == text


@given(st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"]), max_size=200))
def test_the_message_comes_out_as_it_went_in(message: str) -> None:
    if "x across cluster]" in message:
        return
    assert split_head(f"(Worker_TP1 pid=3) WARNING 11-30 09:00:00 [a/b.py:7] {message}").text == message
