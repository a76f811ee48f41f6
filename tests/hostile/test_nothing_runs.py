"""Nothing in the package can run what a log, a launch file or a signature says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import logdoctor

FILES = sorted(Path(logdoctor.__path__[0]).rglob("*.py"))
NAMES = {"eval", "exec", "__import__", "execfile"}
METHODS = {
    ("os", "system"), ("os", "popen"), ("os", "execv"), ("os", "execvp"), ("os", "spawnv"), ("pickle", "loads"),
    ("pickle", "load"), ("marshal", "loads"), ("shelve", "open"), ("yaml", "load"), ("yaml", "unsafe_load"),
    ("yaml", "full_load"), ("subprocess", "getoutput"), ("subprocess", "getstatusoutput"), ("runpy", "run_path"),
    ("importlib", "reload"),
}  # fmt: skip
SAFE_LOADERS = {"CSafeLoader", "SafeLoader"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FILES[0].parent)))
def test_no_call_that_runs_data(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not {alias.name for alias in node.names} & {"pickle", "marshal", "shelve", "dill"}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert (node.value.id, node.attr) not in METHODS, f"line {node.lineno}"
            if node.value.id == "yaml" and node.attr.endswith("Loader"):
                assert node.attr in SAFE_LOADERS, f"line {node.lineno}"
        if isinstance(node, ast.Call):
            assert not (isinstance(node.func, ast.Name) and node.func.id in NAMES), f"line {node.lineno}"
            for keyword in node.keywords:
                runs = keyword.arg == "shell" and not (
                    isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                )
                assert not runs, f"line {node.lineno}"
