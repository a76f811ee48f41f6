"""Every mistake in a file is named with its line, and no input does more than be refused."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.database.entries import ENTRY_KEYS, read_entries
from logdoctor.database.schema import LEVELS, REMEDY_KINDS, ROLES, Kind, signature_from_dict
from logdoctor.model import Basis, Confidence, Phase, Severity

MINIMAL = """\
- id: kv-too-small
  title: KV cache holds less than one request
  severity: fatal
  phase: kv-cache
  match: {any: [{literal: "cannot hold one request"}]}
  cause: The context length needs more than is left.
  confidence: certain
  basis: source
"""

FULL = """\
# a comment
- id: kv-too-small
  title: "KV cache holds {have|less} of {need}"
  severity: fatal
  kind: cascade
  harmless: false
  general: true
  phase: kv-cache
  vllm: ">=0.8.5,<0.20"
  match:
    any:
      - pattern: 'needs (?P<need>[\\d.]+) GiB of KV cache'
        level: [ERROR, none]
        not_level: [DEBUG]
        from: [engine, none]
    none:
      - literal: "  kept as written "
  when: {gpu.compute_capability: [12.0, "12.1"], vllm.version: 0.10, args.enforce_eager: true, args.seed: 3}
  when_known: {boot.failed: true, model.name: no}
  cause: >-
    Two lines
    become one.
  consequence_of: [other-one]
  suppresses: [third-one]
  remedies:
    - summary: Lower the context length
      flag: "--max-model-len {need}"
      vllm: ">=0.17"
      when: {model.moe: true}
      not_when: {model.hybrid: true}
      conflicts_with: ["--enforce-eager"]
    - summary: Think again
  undecided_with: [another-cause]
  decide: nvidia-smi
  decided_when: it lists a process
  verify: The next start prints it
  wrong_when: Never
  confidence: likely
  basis: field-report
  references: [a/b.py, 12]
  examples:
    match:
      - |
        first line
          second line
      - {log: "x y", facts: {gpu.count: 2, gpu.name: GB10, env.unknown: [A, B]}}
    no_match: ["z"]
