"""Which records an item of an entry looks at, what a match keeps of them, and where the work ends."""

from __future__ import annotations

from typing import Any

import pytest

from logdoctor.database.schema import Kind, MatchBlock, MatchItem
from logdoctor.diagnosis import matching
from logdoctor.diagnosis.matching import BootMatcher, Hit, Match, Matcher, shortened
from logdoctor.model import ExceptionInfo, Phase, Process, Record, Severity
from tests.database.build import signature
from tests.diagnosis.build import database

FIRST, SECOND, THIRD = (MatchItem(literal=f"the {word} text of it") for word in ("first", "second", "third"))


def record(line: int, *texts: str, level: str = "ERROR", role: str = "engine", **more: Any) -> Record:
    process = Process(role, more.pop("name", "EngineCore"), "1", more.pop("rank", ""))
    return Record(tuple(enumerate(texts, start=line)), process, level, **more)


def matched(block: MatchBlock, *records: Record, requested: bool = False, **fields: Any) -> Match | None:
    """The match of one entry in a boot of these records."""
    matcher = Matcher(database(signature(id="one", match=block, **fields)))
    boot = BootMatcher(matcher)
    for one in records:
        (present,) = matcher.find([one.message])
        boot.observe(one, shortened(one.message), present, requested=requested)
    found = boot.matches(())
    assert len(found) <= 1
    return found[0] if found else None


def line_of(found: Match | None) -> list[int]:
    return [hit.line for hit in found.hits] if found else []


@pytest.mark.parametrize(
    ("item", "given", "expected"),
    [
        ({}, {"level": "INFO"}, True),
        ({"level": ("ERROR", "")}, {"level": "ERROR"}, True),
        ({"level": ("ERROR", "")}, {"level": ""}, True),
        ({"level": ("ERROR", "")}, {"level": "INFO"}, False),
        ({"not_level": ("INFO",)}, {"level": "INFO"}, False),
        ({"not_level": ("INFO",)}, {"level": "ERROR"}, True),
        ({"roles": ("engine",)}, {"role": "engine"}, True),
        ({"roles": ("engine",)}, {"role": "worker"}, False),
        ({"roles": ("engine",), "level": ("INFO",)}, {"level": "ERROR"}, False),
        ({}, {"quoted": True}, False),
    ],
)
def test_which_records_are_looked_at(item: dict[str, Any], given: dict[str, Any], expected: bool) -> None:
    block = MatchBlock(any=(FIRST._replace(**item),))
    assert (matched(block, record(5, "the first text of it", **given)) is not None) is expected


def test_any_all_none_and_sequence() -> None:
    one, two, three = (record(n, f"the {word} text of it") for n, word in ((1, "first"), (2, "second"), (3, "third")))
    assert line_of(matched(MatchBlock(any=(FIRST, SECOND)), two)) == [2]
    assert line_of(matched(MatchBlock(any=(FIRST, SECOND)), one, two)) == [1, 2]
    assert matched(MatchBlock(any=(FIRST, SECOND)), three) is None
    assert line_of(matched(MatchBlock(all=(FIRST, SECOND)), two, one)) == [1, 2]
    assert matched(MatchBlock(all=(FIRST, SECOND)), one, three) is None
    assert matched(MatchBlock(any=(FIRST,), none=(SECOND,)), one, two) is None
    assert line_of(matched(MatchBlock(any=(FIRST,), none=(SECOND,)), one, three)) == [1]
    assert line_of(matched(MatchBlock(sequence=(FIRST, SECOND)), one, two)) == [1, 2]
    later = record(4, "the first text of it")
    assert matched(MatchBlock(sequence=(FIRST, SECOND)), two, later) is None
    assert matched(MatchBlock(sequence=(FIRST, FIRST)), one) is None
    assert line_of(matched(MatchBlock(sequence=(FIRST, FIRST)), one, later)) == [1, 4]
    assert line_of(matched(MatchBlock(any=(THIRD,), sequence=(FIRST, SECOND)), one, two, three)) == [1, 2, 3]
    assert matched(MatchBlock(any=(THIRD,), sequence=(SECOND, FIRST)), one, two, three) is None
    assert matched(MatchBlock(any=(THIRD,), all=(FIRST, SECOND)), one, three) is None


