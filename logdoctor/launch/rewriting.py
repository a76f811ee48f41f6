"""Apply remedies to a launch: the same text with flags, variables and the image changed, and nothing else.

Applied are only remedies that are certain for this launch: of kind `flag`, `env`, `remove` or `image`, without a
condition, and without a value that is still to be filled in. The remedies of one finding are alternatives, in the
order to try: only the first one is applied, with the parts that belong to it. Where that one is no change of the
launch, the launch stays as it is; a second choice is not the fix that the report tells. Nothing that was set here is
removed again. One remedy follows the other, each on the text that the one before left, so that applying
the same remedies again changes nothing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from logdoctor.launch.changes import change
from logdoctor.launch.command import Kind, LaunchCommand, split_image
from logdoctor.launch.edits import shell_word
from logdoctor.launch.errors import LaunchError, NotEditable
from logdoctor.launch.programs import assignment
from logdoctor.launch.reading import read_launch
from logdoctor.model import Facts, Remedy

APPLIED_KINDS = ("flag", "env", "remove", "image")

_TO_FILL_IN = re.compile(
    r"<[^<>]*>|\.\.\.|…|\{[A-Za-z_.|]+\}|CLASS_OF|ORIGINAL[_-]MODEL|/models/\S+\.(?:jinja|py)|/certs/ca\.pem|/path/"
    r"|X\.Y\b|(?:=|//|[ /\"'\[])(?:KEY|TOKEN|MIRROR|NAME|MODEL|DRAFT|OWNER|PATH|FILE|DIR|HOST|PORT|POD|N)\b"
)
"""What stands in a command for something that only the reader knows."""
_MORE_WORDS = frozenset(
    {
        *("CUDA_LAUNCH_BLOCKING", "VLLM_LOGGING_LEVEL", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "VLLM_TRACE_FUNCTION"),
        *("PYTHONFAULTHANDLER", "TORCH_SHOW_CPP_STACKTRACES", "TORCH_DISTRIBUTED_DEBUG", "TORCH_LOGS"),
    }
)
"""Variables that make a log say more and mend nothing."""
_OF_THE_MACHINE = frozenset({"VLLM_HOST_IP", "HOST_IP", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_IB_HCA"})
"""Variables whose value in a remedy is an example: each machine has its own."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A remedy that was not applied, and why."""

    remedy: Remedy
    reason: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A launch before and after."""

    original: str
    corrected: str
    ready_command: str
    """One line to paste: the corrected command, or what starts the corrected file."""
    applied: tuple[Remedy, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unknown: tuple[str, ...] = ()
    """What the launch does not tell, in words."""

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty when there is none."""
        return unified_diff(self.original, self.corrected)


def unified_diff(original: str, corrected: str) -> str:
    """Return the change between two texts as a unified diff."""
    lines = difflib.unified_diff(
        original.splitlines(), corrected.splitlines(), "launch", "launch (corrected)", lineterm=""
    )
    return "\n".join(lines)


def apply(launch_text: str, remedies: Sequence[Remedy], facts: Facts, *, source: str = "") -> Rewritten:
    """Apply remedies to a launch text; `source` is the file's name, for the command to paste.

    Raises `LaunchError` when the text is no launch.
    """
    return apply_to(read_launch(launch_text), remedies, facts, source=source)


def apply_to(
    launch: LaunchCommand,
    remedies: Sequence[Remedy],
    facts: Facts,
    *,
    source: str = "",
    findings: Sequence[int] | None = None,
) -> Rewritten:
    """Apply remedies to a launch that was read; its `text` is what is changed.

    `findings` tells for each remedy which finding it belongs to, where several findings have one id.
    """
    session = _Session(launch, remedies, facts, findings)
    # What is set first finds the values and places of what is removed after.
    for removing in (False, True):
        for position, remedy in enumerate(remedies):
            if (remedy.kind == "remove") is removing:
                session.consider(position, remedy)
    return Rewritten(
        original=launch.text,
        corrected=session.launch.text,
        ready_command=ready_command(session.launch, source),
        applied=tuple(session.applied),
        skipped=tuple(session.skipped),
        unknown=tuple(dict.fromkeys((*launch.unknown, *session.notes))),
    )


