"""The envelopes that transports put around a line, and how they are recognised and undone.

A new transport is a new class with `fits` and `peel` and a line in `KINDS`.
"""

from __future__ import annotations

from logdoctor.reading.envelopes.base import Envelope, Peeled
from logdoctor.reading.envelopes.collectors import CollectorJson, CollectorLabels, CollectorTime, DesktopTime
from logdoctor.reading.envelopes.containers import Compose, Cri, DockerTime, JsonFile, Kubectl
from logdoctor.reading.envelopes.journal import Journal, JournalJson
from logdoctor.reading.envelopes.pasted import Fence, Indent, PowerShell, Quote

KINDS: tuple[type[Envelope], ...] = (
    JsonFile,
    JournalJson,
    CollectorJson,
    Cri,
    Journal,
    Kubectl,
    CollectorLabels,
    CollectorTime,
    DesktopTime,
    DockerTime,
    Compose,
    Quote,
    Indent,
)
"""In the order in which they are tried: what says more stands before what says less."""

SCRAPS: tuple[type[Envelope], ...] = (Fence, PowerShell)
"""Around single lines only, never around all: tried on every line that begins like one."""

__all__ = ["KINDS", "SCRAPS", "Envelope", "Peeled"]