def test_what_a_match_keeps_and_counts() -> None:
    records = [record(n, "the first text of it", name=f"Worker_TP{n % 3}", rank=f"TP{n % 3}") for n in range(1, 12)]
    found = matched(MatchBlock(any=(FIRST,)), *records)
    assert found is not None
    assert (found.count, found.last_line, line_of(found)) == (11, 11, list(range(1, 9)))
    assert found.ranks == ("TP1", "TP2", "TP0")
    both = matched(MatchBlock(any=(FIRST, SECOND)), *records, record(20, "the second text of it"))
    assert both is not None
    assert (both.count, both.last_line, both.ranks) == (11, 20, ("TP1", "TP2", "TP0"))  # the engine passes words on
    alone = matched(
        MatchBlock(any=(FIRST,)), record(3, "the first text of it"), record(4, "the first text of it", name="")
    )
    assert alone is not None
    assert (alone.count, alone.ranks) == (2, ("EngineCore",))


def test_only_so_many_ranks_are_named() -> None:
    records = [record(n, "the first text of it", name=f"W{n}", rank=f"TP{n}") for n in range(1, 70)]
    found = matched(MatchBlock(any=(FIRST,)), *records)
    assert found is not None
    assert (len(found.ranks), found.ranks[0], found.ranks[-1], found.count) == (64, "TP1", "TP64", 69)


def test_the_line_and_the_captures_of_a_hit() -> None:
    item = MatchItem(pattern=r"needs (?P<need>\d+) GiB(?P<more> more)? of KV cache")
    found = matched(MatchBlock(any=(item,)), record(5, "head", "it needs 7 GiB of KV cache", "needs 8 GiB of KV cache"))
    assert found is not None
    assert [(hit.line, hit.text, dict(hit.captures)) for hit in found.hits] == [
        (6, "it needs 7 GiB of KV cache", {"need": "7"}),
    ]
    assert dict(found.captures) == {"need": "7"}
    assert found.count == 1
    again = MatchItem(pattern=r"needs (?P<need>\d+) GiB of (?P<what>KV cache)")
    found = matched(
        MatchBlock(any=(item, again)), record(5, "needs 7 GiB of KV cache"), record(9, "needs 9 GiB of KV cache")
    )
    assert found is not None
    assert line_of(found) == [5, 9]
    assert dict(found.captures) == {"need": "7", "what": "KV cache"}


@pytest.mark.parametrize(
    ("given", "certain"),
    [
        ({"level": ""}, True), ({"level": "ERROR"}, True), ({"level": "CRITICAL"}, True), ({"level": "WARNING"}, False),
        ({"level": "INFO"}, False), ({"level": "INFO", "exception": ExceptionInfo("E", "m", 1)}, True),
    ],
)  # fmt: skip
def test_what_a_healthy_server_may_say_proves_little(given: dict[str, Any], certain: bool) -> None:
    assert Hit(record(1, "x", **given), 1, "x", {}).certain is certain


def test_behind_the_words_of_a_list_of_settings_nothing_is_found() -> None:
    item = MatchItem(literal="non-default args")
    settings = record(5, "non-default args: {'model': 'the first text of it'}", level="INFO", role="api")
    assert matched(MatchBlock(any=(FIRST,)), settings) is None
    assert line_of(matched(MatchBlock(any=(item,)), settings)) == [5]
    model = record(5, "Starting to load model the first text of it...", level="INFO", role="worker")
    assert matched(MatchBlock(any=(FIRST,)), model) is None


@pytest.mark.parametrize(
    ("fields", "roles", "seen"),
    [
        ({"phase": Phase.SERVING, "severity": Severity.WARNING}, (), True),
        ({"phase": Phase.SHUTDOWN, "severity": Severity.WARNING}, (), True),
        ({"phase": Phase.SERVING, "severity": Severity.ERROR}, (), False),
        ({"phase": Phase.SERVING, "severity": Severity.ERROR, "kind": Kind.CASCADE}, (), True),
        ({"phase": Phase.WEIGHTS, "severity": Severity.WARNING}, (), False),
        ({"phase": Phase.WEIGHTS, "severity": Severity.FATAL}, ("api",), True),
        ({"phase": Phase.WEIGHTS, "severity": Severity.FATAL}, ("engine", "api"), True),
    ],
)
def test_who_looks_at_a_complaint_about_a_request(fields: dict[str, Any], roles: tuple[str, ...], seen: bool) -> None:
    block = MatchBlock(any=(FIRST._replace(roles=roles),))
    one = record(5, "the first text of it", role="api")
    assert (matched(block, one, requested=True, **fields) is not None) is seen
    assert matched(block, one, requested=False, **fields) is not None


