"""The report in its surroundings: terminals of any kind and width, pipes, NO_COLOR and the locale."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

from .sample_logs import SAMPLES

LOG = SAMPLES / "gpu/max-model-len-too-long.log"
COLOR = re.compile(r"\x1b\[[0-9;]*m")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SET = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE", "PYTHONIOENCODING")


def environment(given: dict[str, str]) -> dict[str, str]:
    clean = {key: value for key, value in os.environ.items() if key not in _SET}
    return {**clean, "TERM": "xterm-256color", "LANG": "en_US.UTF-8", "PYTHONIOENCODING": "utf-8", **given}


def words(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "logdoctor.entry", str(LOG), *arguments]


def piped(*arguments: str, **given: str) -> str:
    """The report in a pipe."""
    done = subprocess.run(words(*arguments), env=environment(given), capture_output=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == b""
    return done.stdout.decode("utf-8")


def shown(*arguments: str, columns: int = 80, **given: str) -> str:
    """The report at a terminal."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    program = subprocess.Popen(words(*arguments), env=environment(given), stdin=other, stdout=other, stderr=other)
    os.close(other)
    data = b""
    while select.select([main], [], [], 60)[0]:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # Linux' way to say that the other side is closed
            break
        if not piece:
            break
        data += piece
    os.close(main)
    assert program.wait(timeout=60) == 1
    return data.decode("utf-8").replace("\r\n", "\n")


# -- colour -----------------------------------------------------------------------------------------------------------


def test_a_terminal_gets_colour_and_a_pipe_none() -> None:
    assert COLOR.search(shown())
    assert not COLOR.search(piped())


@pytest.mark.parametrize("given", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_no_colour_where_none_is_wanted(given: dict[str, str]) -> None:
    assert "\x1b" not in shown(**given)


def test_an_empty_variable_means_nothing() -> None:
    assert COLOR.search(shown(NO_COLOR=""))
    assert not COLOR.search(piped(FORCE_COLOR=""))


def test_colour_can_be_forced_into_a_pipe() -> None:
    assert COLOR.search(piped(FORCE_COLOR="1"))
    assert not COLOR.search(piped(FORCE_COLOR="1", NO_COLOR="1"))
    assert json.loads(piped("--format", "json", FORCE_COLOR="1"))["verdict"] == "failed"


def test_colour_is_all_that_the_escape_sequences_do() -> None:
    assert "\x1b" not in COLOR.sub("", shown())
    assert COLOR.sub("", shown()) == shown(NO_COLOR="1")


# -- width ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [20, 40, 80, 132])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_prose_fits_the_terminal(columns: int, lang: str) -> None:
    """What is longer is one word, or something to paste, which is never broken."""
    lines = shown("--lang", lang, columns=columns, NO_COLOR="1").splitlines()
    long = [line for line in lines if cell_len(line) > columns]
    pasted = re.compile(r"--[a-z]|logdoctor |VLLM_|fingerprint|指纹")
    assert [line for line in long if not pasted.search(line) and len(line.split()) > 1] == []
    assert "kv-cache-one-request" in "\n".join(lines)


def test_columns_outweighs_the_terminal_and_never_reaches_a_pipe() -> None:
    assert shown(columns=80, COLUMNS="40", NO_COLOR="1") == shown(columns=40, NO_COLOR="1")
    assert piped(COLUMNS="20") == piped(COLUMNS="200") == piped()


# -- encoding ---------------------------------------------------------------------------------------------------------


def test_an_output_that_holds_ascii_only_gets_no_more() -> None:
    for text in (piped(PYTHONIOENCODING="ascii"), shown(PYTHONIOENCODING="ascii", NO_COLOR="1")):
        assert text.isascii()
        assert "FAILED" in text
    assert not shown(NO_COLOR="1").isascii()


def test_the_c_locale_gets_ascii_too() -> None:
    given = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    assert piped(**given).isascii()


# -- language ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"LANG": "zh_CN.UTF-8"},
        {"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"},
        {"LC_MESSAGES": "zh_SG.UTF-8", "LANG": "C.UTF-8"},
        {"LANG": "zh"},
    ],
)
def test_the_locale_speaks_at_a_terminal(given: dict[str, str]) -> None:
    assert CHINESE.search(shown(**given))


@pytest.mark.parametrize(
    "given",
    [
        {"LANG": "en_US.UTF-8"},
        {"LANG": "zh_TW.UTF-8"},
        {"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"},
        {"LANG": "zh_CN.UTF-8", "PYTHONIOENCODING": "ascii"},
    ],
)
def test_everybody_else_gets_english(given: dict[str, str]) -> None:
    assert not CHINESE.search(shown(**given))


def test_a_pipe_and_programs_get_english_whatever_the_locale() -> None:
    assert piped(LANG="zh_CN.UTF-8", LC_ALL="zh_CN.UTF-8") == piped()
    for format_ in ("json", "markdown"):
        assert not CHINESE.search(shown("--format", format_, LANG="zh_CN.UTF-8"))


def test_who_asks_gets_the_language_everywhere() -> None:
    assert CHINESE.search(piped("--lang", "zh"))
    assert CHINESE.search(json.loads(piped("--lang", "zh", "--format", "json"))["boots"][-1]["findings"][0]["title"])
    assert not CHINESE.search(shown("--lang", "en", LANG="zh_CN.UTF-8"))


def test_following_and_checking_speak_it_too(tmp_path: Path) -> None:
    launch = tmp_path / "run.sh"
    launch.write_text("docker run vllm/vllm-openai:v0.17.1 serve facebook/opt-125m\n", encoding="utf-8")
    check = [sys.executable, "-m", "logdoctor.entry", "check", str(launch), "--lang", "zh"]
    for call in (words("--lang", "zh", "--follow"), check):
        done = subprocess.run(call, env=environment({}), capture_output=True, timeout=60)
        assert CHINESE.search(done.stdout.decode("utf-8"))


def test_the_log_is_never_translated() -> None:
    english, chinese = (json.loads(piped("--lang", lang, "--format", "json")) for lang in ("en", "zh"))
    for one, other in zip(english["boots"], chinese["boots"], strict=True):
        assert one["facts"] == other["facts"]
        pairs = list(zip(one["findings"], other["findings"], strict=True))
        for kept in ("id", "severity", "role", "evidence", "fingerprint", "references"):
            assert [left[kept] for left, _ in pairs] == [right[kept] for _, right in pairs]
        for left, right in pairs:
            assert [r["command"] for r in left["remedies"]] == [r["command"] for r in right["remedies"]]
    assert english["verdict"] == chinese["verdict"]


def test_an_unknown_language_is_one_line() -> None:
    done = subprocess.run(words("--lang", "fr"), env=environment({}), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "logdoctor: --lang wants en or zh, not 'fr'\n"
