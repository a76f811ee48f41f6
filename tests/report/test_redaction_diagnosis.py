"""A whole diagnosis: no planted secret survives in any text, and nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from logdoctor.model import (
    Basis,
    BootDiagnosis,
    Budget,
    BudgetPart,
    Confidence,
    Diagnosis,
    Evidence,
    Fact,
    Finding,
    Launch,
    PhaseSpan,
    Remedy,
    Role,
    Severity,
    Verdict,
)
from logdoctor.report.redaction import redact
from logdoctor.wording import Part, Worded
from tests.report.redaction_corpus import NAMED_PLACES, Secret, plants, secrets

CORPUS = secrets(2)
TEXT_FIELDS = [
    "summary", "source", "note", "launch.original", "launch.corrected", "launch.unknown", "launch.ready",
    "launch.applied", "launch.skipped", "boot.summary", "boot.service",
    "boot.note", "budget.name", "budget.note", "fact.value", "fact.tuple", "fact.process", "title", "cause",
    "verify", "conditional", "rank", "evidence.text", "evidence.process", "evidence.before", "evidence.after",
    "remedy.summary", "remedy.command", "remedy.condition",
]  # fmt: skip


def build(texts: Mapping[str, str]) -> Diagnosis:
    """A diagnosis with the given texts in the named fields and plain words in all others."""

    def at(name: str) -> str:
        return texts.get(name, f"plain {name}")

    evidence = Evidence(
        7, at("evidence.process"), at("evidence.text"), (at("evidence.before"),), (at("evidence.after"),)
    )
    finding = Finding(
        id="some-finding",
        title=at("title"),
        severity=Severity.FATAL,
        role=Role.ROOT_CAUSE,
        confidence=Confidence.LIKELY,
        basis=Basis.SOURCE,
        cause=at("cause"),
        phase="weights",
        evidence=(evidence,),
        ranks=(at("rank"),),
        remedies=(Remedy(at("remedy.summary"), "flag", at("remedy.command"), at("remedy.condition"), "some-finding"),),
        verify=at("verify"),
        conditional=(at("conditional"),),
        references=("https://internal.example.net/10.1.2.3",),
        fingerprint="7f3a91c2",
    )
    facts = {
        "args.x": Fact("args.x", at("fact.value"), 3, at("fact.process")),
        "args.list": Fact("args.list", (at("fact.tuple"), "two"), 4),
        "kv_cache.tokens": Fact("kv_cache.tokens", 4096, 5),
    }
    boot = BootDiagnosis(
        index=1,
        verdict=Verdict.FAILED,
        phase="weights",
        lines=(1, 9),
        summary=at("boot.summary"),
        facts=facts,
        findings=(finding,),
        timeline=(PhaseSpan("weights", 1, 9, "11-30 09:33:56", 1.5),),
        budget=Budget(121.7, 0.85, (BudgetPart(at("budget.name"), 69.5, 4),), at("budget.note")),
        notes=(at("boot.note"),),
        service=at("boot.service"),
    )
    launch = Launch(
        at("launch.original"),
        at("launch.corrected"),
        (at("launch.unknown"),),
        ready_command=at("launch.ready"),
        applied=(at("launch.applied"),),
        skipped=(at("launch.skipped"),),
    )
    return Diagnosis(
        Verdict.FAILED,
        at("summary"),
        (boot,),
        launch=launch,
        source=at("source"),
        notes=(at("note"),),
        tool_version="1.0",
    )


def texts_of(value: Any) -> Iterator[str]:
    """Every text anywhere in a diagnosis."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from texts_of(key)
            yield from texts_of(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from texts_of(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts_of(getattr(value, field.name))


def test_every_text_field_of_the_model_is_tried() -> None:
    """A new text in the model must be added to TEXT_FIELDS, or to what is the tool's own."""
    marked = build({name: f"field {name} /home/alice/x" for name in TEXT_FIELDS})
    found = [text for text in texts_of(marked) if "alice" in text]
    assert len(found) == len(TEXT_FIELDS)
    own = {"id", "phase", "key", "origin", "kind", "finding", "references", "explained_by", "fingerprint", "start"}
    own |= {"tool_version", "database_version", "redactions", "basis", "confidence", "role", "severity", "verdict"}
    texts = {
        "summary",
        "source",
        "notes",
        "original",
        "corrected",
        "unknown",
        "ready_command",
        "applied",
        "skipped",
        "name",
        "note",
        "value",
        "process",
        "title",
        "service",
    }
    texts |= {"cause", "verify", "conditional", "ranks", "text", "before", "after", "command", "condition"}
    numbers = {
        "with_previous",
        "line",
        "index",
        "lines",
        "count",
        "seconds",
        "gib",
        "total_gib",
        "utilization",
        "first_line",
        "last_line",
    }
    parts = {"boots", "leading", "launch", "facts", "findings", "timeline", "budget", "evidence", "remedies", "parts"}
    for model in (Diagnosis, BootDiagnosis, Finding, Evidence, Remedy, Fact, Launch, Budget, BudgetPart, PhaseSpan):
        assert {field.name for field in fields(model)} <= own | texts | numbers | parts, model


def test_user_is_hidden_in_every_field() -> None:
    result = redact(build({name: f"field {name} /home/alice/x" for name in TEXT_FIELDS}))
    assert not any("alice" in text for text in texts_of(result))
    assert sum("/home/<user-1>/x" in text for text in texts_of(result)) == len(TEXT_FIELDS)
    assert result.redactions == {"user": 1}


def test_nothing_to_hide_changes_nothing() -> None:
    plain = build({})
    assert redact(plain) == plain


def test_own_words_stay() -> None:
    finding = redact(build({})).boots[0].findings[0]
    assert finding.references == ("https://internal.example.net/10.1.2.3",)
    assert finding.fingerprint == "7f3a91c2"


def test_facts_are_secret_by_their_names() -> None:
    boot = build({}).boots[0]
    facts = {
        "args.api_key": Fact("args.api_key", ("abc", "def"), 1),
        "args.hf_token": Fact("args.hf_token", True, 1),
        "args.password": Fact("args.password", 12345678, 1),
        "env.DB_PASSWORD": Fact("env.DB_PASSWORD", "correct horse", 1),
        "env.USER": Fact("env.USER", "alice", 1),
        "env.MASTER_ADDR": Fact("env.MASTER_ADDR", "headnode", 1),
        "host.name": Fact("host.name", "workstation", 1),
        "args.host": Fact("args.host", "0.0.0.0", 1),
        "args.api_key_text": Fact("args.api_key", "['ghi', 'jkl']", 1),
        "args.max_tokens": Fact("args.max_tokens", "100", 1),
        "env.unknown": Fact("env.unknown", ("VLLM_API_KEY_FILE", "HF_TOKEN"), 1),
    }
    diagnosis = replace(build({}), boots=(replace(boot, facts=facts),))
    values = {key: fact.value for key, fact in redact(diagnosis).boots[0].facts.items()}
    assert values == {
        "args.api_key": ("<api-key-1>", "<api-key-2>"),
        "args.hf_token": True,
        "args.password": "<password-1>",
        "env.DB_PASSWORD": "<password-2>",
        "env.USER": "<user-1>",
        "env.MASTER_ADDR": "<host-1>",
        "host.name": "<host-2>",
        "args.host": "0.0.0.0",
        "args.api_key_text": "['<api-key-3>', '<api-key-4>']",
        "args.max_tokens": "100",
        "env.unknown": ("VLLM_API_KEY_FILE", "HF_TOKEN"),
    }
    kept = {key: fact.value for key, fact in redact(diagnosis, keep_hosts=True).boots[0].facts.items()}
    assert kept["host.name"] == "workstation"
    assert kept["args.password"] == "<password-1>"


def test_a_number_is_secret_by_the_last_word_of_its_key() -> None:
    boot = build({}).boots[0]
    facts = {
        key: Fact(key, value, 1)
        for key, value in {
            "args.api_key": 1234567, "x.y.password": 7654321, "password.count": 1234567, "args.port": 8000,
        }.items()
    }  # fmt: skip
    shown = redact(replace(build({}), boots=(replace(boot, facts=facts),))).boots[0].facts
    assert {key: fact.value for key, fact in shown.items()} == {
        "args.api_key": "<api-key-1>", "x.y.password": "<password-1>", "password.count": 1234567, "args.port": 8000,
    }  # fmt: skip
    assert shown["args.port"] is facts["args.port"]


def test_counts_are_added_to_those_of_an_earlier_redaction() -> None:
    text = "hf_QkZtRwPxLsVbNmYcHdGjKeUaTfZr at /home/alice/x"
    once = replace(build({"cause": text}), redactions={"user": 2, "email": 1})
    assert redact(once).redactions == {"email": 1, "hf-token": 1, "user": 3}
    assert list(redact(once).redactions) == ["email", "hf-token", "user"]


def test_hosts_are_hidden_unless_they_are_to_be_kept() -> None:
    assert redact(build({"cause": "peer 10.1.2.3"})).boots[0].findings[0].cause == "peer <private-ip-1>"
    assert redact(build({"cause": "peer 10.1.2.3"}), keep_hosts=True).boots[0].findings[0].cause == "peer 10.1.2.3"


def test_what_a_text_was_filled_with_is_learned_and_hidden() -> None:
    """The own words of the tool are kept in a text with parts, and what it was filled with is hidden elsewhere too."""
    cause = Worded((Part("The password is ", own=True), Part("Hunter2!x"), Part(" on host=gpu-box-17", own=True)))
    result = redact(build({"cause": cause, "note": "it said Hunter2!x", "summary": "and Hunter2!x"}))
    assert result.boots[0].findings[0].cause == "The password is <password-1> on host=gpu-box-17"
    assert result.notes == ("it said <password-1>",)
    assert result.summary == "and <password-1>"
    assert result.redactions == {"password": 1}


def test_hosts_in_facts_are_known_by_the_keys() -> None:
    hosts = (
        "host.name",
        "args.host",
        "args.node_name",
        "args.master_addr",
        "args.data_parallel_address",
        "a.b.hostname",
        "env.HOSTNAME",
    )
    facts = {key: Fact(key, "headnode", 1) for key in (*hosts, "args.seed", "env.seed")}
    boot = replace(build({}).boots[0], facts=facts)
    shown = redact(replace(build({}), boots=(boot,))).boots[0].facts
    assert {key: fact.value for key, fact in shown.items()} == {
        **dict.fromkeys(hosts, "<host-1>"), "args.seed": "headnode", "env.seed": "headnode",
    }  # fmt: skip


def test_a_fact_whose_key_tells_nothing_is_redacted_by_its_text() -> None:
    facts = {"args.x": Fact("args.x", "see /home/alice/x", 1), "env.X": Fact("env.X", "hf_QkZtRwPxLsVbNmYcHdGjKe", 1)}
    boot = replace(build({}).boots[0], facts=facts)
    shown = redact(replace(build({}), boots=(boot,))).boots[0].facts
    assert (shown["args.x"].value, shown["env.X"].value) == ("see /home/<user-1>/x", "<hf-token-1>")


def evidence_of(*pieces: Evidence) -> list[Evidence]:
    """The pieces of evidence, redacted in one finding."""
    diagnosis = build({})
    boot = diagnosis.boots[0]
    finding = replace(boot.findings[0], evidence=pieces)
    return list(redact(replace(diagnosis, boots=(replace(boot, findings=(finding,)),))).boots[0].findings[0].evidence)


def test_a_line_is_cut_after_it_was_redacted_where_it_was_cut_before() -> None:
    whole = Worded((Part("x " * 20 + "hf_QkZtRwPxLsVbNmYcHdGjKeUaTfZr", limit=50), Part("", own=True)))
    (shown,) = evidence_of(Evidence(7, "", whole))
    assert shown.text == ("x " * 20).rstrip() + "…"
    whole = Worded((Part("HF_TOKEN=hf_QkZtRwPxLs"), Part("VbNmYcHdGjKeUaTfZr")))
    (shown,) = evidence_of(Evidence(7, "", whole))
    assert shown.text == "HF_TOKEN=<hf-token-1>"
    (shown,) = evidence_of(Evidence(7, "", Worded((Part("word " * 20, limit=30),))))
    assert shown.text == "word word word word word word…"
    (shown,) = evidence_of(Evidence(7, "", Worded((Part("word " * 20), Part("end")))))
    assert shown.text == "word " * 20 + "end"


def test_lines_of_several_pieces_are_read_in_their_order() -> None:
    """The end of a secret is in the line after the first piece's context, which a later piece shows."""
    first = Evidence(20, "", "INFO x", (), ("args: {'api_key': ['sk-TESTSEC",))
    second = Evidence(23, "", "INFO y", ("RET-abc123'], 'port': 8000}",), ())
    far = Evidence(40, "", "RET-abc123 is no rest of it")
    shown = evidence_of(second, first, far)
    assert re.fullmatch(r"args: \{'api_key': \['<api-key-\d>", shown[1].after[0])
    assert shown[0].before == ("<api-key-1>'], 'port': 8000}",)
    assert (shown[0].text, shown[1].text) == ("INFO y", "INFO x")


def test_same_secret_same_placeholder_in_every_field() -> None:
    diagnosis = build(
        {
            "launch.original": "vllm serve m --api-key Abc123xyz789",
            "cause": "The server refused Abc123xyz789.",
            "evidence.text": "'api_key': ['Abc123xyz789']",
        }
    )
    result = redact(diagnosis)
    assert result.launch is not None
    assert result.launch.original == 'vllm serve m --api-key "$VLLM_API_KEY"'
    assert result.boots[0].findings[0].cause == "The server refused <api-key-1>."
    assert result.boots[0].findings[0].evidence[0].text == "'api_key': ['<api-key-1>']"
    assert result.redactions == {"api-key": 1}


def test_a_secret_cut_by_the_lines_of_the_evidence() -> None:
    diagnosis = build(
        {
            "evidence.before": "args: {'api_key': ['sk-TEST",
            "evidence.text": "SECRET-ab",
            "evidence.after": "c123'], 'port': 8000}",
        }
    )
    evidence = redact(diagnosis).boots[0].findings[0].evidence[0]
    assert evidence.before == ("args: {'api_key': ['<api-key-1>",)
    assert evidence.text == "<api-key-1>"
    assert evidence.after == ("<api-key-1>'], 'port': 8000}",)


def test_a_secret_cut_between_two_pieces_of_evidence() -> None:
    diagnosis = build({})
    boot = diagnosis.boots[0]
    first = Evidence(20, "", "args: {'api_key': ['sk-TESTSEC")
    second = Evidence(21, "", "RET-abc123'], 'port': 8000}")
    finding = replace(boot.findings[0], evidence=(first, second))
    result = redact(replace(diagnosis, boots=(replace(boot, findings=(finding,)),)))
    lines = [evidence.text for evidence in result.boots[0].findings[0].evidence]
    assert not any(part in "".join(lines) for part in ("TESTSEC", "RET-abc123"))
    assert lines[1].endswith("'], 'port': 8000}")


def test_multi_line_evidence_keeps_its_lines() -> None:
    diagnosis = build(
        {"evidence.before": "a\nb", "evidence.text": "HF_TOKEN=hf_aaaaaaaaaaaaaaaaaaaa\nINFO c", "evidence.after": "d"}
    )
    evidence = redact(diagnosis).boots[0].findings[0].evidence[0]
    assert (evidence.before, evidence.text, evidence.after) == (("a\nb",), "HF_TOKEN=<hf-token-1>\nINFO c", ("d",))


def test_hosts_are_kept_on_request() -> None:
    diagnosis = build({"evidence.text": "gpu-box:1:2 [0] NCCL INFO 10.0.0.1", "cause": "api_key=abc123def on gpu-box"})
    assert "gpu-box" not in "".join(texts_of(redact(diagnosis)))
    kept = redact(diagnosis, keep_hosts=True).boots[0].findings[0]
    assert kept.evidence[0].text == "gpu-box:1:2 [0] NCCL INFO 10.0.0.1"
    assert kept.cause == "api_key=<api-key-1> on gpu-box"


planted = st.sampled_from(CORPUS).flatmap(
    lambda secret: st.tuples(st.just(secret), st.sampled_from([text for _, text in plants(secret)]))
)


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(TEXT_FIELDS), planted, min_size=1, max_size=6), st.booleans())
def test_no_planted_secret_survives(chosen: dict[str, tuple[Secret, str]], keep_hosts: bool) -> None:
    diagnosis = build({name: text for name, (_, text) in chosen.items()})
    result = redact(diagnosis, keep_hosts=keep_hosts)
    everything = "\n".join(texts_of(result))
    for secret, text in chosen.values():
        assert not [fragment for fragment in secret.fragments if fragment in everything], text
    assert redact(result, keep_hosts=keep_hosts) == result
    assert sum(result.redactions.values()) >= 1


@settings(max_examples=60)
@given(st.sampled_from([secret for secret in CORPUS if secret.family != "word"]), st.sampled_from(TEXT_FIELDS))
def test_a_named_secret_is_hidden_where_nothing_names_it(secret: Secret, elsewhere: str) -> None:
    """What the launch command reveals is hidden in every other field, in whatever words."""
    if elsewhere == "launch.original" or secret.family == "passphrase":
        return
    texts = {"launch.original": NAMED_PLACES["command line"](secret.text), elsewhere: f"it said {secret.text} there"}
    assert secret.text not in "\n".join(texts_of(redact(build(texts))))
