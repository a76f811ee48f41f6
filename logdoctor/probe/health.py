"""The status pages of a server: is it there, which one is it, and does its engine move."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from logdoctor.probe.client import Client, Reply
from logdoctor.probe.options import ProbeOptions, Values

STATUS_TIMEOUT = 10.0
"""Seconds for a status page; a saturated server needs a few."""
_POLL = 1.0
MAX_MODELS = 50
MAX_NAME = 300

_SAMPLE = re.compile(r"^vllm:(\w+?)(?:_total)?(?:\{([^}\n]*)\})? (\S+)", re.M)
_ENGINE = re.compile(r'\bengine="([^"]*)"')
_PROGRESS = ("generation_tokens", "prompt_tokens", "iteration_tokens_total_count", "request_success")
"""Counters that rise with every step of an engine; not every version has all of them."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """What `/metrics` says of one engine."""

    running: float = 0.0
    waiting: float = 0.0
    kv_usage: float | None = None
    preemptions: float | None = None
    tokens: float = 0.0
    progress: float = 0.0

    @property
    def busy(self) -> bool:
        """Whether the engine has work."""
        return self.running + self.waiting > 0


def measure_health(client: Client, options: ProbeOptions) -> Values:
    """Ask for the status pages. Nothing is generated."""
    limit = min(STATUS_TIMEOUT, options.timeout)
    health = client.get("/health", limit)
    values: Values = {"probe.reachable": health.status > 0}
    if not health.status:
        values["probe.unreachable_reason"] = health.failure.value if health.failure else "no answer"
        if health.detail:
            values["probe.unreachable_detail"] = health.detail
        return values
    values["probe.health_status"] = health.status
    values["probe.health_seconds"] = round(health.seconds, 3)
    if health.status // 100 == 3:
        values["probe.redirect"] = health.location[:MAX_NAME] or "elsewhere"
        return values
    values |= _models(client.get("/v1/models", limit), options)
    if values.get("probe.unauthorized"):
        return values
    version = client.get("/version", limit).json()
    if isinstance(version, dict) and isinstance(version.get("version"), str):
        values["probe.version"] = version["version"][:MAX_NAME]
    values |= _movement(client, limit, options)
    return values


def _models(reply: Reply, options: ProbeOptions) -> Values:
    values: Values = {"probe.models_status": reply.status}
    if reply.status in (401, 403):
        return values | {"probe.unauthorized": True, "probe.key_sent": bool(options.key)}
    loaded = reply.json() if reply.ok else None
    listed = loaded.get("data") if isinstance(loaded, dict) else None
    values["probe.api_missing"] = not isinstance(listed, list)
    if not isinstance(listed, list):
        return values
    models = {card["id"][:MAX_NAME]: card for card in listed if isinstance(card, dict) and _is_name(card.get("id"))}
    names = tuple(models)[:MAX_MODELS]
    values["probe.models"] = names
    if options.model:
        values["probe.model_asked"] = options.model
        values["probe.model_unknown"] = options.model not in models
    card = models.get(options.model) or next(iter(models.values()), {})
    if _is_name(card.get("id")):
        values["probe.served_name"] = card["id"][:MAX_NAME]
    if _is_name(card.get("root")):
        values["probe.root"] = card["root"][:MAX_NAME]
    if _is_count(card.get("max_model_len")):
        values["probe.max_model_len"] = card["max_model_len"]
    return values


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**12


def read_metrics(client: Client, timeout: float) -> dict[str, Metrics]:
    """Return the metrics by engine; empty where the page is missing or another program's."""
    reply = client.get("/metrics", timeout)
    return parse_metrics(reply.text) if reply.ok else {}


def parse_metrics(text: str) -> dict[str, Metrics]:
    """Read the Prometheus text of vLLM, old names and new ones."""
    engines: dict[str, dict[str, float]] = {}
    for name, labels, number in _SAMPLE.findall(text):
        try:
            value = float(number)
        except ValueError:
            continue
        if value != value or abs(value) > 1e18:
            continue
        found = _ENGINE.search(labels)
        values = engines.setdefault(found[1] if found else "", {})
        values[name] = values.get(name, 0.0) + value
    return {engine: _of_engine(values) for engine, values in engines.items() if "num_requests_running" in values}


def _of_engine(values: Mapping[str, float]) -> Metrics:
    usage = values.get("kv_cache_usage_perc", values.get("gpu_cache_usage_perc"))
    return Metrics(
        running=values["num_requests_running"],
        waiting=values.get("num_requests_waiting", 0.0),
        kv_usage=usage,
        preemptions=values.get("num_preemptions"),
        tokens=values.get("generation_tokens", 0.0) + values.get("prompt_tokens", 0.0),
        progress=sum(values.get(name, 0.0) for name in _PROGRESS),
    )


def _movement(client: Client, limit: float, options: ProbeOptions) -> Values:
    """Read the metrics, and where an engine has work, watch whether it does any."""
    first = read_metrics(client, limit)
    if not first:
        return {}
    start = time.monotonic()
    last, idle, waited = first, [name for name, one in first.items() if one.busy], 0.0
    while idle and waited < min(options.patience, options.timeout):
        time.sleep(min(_POLL, options.patience / 10))
        last = read_metrics(client, limit) or last
        waited = time.monotonic() - start
        idle = [name for name in idle if name in last and last[name].busy and not _moved(first[name], last[name])]
    values = describe(last)
    if waited:
        tokens = sum(one.tokens for one in last.values()) - sum(one.tokens for one in first.values())
        values["probe.metrics.tokens_per_second"] = round(max(tokens, 0.0) / waited, 1)
    values["probe.wedged"] = bool(idle)
    if idle:
        values["probe.wedged_seconds"] = round(waited)
        values["probe.wedged_running"] = int(sum(last[name].running for name in idle))
        values["probe.wedged_waiting"] = int(sum(last[name].waiting for name in idle))
    return values


def _moved(before: Metrics, after: Metrics) -> bool:
    # A counter that falls belongs to a server that was started anew.
    return after.progress != before.progress


def describe(engines: Mapping[str, Metrics]) -> Values:
    """Return the metrics of all engines as facts."""
    values: Values = {
        "probe.metrics.running": int(sum(one.running for one in engines.values())),
        "probe.metrics.waiting": int(sum(one.waiting for one in engines.values())),
    }
    usages = [one.kv_usage for one in engines.values() if one.kv_usage is not None]
    if usages:
        values["probe.metrics.kv_usage"] = round(max(usages), 4)
    preemptions = [one.preemptions for one in engines.values() if one.preemptions is not None]
    if preemptions:
        values["probe.metrics.preemptions"] = int(sum(preemptions))
    return values
