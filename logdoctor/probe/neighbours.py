"""What else holds the memory of this machine: an Ollama, asked what it has loaded. It is told nothing."""

from __future__ import annotations

from typing import Any

from logdoctor.probe.address import Address
from logdoctor.probe.client import Client
from logdoctor.probe.options import Values

_TIMEOUT = 10.0
_LISTED = 20
_COMMANDS = 4
"""Models whose unload command is shown."""
_MAX_NAME = 200


def measure_ollama(address: Address, timeout: float) -> Values:
    """List the loaded models, their memory and when each one leaves by itself."""
    reply = Client(address, min(timeout, _TIMEOUT)).get("/api/ps")
    loaded = reply.json() if reply.ok else None
    models = loaded.get("models") if isinstance(loaded, dict) else None
    values: Values = {"probe.ollama.address": str(address), "probe.ollama.reachable": isinstance(models, list)}
    if not isinstance(models, list):
        return values
    found = [model for model in models if isinstance(model, dict) and isinstance(model.get("name"), str)][:_LISTED]
    found.sort(key=lambda model: (-_bytes(model), model["name"]))
    values["probe.ollama.count"] = len(found)
    values["probe.ollama.models"] = tuple(_in_words(model) for model in found)
    values["probe.ollama.memory_gib"] = round(sum(map(_bytes, found)) / 2**30, 1)
    for number, model in enumerate(found[:_COMMANDS], 1):
        values[f"probe.ollama.model_{number}"] = model["name"][:_MAX_NAME]
    return values


def _bytes(model: dict[str, Any]) -> int:
    # `size` counts what lies in host memory too; on unified memory that is the same memory.
    sizes = (model.get("size"), model.get("size_vram"))
    return max((size for size in sizes if isinstance(size, int) and 0 <= size < 2**60), default=0)


def _in_words(model: dict[str, Any]) -> str:
    text = f"{model['name'][:_MAX_NAME]} {_bytes(model) / 2**30:.1f} GiB"
    expires = model.get("expires_at")
    return f"{text} until {expires[:19].replace('T', ' ')}" if isinstance(expires, str) and expires else text
