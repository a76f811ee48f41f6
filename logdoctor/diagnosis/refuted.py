"""What a launch says and the log of the same run does not bear out; and a launch that is of another run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from logdoctor.model import Fact, Facts, FactValue

_DEFAULTS = frozenset({"", "auto", "none"})
_PRINTED = (
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "max_model_len",
    "gpu_memory_utilization",
    "max_num_seqs",
    "max_num_batched_tokens",
    "quantization",
    "kv_cache_dtype",
    "reasoning_parser",
    "tool_call_parser",
    "moe_backend",
)
"""Arguments whose value is the same in every process of a run, and that vLLM prints as they were typed."""
_NEVER_SILENT: Mapping[str, FactValue | None] = {
    "tensor_parallel_size": 1,
    "pipeline_parallel_size": 1,
    "max_model_len": None,
}
"""Arguments that vLLM prints whenever they were given, unless with this value, the default of every release."""
_MOST = 3


def unrefuted(launch: Mapping[str, Fact], log: Facts) -> dict[str, Fact]:
    """Return the facts of a launch without the arguments that the log would have printed, had they been given.

    vLLM prints what differs from its defaults. Of a number or a switch it is not known here whether it does; a text
    that names something (a back end, a parser, an address) hardly ever is the default. Of a launch that contradicts
    the log nothing is left but that.
    """
    against = "; ".join(list(contradictions(launch, log))[:_MOST])
    if against:
        return {"launch.contradicts": Fact("launch.contradicts", against, origin="launch")}
    if "args" not in log:
        return dict(launch)
    return {key: fact for key, fact in launch.items() if key in log or not _would_be_printed(key, fact)}


def _would_be_printed(key: str, fact: Fact) -> bool:
    return key.startswith("args.") and isinstance(fact.value, str) and fact.value.casefold() not in _DEFAULTS


def contradictions(launch: Mapping[str, Fact], log: Facts) -> Iterator[str]:
    """Yield in words what of a launch cannot be of the run that wrote the log."""
    if not launch:
        return
    yield from _version(launch, log)
    model, printed = _value(launch, "model.name"), _value(log, "model.name")
    if model is not None and printed is not None and not _same_model(str(model), str(printed)):
        yield f"it starts {model}, the log is of {printed}"
    for name in _PRINTED:
        mine, theirs = _value(launch, f"args.{name}"), _value(log, f"args.{name}")
        flag = f"--{name.replace('_', '-')}"
        if mine is not None and theirs is not None and not _same(mine, theirs):
            yield f"{flag} is {mine} here and {theirs} in the log"
        elif mine is not None and theirs is None and f"args.{name}" not in log and _is_silent(name, mine, log):
            yield f"{flag} is {mine} here and not given in the log"
        elif mine is None and theirs is not None and _is_silent(name, theirs, launch) and _tells_all(launch):
            yield f"{flag} is {theirs} in the log and not given here"


def _value(facts: Mapping[str, Fact], key: str) -> FactValue | None:
    """Return what is stated, not inferred, redacted or left to vLLM."""
    fact = facts.get(key)
    if fact is None or fact.origin == "inferred" or isinstance(fact.value, tuple) or fact.value in ("auto", -1):
        return None
    return None if isinstance(fact.value, str) and any(mark in fact.value for mark in "<>*{$") else fact.value


def _version(launch: Mapping[str, Fact], log: Facts) -> Iterator[str]:
    """Compare the image's tag with the version in the log; a description of the container itself is never another's."""
    from logdoctor.knowledge.releases import parse_version
    from logdoctor.knowledge.tables import known_versions

    kind = launch.get("launch.kind")
    tag, printed = (parse_version(str(_value(facts, "vllm.version") or "")) for facts in (launch, log))
    if tag is None or printed is None or (kind is not None and kind.value == "inspect"):
        return
    # Other vendors count releases of their own, and a build between releases calls itself by the next one.
    if tag in known_versions() and not printed.is_dev and tag.release != printed.release:
        yield f"its image is of vLLM {tag}, the log of {printed}"


def _same(mine: FactValue, theirs: FactValue) -> bool:
    try:
        return float(mine) == float(theirs)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        first, second = (str(one).casefold().replace("-", "_") for one in (mine, theirs))
        return first == second


def _same_model(mine: str, theirs: str) -> bool:
    """Whether two names can be of one model: alike up to the directory it is found in."""
    first, second = (one.rstrip("/").replace("--", "/").casefold() for one in (mine, theirs))
    return first == second or first.rpartition("/")[2] in second or second.rpartition("/")[2] in first


def _is_silent(name: str, value: FactValue, facts: Mapping[str, Fact]) -> bool:
    """Whether the arguments that are stated would hold this one, had it been given."""
    return "args" in facts and name in _NEVER_SILENT and not _same(value, _NEVER_SILENT[name] or "")


def _tells_all(launch: Mapping[str, Fact]) -> bool:
    """Whether nothing but the launch can give arguments: no configuration file, no entry point of its own."""
    image = launch.get("image.name")
    own = image is None or "vllm/vllm-openai" in str(image.value)
    return own and "vllm.entrypoint" in launch and not {"args.config", "launch.open"} & set(launch)
