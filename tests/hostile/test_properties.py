"""Whatever bytes come in, one whole report goes out: the same for the same bytes, the same in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from logdoctor.model import Severity
from logdoctor.report import FORMATS, exit_status, render
from tests.fuzz.checks import check, check_json, diagnosis_of
from tests.report.wellformed import check_json as check_schema

from .bombs import BOMBS, examples
from .places import BANNER, DEATH, PLACES
from .running import SAMPLES

CORPUS = sorted((Path(__file__).parents[1] / "fuzz" / "corpus").glob("*"))
relaxed = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
LOGS = [path.read_bytes()[:4000] for path in sorted(SAMPLES.rglob("*.log"))[::6]]
formats = st.sampled_from(FORMATS)
scraps = st.one_of(
    st.sampled_from([bomb(300) for bomb in BOMBS.values()]),
    st.sampled_from([place("x\x1b[1m<b>`@a").encode() for place in PLACES.values()]),
    st.sampled_from([text.encode() + b"\n" for text in examples()]),
    st.sampled_from([b"\r", b"\n", b"\r\n", b"\0", b"\x1b[31m", b"\xff", b"\xed\xa0\x80", b"> ", b"a | ", b"```\n"]),
    st.binary(max_size=30),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A recorded log with pieces of it doubled, cut, moved, damaged."""
    data = bytearray(draw(st.sampled_from(LOGS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 400)))
        kind = draw(st.sampled_from(["insert", "delete", "double", "flip", "move"]))
        if kind == "insert":
            data[at:at] = draw(scraps)
        elif kind == "delete":
            del data[at:end]
        elif kind == "double":
            data[at:at] = data[at:end]
        elif kind == "flip" and at < len(data):
            data[at] ^= draw(st.integers(1, 255))
        elif kind == "move":
            piece = data[at:end]
            del data[at:end]
            data[:0] = piece
    return bytes(data)


@relaxed
@given(st.one_of(st.binary(max_size=300), mutated(), st.lists(scraps, max_size=20).map(b"".join)), formats)
def test_any_bytes_give_a_whole_report(data: bytes, format: str) -> None:
    check(data, format)


@relaxed
@given(mutated())
def test_the_same_bytes_give_the_same_report_and_every_format_the_same_findings(data: bytes) -> None:
    diagnosis = diagnosis_of(data)
    assert diagnosis == diagnosis_of(data)
    assert exit_status(diagnosis, Severity.ERROR) in (0, 1, 3)
    text = render(diagnosis, "json")
    check_schema(text)
    document = json.loads(text)
    check_json(document)
    boot = diagnosis.boot
    told = [finding.id for finding in boot.findings] if boot else []
    shown = next((b for b in document["boots"] if boot and b["index"] == boot.index), {"findings": []})
    assert [finding["id"] for finding in shown["findings"]] == told
    root = diagnosis.root_cause
    if root is not None:
        for format in ("text", "markdown", "sarif", "junit", "termination", "github"):
            assert root.id in render(diagnosis, format)


WRAPPERS = {
    "json-file": lambda line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-11-30T09:20:57Z"}),
    "docker-time": lambda line: f"2026-11-30T09:20:57.123456789Z {line}",
    "cri": lambda line: f"2026-11-30T09:20:57.123456789Z stderr F {line}",
    "compose": lambda line: f"vllm-1  | {line}",
    "kubectl": lambda line: f"[pod/vllm-0/vllm] {line}",
    "journal": lambda line: f"Nov 30 09:20:57 node1 vllm[7]: {line}",
    "quote": lambda line: f"> {line}",
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_an_envelope_does_not_change_the_root_cause(wrapper: str) -> None:
    wrap = WRAPPERS[wrapper]
    for path in sorted(SAMPLES.joinpath("cpu", "0.17.1").glob("*.log"))[::5]:
        text = path.read_text("utf-8", "replace")
        bare = diagnosis_of(text.encode()).root_cause
        wrapped = diagnosis_of("".join(f"{wrap(line)}\n" for line in text.split("\n")[:-1]).encode()).root_cause
        assert (bare and bare.id) == (wrapped and wrapped.id), path.name


@pytest.mark.parametrize("path", CORPUS, ids=[path.name for path in CORPUS])
def test_what_fuzzing_found_stays_mended(path: Path) -> None:
    for format in FORMATS:
        check(path.read_bytes()[1:], format)


class GrowingLog(RuleBasedStateMachine):
    """A log that grows by lines of all kinds: at every length it has one whole, steady report."""

    def __init__(self) -> None:
        super().__init__()
        self.log = b""

    @rule()
    def start(self) -> None:
        self.log += BANNER.encode()

    @rule()
    def die(self) -> None:
        self.log += DEATH.encode()

    @rule(piece=scraps)
    def say(self, piece: bytes) -> None:
        self.log += piece

    @rule(place=st.sampled_from(sorted(PLACES)), text=st.text(max_size=20))
    def say_of(self, place: str, text: str) -> None:
        self.log += PLACES[place](text).encode("utf-8", "replace")

    @rule(at=st.floats(0, 1))
    def lose_the_beginning(self, at: float) -> None:
        self.log = self.log[int(len(self.log) * at) :]

    @invariant()
    def the_report_is_whole(self) -> None:
        check(self.log)


TestGrowingLog = GrowingLog.TestCase
TestGrowingLog.settings = settings(
    deadline=None, max_examples=6, stateful_step_count=8, suppress_health_check=list(HealthCheck)
)
