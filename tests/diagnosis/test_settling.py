"""Remedies of several findings do not pull at one knob in different directions."""

from __future__ import annotations

import pytest

from logdoctor.database.schema import RemedySpec
from logdoctor.diagnosis.remedies import conflicts_of
from logdoctor.diagnosis.settling import settle
from logdoctor.model import Basis, Confidence, Finding, Remedy, Role, Severity
from tests.database.build import signature


def finding(
    id: str, *remedies: Remedy, role: Role = Role.CONTRIBUTING, severity: Severity = Severity.WARNING
) -> Finding:
    return Finding(id, id, severity, role, Confidence.LIKELY, Basis.SOURCE, "why", remedies=remedies)


def flag(command: str, kind: str = "flag", finding: str = "root") -> Remedy:
    return Remedy("do it", kind, command, finding=finding)


def commands(findings: tuple[Finding, ...]) -> list[list[str]]:
    return [[remedy.command for remedy in each.remedies if remedy.command] for each in findings]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (flag("--gpu-memory-utilization 0.85"), flag("--gpu-memory-utilization 0.95")),
        (flag("--gpu-memory-utilization 0.85"), flag("--kv-cache-memory-bytes 20G")),
        (flag("--enforce-eager", "remove"), flag("--enforce-eager")),
        (flag("--no-enforce-eager"), flag("--enforce-eager")),
        (flag("--moe-backend marlin"), flag("VLLM_USE_FLASHINFER_MOE_FP4=1", "env")),
        (flag("VLLM_NVFP4_GEMM_BACKEND=marlin", "env"), flag("--linear-backend flashinfer_cutlass")),
        (flag("vllm/vllm-openai:v0.24.0", "image"), flag("vllm/vllm-openai:nightly", "image")),
        (flag("NCCL_P2P_DISABLE=1", "env"), flag("NCCL_P2P_LEVEL=PHB", "env")),
    ],
)
def test_the_root_causes_fix_stands(first: Remedy, second: Remedy) -> None:
    settled = settle((finding("root", first, role=Role.ROOT_CAUSE), finding("other", second)))
    assert commands(settled) == [[first.command], []]
    assert "apply the fix of root" in settled[1].remedies[0].summary


def test_what_does_not_touch_the_same_knob_stays() -> None:
    settled = settle(
        (
            finding("root", flag("--max-model-len 8192"), role=Role.ROOT_CAUSE),
            finding("other", flag("--max-num-seqs 64"), flag("RUN pip install x", "image")),
        )
    )
    assert commands(settled) == [["--max-model-len 8192"], ["--max-num-seqs 64", "RUN pip install x"]]


def test_ways_to_mend_one_finding_are_a_choice_and_stay() -> None:
    both = (flag("--gpu-memory-utilization 0.85"), flag("--gpu-memory-utilization 0.80"))
    assert len(settle((finding("root", *both, role=Role.ROOT_CAUSE),))[0].remedies) == 2


def test_a_consequence_needs_no_remedy_of_its_own() -> None:
    settled = settle((finding("echo", flag("--max-num-seqs 64"), role=Role.CONSEQUENCE),))
    assert settled[0].remedies == ()


def test_information_falls_silent_instead_of_pointing_at_the_root_cause() -> None:
    settled = settle(
        (
            finding("root", flag("--enforce-eager"), role=Role.ROOT_CAUSE),
            finding("speed", flag("--enforce-eager", "remove"), role=Role.NOTICE, severity=Severity.INFO),
        )
    )
    assert settled[1].remedies == ()


def test_a_conflict_that_an_entry_states() -> None:
    spec = RemedySpec("batch", "flag", "--max-num-batched-tokens {n}", conflicts_with=("--enable-prefix-caching",))
    conflicts = conflicts_of([signature(id="root", remedies=(spec,))])
    first = flag("--max-num-batched-tokens 4096")
    other = flag("--enable-prefix-caching", finding="other")
    settled = settle((finding("root", first, role=Role.ROOT_CAUSE), finding("other", other)), conflicts)
    assert commands(settled) == [[first.command], []]
    assert commands(settle((finding("other", other), finding("root", first)), conflicts)) == [[other.command], []]


def test_taking_a_dead_setting_away_makes_room_for_its_successor() -> None:
    gone = flag("VLLM_NVFP4_GEMM_BACKEND", "remove", "dead")
    root = finding("root", flag("--linear-backend marlin"), role=Role.ROOT_CAUSE)
    assert commands(settle((root, finding("dead", gone)))) == [["--linear-backend marlin"], ["VLLM_NVFP4_GEMM_BACKEND"]]


def test_what_the_root_cause_wants_set_is_not_taken_away() -> None:
    root = finding("root", flag("VLLM_NVFP4_GEMM_BACKEND=marlin", "env"), role=Role.ROOT_CAUSE)
    gone = flag("VLLM_NVFP4_GEMM_BACKEND", "remove", "dead")
    assert commands(settle((root, finding("dead", gone)))) == [["VLLM_NVFP4_GEMM_BACKEND=marlin"], []]
