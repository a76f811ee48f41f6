"""Take this machine out of a recording: where things are installed, and how the host is called."""

from __future__ import annotations

import re
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

SHOWN_MODELS = "/models"
SHOWN_ADDRESS = "172.17.0.2"
SHOWN_HOST = "gpu-host"


@dataclass(frozen=True)
class Cleaner:
    """Replaces texts in a fixed order, the longest paths first."""

    pairs: tuple[tuple[str, str], ...]

    def text(self, text: str) -> str:
        """Return a text without the traces of this machine."""
        for real, shown in self.pairs:
            text = text.replace(real, shown)
        return text

    def data(self, data: bytes) -> bytes:
        """Return recorded bytes without the traces of this machine; nothing else changes."""
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def cleaner(vllm: Path, models: Path, hub: str = "") -> Cleaner:
    """Build the cleaner for an installation: the `vllm` script, the folder of models, the hub's stand-in."""
    pairs = [(str(models), SHOWN_MODELS)]
    python = vllm.parent / "python"
    if python.exists():
        asked = "import sys,sysconfig; print(sysconfig.get_paths()['purelib'], sys.prefix, sys.base_prefix, sep='\\n')"
        done = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True)
        packages, prefix, base = done.stdout.split()
        lib = re.sub(r".*/(lib/python[\d.]+)/.*", r"\1", packages)
        pairs += [
            (packages, f"/usr/local/{lib}/dist-packages"),
            (f"{prefix}/bin", "/usr/local/bin"),
            (f"{base}/{lib}", f"/usr/{lib}"),
            (prefix, "/usr/local"),
            (base, "/usr"),
        ]
    if hub:
        host, _, port = hub.removeprefix("http://").partition(":")
        pairs += [
            (hub, "https://huggingface.co"),
            (f"{host}:{port}", "huggingface.co"),
            (f"host='{host}', port={port}", "host='huggingface.co', port=443"),
        ]
    host_name = socket.gethostname()
    if len(host_name) > 3 and host_name != "localhost":
        pairs.append((host_name, SHOWN_HOST))
    address = _address()
    if address and not address.startswith("127."):
        pairs.append((address, SHOWN_ADDRESS))
    return Cleaner(tuple(pairs))


def _address() -> str:
    """The address by which vLLM knows this machine: where a packet to outside would leave it. None is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return ""
