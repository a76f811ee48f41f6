"""A launch in a shell script or on a line of a text: `vllm serve …`, `python -m …api_server …`, `docker run …`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from logdoctor.launch.command import Container, Form, Kind, LaunchCommand, Option, Slot, Variable, Word, is_official
from logdoctor.launch.containers import served
from logdoctor.launch.docker_run import RunOptions, read_options
from logdoctor.launch.errors import LaunchError
from logdoctor.launch.pieces import whole
from logdoctor.launch.scripts import Call, Script

MAX_CHARACTERS = 256 * 1024
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n[ \t]*)+(?P<flag>--[a-z][\w-]*)")
_GAP = re.compile(r"(?<![ \t])[ \t]+\Z")


def read_script(text: str) -> LaunchCommand:
    """Read the first command of a script that starts vLLM; raises `LaunchError` when there is none."""
    if len(text) > MAX_CHARACTERS:
        raise LaunchError(f"the launch file is too big: {len(text):,} characters, at most {MAX_CHARACTERS:,} are read")
    servers: list[LaunchCommand] = []
    others: list[LaunchCommand] = []
    outer = unit_variables(text)
    for call in Script(whole(as_shell(text))).calls():
        call = replace(call, env={**outer, **call.env}) if outer else call
        launch = _serve(text, call) if call.program.name else _docker(text, call)
        if launch is not None:
            (servers if _is_server(launch) else others).append(launch)
        if len(servers) + len(others) >= 100:
            break
    if not servers and len(others) == 1 and others[0].argv:
        servers = others
    if not servers:
        raise LaunchError(
            f"no vLLM launch in the file: no docker run …, vllm serve … or …api_server … command{_why(text)}"
        )
    servers[0] = _with_rest(servers[0])
    if len(servers) == 1:
        return servers[0]
    more = f"the file starts {len(servers)} servers; only the first is read"
    return replace(servers[0], unknown=(*servers[0].unknown, more))


def as_shell(text: str) -> str:
    """Return a text of PowerShell or cmd, where a line goes on behind ` or ^, with every place where it was."""
    if re.search(r"\\\r?\n", text):
        return text
    return re.sub(r"(?<=[ \t])[`^](\r?)\n", lambda found: (" " if found[1] else "") + "\\\n", text)


def unit_variables(text: str) -> dict[str, Variable]:
    """Return what the `Environment=` lines of a systemd unit set; they are told, and changed by hand."""
    if not re.search(r"^ExecStart=", text, re.MULTILINE):
        return {}
    found: dict[str, Variable] = {}
    for line in re.finditer(r"^Environment=([^\n]{1,4000})", text, re.MULTILINE):
        try:
            settings = shlex.split(line[1])
        except ValueError:
            continue
        for name, equals, value in (setting.partition("=") for setting in settings):
            if equals and name.isidentifier():
                found[name] = Variable(name, value, (line.start(), line.start()))
    return found


def _why(text: str) -> str:
    """Say what may have cut the command off before it named a server."""
    blank = re.search(r"\\[ \t]+$", text, re.MULTILINE)
    if blank is None:
        return ""
    line = text.count("\n", 0, blank.start()) + 1
    return f"; line {line} ends in a backslash with a blank behind it, which ends the command there"


def _with_rest(launch: LaunchCommand) -> LaunchCommand:
    """Note flags that stand on the next line although the command has ended."""
    end = launch.statement[-1].end if launch.statement else len(launch.text)
    rest = _REST.match(launch.text, end)
    if rest is None:
        return launch
    line = launch.line(rest.start("flag"))
    note = f"the command ends before {rest['flag']} in line {line}: the line above does not end in a backslash"
    return replace(launch, unknown=(*launch.unknown, note))


def _is_server(launch: LaunchCommand) -> bool:
    return bool(launch.program) or "vllm" in launch.image.lower()


def _serve(text: str, call: Call) -> LaunchCommand:
    words = call.plain
    argv = words[call.program.first :]
    unknown = list(call.notes)
    unknown.append("the variables of the shell that runs this")
    return LaunchCommand(
        kind=Kind.SERVE,
        text=text,
        program=call.program.name,
        argv=argv,
        complete=not call.notes,
        after=words[call.program.first - 1],
        env=call.env,
        new_variable=call.new_variable,
        statement=words,
        unknown=(*unknown, *open_words(argv)),
    )


