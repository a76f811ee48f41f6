"""What a launch says and the log of the same run does not bear out."""

from __future__ import annotations

from collections.abc import Mapping

from logdoctor.model import Fact, Facts

_DEFAULTS = frozenset({"", "auto", "none"})


def unrefuted(launch: Mapping[str, Fact], log: Facts) -> dict[str, Fact]:
    """Return the facts of a launch without the arguments that the log would have printed, had they been given.

    vLLM prints what differs from its defaults. Of a number or a switch it is not known here whether it does; a text
    that names something (a back end, a parser, an address) hardly ever is the default.
    """
    if "args" not in log:
        return dict(launch)
    return {key: fact for key, fact in launch.items() if key in log or not _would_be_printed(key, fact)}


def _would_be_printed(key: str, fact: Fact) -> bool:
    return key.startswith("args.") and isinstance(fact.value, str) and fact.value.casefold() not in _DEFAULTS
