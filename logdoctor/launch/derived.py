"""What follows from a launch itself, before anything has run."""

from __future__ import annotations

from logdoctor.launch.command import LaunchCommand
from logdoctor.launch.flags import read_arguments, typed
from logdoctor.model import Fact, FactValue

_DEFAULT_PORT = 8000


def launch_facts(launch: LaunchCommand) -> dict[str, Fact]:
    """Return what follows from the launch itself: ports that do not meet, a hub cache that is not kept."""
    found: dict[str, FactValue] = {}
    uses = read_arguments(launch.argv, launch.program).of("--port")
    port = typed(uses[-1]) if uses and uses[-1].known else _DEFAULT_PORT if not uses else None
    targets = {int(target) for _, target in launch.container.ports}
    if targets and isinstance(port, int) and port not in targets and not launch.container.network_host:
        found["launch.port_mismatch"] = f"the server listens on {port}, published is {min(targets)}"
    if launch.in_container:
        found["container.hub_cache_kept"] = _keeps_cache(launch)
    return {key: Fact(key, value, origin="launch") for key, value in found.items()}


def _keeps_cache(launch: LaunchCommand) -> bool:
    if "HF_HOME" in launch.env or "HF_HUB_CACHE" in launch.env:
        return True
    return any(".cache" in mount or "huggingface" in mount or ":/root" in mount for mount in launch.container.mounts)
