"""Memory stays bounded whatever is left open: records, processes, characters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from logdoctor.model import Line
from logdoctor.reading import records
from logdoctor.reading.records import group

OPEN = "(Worker_TP0 pid=1) Traceback (most recent call last):"


def entry(number: int, text: str = "x", pid: int = 2) -> Line:
    return Line(number, f"(APIServer pid={pid}) INFO 11-30 09:00:00 [a.py:{number}] {text}")


def opened(number: int, pid: int) -> Line:
    return Line(number, f"(Worker_TP{pid} pid={pid}) Traceback (most recent call last):")


class Counted:
    """Lines that know how many of them were taken."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines, self.taken = lines, 0

    def __iter__(self) -> Iterator[Line]:
        for line in self.lines:
            self.taken += 1
            yield line


def taken_at(lines: list[Line]) -> list[tuple[int, int]]:
    """For each record its first line, and how many lines were taken when it came out."""
    counted = Counted(lines)
    return [(record.first_line, counted.taken) for _, record in group(counted)]


def test_a_record_comes_out_as_soon_as_it_cannot_go_on() -> None:
    assert taken_at([entry(1), entry(2), entry(3)]) == [(1, 2), (2, 3), (3, 3)]


def test_an_open_record_lets_others_wait_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_WAITING", 3)
    lines = [Line(1, OPEN), *(entry(number) for number in range(2, 8))]
    # Three may wait; the fourth pushes the open one out, and what is closed after it comes along.
    assert taken_at(lines) == [(1, 4), (2, 4), (3, 4), (4, 5), (5, 6), (6, 7), (7, 7)]


def test_a_record_that_was_pushed_out_takes_no_more_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_WAITING", 2)
    frame = '(Worker_TP0 pid=1)   File "a.py", line 1, in f'
    got = [record for _, record in group([Line(1, OPEN), entry(2), entry(3), entry(4), Line(5, frame), entry(6)])]
    assert [record.first_line for record in got] == [1, 2, 3, 4, 5, 6]
    assert len(got[0].lines) == 1


def test_what_waits_holds_a_limited_number_of_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_HELD", 1000)
    lines = [Line(1, OPEN), *(entry(number, "y" * 250) for number in range(2, 8))]
    order = taken_at(lines)
    assert [first for first, _ in order] == [1, 2, 3, 4, 5, 6, 7]
    assert order[0] == (1, 5)  # four of 300 fill the thousand
    short = [Line(1, OPEN), *(entry(number) for number in range(2, 8))]
    assert taken_at(short)[0] == (1, 7)


def test_what_came_out_is_not_held_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_HELD", 1000)
    before = [entry(number, "y" * 250) for number in range(1, 10)]
    lines = [*before, Line(10, OPEN), *(entry(number) for number in range(11, 16))]
    taken = dict(taken_at(lines))
    assert taken[10] == 15
    assert [taken[number] for number in range(1, 9)] == list(range(2, 10))


def test_what_came_out_counts_as_it_was_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads are no part of what is held: else every long log would cut a record in two sooner or later."""
    monkeypatch.setattr(records, "MAX_HELD", 1000)
    before = [entry(number) for number in range(1, 100)]
    lines = [*before, Line(100, OPEN), *(entry(number) for number in range(101, 106))]
    assert dict(taken_at(lines))[100] == 105


def test_what_still_waits_is_held_after_others_came_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_HELD", 1000)
    other = [opened(2, 3), Line(3, "(Worker_TP3 pid=3)   " + "z" * 850)]
    closing = Line(4, "(Worker_TP0 pid=1) INFO 11-30 09:00:00 [a.py:1] " + "y" * 90)
    lines = [Line(1, "(Worker_TP0 pid=1) word"), *other, closing, entry(5, "y" * 50), entry(6), entry(7)]
    assert dict(taken_at(lines))[2] == 5


def test_only_so_many_processes_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many open records the older half is closed; the newer ones go on."""
    monkeypatch.setattr(records, "_MAX_SLOTS", 4)
    starts = [opened(pid, pid) for pid in range(1, 9)]
    frames = [Line(8 + pid, f'(Worker_TP{pid} pid={pid})   File "a.py", line 1, in f') for pid in (8, 7, 4, 1)]
    got = [record for _, record in group([*starts, *frames])]
    assert [record.process.pid for record in got if len(record.lines) == 2] == ["4", "7", "8"]
    assert sum(len(record.lines) for record in got) == len(starts) + len(frames)


