"""Choose and word the remedies of a signature for one boot.

No remedy may name what the boot's version does not have: besides the range written at the remedy, every flag and
variable in what is to be typed is looked up in the version knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from logdoctor.database.schema import RemedySpec, Signature
from logdoctor.diagnosis.conditions import Truth, evaluate, in_words, undecided, version_in
from logdoctor.diagnosis.templates import fill, fill_command, shell_word
from logdoctor.knowledge.releases import parse_version
from logdoctor.model import Facts, Remedy

FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)(?:[ =]([^\s]+))?")
"""A flag with its value in a command."""
_VARIABLE = re.compile(r"\b(VLLM_[A-Z0-9_]+)(?:=(\S*))?")


def choose(signature: Signature, captures: Mapping[str, str], facts: Facts) -> tuple[Remedy, ...]:
    """Return the remedies of a signature that can hold for a boot, in the order to try."""
    chosen: list[Remedy] = []
    before: Remedy | None = None
    for spec in signature.remedies:
        last, before = before, _worded(spec, signature, captures, facts)
        if before is not None:
            # Where what it belongs to does not hold, it is a way of its own.
            chosen.append(replace(before, with_previous=spec.with_previous and last is not None))
    return tuple(chosen)


def _worded(spec: RemedySpec, signature: Signature, captures: Mapping[str, str], facts: Facts) -> Remedy | None:
    version = _version(facts)
    conditions: list[str] = []
    if spec.vllm:
        inside = version_in(version, spec.vllm) if version else None
        if inside is False:
            return None
        if inside is None:
            conditions.append(f"with vLLM {spec.vllm.replace(',', ', ')}")
    if evaluate(spec.when, facts) is Truth.FALSE:
        return None
    conditions.extend(f"if {words}" for words in undecided(spec.when, facts))
    if spec.not_when:
        outcome = evaluate(spec.not_when, facts)
        if outcome is Truth.TRUE:
            return None
        if outcome is Truth.UNKNOWN:
            unless = " and ".join(in_words(key, wanted) for key, wanted in spec.not_when.items())
            conditions.append(f"unless {unless}")
    filled, complete = fill_command(spec.value, captures, facts)
    command: str = with_stated_keys(filled, facts) if spec.kind == "flag" else filled
    if not _can_hold(spec.kind, command, facts):
        return None
    if not complete:
        conditions.append("the value in angle brackets is not in this log")
    return Remedy(
        summary=fill(spec.summary, captures, facts),
        kind=spec.kind,
        command=command,
        condition="; ".join(conditions),
        finding=signature.id,
    )


def _can_hold(kind: str, command: str, facts: Facts) -> bool:
    """Return False for what this version lacks, what is so already, and what the weights leave no room for."""
    if kind != "remove" and not exists_in(command, _version(facts)):
        return False
    if kind in ("flag", "env") and already_set(command, facts):
        return False
    return _holds_weights(command, facts)


_SHARE = re.compile(r"--gpu-memory-utilization[ =]([0-9.]+)\Z")


def _holds_weights(command: str, facts: Facts) -> bool:
    """Return False for a share of the card that the weights alone exceed."""
    found = _SHARE.match(command)
    if found is None:
        return True
    from logdoctor.diagnosis.weights import fit_into

    return fit_into(float(found[1]), facts)


_MAPPING = re.compile(r"(?P<flag>--[a-z][a-z-]+) '(?P<keys>\{.*\})'")


def with_stated_keys(command: str, facts: Facts) -> str:
    """Return a flag that takes a mapping with the keys that this boot ran with beside the new ones."""
    found = _MAPPING.fullmatch(command)
    stated = facts.get("args." + found["flag"][2:].replace("-", "_")) if found else None
    if found is None or stated is None or not isinstance(stated.value, str):
        return command
    from logdoctor.launch.changes import merged_json

    return f"{found['flag']} {shell_word(merged_json(stated.value, found['keys']))}"


def exists_in(command: str, version: str) -> bool:
    """Return False when a vLLM flag or variable of the command is known to be missing in the version."""
    if not version:
        return True
    for flag, _ in FLAG.findall(command):
        if _missing("FLAG", flag, version):
            return False
    return not any(_missing("ENV", name, version) for name, _ in _VARIABLE.findall(command))


def _missing(kind: str, name: str, version: str) -> bool:
    from logdoctor.knowledge.tables import Kind, lookup

    # Names that no vLLM ever had belong to docker, the hub or the host: not ours to judge.
    known = lookup(Kind[kind], name)
    return known is not None and known.exists_in(parse_version(version)) is False


def already_set(command: str, facts: Facts) -> bool:
    """Return whether the log shows that this boot already ran with what the command would set."""
    flags = FLAG.findall(command)
    if flags:
        return all(_has_argument(flag, value, facts) for flag, value in flags)
    variables = re.findall(r"\b([A-Z][A-Z0-9_]+)=(\S*)", command)
    return bool(variables) and all(
        f"env.{name}" in facts and str(facts[f"env.{name}"].value) == value for name, value in variables
    )


def _has_argument(flag: str, value: str, facts: Facts) -> bool:
    name = flag[2:].replace("-", "_")
    if name.startswith("no_"):
        fact = facts.get("args." + name[3:])
        return fact is not None and fact.value is False
    fact = facts.get("args." + name)
    if fact is None or not value:
        return fact is not None and fact.value is True
    return str(fact.value).casefold() == value.strip("'\"").casefold()


def _version(facts: Facts) -> str:
    fact = facts.get("vllm.version")
    return str(fact.value) if fact else ""


def conflicts_of(signatures: Iterable[Signature]) -> Callable[[Remedy], tuple[str, ...]]:
    """Return a look-up of what the entries say a worded remedy does not go together with."""
    stated: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}
    for signature in signatures:
        for spec in signature.remedies:
            if spec.conflicts_with:
                stated.setdefault((signature.id, spec.kind), []).append((spec.value, spec.conflicts_with))

    def find(remedy: Remedy) -> tuple[str, ...]:
        of_finding = stated.get((remedy.finding, remedy.kind), ())
        return next((names for value, names in of_finding if _same_shape(value, remedy.command)), ())

    return find


def _same_shape(value: str, command: str) -> bool:
    """Whether a command was made from this value: equal up to the first placeholder."""
    return command.startswith(value.partition("{")[0]) if "{" in value else command == value
