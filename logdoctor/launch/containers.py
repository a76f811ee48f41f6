"""What a container runs: the same for `docker run`, compose and Kubernetes, once its words are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from logdoctor.launch.command import Variable, Word, is_official
from logdoctor.launch.pieces import Piece
from logdoctor.launch.programs import Program, find_script, in_container
from logdoctor.launch.scripts import Script

Inside = Callable[[int], "Piece | None"]
"""Gives what stands inside the word at a position, to be read as a script."""


@dataclass(frozen=True, slots=True)
class Served:
    """The server that a container starts."""

    program: str = ""
    repeated: tuple[Word, ...] = ()
    argv: tuple[Word, ...] = ()
    after: Word | None = None
    """The word behind which the first argument goes when there is none yet."""
    env: Mapping[str, Variable] = field(default_factory=dict)
    """What a script inside the container sets."""
    notes: tuple[str, ...] = ()
    found: bool = False
    """True when the words name vLLM's server."""


def served(words: Sequence[Word], image: str, overridden: bool, inside: Inside) -> Served:
    """Find the server among the words of a container; `overridden`: they begin with an entry point of their own."""
    script = find_script(words) if overridden or not is_official(image) else None
    if script is not None:
        piece = inside(script)
        for call in Script(piece).calls() if piece is not None else ():
            if call.program.name:
                return _of(call.plain, call.program, env=call.env, notes=call.notes)
    return _of(words, in_container(words, image, overridden))


def _of(
    words: Sequence[Word],
    program: Program,
    env: Mapping[str, Variable] | None = None,
    notes: tuple[str, ...] = (),
) -> Served:
    first = min(program.first, len(words))
    return Served(
        program=program.name,
        repeated=tuple(words[slice(*program.repeated)]),
        argv=tuple(words[first:]),
        after=words[first - 1] if first else None,
        env=env or {},
        notes=notes,
        found=bool(program.name) and first > 0,
    )
