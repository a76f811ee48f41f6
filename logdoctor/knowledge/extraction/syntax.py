"""Small readings of Python syntax trees that the extraction of vLLM's tables is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

Aliases = Mapping[str, ast.expr]


def constant(node: ast.expr | None) -> Any:
    """Return the value of a literal expression, or None."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def assignments(module: ast.Module | None) -> Iterator[tuple[str, ast.expr]]:
    """Yield the plain module-level assignments as (name, expression)."""
    for node in module.body if module else ():
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if isinstance(target, ast.Name):
            yield target.id, value


def fields(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return the annotated fields of a class with their annotations."""
    return {
        item.target.id: item.annotation
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and not ast.unparse(item.annotation).startswith("ClassVar")
    }


def literal_values(annotation: ast.expr | None, aliases: Aliases, seen: frozenset[str] = frozenset()) -> list[Any]:
    """Return the values an annotation allows through `Literal`, resolving names of module-level aliases."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return []
    if isinstance(annotation, ast.Name):
        if annotation.id not in aliases or annotation.id in seen:
            return []
        return literal_values(aliases[annotation.id], aliases, seen | {annotation.id})
    if isinstance(annotation, ast.BinOp):
        return literal_values(annotation.left, aliases, seen) + literal_values(annotation.right, aliases, seen)
    if not isinstance(annotation, ast.Subscript):
        return []
    outer = ast.unparse(annotation.value).rpartition(".")[2]
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    values: list[Any] = []
    for item in inner:
        if outer == "Literal" and isinstance(item, ast.Constant):
            values.append(item.value)
        elif outer in ("Literal", "Optional", "Union", "SkipValidation", "list", "List"):
            values += literal_values(item, aliases, seen)
    return values


def registered_names(module: ast.Module, manager: str) -> Iterator[str]:
    """Yield what a module registers with a manager: by call or decorator, or in a `…PARSERS_TO_REGISTER` table."""
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr in ("register_module", "register_lazy_module") and manager in ast.unparse(node.func.value):
            for argument in [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "name")]:
                yield from _strings(constant(argument))
    for name, value in assignments(module):
        if name.endswith("PARSERS_TO_REGISTER") and isinstance(value, ast.Dict):
            yield from (key for node in value.keys if isinstance(key := constant(node), str))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        yield from (item for item in value if isinstance(item, str))
