"""Read vLLM's arguments as argparse does: flags in every spelling, their values, and the words that are left.

The tables of `logdoctor.knowledge` say which flags are switches and which short forms stand for which flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from logdoctor.knowledge.tables import Kind, canonical, read_flag, record_of
from logdoctor.launch.command import Word
from logdoctor.launch.programs import API_SERVER
from logdoctor.model import FactValue

_MANY = frozenset(
    {
        "--served-model-name",
        "--lora-modules",
        "--prompt-adapters",
        "--cuda-graph-sizes",
        "--cudagraph-capture-sizes",
        "--lora-target-modules",
    }
)
"""Flags that take all words up to the next flag."""
_NUMBER = re.compile(r"-\d|-\.\d")
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_FLOAT = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d{1,3})?")
_HUMAN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([kKmMgGtT])")
_FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_COUNTS = frozenset({"--max-model-len", "--max-num-batched-tokens", "--kv-cache-memory-bytes"})
"""Flags whose numbers may be written `32k`."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a flag."""

    name: str
    """The plain long flag: `--tensor-parallel-size` for `-tp`."""
    spelled: str
    """As written, without a value."""
    first: int
    """Position of its word among the arguments."""
    last: int
    """Position of its last value, or of its word."""
    value: str | None = None
    joined: bool = False
    """True when the value stands in the same word."""
    negated: bool = False
    nested: str = ""
    """What follows the first dot: `mode` of `--compilation-config.mode`."""
    known: bool = True
    """False when its value is known only where the launch runs."""

    @property
    def fact(self) -> str:
        """The name under which vLLM prints it: `max_model_len`."""
        return self.name.lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a server, taken apart."""

    uses: tuple[Use, ...]
    positional: tuple[int, ...]
    """Positions of the words that no flag takes."""
    glued: tuple[int, ...]
    """Positions of words that hold a flag and its value with a blank between: no shell splits them any more."""
    open: bool
    """True when some word stands for words that are not known."""

    def of(self, name: str) -> tuple[Use, ...]:
        """Return the uses of a flag, in any spelling of it; a flag's nested keys are left out."""
        name = canonical(Kind.FLAG, name)
        return tuple(use for use in self.uses if use.name == name and not use.nested)


def is_switch(name: str) -> bool | None:
    """Tell whether a flag takes no value; None for a flag that no release has."""
    flag = read_flag(name)
    record = record_of(Kind.FLAG, canonical(Kind.FLAG, flag.name))
    if flag.nested:
        return False
    return bool(record.get("bool")) if record is not None else (True if flag.negated else None)


def read_arguments(argv: Sequence[Word], program: str = "") -> Arguments:
    """Take the arguments of a server apart."""
    uses: list[Use] = []
    positional: list[int] = []
    glued: list[int] = []
    at = 0
    while at < len(argv):
        text = argv[at].value
        if is_glued(argv[at]):
            glued.append(at)
        elif _is_flag(text):
            use = _use(argv, at)
            uses.append(use)
            at = use.last
        else:
            positional.append(at)
        at += 1
    _give_back_model(argv, uses, positional, program)
    may_stand = 0 if program == API_SERVER else 1
    left = [argv[place] for place in positional[may_stand:]]
    several = [argv[place] for place in positional if _stands_for_several(argv[place])]
    is_open = bool(several) or any(word.expands for word in left)
    return Arguments(tuple(uses), tuple(sorted(positional)), tuple(glued), is_open)


def is_glued(word: Word) -> bool:
    """Whether a word that no shell splits holds a flag, a blank and a value."""
    return re.match(r"--?[A-Za-z][\w.-]*[ \t]+\S", word.value) is not None


def _is_flag(text: str) -> bool:
    return len(text) > 1 and text.startswith("-") and _NUMBER.match(text) is None and text != "--"


def _stands_for_several(word: Word) -> bool:
    return word.expands and re.search(r"\$[@*]|\[[@*]\]", word.raw) is not None


def _use(argv: Sequence[Word], at: int) -> Use:
    word = argv[at]
    flag = read_flag(word.value)
    name = canonical(Kind.FLAG, flag.name)
    spelled = word.value if flag.value is None else word.value[: len(word.value) - len(flag.value)].removesuffix("=")
    use = Use(name, spelled, at, at, flag.value, flag.value is not None, flag.negated, flag.nested, not word.expands)
    if flag.value is not None or flag.negated or (is_switch(name) and not flag.nested):
        return use
    last = _last_value(argv, at, name)
    if last == at:
        return use
    values = argv[at + 1 : last + 1]
    value = " ".join(one.value for one in values)
    return Use(name, spelled, at, last, value, nested=flag.nested, known=not any(one.expands for one in values))


def _last_value(argv: Sequence[Word], at: int, name: str) -> int:
    end = at
    while end + 1 < len(argv) and not _is_flag(argv[end + 1].value) and not is_glued(argv[end + 1]):
        end += 1
        if name not in _MANY:
            break
    return end


def _give_back_model(argv: Sequence[Word], uses: list[Use], positional: list[int], program: str) -> None:
    """A flag that no release has cannot be known to take a value: what looks like the missing model is the model."""
    if positional or program == API_SERVER or any(use.name == "--model" for use in uses):
        return
    for place, use in enumerate(uses):
        if use.value and not use.joined and "/" in use.value and is_switch(use.name) is None:
            uses[place] = Use(use.name, use.spelled, use.first, use.first, known=use.known)
            positional.append(use.last)
            return


def typed(use: Use) -> FactValue:
    """Return the value as vLLM's own print of its arguments has it."""
    if use.value is None:
        return not use.negated
    text = use.value
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    human = _HUMAN.fullmatch(text) if use.name in _COUNTS else None
    if human is not None:
        return int(float(human[1]) * _FACTORS[human[2]])
    return text


def flag_words(command: str) -> Iterator[tuple[str, str | None]]:
    """Split what a remedy says to type into flags and their values."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    at = 0
    while at < len(words):
        name, equals, value = words[at].partition("=")
        given: str | None = value if equals else None
        follows = at + 1 < len(words) and not _is_flag(words[at + 1])
        if given is None and follows and is_switch(name) is not True:
            at += 1
            given = words[at]
        yield name, given
        at += 1
