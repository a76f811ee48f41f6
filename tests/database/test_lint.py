"""Lint finds what the schema cannot see, and stays silent on what is sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from logdoctor.database import lint, lint_patterns
from logdoctor.database.fact_keys import KEYS, is_fact_key, nearest
from logdoctor.database.lint import lint_directory, lint_signatures
from logdoctor.database.lint_remedies import Mention, mentions, remedy_versions
from logdoctor.database.schema import Example, Examples, MatchBlock, MatchItem, RemedySpec, Signature
from logdoctor.model import Basis, Severity
from tests.database.build import any_of, signature


def found(*signatures: Signature) -> list[tuple[str, str]]:
    return [(issue.rule, issue.what) for issue in lint_signatures(signatures)]


def test_a_sound_signature_has_no_issue() -> None:
    assert found(signature()) == []


def test_an_issue_names_file_line_and_id() -> None:
    issue = lint_signatures([signature(suppresses=("gone",))])[0]
    assert str(issue) == "signatures/memory.yaml:7: kv-too-small: suppresses names gone, which does not exist"


@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"consequence_of": ("gone",)}, "unknown-id", "consequence_of names gone, which does not exist"),
        ({"suppresses": ("kv-too-small",)}, "unknown-id", "names the entry itself"),
        ({"undecided_with": ("gone",)}, "unknown-id", "undecided_with names gone, which does not exist"),
        ({"title": "Needs {needed}"}, "placeholder", "{needed} is neither a capture nor a fact"),
        ({"cause": "On {gpu.nam} there is too little memory for it."}, "placeholder", "did you mean gpu.name?"),
        ({"verify": "It says {need }"}, "placeholder", "{need } looks like a placeholder"),
        (
            {"match": any_of(r"needs (?P<need>\d+) GiB of KV", "no GiB of KV"), "title": "Needs {need}"},
            "placeholder",
            "{need} is not set by every alternative",
        ),
        (
            {"match": any_of(r"needs (?:(?P<need>\d+) )?GiB of KV"), "title": "Needs {need}"},
            "placeholder",
            "{need} is not set by every alternative",
        ),
        ({"when": {"gpu.compute": "12.1"}}, "unknown-fact", "when: gpu.compute is not a fact"),
        ({"when_known": {"args.max_model_length": 1}}, "unknown-fact", "no vLLM release has such an argument"),
        (
            {"examples": Examples((Example("a", {"gpu.nane": "x"}),), (Example("b"),))},
            "unknown-fact",
            "examples: gpu.nane is not a fact; did you mean gpu.name?",
        ),
        ({"title": "x" * 101}, "length", "title has 101 characters, 100 are allowed"),
        ({"cause": "word " * 121}, "length", "cause has 605 characters"),
        ({"remedies": (RemedySpec("x" * 201),)}, "length", "a remedy's summary has 201"),
        ({"cause": "The flag `--x` takes more memory than the card has left."}, "markdown", "no Markdown"),
        ({"cause": "The KV cache holds less than one request needs."}, "cause", "only repeats"),
        ({"examples": Examples((Example("a"),))}, "examples", "at least one example under no_match"),
        ({"examples": Examples((), (Example("a"),))}, "examples", "at least one example under match"),
        ({"examples": Examples((Example("a"),), (Example("a"),))}, "examples", "under match and no_match"),
        ({"references": ()}, "references", "basis source needs a reference"),
        ({"severity": Severity.FATAL}, "no-remedy", "a cause of severity fatal needs a remedy"),
        ({"title": "TODO: say it"}, "unfinished", "is not finished: 'TODO: say it'"),
        ({"match": any_of(r"core (\d+) gone (\d+)")}, "pattern", "literal core of 8 characters, it has"),
        ({"match": any_of(r"\d+")}, "pattern", "it has none"),
        ({"match": any_of(r"(?:a lot of text )?short")}, "pattern", "literal core"),
        ({"match": any_of("long enough text|short")}, "pattern", "literal core"),
        ({"match": any_of(r"long enough text{e<=1}")}, "pattern", "cannot follow"),
        ({"match": any_of(r"long enough (?:text\s*)+")}, "pattern", "unbounded repetition inside another"),
        ({"match": any_of(r"long enough text at core\.py:12")}, "pattern", "never match file:line numbers"),
        ({"match": any_of(r"\(EngineCore pid=\d+\) long enough text")}, "pattern", "prefix of a line"),
        ({"match": MatchBlock(any=(MatchItem(literal="short"),))}, "pattern", "a literal needs 8 characters"),
        ({"match": MatchBlock(none=(MatchItem(pattern="ab"),))}, "pattern", "literal core"),
        ({"match": any_of("some long text", "some long text")}, "duplicate-pattern", "the same text twice"),
        ({"vllm": ">=9.9"}, "remedy-version", "no release lies in >=9.9"),
    ],
)
def test_a_fault_is_found(changes: dict[str, object], rule: str, words: str) -> None:
    issues = found(signature(**changes))
    assert any(name == rule and words in what for name, what in issues), issues


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Needs {need}, holds {kv_cache.tokens|less} on {env.CUDA_VISIBLE_DEVICES|one GPU}"},
        {"match": any_of(r"needs (?P<need>\d+) GiB of KV", "no GiB of KV"), "title": "Needs {need|more}"},
        {"match": any_of(r"there is a (?P<v>\d+) here", r"there was no (?P<v>\w+) here"), "title": "Has {v}"},
        {"verify": 'Ask docker inspect -f {{.State.ExitCode}}, or set {"mode": 3}'},
        {"references": (), "basis": Basis.FIELD_REPORT},
        {"when_known": {"args.max_model_len": ">=4096", "boot.failed": True}},
        {"title": "Some {nvfp4.moe_backend|CUTLASS} or {kv_cache.tokens|none} or {kv_cache.tokens|none} fits a page"},
        {"match": None, "when_known": {"model.moe": True}},
        {"consequence_of": ("other",), "suppresses": ("other",)},
    ],
)
def test_what_is_sound_passes(changes: dict[str, object]) -> None:
    other = signature(id="other", match=any_of("a text of its own"))
    assert found(signature(**changes), other) == []


def test_two_entries_may_not_look_for_the_same_text() -> None:
    one, two = signature(), signature(id="other", line=30)
    assert [what for _, what in found(one, two)] == [
        "kv-too-small: looks for the same text as other (signatures/memory.yaml:30): "
        + repr(r"needs (?P<need>[\d.]+) GiB of KV cache"),
        "other: looks for the same text as kv-too-small (signatures/memory.yaml:7): "
        + repr(r"needs (?P<need>[\d.]+) GiB of KV cache"),
    ]
    assert found(one, signature(id="other", suppresses=("kv-too-small",))) == []
    assert found(one, signature(id="other", when={"gpu.name": "GB10"})) == []
    level = any_of(r"needs (?P<need>[\d.]+) GiB of KV cache", level=("ERROR",))
    assert found(one, signature(id="other", match=level)) == []


def test_entries_may_not_explain_each_other() -> None:
    text = any_of("a text of its own")
    one = signature(consequence_of=("other",))
    two = signature(id="other", match=text, consequence_of=("kv-too-small",))
    assert {rule for rule, _ in found(one, two)} == {"circle"}


def test_a_catastrophic_pattern_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_patterns, "HOSTILE_SECONDS", 0.05)
    slow = r"long enough text(?:a|a){1,4000}!"
    assert lint_patterns.is_slow(slow)
    assert ("pattern", "kv-too-small: takes over 0.05 s on a hostile text of 4000 characters: " + repr(slow)) in found(
        signature(match=any_of(slow))
    )
    assert not lint_patterns.is_slow(r"needs (?P<need>[\d.]+) GiB of KV cache")


# --- remedies and versions --------------------------------------------------------------------------------------------


def remedy_issues(remedy: RemedySpec, **changes: object) -> list[str]:
    issues = found(signature(remedies=(remedy,), **changes))
    return [what.removeprefix("kv-too-small: ") for rule, what in issues if rule == "remedy-version"]


MARLIN = RemedySpec("Marlin for the experts", "flag", "--moe-backend marlin")


def test_a_flag_must_exist_in_every_release_of_the_range() -> None:
    assert remedy_issues(MARLIN, vllm=">=0.17") == []
    assert remedy_issues(RemedySpec("x y", "flag", "--moe-backend marlin", vllm=">=0.17")) == []
    assert remedy_issues(RemedySpec("x y", "flag", "--moe-backend marlin", when={"vllm.version": ">=0.17"})) == []
    assert remedy_issues(MARLIN, vllm=">=0.15")[0].startswith("--moe-backend is not in 0.15.0 … 0.16.0 (3 releases)")
    assert remedy_issues(MARLIN)[0].startswith("--moe-backend is not in 0.8.5 … 0.16.0")


def test_a_value_must_exist_too() -> None:
    remedy = RemedySpec("x y", "flag", "--moe-backend marlyn", vllm=">=0.17")
    assert remedy_issues(remedy)[0].startswith("--moe-backend does not take marlyn in 0.17.0 … ")
    assert remedy_issues(RemedySpec("x y", "flag", "--moe-backend {moe}", vllm=">=0.17")) == []


def test_a_variable_must_exist() -> None:
    remedy = RemedySpec("x y", "env", "VLLM_NVFP4_GEMM_BACKEND=marlin", vllm=">=0.17")
    assert "VLLM_NVFP4_GEMM_BACKEND is not in" in remedy_issues(remedy)[0]
    assert remedy_issues(RemedySpec("x y", "env", "VLLM_NO_SUCH=1")) == ["VLLM_NO_SUCH exists in no vLLM release"]
    assert remedy_issues(RemedySpec("x y", "env", "HF_HUB_OFFLINE=1")) == []


def test_what_is_removed_need_not_exist() -> None:
    assert remedy_issues(RemedySpec("Remove VLLM_NVFP4_MOE_BACKEND", "remove", "VLLM_NVFP4_MOE_BACKEND=marlin")) == []
    assert remedy_issues(RemedySpec("Remove --moe-backend", "remove", "--moe-backend")) == []


def test_the_summary_is_checked_for_flags_that_vllm_knows() -> None:
    assert "--moe-backend is not in" in remedy_issues(RemedySpec("Set --moe-backend marlin"))[0]
    assert remedy_issues(RemedySpec("Start docker with --gpus all and --shm-size 8g")) == []


def test_the_form_of_what_is_typed() -> None:
    assert remedy_issues(RemedySpec("x y", "flag", "moe-backend x")) == [
        "flag: 'moe-backend x' does not begin with a flag"
    ]
    assert remedy_issues(RemedySpec("x y", "env", "HF_HUB_OFFLINE")) == ["env: 'HF_HUB_OFFLINE' is not NAME=VALUE"]


def test_a_remedy_needs_a_release() -> None:
    remedy = RemedySpec("Go back", vllm="<0.10")
    assert remedy_issues(remedy, vllm=">=0.17") == ["no release has both this entry and the remedy 'Go back'"]


def test_the_versions_of_a_remedy() -> None:
    entry = signature(vllm=">=0.15,<0.20", when={"vllm.version": "!=0.16.0"})
    remedy = RemedySpec(
        "x", vllm=">=0.16", when={"vllm.version": (">=0.18", "0.17.0")}, not_when={"vllm.version": "0.18.1"}
    )
    assert [str(version) for version in remedy_versions(entry, remedy)] == ["0.17.0", "0.18.0", "0.19.0", "0.19.1"]


def test_mentions() -> None:
    text = 'Use --moe-backend=marlin, VLLM_X=1. or --compilation-config {"a": 1} --enforce-eager; not -v'
    assert mentions(text) == (
        Mention("--moe-backend", "marlin"),
        Mention("--compilation-config"),
        Mention("--enforce-eager"),
        Mention("VLLM_X", "1"),
    )


# --- facts and directories --------------------------------------------------------------------------------------------


def test_fact_keys() -> None:
    assert {"vllm.version", "platform", "args", "boot.failed"} < KEYS
    assert all(map(is_fact_key, KEYS))
    assert is_fact_key("args.max_model_len")
    assert is_fact_key("env.VLLM_USE_V1")
    assert is_fact_key("env.unknown")
    assert not is_fact_key("args.max-model-len")
    assert not is_fact_key("gpu")
    assert nearest("gpu.compute_capabilty") == "gpu.compute_capability"
    assert nearest("zzz") == ""


def test_every_check_says_what_it_is_for() -> None:
    assert all(check.__doc__ for check in lint.CHECKS.values())


def test_a_directory_reports_schema_and_checks_together(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    sound = """\
- id: own-entry
  title: A failure of our own plugin
  severity: error
  phase: serving
  match: {any: [{literal: "our own plugin broke"}]}
  cause: The plugin of our company cannot reach its database.
  confidence: certain
  basis: field-report
  consequence_of: [no-such-id]
"""
    for name, text in (("a.yaml", sound), ("b.yaml", "- id: X\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o644)
    rules = [(Path(issue.file).name, issue.line, issue.rule) for issue in lint_directory(tmp_path)]
    assert ("a.yaml", 1, "unknown-id") in rules
    assert ("a.yaml", 1, "examples") in rules
    assert ("b.yaml", 1, "schema") in rules


def test_two_rivals_must_both_say_what_decides() -> None:
    first = signature(undecided_with=("other",), decide="nvidia-smi", decided_when="it lists a process")
    other = signature(id="other", match=any_of("another text of eight letters"))
    assert ("undecided", "kv-too-small: undecided_with names other, which does not say decided_when") in found(
        first, other
    )
    assert found(first, signature(id="other", match=other.match, decided_when="it lists none")) == []


def test_rivals_do_not_explain_each_other() -> None:
    first = signature(undecided_with=("other",), decide="nvidia-smi", decided_when="it lists a process")
    other = signature(
        id="other", match=any_of("another text of eight letters"), decided_when="x", suppresses=(first.id,)
    )
    assert any(rule == "undecided" and "explains or drops" in what for rule, what in found(first, other))
