"""Scenarios: a sample's side file tells the command and what is right, `arranged.yaml` what is done around it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.sample_logs import SAMPLES

ARRANGED = Path(__file__).with_name("arranged.yaml")


@dataclass(frozen=True)
class Kill:
    """A process that is killed on purpose."""

    which: str
    """Part of its command line; `all` for every process; `worker` for a worker, or else the engine."""
    when: str = ""
    """Regular expression to wait for in the log; empty: after the requests."""


@dataclass(frozen=True)
class Scenario:
    """What is started, what is done to it, and what must be said of its log."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    side: Mapping[str, Any] = field(default_factory=dict)
    """`what`, `right`, `expect`, `secrets` for the new side file."""
    requests: tuple[Mapping[str, Any], ...] = ()
    kill: Kill | None = None
    hub: int = 0
    busy: bool = False
    repeat: int = 1
    terminal: bool = False
    stream: str = ""

    @property
    def model(self) -> str:
        """The model as the command names it: what its API calls it too."""
        words = [word for word in self.command[1:] if word not in ("serve", "vllm")]
        if "--model" in words:
            return words[words.index("--model") + 1]
        return next((word for word in words if not word.startswith("-")), "")

    @property
    def port(self) -> int:
        """Where the server listens."""
        return int(self.command[self.command.index("--port") + 1]) if "--port" in self.command else 8000


def _arranged() -> Mapping[str, Mapping[str, Any]]:
    loaded: Mapping[str, Mapping[str, Any]] = yaml.safe_load(ARRANGED.read_text(encoding="utf-8"))
    return loaded


def _side_files() -> dict[str, Path]:
    """The newest recording of each name; those made on a CPU, whose commands run anywhere."""
    found: dict[str, Path] = {}
    for path in sorted((SAMPLES / "cpu").glob("*/*.yaml"), key=lambda path: (_version(path.parent.name), path.name)):
        found[path.stem] = path
    return found


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def names() -> list[str]:
    """Every scenario that can be recorded by name."""
    return sorted(_side_files())


def load(name: str) -> Scenario:
    """Return a scenario by the name of a sample, or by the path of a side file of one's own."""
    path = Path(name) if name.endswith(".yaml") else _side_files().get(name)
    if path is None or not path.is_file():
        raise SystemExit(f"no scenario {name!r}; --list names them")
    side = yaml.safe_load(path.read_text(encoding="utf-8"))
    arranged = side.get("arrange") or _arranged().get(path.stem, {})
    kill = arranged.get("kill")
    return Scenario(
        name=path.stem,
        command=tuple(shlex.split(side["command"])),
        environment={key: str(value) for key, value in side.get("environment", {}).items()},
        side=side,
        requests=tuple(arranged.get("requests", ())),
        kill=Kill(kill["which"], kill.get("when", "")) if kill else None,
        hub=arranged.get("hub", 0),
        busy=arranged.get("busy", False),
        repeat=arranged.get("repeat", 1),
        terminal=arranged.get("terminal", False),
        stream=arranged.get("stream", ""),
    )
