"""Fuzz the whole way from bytes to a report with atheris; see README.md."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys

import atheris

with atheris.instrument_imports(include=["logdoctor"]):
    import logdoctor

    for module in pkgutil.walk_packages(logdoctor.__path__, "logdoctor."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:  # an optional dependency
                continue

from logdoctor.diagnosis import engine
from logdoctor.report import FORMATS
from tests.fuzz.checks import check, database, diagnosis_of


def one_input(data: bytes) -> None:
    """Take the first byte as the choice of what to check, the rest as the log."""
    if not data:
        return
    choice, log = data[0], data[1:]
    if choice == 255:
        if diagnosis_of(log) != diagnosis_of(log):
            raise AssertionError("twice the same bytes, two diagnoses")
        return
    check(log, "json" if choice < 128 else FORMATS[choice % len(FORMATS)])


def main() -> None:
    """Run until libFuzzer's own options say stop."""
    database()
    engine.Matcher = functools.cache(engine.Matcher)  # preparing the signatures takes longer than a small log
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
