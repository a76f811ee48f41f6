"""What a launch states, as facts under the keys that a log's facts have.

Their origin is `launch`. A log knows better: whoever joins the two lets the log win, above all its vLLM version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from logdoctor.knowledge.absence import describe_absence
from logdoctor.knowledge.releases import Version
from logdoctor.knowledge.tables import Kind as Table
from logdoctor.knowledge.tables import lookup
from logdoctor.knowledge.values import value_exists
from logdoctor.launch.command import Kind, LaunchCommand
from logdoctor.launch.flags import Arguments, Use, read_arguments, typed
from logdoctor.launch.mistakes import mistakes
from logdoctor.launch.programs import API_SERVER, SERVE
from logdoctor.model import Fact, FactValue

_MASK = "***"
_SECRET_NAMES = frozenset({"api_key", "hf_token", "ssl_keyfile_password"})
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
DEFAULT_MODEL = "Qwen/Qwen3-0.6B"
"""What vLLM serves when no model is given (0.9.2 and newer)."""


def facts(launch: LaunchCommand, *, lines: bool = False) -> dict[str, Fact]:
    """Return the facts that a launch states. `lines`: with the line of the launch, where the launch is the input."""
    arguments = read_arguments(launch.argv, launch.program)
    found: dict[str, Fact] = {}
    for key, value, at in (*_arguments(launch, arguments), *_environment(launch), *_image(launch), *_container(launch)):
        line = launch.line(at) if lines and at >= 0 else 0
        found[key] = Fact(key, value, line, origin="launch")
    return found


def check_facts(launch: LaunchCommand, version: Version | None) -> dict[str, Fact]:
    """Return what a release would refuse of the arguments, before it has seen them.

    Not for a log: there the server itself has said what it did not take.
    """
    arguments = read_arguments(launch.argv, launch.program)
    found: dict[str, Fact] = {}
    for key, value, at in (
        *_refused(launch, arguments, version),
        *_words(launch, arguments),
        *mistakes(launch, arguments),
    ):
        found.setdefault(key, Fact(key, value, launch.line(at) if at >= 0 else 0, origin="launch"))
    for refused in refused_values(launch, version)[:1]:
        found.update(refused)
    return found


_Stated = tuple[str, FactValue, int]


def _arguments(launch: LaunchCommand, arguments: Arguments) -> Iterator[_Stated]:
    begin = launch.argv[0].start if launch.argv else -1
    known = launch.complete and not arguments.open and (bool(launch.argv) or launch.program != "")
    if known:
        yield "args", True, begin
    if not known or any(word.expands for word in launch.argv):
        yield "launch.open", True, -1
    for use in arguments.uses:
        name = use.fact
        if use.nested or not use.known or not name.isidentifier():
            continue
        yield f"args.{name}", _MASK if name in _SECRET_NAMES else typed(use), launch.argv[use.first].start
    if launch.program:
        yield "vllm.entrypoint", launch.program, begin
    yield from _model(launch, arguments, known)


def _model(launch: LaunchCommand, arguments: Arguments, known: bool) -> Iterator[_Stated]:
    named = arguments.of("--model")
    if named and named[-1].known and named[-1].value:
        yield "model.name", named[-1].value, launch.argv[named[-1].first].start
        return
    place = arguments.positional[0] if arguments.positional and launch.program != API_SERVER else None
    if place is not None:
        word = launch.argv[place]
        if not word.expands and word.value:
            yield "model.name", word.value, word.start
            yield "args.model_tag", word.value, word.start
    elif known and not named and launch.program and not arguments.of("--config"):
        yield "model.name", DEFAULT_MODEL, launch.argv[0].start if launch.argv else -1


def _environment(launch: LaunchCommand) -> Iterator[_Stated]:
    if launch.env_complete:
        yield "env", True, -1
    for name, variable in launch.env.items():
        if variable.value is not None and variable.known and re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            yield f"env.{name}", variable.value, variable.place.start if variable.place else variable.cut[0]


def _image(launch: LaunchCommand) -> Iterator[_Stated]:
    if launch.image:
        at = launch.image_word.start if launch.image_word else -1
        yield "image.name", launch.image, at
        if launch.version is not None:
            yield "vllm.version", str(launch.version), at
    yield "launch.kind", launch.kind.value, -1


def _container(launch: LaunchCommand) -> Iterator[_Stated]:
    container = launch.container
    values: dict[str, FactValue | None] = {
        "container.exit_code": container.exit_code,
        "container.oom_killed": container.oom_killed,
        "container.restarts": container.restarts,
        "container.gpus": gpu_text(container.gpus) or None,
        "container.shm_gib": shm_gib(launch),
        "container.ipc_host": container.ipc_host,
        "container.network_host": container.network_host,
        "container.liveness_seconds": container.liveness_seconds,
        "container.service_variables": ", ".join(container.service_variables) or None,
        "server.published_port": int(container.ports[0][0]) if container.ports else None,
    }
    places = {
        "container.liveness_seconds": container.liveness_at,
        "container.service_variables": container.service_at,
    }
    for key, value in values.items():
        if value is not None:
            yield key, value, places.get(key, -1)


def gpu_text(given: str) -> str:
    """Return `all`, `none` or a number where what was written tells one: `"device=0,1"` are two, `count=2` too."""
    text = given.strip().strip("'\"")
    for part in re.split(r"[\s,](?=[a-z]+=)", text):
        name, equals, value = part.strip("'\"").partition("=")
        if name == "device" and equals:
            return str(len([one for one in value.split(",") if one]))
        if name == "count":
            return "all" if value in ("-1", "all") else value
    head = text.partition(",")[0]
    return "all" if head == "-1" or text.startswith(("capabilities=", "driver=")) else head


def shm_gib(launch: LaunchCommand) -> float | None:
    """Return the size of the container's /dev/shm; docker's and Kubernetes' own is 64 MiB."""
    if not launch.in_container or launch.container.ipc_host or launch.container.shm == "memory":
        return None
    if not launch.container.shm:
        return 0.0625 if launch.kind is not Kind.INSPECT else None
    size = _SIZE.fullmatch(launch.container.shm.strip())
    if size is None:
        return None
    # Kubernetes' `16G` is decimal; the difference does not matter for a limit of half a GiB.
    return round(float(size[1]) * 2.0 ** (_UNITS[size[2].lower()] - 30), 3)