def test_a_gap_closes_what_does_not_clearly_go_on() -> None:
    head = "(APIServer pid=2) INFO 11-30 09:00:00 [a.py:1] "
    same = [Line(1, f"{head}a:"), Line(2, f"{head}  b"), Line(3, f"{head}  c", gap=True), Line(4, f"{head}  d")]
    assert [len(record.lines) for _, record in group(same)] == [2, 2]


def lengths(lines: list[Line]) -> list[int]:
    return [len(record.lines) for _, record in group(lines)]


FRAME = '  File "a.py", line 1, in f'


@pytest.mark.parametrize(("prefix", "near"), [("", 200), ("(Worker pid=1) ", 1500)])
def test_a_record_goes_on_past_so_many_lines_of_others(prefix: str, near: int) -> None:
    assert lengths([Line(1, f"{prefix}word"), Line(1 + near, f"{prefix}  more")]) == [2]
    assert lengths([Line(1, f"{prefix}word"), Line(2 + near, f"{prefix}  more")]) == [1, 1]


def test_a_progress_bar_takes_no_further_line() -> None:
    for bar in ("Loading:  25%|##  |", "Capturing CUDA graphs:  25% more"):
        assert lengths([Line(1, bar), Line(2, "  more")]) == [1, 1]
    for other in ("25 of 100", "100%", "x" * 201 + " 25%|"):
        assert lengths([Line(1, other), Line(2, "  more")]) == [2]


def test_quoted_text_goes_on_without_marks_until_a_gap_or_the_next_of_its_kind() -> None:
    head = "(APIServer pid=2) INFO 11-30 09:00:00 [logger.py:1] "
    first = Line(1, f"{head}Received request a: prompt: 'x")
    assert lengths([first, Line(2, f"{head}more")]) == [2]
    assert lengths([first, Line(2, f"{head}more", gap=True)]) == [1, 1]
    assert lengths([first, Line(2, f"{head}Received request b: prompt")]) == [1, 1]


def test_what_goes_on_with_the_same_head() -> None:
    head = "(APIServer pid=2) ERROR 11-30 09:00:00 [a.py:1] "
    for text, joined in ((" x", True), ("\tx", True), ("Traceback (most recent call last):", True), ("Xx", False)):
        assert lengths([Line(1, f"{head}word"), Line(2, f"{head}{text}")]) == ([2] if joined else [1, 1]), text
    assert lengths([Line(1, f"{head}word:"), Line(2, f"{head}x")]) == [2]
    assert lengths([Line(1, f"{head}same:"), Line(2, f"{head}same:")]) == [1, 1]


def test_a_record_of_the_same_process_ends_what_is_no_half_printed_traceback() -> None:
    log = "(Worker pid=1) INFO 11-30 09:00:00 [a.py:1] x"
    assert lengths([Line(1, "(Worker pid=1) word"), Line(2, log), Line(3, "(Worker pid=1)   more")]) == [1, 1, 1]
    assert lengths([Line(1, "(Worker pid=1) word"), Line(2, "(Worker pid=1)   more")]) == [2]
    begin = Line(1, "(Worker pid=1) Traceback (most recent call last):")
    assert lengths([begin, Line(2, log), Line(3, f"(Worker pid=1) {FRAME}")]) == [2, 1]
    whole = [begin, *(Line(1, f"(Worker pid=1) {text}") for text in (FRAME, "ValueError: x"))]
    assert lengths([*whole, Line(4, log), Line(5, "(Worker pid=1)   more")]) == [3, 1, 1]


def test_a_child_named_by_multiprocessing_is_not_its_parent() -> None:
    ((_, record),) = group([Line(1, "(EngineCore pid=7) Process Worker-1:")])
    assert record.process.name == "EngineCore"
    ((_, record),) = group([Line(1, "Process EngineCore_DP0:")])
    assert record.process.name == "EngineCore_DP0"


def test_records_that_wait_are_let_go_when_they_are_closed() -> None:
    bare = [Line(1, "one"), Line(2, "two"), Line(3, "three")]
    assert taken_at(bare) == [(1, 2), (2, 3), (3, 3)]
    uvicorn = [Line(1, "(A pid=1) INFO:     a"), Line(2, "(A pid=1) INFO:     b"), entry(3, pid=1)]
    assert [first for first, _ in taken_at(uvicorn)] == [1, 2, 3]
    assert taken_at(uvicorn)[0] == (1, 2)


