"""What surrounds the tool fails: disks, pipes, terminals, caches, files that change while they are read."""

from __future__ import annotations

import array
import ctypes
import fcntl
import gzip
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import termios
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO

import pytest

from .running import FAILED, HEALTHY, Outcome, environment, run, start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses /dev/full, /proc and signals")
FULL = Path("/dev/full")


def plain_user() -> None:
    """In a process about to begin: take root's right to read and write everything away."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def quiet_failure(outcome: Outcome, *words: str) -> None:
    """One line for the user, status 2, nothing on standard output."""
    assert outcome.status == 2, outcome
    assert "Traceback" not in outcome.err
    assert len(outcome.err.splitlines()) == 1, outcome.err
    for word in words:
        assert word in outcome.err


def reported(outcome: Outcome, status: int = 0) -> str:
    """A whole report and no noise."""
    assert outcome.status == status, outcome
    assert "Traceback" not in outcome.err
    assert outcome.text.endswith("\n")
    return outcome.text


# --- writing --------------------------------------------------------------------------------------------------------


def test_a_full_disk_behind_standard_output() -> None:
    with FULL.open("wb") as full:
        quiet_failure(run(HEALTHY, stdout=full), "cannot write", "No space left")


def test_a_full_disk_behind_output() -> None:
    quiet_failure(run("--output", FULL, HEALTHY), "cannot write /dev/full", "No space left")


def test_output_stays_what_it_was_when_it_cannot_be_written(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text("the last report\n")
    code = (
        "import os, logdoctor.cli as cli\n"
        "def full(handle): raise OSError(28, 'No space left on device')\n"
        "os.fsync = full\n"
        "cli.main()\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code, "--output", str(report), str(HEALTHY)],
        env=environment(), capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert outcome.returncode == 2
    assert "No space left" in outcome.stderr
    assert report.read_text() == "the last report\n"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_output_into_a_directory_that_is_not_there(tmp_path: Path) -> None:
    quiet_failure(run("--output", tmp_path / "no" / "report", HEALTHY), "cannot write")


def test_output_that_is_a_directory(tmp_path: Path) -> None:
    quiet_failure(run("--output", tmp_path, HEALTHY), "cannot write")


def test_a_reader_that_has_seen_enough() -> None:
    process = start(["--format", "json", "--boot", "all", HEALTHY])
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.read(1) == b"{"
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    assert process.wait() in (0, 2)


def test_a_closed_standard_output() -> None:
    outcome = run(HEALTHY, preexec_fn=lambda: os.close(1))
    assert outcome.status in (0, 2)
    assert "Traceback" not in outcome.err


def test_a_closed_standard_error() -> None:
    outcome = run("no-such-file.log", preexec_fn=lambda: os.close(2))
    assert outcome.status == 2
    assert not outcome.out


# --- reading --------------------------------------------------------------------------------------------------------


def test_a_closed_standard_input() -> None:
    outcome = run(preexec_fn=lambda: os.close(0))
    assert outcome.status in (2, 3)
    assert "Traceback" not in outcome.err


def test_an_empty_input() -> None:
    assert reported(run("-", data=b""), 3).startswith("UNDETERMINED")
    assert reported(run("/dev/null"), 3).startswith("UNDETERMINED")


def test_a_directory(tmp_path: Path) -> None:
    quiet_failure(run(tmp_path), "is a directory")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    quiet_failure(run(tmp_path / "no.log"), "does not exist")


def test_one_of_two_files_is_not_there(tmp_path: Path) -> None:
    quiet_failure(run(HEALTHY, tmp_path / "no.log"), "does not exist")


@pytest.mark.parametrize("name", ["a\x1b[31m.log", "a\n::error::b.log", "a" * 300, "a\u202eb.log", "\udcff.log"])
def test_a_name_that_means_harm(name: str) -> None:
    outcome = run(name)
    quiet_failure(outcome)
    assert "\x1b" not in outcome.err and "\u202e" not in outcome.err


def test_a_file_that_must_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "secret.log"
    path.write_bytes(HEALTHY.read_bytes())
    path.chmod(0)
    quiet_failure(run(path, preexec_fn=plain_user), "permission denied")


def test_a_read_error_in_the_middle() -> None:
    # The memory of a process cannot be read where nothing is mapped.
    outcome = run("/proc/self/mem")
    assert outcome.status == 2, outcome
    assert "Traceback" not in outcome.err
    assert "cannot be read" in outcome.err


def test_a_fifo(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(HEALTHY.read_bytes()))
    writer.start()
    text = reported(run(fifo))
    writer.join()
    assert text == reported(run(HEALTHY)).replace(HEALTHY.name, "fifo")


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "growing.log"
    data = HEALTHY.read_bytes()
    path.write_bytes(data)
    done = threading.Event()

    def grow() -> None:
        with path.open("ab") as file:
            while not done.wait(0.002):
                file.write(b"(APIServer pid=1) INFO 11-30 09:22:00 [a.py:1] more\n")
                file.flush()

    grower = threading.Thread(target=grow)
    grower.start()
    try:
        reported(run(path, "--max-bytes", "2000000"))
    finally:
        done.set()
        grower.join()


def test_a_file_that_vanishes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "going.log"
    path.write_bytes(HEALTHY.read_bytes())
    process = start(["-", path], stdin=subprocess.PIPE)
    time.sleep(0.1)
    path.unlink()
    out, err = process.communicate(b"")
    assert process.returncode in (0, 2)
    assert b"Traceback" not in err
    assert bool(out) == (process.returncode == 0)


@pytest.mark.parametrize("format", ["text", "json"])
def test_a_gzip_file_that_is_cut_off(tmp_path: Path, format: str) -> None:
    path = tmp_path / "log.gz"
    whole = gzip.compress(FAILED.read_bytes())
    path.write_bytes(whole[: len(whole) * 9 // 10])
    outcome = run("--format", format, path)
    assert outcome.status in (1, 3)
    assert "cut off" in outcome.text
    assert "cut off" in outcome.err


def test_a_zstd_file_that_is_cut_off(tmp_path: Path) -> None:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        zstd = pytest.importorskip("backports.zstd")
    path = tmp_path / "log.zst"
    whole = zstd.compress(FAILED.read_bytes())
    path.write_bytes(whole[: len(whole) * 9 // 10])
    outcome = run(path)
    assert outcome.status in (1, 3)
    assert "cut off" in outcome.text


def test_a_gzip_file_with_damage_in_it(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    whole = bytearray(gzip.compress(FAILED.read_bytes()))
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)
    outcome = run(path)
    assert outcome.status in (1, 3)
    assert "damaged" in outcome.text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_encodings_of_windows(encoding: str) -> None:
    text = reported(run("-", data=FAILED.read_text().encode(encoding)), 1)
    assert text == reported(run("-", data=FAILED.read_bytes()), 1)


def test_a_code_page_of_windows() -> None:
    log = FAILED.read_text() + "(APIServer pid=1) INFO 11-30 09:20:57 [a.py:1] Gr\u00f6\u00dfe \u20ac\n"
    outcome = run("-", data=log.encode("cp1252", "replace"))
    assert outcome.status == 1
    assert "characters were not valid UTF-8" in outcome.text


def wait_until_read(pipe: IO[bytes]) -> None:
    """Wait until the process at the other end has taken everything, however slow the machine is."""
    left = array.array("i", [1])
    for _ in range(6000):
        fcntl.ioctl(pipe, termios.FIONREAD, left)
        if not left[0]:
            return
        time.sleep(0.01)
    raise AssertionError("nobody reads")


# --- signals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, {2}), (signal.SIGTERM, {2, -signal.SIGTERM, 143})])
def test_a_signal_ends_it_quietly(number: int, status: set[int]) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests themselves run where this signal is ignored, and so does what they start")
    process = start(["-"], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(HEALTHY.read_bytes())
    process.stdin.flush()
    wait_until_read(process.stdin)  # then it waits for the rest of its input
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode in status
    assert not out
    assert b"Traceback" not in err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, {2}), (signal.SIGTERM, {2, -signal.SIGTERM, 143})])
def test_a_signal_ends_following_quietly(number: int, status: set[int]) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests themselves run where this signal is ignored, and so does what they start")
    process = start(["--follow", "--stay"], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"".join(HEALTHY.read_bytes().splitlines(keepends=True)[:20]))
    process.stdin.flush()
    wait_until_read(process.stdin)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode in status
    assert b"Traceback" not in err


def test_a_file_that_vanishes_while_it_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "vllm.log"
    path.write_bytes(b"".join(HEALTHY.read_bytes().splitlines(keepends=True)[:20]))
    process = start(["--follow", "--timeout", "1s", path])
    assert process.stderr is not None
    assert process.stderr.readline()  # it has begun to read
    path.unlink()
    out, err = process.communicate()
    assert process.returncode == 3
    assert out.startswith(b"STARTING")
    assert b"Traceback" not in err


DOCKER = """#!/bin/sh
case "$1" in
  inspect) echo '[{"Name": "/nemo", "State": {}, "Config": {"Image": "vllm/vllm-openai", "Cmd": ["m"]}}]' ;;
  logs) head -n 20 "$LOG"; echo "Error response from daemon: No such container: nemo" >&2; exit 1 ;;
