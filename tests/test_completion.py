"""Completion as the shell asks for it: through the environment, with no arguments and no terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from logdoctor import completion
from logdoctor.report import FORMATS


def ask(environment: dict[str, str], *arguments: str) -> str:
    """What the installed script prints."""
    # The name under which it is called decides the name of the variable.
    code = "import sys; sys.argv[0] = 'logdoctor'; from logdoctor.entry import main; main()"
    environ = {**os.environ, **environment}
    words = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.stderr == ""
    return done.stdout


def offered(line: str) -> list[str]:
    """What bash is offered at the end of a line."""
    words = line.split()
    position = len(words) - (0 if line.endswith(" ") else 1)
    return ask({"_LOGDOCTOR_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(position)}).split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("logdoctor sig", {"signatures"}),
        ("logdoctor ", {"explain", "probe", "recipe", "mcp", "signatures"}),
        ("logdoctor --fo", {"--format"}),
        ("logdoctor --format ", set(FORMATS)),
        ("logdoctor --format js", {"json", "jsonl"}),
        ("logdoctor run.log --fail-on ", {"fatal", "error", "warning", "info"}),
        ("logdoctor run.log --lang ", {"en", "zh"}),
        ("logdoctor signatures l", {"list", "lint"}),
        ("logdoctor recipe docker-", {"docker-doctor", "docker-sidecar"}),
        ("logdoctor explain kv-cache-one-req", {"kv-cache-one-request"}),
        ("logdoctor probe --lev", {"--level"}),
    ],
)
def test_what_is_offered(line: str, words: set[str]) -> None:
    assert words <= set(offered(line))
    assert all(word.startswith(line.rpartition(" ")[2]) for word in offered(line))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str, tmp_path: Path) -> None:
    script = ask({"_LOGDOCTOR_COMPLETE": f"source_{shell}"})
    assert "_LOGDOCTOR_COMPLETE=complete_" + shell in script
    found = shutil.which(shell)
    if found and shell != "fish":
        path = tmp_path / "completion"
        path.write_text(script, encoding="utf-8")
        subprocess.run([found, "-n", str(path)], check=True)


def test_ids_are_those_of_the_database() -> None:
    assert "nvfp4-experts-on-marlin" in completion.signature_ids("nvfp4-")
    assert completion.signature_ids("no-such-") == []