def test_a_line_that_ends_with_a_colon_and_a_blank_goes_on() -> None:
    head = "(APIServer pid=2) ERROR 11-30 09:00:00 [a.py:1] "
    assert lengths([Line(1, f"{head}word: "), Line(2, f"{head}x")]) == [2]


@pytest.mark.parametrize(
    ("level", "joined"), [("ERROR", True), ("CRITICAL", True), ("INFO", False), ("WARNING", False)]
)
def test_a_traceback_belongs_to_the_complaint_before_it(level: str, joined: bool) -> None:
    lines = [Line(1, f"{level + ':':<10}word"), Line(2, "Traceback (most recent call last):")]
    assert lengths(lines) == ([2] if joined else [1, 1])
    assert lengths([Line(1, "word"), Line(2, "Traceback (most recent call last):")]) == [1, 1]


def test_a_python_warning_shows_one_source_line() -> None:
    lines = [Line(1, "/usr/lib/x.py:10: UserWarning: word"), Line(2, "  warnings.warn("), Line(3, "  other")]
    assert lengths(lines) == [2, 1]
    assert lengths([Line(1, "INFO:     word"), Line(2, "  a"), Line(3, "  b")]) == [3]


def test_the_characters_of_a_record_are_counted_over_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_CHARACTERS", 100)
    monkeypatch.setattr(records, "MAX_TAIL", 2)
    ((_, record),) = group([Line(1, "word"), *(Line(number, "  " + "x" * 38) for number in range(2, 9))])
    assert [number for number, _ in record.lines] == [1, 2, 3, 3, 7, 8]
    assert record.lines[3][1] == "…[3 lines cut]…"


def test_a_record_is_closed_by_another_form_of_its_process() -> None:
    logged = [Line(1, "(A pid=1) INFO 11-30 09:00:00 [a.py:1] x"), Line(2, "(A pid=1) INFO:     b"), entry(3), entry(4)]
    assert dict(taken_at(logged))[1] == 2
    rust = "(RustFrontend pid=3) ERROR 11-30 09:22:01 [main.rs:110] process failed: x"
    assert dict(taken_at([Line(1, "word"), Line(2, rust), entry(3), entry(4)]))[1] == 2
    bare = [Line(1, "(A pid=1) word"), Line(2, "(A pid=1) INFO 11-30 09:00:00 [a.py:1] x"), entry(3), entry(4)]
    assert dict(taken_at(bare))[1] == 2


def test_an_error_of_the_rust_front_end_has_its_line() -> None:
    rust = Line(7, "(RustFrontend pid=3) ERROR 11-30 09:22:01 [main.rs:110] process failed with error: shut down")
    causes = ("", "Caused by these errors (recent errors listed first):", "  1: tokenizer error: no file")
    ((_, record),) = group([rust, *(Line(number, text) for number, text in enumerate(causes, start=8))])
    assert record.exception is not None and record.exception.cause is not None
    assert (record.exception.line, record.exception.cause.line) == (7, 10)


def test_a_half_closed_slot_lets_its_records_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_MAX_SLOTS", 4)
    starts = [opened(pid, pid) for pid in range(1, 9)]
    taken = dict(taken_at(starts))
    assert taken[1] == 6  # the sixth process is one too many
    assert taken[8] == 8


def test_which_lines_state_an_exception() -> None:
    head = "(APIServer pid=2) {} 11-30 09:00:00 [a.py:1] ValueError: word"
    for level, stated in (("ERROR", True), ("CRITICAL", True), ("WARNING", False), ("INFO", False)):
        ((_, record),) = group([Line(1, head.format(level))])
        assert (record.exception is not None) is stated, level
    ((_, record),) = group([Line(1, "ValueError: word")])
    assert record.exception is not None


def test_what_goes_on_a_bare_line_is_indented() -> None:
    assert lengths([Line(1, "word"), Line(2, "\tmore")]) == [2]
    assert lengths([Line(1, "word"), Line(2, "a more")]) == [1, 1]
    assert lengths([Line(1, "word"), Line(2, "Xmore")]) == [1, 1]


def test_a_record_keeps_its_times_and_loses_its_empty_end() -> None:
    text = "(APIServer pid=2) ERROR 11-30 09:00:00 [a.py:1] "
    ((_, record),) = group([Line(1, text + "a:", time="T"), Line(2, text + "b:"), Line(3, text), Line(4, text + " ")])
    assert (record.outer_time, record.time) == ("T", "11-30 09:00:00")
    assert [line for _, line in record.lines] == ["a:", "b:"]
    ((_, record),) = group([Line(1, text)])
    assert [line for _, line in record.lines] == [""]
