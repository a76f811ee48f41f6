"""Log collectors: a time, a level and labels in front. Their level says nothing about the line inside."""

from __future__ import annotations

import json
import re

from logdoctor.reading.envelopes.base import Envelope, Peeled

_RFC3339 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_TEXT_KEYS = ("textPayload", "log", "line", "message", "msg", "body", "Body")
_TIME_KEYS = ("timestamp", "time", "ts", "@timestamp", "receiveTimestamp", "observedTimestamp", "date")
_SOURCE_KEYS = ("container_name", "container", "pod_name", "pod", "k8s.container.name", "k8s.pod.name", "app")
_LABEL_KEYS = ("labels", "kubernetes", "resource", "stream", "attributes", "metadata", "jsonPayload")


class CollectorTime(Envelope):
    """`2026-04-19 13:05:22.330 | text`, or with a level: `2026-04-19 13:05:22.330 | INFO | text`."""

    name = "collector-time"
    _line = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{1,9}(?: ?[A-Z]{2,4}|Z)?) ?\| ?")
    _level = re.compile(r"[A-Za-z]{4,8} *\| ?")
    _loguru = re.compile(r" *[\w.<>]{1,200}:[\w<>]{1,200}:\d+ - ")
    """What loguru writes behind a level; then it is a logger's own line, and no collector's."""

    def peel(self, line: str) -> Peeled | None:
        match = self._line.match(line)
        if not match:
            return None
        start = match.end()
        level = self._level.match(line, start)
        if level is not None:
            if self._loguru.match(line, level.end()):
                return None
            start = level.end()
        return Peeled(line[start:], time=match[1])


class DesktopTime(Envelope):
    """`2026-04-19 13:05:22 text`, as copied from Docker Desktop and other windows on a container."""

    name = "desktop-time"
    weak = True
    _line = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?: |\r*$)")

    def peel(self, line: str) -> Peeled | None:
        match = self._line.match(line)
        return Peeled(line[match.end() :], time=match[1]) if match else None


class CollectorLabels(Envelope):
    """`INFO 2026-04-19T13:05:22Z [resource.labels.container_name: vllm] text` (GKE), `TIME {pod="x"} text` (Loki)."""

    name = "collector-labels"
    _line = re.compile(
        rf"(?:(?:DEFAULT|DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL) ({_RFC3339}) ?(\[[^\]\n]{{0,500}}\])? ?"
        rf"|({_RFC3339}) ?(\{{[A-Za-z_][\w.]*=\"[^}}\n]{{0,1000}}\}}) ?)"
    )
    _name = re.compile(r"(?:container(?:_?[nN]ame)?|pod(?:_?[nN]ame)?|app)\"?\s*[:=]\s*\"?([\w./-]+)")

    def peel(self, line: str) -> Peeled | None:
        match = self._line.match(line)
        if not match:
            return None
        name = self._name.search(match[2] or match[4] or "")
        return Peeled(line[match.end() :], source=name[1] if name else "", time=match[1] or match[3])


class CollectorJson(Envelope):
    """One JSON object a line with the text under a usual key (Google Cloud, Loki, Fluent Bit, Vector)."""

    name = "collector-json"

    def peel(self, line: str) -> Peeled | None:
        if not line.startswith("{") or '"levelname"' in line or '"MESSAGE"' in line:
            return None  # vLLM's own JSON formatter and the journal are not collectors
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        text = _first_text(value, _TEXT_KEYS)
        payload = value.get("jsonPayload")
        if text is None and isinstance(payload, dict):
            text = _first_text(payload, _TEXT_KEYS)
        time = _first_text(value, _TIME_KEYS)
        if text is None or time is None:
            return None
        stream = value.get("stream")
        return Peeled(
            text.removesuffix("\n"),
            source=_source(value),
            stream=stream if isinstance(stream, str) and stream in ("stdout", "stderr") else "",
            time=time,
        )


def _first_text(value: dict[str, object], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str):
            return found
    return None


def _source(value: dict[str, object], depth: int = 0) -> str:
    found = _first_text(value, _SOURCE_KEYS)
    if found:
        return found
    if depth < 2:
        for key in _LABEL_KEYS:
            inner = value.get(key)
            if isinstance(inner, dict):
                found = _source(inner, depth + 1)
                if found:
                    return found
    return ""
