"""What is said of a launch in Chinese: each reason and each gap that the rewriter knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import logdoctor.launch
from logdoctor.model import Diagnosis, Launch, Verdict
from logdoctor.report.phrases import in_language

CHINESE = re.compile(r"[\u4e00-\u9fff]")
SOURCES = sorted(Path(logdoctor.launch.__file__).parent.glob("*.py"))


def texts(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression can give, something in place of what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)  # type: ignore[misc]


def refusals() -> Iterator[str]:
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NotEditable" and node.args:
                yield from texts(node.args[0])


def told(launch: Launch) -> Launch:
    made = in_language(Diagnosis(Verdict.FAILED, "", (), launch=launch), "zh").launch
    assert made is not None
    return made


@pytest.mark.parametrize(
    "reason",
    [
        *sorted(set(refusals())),
        "another remedy of this finding comes first",
        "the changed launch could not be read again",
        "no argument of vLLM; to be changed by hand",
        "a value is to be filled in",
        "it makes the log say more and mends nothing",
        "its value is this machine's: to be set by hand",
        "another host would serve the model: decide by hand",
        "it holds only if the number of GPUs is at least 2",
        "it holds only with vLLM >=0.17",
        "it holds unless the GPU's compute capability is 12.1",
        "the value in angle brackets is not in this log",
    ],
)
def test_each_reason_is_told(reason: str) -> None:
    (text,) = told(Launch("a", "b", skipped=(f"run f(x) (y) --z ({reason})",))).skipped
    assert text.startswith("run f(x) (y) --z（")
    assert CHINESE.search(text)
    assert not re.search(r"\b(?:the|is|it|holds|only|if|unless)\b", text), text


@pytest.mark.parametrize(
    "gap",
    [
        "what extends brings",
        "service a is read; the file has 2 vLLM services, also: b",
        "a is read; the manifest has 2 vLLM containers, also: b",
        "the file starts 2 servers; only the first is read",
        "the command ends before --x in line 3: the line above does not end in a backslash",
        "a blank or a comment after a backslash ends the command too early",
        "a blank or a comment after a backslash ends the command too early (line 4)",
        "the variables of the host",
        "the variables of prod.env",
        "the variables of env_file",
        "what $MODEL stands for",
        "the model",
        "the value of --x",
    ],
)
def test_each_gap_is_told(gap: str) -> None:
    (text,) = told(Launch("a", "b", unknown=(gap,))).unknown
    assert CHINESE.search(text)
    assert not re.search(r"\b(?:the|is|of|in|what)\b", text), text


def test_what_nobody_translated_stays_whole() -> None:
    assert told(Launch("a", "b", skipped=("x (of tomorrow)",), unknown=("of tomorrow",))) == Launch(
        "a", "b", skipped=("x (of tomorrow)",), unknown=("of tomorrow",)
    )