class _Session:
    """The launch as it stands after the remedies so far."""

    def __init__(
        self, launch: LaunchCommand, remedies: Sequence[Remedy], facts: Facts, findings: Sequence[int] | None
    ) -> None:
        self.launch = launch
        self.applied: list[Remedy] = []
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self._remedies = remedies
        self._facts = facts
        self._owners = [
            (remedy.finding or f"#{place}", findings[place] if findings else 0) for place, remedy in enumerate(remedies)
        ]
        self._first = _first_ways(remedies, self._owners)
        self._set: set[str] = set()

    def consider(self, position: int, remedy: Remedy) -> None:
        """Apply a remedy, or note why not."""
        reason = _refusal(remedy)
        own = self._owners[position]
        if not reason and position not in self._first:
            reason = "another remedy of this finding comes first"
        if not reason:
            reason = self._try(remedy, own)
        if reason:
            self.skipped.append(Skipped(remedy, reason))
            return
        self.applied.append(remedy)

    def _try(self, remedy: Remedy, own: tuple[str, int]) -> str:
        """Change the launch; returns why it cannot be changed, or nothing."""
        removals = [
            one
            for place, one in enumerate(self._remedies)
            if one.kind == "remove" and self._owners[place] == own and place in self._first
        ]
        try:
            changed = change(self.launch, remedy, removals, self._facts, frozenset(self._set))
            if changed.text != self.launch.text:
                self.launch = _again(self.launch, changed.text)
        except NotEditable as error:
            return str(error)
        except LaunchError:
            return "the changed launch could not be read again"
        self._set.update(changed.touched)
        self.notes.extend(changed.notes)
        return ""


def _first_ways(remedies: Sequence[Remedy], owners: Sequence[tuple[str, int]]) -> frozenset[int]:
    """Return the places of what each finding advises first: a remedy, and the parts that belong to it."""
    first: set[int] = set()
    ways: dict[tuple[str, int], int] = {}
    for place, (remedy, owner) in enumerate(zip(remedies, owners, strict=True)):
        ways[owner] = ways.get(owner, 0) + (not remedy.with_previous or owner not in ways)
        if ways[owner] == 1:
            first.add(place)
    return frozenset(first)


def _again(launch: LaunchCommand, text: str) -> LaunchCommand:
    """Read the changed text as the same kind of launch."""
    from dataclasses import replace

    if launch.kind in (Kind.INSPECT, Kind.REBUILT):
        from logdoctor.launch.from_script import read_script

        again = read_script(text)
        return replace(again, kind=launch.kind, container=launch.container, unknown=launch.unknown)
    return read_launch(text, service=launch.name if launch.kind is Kind.COMPOSE else "")


def _refusal(remedy: Remedy) -> str:
    if remedy.kind not in APPLIED_KINDS:
        return "no argument of vLLM; to be changed by hand" if remedy.command else "advice"
    if remedy.condition:
        if remedy.condition.startswith("unless "):
            return f"it holds {remedy.condition}"
        bound = remedy.condition.startswith(("if ", "with "))
        return f"it holds only {remedy.condition}" if bound else remedy.condition
    if _TO_FILL_IN.search(remedy.command):
        return "a value is to be filled in"
    named = assignment(remedy.command)
    if remedy.kind == "env" and named is not None and named[0] in _MORE_WORDS:
        return "it makes the log say more and mends nothing"
    if remedy.kind == "env" and named is not None and named[0] in _OF_THE_MACHINE:
        return "its value is this machine's: to be set by hand"
    if remedy.kind == "env" and named is not None and named[0] == "HF_ENDPOINT":
        return "another host would serve the model: decide by hand"
    return ""


def ready_command(launch: LaunchCommand, source: str = "") -> str:
    """Return one line to paste that starts the launch."""
    if launch.kind is Kind.COMPOSE:
        file = f"-f {shell_word(source)} " if source and source not in ("compose.yaml", "docker-compose.yml") else ""
        return f"docker compose {file}up -d --force-recreate {shell_word(launch.name)}"
    if launch.kind is Kind.KUBERNETES:
        return f"kubectl apply -f {shell_word(source or 'MANIFEST')}"
    words = [shell_word(word.value) if word.filled else word.raw for word in launch.statement]
    while words and words[0] in ("then", "do", "else", "{", "!"):
        del words[0]
    inside = {(word.start, word.end) for word in launch.statement}
    exported = [
        f"{variable.name}={shell_word(variable.value)}"
        for variable in launch.env.values()
        if launch.kind is Kind.SERVE and variable.value is not None and variable.known
        if variable.place is not None and (variable.place.start, variable.place.end) not in inside
    ]
    return " ".join([*exported, *words])


def same_repository(image: str, other: str) -> bool:
    """Whether two image references name the same repository, whatever their tags."""
    first, second = (split_image(one)[0].removeprefix("docker.io/") for one in (image, other))
    return first == second
