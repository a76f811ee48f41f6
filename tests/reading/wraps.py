"""Wrap lines as transports do."""

from __future__ import annotations

import json
from collections.abc import Callable

_TIME = "2026-11-30T09:20:42.000137211Z"

WRAPS: dict[str, Callable[[str, int], str]] = {
    "docker-time": lambda line, i: f"{_TIME} {line}",
    "compose-v2": lambda line, i: f"nemotron-1  | {line}",
    "compose-v1": lambda line, i: f"nemotron_1    | {line}",
    "compose-colour": lambda line, i: f"\x1b[36mnemotron-1  |\x1b[0m {line}",
    "kubectl": lambda line, i: f"[pod/nemotron-0/vllm] {line}",
    "kubectl-times": lambda line, i: f"[pod/nemotron-0/vllm] {_TIME} {line}",
    "json-file": lambda line, i: json.dumps(
        {"log": line + "\n", "stream": "stdout", "time": _TIME}, ensure_ascii=i % 2 == 0
    ),
    "cri": lambda line, i: f"{_TIME} stderr F {line}",
    "journal": lambda line, i: f"Nov 30 09:33:41 gpu-host docker[2213]: {line}",
    "journal-precise": lambda line, i: f"Nov 30 09:33:41.123456 gpu-host vllm[2213]: {line}",
    "journal-iso": lambda line, i: f"2026-11-30T09:33:41+0100 gpu-host docker[2213]: {line}",
    "rsyslog": lambda line, i: f"2026-11-30T09:33:41.123456+01:00 gpu-host docker[2213]: {line}",
    "journal-json": lambda line, i: json.dumps(
        {"MESSAGE": line if i % 2 else list(line.encode()), "_HOSTNAME": "gpu", "CONTAINER_NAME": "nemotron"}
    ),
    "collector-time": lambda line, i: f"2026-04-19 13:05:22.330 | {line}",
    "gke": lambda line, i: f"INFO {_TIME} [resource.labels.container_name: vllm] {line}",
    "loki": lambda line, i: f'{_TIME} {{container="vllm", pod="nemotron-0"}} {line}',
    "google-json": lambda line, i: json.dumps(
        {
            "severity": "INFO",
            "timestamp": _TIME,
            "textPayload": line,
            "resource": {"labels": {"container_name": "vllm"}},
        }
    ),
    "podman-compose": lambda line, i: f"[nemotron] | {line}",
    "swarm": lambda line, i: f"nemotron.1.x7k2p9@node1    | {line}",
    "desktop-time": lambda line, i: f"2026-04-19 13:05:22 {line}",
    "quote": lambda line, i: f"> {line}",
    "indent": lambda line, i: f"    {line}",
}
"""How each transport writes a line; the number makes some of them vary."""


def wrap(name: str, line: str, i: int = 0) -> str:
    """The line inside one envelope."""
    return WRAPS[name](line, i)


def in_pieces(kind: str, line: str, stream: str, size: int = 16384) -> list[str]:
    """A long line as its transport cuts it."""
    parts = [line[i : i + size] for i in range(0, len(line), size)]
    last = len(parts) - 1
    if kind == "cri":
        return [f"{_TIME} {stream} {'F' if i == last else 'P'} {part}" for i, part in enumerate(parts)]
    if kind == "json-file":
        return [
            json.dumps({"log": part + ("\n" if i == last else ""), "stream": stream, "time": _TIME})
            for i, part in enumerate(parts)
        ]
    return [
        json.dumps(
            {"MESSAGE": part, "CONTAINER_NAME": "nemotron", "PRIORITY": "6" if stream == "stdout" else "3"}
            | ({} if i == last else {"CONTAINER_PARTIAL_MESSAGE": "true"})
        )
        for i, part in enumerate(parts)
    ]
