"""systemd's journal, as text and as JSON, and plain syslog."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone

from logdoctor.reading.envelopes.base import Envelope, Peeled

# The system's own voices: what they say about a service (killed, out of memory) belongs to the log of that service.
_NOBODY = frozenset({"kernel", "systemd", "dockerd", "containerd", "kubelet", "podman", "sudo", "audit"})


class Journal(Envelope):
    """`journalctl`, short, short-precise, short-iso, short-full; rsyslog files."""

    name = "journal"
    _line = re.compile(
        r"(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
        r"|(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d| [A-Z]{3,4}))"
        r" (?P<host>[^\s:\[\]()|]+) (?:(?P<unit>[^\s:\[\]()|]+)\[\d+\]|(?P<system>kernel|systemd)): ?"
    )

    def peel(self, line: str) -> Peeled | None:
        match = self._line.match(line)
        if not match:
            return None
        unit = match["unit"] or ""
        return Peeled(line[match.end() :], source="" if unit in _NOBODY else unit, time=match["time"])


class JournalJson(Envelope):
    """`journalctl -o json`: MESSAGE is text, an array of bytes when it is not clean text, or null."""

    name = "journal-json"

    def peel(self, line: str) -> Peeled | None:
        if not line.startswith("{") or '"MESSAGE"' not in line:
            return None
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict) or "MESSAGE" not in value:
            return None
        source = value.get("CONTAINER_NAME") or value.get("SYSLOG_IDENTIFIER") or ""
        contained = "CONTAINER_NAME" in value or "CONTAINER_ID" in value
        return Peeled(
            _message(value["MESSAGE"]),
            source=source if isinstance(source, str) and source not in _NOBODY else "",
            stream={"3": "stderr", "6": "stdout"}.get(str(value.get("PRIORITY")), "") if contained else "",
            time=_time(value.get("__REALTIME_TIMESTAMP")),
            partial=str(value.get("CONTAINER_PARTIAL_MESSAGE", "")).lower() == "true",
        )


def _message(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
            return bytes(value).decode("utf-8", "replace")
        # A field that occurs several times in one entry comes as a list of values.
        return _message(value[0]) if value else ""
    return ""


def _time(value: object) -> str:
    """Microseconds since 1970 as RFC 3339; independent of the machine's zone and clock."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=int(str(value)))
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat().replace("+00:00", "Z")