def _docker(text: str, call: Call) -> LaunchCommand | None:
    words = call.plain
    run = read_options(text, words, call.program.first + 1)
    image = run.last + 1
    if image >= len(words):
        return None
    reference = words[image].value
    entrypoint = [one for one in run.options if one.name == "--entrypoint" and one.value]
    given = [Word(entrypoint[-1].value, 0, 0)] if entrypoint else []
    rest = words[image + 1 :]
    server = served(
        [*given, *rest],
        reference,
        bool(given),
        lambda at: call.words[image + 1 + at - len(given)].inside() if at >= len(given) else None,
    )
    env = {variable.name: _passed(variable, call) for variable in run.variables}
    files = [one for one in run.options if one.name in ("--env-file", "--env-host")]
    unknown = [*call.notes, *server.notes, *open_words(server.argv)]
    unknown.extend(f"the variables of {one.value or 'the host'}" for one in files)
    return LaunchCommand(
        kind=Kind.DOCKER,
        text=text,
        name=_value(run.options, "--name") or "",
        image=reference,
        image_word=words[image],
        program=server.program,
        repeated=server.repeated,
        argv=server.argv,
        complete=not call.notes,
        after=server.after if server.after is not None and server.after.end else words[image],
        env={**server.env, **env},
        env_complete=not files and not server.env and is_official(reference),
        new_variable=_variable_slot(text, words, run, call.program.first),
        options=run.options,
        statement=words,
        unknown=tuple(unknown),
        container=_container(run.options),
    )


def _passed(variable: Variable, call: Call) -> Variable:
    """Look up a variable that is passed on by name only where the script exports it."""
    outer = call.env.get(variable.name)
    if variable.value is not None or outer is None:
        return variable
    return replace(variable, value=outer.value, known=outer.known)


def open_words(argv: Sequence[Word]) -> tuple[str, ...]:
    """Say which words are known only where the launch runs."""
    return tuple(dict.fromkeys(f"what {word.raw[:80]} stands for" for word in argv if word.expands))


def _value(options: Sequence[Option], name: str) -> str | None:
    return next((one.value for one in reversed(options) if one.name == name), None)


def _gap(text: str, words: Sequence[Word]) -> str:
    """Return the blank that stands before options: a continued line where the command has one a line."""
    for word in reversed(words):
        gap = text[word.before : word.start] if 0 <= word.before < word.start else ""
        if "\n" in gap and word.value.startswith("-"):
            return gap
    return " "


def _variable_slot(text: str, words: Sequence[Word], run: RunOptions, at: int) -> Slot:
    last = run.last_variable if run.last_variable >= 0 else run.last
    if run.last_variable >= 0:
        first = last if words[last].value.startswith("-") else last - 1
        gap = text[words[first].before : words[first].start]
    else:
        gap = _gap(text, words[at : last + 1])
    return Slot(words[max(last, at)].end, f"{gap or ' '}-e ", "", Form.SHELL, words[at].quoting)


def _container(options: Sequence[Option]) -> Container:
    """Return what the options say about GPUs, memory, network, mounts and ports."""
    return Container(
        mounts=tuple(one.value for one in options if one.name in ("--volume", "--mount")),
        ports=tuple(port for one in options if one.name == "--publish" for port in published(one.value)),
        gpus=_gpus(options).strip("\"'"),
        shm=_value(options, "--shm-size") or "",
        ipc_host=_value(options, "--ipc") == "host",
        network_host=_value(options, "--network") == "host",
    )


def _gpus(options: Sequence[Option]) -> str:
    given = _value(options, "--gpus")
    if given is not None:
        return given
    devices = [one.value for one in options if one.name == "--device"]
    named = [one for one in devices if "nvidia.com/gpu" in one or "/dev/kfd" in one or "/dev/dri" in one]
    if named:
        return "all" if any(one.endswith("=all") or "/dev/" in one for one in named) else str(len(named))
    # The runtime may be set to give every container the GPUs; a privileged one sees the devices.
    told = _value(options, "--runtime") is not None or _value(options, "--privileged") is not None
    return "" if told or any(by_variable(one.value) for one in options if one.name == "--env") else "none"


def by_variable(setting: str) -> bool:
    """Whether `NAME=value` asks the runtime for GPUs; whether it listens only its own configuration tells."""
    name, _, value = setting.partition("=")
    return name == "NVIDIA_VISIBLE_DEVICES" and value.strip("'\"").lower() not in ("", "none", "void")


def published(text: str) -> tuple[tuple[str, str], ...]:
    """Read `8000:8000`, `127.0.0.1:8000:8000/tcp`; nothing for a range or a port without its host's."""
    parts = text.partition("/")[0].rsplit(":", 2)
    if len(parts) < 2 or not all(part.isdigit() for part in parts[-2:]):
        return ()
    return ((parts[-2], parts[-1]),)