# -- what a release refuses -------------------------------------------------------------------------------------------


def _refused(launch: LaunchCommand, arguments: Arguments, version: Version | None) -> Iterator[_Stated]:
    unknown: list[str] = []
    first = -1
    for use in arguments.uses:
        absence = describe_absence(Table.FLAG, use.spelled.partition(".")[0], version)
        if absence is not None and absence.is_absent:
            unknown.append(use.spelled)
            first = first if first >= 0 else launch.argv[use.first].start
    if unknown:
        yield "cli.unrecognized", tuple(dict.fromkeys(unknown)), first


def refused_values(launch: LaunchCommand, version: Version | None) -> list[dict[str, Fact]]:
    """Return flag and value of every argument whose value a release does not take, as facts."""
    arguments = read_arguments(launch.argv, launch.program)
    found = []
    for use in arguments.uses:
        if use.value is not None and _refuses(use, version):
            line = launch.line(launch.argv[use.first].start)
            values = {"cli.invalid_flag": use.name, "cli.invalid_value": use.value}
            found.append({key: Fact(key, value, line, origin="launch") for key, value in values.items()})
    return found


def _refuses(use: Use, version: Version | None) -> bool:
    # Parsers have findings of their own, and a plugin may bring one.
    if use.value is None or not use.known or use.nested or use.name in ("--reasoning-parser", "--tool-call-parser"):
        return False
    entry = lookup(Table.FLAG, use.name)
    if entry is None or entry.exists_in(version) is False:  # the flag itself is the finding
        return False
    return value_exists(use.name, use.value, version) is False


def _words(launch: LaunchCommand, arguments: Arguments) -> Iterator[_Stated]:
    """Say which words no flag takes, and which name the program once more."""
    if launch.repeated:
        yield "launch.repeated", " ".join(word.value for word in launch.repeated), launch.repeated[0].start
    may_stand = 0 if launch.program == API_SERVER else 1
    stray = [launch.argv[place] for place in arguments.positional[may_stand:] if not launch.argv[place].expands]
    if stray and launch.program:
        yield "launch.stray", " ".join(word.value for word in stray)[:200], stray[0].start
    if arguments.glued:
        words = [launch.argv[place] for place in arguments.glued]
        yield "launch.glued", ", ".join(word.value for word in words)[:200], words[0].start
    if arguments.positional and arguments.of("--model") and launch.program == SERVE:
        yield "launch.model_twice", True, launch.argv[arguments.positional[0]].start
    if arguments.of("--model") and launch.program == SERVE:
        yield "launch.model_option", True, launch.argv[arguments.of("--model")[-1].first].start
