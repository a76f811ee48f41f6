"""No remedy may name a flag, a variable or a value that some version of its range does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from logdoctor.database.schema import Conditions, RemedySpec, Signature
from logdoctor.knowledge.versions import (
    Kind,
    Version,
    known_versions,
    lookup,
    parse_range,
    value_exists,
)

_FLAG = re.compile(r"(?<![\w-])(--[a-zA-Z][\w-]*)(?:\.[\w.]+)?(?:[ =]([^\s]+))?")
_VARIABLE = re.compile(r"\b(VLLM_[A-Z0-9_]+)(?:=(\S*))?")
_ENV_VALUE = re.compile(r"[A-Za-z_]\w*=.*")
_COMPARISON = re.compile(r"\s*(?:>=|<=|==|!=|>|<)")


_NO_FLAGS = frozenset({"model", "model_tag", "subparser", "config"})
"""Arguments of the printed namespace that are not flags of the tables."""


def is_argument(name: str) -> bool:
    """Return whether some release prints an argument of this name."""
    return name in _NO_FLAGS or lookup(Kind.FLAG, "--" + name.replace("_", "-")) is not None


@dataclass(frozen=True, slots=True)
class Mention:
    """A flag or a variable that a text names, and the value it gives it (empty when none)."""

    name: str
    value: str = ""

    @property
    def kind(self) -> Kind:
        return Kind.FLAG if self.name.startswith("-") else Kind.ENV


_FACT = re.compile(r"\{env\.[^{}]*\}")
"""The value of a variable, to be filled in: that the variable has one says nothing about who reads it."""


def mentions(text: str) -> tuple[Mention, ...]:
    """Return the flags and vLLM variables that a text names. Values to be filled in are left out."""
    found = []
    text = _FACT.sub("{}", text)
    for expression in (_FLAG, _VARIABLE):
        for name, value in expression.findall(text):
            value = value.rstrip(".,;:)").strip("'\"")
            plain = "" if not value or value.startswith(("-", "{", "<", "[")) else value
            found.append(Mention(name, plain))
    return tuple(found)


def complaints(signature: Signature) -> Iterator[str]:
    """Say which remedies name what their versions lack, and which ranges hold no release at all."""
    if signature.vllm and not _select(known_versions(), signature.vllm):
        yield f"vllm: no release lies in {signature.vllm}"
    for remedy in signature.remedies:
        yield from _form(remedy)
        versions = remedy_versions(signature, remedy)
        if not versions:
            yield f"no release has both this entry and the remedy {remedy.summary!r}"
        yield from _missing(remedy, versions)


def _form(remedy: RemedySpec) -> Iterator[str]:
    if remedy.kind == "flag" and not remedy.value.startswith("-"):
        yield f"flag: {remedy.value!r} does not begin with a flag"
    if remedy.kind == "env" and not _ENV_VALUE.fullmatch(remedy.value):
        yield f"env: {remedy.value!r} is not NAME=VALUE"


def remedy_versions(signature: Signature, remedy: RemedySpec) -> tuple[Version, ...]:
    """Return the known releases in which a remedy may be shown."""
    versions = known_versions()
    for text in (signature.vllm, remedy.vllm):
        versions = _select(versions, text) if text else versions
    for conditions in (signature.when, signature.when_known, remedy.when):
        versions = _under(versions, conditions)
    excluded = _under(versions, remedy.not_when) if set(remedy.not_when) == {"vllm.version"} else ()
    return tuple(version for version in versions if version not in excluded)


def _select(versions: Iterable[Version], text: str) -> tuple[Version, ...]:
    return parse_range(text).select(versions)


def _under(versions: tuple[Version, ...], conditions: Conditions) -> tuple[Version, ...]:
    """Keep the releases that the conditions on `vllm.version` allow."""
    wanted = conditions.get("vllm.version")
    texts = [str(text) for text in (wanted if isinstance(wanted, tuple) else (wanted,)) if text is not None]
    if not texts or any(text in ("set", "unset") or text.startswith("~") for text in texts):
        return versions  # a regular expression asks for builds between releases; those are not in the list
    allowed: set[Version] = set()
    for text in texts:
        allowed.update(_select(versions, text if _COMPARISON.match(text) else f"=={text}"))
    return tuple(version for version in versions if version in allowed)


def _missing(remedy: RemedySpec, versions: tuple[Version, ...]) -> Iterator[str]:
    """Compare what is to be typed, and what the summary names, with every release."""
    typed = mentions(remedy.value)
    strict = remedy.kind in ("flag", "env")
    removed = {mention.name for mention in typed} if remedy.kind == "remove" else set()
    for mention in dict.fromkeys((*(() if removed else typed), *mentions(remedy.summary))):
        if mention.name in removed:
            continue
        known = lookup(mention.kind, mention.name)
        if known is None:
            if strict and mention in typed:
                yield f"{mention.name} exists in no vLLM release"
            continue
        if mention.kind is Kind.FLAG and known.name != mention.name and known.name.replace("-", "_") == mention.name:
            yield f"write {known.name}, not {mention.name}"
        lacking = [version for version in versions if known.exists_in(version) is False]
        if lacking:
            yield f"{mention.name} is not in {_span(lacking)}; give the remedy a vllm range"
        elif mention.value:
            lacking = [v for v in versions if value_exists(mention.name, mention.value, v) is False]
            if lacking:
                yield f"{mention.name} does not take {mention.value} in {_span(lacking)}"


def _span(versions: list[Version]) -> str:
    first, last = versions[0], versions[-1]
    return f"{first}" if first == last else f"{first} … {last} ({len(versions)} releases)"
