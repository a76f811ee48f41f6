"""Diagnoses of any content, for properties: hostile text in every place that holds text."""

from __future__ import annotations

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
    Phase,
    PhaseSpan,
    Remedy,
    Role,
    Severity,
    Verdict,
)

_PIECES = (
    "```", "````", "~~~", "\n", "\r", "\t", "  ", "|", "@user", "#12", "GH-3", "a/b#4", "<b>", "</details>", "<!--",
    "[x](http://y)", "![x](y)", "https://a.b/c", "www.a.b", "::error::", "##[group]", "\x1b[31m", "\x9b", "\u202e",
    "\u200b", "\ud800", "\ufeff", "[bold]", "[/]", "&lt;", "*", "_", "$x$", ":tada:", "- ", "1. ", "# ", "===", "> ",
    "`", "\\", "\x00", "0123abcdef0", "漢字", "é", "%", "{0}", "{line}", "FATAL x line 1: y", "x" * 300,
)  # fmt: skip

texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.lists(st.sampled_from(_PIECES), max_size=8).map("".join),
)
slugs = st.from_regex(r"[a-z][a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
fingerprints = st.from_regex(r"[0-9a-f]{8}", fullmatch=True)
lines = st.integers(0, 10**9)
numbers = st.one_of(st.floats(), st.floats(0, 1e4))
some_texts = st.lists(texts, max_size=3).map(tuple)
phases = st.one_of(st.sampled_from([phase.value for phase in Phase]), texts)

facts = st.builds(
    Fact,
    texts,
    st.one_of(texts, st.integers(), numbers, st.booleans(), some_texts),
    lines,
    texts,
    st.sampled_from(["log", "given", "launch", "inferred", "elsewhere"]),
)
known_facts = st.dictionaries(
    st.one_of(
        st.sampled_from(["vllm.version", "model.name", "gpu.name", "kv_cache.tokens", "start.seconds", "gpu.count"]),
        texts,
    ),
    facts,
    max_size=5,
)
evidence = st.builds(Evidence, lines, texts, texts, some_texts, some_texts)
remedies = st.builds(
    Remedy,
    texts,
    st.sampled_from(["flag", "env", "remove", "image", "host", "config", "advice", "other"]),
    texts,
    texts,
    slugs,
)
findings = st.builds(
    Finding,
    id=st.one_of(slugs, st.just("unknown-failure")),
    title=texts,
    severity=st.sampled_from(Severity),
    role=st.sampled_from(Role),
    confidence=st.sampled_from(Confidence),
    basis=st.sampled_from(Basis),
    cause=texts,
    phase=phases,
    evidence=st.lists(evidence, max_size=3).map(tuple),
    count=st.integers(0, 1000),
    ranks=some_texts,
    remedies=st.lists(remedies, max_size=3).map(tuple),
    verify=texts,
    explained_by=st.lists(slugs, max_size=2).map(tuple),
    conditional=some_texts,
    references=some_texts,
    fingerprint=fingerprints,
)
spans = st.builds(PhaseSpan, phases, lines, lines, texts, st.none() | numbers)
budgets = st.builds(
    Budget, numbers, numbers, st.lists(st.builds(BudgetPart, texts, numbers, lines), max_size=4).map(tuple), texts
)
boots = st.builds(
    BootDiagnosis,
    index=st.integers(1, 99),
    verdict=st.sampled_from(Verdict),
    phase=phases,
    lines=st.tuples(lines, lines),
    summary=texts,
    facts=known_facts,
    findings=st.lists(findings, max_size=4, unique_by=(lambda f: f.id, lambda f: f.fingerprint)).map(tuple),
    timeline=st.lists(spans, max_size=4).map(tuple),
    budget=st.none() | budgets,
    seconds=st.none() | numbers,
    notes=some_texts,
    service=st.just("") | texts,
)


def _lead(boots: list[BootDiagnosis], rest: Diagnosis) -> Diagnosis:
    verdict = boots[-1].verdict if boots else Verdict.UNDETERMINED
    return Diagnosis(
        verdict=verdict,
        summary=rest.summary,
        boots=tuple(boots),
        leading=max(0, len(boots) - 1),
        launch=rest.launch,
        redactions=rest.redactions,
        source=rest.source,
        tool_version=rest.tool_version,
        database_version=rest.database_version,
        notes=rest.notes,
    )


diagnoses = st.builds(
    _lead,
    st.lists(boots, max_size=3, unique_by=lambda boot: boot.index),
    st.builds(
        Diagnosis,
        verdict=st.just(Verdict.UNDETERMINED),
        summary=texts,
        boots=st.just(()),
        launch=st.none() | st.builds(Launch, texts, texts, some_texts),
        redactions=st.dictionaries(texts, st.integers(0, 9), max_size=2),
        source=texts,
        tool_version=st.just("0.1.0"),
        database_version=st.just("1.0"),
        notes=some_texts,
    ),
)
