"""Python tracebacks and native crashes."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest

from logdoctor.model import ExceptionInfo
from logdoctor.reading.crashes import NativeCrash, RustError
from logdoctor.reading.tracebacks import TracebackReader, begins_traceback, error_line


def read(text: str) -> ExceptionInfo | None:
    reader = TracebackReader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.feed(number, line)
    return reader.result()


def printed(action: Callable[[], object]) -> str:
    try:
        action()
    except BaseException:
        return traceback.format_exc().rstrip("\n")
    raise AssertionError("the action must fail")


def chain(info: ExceptionInfo | None) -> list[str]:
    types = []
    while info is not None:
        types.append(info.type)
        info = info.cause
    return types


def test_a_plain_traceback() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/opt/vllm/v1/engine/core.py", line 1299, in run_engine_core\n'
        "    engine_core = EngineCoreProc(*args, engine_index=dp_rank, **kwargs)\n"
        "                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  [Previous line repeated 3 more times]\n"
        '  File "<string>", line 2, in <module>\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB."
    )
    info = read(text)
    assert info is not None
    assert (info.type, info.line) == ("torch.OutOfMemoryError", 7)
    assert info.message == "CUDA out of memory. Tried to allocate 20.00 GiB."
    assert [(frame.file, frame.line, frame.function) for frame in info.frames] == [
        ("/opt/vllm/v1/engine/core.py", 1299, "run_engine_core"),
        ("<string>", 2, "<module>"),
    ]
    assert info.cause is None


def test_messages_of_several_lines() -> None:
    info = read(
        "Traceback (most recent call last):\n"
        '  File "x.py", line 1, in f\n'
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
        "  Value error, User-specified max_model_len (1048576) is greater\n"
        "    For further information visit https://errors.pydantic.dev/2.14/v/value_error\n"
        "\n"
    )
    assert info is not None
    assert info.message.split("\n") == [
        "1 validation error for ModelConfig",
        "  Value error, User-specified max_model_len (1048576) is greater",
        "    For further information visit https://errors.pydantic.dev/2.14/v/value_error",
    ]


def test_an_exception_while_another_was_handled_has_it_as_its_cause() -> None:
    info = read(
        printed(lambda: dict[str, int]()["config.json"])
        + "\n\nDuring handling of the above exception, another exception occurred:\n\n"
        + 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nRuntimeError: last'
    )
    assert info is not None
    assert (info.type, info.message, [frame.function for frame in info.frames]) == (
        "RuntimeError",
        "last",
        ["<module>"],
    )
    assert chain(info) == ["RuntimeError", "KeyError"]


def test_real_nested_errors_are_read_in_order() -> None:
    def fail() -> None:
        try:
            int("x")
        except ValueError as error:
            try:
                raise KeyError("second") from error
            except KeyError as other:
                raise RuntimeError("third") from other

    info = read(printed(fail))
    assert chain(info) == ["RuntimeError", "KeyError", "ValueError"]
    assert info is not None and info.cause is not None and info.cause.cause is not None
    assert info.cause.cause.message == "invalid literal for int() with base 10: 'x'"
    assert info.line > info.cause.line > info.cause.cause.line


def test_a_group_names_its_first_member_as_the_cause() -> None:
    text = (
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/x/_backends.py", line 785, in __aexit__\n'
        "  |     raise BaseExceptionGroup(\n"
        "  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)\n"
        "  +-+---------------- 1 ----------------\n"
        "    | Traceback (most recent call last):\n"
        '    |   File "/x/engine.py", line 3, in step\n'
        "    |     run()\n"
        "    | vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.\n"
        "    +---------------- 2 ----------------\n"
        "    | TypeError: second\n"
        "    +------------------------------------"
    )
    info = read(text)
    assert info is not None and info.cause is not None
    assert (info.type, info.message) == ("ExceptionGroup", "unhandled errors in a TaskGroup (2 sub-exceptions)")
    assert info.cause.type == "vllm.v1.engine.exceptions.EngineDeadError"
    assert [frame.function for frame in info.cause.frames] == ["step"]
    after = read(
        text
        + "\n\nDuring handling of the above exception, another exception occurred:\n\n"
        + 'Traceback (most recent call last):\n  File "a.py", line 1, in app\nRuntimeError: outer'
    )
    assert chain(after) == ["RuntimeError", "ExceptionGroup", "vllm.v1.engine.exceptions.EngineDeadError"]


def test_a_record_that_holds_its_traceback_twice_has_one_exception() -> None:
    once = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x'
    assert chain(read(once + "\n\n" + once)) == ["ValueError"]


def test_a_remote_traceback_is_the_cause() -> None:
    text = (
        "concurrent.futures.process._RemoteTraceback: \n"
        '"""\n'
        "Traceback (most recent call last):\n"
        '  File "/x/process.py", line 1, in work\n'
        "ValueError: inner\n"
        '"""\n'
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "\n"
        "Traceback (most recent call last):\n"
        '  File "/x/main.py", line 2, in main\n'
        "ValueError: inner"
    )
    info = read(text)
    assert info is not None and info.cause is not None
    assert info.frames[0].function == "main"
    assert info.cause.frames[0].function == "work"


