"""Records: continuation lines and tracebacks per process, also when ranks print in turns."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.model import ExceptionInfo, Line, Record, Run
from logdoctor.reading import read_lines, read_text
from logdoctor.reading.prefixes import split_head
from logdoctor.reading.records import MAX_LINES, MAX_WAITING, group


def records(text: str) -> list[Record]:
    return [record for _, record in read_text(text)]


def messages(text: str) -> list[str]:
    return [record.message for record in records(text)]


def with_gaps(*runs: tuple[int, str]) -> list[Record]:
    return [record for _, record in group(read_lines(Run(first, text.encode()) for first, text in runs))]


HEAD = "(EngineCore pid=7) ERROR 11-30 09:00:00 [core.py:1108] "
LOGGED = [
    "EngineCore failed to start.",
    "Traceback (most recent call last):",
    '  File "/opt/vllm/v1/engine/core.py", line 1299, in run_engine_core',
    "    engine_core = EngineCoreProc(*args)",
    "                  ^^^^^^^^^^^^^^^^^^^^^",
    "ValueError: Failed to find a kernel that can implement the NVFP4 linear layer. Reasons:",
    "FlashInferCutlass requires compute capability 100",
]
ENDS = ["\r\n", "\n"]


@pytest.mark.parametrize("end", ENDS, ids=["marked", "marks lost"])
def test_a_logged_traceback_is_one_record(end: str) -> None:
    text = end.join(HEAD + line for line in LOGGED) + "\n(EngineCore pid=7) INFO 11-30 09:00:00 [core.py:9] next\n"
    first, second = records(text)
    assert first.message == "\n".join(LOGGED)
    assert (first.first_line, first.last_line) == (1, 7)
    assert (first.level, first.time, first.file, first.file_line) == ("ERROR", "11-30 09:00:00", "core.py", 1108)
    assert first.exception is not None
    assert first.exception.type == "ValueError"
    assert first.exception.message.endswith("Reasons:\nFlashInferCutlass requires compute capability 100")
    assert second.message == "next"


@pytest.mark.parametrize("end", ENDS, ids=["marked", "marks lost"])
def test_the_logo_is_one_record(end: str) -> None:
    head = "(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:302] "
    rows = ["", "       █     █", " ▄▄ ▄█ █  version 0.17.1", "  █▄█▀ █  model   /models/tiny", ""]
    text = end.join(head + row for row in rows) + "\n(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:238] args\n"
    assert messages(text) == ["\n".join(rows[:-1]), "args"]


@pytest.mark.parametrize("mark", ["\r\n", ""], ids=["marked", "marks lost"])
def test_records_of_the_same_second_and_place_stay_apart(mark: str) -> None:
    # A record of two lines somewhere shows that this input has kept the marks.
    two = f"INFO 11-30 09:00:00 [a.py:1] x:{mark}INFO 11-30 09:00:00 [a.py:1] \ty\n" if mark else ""
    routes = "".join(f"INFO 11-30 09:00:01 [launcher.py:46] Route: /v1/{i}, Methods: GET\n" for i in range(3))
    assert [record.message for record in records(two + routes)][-3:] == [
        f"Route: /v1/{i}, Methods: GET" for i in range(3)
    ]


def test_the_same_error_twice_in_a_second_is_two_records() -> None:
    text = "\n".join(HEAD + line for line in LOGGED[:-1] * 2)
    assert [record.exception is not None for record in records(text)] == [True, True]


def test_a_bare_traceback_takes_its_messages_tail() -> None:
    text = (
        "(EngineCore pid=7) Process EngineCore:\n"
        "(EngineCore pid=7) Traceback (most recent call last):\n"
        '(EngineCore pid=7)   File "/x/process.py", line 314, in _bootstrap\n'
        "(EngineCore pid=7)     self.run()\n"
        "(EngineCore pid=7) torch.AcceleratorError: CUDA error: an illegal memory access was encountered\n"
        "(EngineCore pid=7) Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/x for more information.\n"
        "(EngineCore pid=7) Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
        "(EngineCore pid=7) \n"
        "[rank0]:[W1130 09:56:19.532214240 ProcessGroupNCCL.cpp:1575] Warning: destroy_process_group() was not called\n"
        "(EngineCore pid=7) INFO 11-30 09:00:00 [core.py:9] next\n"
    )
    first, second, third = records(text)
    assert (first.first_line, first.last_line, first.level) == (1, 7, "")
    assert first.exception is not None and first.exception.message.endswith("device-side assertions.")
    assert (second.level, second.process.rank) == ("WARNING", "0")
    assert third.message == "next"


def test_an_unprefixed_child_gets_its_name_from_multiprocessing() -> None:
    (record,) = records("Process EngineCore_DP1:\nTraceback (most recent call last):\nValueError: x\n")
    assert (record.process.role, record.process.rank) == ("engine", "DP1")
    assert record.exception is not None and record.exception.line == 3


def test_two_bare_tracebacks_in_a_row_are_two_records() -> None:
    one = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: {0}\n'
    assert [record.exception and record.exception.message for record in records(one.format(1) + one.format(2))] == [
        "1",
        "2",
    ]


def test_other_lines_end_a_bare_exception() -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n'
        "[Gloo] Rank 0 is connected to 0 peer ranks.\n"
        "nanobind: leaked 2 instances!\n"
        "/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: leaked\n"
        "  warnings.warn('resource_tracker: There appear to be %d '\n"
        "Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:03,  1.02s/it]\n"
        "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:02<00:02,  1.02s/it]\n"
        "\n"
        "plain\n"
    )
    got = records(text)
    assert [record.first_line for record in got] == [1, 4, 5, 6, 8, 9, 11]
    assert got[0].last_line == 3
    assert (got[3].level, got[3].file, got[3].file_line, got[3].last_line) == ("WARNING", "resource_tracker.py", 254, 7)


def test_uvicorns_error_takes_the_traceback_that_follows() -> None:
    text = (
        "ERROR:    Exception in ASGI application\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in f\n'
        "jinja2.exceptions.TemplateError: bad\n"
        "INFO:     Shutting down\n"
    )
    first, second = records(text)
    assert first.level == "ERROR"
    assert first.exception is not None and first.exception.type == "jinja2.exceptions.TemplateError"
    assert second.message == "Shutting down"


def test_a_refused_command_line_is_one_record() -> None:
    text = (
        "usage: vllm serve [model_tag] [options]\n"
        "vllm serve: error: argument --compilation-config/-cc: 1 validation error for CompilationConfig\n"
        "mode\n"
        "  Input should be 0, 1, 2 or 3 [type=enum, input_value=9, input_type=int]\n"
        "    For further information visit https://errors.pydantic.dev/2.14/v/enum\n"
    )
    (record,) = records(text)
    assert record.message == text.rstrip("\n")
    assert record.level == "" and record.exception is None


def test_the_rust_front_ends_causes_belong_to_its_error() -> None:
    text = (
        "(RustFrontend pid=3) ERROR 11-30 09:22:01 [cmd/src/main.rs:110] process failed with error: shut down\n"
        "\n"
        "Caused by these errors (recent errors listed first):\n"
        "  1: failed to create chat/text backends\n"
        "  2: tokenizer error: no file\n"
        "(EngineCore pid=7) INFO 11-30 09:22:01 [core.py:9] next\n"
    )
    first, second = records(text)
    assert (first.process.role, first.first_line, first.last_line) == ("frontend", 1, 5)
    deepest = first.exception
    while deepest is not None and deepest.cause is not None:
        deepest = deepest.cause
    assert deepest is not None and deepest.message == "tokenizer error: no file"
    assert second.message == "next"


def test_json_records_bring_their_traceback_with_them() -> None:
    value = {
        "asctime": "2026-11-30 09:00:00,1",
        "levelname": "ERROR",
        "name": "vllm",
        "processName": "EngineCore",
        "process": 7,
        "message": "failed",
        "exc_info": 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x',
    }
    text = json.dumps(value) + "\n"
    (record,) = records(text)
    assert record.exception is not None and record.exception.type == "ValueError"
    assert record.lines[-1] == (1, "ValueError: x")
    assert record.process.role == "engine"


def test_the_traceback_after_that_of_a_child_is_another_record() -> None:
    child = "Process EngineCore:\nTraceback (most recent call last):\nException: no worker\n"
    other = 'Traceback (most recent call last):\n  File "/usr/lib/python3.11/multiprocessing/x.py", line 239, in main\n'
    first, second = records(child + other + "KeyError: '/psm_1'\n")
    assert first.exception is not None and first.exception.type == "Exception"
    assert second.exception is not None and second.exception.type == "KeyError"


def test_stdout_and_stderr_of_a_process_do_not_mix() -> None:
    def line(stream: str, text: str) -> str:
        return f"2026-11-30T09:35:51Z {stream} F (EngineCore pid=7) {text}\n"

    text = (
        line("stderr", "Traceback (most recent call last):")
        + line("stderr", '  File "a.py", line 1, in f')
        + line("stdout", "plain text")
        + line("stderr", "ValueError: x")
    )
    first, second = records(text)
    assert (first.stream, first.exception and first.exception.type) == ("stderr", "ValueError")
    assert (second.stream, second.message) == ("stdout", "plain text")


def test_the_container_is_the_host_of_a_process_and_ray_knows_better() -> None:
    got = records("vllm-1  | (EngineCore pid=7) a\nvllm-1  | (RayWorkerWrapper pid=9, ip=10.0.0.2) b\n")
    assert [record.process.host for record in got] == ["vllm-1", "10.0.0.2"]


# -- gaps --------------------------------------------------------------------------------------------------------------


def test_over_a_gap_only_what_clearly_belongs_is_joined() -> None:
    frame = '(EngineCore pid=7)   File "a.py", line 1, in f\n'
    got = with_gaps(
        (1, "(EngineCore pid=7) Traceback (most recent call last):\n" + frame),
        (50, frame + "(EngineCore pid=7) ValueError: x\n"),
        (90, "(EngineCore pid=7) some other text\n"),
    )
    assert [(record.first_line, record.last_line) for record in got] == [(1, 51), (90, 90)]
    assert got[0].exception is not None and len(got[0].exception.frames) == 2


def test_indented_and_equal_heads_are_not_joined_over_a_gap() -> None:
    head = "INFO 11-30 09:00:00 [a.py:1] "
    got = with_gaps((1, head + "x\n"), (5, head + "  y\n"), (9, "usage: vllm\n"), (12, "  more\n"))
    assert [record.message for record in got] == ["x", "  y", "usage: vllm", "  more"]


def test_a_gap_in_another_process_counts_too() -> None:
    got = with_gaps((1, "(Worker pid=1) text\n"), (9, "(Worker pid=2) x\n(Worker pid=1)   indented\n"))
    assert [record.message for record in got] == ["text", "x", "  indented"]


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_a_record_without_end_shows_its_cut() -> None:
    head = "(EngineCore pid=7) ERROR 11-30 09:00:00 [core.py:1] "
    text = "\r\n".join([head + "Traceback (most recent call last):", *[head + "  x"] * 5000, head + "ValueError: end"])
    (record,) = records(text + "\nINFO 11-30 09:00:00 [core.py:1] y\n")[:1]
    assert len(record.lines) < MAX_LINES + 250
    assert any("lines cut" in text for _, text in record.lines)
    assert record.lines[-1] == (5002, "ValueError: end")
    assert record.exception is not None and record.exception.message == "end"


def test_an_open_record_does_not_hold_back_the_log_for_ever() -> None:
    def endless() -> list[Line]:
        return [Line(1, "(Worker pid=1) Traceback (most recent call last):")] + [
            Line(i, f"(APIServer pid=2) INFO 11-30 09:00:00 [a.py:{i}] x") for i in range(2, MAX_WAITING * 2)
        ]

    stream = group(iter(endless()))
    assert next(stream)[1].first_line == 1
    assert [record.first_line for _, record in stream] == list(range(2, MAX_WAITING * 2))


# -- interleaving ----------------------------------------------------------------------------------------------------


def rank_lines(rank: int, seed: int, *, logged: bool) -> list[str]:
    """What one rank prints when it dies: a chain of exceptions, each line with its head."""
    pick = random.Random(seed * 100 + rank)
    lines: list[str] = ["WorkerProc failed to start."] if logged else []
    for link in range(pick.randint(1, 3)):
        if link:
            lines += ["", "During handling of the above exception, another exception occurred:", ""]
        lines.append("Traceback (most recent call last):")
        for depth in range(pick.randint(1, 4)):
            lines += [f'  File "/x/rank{rank}.py", line {depth + 1}, in f{link}', "    call()"]
        lines.append(f"{pick.choice(['ValueError', 'torch.OutOfMemoryError'])}: rank {rank} link {link}")
        lines += [f"  detail {i}" for i in range(pick.randint(0, 2))]
    head = f"(Worker_TP{rank} pid={100 + rank}) "
    if logged:
        head += "ERROR 11-30 09:00:00 [multiproc_executor.py:800] "
    return [head + line for line in lines]


def without_numbers(info: ExceptionInfo | None) -> list[tuple[str, str, int]]:
    links = []
    while info is not None:
        links.append((info.type, info.message, len(info.frames)))
        info = info.cause
    return links


def by_rank(text: str) -> dict[str, list[list[tuple[str, str, int]]]]:
    found: dict[str, list[list[tuple[str, str, int]]]] = {}
    for record in records(text):
        found.setdefault(record.process.rank, []).append(without_numbers(record.exception))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 64), st.integers(0, 10_000), st.booleans(), st.booleans())
def test_interleaved_ranks_give_the_same_exceptions_as_one_after_another(
    ranks: int, seed: int, logged: bool, marked: bool
) -> None:
    end = "\r\n" if marked and logged else "\n"
    queues = [
        [line + (end if i < len(lines) - 1 else "\n") for i, line in enumerate(lines)]
        for lines in (rank_lines(rank, seed, logged=logged) for rank in range(ranks))
    ]
    apart = "".join(line for queue in queues for line in queue)
    pick = random.Random(seed)
    mixed = []
    waiting = [list(queue) for queue in queues]
    while any(waiting):
        mixed.append(pick.choice([queue for queue in waiting if queue]).pop(0))
    assert by_rank("".join(mixed)) == by_rank(apart)
    assert all(len(found) == 1 for found in by_rank(apart).values())


@given(st.text(max_size=500))
def test_any_text_becomes_records_in_order(text: str) -> None:
    got = records(text)
    firsts = [record.first_line for record in got]
    assert firsts == sorted(firsts)
    assert all(record.lines for record in got)


ALPHABET = [
    "Traceback (most recent call last):",
    '  File "a.py", line 1, in f',
    "    code",
    "ValueError: x",
    "",
    "  | x",
    "  + Exception Group Traceback (most recent call last):",
    "  +-+---------------- 1 ----------------",
    "During handling of the above exception, another exception occurred:",
    "usage: vllm",
    "vllm: error: x",
    "Process Worker:",
    "Caused by these errors",
    "  1: x",
    '"""',
    "terminate called after throwing an instance of 'x'",
    "Fatal Python error: x",
    "INFO:     x",
    "ERROR:    x",
    "plain",
    "=====",
    "INFO 11-30 09:00:00 [a.py:1] x",
    "ERROR 11-30 09:00:00 [a.py:1] ValueError: y",
    "ERROR 11-30 09:00:00 [b.rs:1] x",
]


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "(Worker pid=1) ", "(APIServer pid=2) "]), st.sampled_from(ALPHABET), st.booleans()
        )
    ),
    st.integers(0, 3),
)
def test_every_line_is_kept_whatever_follows_what(parts: list[tuple[str, str, bool]], gap: int) -> None:
    lines = [Line(i * 2 + 1, head + text, more=more, gap=i == gap) for i, (head, text, more) in enumerate(parts)]
    got = [record for _, record in group(lines)]
    numbers = sorted(number for record in got for number, _ in record.lines)
    assert {line.number for line in lines if split_head(line.text).text.strip()} <= set(numbers)
    assert len(numbers) == len(set(numbers))
    for record in got:
        info = record.exception
        while info is not None:
            assert record.first_line <= info.line <= record.last_line
            info = info.cause
