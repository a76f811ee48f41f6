"""The draft of a bug report: what developers ask for, from what the log tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logdoctor.model import Evidence, Fact, FactValue
from logdoctor.report import RenderOptions, render
from logdoctor.report.issue import MAX_CHARACTERS

from .cases import CASES, FAILED, LAUNCHED, UNKNOWN, diagnosis
from .test_markdown import fences, huge, tokens


def test_an_unknown_failure_points_to_a_new_signature() -> None:
    text = render(UNKNOWN, "issue")
    assert text.startswith("## [Bug]: ZeroDivisionError: division by zero (FAILED while loading weights)\n")
    assert "not in logdoctor's signature database" in text
    assert "`logdoctor signatures new LOG`" in text
    assert "- phase: weights\n" in text
    assert f"fingerprint `{UNKNOWN.boots[0].findings[0].fingerprint}`" in text


def test_a_known_failure_says_that_it_has_an_answer() -> None:
    text = render(FAILED, "issue")
    assert "logdoctor knows this failure as `nvfp4-moe-cutlass-sm121`: try its fix before reporting it." in text
    assert "`vllm-project/vllm#31683`" in text
    assert "signatures new" not in text


def test_the_environment_and_the_command_as_far_as_known() -> None:
    environment, arguments, *_ = fences(render(FAILED, "issue"))
    assert "vllm.version = 0.17.1\n" in environment
    assert "gpu.name = GB10  (inferred)\n" in environment
    assert "args." not in environment
    assert arguments.startswith("vllm serve ")
    assert "--max-model-len 32768" in arguments
    assert fences(render(LAUNCHED, "issue"))[1].startswith("docker run --gpus all -e VLLM_NVFP4_MOE_BACKEND=marlin")


def test_a_command_of_a_log_is_one_to_paste() -> None:
    boot = UNKNOWN.boots[0]
    told: dict[str, FactValue] = {"args": True, "args.model_tag": "acme/m o", "args.enforce_eager": True}
    told["args.speculative_config"] = '{"n": 3}'
    facts = {**boot.facts, **{key: Fact(key, value, 4) for key, value in told.items()}}
    made = fences(render(diagnosis(replace(boot, facts=facts)), "issue"))
    assert made[1].strip() == """vllm serve 'acme/m o' --enforce-eager --speculative-config '{"n": 3}'"""
    bare = {key: fact for key, fact in boot.facts.items() if not key.startswith(("args", "model."))}
    assert "### Command" not in render(diagnosis(replace(boot, facts=bare)), "issue")


def test_the_first_error_of_each_process() -> None:
    quoted = fences(render(FAILED, "issue"))[2:]
    assert ["illegal instruction" in quoted[0], "Engine core initialization" in quoted[1]] == [True, True]
    assert len(quoted) == 2
    assert quoted[0].startswith("    return self._op(*args, **kwargs)\ntorch.AcceleratorError: CUDA error")
    root = UNKNOWN.boots[0].findings[0]
    two = replace(root, evidence=(Evidence(9, "A", "later"), Evidence(3, "A", "earlier"), Evidence(5, "", "bare")))
    text = render(diagnosis(replace(UNKNOWN.boots[0], findings=(two,))), "issue")
    assert text.index("A, line 3") < text.index("process not named, line 5")
    assert "line 9" not in text


@pytest.mark.parametrize("name", CASES)
def test_log_text_stays_text(name: str) -> None:
    for token in tokens(render(CASES[name], "issue")):
        assert token.type not in ("html_block", "code_block", "blockquote_open")
        for child in token.children or []:
            assert child.type in ("text", "code_inline", "softbreak")
            assert child.type != "text" or not set(child.content) & set("@<>|`*$~&")


def test_never_longer_than_an_issue_takes() -> None:
    text = render(huge(2), "issue", options=RenderOptions(ascii=True))
    assert len(text) <= MAX_CHARACTERS
    assert text.isascii()
