"""What a boot states about itself: typed facts with their lines, its phases, and the events that decide its verdict.

collector = FactCollector()
for record in records: collector.observe(record)
collector.facts(); collector.timeline(); collector.phase; collector.milestones
"""

from __future__ import annotations

from logdoctor.facts.collector import LITERALS, FactCollector
from logdoctor.facts.inference import infer_facts
from logdoctor.facts.milestones import Event, Milestones
from logdoctor.facts.phases import MARKERS, PhaseMarker

__all__ = [
    "LITERALS",
    "MARKERS",
    "Event",
    "FactCollector",
    "Milestones",
    "PhaseMarker",
    "infer_facts",
]
