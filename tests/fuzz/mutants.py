"""Run the mutants that mutmut wrote, each in a fork of one collected pytest session; see README.md.

python -m tests.fuzz.mutants RESULTS.json 'logdoctor/report/redaction/*.py' -- tests/report/test_redaction.py …

mutmut's own runner sends every call of every function through a switch and collects the tests anew for every mutant,
which takes ten times as long. Here a mutant's code object takes the place of the function's own, and the tests that
call the function run in the order of their duration until one fails.
"""

from __future__ import annotations

import ast
import fnmatch
import gc
import importlib
import json
import os
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

MUTANTS = Path("mutants")
NAME = re.compile(r"x(?:_|ǁ(?P<owner>\w+)ǁ)(?P<name>\w+)__mutmut_(?P<number>\d+)")
KILLED, SURVIVED, TIMEOUT, UNTESTED = "killed", "survived", "timeout", "untested"
DEFAULTS: dict[str, tuple[Any, Any]] = {}
BUDGET = float(os.environ.get("MUTANTS_BUDGET", "inf"))
"""Processor time after which a mutant that no test has failed on is given up as surviving."""
SECONDS = 20
"""Processor time for the tests of one mutant, beside ten times what they take without it."""


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects of a module's functions and methods."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            if "__mutmut_" not in constant.co_name:
                yield from codes(constant)


def defaults(source: str) -> dict[str, tuple[Any, Any]]:
    """Return the default values of each mutant's parameters, where these are plain values."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and "__mutmut_" in node.name:
            with suppress(ValueError):
                named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                found[node.name] = (
                    tuple(ast.literal_eval(value) for value in node.args.defaults) or None,
                    {argument.arg: ast.literal_eval(value) for argument, value in named if value is not None} or None,
                )
    return found


def functions(path: Path) -> Iterator[tuple[str, FunctionType, CodeType]]:
    """Yield the name of each mutant of a module, the function that it changes, and the changed code."""
    module = importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    source = (MUTANTS / path).read_text()
    DEFAULTS.update({f"{module.__name__}.{name}": values for name, values in defaults(source).items()})
    for code in codes(compile(source, str(path), "exec")):
        if match := NAME.fullmatch(code.co_name):
            holder: Any = getattr(module, match["owner"]) if match["owner"] else module
            found = vars(holder).get(match["name"])
            found = getattr(found, "__func__", found)
            if isinstance(found, FunctionType):
                yield f"{module.__name__}.{code.co_name}", found, code


class Runner:
    """A plugin: measures which test calls what, then runs the mutants instead of the tests."""

    def __init__(self, results: Path, patterns: list[str]) -> None:
        self.results, self.patterns = results, patterns
        self.done: dict[str, str] = json.loads(results.read_text()) if results.exists() else {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        files = sorted(path.relative_to(MUTANTS) for path in (MUTANTS / "logdoctor").rglob("*.py"))
        chosen = [path for pattern in self.patterns for path in files if fnmatch.fnmatch(str(path), pattern)]
        work = [item for path in dict.fromkeys(chosen) for item in functions(path) if item[0] not in self.done]
        calls = self._calls(session.items, {function.__code__ for _, function, _ in work})
        for place in os.environ.get("MUTANTS_WARM", "").split():  # what every fork would have to load again
            module, _, name = place.partition(":")
            getattr(importlib.import_module(module), name)()
        gc.collect()
        gc.freeze()
        killers: dict[CodeType, Counter[int]] = {}
        for name, function, code in work:
            killed = killers.setdefault(function.__code__, Counter())
            tests = sorted(calls.get(function.__code__, ()), key=lambda pair: (-killed[pair[1]], pair[0]))
            items = [session.items[at] for _, at in tests]
            self.done[name], killer = self._run(name, items, function, code, sum(seconds for seconds, _ in tests))
            if killer is not None:
                killed[tests[killer][1]] += 1
            if self.done[name] != KILLED:
                print(name, self.done[name], flush=True)
            self.results.write_text(json.dumps(self.done, indent=0))
        return True

    def _calls(self, items: list[pytest.Item], wanted: set[CodeType]) -> dict[CodeType, list[tuple[float, int]]]:
        """Return for each function the tests that call it, with their processor time; from a fork, caches stay cold."""
        read, write = os.pipe()
        order = sorted(wanted, key=lambda code: (code.co_filename, code.co_firstlineno))
        if not (child := os.fork()):
            os.close(read)
            table = []
            for at, item in enumerate(items):
                seen: set[CodeType] = set()
                sys.setprofile(lambda frame, event, _, seen=seen: event == "call" and seen.add(frame.f_code))  # type: ignore[misc]
                begin = time.process_time()
                passed = self._passes(item, items[at + 1] if at + 1 < len(items) else None)
                sys.setprofile(None)
                if passed:
                    table.append((at, time.process_time() - begin, [n for n, code in enumerate(order) if code in seen]))
                else:
                    print("left out, fails without mutants:", item.nodeid, flush=True)
            with os.fdopen(write, "w") as pipe:
                json.dump(table, pipe)
            os._exit(0)
        os.close(write)
        calls: dict[CodeType, list[tuple[float, int]]] = {}
        with os.fdopen(read) as pipe:
            for at, seconds, numbers in json.load(pipe):
                for number in numbers:
                    calls.setdefault(order[number], []).append((seconds, at))
        os.waitpid(child, 0)
        return calls

    def _run(
        self, name: str, items: list[pytest.Item], function: FunctionType, code: CodeType, seconds: float
    ) -> tuple[str, int | None]:
        """Return what became of a mutant, and the number of the test that failed."""
        if not items:
            return UNTESTED, None
        read, write = os.pipe()
        if not (child := os.fork()):
            limit = int(min(SECONDS + 10 * seconds, 5 * BUDGET))
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            function.__code__ = code
            if name in DEFAULTS:
                function.__defaults__, function.__kwdefaults__ = DEFAULTS[name]
            for at, (item, after) in enumerate(zip(items, [*items[1:], None], strict=True)):
                if time.process_time() < BUDGET and not self._passes(item, after):
                    os.write(write, str(at).encode())
                    os._exit(1)
            os._exit(0)
        os.close(write)
        _, status = os.waitpid(child, 0)
        with os.fdopen(read) as pipe:
            killer = pipe.read()
        if os.WIFSIGNALED(status):
            return (TIMEOUT if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else KILLED), None
        return (KILLED if status else SURVIVED), int(killer) if killer else None

    def _passes(self, item: pytest.Item, after: pytest.Item | None) -> bool:
        return all(report.outcome != "failed" for report in runtestprotocol(item, log=False, nextitem=after))


def write_mutants() -> None:
    """Let mutmut write its mutants, as [tool.mutmut] of pyproject.toml says."""
    from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants

    MUTANTS.mkdir()
    copy_src_dir()
    copy_also_copy_files()
    create_mutants(1)


def main(arguments: list[str]) -> int:
    """Run the mutants of the modules named before `--` with the tests named behind it."""
    cut = arguments.index("--")
    if not MUTANTS.exists():
        write_mutants()
    settings.register_profile(
        "mutants", max_examples=30, derandomize=True, database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    settings.load_profile("mutants")
    runner = Runner(Path(arguments[0]), arguments[1:cut])
    return int(
        pytest.main(
            ["-q", "-s", "--tb=native", "--assert=plain", "-p", "no:cacheprovider", *arguments[cut + 1 :]],
            plugins=[runner],
        )
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
