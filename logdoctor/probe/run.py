"""The order of a probe: status pages first, requests only where somebody can answer them."""

from __future__ import annotations

from logdoctor.probe.client import Client
from logdoctor.probe.health import STATUS_TIMEOUT, measure_health
from logdoctor.probe.options import Level, MeasuredValues, ProbeOptions, Values


def measure(options: ProbeOptions) -> Values:
    """Make the measurements that the level asks for."""
    client = Client(options.address, options.timeout, options.key)
    values: Values = {"probe.address": str(options.address), "probe.level": options.level.value}
    values |= measure_health(client, options)
    model = _model(values, options)
    if options.level is not Level.HEALTH and model and _may_answer(values):
        values |= _generate(client, model, options)
    length = values.get("probe.max_model_len")
    if options.context and model and isinstance(length, int) and _answers(values, options):
        from logdoctor.probe.load import measure_context

        values |= measure_context(client, model, length, options)
    if options.ollama is not None:
        from logdoctor.probe.neighbours import measure_ollama

        values |= measure_ollama(options.ollama, options.timeout)
    return values


def _model(values: MeasuredValues, options: ProbeOptions) -> str:
    return options.model or str(values.get("probe.served_name", ""))


def _may_answer(values: MeasuredValues) -> bool:
    """Whether a request has a chance: an engine that is dead, or a model that is not served, need not be asked."""
    status = values.get("probe.health_status")
    dead = isinstance(status, int) and status >= 500
    refused = values.get("probe.unauthorized") or values.get("probe.redirect") or values.get("probe.model_unknown")
    return not dead and not refused


def _answers(values: MeasuredValues, options: ProbeOptions) -> bool:
    if options.level is Level.HEALTH:
        return _may_answer(values)
    return bool(values.get("probe.answer.ok") or values.get("probe.completion.ok"))


def _generate(client: Client, model: str, options: ProbeOptions) -> Values:
    from logdoctor.probe.answers import measure_answers

    values = measure_answers(client, model, options)
    if not _answers(values, options):
        return values | _afterwards(client, options)
    # An answer outweighs counters that stood still for a while.
    values["probe.wedged"] = False
    if options.level is Level.LOAD:
        from logdoctor.probe.load import measure_load

        values |= measure_load(client, model, options, chat=bool(values.get("probe.answer.ok")))
        if values.get("probe.load.failed"):
            values |= _afterwards(client, options)
    return values


def _afterwards(client: Client, options: ProbeOptions) -> Values:
    """Look once more at a server that did not answer: the request may have been the last thing it heard."""
    again = client.get("/health", min(STATUS_TIMEOUT, options.timeout))
    values: Values = {"probe.health_after": again.status, "probe.died": not again.status}
    return values