esac
"""


def test_a_container_that_vanishes(tmp_path: Path) -> None:
    """What was read until then is reported."""
    docker = tmp_path / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    outcome = run("--container", "nemo", env=environment(PATH=path, LOG=str(HEALTHY)))
    text = reported(outcome, 1)
    assert "0.17.1" in text
    assert "No such container: nemo" in text


# --- surroundings ---------------------------------------------------------------------------------------------------

ASCII = {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.parametrize("format", ["text", "markdown", "json"])
@pytest.mark.parametrize("settings", [ASCII, {"PYTHONIOENCODING": "ascii"}], ids=["locale", "encoding"])
def test_an_output_that_takes_ascii_only(format: str, settings: dict[str, str]) -> None:
    log = FAILED.read_bytes().replace(b"models", "mod\u00e8les\u4e2d".encode())
    outcome = run("--format", format, "-", data=log, env=environment(**settings))
    assert reported(outcome, 1).isascii()


def test_an_error_where_only_ascii_can_be_said() -> None:
    quiet_failure(run("\u4e2d.log", env=environment(**ASCII)), "does not exist")


def test_no_terminal_and_no_environment() -> None:
    outcome = run(FAILED, env={"PYTHONPATH": environment()["PYTHONPATH"]})
    assert reported(outcome, 1).startswith("FAILED")


@pytest.mark.parametrize("columns", ["20", "1", "0", "-3", "x", "100000"])
def test_terminals_of_any_width(columns: str) -> None:
    # FORCE_COLOR gives the form for terminals without a terminal.
    outcome = run(FAILED, env=environment(COLUMNS=columns, FORCE_COLOR="1", TERM="xterm"))
    assert reported(outcome, 1)


# --- the cache ------------------------------------------------------------------------------------------------------


def cached_files(home: Path) -> list[Path]:
    return sorted((home / ".cache" / "logdoctor").iterdir())


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory with a warm cache, to be copied."""
    path = tmp_path_factory.mktemp("warm")
    reported(run(FAILED, env=environment(HOME=str(path), XDG_CACHE_HOME=None)), 1)
    assert cached_files(path)
    return path