"""


def complaints(text: str) -> list[str]:
    return [str(issue) for issue in read_entries(textwrap.dedent(text), "s.yaml")[1]]


def test_an_entry_becomes_a_signature() -> None:
    entries, issues = read_entries(FULL, "s.yaml")
    assert issues == []
    made = signature_from_dict(entries[0])
    assert (made.id, made.file, made.line, made.place) == ("kv-too-small", "s.yaml", 2, "s.yaml:2")
    assert (made.severity, made.phase, made.kind) == (Severity.FATAL, Phase.KV_CACHE, Kind.CASCADE)
    assert (made.confidence, made.basis, made.general) == (Confidence.LIKELY, Basis.FIELD_REPORT, True)
    assert made.cause == "Two lines become one."
    assert made.match is not None
    item = made.match.any[0]
    assert (item.level, item.not_level, item.roles) == (("ERROR", ""), ("DEBUG",), ("engine", ""))
    assert made.match.none[0].literal == "  kept as written "
    assert made.match.positive == made.match.any
    assert made.remedies[0].kind == "flag"
    assert made.remedies[0].value == "--max-model-len {need}"
    assert (made.remedies[1].kind, made.remedies[1].value) == ("advice", "")
    assert made.references == ("a/b.py", "12")
    assert (made.undecided_with, made.decide) == (("another-cause",), "nvidia-smi")
    assert made.decided_when == "it lists a process"
    assert [example.log for example in made.examples.match] == ["first line\n  second line", "x y"]
    assert made.examples.match[1].facts == {"gpu.count": 2, "gpu.name": "GB10", "env.unknown": ("A", "B")}
    assert "--max-model-len {need}" in made.texts()


def test_plain_words_and_versions_stay_what_was_written() -> None:
    made = signature_from_dict(read_entries(FULL, "s.yaml")[0][0])
    assert made.when["vllm.version"] == "0.10"
    assert made.when["gpu.compute_capability"] == ("12.0", "12.1")
    assert made.when["args.enforce_eager"] is True
    assert made.when["args.seed"] == 3
    assert made.when_known["model.name"] == "no"


def test_the_plain_form_is_json() -> None:
    import json

    entries = read_entries(FULL, "s.yaml")[0]
    again = json.loads(json.dumps(entries))
    assert [signature_from_dict(entry) for entry in again] == [signature_from_dict(entry) for entry in entries]


def test_every_documented_key_is_read() -> None:
    entry = read_entries(FULL, "s.yaml")[0][0]
    assert set(ENTRY_KEYS) == set(entry) - {"file", "line"}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("severity: fatal", "severity: bad"), "s.yaml:3: severity: 'bad' is not one of info, warning, error, fatal"),
        (("phase: kv-cache", "phase: kv"), "s.yaml:4: phase: 'kv' is not one of launch, command-line,"),
        (("id: kv-too-small", "id: KV_small"), "s.yaml:1: id: 'KV_small' is not a slug"),
        (
            ("basis: source", "basis: source\n  titel: x"),
            "s.yaml:9: titel: unknown key in an entry; did you mean title?",
        ),
        (("basis: source", "basis: source\n  id: x"), "s.yaml:9: id: stands twice"),
        (("  basis: source\n", ""), "s.yaml:1: an entry lacks basis"),
        (("cause: The", "cause: # The"), "s.yaml:6: cause is empty"),
        (("cause: The", "cause: ['The']  # "), "s.yaml:6: cause must be text"),
        (("cause: The", "cause: !!python/name:os.system The"), "s.yaml:6: cause must be text"),
        (("match: {any: [{lit", "harmless: yes\n  match: {any: [{lit"), "s.yaml:5: harmless must be true or false"),
        (("phase", "harmless: true\n  phase"), "s.yaml:1: kv-too-small: a harmless entry must have severity info"),
        (("match:", "vllm: above 3\n  match:"), "s.yaml:5: vllm: 'above 3' is not a"),
        (("match:", "vllm: '>=0.8,<'\n  match:"), "s.yaml:5: vllm: '>=0.8,<' is not a"),
        (('literal: "c', 'pattern: "(c'), "s.yaml:5: pattern: not a valid regular expression: missing )"),
        (
            ('{literal: "c', '{pattern: a, literal: "c'),
            "s.yaml:5: an item of any needs a pattern or a literal, and not",
        ),
        (('{literal: "cannot hold one request"}', "{level: [ERROR]}"), "s.yaml:5: an item of any needs a pattern or"),
        (('{literal: "cannot hold one request"}', ""), "s.yaml:5: any is an empty list"),
        (('"}]', '", level: [error]}]'), "s.yaml:5: level: 'error' is not one of DEBUG,"),
        (('"}]', '", from: [gpu]}]'), "s.yaml:5: from: 'gpu' is not one of api,"),
        (('"}]', '", from: engine}]'), "s.yaml:5: from must be a list"),
        (("  match: {any: [{literal", "  # {"), "s.yaml:1: kv-too-small: needs match, or when / when_known"),
        (("cause", "when: {gpu name: x}\n  cause"), "s.yaml:6: when: 'gpu name' is not a fact key"),
        (("cause", "when: {gpu.name: []}\n  cause"), "s.yaml:6: when: gpu.name has an empty list"),
        (("cause", 'when: {gpu.name: "~("}\n  cause'), "s.yaml:6: gpu.name: not a valid regular expression"),
        (("cause", "remedies: [{flag: -x}]\n  cause"), "s.yaml:6: a remedy lacks summary"),
        (
            ("cause", "remedies: [{summary: a, flag: --x, env: A=1}]\n  cause"),
            "s.yaml:6: a remedy is one change, not flag and env",
        ),
        (("cause", "examples: {match: [{}]}\n  cause"), "s.yaml:6: an example needs log or facts"),
        (("cause", "examples: [a]\n  cause"), "s.yaml:6: examples must be a mapping"),
        (("cause: The", "consequence_of: [&a b-c, *a]\n  cause: The"), "s.yaml:6: anchors and aliases"),
        (("cause: The", "'oops\n  cause: The"), "s.yaml:"),
    ],
)
def test_a_mistake_is_named_with_its_line(change: tuple[str, str], complaint: str) -> None:
    text = MINIMAL.replace(*change, 1)
    assert text != MINIMAL
    entries, issues = read_entries(text, "s.yaml")
    assert entries == []
    assert any(str(issue).startswith(complaint) for issue in issues), list(map(str, issues))


def test_all_mistakes_of_all_entries_come_at_once() -> None:
    broken = MINIMAL.replace("fatal", "bad").replace("  basis: source\n", "")
    text = broken + MINIMAL.replace("kv-too-small", "sound") + broken
    entries, issues = read_entries(text, "s.yaml")
    assert [entry["id"] for entry in entries] == ["sound"]
    assert [issue.line for issue in issues] == [1, 3, 16, 18]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1", "s.yaml:1: the file must be a list"),
        ("- a", "s.yaml:1: an entry must be a mapping (key: value)"),
        ("- id: x\n---\n- id: y", "s.yaml:2: not valid YAML: but found another document"),
        ("- id: [x\n", "s.yaml:2: not valid YAML: did not find expected"),
        ("- id: x\n- \x07", "s.yaml:2: not valid YAML: control characters are not allowed"),
        ("[" * 100_000, "s.yaml:1: "),
        ("- {? [a] : b}", "s.yaml:1: an entry: a key must be a plain word"),
    ],
)
def test_what_is_no_list_of_entries_is_refused(text: str, complaint: str) -> None:
    entries, issues = read_entries(text, "s.yaml")
    assert entries == []
    assert str(issues[0]).startswith(complaint), str(issues[0])


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = ["- &a0 {id: x}"] + [f"- &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    entries, issues = read_entries("\n".join(lines), "s.yaml")
    assert entries == []
    assert len(issues) < 200


def test_an_empty_file_has_no_entries() -> None:
    assert read_entries("# nothing yet\n", "s.yaml") == ([], [])


def test_disabled_entries_hold_nothing_else() -> None:
    entries, issues = read_entries("- id: a-b\n  disabled: true\n", "s.yaml")
    assert issues == []
    assert entries == [{"id": "a-b", "disabled": True, "file": "s.yaml", "line": 1}]
    assert complaints("- id: a-b\n  disabled: true\n  title: x\n") == [
        "s.yaml:3: title: unknown key in a disabled entry"
    ]
    assert complaints("- id: a-b\n  disabled: false\n") == ["s.yaml:2: disabled: false says nothing; leave it out"]


_SCALARS = st.sampled_from(["a", "true", "12", "1.5", "~", "", "[]", "{}", "*x", "&x y", "!!int 3", "[a, b]", "{a: b}"])


@given(st.dictionaries(st.sampled_from([*ENTRY_KEYS, "disabled", "x"]), _SCALARS, max_size=8))
def test_any_mapping_is_read_or_refused(pairs: dict[str, str]) -> None:
    text = "-\n" + "".join(f"  {key}: {value}\n" for key, value in pairs.items())
    entries, issues = read_entries(text, "s.yaml")
    assert bool(issues) != bool(entries)
    for entry in entries:
        if "disabled" not in entry:
            signature_from_dict(entry)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    entries, issues = read_entries(text, "s.yaml")
    assert not (entries and issues)
    assert all(issue.line >= 1 for issue in issues)


def test_the_guide_names_every_key_and_value() -> None:
    guide = (Path(__file__).resolve().parents[2] / "signatures" / "README.md").read_text("utf-8")
    values = [value.value for words in (Severity, Kind, Phase, Confidence, Basis) for value in words]
    missing = [word for word in (*ENTRY_KEYS, *REMEDY_KINDS, *LEVELS, *ROLES, *values) if f"`{word}`" not in guide]
    assert missing == []
