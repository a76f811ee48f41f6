"""Read and rewrite launches: shell scripts, compose files, Kubernetes manifests, `docker inspect`.

read_launch(text) -> LaunchCommand        what is started, with the place of every word
facts(launch), check_facts(launch, …)     what it states; what a release would refuse of it
launch_facts(launch) -> facts             what follows from the launch itself
apply(text, remedies, facts) -> Rewritten the same launch with remedies applied
rebuild(facts) -> LaunchCommand           the command from a log's arguments
container_input(name) -> ContainerInput   log and description of a container
read_nvidia_smi(text) -> facts            the GPUs of a machine

Nothing here runs what it reads; only `container_input` starts a program, and that is docker or podman.
A module is loaded when a name of it is first asked for: a log without a launch needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logdoctor.launch.command import Kind, LaunchCommand
    from logdoctor.launch.derived import launch_facts
    from logdoctor.launch.docker_logs import ContainerInput, container_input
    from logdoctor.launch.errors import ContainerError, LaunchError, NotEditable
    from logdoctor.launch.nvidia_smi import read_nvidia_smi
    from logdoctor.launch.reading import read_launch
    from logdoctor.launch.rebuilding import rebuild
    from logdoctor.launch.rewriting import Rewritten, Skipped, apply, apply_to
    from logdoctor.launch.stated import check_facts, facts

__all__ = [
    "ContainerError",
    "ContainerInput",
    "Kind",
    "LaunchCommand",
    "LaunchError",
    "NotEditable",
    "Rewritten",
    "Skipped",
    "apply",
    "apply_to",
    "check_facts",
    "container_input",
    "facts",
    "launch_facts",
    "read_launch",
    "read_nvidia_smi",
    "rebuild",
]

_MODULES = {
    "command": ("Kind", "LaunchCommand"),
    "derived": ("launch_facts",),
    "docker_logs": ("ContainerInput", "container_input"),
    "errors": ("ContainerError", "LaunchError", "NotEditable"),
    "stated": ("check_facts", "facts"),
    "nvidia_smi": ("read_nvidia_smi",),
    "reading": ("read_launch",),
    "rebuilding": ("rebuild",),
    "rewriting": ("Rewritten", "Skipped", "apply", "apply_to"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, provided in _MODULES.items():
        if name in provided:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
