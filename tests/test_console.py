"""Where reports go: whole files, files that cannot be renamed over, the summary of a CI step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from logdoctor.commands import parse_facts
from logdoctor.console import CommandFailed, append_step_summary, write_report

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "samples" / "gpu" / "max-model-len-too-long.log"


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "logdoctor.entry", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, check=False)


def test_a_file_appears_whole_with_the_rights_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    path.chmod(0o640)
    write_report("new", path)
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(CommandFailed, match="No space left"):
        write_report("new", path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_renamed_over_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "termination-log"
    path.write_text("")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(16, "Device or resource busy")))
    write_report("cause", path)
    assert path.read_text() == "cause\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to() -> None:
    write_report("text", Path("/dev/null"))


def test_github_gets_annotations_and_a_summary(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n")
    done = run("--format", "github", str(LOG), GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    assert "\n::error file=max-model-len-too-long.log,line=52," in done.stdout
    text = summary.read_text()
    assert text.startswith("# before\n")
    assert "kv-cache-one-request" in text


def test_no_summary_without_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    append_step_summary("text")


def test_a_summary_that_cannot_be_written_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/null/summary")
    with pytest.raises(CommandFailed, match="GITHUB_STEP_SUMMARY"):
        append_step_summary("text")


def test_schema_is_printed() -> None:
    done = run("schema")
    assert done.returncode == 0
    assert '"$schema"' in done.stdout


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--no-such-option"], 2),
        (["--format", "nothing", str(LOG)], 2),
        (["--fail-on", "never", str(LOG)], 2),
        (["--boot", "9", str(LOG)], 2),
        (["--boot", "x", str(LOG)], 2),
        (["--fact", "nothing", str(LOG)], 2),
        (["--fact", "gpu=GB10", str(LOG)], 2),
        (["--fact", "vllm.verson=0.20.0", str(LOG)], 2),
        (["--fact", "ENV.X=1", str(LOG)], 2),
        (["--timeout", "3s", str(LOG)], 2),
        (["--stay", str(LOG)], 2),
        (["--until", "ready", str(LOG)], 2),
        (["/no/such.log"], 2),
        (["/tmp"], 2),
        (["--fail-on", "fatal", str(LOG)], 1),
        (["--boot", "1", str(LOG)], 1),
    ],
)
def test_status_and_one_line_for_every_mistake(words: list[str], status: int) -> None:
    done = run(*words)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    if status == 2:
        assert done.stdout == ""
        assert 1 <= len(done.stderr.strip().splitlines()) <= 2


@pytest.mark.parametrize(
    ("key", "near"),
    [("gpu", "gpu.name"), ("vllm.verson", "vllm.version"), ("model", "model.name"), ("gpu_name", "gpu.name"),
     ("name", ".name"), ("max_model_len", "args.max_model_len"), ("compute_capability", "gpu.compute_capability")],
)  # fmt: skip
def test_an_unknown_fact_is_refused_with_the_one_that_was_meant(key: str, near: str) -> None:
    with pytest.raises(CommandFailed, match=f"did you mean [a-z_]*{near}"):
        parse_facts([f"{key}=x"])


def test_facts_of_vllm_and_the_host_may_have_any_name() -> None:
    assert set(parse_facts(["args.some_thing=1", "env.SOME_THING=1"])) == {"args.some_thing", "env.SOME_THING"}


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "logdoctor", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == run("--version").stdout != ""


def test_an_empty_input_is_told_once() -> None:
    done = subprocess.run([sys.executable, "-m", "logdoctor"], input="", capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stdout.count("no vLLM start recognised") == 1
    chinese = subprocess.run(
        [sys.executable, "-m", "logdoctor", "--lang", "zh"], input="", capture_output=True, text=True, check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"}, encoding="utf-8",
    )  # fmt: skip
    assert chinese.stdout.count("没有发现") == 1


@pytest.mark.parametrize(
    ("env", "chinese"),
    [({"LC_ALL": "C.UTF-8"}, True), ({"LANG": "C", "LC_ALL": ""}, False), ({"LC_ALL": "POSIX"}, False),
     ({"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"}, False)],
)  # fmt: skip
def test_chinese_falls_back_to_english_where_it_cannot_be_written(env: dict[str, str], chinese: bool) -> None:
    for words in (["--lang", "zh", str(LOG)], ["explain", "--lang", "zh", "kv-cache-one-request"]):
        command = [sys.executable, "-m", "logdoctor.entry", *words]
        done = subprocess.run(command, capture_output=True, env={**os.environ, **env}, check=False)
        shown = done.stdout.decode()
        assert any("\u4e00" <= character <= "\u9fff" for character in shown) is chinese
