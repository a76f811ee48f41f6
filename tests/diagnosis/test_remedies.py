"""The remedies of an entry, chosen and worded for a boot."""

from __future__ import annotations

import pytest

from logdoctor.database.schema import RemedySpec
from logdoctor.diagnosis.remedies import choose
from logdoctor.model import Fact

from .build import shipped

ENTRY = next(one for one in shipped().signatures if one.id == "env-nvfp4-moe-backend")
PARTS = (
    RemedySpec("Set it", "flag", "--max-num-seqs 4", vllm=">=0.20"),
    RemedySpec("Take the old one out", "remove", "--old", with_previous=True),
    RemedySpec("Or wait"),
)


@pytest.mark.parametrize(("version", "told"), [("0.24.0", [False, True, False]), ("0.10.0", [False, False])])
def test_a_part_whose_fellow_does_not_hold_is_a_way_of_its_own(version: str, told: list[bool]) -> None:
    facts = {"vllm.version": Fact("vllm.version", version)}
    chosen = choose(ENTRY._replace(remedies=PARTS), {}, facts)
    assert [remedy.with_previous for remedy in chosen] == told


def test_a_dead_variable_goes_and_a_flag_takes_its_place() -> None:
    chosen = choose(ENTRY, {}, {"vllm.version": Fact("vllm.version", "0.24.0")})
    assert [(remedy.kind, remedy.with_previous) for remedy in chosen][:2] == [("remove", False), ("flag", True)]
