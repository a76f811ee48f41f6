"""Services in one stream: who streams, who waits, what is kept of those that wait, and where unsigned lines go."""

from __future__ import annotations

import pytest

from logdoctor.model import ExceptionInfo, Frame, Process, Record
from logdoctor.reading import boots
from logdoctor.reading.boots import cut_boots

BANNER = "vLLM API server version 0.17.1"


def vllm(number: int, text: str = "x", level: str = "INFO", role: str = "api") -> Record:
    return Record(((number, text),), Process(role, "APIServer"), level, "11-30 09:00:00", file="core.py")


def other(number: int, text: str = "word", level: str = "") -> Record:
    return Record(((number, text),), level=level)


def cut(*records: tuple[str, Record]) -> list[tuple[int, int]]:
    """The boot and the line of each record, in the order in which they come out."""
    return [(boot, record.first_line) for boot, record in cut_boots(records)]


def test_the_first_server_streams_and_the_others_wait() -> None:
    assert cut(("a", vllm(1)), ("b", vllm(2)), ("a", vllm(3)), ("b", vllm(4))) == [(1, 1), (1, 3), (2, 2), (2, 4)]


def test_what_a_service_said_before_it_was_known_as_a_server_is_kept() -> None:
    assert cut(("a", other(1)), ("b", other(2)), ("b", vllm(3)), ("a", vllm(4))) == [(1, 2), (1, 3), (2, 1), (2, 4)]


def test_services_that_are_no_servers_are_left_out_unless_there_is_nothing_else() -> None:
    assert cut(("web", other(1)), ("a", vllm(2)), ("web", other(3))) == [(1, 2)]
    assert cut(("web", other(1)), ("db", other(2)), ("web", other(3))) == [(1, 1), (1, 3), (2, 2)]
    assert cut(("", other(1)), ("web", other(2))) == [(1, 1)]


def test_unsigned_lines_go_to_the_server_that_spoke_last() -> None:
    assert cut(("", other(1)), ("", other(2))) == [(1, 1), (1, 2)]
    lines = (("a", vllm(1)), ("b", vllm(2)), ("", other(3)), ("a", vllm(4)), ("", other(5)))
    assert cut(*lines) == [(1, 1), (1, 4), (1, 5), (2, 2), (2, 3)]
    assert cut(("a", vllm(1)), ("web", other(2)), ("", other(3))) == [(1, 1), (1, 3)]
    assert cut(("web", other(1)), ("", other(2)), ("a", vllm(3))) == [(1, 3)]


def test_a_server_without_a_name_streams_although_others_have_one() -> None:
    lines = (("", vllm(1, role="engine")), ("b", vllm(2)), ("", vllm(3)))
    assert cut(*lines) == [(1, 1), (2, 2), (2, 3)]


def test_so_many_services_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boots, "_MAX_SERVICES", 2)
    lines = [(name, vllm(number)) for number, name in enumerate("abcdeabcde")]
    out = cut(*lines)
    assert [number for boot, number in out if boot == 1] == [0, 5]
    assert [number for boot, number in out if boot == 2] == [1, 6]
    assert [number for boot, number in out if boot == 3] == [2, 7]
    assert [number for boot, number in out if boot == 4] == [3, 4, 8, 9]
    assert len(out) == 10


def test_of_a_long_log_that_waits_the_beginning_the_complaints_and_the_end_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boots, "_KEEP_HEAD", 3)
    monkeypatch.setattr(boots, "_KEEP_TAIL", 2)
    waiting = boots._Held()
    levels = ["INFO"] * 4 + ["WARNING", "INFO", "ERROR", "DEBUG", "CRITICAL", "ERROR", "INFO", "INFO"]
    for number, level in enumerate(levels):
        waiting.add(vllm(number, level=level))
    assert [record.first_line for record in waiting.records()] == [0, 1, 2, 4, 6, 8, 10, 11]
    raised = boots._Held()
    for number in range(8):
        exception = ExceptionInfo("E", "m", number) if number == 4 else None
        raised.add(vllm(number)._replace(exception=exception))
    assert [record.first_line for record in raised.records()] == [0, 1, 2, 4, 6, 7]


def test_less_is_kept_of_what_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boots, "_KEEP_FOREIGN", 1)
    monkeypatch.setattr(boots, "_KEEP_HEAD", 3)
    monkeypatch.setattr(boots, "_KEEP_TAIL", 2)
    waiting = boots._Held()
    for number in range(6):
        waiting.add(other(number))
    assert [record.first_line for record in waiting.records()] == [0, 4, 5]


