"""Docker, Compose and Kubernetes."""

from __future__ import annotations

import json
import re

from logdoctor.reading.envelopes.base import Envelope, Peeled

_DOCKER_PIECE = 16 * 1024
_RFC3339 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_LEVELS = frozenset({"DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL", "TRACE", "SUCCESS"})


class DockerTime(Envelope):
    """`docker logs -t`, `kubectl logs --timestamps`: an RFC 3339 time and a blank (some services: a tab)."""

    name = "docker-time"
    _line = re.compile(rf"({_RFC3339})(?:[ \t]|\r*$)")

    def peel(self, line: str) -> Peeled | None:
        match = self._line.match(line)
        return Peeled(line[match.end() :], time=match[1]) if match else None


class Compose(Envelope):
    """`docker compose logs`: `name-1  | text` (v2) or `name_1  | text` (v1), padded to the longest name.

    Podman writes `[name] | text`, a Swarm service `name.1.id@node    | text`.
    """

    name = "compose"
    _line = re.compile(r"\[?([A-Za-z0-9][\w.@-]*)\]? +\|(?: |\r*$)")
    _end = re.compile(r"([A-Za-z0-9][\w.-]*) exited with code -?\d+")

    def peel(self, line: str) -> Peeled | None:
        match = self._line.match(line)
        if match:
            if match[1] in _LEVELS:
                return None  # loguru-like: `INFO | text`
            return Peeled(line[match.end() :], source=match[1])
        end = self._end.match(line)
        return Peeled(line, source=end[1]) if end else None

    def fits(self, line: str) -> bool:
        return self._line.match(line) is not None and self.peel(line) is not None


class Kubectl(Envelope):
    """`kubectl logs --prefix`: `[pod/NAME/CONTAINER] text`."""

    name = "kubectl"
    _line = re.compile(r"\[pod/([^\]/\s]+)/([^\]\s]+)\](?: |\r*$)")

    def peel(self, line: str) -> Peeled | None:
        if not line.startswith("[pod/"):
            return None
        match = self._line.match(line)
        return Peeled(line[match.end() :], source=f"{match[1]}/{match[2]}") if match else None


class Cri(Envelope):
    """Kubernetes' container runtime files: `TIME stdout F text`; `P` marks a piece of a longer line."""

    name = "cri"
    _line = re.compile(r"(\S+) (stdout|stderr) ([FP])(?::\S*)?(?: |\r*$)")

    def peel(self, line: str) -> Peeled | None:
        match = self._line.match(line)
        if not match or not match[1][:1].isdigit():
            return None
        return Peeled(line[match.end() :], stream=match[2], time=match[1], partial=match[3] == "P")


class JsonFile(Envelope):
    """Docker's json-file: one JSON object a line; a long line comes in 16 KiB pieces without a line end."""

    name = "json-file"

    def __init__(self) -> None:
        self._ends_lines = False

    def peel(self, line: str) -> Peeled | None:
        if not line.startswith("{") or '"log"' not in line:
            return None
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
        text = value.get("log") if isinstance(value, dict) else None
        if not isinstance(text, str):
            return None
        ended = text.endswith("\n")
        self._ends_lines = self._ends_lines or ended
        # Collectors that copy this format drop the line end: there, only a full piece can be a piece.
        partial = not ended and (self._ends_lines or len(text.encode("utf-8", "replace")) >= _DOCKER_PIECE)
        stream = value.get("stream")
        return Peeled(
            text[:-1] if ended else text,
            source=_container(value),
            stream=stream if stream in ("stdout", "stderr") else "",
            time=_text(value.get("time")),
            partial=partial,
        )


def _container(value: dict[str, object]) -> str:
    """The container's name where a collector added one."""
    kubernetes = value.get("kubernetes")
    if isinstance(kubernetes, dict):
        return _text(kubernetes.get("container_name"))
    return _text(value.get("container_name")).lstrip("/")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
