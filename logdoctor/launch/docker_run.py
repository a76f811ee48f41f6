"""The options of `docker run` and its likes: where the image stands, and what the options say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logdoctor.launch.command import Option, Variable, Word
from logdoctor.launch.edits import shell_cut

_SWITCHES = frozenset(
    [
        *("--detach", "--interactive", "--tty", "--rm", "--init", "--privileged", "--read-only", "--no-healthcheck"),
        *("--oom-kill-disable", "--publish-all", "--sig-proxy", "--disable-content-trust", "--help", "--quiet"),
        *("--replace", "--no-hosts", "--no-hostname", "--rmi", "--tls-verify", "--use-api-socket", "--env-host"),
        *("--http-proxy", "--read-only-tmpfs"),
    ]
)
_SHORT_SWITCHES = frozenset("ditPq")
_SHORT = {
    "-a": "--attach", "-c": "--cpu-shares", "-d": "--detach", "-e": "--env", "-h": "--hostname", "-i": "--interactive",
    "-l": "--label", "-m": "--memory", "-p": "--publish", "-P": "--publish-all", "-q": "--quiet", "-t": "--tty",
    "-u": "--user", "-v": "--volume", "-w": "--workdir",
}  # fmt: skip
_SAME = {"--net": "--network"}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What stands between `run` and the image."""

    options: tuple[Option, ...]
    variables: tuple[Variable, ...]
    last: int
    """Position of the last word that belongs to an option; the image comes next."""
    last_variable: int
    """Position of the last word that sets a variable, or -1."""


def read_options(text: str, words: Sequence[Word], first: int) -> RunOptions:
    """Read the options that begin at a position (behind `run`)."""
    options: list[Option] = []
    variables: list[Variable] = []
    at, last_variable = first, -1
    while at < len(words) and words[at].value.startswith("-") and len(words[at].value) > 1:
        name, value, joined = _split(words[at].value)
        taken = 1
        if value is None and name not in _SWITCHES and not _is_bundle(words[at].value):
            value = words[at + 1].value if at + 1 < len(words) else ""
            taken = 2
        cut = shell_cut(text, words[at], words[min(at + taken, len(words)) - 1])
        options.append(Option(name, value if value is not None else "", cut))
        if name == "--env" and value:
            place = words[min(at + taken, len(words)) - 1]
            variables.append(_variable(place, value, joined, cut))
            last_variable = min(at + taken, len(words)) - 1
        at += taken
        if name == "--":
            break
    return RunOptions(tuple(options), tuple(variables), min(at, len(words)) - 1, last_variable)


def _is_bundle(word: str) -> bool:
    """Tell `-it` from `-e`."""
    return not word.startswith("--") and set(word[1:]) <= _SHORT_SWITCHES


def _split(word: str) -> tuple[str, str | None, str]:
    """Return an option's long name, its value where it stands in the same word, and what stands before that value."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return _SAME.get(name, name), value if equals else None, f"{name}=" if equals else ""
    short = word[:2]
    name = _SHORT.get(short, short)
    if _is_bundle(word) or len(word) == 2:
        return name, None, ""
    # `-itp 8000:8000` and `-p8000:8000`, `-e=X=Y`
    for position, letter in enumerate(word[1:], 1):
        if letter not in _SHORT_SWITCHES:
            name = _SHORT.get(f"-{letter}", f"-{letter}")
            rest = word[position + 1 :]
            prefix = word[: position + 1] + ("=" if rest.startswith("=") else "")
            return name, rest.removeprefix("=") if rest else None, prefix if rest else ""
    return name, None, ""


def _variable(place: Word, value: str, joined: str, cut: tuple[int, int]) -> Variable:
    name, equals, setting = value.partition("=")
    known = not place.expands
    return Variable(name, setting if equals else None, cut, place, f"{joined}{name}=", known)
