"""The command-line flags of `vllm serve`, read from the sources of one wheel.

Engine flags stand in engine/arg_utils.py as `add_argument` calls whose type comes from the annotation of a field
of a configuration class; front-end flags are the fields of a dataclass. Both change places between releases.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from logdoctor.knowledge.extraction.syntax import assignments, constant, fields, literal_values
from logdoctor.knowledge.extraction.wheel import Wheel

_ENGINE = "engine/arg_utils.py"
_FRONTENDS = (
    "entrypoints/openai/cli_args.py",
    "entrypoints/launchers/cli_args.py",
    "entrypoints/common/cli_args.py",
    "entrypoints/cli/serve.py",
)
_ALIAS_ROOTS = (
    "config",
    "config.py",
    _ENGINE,
    "v1/attention",
    "model_executor/layers/quantization/__init__.py",
    "utils",
)

Classes = dict[str, dict[str, ast.expr]]


def flags(wheel: Wheel) -> dict[str, dict[str, Any]]:
    """Return the flags of a wheel with `bool`, `choices`, `alias` and `deprecated` where they apply."""
    reader = _Reader(wheel)
    engine = wheel.module(_ENGINE)
    if engine is not None:
        reader.read_calls(engine)
    for path in _FRONTENDS:
        module = wheel.module(path)
        if module is None:
            continue
        for node in module.body:
            if isinstance(node, ast.ClassDef) and node.name in ("FrontendArgs", "BaseFrontendArgs"):
                for name, annotation in fields(node).items():
                    reader.add(["--" + name.replace("_", "-")], annotation, {})
        reader.read_calls(module)
    return reader.found


class _Reader:
    """Collects flags; knows the configuration classes and the `Literal` aliases of its wheel."""

    def __init__(self, wheel: Wheel) -> None:
        self.found: dict[str, dict[str, Any]] = {}
        self._aliases = _literal_aliases(wheel)
        self._classes = _config_classes(wheel)
        engine = wheel.module(_ENGINE)
        self._engine_fields: dict[str, ast.expr] = {}
        self._kwargs_of = dict(_kwargs_variables(engine)) if engine else {}
        for node in engine.body if engine else ():
            if isinstance(node, ast.ClassDef) and node.name in ("EngineArgs", "AsyncEngineArgs"):
                self._engine_fields.update(fields(node))

    def add(self, spellings: list[str], annotation: ast.expr | None, extra: dict[str, Any]) -> None:
        """Record one flag under its first long spelling."""
        first = next((name for name in spellings if name.startswith("--")), None)
        if first is None:
            return
        record = self.found.setdefault(first.replace("_", "-"), {})
        others = [name for name in spellings if name != first]
        if others:
            record["alias"] = others
        if annotation is not None:
            if re.search(r"\bbool\b", ast.unparse(annotation)):
                record["bool"] = True
            elif values := literal_values(annotation, self._aliases):
                record["choices"] = values
        record.update(extra)

    def read_calls(self, module: ast.Module) -> None:
        """Record every `add_argument` call of a module."""
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
                spellings = [name for argument in node.args if isinstance(name := constant(argument), str)]
                annotation, extra = self._keywords(node.keywords)
                if annotation is None:
                    long = next((name for name in spellings if name.startswith("--")), "")
                    annotation = self._engine_fields.get(long.lstrip("-").replace("-", "_"))
                self.add(spellings, annotation, extra)

    def _keywords(self, keywords: list[ast.keyword]) -> tuple[ast.expr | None, dict[str, Any]]:
        annotation: ast.expr | None = None
        extra: dict[str, Any] = {}
        for keyword in keywords:
            value = keyword.value
            if keyword.arg == "choices" and isinstance(constant(value), (list, tuple)):
                extra["choices"] = list(constant(value))
            elif keyword.arg == "deprecated" and constant(value) is True:
                extra["deprecated"] = True
            elif keyword.arg == "action":
                action = str(constant(value) or ast.unparse(value))
                if "true" in action.lower() or "Boolean" in action:
                    extra["bool"] = True
            elif keyword.arg is None and isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
                # **model_kwargs["dtype"]: the field `dtype` of the class that model_kwargs was made from
                owner = self._classes.get(self._kwargs_of.get(value.value.id, ""), {})
                annotation = owner.get(str(constant(value.slice)), annotation)
        return annotation, extra


def _kwargs_variables(engine: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (variable, class) of every `model_kwargs = get_kwargs(ModelConfig)`."""
    for node in ast.walk(engine):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func).endswith("get_kwargs")
            and node.value.args
            and isinstance(node.targets[0], ast.Name)
        ):
            yield node.targets[0].id, ast.unparse(node.value.args[0])


def _literal_aliases(wheel: Wheel) -> dict[str, ast.expr]:
    aliases: dict[str, ast.expr] = {}
    for module in wheel.modules(*_ALIAS_ROOTS):
        for name, value in assignments(module):
            if isinstance(value, ast.Subscript) and ast.unparse(value.value).endswith("Literal"):
                aliases[name] = value
    return aliases


def _config_classes(wheel: Wheel) -> Classes:
    return {
        node.name: fields(node)
        for module in wheel.modules("config", "config.py")
        for node in module.body
        if isinstance(node, ast.ClassDef)
    }
