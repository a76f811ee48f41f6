"""Read a launch of any kind; which one it is, its text tells."""

from __future__ import annotations

import re
from functools import lru_cache

from logdoctor.launch.command import LaunchCommand
from logdoctor.launch.errors import LaunchError
from logdoctor.launch.from_inspect import containers_in, read_inspect
from logdoctor.launch.from_script import read_script

MAX_INSPECT = 4 * 1024 * 1024
"""Characters of `docker inspect`, which may tell about many containers; other launches are much shorter."""

_REMEMBERED = 64 * 1024
"""Characters of a launch that is kept in memory once it was read."""
_YAML = re.compile(r"^(?:services|apiVersion|kind)[ \t]*:", re.MULTILINE)
_JSON_KEYS = re.compile(r'"(?:services|apiVersion)"\s*:')
_COMMAND = re.compile(r"\bvllm\s+serve\b|api_server")
_TOOL, _RUN = re.compile(r"\b(?:docker|podman|nerdctl)\b"), re.compile(r"\brun\b")


def _holds_command(text: str) -> bool:
    """Whether a text holds what starts a server: vLLM's own command, or a tool's name and `run` somewhere behind it."""
    tool = _TOOL.search(text)
    return bool(_COMMAND.search(text) or (tool and _RUN.search(text, tool.end())))


def read_launch(text: str, *, service: str = "") -> LaunchCommand:
    """Read a script, a compose file, a manifest or the output of `docker inspect`.

    `service` chooses a service of a compose file. Raises `LaunchError` with one sentence when the text is none of
    them, or is not safe to read.
    """
    if len(text) > MAX_INSPECT:
        raise LaunchError(f"the launch file is too big: {len(text):,} characters, at most {MAX_INSPECT:,} are read")
    # One diagnosis asks for its launch several times: for its facts, to change it, and to see what came of that.
    return (_remembered if len(text) <= _REMEMBERED else _read)(text, service)


@lru_cache(maxsize=8)
def _remembered(text: str, service: str) -> LaunchCommand:
    return _read(text, service)


def _read(text: str, service: str) -> LaunchCommand:
    if not text.strip("\ufeff \t\r\n"):
        raise LaunchError("the launch file is empty")
    containers = containers_in(text)
    if containers:
        return read_inspect(containers)
    begin = text.lstrip("\ufeff \t\r\n")
    is_json = begin.startswith(("{", "[")) and _JSON_KEYS.search(text) is not None
    if not begin.startswith("#!") and (is_json or _YAML.search(text)):
        try:
            return _read_yaml(text, service)
        except LaunchError:
            # A script may hold a manifest in a here-document.
            if is_json or not _holds_command(text):
                raise
            try:
                return read_script(text)
            except LaunchError:
                pass
            raise
    return read_script(text)


def _read_yaml(text: str, service: str) -> LaunchCommand:
    from logdoctor.launch.from_compose import is_compose, read_compose
    from logdoctor.launch.from_kubernetes import is_kubernetes, read_kubernetes
    from logdoctor.launch.yaml_nodes import read_documents

    roots = read_documents(text)
    if is_kubernetes(roots):
        return read_kubernetes(text, roots)
    if is_compose(roots):
        return read_compose(text, roots, service)
    raise LaunchError("the launch file is neither a compose file nor a Kubernetes manifest")