@pytest.fixture
def home(tmp_path: Path, warm: Path) -> Path:
    """A home directory with a warm cache."""
    shutil.copytree(warm, tmp_path, dirs_exist_ok=True)
    return tmp_path


@cache
def report_without_cache() -> bytes:
    return run(FAILED, env=environment(HOME="/nonexistent", XDG_CACHE_HOME=None)).out


def same_report(home: Path) -> None:
    """Whatever is wrong with the cache, the report is the same."""
    outcome = run(FAILED, env=environment(HOME=str(home), XDG_CACHE_HOME=None), preexec_fn=plain_user)
    assert reported(outcome, 1).encode() == report_without_cache()


@pytest.mark.parametrize("settings", [{"HOME": None}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": "/proc/nothing"}])
def test_no_home(settings: dict[str, str | None]) -> None:
    outcome = run(FAILED, env=environment(XDG_CACHE_HOME=None, XDG_CONFIG_HOME=None, **settings))
    assert reported(outcome, 1)
    assert not outcome.err


def test_a_cache_is_for_its_user_alone(home: Path) -> None:
    for path in [home / ".cache" / "logdoctor", *cached_files(home)]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077


def test_a_cache_with_other_content(home: Path) -> None:
    for path in cached_files(home):
        path.write_bytes(os.urandom(32) + path.read_bytes()[32:])
    same_report(home)


def test_a_cache_that_is_cut_off(home: Path) -> None:
    for path in cached_files(home):
        path.write_bytes(path.read_bytes()[:100])
    same_report(home)


def test_a_cache_of_links(home: Path, tmp_path: Path) -> None:
    for number, path in enumerate(cached_files(home)):
        elsewhere = tmp_path / f"elsewhere{number}"
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
    same_report(home)


def test_a_cache_directory_that_is_a_link(home: Path) -> None:
    folder = home / ".cache" / "logdoctor"
    folder.rename(home / "elsewhere")
    folder.symlink_to(home / "elsewhere")
    same_report(home)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o707])
