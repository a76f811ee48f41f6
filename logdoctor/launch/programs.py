"""Find in the words of a command what starts vLLM, and which words are its arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from logdoctor.knowledge.releases import parse_range, parse_version
from logdoctor.launch.command import Word, is_official, split_image

SERVE, API_SERVER = "vllm serve", "api_server"
_MODULES = {
    "vllm.entrypoints.openai.api_server": API_SERVER,
    "vllm.entrypoints.api_server": API_SERVER,
}
_CLI_MODULES = ("vllm.entrypoints.cli.main", "vllm")
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh"})
_NO_LAUNCH = frozenset(
    [
        *("echo", "printf", "cat", "grep", "egrep", "pgrep", "pkill", "killall", "man", "which", "type", "alias"),
        *("pip", "pip3", "apt", "apt-get", "git", "curl", "wget", "test", "[", "[[", "read", "sed", "awk", "tee"),
    ]
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Program:
    """What the words of a container or a command start."""

    name: str = ""
    first: int = 0
    """Position of the first argument."""
    repeated: tuple[int, int] = (0, 0)
    """From and to: words that name the program once more."""
    start: int = 0
    """Position of the word that names the program."""


def basename(word: str) -> str:
    """Return the last part of a path."""
    return word.rpartition("/")[2]


def assignment(word: str) -> tuple[str, str] | None:
    """Return name and value of `NAME=value`, or None."""
    found = _ASSIGNMENT.fullmatch(word)
    return (found[1], found[2]) if found else None


def never_starts(words: Sequence[Word]) -> bool:
    """Whether the first word of a command is a program that only mentions what follows it."""
    first = next((word.value for word in words if assignment(word.value) is None), "")
    return basename(first) in _NO_LAUNCH


def find_server(words: Sequence[Word], first: int = 0) -> Program | None:
    """Find `vllm serve` or the api_server module, whatever stands before it (`exec`, `sudo`, `numactl …`)."""
    for at in range(first, len(words)):
        value = words[at].value
        following = words[at + 1].value if at + 1 < len(words) else ""
        if basename(value) == "vllm" and following == "serve":
            return Program(SERVE, at + 2, start=at)
        if value == "-m" and following in _MODULES:
            return Program(_MODULES[following], at + 2, start=_interpreter(words, at))
        if value == "-m" and following in _CLI_MODULES and at + 2 < len(words) and words[at + 2].value == "serve":
            return Program(SERVE, at + 3, start=_interpreter(words, at))
        if value.endswith("vllm/entrypoints/openai/api_server.py"):
            return Program(API_SERVER, at + 1, start=at)
    return None


def _interpreter(words: Sequence[Word], at: int) -> int:
    while at > 0 and words[at - 1].value.startswith("-"):
        at -= 1
    return max(at - 1, 0)


def find_script(words: Sequence[Word], first: int = 0) -> int | None:
    """Return the position of the script in `bash -c SCRIPT`, or None."""
    for at in range(first, len(words) - 1):
        value = words[at].value
        flag = value.startswith("-") and not value.startswith("--") and value.endswith("c") and value[1:].isalpha()
        if flag and (at == first or any(basename(word.value) in _SHELLS for word in words[first:at])):
            return at + 1
    return None


def find_run(words: Sequence[Word]) -> int | None:
    """Return the position of `run` in `docker run`, or None."""
    for at, word in enumerate(words):
        if basename(word.value) in ("docker", "podman", "nerdctl", "sudo-docker"):
            for place in range(at + 1, min(at + 8, len(words))):
                if words[place].value in ("run", "create"):
                    return place
                if words[place].value in ("exec", "build", "compose", "pull", "logs", "stop", "rm", "ps", "inspect"):
                    break
    return None


def entry_program(image: str) -> str:
    """Return what vLLM's own image starts: api_server up to the summer of 2025, `vllm serve` later.

    Empty for the releases between, and for images of others.
    """
    if not is_official(image):
        return ""
    version = parse_version(split_image(image)[1])
    if version is None or parse_range(">=0.12").contains(version):
        return SERVE
    return API_SERVER if parse_range("<0.11").contains(version) else ""


def in_container(words: Sequence[Word], image: str, overridden: bool) -> Program:
    """Tell what a container runs. `overridden`: the words begin with an entry point that the launch sets itself.

    vLLM's own images start the server themselves; of another image nothing is assumed but that a command which
    begins with a flag or a model is meant for a server that its entry point starts.
    """
    named = find_server(words)
    if overridden or not is_official(image):
        if named is not None:
            return named
        if words and basename(words[0].value) == "vllm" and overridden:
            return Program(SERVE, 1)
        return Program(SERVE, 1) if words and words[0].value == "serve" else Program()
    name = entry_program(image)
    if named is not None and named.start == 0:
        return Program(name, named.first, (0, named.first))
    if words and words[0].value == "serve":
        return Program(name, 1, (0, 1))
    return Program(name)
