"""From measured values to facts, and how they compare with what a log states of the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from logdoctor.model import Fact, Facts, FactValue
from logdoctor.probe.options import MeasuredValues

ORIGIN = "probe"
"""Where these facts come from; no line of a log states them."""

_STANDS_FOR = {
    "probe.version": "vllm.version",
    "probe.served_name": "model.served_name",
    "probe.root": "model.name",
    "probe.max_model_len": "model.max_len",
}
"""What the server says of itself stands in for what no log has stated."""
_DEAD = ("failed", "crashed", "stopped")


def to_facts(values: MeasuredValues) -> dict[str, Fact]:
    """Return measured values as facts, in a fixed order."""
    return {key: Fact(key, values[key], origin=ORIGIN) for key in sorted(values)}


def stand_ins(probed: Facts) -> dict[str, Fact]:
    """Return what the server says of itself under the keys of a log."""
    return {
        key: Fact(key, probed[source].value, origin=ORIGIN) for source, key in _STANDS_FOR.items() if source in probed
    }


def compare(probed: Facts, log: Facts) -> dict[str, Fact]:
    """Return whether the log is of the server that answers, as facts.

    What a launch fixed once and for all (version, served name, context length) cannot change while a server runs;
    where it differs, and where the log's server has ended, another start answers.
    """
    agreements = {
        "probe.version_agrees": _same_version(_text(probed, "probe.version"), _text(log, "vllm.version")),
        "probe.served_name_agrees": _is_served(probed, log),
        "probe.max_model_len_agrees": _same(_number(probed, "probe.max_model_len"), _number(log, "model.max_len")),
    }
    values: dict[str, FactValue] = {key: agrees for key, agrees in agreements.items() if agrees is not None}
    if disagreements := tuple(_disagreements(values, probed, log)):
        values["probe.log_disagrees"] = disagreements
    return to_facts(values)


def _disagreements(values: Mapping[str, FactValue], probed: Facts, log: Facts) -> Iterator[str]:
    told = (
        ("probe.version_agrees", "version", _text(probed, "probe.version"), _text(log, "vllm.version")),
        ("probe.served_name_agrees", "served name", _text(probed, "probe.served_name"), _served_name(log)),
        (
            "probe.max_model_len_agrees",
            "context length",
            _text(probed, "probe.max_model_len"),
            _text(log, "model.max_len"),
        ),
    )
    for key, what, here, there in told:
        if values.get(key) is False:
            yield f"{what} {here} (in the log {there})"
    if _is(probed, "probe.reachable") and _text(log, "boot.verdict") in _DEAD:
        yield f"a server answers (the log's last start {_text(log, 'boot.verdict')})"


def _same_version(here: str, there: str) -> bool | None:
    """Compare without the local part: `/version` may leave out the `+cu130` that a log has."""
    return here.partition("+")[0] == there.partition("+")[0] if here and there else None


def _is_served(probed: Facts, log: Facts) -> bool | None:
    models = probed.get("probe.models")
    name = _served_name(log)
    if models is None or not isinstance(models.value, tuple) or not models.value or not name:
        return None
    return name in models.value


def _served_name(log: Facts) -> str:
    return _text(log, "model.served_name")


def _same(here: float | None, there: float | None) -> bool | None:
    return None if here is None or there is None else here == there


def _text(facts: Facts, key: str) -> str:
    fact = facts.get(key)
    return "" if fact is None or isinstance(fact.value, tuple) else str(fact.value)


def _number(facts: Facts, key: str) -> float | None:
    try:
        return float(_text(facts, key))
    except ValueError:
        return None


def _is(facts: Facts, key: str) -> bool:
    fact = facts.get(key)
    return fact is not None and fact.value is True
