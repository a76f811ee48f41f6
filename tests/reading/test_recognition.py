"""The marks by which a record is known: of vLLM, of a banner, of the first line of a start, of the last."""

from __future__ import annotations

from typing import Any

import pytest

from logdoctor.model import ExceptionInfo, Frame, Process, Record
from logdoctor.reading import recognition as marks

FRAMES = (Frame("/opt/x.py", 1, "f"),)
VLLM_FRAMES = (Frame("/usr/lib/vllm/engine.py", 1, "f"),)


def record(*lines: str, role: str = "", name: str = "", rank: str = "", **more: Any) -> Record:
    return Record(tuple(enumerate(lines, start=1)), Process(role, name, "", rank), **more)


def stamped(*lines: str, **more: Any) -> Record:
    return record(*lines, **{"level": "INFO", "time": "11-30 09:00:00", **more})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (record("x", role="engine"), True),
        (record("x", time="11-30 09:00:00"), True),
        (record("x", time="2026-11-30 09:00:00.123"), False),
        (record("x", time="09:00:00"), False),
        (record("vllm: error: unrecognized arguments: --x"), True),
        (record("vllm serve: error: argument --x"), True),
        (record("api_server.py: error: argument --x"), True),
        (record("other: error: argument --x"), False),
        (record("usage: vllm serve [-h]"), True),
        (record("usage: x [-h]", "vllm serve: error: argument --x"), True),  # the words may be in a later line
        (record("x [-h]", "vllm serve: error: argument --x"), False),
        (record("usage: x [-h]", "x: error: argument --x"), False),
        (record("x", exception=ExceptionInfo("vllm.exceptions.Bad", "m", 1)), True),
        (record("x", exception=ExceptionInfo("my.vllm.Bad", "m", 1)), False),
        (record("x", exception=ExceptionInfo("ValueError", "m", 1, VLLM_FRAMES)), True),
        (record("x", exception=ExceptionInfo("ValueError", "m", 1, FRAMES)), False),
        (record("x", exception=ExceptionInfo("A", "m", 1, FRAMES, ExceptionInfo("B", "n", 1, VLLM_FRAMES))), True),
        (record("x", exception=ExceptionInfo("A", "m", 1, FRAMES, ExceptionInfo("B", "n", 1, FRAMES))), False),
        (record("x"), False),
    ],
)
def test_marks_of_vllm(given: Record, expected: bool) -> None:
    assert marks.looks_like_vllm(given) is expected


BANNER = "vLLM API server version 0.17.1"
LOGO = "       █     █     █▄   ▄█       ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.17.1"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (stamped(BANNER), True),
        (stamped("vLLM server version 0.9"), True),
        (stamped("", "", "", LOGO), True),
        (stamped(*[""] * 7, LOGO), True),
        (stamped(*[""] * 8, LOGO), False),
        (stamped("█ a block"), False),
        (stamped("version 0.17.1"), False),
        (stamped(f"the {BANNER}"), False),
        (stamped(BANNER, level="WARNING"), False),
        (stamped(BANNER, level=""), False),
        (stamped(BANNER, quoted=True), False),
        (stamped(BANNER, role="engine"), False),
        (stamped(BANNER, role="worker"), False),
        (stamped(BANNER, role="api"), True),
        (stamped(BANNER, role="frontend"), True),
    ],
)
def test_the_banner_of_a_server(given: Record, expected: bool) -> None:
    assert marks.is_banner(given) is expected


