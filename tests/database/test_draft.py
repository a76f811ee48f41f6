"""A draft is valid YAML, matches what it was drafted from, and is not taken for finished."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.database import load_database
from logdoctor.database.draft import (
    Unrecognised,
    draft_signature,
    propose_file,
    propose_id,
    propose_pattern,
    raised_in,
)
from logdoctor.database.entries import read_entries
from logdoctor.database.lint import lint_signatures
from logdoctor.database.literals import literal_core
from logdoctor.database.schema import Signature, signature_from_dict
from logdoctor.model import Severity
from tests.database.build import any_of, signature

MESSAGE = (
    "ValueError: The model's max seq len (262144) is larger than the maximum number of tokens that can be stored "
    "in KV cache (45056). Look at '/models/x/config.json'."
)


def drafted(failure: Unrecognised, taken: tuple[str, ...] = ()) -> Signature:
    entries, issues = read_entries(draft_signature(failure, taken), "draft.yaml")
    assert issues == []
    return signature_from_dict(entries[0])


def test_a_draft_says_what_the_log_tells() -> None:
    failure = Unrecognised(MESSAGE, ["Traceback:", '  File "x.py"', MESSAGE], "kv-cache", "0.17.1", "ERROR", "engine")
    text = draft_signature(failure, file="signatures/memory.yaml")
    made = drafted(failure)
    assert text.startswith("# Put this into signatures/memory.yaml, answer every TODO")
    assert "Seen in vLLM 0.17.1." in text
    assert "from: [engine]" in text
    assert (made.id, made.phase.value) == ("model-max-seq-len-larger", "kv-cache")
    assert made.match is not None
    assert made.match.any[0].level == ("ERROR", "CRITICAL", "")
    assert regex.search(made.match.any[0].pattern, MESSAGE)
    assert made.examples.match[0].log == f'Traceback:\n  File "x.py"\n{MESSAGE}'


def test_a_draft_is_not_finished() -> None:
    rules = {issue.rule for issue in lint_signatures([drafted(Unrecognised(MESSAGE, [MESSAGE]))])}
    assert "unfinished" in rules
    assert "pattern" not in rules


def test_the_pattern_matches_the_same_failure_with_other_numbers() -> None:
    pattern, core = propose_pattern(MESSAGE)
    assert core == ") is larger than the maximum number of tokens that can be stored in KV cache ("
    other = MESSAGE.replace("262144", "8192").replace("45056", "96").replace("/models/x/config.json", "/y/config.json")
    assert regex.search(pattern, other)
    assert any(core in literal for literal in literal_core(pattern))


@pytest.mark.parametrize("message", ["", "KeyError: 'foo'", "RuntimeError: 12", "1 2 3 4 5 6 7 8 9", "short"])
def test_a_message_without_fixed_text_leaves_it_to_a_person(message: str) -> None:
    assert propose_pattern(message) == ("", "")
    made = drafted(Unrecognised(message, [message]))
    assert made.match is not None
    assert made.match.any[0].literal.startswith("TODO")


@pytest.mark.parametrize(
    ("message", "slug"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "cuda-out-memory-tried-allocate"),
        ("NCCL watchdog thread terminated", "nccl-watchdog-thread-terminated"),
        ("KeyError: 'x'", "unknown-failure"),
        ("12", "unknown-failure"),
        ("", "unknown-failure"),
    ],
)
def test_an_id_is_made_of_telling_words(message: str, slug: str) -> None:
    assert propose_id(message) == slug
    assert propose_id(message, {slug, f"{slug}-2"}) == f"{slug}-3"


def test_the_file_is_the_one_with_most_entries_of_the_phase() -> None:
    entries = [
        signature(id="a", file="signatures/b.yaml", severity=Severity.FATAL, match=any_of("some words")),
        signature(id="b", file="signatures/a.yaml", severity=Severity.FATAL, match=any_of("some words")),
        signature(id="c", file="signatures/c.yaml", severity=Severity.FATAL, match=any_of("some words")),
        signature(id="d", file="signatures/c.yaml", severity=Severity.FATAL, match=any_of("some words")),
    ]
    assert propose_file(entries, "kv-cache") == "signatures/c.yaml"
    assert propose_file(entries[:2], "kv-cache") == "signatures/a.yaml"
    assert propose_file(entries, "serving") == "signatures/YOUR-SUBJECT.yaml"


_LINE = st.text(max_size=60)
_WORDY = st.lists(
    st.sampled_from(
        ["cannot allocate", " 12.5 ", "'a b'", "(x)", "/a/b.c", "0xdeadbeef", "[9]", "\n", "it's ", "é", "<r>"]
    ),
    max_size=12,
).map("".join)


@given(st.one_of(_LINE, _WORDY), st.lists(_LINE, max_size=6), _LINE, _LINE)
def test_every_draft_can_be_read_and_matches(message: str, lines: list[str], version: str, level: str) -> None:
    made = drafted(Unrecognised(message, lines, version, version, level, level))
    assert made.match is not None
    item = made.match.any[0]
    if item.pattern:
        assert regex.search(item.pattern, message, regex.MULTILINE), (item.pattern, message)
        assert literal_core(item.pattern)


@pytest.mark.parametrize(
    ("phase", "source", "file"),
    [
        ("weights", "/usr/lib/python3/dist-packages/vllm/model_executor/model_loader/weight_utils.py", "model-files"),
        ("weights", "vllm/model_executor/layers/quantization/modelopt.py", "quantization"),
        ("weights", "acme_plugin/quant/hyperq.py", "quantization"),
        ("weights", "safetensors/torch.py", "model-files"),
        ("kv-cache", "vllm/v1/core/kv_cache_utils.py", "kv-cache"),
        ("distributed", "vllm/distributed/parallel_state.py", "distributed"),
        ("config", "vllm/tool_parsers/of_tomorrow.py", "parsers"),
        ("config", "vllm/reasoning/of_tomorrow.py", "parsers"),
        ("config", "", "config"),
        ("compile", "torch/_inductor/compile_fx.py", "compile"),
        ("command-line", "", "command-line"),
    ],
)
def test_the_file_is_that_of_the_source_that_raised_it(phase: str, source: str, file: str) -> None:
    assert propose_file(load_database().signatures, phase, source) == f"signatures/{file}.yaml"


def test_where_a_failure_was_raised() -> None:
    frames = ['  File "/a/b.py", line 3, in f', "    x()", '  File "/a/c.py", line 9, in g', "    y()", "ValueError: x"]
    assert raised_in(frames) == "/a/c.py"
    assert raised_in(["(EngineCore pid=1) ERROR 11-30 10:00:00 [core.py:12] it broke"]) == "core.py"
    assert raised_in(["it broke"]) == raised_in([]) == ""
