"""Short ways to write the facts of a boot and to ask the budget about them."""

from __future__ import annotations

from logdoctor.budget import budget_facts
from logdoctor.model import Fact, FactValue


def facts(**values: FactValue) -> dict[str, Fact]:
    """Facts from keyword arguments, `__` standing for the dot: `memory__total_gib=80`."""
    keys = {name.replace("__", "."): value for name, value in values.items()}
    return {key: Fact(key, value, line=7) for key, value in keys.items()}


def derived(**values: FactValue) -> dict[str, FactValue]:
    """What the budget says about such a boot, without the prefix `budget.`"""
    return {key.removeprefix("budget."): fact.value for key, fact in budget_facts(facts(**values)).items()}
