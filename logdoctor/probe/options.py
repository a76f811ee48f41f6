"""What a probe is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from logdoctor.model import FactValue
from logdoctor.probe.address import Address, ProbeError

Values = dict[str, FactValue]
"""What was measured, by fact key."""
MeasuredValues = Mapping[str, FactValue]


class Level(str, Enum):
    """How much is asked of the server; each level includes those before it."""

    HEALTH = "health"
    """Status pages only: no token is generated."""
    ANSWER = "answer"
    """A handful of requests, one after another."""
    LOAD = "load"
    """A few dozen small requests, up to sixteen at a time."""


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """Where to, how far, and within which bounds."""

    address: Address
    level: Level = Level.ANSWER
    model: str = ""
    """Served name to ask for; empty: the first one that the server lists."""
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    """Seconds for one request."""
    max_tokens: int = 512
    """What a test request may generate, thinking included."""
    context: bool = False
    """Also send a prompt just under the context length."""
    tools: bool = True
    """Also send a request with a tool, at the levels that generate."""
    ollama: Address | None = None
    """Where an Ollama on the same machine answers."""
    patience: float = 15.0
    """Seconds without a token after which an engine with work counts as stuck."""

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= 86_400:
            raise ProbeError("--timeout wants seconds between 0 and 86,400")
        if not 1 <= self.max_tokens <= 1_000_000:
            raise ProbeError("--max-tokens wants a number from 1 on")
        if any(not " " < character <= "~" for character in self.key):
            raise ProbeError("the API key holds characters that no HTTP header can carry")
