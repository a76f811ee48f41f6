"""Secrets in a launch that is meant to be pasted: the shell fills them in, from a variable of a fitting name.

`-e HF_TOKEN=hf_…` becomes `-e "HF_TOKEN=$HF_TOKEN"`, `--api-key …` becomes `--api-key "$VLLM_API_KEY"`; compose files
take variables in the same way (https://docs.docker.com/reference/compose-file/interpolation/). A Kubernetes manifest
does not: there the placeholder stays.
"""

from __future__ import annotations

import re

from .lazy import Pattern
from .spans import WEAK_KINDS

_SECRET = rf"<(?!(?:{'|'.join(sorted(WEAK_KINDS))})-\d)[a-z][a-z0-9-]{{0,30}}-\d{{1,6}}>"
_VALUE = rf"[^\s\"'<>]{{0,200}}{_SECRET}(?:[^\s\"'<>]|{_SECRET}){{0,200}}"
_VARIABLE = Pattern(
    rf"(?:(?<=\s)|^)(?P<option>(?:-e|--env)(?:=|[ \t]+))?(?P<outer>[\"']?)"
    rf"(?P<name>(?(option)[A-Za-z_]\w{{0,80}}|[A-Z_][A-Z0-9_]{{0,80}}))=(?P<inner>[\"']?){_VALUE}(?P=inner)(?P=outer)(?![\w<])",
    re.MULTILINE,
)
_FLAG = Pattern(
    rf"(?<![\w-])--(?P<name>[a-z][\w.-]{{0,60}})(?P<gap>=|[ \t]+)(?P<quote>[\"']?){_VALUE}(?P=quote)(?![\w<])"
)
_ENTRY = Pattern(
    rf"^(?P<lead>[ \t]*(?:-[ \t]+)?)(?P<outer>[\"']?)(?P<name>[A-Za-z_]\w{{0,80}})(?P<gap>=|:[ \t]+)(?P<inner>[\"']?)"
    rf"{_VALUE}(?P=inner)(?P=outer)(?P<rest>[ \t]*(?:#.*)?)$",
    re.MULTILINE,
)
_ITEM = Pattern(
    rf"(?P<flag>--(?P<name>[a-z][\w-]{{0,60}})[\"']?(?:[ \t]*\n[ \t]*-[ \t]+|,[ \t]*))(?P<quote>[\"']?){_VALUE}"
    rf"(?P=quote)"
)
_COMPOSE = Pattern(r"^services:", re.MULTILINE)
_MANIFEST = Pattern(r"^(?:kind|apiVersion):", re.MULTILINE)
_FITTING = {"api-key": "VLLM_API_KEY", "hf-token": "HF_TOKEN"}


def with_references(text: str) -> str:
    """Return a redacted launch with references to variables where secrets stood."""
    if "<" not in text or _MANIFEST.search(text):
        return text
    if _COMPOSE.search(text):
        text = _ITEM.sub(lambda found: f'{found["flag"]}"${{{_name(found["name"])}}}"', text)
        text = _ENTRY.sub(_entry, text)
        return _FLAG.sub(lambda found: f"--{found['name']}{found['gap']}${{{_name(found['name'])}}}", text)
    text = _VARIABLE.sub(_variable, text)
    return _FLAG.sub(lambda found: f'--{found["name"]}{found["gap"]}"${_name(found["name"])}"', text)


def _variable(found: re.Match[str]) -> str:
    option, name = found["option"], found["name"]
    return f'{option}"{name}=${name}"' if option else f'{name}="${name}"'


def _entry(found: re.Match[str]) -> str:
    name, outer = found["name"], found["outer"]
    return (
        f"{found['lead']}{outer}{name}{found['gap']}{found['inner']}${{{name}}}{found['inner']}{outer}{found['rest']}"
    )


def _name(flag: str) -> str:
    return _FITTING.get(flag) or re.sub(r"\W", "_", flag).upper()
