"""Ask a running server what no log says: does it answer, rightly, in the right fields, and also under load.

`probe` measures and returns facts; what they mean is said by `signatures/probe.yaml`. It talks to the addresses it is
given and to nobody else, sends its own prompts only, and bounds every request in time and size.
"""

from __future__ import annotations

from logdoctor.model import Fact
from logdoctor.probe.address import Address, ProbeError, parse_address
from logdoctor.probe.facts import compare, stand_ins, to_facts
from logdoctor.probe.options import Level, ProbeOptions

__all__ = ["Address", "Level", "ProbeError", "ProbeOptions", "compare", "parse_address", "probe", "stand_ins"]


def probe(options: ProbeOptions) -> dict[str, Fact]:
    """Measure a server and return what was found as facts with keys under `probe.`."""
    from logdoctor.probe.run import measure

    return to_facts(measure(options))