def test_a_cache_directory_that_others_may_write_to(home: Path, mode: int) -> None:
    folder = home / ".cache" / "logdoctor"
    folder.chmod(mode)
    poison = b"[]"
    for path in cached_files(home):
        path.write_bytes(hashlib.sha256(poison).digest() + poison)
    before = {path: path.read_bytes() for path in cached_files(home)}
    same_report(home)
    assert {path: path.read_bytes() for path in cached_files(home)} == before


@pytest.mark.parametrize("payload", [b"", b"null", b"{}", b"[]", b"[[1,2,3]]", b"\xff\xfe", b"[" * 100_000])
def test_a_cache_that_is_sound_and_says_nonsense(home: Path, payload: bytes) -> None:
    for path in cached_files(home):
        path.write_bytes(hashlib.sha256(payload).digest() + payload)
    same_report(home)


def test_a_cache_directory_that_is_read_only(home: Path) -> None:
    folder = home / ".cache" / "logdoctor"
    for path in cached_files(home):
        path.unlink()
    folder.chmod(0o500)
    same_report(home)
    folder.chmod(0o700)


def test_a_file_where_the_cache_directory_would_be(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("no directory")
    same_report(tmp_path)


# --- signatures of the user's own -----------------------------------------------------------------------------------

ENTRY = """
- id: own-entry
  title: An entry of the user's own
  severity: fatal
  phase: launch
  match: {any: [{literal: "a text that only this entry knows"}]}
  cause: It is there.
  remedies: [{summary: Take it away}]
  confidence: certain
  basis: field-report
  references: ["https://example.org"]
  examples: {match: ["a text that only this entry knows"], no_match: ["another"]}
"""
BOMB = "\n".join(["a: &a [x, x, x, x, x, x, x, x, x]", *(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]" for n in range(9))])  # fmt: skip


def own(tmp_path: Path, text: str) -> Path:
    directory = tmp_path / "own"
    directory.mkdir()
    (directory / "own.yaml").write_text(text)
    return directory


def test_signatures_of_ones_own(tmp_path: Path) -> None:
    outcome = run("--signatures", own(tmp_path, ENTRY), "-", data=b"ERROR a text that only this entry knows\n")
    assert outcome.status == 1, outcome.err
    assert "own-entry" in outcome.text


@pytest.mark.parametrize("what", ["directory", "file"])
def test_signatures_that_everybody_may_write_are_refused(tmp_path: Path, what: str) -> None:
    directory = own(tmp_path, ENTRY)
    (directory if what == "directory" else directory / "own.yaml").chmod(0o777)
    outcome = run("--signatures", directory, FAILED)
    assert outcome.status == 2
    assert "every user" in outcome.err
    assert not outcome.out


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "- &a [*a]",
        "[" * 200_000,
        "- id: !!python/object/apply:os.system ['touch pwned']",
        "- id: !!python/name:os.system",
        "a" * 5_000_000,
        "\x00",
        ENTRY.replace('literal: "a text', "pattern: '(a+)+$', literal: \"a text"),
        ENTRY.replace('{literal: "a text that only this entry knows"}', "{pattern: '((((((a{1,100}){1,100}){1,100})'}"),
    ],
    ids=["aliases", "self", "nested", "apply", "name", "large", "nul", "both", "pattern"],
)
def test_signature_files_that_mean_harm(tmp_path: Path, text: str) -> None:
    outcome = run("--signatures", own(tmp_path, text), FAILED, cwd=tmp_path)
    assert outcome.status == 2, outcome
    assert "Traceback" not in outcome.err
    assert not outcome.out
    assert outcome.seconds < 5 and outcome.megabytes < 300
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_a_slow_pattern_of_ones_own_is_stopped_and_said(tmp_path: Path) -> None:
    entry = ENTRY.replace(
        '{literal: "a text that only this entry knows"}', "{pattern: 'a text that only.*?o.*?o.*?o.*?o.*?o.*?o!'}"
    ).replace('match: ["a text that only this entry knows"]', 'match: ["a text that only ooooooo!"]')
    log = b"ERROR a text that only" + b" word" * 4000 + b"\n" + FAILED.read_bytes()
    outcome = run("--format", "json", "--signatures", own(tmp_path, entry), "-", data=log)
    assert outcome.status == 1, outcome.err
    document = json.loads(outcome.text)
    assert document["boots"][-1]["root_cause"]
    notes = [note for boot in document["boots"] for note in boot["notes"]]
    assert any("time limit" in note for note in notes)
    assert outcome.seconds < 4
