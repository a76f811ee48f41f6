"""What a client chose is left out of a server's complaint about its request, and the server's own words stay."""

from __future__ import annotations

import pytest

from logdoctor.model import ExceptionInfo, Frame, Process, Record
from logdoctor.reading.client_words import is_about_a_request, without_client_words

API = Process("api", "APIServer", "1")
FRAME = '  File "/usr/lib/python3.12/site-packages/vllm/serving.py", line 1, in f'
OWN_FRAME = '  File "chat.py", line 1, in f'


def complaint(
    *lines: str, process: Process = API, level: str = "ERROR", file: str = "serving_chat.py", **more: object
) -> Record:
    return Record(
        tuple(enumerate(lines, start=10)),
        process,
        level,
        time="11-30 09:00:00",
        file=file,
        file_line=7,
        **more,  # type: ignore[arg-type]
    )


def left(record: Record, before: Record | None = None) -> list[str]:
    return [text for _, text in without_client_words(record, before).lines]


@pytest.mark.parametrize(
    ("role", "level", "file", "expected"),
    [
        ("api", "WARNING", "x.py", True),
        ("api", "ERROR", "x.py", True),
        ("frontend", "CRITICAL", "x.py", True),
        ("api", "INFO", "serving_chat.py", False),
        ("api", "", "serving_chat.py", False),
        ("engine", "ERROR", "serving_chat.py", False),
        ("worker", "ERROR", "serving_chat.py", False),
        ("", "ERROR", "serving_chat.py", True),
        ("", "WARNING", "protocol.py", True),
        ("", "ERROR", "hermes_tool_parser.py", True),
        ("", "ERROR", "input_processor.py", True),
        ("", "ERROR", "api_server.py", True),
        ("", "ERROR", "core.py", False),
        ("", "ERROR", "my_serving.py", False),
        ("", "INFO", "serving_chat.py", False),
    ],
)
def test_who_complains_of_requests(role: str, level: str, file: str, expected: bool) -> None:
    assert is_about_a_request(complaint("x", process=Process(role), level=level, file=file)) is expected


def test_a_handlers_traceback_is_about_a_request() -> None:
    assert is_about_a_request(complaint("Exception in ASGI application", process=Process(), file=""))
    assert not is_about_a_request(complaint("x Exception in ASGI application", process=Process(), file=""))
    assert not is_about_a_request(complaint("x", "Exception in ASGI application", process=Process(), file=""))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Error in extracting tool call from response: CUDA error", "Error in extracting tool call from response: …"),
        ("Failed. CUDA error", "Failed. …"),
        ("Failed.", "Failed.…"),
        ("no border here", "no border here"),
        ("v0.17.1:8000 is no border", "v0.17.1:8000 is no border"),
        ("The model `CUDA error` does not exist", "The model …"),
        ("The model 'CUDA error' does not exist", "The model …"),
        ('The schema "CUDA error" is bad', "The schema …"),
        ("Invalid {CUDA error}", "Invalid …"),
        ("model=CUDA error", "model=…"),
        (
            "Error with model error=ErrorInfo(message='The model `CUDA error` does not exist.', code=404)",
            "Error with model error=ErrorInfo(message='The model … does not exist.', code=404)",
        ),
        (
            f"error=ErrorInfo(message=\"The field '{'x' * 40}' is no '{'y' * 39}'.\")",
            f"error=ErrorInfo(message=\"The field … is no '{'y' * 39}'.\")",
        ),
    ],
)  # fmt: skip
def test_the_words_of_the_program_end_where_a_value_begins(said: str, kept: str) -> None:
    assert left(complaint(said)) == [kept]


def test_further_lines_are_the_clients() -> None:
    shown = without_client_words(complaint("Error: a", "CUDA error", "more"))
    assert shown.lines == ((10, "Error: …"), (11, "…"), (12, "…"))
    assert shown._replace(lines=()) == complaint("Error: a")._replace(lines=())