def test_the_tail_of_a_traceback_is_still_read() -> None:
    info = read(
        '    return f()\n  File "/x/utils.py", line 9, in wait\n    raise RuntimeError(\nRuntimeError: Engine failed'
    )
    assert info is not None
    assert (info.type, info.message, [frame.function for frame in info.frames]) == (
        "RuntimeError",
        "Engine failed",
        ["wait"],
    )


def test_the_head_may_stand_behind_the_logged_words() -> None:
    info = read(
        'EngineCore hit an exception: Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x'
    )
    assert chain(info) == ["ValueError"]
    assert info is not None and len(info.frames) == 1


def test_endless_recursion_and_chains_are_capped() -> None:
    frames = '  File "a.py", line 1, in f\n    f()\n' * 5000
    info = read(
        f'Traceback (most recent call last):\n  File "main.py", line 1, in main\n{frames}RecursionError: too deep'
    )
    assert info is not None
    assert len(info.frames) <= 120
    assert info.frames[0].function == "main"
    link = 'Traceback (most recent call last):\n  File "a.py", line {0}, in f\nValueError: {0}\n'
    sentence = "\nDuring handling of the above exception, another exception occurred:\n\n"
    info = read(sentence.join(link.format(i) for i in range(100)))
    assert 2 <= len(chain(info)) <= 20
    while info is not None and info.cause is not None:
        info = info.cause
    assert info is not None and info.message == "0"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Traceback (most recent call last):", True),
        ('  File "x.py", line 1, in f', True),
        ("  + Exception Group Traceback (most recent call last):", True),
        ("See the traceback above", False),
        ('File "x.py" not found', False),
    ],
)
def test_where_a_traceback_begins(line: str, expected: bool) -> None:
    assert begins_traceback(line) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("RuntimeError: No CUDA GPUs are available", True),
        ("torch.AcceleratorError: CUDA error: an illegal instruction was encountered", True),
        ("vllm.exceptions.VLLMValidationError: x", True),
        ("Error: x", True),
        ("FutureWarning: x", False),
        ("Loading: 5%", False),
        ("error: x", False),
        ("An Error: x", False),
        ("KeyError", False),
    ],
)
def test_error_lines(line: str, expected: bool) -> None:
    assert error_line(line) is expected


def test_terminate_called() -> None:
    crash = NativeCrash()
    text = (
        "terminate called after throwing an instance of 'c10::Error'\n"
        "  what():  CUDA error: an illegal memory access was encountered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call.\n"
        "\n"
        "Exception raised from c10_cuda_check_implementation at /x/CUDAException.cpp:43 (most recent call first):\n"
        "frame #0: c10::Error::Error(c10::SourceLocation) + 0x96"
    )
    for number, line in enumerate(text.split("\n"), 10):
        assert number == 10 or crash.accepts(line)
        crash.feed(number, line)
    assert not crash.accepts("[rank0]:[W1130 09:00:00.1 x.cpp:1] next")
    info = crash.result()
    assert info is not None
    assert (info.type, info.line) == ("c10::Error", 10)
    assert info.message.startswith("CUDA error: an illegal memory access was encountered\nCUDA kernel errors")


def test_the_fault_handler() -> None:
    crash = NativeCrash()
    text = (
        "Fatal Python error: Segmentation fault\n"
        "\n"
        "Current thread 0x00007f (most recent call first):\n"
        '  File "/x/ops.py", line 5 in matmul\n'
        '  File "/x/main.py", line 1 in <module>\n'
        "\n"
        "Thread 0x00007e (most recent call first):\n"
        '  File "/x/threading.py", line 5 in wait'
    )
    for number, line in enumerate(text.split("\n"), 1):
        assert number == 1 or crash.accepts(line, named=False)
        crash.feed(number, line)
    info = crash.result()
    assert info is not None
    assert (info.type, info.message) == ("Fatal Python error", "Segmentation fault")
    assert [frame.function for frame in info.frames] == ["<module>", "matmul"]


def test_rust_causes_are_a_chain_whose_last_is_the_cause() -> None:
    error = RustError(1, "process failed with error: OpenAI server shut down unexpectedly")
    text = (
        "\nCaused by these errors (recent errors listed first):\n"
        "  1: failed to create chat/text backends\n  2: tokenizer error: no such file\n     at x"
    )
    for number, line in enumerate(text.split("\n"), 2):
        assert error.accepts(line)
        error.feed(number, line)
    assert not error.accepts("INFO")
    info = error.result()
    assert info is not None and info.cause is not None and info.cause.cause is not None
    assert info.message == "OpenAI server shut down unexpectedly"
    assert info.cause.cause.message == "tokenizer error: no such file\nat x"
