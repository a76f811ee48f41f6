"""Launches of every kind with known contents, laid out and quoted in many ways."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from hypothesis import strategies as st

MODELS = ("Qwen/Qwen3-8B", "/models/tiny", "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4")
FLAGS = (
    ("--max-model-len", "4096"),
    ("--gpu-memory-utilization", "0.85"),
    ("--tensor-parallel-size", "1"),
    ("--seed", "-1"),
    ("--served-model-name", "nemo"),
    ("--hf-overrides", '{"a": 1, "b": "it\'s"}'),
    ("--trust-remote-code", None),
    ("--enforce-eager", None),
    ("--no-enable-prefix-caching", None),
)
VARIABLES = (
    ("HF_TOKEN", "hf_x"),
    ("VLLM_LOGGING_LEVEL", "DEBUG"),
    ("VLLM_NVFP4_MOE_BACKEND", "marlin"),
    ("NOTE", "two words"),
    ("EMPTY", ""),
)


@dataclass(frozen=True)
class Content:
    """What a generated launch says."""

    model: str
    flags: tuple[tuple[str, str | None], ...]
    variables: tuple[tuple[str, str], ...]
    joined: bool
    comments: bool

    @property
    def rows(self) -> list[list[str]]:
        """Flags with their values, in one word or two."""
        return [
            [name] if value is None else [f"{name}={value}"] if self.joined else [name, value]
            for name, value in self.flags
        ]

    @property
    def words(self) -> list[str]:
        """Every argument behind the program."""
        return [self.model, *(word for row in self.rows for word in row)]


contents = st.builds(
    Content,
    model=st.sampled_from(MODELS),
    flags=st.lists(st.sampled_from(FLAGS), unique_by=lambda flag: flag[0], max_size=6).map(tuple),
    variables=st.lists(st.sampled_from(VARIABLES), unique_by=lambda one: one[0], max_size=4).map(tuple),
    joined=st.booleans(),
    comments=st.booleans(),
)


def quoted(word: str, how: int) -> str:
    """Quote a word for a shell in one of several ways."""
    if how == 1 and not set(word) & set('"\\$`'):
        return f'"{word}"'
    return "'" + word.replace("'", "'\\''") + "'" if how == 2 else shlex.quote(word)


@st.composite
def serve_scripts(draw: st.DrawFn) -> tuple[Content, str]:
    """`vllm serve …`, in one line or one flag a line, with variables in front or exported."""
    content = draw(contents)
    how = draw(st.integers(0, 2))
    gap = draw(st.sampled_from([" ", "  ", " \\\n  ", " \\\n\t"]))
    exported = draw(st.booleans())
    lines = ["#!/bin/bash", "set -e  # stop early"] if content.comments else []
    settings = [f"{name}={quoted(value, how)}" for name, value in content.variables]
    if exported:
        lines.extend(f"export {setting}" for setting in settings)
        settings = []
    rows = [" ".join(quoted(word, how) for word in row) for row in content.rows]
    program = draw(
        st.sampled_from(["vllm serve", "exec vllm serve", "/opt/venv/bin/vllm serve", "python3 -m vllm serve"])
    )
    if program == "python3 -m vllm serve":
        program = "python3 -m vllm.entrypoints.cli.main serve"
    lines.append(" ".join([*settings, program, quoted(content.model, how)]) + "".join(gap + row for row in rows))
    if content.comments:
        lines[-1] += draw(st.sampled_from(["", "  # the server", " > log 2>&1 &"]))
        lines.append("echo 'vllm serve ended'")
    return content, "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@st.composite
def docker_scripts(draw: st.DrawFn) -> tuple[Content, str]:
    """`docker run …`."""
    content = draw(contents)
    how = draw(st.integers(0, 2))
    gap = draw(st.sampled_from([" ", " \\\n  "]))
    option = draw(st.sampled_from(["-e ", "--env ", "--env=", "-e"]))
    parts = [draw(st.sampled_from(["docker run -d --gpus all", "sudo docker run --rm -it --gpus=all", "podman run"]))]
    parts.extend(option + quoted(f"{name}={value}", how) for name, value in content.variables)
    parts.append(draw(st.sampled_from(["-p 8000:8000", "--ipc=host", "-v ~/.cache:/root/.cache"])))
    parts.append("vllm/vllm-openai:v0.17.1")
    parts.append(quoted(content.model, how))
    parts.extend(" ".join(quoted(word, how) for word in row) for row in content.rows)
    head = "# start it\n\n" if content.comments else ""
    return content, head + gap.join(parts) + "\n"


def yaml_word(word: str, how: int) -> str:
    """Quote a word for YAML."""
    if how == 1:
        return "'" + word.replace("'", "''") + "'"
    plain = word.replace("-", "a").replace("/", "a").replace("_", "a").replace("=", "a").isalnum()
    plain = plain and not word.lstrip("-").replace(".", "").isdigit() and word[0] != "="
    return word if plain and how == 2 else json.dumps(word)


@st.composite
def compose_files(draw: st.DrawFn) -> tuple[Content, str]:
    """A compose file with the server and another service."""
    content = draw(contents)
    how = draw(st.integers(0, 2))
    note = (lambda text: f"  # {text}") if content.comments else (lambda text: "")
    lines = ["services:", "  cache: {image: redis}", "  nemo:" + note("the server")]
    lines.append("    image: vllm/vllm-openai:v0.17.1" + note("image"))
    lines.extend(_environment(content, how, draw(st.sampled_from(["map", "list", "flow"]))))
    lines.extend(_command(content, how, draw(st.sampled_from(["block", "flow", "long", "folded", "literal", "plain"]))))
    lines.append("    ports:" + note("ports"))
    lines.append('      - "8000:8000"')
    return content, "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n# end\n"]))


def _environment(content: Content, how: int, form: str) -> list[str]:
    if not content.variables:
        return []
    if form == "flow":
        inner = ", ".join(f"{name}: {json.dumps(value)}" for name, value in content.variables)
        return [f"    environment: {{{inner}}}"]
    lines = ["    environment:"]
    for name, value in content.variables:
        if content.comments:
            lines.append(f"      # about {name}")
        item = f"- {yaml_word(f'{name}={value}', how)}" if form == "list" else f"{name}: {json.dumps(value)}"
        lines.append("      " + item + ("  # set" if content.comments else ""))
    return lines


def _command(content: Content, how: int, form: str) -> list[str]:
    if form == "block":
        lines = ["    command:"]
        for word in content.words:
            lines.append(f"    - {yaml_word(word, how)}" + ("  # word" if content.comments else ""))
        return lines
    if form == "flow":
        return [f"    command: [{', '.join(yaml_word(word, min(how, 1)) for word in content.words)}]"]
    if form == "long":
        items = ",\n      ".join(yaml_word(word, min(how, 1)) for word in content.words)
        return [f"    command: [\n      {items}\n    ]"]
    rows = [[content.model], *content.rows]
    texts = [" ".join(shlex.quote(word) for word in row) for row in rows]
    if form == "plain" and not any("{" in text for text in texts):
        return ["    command: " + "\n      ".join(texts)]
    mark = "|" if form == "literal" else ">"
    return [f"    command: {mark}", *(f"      {text}" for text in texts)]


@st.composite
def manifests(draw: st.DrawFn) -> tuple[Content, str]:
    """A Deployment."""
    content = draw(contents)
    how = draw(st.integers(0, 2))
    form = draw(st.sampled_from(["args", "script", "json"]))
    if form == "json":
        return content, _json_manifest(content)
    lines = ["apiVersion: v1", "kind: Service", "metadata: {name: nemo}", "---", "apiVersion: apps/v1"]
    lines += ["kind: Deployment", "metadata:", "  name: nemo", "spec:", "  template:", "    spec:", "      containers:"]
    lines += ["      - name: sidecar", "        image: busybox", "      - name: vllm"]
    lines.append("        image: vllm/vllm-openai:v0.17.1" + ("  # image" if content.comments else ""))
    if form == "args":
        lines.append("        args:")
        lines.extend(f"        - {yaml_word(word, how)}" for word in content.words)
    else:
        lines += ["        command: [/bin/bash, -c]", "        args:", "        - |", "          set -e"]
        rows = [[content.model], *content.rows]
        texts = [" ".join(shlex.quote(word) for word in row) for row in rows]
        lines.append("          exec vllm serve " + " \\\n            ".join(texts))
    if content.variables:
        lines.append("        env:")
        for name, value in content.variables:
            lines += [f"        - name: {name}", f"          value: {json.dumps(value)}"]
    lines += ["        resources:", "          limits:", "            nvidia.com/gpu: 1"]
    return content, "\n".join(lines) + "\n"


def _json_manifest(content: Content) -> str:
    container = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.17.1",
        "args": content.words,
        "env": [{"name": name, "value": value} for name, value in content.variables],
    }
    if not content.variables:
        del container["env"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "nemo"}, "spec": {"containers": [container]}}
    return json.dumps(pod, indent=2)


@st.composite
def inspections(draw: st.DrawFn) -> tuple[Content, str]:
    """The output of `docker inspect`."""
    content = draw(contents)
    described = {
        "Name": "/nemo",
        "State": {"Status": "exited", "Running": False, "ExitCode": 1, "OOMKilled": False},
        "Config": {
            "Image": "vllm/vllm-openai:v0.17.1",
            "Env": [f"{name}={value}" for name, value in content.variables],
            "Entrypoint": ["vllm", "serve"],
            "Cmd": content.words,
        },
        "HostConfig": {"ShmSize": 2**34, "IpcMode": "private", "DeviceRequests": [{"Count": -1}]},
    }
    return content, json.dumps([described])


written = st.one_of(serve_scripts(), docker_scripts(), compose_files(), manifests())
"""Launches whose own text is changed."""
launches = st.one_of(written, inspections())