@pytest.mark.parametrize("head", ["Traceback (most recent call last):", "  | Traceback (most recent call last):",
                                  "  + Exception Group Traceback (most recent call last):"])  # fmt: skip
def test_the_programs_own_traceback_stays(head: str) -> None:
    lines = ("Error: a", "CUDA error", head, FRAME, "    code", "ValueError: b")
    assert left(complaint(*lines)) == ["Error: …", "…", *lines[2:]]


@pytest.mark.parametrize(
    ("frames", "stays"),
    [
        ([FRAME], True),
        ([OWN_FRAME, "    code", FRAME], True),
        ([OWN_FRAME, "    code", OWN_FRAME, FRAME], False),  # looked for in three lines
        ([OWN_FRAME], False),
        (['  | File "/opt/vllm/x.py", line 1, in f'], True),
        (['  File "/usr/lib/python3.12/asyncio/x.py", line 1, in f'], True),
        (["x " + FRAME], False),
    ],
)
def test_a_traceback_in_a_clients_words_has_no_frame_of_the_servers(frames: list[str], stays: bool) -> None:
    lines = ["Traceback (most recent call last):", *frames, "ValueError: b"]
    assert left(complaint("Error: a", *lines)) == ["Error: …", *(lines if stays else ["…"] * len(lines))]


def test_the_first_line_is_no_traceback_of_its_own() -> None:
    assert left(complaint("Traceback (most recent call last):", FRAME))[1:] == ["…"]


def test_what_the_same_place_says_in_the_same_second_goes_on() -> None:
    first, rest = complaint("Error: a"), complaint("CUDA error: b", "c", "Traceback (most recent call last):", FRAME)
    assert left(rest, first) == ["…", "…", "Traceback (most recent call last):", FRAME]
    for other in (
        first._replace(process=Process("api", "APIServer", "2")), first._replace(level="WARNING"),
        first._replace(time="11-30 09:00:01"), first._replace(file="x.py"), first._replace(file_line=8), None,
    ):  # fmt: skip
        assert left(rest, other)[0] == "CUDA error: …"
    nameless = first._replace(file="")
    assert left(rest._replace(file=""), nameless)[0] == "CUDA error: …"


def exception(type_: str, line: int) -> ExceptionInfo:
    return ExceptionInfo(type_, "CUDA error", line, (Frame("x.py", 1, "f"),))


def test_an_exception_in_the_clients_words_is_none() -> None:
    lines = ("Error: a", "Traceback (most recent call last):", "ValueError: CUDA error")
    assert without_client_words(complaint(*lines, exception=exception("ValueError", 12))).exception is None
    own = ("Error: a", "Traceback (most recent call last):", FRAME, "ValueError: CUDA error")
    kept = exception("ValueError", 13)
    assert without_client_words(complaint(*own, exception=kept)).exception == kept
    assert without_client_words(complaint("Error: a", exception=exception("ValueError", 10))).exception is None
    assert without_client_words(complaint("Error: a", exception=exception("ValueError", 11))).exception is not None


@pytest.mark.parametrize("type_", ["jinja2.exceptions.TemplateError", "pydantic_core._pydantic_core.ValidationError"])
@pytest.mark.parametrize("line", [13, 99])
def test_the_message_of_an_exception_that_quotes_the_request_is_left_out(type_: str, line: int) -> None:
    lines = ("Error: a", "Traceback (most recent call last):", FRAME, f"{type_}: CUDA error", "more of it")
    shown = without_client_words(complaint(*lines, exception=exception(type_, line)))
    assert shown.exception == exception(type_, line)._replace(message="…")
    numbers = [number for number, _ in shown.lines]
    assert numbers == [10, 11, 12, 13, 14]
    tail = [f"{type_}: …", "…"] if line == 13 else [f"{type_}: CUDA error", f"{type_}: …"]
    assert [text for _, text in shown.lines] == ["Error: …", *lines[1:3], *tail]