def test_a_boot_without_a_banner_is_settled_after_forty_records() -> None:
    """Then a banner begins the next boot; before, it is that of the same start."""
    lines = [("", vllm(number)) for number in range(1, 42)]
    assert cut(*lines[:40], ("", vllm(50, BANNER)))[-1] == (1, 50)
    assert cut(*lines, ("", vllm(50, BANNER)))[-1] == (2, 50)
    for settling in (
        vllm(1, role="engine"), vllm(1, role="worker"), vllm(1, role="coordinator"), vllm(1, role="ray"),
        vllm(1)._replace(exception=ExceptionInfo("E", "m", 1)),
    ):  # fmt: skip
        assert cut(("", settling), ("", vllm(50, BANNER))) == [(1, 1), (2, 50)]
    bare = [("", other(number)) for number in range(1, 60)]
    assert cut(*bare, ("", vllm(60, BANNER)))[-1] == (1, 60)


IMPORT = Record(((100, "Triton is installed"),), level="INFO", time="11-30 09:00:00", file="importing.py")
DEATH = Record(((90, "Traceback"),), exception=ExceptionInfo("E", "m", 90, (Frame("x.py", 1, "f"),)))
GONE = Record(((95, "vllm-1 exited with code 1"),))
RULE, IMAGE = Record(((98, "=========="),)), Record(((99, "== CUDA =="),))


def numbers(*records: Record) -> list[int]:
    return [boot for boot, _ in cut_boots(("", record) for record in records)]


def test_after_the_end_an_import_line_is_whose_the_next_line_is() -> None:
    begun = vllm(1, BANNER)
    assert numbers(begun, DEATH, IMPORT, vllm(101)) == [1, 1, 2, 2]
    assert numbers(begun, DEATH, IMPORT, vllm(101, role="engine")) == [1, 1, 1, 1]
    assert numbers(begun, DEATH, vllm(101)) == [1, 1, 1]
    assert numbers(begun, IMPORT, vllm(101)) == [1, 1, 1]
    refused = Record(((102, "vllm serve: error: x"),))
    assert numbers(begun, DEATH, IMPORT, refused) == [1, 1, 2, 2]
    assert numbers(begun, DEATH, refused) == [1, 1, 2]
    assert numbers(begun, DEATH, IMPORT, DEATH) == [1, 1, 1, 1]  # of another child
    assert numbers(IMPORT, DEATH, IMPORT, DEATH) == [1, 1, 2, 2]


def test_a_start_that_has_just_begun_at_the_end_is_a_boot() -> None:
    begun = vllm(1, BANNER)
    assert numbers(begun, DEATH, IMPORT) == [1, 1, 2]
    assert numbers(begun, GONE, IMPORT) == [1, 1, 2]
    assert numbers(begun, IMPORT) == [1, 1]
    assert numbers(begun, DEATH) == [1, 1]


def test_a_banner_after_an_end_is_the_next_boots() -> None:
    begun = vllm(1, BANNER)
    assert numbers(begun, DEATH, begun) == [1, 1, 2]
    assert numbers(begun, GONE, begun) == [1, 1, 2]
    assert numbers(IMPORT, begun, begun) == [1, 1, 2]
    assert numbers(DEATH, begun) == [1, 2]
    copy = begun._replace(process=Process("api", "ApiServer_1"))
    assert numbers(begun, copy, copy) == [1, 1, 2]


def test_an_images_banner_begins_a_boot_where_a_server_was() -> None:
    begun = vllm(1, BANNER)
    assert numbers(begun, RULE, IMAGE, vllm(2)) == [1, 2, 2, 2]
    assert numbers(begun, IMAGE, vllm(2)) == [1, 2, 2]
    assert numbers(vllm(1, role="engine"), IMAGE, vllm(2)) == [1, 2, 2]
    assert numbers(vllm(1), IMAGE, vllm(2)) == [1, 1, 1]
    assert numbers(begun, RULE, RULE, vllm(2)) == [1, 1, 1, 1]
    assert numbers(begun, IMPORT, other(3), IMAGE, vllm(2)) == [1, 1, 1, 1, 1]
    assert numbers(begun, GONE, vllm(2)) == [1, 1, 2]
