"""The hand-kept table of replacements is held against the generated data."""

from __future__ import annotations

import re

import pytest

from logdoctor.knowledge.absence import describe_setting
from logdoctor.knowledge.releases import parse_range, parse_version
from logdoctor.knowledge.successors import (
    Successor,
    all_successors,
    foreign_note,
    nearest,
    nearest_value,
    successor_of,
    value_successor,
)
from logdoctor.knowledge.tables import VALUE_KINDS, Kind, known_versions, lookup, names, versions_in
from logdoctor.knowledge.values import value_exists

ROWS = all_successors()
IDS = [
    f"{kind} {owner} {name} -> {successor.use or 'nothing'} {successor.vllm}" for kind, owner, name, successor in ROWS
]


@pytest.mark.parametrize(("kind", "owner", "name", "successor"), ROWS, ids=IDS)
def test_what_replaces_a_name_exists_in_its_range(kind: str, owner: str, name: str, successor: Successor) -> None:
    assert successor.basis in ("source", "maintainers", "field-report", "inferred")
    assert successor.use or successor.note, "a row that says nothing"
    assert not successor.note or successor.note[-1] in ".…"
    covered = versions_in(successor.vllm) if successor.vllm else ()
    assert not successor.vllm or covered, "a range without a release"
    for version in covered:
        if kind == "value":
            assert value_exists(owner, successor.use, version), version
        elif kind in ("env", "flag"):
            assert not [answer.sentence for answer in describe_setting(successor.use, version) if answer.is_absent]
        elif successor.use:
            entry = lookup(Kind(kind), successor.use)
            assert entry is not None and entry.exists_in(version), version


@pytest.mark.parametrize(("kind", "owner", "name", "successor"), ROWS, ids=IDS)
def test_a_replaced_name_is_not_offered_where_it_still_works(
    kind: str, owner: str, name: str, successor: Successor
) -> None:
    """A row without a range must be about a name that is gone for good or never was."""
    if kind == "value":
        assert value_exists(owner, name, known_versions()[-1]) is not True
    elif (entry := lookup(Kind(kind), name)) is not None and not entry.spans[-1].open:
        assert entry.removed is not None
    elif entry is not None:
        assert all(entry.exists_in(version) is not True for version in versions_in(successor.vllm))


def test_no_row_is_hidden_by_an_earlier_one() -> None:
    seen: dict[tuple[str, str, str], list[str]] = {}
    for kind, owner, name, successor in ROWS:
        earlier = seen.setdefault((kind, owner, name), [])
        for text in earlier:
            overlap = set(versions_in(text)) & set(versions_in(successor.vllm))
            assert not overlap, f"{name}: {text!r} and {successor.vllm!r} overlap"
        earlier.append(successor.vllm)


def test_nearest_is_a_name_of_that_release() -> None:
    version = parse_version("0.24.0")
    assert nearest(Kind.ENV, "VLLM_LOGING_LEVEL", version) == "VLLM_LOGGING_LEVEL"
    assert nearest(Kind.FLAG, "--max-modellen", version) == "--max-model-len"
    assert nearest(Kind.REASONING_PARSER, "deepseek-r1", version) == "deepseek_r1"
    assert nearest(Kind.REASONING_PARSER, "nemotron_v4", parse_version("0.17.0")) is None
    assert nearest(Kind.FLAG, "--zzzzzzzz", version) is None
    assert nearest(Kind.FLAG, "--moe-backend", parse_version("0.16.0")) != "--moe-backend"
    assert nearest_value("--kv-cache-dtype", "fp8_e4m3fn", version) == "fp8_e4m3"
    for name in ("--enforce-eger", "--tensor-paralel-size", "--servd-model-name"):
        assert nearest(Kind.FLAG, name, version) in names(Kind.FLAG, version)


def test_the_common_prefix_is_no_likeness() -> None:
    assert nearest(Kind.ENV, "VLLM_FOO", parse_version("0.24.0")) is None


def test_successor_by_version() -> None:
    assert successor_of(Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", parse_version("0.21.0")) is None
    found = successor_of(Kind.ENV, "VLLM_NVFP4_GEMM_BACKEND", None)
    assert found is not None and found.use == "--linear-backend"
    assert parse_range(found.vllm).contains(known_versions()[-1])
    assert successor_of(Kind.ENV, "VLLM_MOE_BACKEND", parse_version("0.16.0")) is None  # the flag is not there yet
    named = successor_of(Kind.ENV, "VLLM_MOE_BACKEND", parse_version("0.17.0"))
    assert named is not None and (named.use, named.basis) == ("--moe-backend", "inferred")
    value = value_successor("--mamba-cache-mode", "all", parse_version("0.32.0"))
    assert value is not None and value.use == "align"


def test_no_release_is_told_a_successor_that_it_lacks() -> None:
    for kind, owner, name, _ in all_successors():
        for version in known_versions() if kind != "value" else ():
            found = successor_of(Kind(kind), name, version)
            entry = lookup(Kind(kind), found.use) if found and not owner else None
            assert entry is None or entry.exists_in(version), (name, str(version), found)


def test_foreign_variables() -> None:
    assert foreign_note("VLLM_SERVICE_PORT") and not foreign_note("VLLM_PORT") and not foreign_note("VLLM_USE_V1")


def test_a_foreign_pattern_hits_no_switch_of_vllm() -> None:
    labels = re.compile("VLLM_(BUILD_|IMAGE_TAG|USE_PRECOMPILED)")  # of the build; vLLM's own table has some since 0.26
    assert [name for name in names(Kind.ENV) if foreign_note(name) and not labels.match(name)] == []


def test_values_that_are_names_point_to_real_owners() -> None:
    for owner in VALUE_KINDS:
        assert lookup(Kind.FLAG if owner.startswith("-") else Kind.ENV, owner) is not None
