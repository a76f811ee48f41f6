"""A text is redacted before it is cut: no beginning and no end of a secret is left where a cut falls."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from logdoctor import diagnose
from logdoctor.api import Report
from logdoctor.database import load_database
from logdoctor.diagnosis.matching import MAX_LINE
from logdoctor.diagnosis.templates import fill, fill_command
from logdoctor.model import Basis, BootDiagnosis, Confidence, Diagnosis, Fact, Finding, Remedy, Role, Severity, Verdict
from logdoctor.report import FORMATS
from logdoctor.report.redaction import redact
from logdoctor.wording import Part, Worded, cut, joined, own, word_end, word_start

SECRETS = {
    "email": "johanna.mustermann@firma-mustermann.example",
    "hf": "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",
    "openai": "sk-proj-Qk3tRwPxLsVbNm7cHdGjKe9aTfZrXwQpLsVb4mYc",
    "aws": "AKIAQZ7RWPXLSVBNMYCH",
    "github": "ghp_QkZtRwPxLsVbNmYcHdGjKeUaTfZrXwQpLsV3",
    "url": "https://mustermann:Tr0ub4dorAnd3x@git.example/models",
    "ip": "192.168.171.213",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqb2hhbm5hIn0.QkZtRwPxLsVbNmYcHdGjKeUaTfZrXwQ",
}
CUTS = (90, 200, MAX_LINE // 4, 2000, MAX_LINE)
"""Where the diagnosis cuts: titles, values, lines of wide records, evidence, kept lines."""
BANNER = "(APIServer pid=1) INFO 11-30 10:00:00 [api_server.py:1] vLLM API server version 0.24.0\n"
FORMATS_CHECKED = tuple(name for name in FORMATS if name != "terminal")
FILLING = "the quick brown fox jumps over a lazy dog "


def traceback(message: str) -> str:
    """A start that ends with an exception that nobody knows."""
    head = "(EngineCore pid=9) ERROR 11-30 10:00:01 [core.py:1] "
    return BANNER + "".join(
        f"{head}{line}\n"
        for line in (
            "EngineCore failed to start.",
            "Traceback (most recent call last):",
            '  File "/x/y.py", line 1, in f',
            f"OddError: {message}",
        )
    )


def bare(message: str) -> str:
    """The same outside of any logger."""
    return f'{BANNER}Traceback (most recent call last):\n  File "/x/y.py", line 1, in <module>\nOddError: {message}\n'


def record(message: str) -> str:
    """A start that ends with an error record."""
    return f"{BANNER}(EngineCore pid=9) ERROR 11-30 10:00:01 [core.py:1] {message}\n"


def captured(message: str) -> str:
    """A message of which an entry takes a value."""
    return f"{BANNER}OSError: [Errno 28] No space left on device: '/models/{message}'\n"


def missing(message: str) -> str:
    """A message whose value stands in commands."""
    return f"{BANNER}vllm: error: unrecognized arguments: --{message}\n"


LOGS = (traceback, bare, record, captured, missing)


def leaks(text: str, secret: str) -> list[str]:
    """What of a secret a text shows: any stretch of eight characters that belongs to it alone."""
    text = text.replace("\n", "")
    stretches = [secret[at : at + 8] for at in range(len(secret) - 7)]
    return [piece for piece in stretches if piece in text and not piece.startswith(("https:", "ttps:/", "tps://"))]


def everywhere(report: Report) -> dict[str, str]:
    """The report in every format and language."""
    shown = {name: report.render(name) for name in FORMATS_CHECKED}
    return {**shown, "wide": report.render("text", width=200), "narrow": report.render("text", width=20)}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    kind=st.sampled_from(sorted(SECRETS)),
    cut_at=st.sampled_from(CUTS),
    offset=st.integers(-80, 12),
    log=st.sampled_from(LOGS),
    lang=st.sampled_from(["en", "zh"]),
)
@example("email", 90, -20, traceback, "en")
@example("email", 90, -20, traceback, "zh")
@example("hf", 90, -10, record, "en")
@example("email", 200, -20, captured, "en")
def test_no_piece_of_a_secret_is_left_at_a_cut(kind: str, cut_at: int, offset: int, log: object, lang: str) -> None:
    assert callable(log)
    begin = max(cut_at + offset, 0)
    text = (
        (FILLING * (begin // len(FILLING) + 1))[: max(begin - 1, 0)] + " " + SECRETS[kind] + " and goes on " + FILLING
    )
    report = diagnose(log(text).encode(), lang=lang)
    found = {name: leaks(shown, SECRETS[kind]) for name, shown in everywhere(report).items()}
    assert {name: pieces for name, pieces in found.items() if pieces} == {}


@pytest.mark.parametrize("log", [traceback, record], ids=["traceback", "record"])
@pytest.mark.parametrize("kind", sorted(SECRETS))
def test_no_offset_near_the_end_of_a_title_shows_a_piece(kind: str, log: object) -> None:
    assert callable(log)
    secret = SECRETS[kind]
    # A piece that is left over shows eight characters: every fourth place of the cut meets it.
    for offset in range(-len(secret) - 12, 2, 4):
        text = (FILLING * 3)[: 89 + offset] + " " + secret + " and goes on"
        report = diagnose(log(text).encode())
        assert leaks(report.render("prometheus") + report.render("termination") + report.render("junit"), secret) == []


def finding_of(text: str, command: str = "") -> Diagnosis:
    """A diagnosis whose finding says a text and tells to type a command."""
    remedy = Remedy(text, "host", command or text, text)
    finding = Finding(
        "some-id",
        text,
        Severity.FATAL,
        Role.ROOT_CAUSE,
        Confidence.LIKELY,
        Basis.SOURCE,
        text,
        remedies=(remedy,),
        verify=text,
    )
    return Diagnosis(Verdict.FAILED, text, (BootDiagnosis(1, Verdict.FAILED, "config", (1, 2), text, {}, (finding,)),))


def test_the_words_of_the_database_are_no_secrets() -> None:
    """Nothing that an entry says itself is replaced, however much it looks like an address, a key or a prompt."""
    changed = []
    for signature in load_database().signatures:
        texts = [signature.title, signature.cause, signature.verify, signature.decide, signature.decided_when]
        texts += [part for remedy in signature.remedies for part in (remedy.summary, remedy.value)]
        for text in filter(None, texts):
            told = fill(text, {}, {})
            done = redact(finding_of(told))
            if done.boots[0].findings[0].title != told or done.redactions:
                changed.append((signature.id, done.boots[0].findings[0].title))
    assert changed == []


@pytest.mark.parametrize(
    "template", ["nc -vz {address} 29500", "VLLM_HOST_IP=10.1.2.3 ping {address}", "'{address}' x"]
)
def test_what_fills_a_command_is_redacted_and_then_quoted(template: str) -> None:
    command, _ = fill_command(template, {"address": "10.0.0.11"}, {})
    done = redact(finding_of("x", command)).boots[0].findings[0].remedies[0].command
    assert "10.0.0.11" not in done
    assert done == template.replace("'{address}'", "{address}").replace("{address}", "'<private-ip-1>'")
    kept = redact(finding_of("x", command), keep_hosts=True).boots[0].findings[0].remedies[0].command
    assert kept == template.format(address="10.0.0.11")


def test_a_value_is_secret_by_the_word_before_it() -> None:
    text = fill("Run with --api-key {value} or password={other}", {"value": "correcthorse", "other": "b4ttery"}, {})
    done = redact(finding_of(text))
    assert done.summary == "Run with --api-key <api-key-1> or password=<password-1>"
    fact = Fact("args.api_key", "battery-staple")
    assert redact(finding_of(fill("It is {args.api_key}", {}, {fact.key: fact}))).summary == "It is <api-key-1>"


def test_redacting_twice_gives_the_same_as_once() -> None:
    text = joined(fill("ask {a} at {b}", {"a": "me@mail.example", "b": "10.0.0.1"}, {}), own(" VLLM_HOST_IP=10.9.9.9"))
    once = redact(finding_of(text))
    assert once.summary == "ask <email-1> at <private-ip-1> VLLM_HOST_IP=10.9.9.9"
    assert redact(once) == once
    assert pickle.loads(pickle.dumps(once)) == once


@pytest.mark.parametrize(
    "text",
    ["it went over to 10.1.2.3", "invalid: 10.1.2.3 is down", "a ship at 10.4.5.6 sank", "deliberate 172.16.3.4",
     "no version of 192.168.171.213"],
)  # fmt: skip
def test_a_word_that_holds_the_letters_of_version_makes_no_version(text: str) -> None:
    assert "<private-ip-1>" in redact(finding_of(text)).summary


@pytest.mark.parametrize("text", ["libcublas 10.2.1.243", "ver 10.2.1.243", "nvrtc-10.2.1.243", "cudnn v10.2.1.4"])
def test_versions_stay(text: str) -> None:
    assert redact(finding_of(text)).summary == text


@given(st.text("ab,; 'x<>-1", max_size=60), st.integers(1, 40))
def test_a_cut_is_within_its_limit_and_cuts_no_word(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    if short != text:
        assert short.endswith("…")
        assert text.startswith(short[:-1])
        rest = text[len(short) - 1 :]
        assert not short[:-1] or not (short[-2].isalnum() and rest[:1].isalnum())


@given(st.text("ab, ", min_size=1, max_size=30), st.data())
def test_words_begin_and_end_outside_of_words(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text) - 1))
    assert word_start(text, place) <= place <= word_end(text, place)
    assert "a" not in text[word_start(text, place) : place].strip(", ")[:0]


def test_a_stretch_of_a_text_keeps_whole_parts() -> None:
    text = Worded((Part("own ", own=True), Part("a value", limit=4), Part(" end", own=True)))
    assert text == "own a… end"
    assert text.stretch(4, 6).parts == (Part("a value", limit=4),)
    assert text.stretch(0, 2).parts == (Part("ow", own=True),)
