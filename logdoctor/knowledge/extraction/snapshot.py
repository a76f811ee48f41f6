"""What one vLLM wheel says about itself: variables, flags, parsers, quantizations, back ends, architectures.

Everything is read from syntax trees, so a wheel for any platform will do and nothing of vLLM runs. The places
looked at are those of 0.8.5 to 0.33.0; where a release moves one, the merge notices that a table has shrunk.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from logdoctor.knowledge.extraction.flags import flags
from logdoctor.knowledge.extraction.syntax import assignments, constant, literal_values, registered_names
from logdoctor.knowledge.extraction.wheel import Wheel

ARCHITECTURE_PATTERN = "Nemotron|Qwen3|GptOss"
"""Only these architectures are recorded: vLLM has some four hundred, and a log that needs the list prints it."""

Records = dict[str, dict[str, Any]]


@dataclass(slots=True)
class Snapshot:
    """The tables of one release: table -> name -> attributes, and the names it prints for its back ends."""

    version: str
    tables: dict[str, Records] = field(default_factory=dict)
    log_names: dict[str, list[str]] = field(default_factory=dict)


def extract(wheel: Wheel) -> Snapshot:
    """Read all tables of a wheel."""
    tables = {
        "env": environment(wheel),
        "flags": flags(wheel),
        "reasoning_parsers": _plain(parsers(wheel, "ReasoningParserManager", "reasoning")),
        "tool_parsers": _plain(parsers(wheel, "ToolParserManager", "entrypoints/openai/tool_parsers", "tool_parsers")),
        "quantization_methods": _plain(quantizations(wheel)),
        "attention_backends": _plain(attention_backends(wheel)),
        "architectures": _plain(architectures(wheel)),
    }
    return Snapshot(wheel.version, tables, log_names(wheel))


def _plain(names: Iterable[str]) -> Records:
    return {name: {} for name in sorted(set(names))}


def environment(wheel: Wheel) -> Records:
    """Read the table `environment_variables` of envs.py."""
    found: Records = {}
    module = wheel.module("envs.py")
    for name, value in assignments(module):
        if name != "environment_variables" or not isinstance(value, ast.Dict):
            continue
        for key, getter in zip(value.keys, value.values, strict=True):
            variable = constant(key)
            if isinstance(variable, str):
                found[variable] = _variable(getter)
    return found


def _variable(getter: ast.expr) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if isinstance(getter, ast.Call) and ast.unparse(getter.func).endswith("deprecated_env") and len(getter.args) == 4:
        # name, release that removes it, what to use instead, the getter itself
        record["deprecated"] = [constant(getter.args[1]), constant(getter.args[2])]
        getter = getter.args[3]
    if isinstance(getter, ast.Call) and ast.unparse(getter.func).endswith("env_with_choices") and len(getter.args) > 2:
        choices = constant(getter.args[2])
        if isinstance(choices, list):
            record["choices"] = choices
    return record


def parsers(wheel: Wheel, manager: str, *roots: str) -> Iterator[str]:
    """Find the names registered with a parser manager: decorators, calls, and the tables of lazy ones."""
    for module in wheel.modules(*roots):
        yield from registered_names(module, manager)


def quantizations(wheel: Wheel) -> list[str]:
    """Read the names that `--quantization` knows."""
    for name, value in assignments(wheel.module("model_executor/layers/quantization/__init__.py")):
        if name in ("QuantizationMethods", "QUANTIZATION_METHODS"):
            listed = constant(value)
            return listed if isinstance(listed, list) else [str(item) for item in literal_values(value, {}) or ()]
    return []


def attention_backends(wheel: Wheel) -> list[str]:
    """Read the members of the attention back-end enumeration, wherever this release keeps it."""
    for path in (
        "v1/attention/backends/registry.py",
        "attention/backends/registry.py",
        "platforms/interface.py",
    ):
        for enum in ("AttentionBackendEnum", "_Backend"):
            members = [name for name, _ in _members(wheel, path, enum)]
            if members:
                return members
    return []


def architectures(wheel: Wheel) -> Iterator[str]:
    """Read the model classes of the registry that `ARCHITECTURE_PATTERN` selects."""
    for name, value in assignments(wheel.module("model_executor/models/registry.py")):
        if not re.fullmatch(r"_[A-Z_]+_MODELS", name) or re.search("PREVIOUSLY|OOT", name):
            continue
        for key in value.keys if isinstance(value, ast.Dict) else ():
            architecture = constant(key)
            if isinstance(architecture, str) and re.search(ARCHITECTURE_PATTERN, architecture):
                yield architecture


def log_names(wheel: Wheel) -> dict[str, list[str]]:
    """Read the back-end names that this release writes into its log."""
    oracle = "model_executor/layers/fused_moe/oracle"
    utils = "model_executor/layers/quantization/utils"
    found = {
        "nvfp4_moe": _values(wheel, f"{oracle}/nvfp4.py", "NvFp4MoeBackend"),
        "mxfp4_moe": _values(wheel, f"{oracle}/mxfp4.py", "Mxfp4MoeBackend"),
        "nvfp4_linear_enum": _values(wheel, f"{utils}/nvfp4_utils.py", "NvFp4LinearBackend"),
        "nvfp4_linear_kernels": [],
    }
    for name, value in assignments(wheel.module("model_executor/kernels/linear/__init__.py")):
        if name == "_POSSIBLE_NVFP4_KERNELS":
            found["nvfp4_linear_kernels"] = re.findall(r"\b(\w+Kernel)\b", ast.unparse(value))
    return {table: list(dict.fromkeys(names)) for table, names in found.items()}


def _values(wheel: Wheel, path: str, enum: str) -> list[str]:
    return [text for _, value in _members(wheel, path, enum) if isinstance(text := constant(value), str)]


def _members(wheel: Wheel, path: str, enum: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield the members of an enumeration class with their values."""
    module = wheel.module(path)
    for node in module.body if module else ():
        if isinstance(node, ast.ClassDef) and node.name == enum:
            for item in node.body:
                target = item.targets[0] if isinstance(item, ast.Assign) else None
                if isinstance(item, ast.Assign) and isinstance(target, ast.Name) and not target.id.startswith("_"):
                    yield target.id, item.value
