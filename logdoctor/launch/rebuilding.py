"""Build the command of a start from the arguments that its log prints (`non-default args: {…}`)."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from logdoctor.knowledge.tables import Kind as Table
from logdoctor.knowledge.tables import canonical, lookup
from logdoctor.launch.command import Kind, LaunchCommand
from logdoctor.launch.errors import LaunchError
from logdoctor.launch.flags import is_switch
from logdoctor.launch.from_script import read_script
from logdoctor.model import Fact, Facts, FactValue

_MODEL_KEYS = ("args.model_tag", "args.model", "model.name")
_NO_FLAGS = frozenset({"model", "model_tag", "config", "subparser", "dispatch_function", "headless", "kernel_config"})
_MASKED = re.compile(r"\*{3,}|<[^<>]*redacted[^<>]*>", re.IGNORECASE)
_SECRETS = {"api_key": '"$VLLM_API_KEY"', "hf_token": '"$HF_TOKEN"'}

UNKNOWN = (
    "how the server was started: the command is rebuilt from the arguments that the log prints",
    "docker options, mounts and the image",
    "the environment variables",
)


def rebuild(facts: Facts) -> LaunchCommand:
    """Return `vllm serve MODEL --flag …` as a log's arguments say; raises `LaunchError` when it prints none."""
    model = next((str(facts[key].value) for key in _MODEL_KEYS if key in facts), "")
    stated = [fact for key, fact in sorted(facts.items()) if key.startswith("args.") and fact.origin != "launch"]
    if not model and not stated:
        raise LaunchError("the log prints no arguments, so the command cannot be rebuilt; give it with --launch FILE")
    unknown = [*UNKNOWN]
    words = ["vllm serve", shlex.quote(model) if model else "MODEL"]
    if not model:
        unknown.append("the model")
    if "args" not in facts:
        unknown.append("most arguments: the log holds no line with them")
    for fact in stated:
        words.extend(_words(fact, unknown))
    launch = read_script(" ".join(words) + "\n")
    return replace(launch, kind=Kind.REBUILT, unknown=tuple(unknown))


def _words(fact: Fact, unknown: list[str]) -> Iterator[str]:
    name = fact.key.removeprefix("args.")
    flag = canonical(Table.FLAG, f"--{name.replace('_', '-')}")
    if name in _NO_FLAGS or lookup(Table.FLAG, flag) is None:
        return
    if isinstance(fact.value, bool) and is_switch(flag):
        yield flag if fact.value else f"--no-{flag[2:]}"
        return
    if isinstance(fact.value, str) and (_MASKED.fullmatch(fact.value) or name in _SECRETS):
        yield f"{flag} {_SECRETS.get(name, 'VALUE')}"
        unknown.append(f"the value of {flag}")
        return
    yield " ".join([flag, *_values(fact.value)])


def _item(item: object) -> str:
    """Write one item of a list as a word; empty when it cannot be. An object stands as its text and its fields."""
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], dict):
        fields = {name: value for name, value in item[1].items() if value is not None}
        if set(fields) == {"name", "path"}:
            return f"{fields['name']}={fields['path']}"
        return json.dumps(fields)
    return str(item) if isinstance(item, (str, int, float)) else ""


def _values(value: FactValue) -> Iterator[str]:
    """Write a value as the command line takes it: a list as words, a mapping as JSON."""
    if isinstance(value, tuple):
        yield from (shlex.quote(item) for item in value)
        return
    text = str(value)
    if text.startswith("[") and text.endswith("]"):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):
            items = None
        words = [_item(item) for item in items] if isinstance(items, list) else []
        if words and all(words):
            yield from (shlex.quote(word) for word in words)
            return
    yield shlex.quote(text)
