"""Remedies of several findings do not pull at one knob in different directions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logdoctor.database.schema import RemedySpec, Signature
from logdoctor.diagnosis.remedies import conflicts_of
from logdoctor.diagnosis.settling import settle, targets
from logdoctor.launch import apply
from logdoctor.model import Basis, Confidence, Fact, FactValue, Finding, Remedy, Role, Severity
from logdoctor.report import RenderOptions, render
from logdoctor.wording import Part, Worded
from tests.database.build import any_of, signature
from tests.diagnosis.build import banner, database, diagnose, lines, said


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
    both = settle((finding("other", other), finding("root", first)), conflicts)
    assert commands(both) == [[other.command], [first.command]]
    assert all("only as a choice against" in each.remedies[0].condition for each in both)


def test_taking_a_dead_setting_away_makes_room_for_its_successor() -> None:
    gone = flag("VLLM_NVFP4_GEMM_BACKEND", "remove", "dead")
    root = finding("root", flag("--linear-backend marlin"), role=Role.ROOT_CAUSE)
    assert commands(settle((root, finding("dead", gone)))) == [["--linear-backend marlin"], ["VLLM_NVFP4_GEMM_BACKEND"]]


def test_what_the_root_cause_wants_set_is_not_taken_away() -> None:
    root = finding("root", flag("VLLM_NVFP4_GEMM_BACKEND=marlin", "env"), role=Role.ROOT_CAUSE)
    gone = flag("VLLM_NVFP4_GEMM_BACKEND", "remove", "dead")
    assert commands(settle((root, finding("dead", gone)))) == [["VLLM_NVFP4_GEMM_BACKEND=marlin"], []]


@pytest.mark.parametrize(
    ("first", "second", "prices"),
    [
        (
            flag("--gpu-memory-utilization 0.85"),
            flag("--gpu-memory-utilization 0.95"),
            ("a smaller KV cache", "less memory for graphs"),
        ),
        (
            flag("--enforce-eager"),
            flag("--enforce-eager", "remove"),
            ("every token takes longer", "graphs take memory"),
        ),
        (
            flag("vllm/vllm-openai:nightly", "image"),
            flag("vllm/vllm-openai:v0.24.0", "image"),
            ("changes from day to day", "another release"),
        ),
        (
            flag("--moe-backend marlin"),
            flag("--moe-backend flashinfer_cutlass"),
            ("weights only", "its kernels may lack this GPU"),
        ),
        (flag("--max-num-seqs 16"), flag("--max-num-seqs 512"), ("fewer requests", "more memory at the start")),
    ],
)
def test_between_equals_both_ways_are_a_choice_with_their_prices(
    first: Remedy, second: Remedy, prices: tuple[str, str]
) -> None:
    facts = {"args.max_num_seqs": Fact("args.max_num_seqs", 256)}
    settled = settle((finding("one", first), finding("two", replace(second, finding="two"))), facts=facts)
    assert commands(settled) == [[first.command], [second.command]]
    for each, rival, other, price in zip(settled, (second, first), ("two", "one"), prices, strict=True):
        condition = each.remedies[0].condition
        assert condition.startswith("only as a choice against ")
        assert f"{rival.command} of {other}; its price: " in condition
        assert price in condition


def test_nothing_of_a_choice_is_applied_unasked() -> None:
    settled = settle((finding("one", flag("--enforce-eager")), finding("two", flag("--enforce-eager", "remove"))))
    remedies = [remedy for each in settled for remedy in each.remedies]
    launch = "vllm serve m --enforce-eager\n"
    assert apply(launch, remedies, {}).corrected == launch


def test_an_error_outweighs_a_warning_and_a_note_never_decides() -> None:
    low, high = flag("--gpu-memory-utilization 0.85"), flag("--gpu-memory-utilization 0.95", finding="two")
    settled = settle((finding("one", low, severity=Severity.ERROR), finding("two", high)))
    assert commands(settled) == [[low.command], []]
    assert "apply the fix of one" in settled[1].remedies[0].summary
    assert commands(settle((finding("one", low), finding("two", high, severity=Severity.INFO)))) == [[low.command], []]


@pytest.mark.parametrize("now", [None, 0.9])
def test_two_that_lower_one_knob_are_no_choice(now: float | None) -> None:
    facts = {} if now is None else {"args.gpu_memory_utilization": Fact("args.gpu_memory_utilization", now)}
    first, second = flag("--gpu-memory-utilization 0.85"), flag("--gpu-memory-utilization 0.80", finding="two")
    settled = settle((finding("one", first), finding("two", second)), facts=facts)
    assert commands(settled) == [[first.command], []]
    assert settled[0].remedies == (first,)


@pytest.mark.parametrize(
    ("summary", "begun"),
    [
        ("Or drop it", "Drop it"),
        ("Otherwise take less", "Take less"),
        ("Or, with time, wait", "With time, wait"),
        ("Order more memory", "Order more memory"),
        ("Or ", "Or "),
    ],
)
def test_a_fix_does_not_begin_with_the_word_that_joined_it_to_one_that_is_gone(summary: str, begun: str) -> None:
    root = finding("root", flag("--enforce-eager"), role=Role.ROOT_CAUSE)
    gone, left = flag("--enforce-eager", "remove", "two"), Remedy(summary, "flag", "--max-num-seqs 8", finding="two")
    settled = settle((root, finding("two", gone, left)))
    assert [remedy.summary for remedy in settled[1].remedies] == [begun]
    assert settle((finding("one", left, left),))[0].remedies[1].summary == summary


def test_the_words_of_a_log_stay_told_apart_where_the_beginning_changes() -> None:
    worded = Worded((Part("Or ask ", own=True), Part("secret of the log"), Part(" for it", own=True)))
    begun = settle((finding("one", Remedy(worded, "advice")),))[0].remedies[0].summary
    assert begun == "Ask secret of the log for it"
    assert isinstance(begun, Worded)
    assert [part.text for part in begun.parts if not part.own] == ["secret of the log"]


def test_a_boot_that_pulls_both_ways_says_so_in_every_format() -> None:
    def warns(id: str, text: str, *remedies: RemedySpec) -> Signature:
        return signature(id=id, title=id, severity=Severity.WARNING, match=any_of(text), remedies=remedies)

    low = warns("too-much", "takes too much memory", RemedySpec("Take less", "flag", "--gpu-memory-utilization 0.8"))
    high = warns("too-little", "cache is too small", RemedySpec("Take more", "flag", "--gpu-memory-utilization 0.95"))
    log = lines(banner(), said("it takes too much memory"), said("the cache is too small"))
    made = diagnose(log, signatures=database(low, high))
    for name in ("terminal", "markdown", "json", "text"):
        text = " ".join(render(made, name, options=RenderOptions()).split())
        for words in ("choice against", "a smaller KV cache", "less memory for graphs"):
            assert words in text, (name, words)


@pytest.mark.parametrize(
    ("first", "second", "facts", "same"),
    [
        (flag("--enforce-eager"), flag("--enforce-eager"), {}, True),
        (flag("--max-num-seqs 8", "remove"), flag("--max-num-seqs", "remove"), {}, True),
        (flag("--enforce-eager"), flag("--enforce-eager", "remove"), {}, False),
        (flag("--moe-backend marlin"), flag("--moe-backend cutlass"), {}, False),
        (flag("--max-num-seqs 8"), flag("--max-num-seqs 16"), {}, True),  # what nobody set is only ever lowered
        (flag("--max-num-seqs 8"), flag("--max-num-seqs 16"), {"args.max_num_seqs": 12}, False),
        (flag("--max-num-seqs 8"), flag("--max-num-seqs 12"), {"args.max_num_seqs": 12}, True),
        (flag("--max-num-seqs 12"), flag("--max-num-seqs 8"), {"args.max_num_seqs": 12}, True),
        (flag("--max-num-seqs 12"), flag("--max-num-seqs 16"), {"args.max_num_seqs": 12}, False),
        (flag("--max-num-seqs 14"), flag("--max-num-seqs 16"), {"args.max_num_seqs": 12}, True),
        (flag("--max-num-seqs 8"), flag("--max-num-seqs 16"), {"args.max_num_seqs": "auto"}, True),
        (flag("--tensor-parallel-size 2"), flag("--tensor-parallel-size 4"), {}, True),
        (flag("--tensor-parallel-size 1"), flag("--tensor-parallel-size 4"), {}, False),
        (flag("--gpu-memory-utilization 0.9"), flag("--gpu-memory-utilization 0.95"), {}, False),
        (flag("--gpu-memory-utilization 0.8"), flag("--kv-cache-memory-bytes 20"), {}, False),
    ],
)
def test_remedies_of_equals_that_turn_a_knob_the_same_way_are_one(
    first: Remedy, second: Remedy, facts: dict[str, FactValue], same: bool
) -> None:
    known = {key: Fact(key, value) for key, value in facts.items()}
    settled = settle((finding("one", first), finding("two", second)), facts=known)
    assert commands(settled) == [[first.command], [] if same else [second.command]]


def test_the_words_of_a_choice() -> None:
    def choice(mine: Remedy, rival: Remedy) -> str:
        return settle((finding("one", rival), finding("two", mine)))[1].remedies[0].condition

    serial = flag("--enforce-eager")
    assert choice(replace(flag("--enforce-eager", "remove"), condition="if it fits"), serial) == (
        "if it fits; only as a choice against add --enforce-eager of one; "
        "its price: CUDA graphs take memory, and the start takes longer"
    )
    assert choice(serial, flag("--enforce-eager", "remove")).startswith(
        "only as a choice against remove --enforce-eager of one; its price: "
    )
    assert choice(flag("VLLM_USE_FBGEMM=1", "env"), flag("VLLM_NVFP4_GEMM_BACKEND=x", "env")) == (
        "only as a choice against set VLLM_NVFP4_GEMM_BACKEND=x of one"
    )


def test_a_choice_keeps_the_condition_that_it_has_already() -> None:
    one = replace(flag("--enforce-eager"), condition="if it fits")
    settled = settle((finding("one", one), finding("two", flag("--enforce-eager", "remove"))))
    assert settled[0].remedies == (one,)


def test_between_errors_nothing_decides() -> None:
    low, high = flag("--gpu-memory-utilization 0.85"), flag("--gpu-memory-utilization 0.95")
    for severity in (Severity.ERROR, Severity.FATAL):
        both = (finding("one", low, severity=severity), finding("two", high, severity=severity))
        assert commands(settle(both)) == [[low.command], [high.command]]
    outweighed = (finding("one", low, severity=Severity.FATAL), finding("two", high, severity=Severity.WARNING))
    assert commands(settle(outweighed)) == [[low.command], []]


def test_what_a_finding_without_a_fix_of_its_own_says() -> None:
    root = finding("root", flag("--enforce-eager"), role=Role.ROOT_CAUSE)
    settled = settle((root, finding("other", flag("--enforce-eager", "remove"))))
    assert settled[1].remedies == (
        Remedy(
            "First apply the fix of root, which turns the same knob; then look whether this is still there",
            "advice",
            finding="other",
        ),
    )


@pytest.mark.parametrize(
    ("remedy", "expected"),
    [
        (flag("--no-enforce-eager"), ("--enforce-eager",)),
        (flag("--max-num-seqs 8 --max-model-len 9"), ("--max-num-seqs", "--max-model-len")),
        (flag("NCCL_P2P_DISABLE=1", "env"), ("NCCL_P2P_DISABLE",)),
        (flag("--quantization FP8X", "flag"), ("--quantization",)),
        (flag("VLLM_USE_V1", "remove"), ("VLLM_USE_V1",)),
        (flag("ABC=1", "env"), ()),
        (flag("vllm/vllm-openai:v0.24.0", "image"), ()),
        (flag("NCCL_P2P_DISABLE=1", "host"), ()),
    ],
)
def test_the_names_that_a_remedy_touches(remedy: Remedy, expected: tuple[str, ...]) -> None:
    assert targets(remedy) == expected


def test_lines_added_to_an_image_are_no_other_image() -> None:
    run = flag("RUN pip install x", "image")
    settled = settle((finding("one", flag("vllm/vllm-openai:v0.24.0", "image")), finding("two", run)))
    assert settled[0].remedies[0].condition == "" and settled[1].remedies == (run,)