def test_hits_in_complaints_and_elsewhere_come_together() -> None:
    matcher = Matcher(database(signature(match=MatchBlock(any=(FIRST,)), phase=Phase.SERVING)))
    boot = BootMatcher(matcher)
    for line in (9, 3, 7, 1, 8, 2, 6, 4, 5, 10):
        one = record(line, "the first text of it", role="api", name=f"Api{line}")
        boot.observe(one, one.message, matcher.find([one.message])[0], requested=line % 2 == 0)
    (found,) = boot.matches(())
    assert (found.count, found.last_line, line_of(found)) == (10, 10, list(range(1, 9)))
    assert [hit.line for hit in boot._of(FIRST, requested=True).kept] == list(range(1, 9))  # type: ignore[union-attr]
    assert len(found.ranks) == 10


def test_wide_messages_are_searched_so_often_and_kept_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "WIDE", 100)
    monkeypatch.setattr(matching, "WIDE_SEARCHES", 2)
    monkeypatch.setattr(matching, "MAX_LINE", 40)
    wide = [record(n, "x " * 60 + "the first text of it" + " y" * 60, "z " * 60) for n in (1, 3, 5)]
    found = matched(MatchBlock(any=(FIRST,)), *wide, record(7, "the first text of it"))
    assert found is not None
    assert line_of(found) == [1, 3, 7]
    assert found.hits[0].text == "… x x the first …"
    assert all(len(text) <= 40 for _, text in found.hits[0].record.lines)
    narrow = record(9, "the first text of it " + "y" * 30)
    assert matched(MatchBlock(any=(FIRST,)), narrow).hits[0].text.startswith("the first")  # type: ignore[union-attr]


def test_a_slow_pattern_is_given_up_for_the_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = MatchItem(pattern="the first text of it.*?o.*?o.*?o.*?o.*?o.*?!")
    monkeypatch.setattr(matching, "PATTERN_TIMEOUT", 0.01)
    matcher = Matcher(database(signature(match=MatchBlock(any=(slow, SECOND)))))
    boot = BootMatcher(matcher)
    for one in (record(1, "the first text of it" + " word" * 500), record(2, "the first text of it oooooo!"),
                record(3, "the second text of it")):  # fmt: skip
        boot.observe(one, one.message, matcher.find([one.message])[0])
    assert list(boot.too_slow) == [slow.pattern]
    assert line_of(boot.matches(())[0]) == [3]


def test_a_long_message_is_its_beginning_and_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MAX_MESSAGE", 10)
    assert shortened("0123456789") == "0123456789"
    assert shortened("0123456789a") == "01234\n6789a"


def test_an_entry_that_asks_only_for_what_is_not_there() -> None:
    block = MatchBlock(none=(FIRST,))
    assert matched(block, record(1, "word")) is not None
    assert matched(block, record(1, "the first text of it")) is None


def test_entries_on_facts_alone_need_their_facts() -> None:
    matcher = Matcher(database(signature(match=None, when_known={"gpu.name": "x"})))
    assert BootMatcher(matcher).matches(()) == []
    (found,) = BootMatcher(matcher).matches(("gpu.name",))
    assert (found.hits, found.count, found.ranks, dict(found.captures)) == ((), 1, (), {})


def test_a_pattern_without_a_literal_core_is_tried_on_every_record() -> None:
    bare = MatchItem(pattern=r"[0-9]{4}x[0-9]{2}")
    assert line_of(matched(MatchBlock(any=(bare,)), record(1, "word"), record(2, "so 1234x56 it is"))) == [2]
    assert line_of(matched(MatchBlock(any=(FIRST, bare)), record(1, "1234x56"), record(2, "the first text of it"))) == [
        1,
        2,
    ]


def test_a_line_of_a_message_has_its_own_beginning() -> None:
    anchored = MatchItem(pattern=r"^the first text of it$")
    assert line_of(matched(MatchBlock(any=(anchored,)), record(1, "head", "the first text of it", "tail"))) == [2]
    assert matched(MatchBlock(any=(anchored,)), record(1, "not the first text of it")) is None


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("head\nab TARGET cd\ntail", "ab TARGET cd"),
        ("one\ntwo\nTARGET cd", "TARGET cd"),
        ("TARGET cd", "TARGET cd"),
        ("\nTARGET\n\nx", "TARGET"),
        ("long words before TARGET word", "… TARGET…"),
        ("ab TARGET words that follow it\nx", "ab TARGET…"),
        ("ab TARGETab", "ab TARGETab"),
        ("head\nabcd TARGET cd\ntail", "abcd TARGET cd"),
        ("head\nabcde TARGET cd\ntail", "… TARGET cd"),
        ("TARGET abc", "TARGET abc"),
        ("TARGET abcd", "TARGET…"),
    ],
)
def test_a_wide_line_is_cut_around_what_was_found(message: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MAX_LINE", 40)
    text = matching._around(message, message.index("TARGET"))
    assert text.replace(" …", "…") == shown
