"""Ask docker or podman for the log of a container and for how it was started.

A list of words is run, never a shell, and the container's name stands behind `--`, so that no name is taken for
anything else.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from logdoctor.launch.errors import ContainerError

RUNNERS = ("docker", "podman")
INSPECT_SECONDS = 60
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
_MAX_INSPECT = 8 * 2**20
_CHUNK = 64 * 1024
_OWN_WORDS = re.compile(rb"(?i)\s*(?:error|cannot|permission|got permission|failed|unknown|usage)\b")
"""How what docker and podman themselves complain of begins; a log that ends with a complaint begins with the log."""


@dataclass(slots=True)
class ContainerInput:
    """The log of a container as a stream of bytes, and what `inspect` says about it."""

    log: BinaryIO
    """Both streams of the container, joined in the order they were written; closed by the reader."""
    inspect: str
    """JSON; empty when it could not be had."""
    runner: str


def container_input(name: str, runner: str = "") -> ContainerInput:
    """Return log and description of a container; raises `ContainerError` with one sentence.

    `runner` is `docker` or `podman`; when empty, docker is asked, or podman where docker is not installed or does
    not know the container.
    """
    if _NAME.fullmatch(name) is None:
        raise ContainerError(f"{name[:80]!r} is no container name or id")
    if runner and runner not in RUNNERS:
        raise ContainerError(f"unknown container tool {runner[:40]!r}; known are {' and '.join(RUNNERS)}")
    wanted = (runner,) if runner else RUNNERS
    installed = [one for one in wanted if shutil.which(one)]
    if not installed:
        raise ContainerError(f"{' and '.join(wanted)} {'is' if len(wanted) == 1 else 'are'} not installed here")
    problems = []
    for tool in installed:
        described, problem = _inspect(tool, name)
        if described:
            return ContainerInput(_log(tool, name), described, tool)
        problems.append(problem)
    raise ContainerError(problems[0])


def _inspect(tool: str, name: str) -> tuple[str, str]:
    """Return what `inspect` prints, or why not."""
    try:
        done = _run([tool, "inspect", "--type", "container", "--", name])
    except subprocess.TimeoutExpired:
        return "", f"{tool} inspect did not answer within {INSPECT_SECONDS} seconds"
    except OSError as error:
        return "", f"{tool} cannot be run: {error.strerror or error}"
    if done.returncode:
        return "", _complaint(tool, name, done.stderr)
    if len(done.stdout) > _MAX_INSPECT:
        return "", f"{tool} inspect printed more than {_MAX_INSPECT // 2**20} MiB"
    return done.stdout.decode("utf-8", "replace"), ""


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        list(words), stdin=subprocess.DEVNULL, capture_output=True, timeout=INSPECT_SECONDS, check=False
    )


def _complaint(tool: str, name: str, stderr: bytes, verb: str = "inspect") -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = next((line for line in lines if "rror" in line or "annot" in line), lines[0] if lines else "")
    lower = said.lower()
    if "no such" in lower or "no container" in lower:
        return f"{tool} knows no container {name!r}; {tool} ps -a lists them"
    if "permission denied" in lower:
        return f"{tool} may not be used by this user: {said[:200]}"
    if "cannot connect" in lower or "is the docker daemon running" in lower:
        return f"{tool} is not running here: {said[:200]}"
    return f"{tool} {verb} failed: {said[:200]}" if said else f"{tool} {verb} failed and said nothing"


def _log(tool: str, name: str) -> BinaryIO:
    """Start `logs` and return its output as a stream; what fails at once becomes a `ContainerError`."""
    try:
        process = subprocess.Popen(
            [tool, "logs", "--", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise ContainerError(f"{tool} cannot be run: {error.strerror or error}") from error
    stream = _LogStream(process)
    if stream.failed:
        said = stream.head
        stream.close()
        raise ContainerError(_complaint(tool, name, said, "logs"))
    return io.BufferedReader(stream, _CHUNK)


class _LogStream(io.RawIOBase):
    """The output of a running `logs`, with its first bytes looked at; closing it ends the program."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self._process = process
        assert process.stdout is not None
        self._pipe = process.stdout
        self.head = self._pipe.read(_CHUNK)
        ended = len(self.head) < _CHUNK
        vanished = b"\n" in self.head.strip() and not _OWN_WORDS.match(self.head)  # after a part of the log
        self.failed = ended and process.wait() != 0 and not vanished

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.head:
            self.head = self._pipe.read(_CHUNK)
        taken = self.head[: len(buffer)]
        self.head = self.head[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        if not self.closed:
            self._pipe.close()
            if self._process.poll() is None:
                self._process.terminate()
            self._process.wait()
        super().close()
