"""Which bare records belong to other programs in the same stream."""

from __future__ import annotations

import pytest

from logdoctor.model import ExceptionInfo, Frame, Process, Record
from logdoctor.reading.strangers import is_an_answer, is_strangers


def bare(text: str, exception: ExceptionInfo | None = None, role: str = "", level: str = "") -> Record:
    return Record(tuple(enumerate(text.split("\n"), 1)), Process(role), level, exception=exception)


def raised(file: str, kind: str = "RuntimeError", cause: ExceptionInfo | None = None) -> ExceptionInfo:
    return ExceptionInfo(kind, "gone", 3, (Frame(file, 1, "<module>"),), cause)


def traced(exception: ExceptionInfo, **more: str) -> Record:
    return bare(f'Traceback (most recent call last):\n  File "x"\n{exception.type}: gone', exception, **more)


def test_a_traceback_outside_of_vllm_is_anothers_once_vllm_has_spoken() -> None:
    record = traced(raised("/app/agent.py"))
    assert is_strangers(record, begun=True, up=False)
    assert not is_strangers(record, begun=False, up=False)


@pytest.mark.parametrize(
    "exception",
    [
        raised("/usr/lib/python3.12/site-packages/vllm/engine.py"),
        raised("/usr/local/bin/vllm"),
        raised("/x.py", "vllm.v1.engine.exceptions.EngineDeadError"),
        raised("/x.py", cause=raised("/opt/vllm/worker.py")),
    ],
)
def test_a_traceback_through_vllm_is_not(exception: ExceptionInfo) -> None:
    assert not is_strangers(traced(exception), begun=True, up=True)


@pytest.mark.parametrize(("role", "level"), [("engine", ""), ("worker", ""), ("", "ERROR"), ("ray", "")])
def test_who_says_a_name_or_a_level_is_no_stranger(role: str, level: str) -> None:
    assert not is_strangers(traced(raised("/app/agent.py"), role=role, level=level), begun=True, up=True)


@pytest.mark.parametrize(
    "line",
    [
        "torch.OutOfMemoryError: CUDA out of memory.",
        "comfyui: ValueError: No memory",
        "    KeyError: 'x'",
        "OSError: [Errno 98]",
    ],
)
def test_a_lone_exception_line_is_anothers_while_the_server_is_up(line: str) -> None:
    assert is_strangers(bare(line), begun=True, up=True)
    assert not is_strangers(bare(line), begun=True, up=False)


@pytest.mark.parametrize(
    "line",
    [
        "Killed",
        "Segmentation fault (core dumped)",
        "node1:7:9 [0] NCCL WARN Call failed",
        "terminate called after throwing",
    ],
)
def test_native_ends_may_be_anybodys(line: str) -> None:
    assert not is_strangers(bare(line), begun=True, up=True)


def test_the_shell_names_whom_it_lost() -> None:
    lost = "/start.sh: line 9:    77 Killed                  {}"
    assert is_strangers(bare(lost.format("nvidia-smi dmon")), begun=True, up=False)
    assert is_strangers(bare("./x: line 1: 7 Segmentation fault (core dumped) ./dcgmi dmon"), begun=True, up=False)
    for ours in ("vllm serve /models/m", "python3 serve.py", "ray start --block"):
        assert not is_strangers(bare(lost.format(ours)), begun=True, up=False)


def test_a_printed_response_is_an_answer() -> None:
    assert is_an_answer(bare('{"id":"x","choices":[{"message":{"content":"CUDA error"}}]}'))
    assert not is_an_answer(bare('{"error": {"code": 400}}'))
    assert not is_an_answer(bare('see {"choices": []}'))