@pytest.mark.parametrize(
    ("given", "rule", "image"),
    [
        (record("=========="), True, False),
        (record("===== "), True, False),
        (record("== x =="), False, False),
        (record("==X=="), False, False),
        (record(""), False, False),
        (record(" ===="), False, False),
        (record("X"), False, False),
        (record("====", level="INFO"), False, False),
        (record("== CUDA =="), False, True),
        (record("== vLLM 26.01 == "), False, True),
        (record("== CUDA ==", level="INFO"), False, False),
        (record("== CUDA"), False, False),
        (record("x == CUDA =="), False, False),
    ],
)
def test_the_banner_of_an_image(given: Record, rule: bool, image: bool) -> None:
    assert marks.is_rule(given) is rule
    assert marks.is_image_banner(given) is image
    assert marks.begins_start(given) is (rule or image)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (stamped("x", file="importing.py"), True),
        (stamped("x", file="platforms/__init__.py"), True),
        (stamped("x", file="torch/utils/cpp_extension.py"), True),
        (stamped("x", file="cpp_extension.py"), False),
        (stamped("x", file="importing.py", name="Worker"), False),
        (stamped("Automatically detected platform cuda.", file="__init__.py"), True),
        (stamped("No platform detected", file="__init__.py"), True),
        (stamped("Checking if CUDA", file="__init__.py"), True),
        (stamped("Confirmed CUDA", file="__init__.py"), True),
        (stamped("Other", file="__init__.py"), False),
        (stamped("No platform detected", file="x.py"), False),
    ],
)
def test_the_first_line_of_an_import(given: Record, expected: bool) -> None:
    assert marks.is_import_line(given) is expected
    assert marks.begins_start(given) is expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (record("x"), True),
        (record("x", level="WARNING", time="2026-11-30 09:00:00,1"), True),
        (stamped("x", level="DEBUG", file="core.py"), True),
        *((stamped("x", file=file), True) for file in (
            "importing.py", "interface.py", "__init__.py", "serve.py", "main.py", "envs.py", "argparse_utils.py",
            "scalar_type.py", "cli/serve.py",
        )),
        (stamped("x", file="core.py"), False),
        (stamped("x", file="serve.py", name="APIServer"), False),
        (record("x", exception=ExceptionInfo("A", "m", 1)), False),
        (record("vllm: error: x"), False),
        (record("vllm-1 exited with code 1"), False),
    ],
)  # fmt: skip
def test_what_stands_before_a_banner(given: Record, expected: bool) -> None:
    assert marks.is_prelude(given) is expected


@pytest.mark.parametrize(
    ("given", "refused", "ended"),
    [
        (record("vllm serve: error: unrecognized arguments: --x"), True, False),
        (record("usage: vllm", "vllm serve: error: x"), True, False),
        (record("vllm: error: x", level="ERROR"), False, False),
        (record("an (x): error: y"), False, False),
        (record("vllm: error:"), False, False),
        (record("vllm-1 exited with code 137"), False, True),
        (record("vllm-1 exited with code -9 (restarting)"), False, True),
        (record("x y exited with code 1"), False, False),
        (record("vllm-1 exited with code 1", level="INFO"), False, False),
        (record("a", "vllm-1 exited with code 1"), False, False),
    ],
)
def test_ends_that_others_report(given: Record, refused: bool, ended: bool) -> None:
    assert marks.is_usage_error(given) is refused
    assert marks.is_exit_line(given) is ended


DIED = ExceptionInfo("ValueError", "m", 1, FRAMES)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (record("vllm: error: x"), True),
        (record("Traceback (most recent call last):", exception=DIED), True),
        (record("Traceback (most recent call last):", exception=DIED, role="api"), True),
        (record("Traceback (most recent call last):", exception=DIED, role="engine"), False),
        (record("Traceback (most recent call last):", exception=DIED, role="api", rank="1"), False),
        (record("Traceback (most recent call last):", exception=DIED, level="ERROR"), False),
        (record("Traceback (most recent call last):", exception=DIED, quoted=True), False),
        (record("Traceback (most recent call last):", exception=DIED._replace(frames=())), False),
        (record("Exception in thread x:", exception=DIED), False),
        (record("x"), False),
    ],
)
def test_the_last_word_of_the_main_process(given: Record, expected: bool) -> None:
    assert marks.is_last_word(given) is expected
