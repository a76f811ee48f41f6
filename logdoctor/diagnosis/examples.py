"""Run the examples inside signatures: the proof beside the rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from logdoctor.database import Database, Example
from logdoctor.diagnosis.engine import BootObserver
from logdoctor.diagnosis.matching import Matcher
from logdoctor.model import Fact
from logdoctor.reading import read_text


@dataclass(frozen=True, slots=True)
class ExampleFault:
    """An example that did not do what it stands for."""

    place: str
    """`file:line` of the entry."""
    id: str
    number: int
    """Position among the examples of its kind, from 1."""
    should_match: bool

    def __str__(self) -> str:
        kind = "match" if self.should_match else "no_match"
        what = "is not matched" if self.should_match else "is matched"
        return f"{self.place}: {self.id}: example {kind} {self.number} {what}"


def matching_ids(log: str, matcher: Matcher, given: Mapping[str, Fact]) -> set[str]:
    """Return the ids of all signatures that match a piece of log (in any of its boots)."""
    return set(matching_lines(log, matcher, given))


def matching_lines(log: str, matcher: Matcher, given: Mapping[str, Fact]) -> dict[str, set[int]]:
    """Return the signatures that match a piece of log, each with the lines that carry it (none: facts alone)."""
    observers = [BootObserver(matcher, 1)]
    for index, record in read_text(log):
        if observers[-1].index != index:
            observers.append(BootObserver(matcher, index))
        observers[-1].observe(record)
    found: dict[str, set[int]] = {}
    for observer in observers:
        for match in observer.matching(given):
            found.setdefault(match.signature.id, set()).update(hit.line for hit in match.hits)
    return found


def given_facts(example: Example) -> dict[str, Fact]:
    """Return the facts written beside an example."""
    return {key: Fact(key, value, origin="given") for key, value in example.facts.items()}


def example_faults(database: Database) -> Iterator[ExampleFault]:
    """Run every example of every signature; yield those that fail."""
    matcher = Matcher(database)
    for signature in database.signatures:
        for should_match, examples in ((True, signature.examples.match), (False, signature.examples.no_match)):
            for number, example in enumerate(examples, 1):
                found = signature.id in matching_ids(example.log, matcher, given_facts(example))
                if found is not should_match:
                    yield ExampleFault(signature.place, signature.id, number, should_match)
