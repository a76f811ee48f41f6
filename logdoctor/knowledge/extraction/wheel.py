"""The Python sources of a vLLM wheel, read from the zip without unpacking or importing anything."""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from logdoctor.knowledge.releases import parse_version

_NAME = re.compile(r"vllm[a-z_]*-(?P<version>[^-]+)-")


class Wheel:
    """Access to the modules below `vllm/` in one wheel, by their path from there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive = zipfile.ZipFile(path)
        self._names = frozenset(self._archive.namelist())
        self.version = self._read_version()
        """The release without a local part, in the spelling of the data file."""

    def _read_version(self) -> str:
        match = _NAME.match(self.path.name)
        version = parse_version(match["version"]) if match else None
        if version is None or version.is_dev:
            raise ValueError(f"{self.path.name}: not the wheel of a vLLM release")
        if "vllm/envs.py" not in self._names:
            raise ValueError(f"{self.path.name}: holds no vllm/envs.py")
        return str(version)

    def module(self, path: str) -> ast.Module | None:
        """Parse one module, or None when the wheel has none there."""
        name = f"vllm/{path}"
        if name not in self._names:
            return None
        return ast.parse(self._archive.read(name).decode("utf-8", "replace"), filename=name)

    def modules(self, *roots: str) -> Iterator[ast.Module]:
        """Parse every module at or below the roots, in the order of their paths."""
        for root in roots:
            if root.endswith(".py"):
                found = [root]
            else:
                prefix = f"vllm/{root}/"
                inside = (name for name in self._names if name.startswith(prefix) and name.endswith(".py"))
                found = sorted(name.removeprefix("vllm/") for name in inside)
            for path in found:
                module = self.module(path)
                if module is not None:
                    yield module

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()
