"""Lines: envelopes peeled and stacked, pieces joined, carriage returns, colour, wrapping."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.model import Line, Run
from logdoctor.reading import read_lines
from logdoctor.reading.decoding import MAX_LINE
from tests.reading.wraps import WRAPS, in_pieces, wrap

LOG = [
    "INFO 11-30 09:20:42 [importing.py:44] Triton is installed but 0 active driver(s) found (expected 1).",
    "(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:302] \r",
    "(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:302]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.17.1\r",
    "(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:302] ",
    "(EngineCore_DP0 pid=68) \rLoading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:03,  1.02s/it]",
    "(EngineCore_DP0 pid=68) Traceback (most recent call last):",
    '(EngineCore_DP0 pid=68)   File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap',
    "(EngineCore_DP0 pid=68)     self.run()",
    "(EngineCore_DP0 pid=68) ValueError: | not a column > not a quote",
    "",
    '(APIServer pid=1) INFO:     127.0.0.1:59074 - "POST /v1/completions HTTP/1.1" 400 Bad Request',
]


def lines(text: str | bytes, first: int = 1) -> list[Line]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(read_lines([Run(first, data)]))


def texts(text: str | bytes) -> list[str]:
    return [line.text for line in lines(text)]


PLAIN = texts("\n".join(LOG) + "\n")


def test_a_plain_log_keeps_its_text_and_numbers() -> None:
    assert [line.number for line in lines("a\nb\n\nc")] == [1, 2, 3, 4]
    assert texts("a\nb\n\nc") == ["a", "b", "", "c"]


@pytest.mark.parametrize("name", WRAPS)
def test_every_envelope_gives_back_the_text_and_the_numbers(name: str) -> None:
    got = lines("".join(wrap(name, line, i) + "\n" for i, line in enumerate(LOG)))
    assert [line.text for line in got] == PLAIN
    assert [line.number for line in got] == list(range(1, len(LOG) + 1))
    assert [line.more for line in got] == [line.more for line in lines("\n".join(LOG) + "\n")]


@pytest.mark.parametrize("outer", WRAPS)
@pytest.mark.parametrize("inner", WRAPS)
def test_envelopes_stack(outer: str, inner: str) -> None:
    if outer == inner or (outer.startswith("journal") and inner == "indent"):
        return
    wrapped = [wrap(outer, wrap(inner, line, i), i) for i, line in enumerate(LOG)]
    assert texts("\n".join(wrapped) + "\n") == PLAIN


@given(
    st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=60), min_size=1, max_size=30),
    st.sampled_from(sorted(WRAPS)),
    st.sampled_from(["", *sorted(WRAPS)]),
)
def test_random_text_survives_any_envelope(messages: list[str], inner: str, outer: str) -> None:
    log = [f"INFO 11-30 09:20:42 [core.py:{i + 1}] {message}" for i, message in enumerate(messages)]
    wrapped = [wrap(inner, line, i) for i, line in enumerate(log)]
    if outer and outer != inner and not (outer.startswith("journal") and inner == "indent"):
        wrapped = [wrap(outer, line, i) for i, line in enumerate(wrapped)]
    plain = texts("\n".join(log) + "\n")
    got = lines("\n".join(wrapped) + "\n")
    assert [line.text for line in got] == plain
    assert [line.number for line in got] == list(range(1, len(log) + 1))


def test_what_the_envelope_states_goes_with_the_line() -> None:
    (line,) = lines('{"log":"text\\n","stream":"stderr","time":"2026-11-30T09:23:50.000137211Z"}\n')
    assert (line.text, line.stream, line.time) == ("text", "stderr", "2026-11-30T09:23:50.000137211Z")
    (line,) = lines("[pod/nemotron-0/vllm] 2026-11-30T09:23:50Z text\n")
    assert (line.source, line.time, line.text) == ("nemotron-0/vllm", "2026-11-30T09:23:50Z", "text")
    (line,) = lines("Nov 30 09:33:41 gpu-host docker[2213]: nemotron-1  | text\n")
    assert (line.source, line.time, line.text) == ("nemotron-1", "Nov 30 09:33:41", "text")
    (line,) = lines("2026-11-30T09:35:51.000137211Z stderr F text\n")
    assert (line.stream, line.text) == ("stderr", "text")


@pytest.mark.parametrize("kind", ["cri", "json-file", "journal-json"])
def test_pieces_are_joined_per_stream(kind: str) -> None:
    long = "(EngineCore pid=7) INFO 11-30 09:00:00 [core.py:1] " + "x" * 40_000 + "END"
    pieces = in_pieces(kind, long, "stdout")
    pieces.insert(1, in_pieces(kind, "(EngineCore pid=7) other stream", "stderr")[0])
    got = lines("\n".join([*pieces, *in_pieces(kind, "next", "stdout")]) + "\n")
    assert {(line.number, line.text) for line in got} == {
        (1, long),
        (2, "(EngineCore pid=7) other stream"),
        (len(pieces) + 1, "next"),
    }
    assert not any(line.gap for line in got)


def test_a_piece_whose_end_never_comes_is_not_lost() -> None:
    assert texts("2026-11-30T09:35:51Z stdout P half a\n") == ["half a"]


def test_joined_pieces_stay_within_bounds() -> None:
    piece = json.dumps({"log": "y" * 16384, "stream": "stdout", "time": "2026-11-30T09:23:50Z"})
    end = json.dumps({"log": "z\n", "stream": "stdout", "time": "2026-11-30T09:23:50Z"})
    (line,) = lines("\n".join([*[piece] * 60, end]) + "\n")
    assert len(line.text) <= MAX_LINE + 100


def test_a_collector_that_drops_line_ends_does_not_glue_all_lines() -> None:
    raw = [json.dumps({"log": f"line {i}", "stream": "stdout", "time": "2026-11-30T09:23:50Z"}) for i in range(5)]
    assert texts("\n".join(raw) + "\n") == [f"line {i}" for i in range(5)]


def test_journal_json_with_bytes_and_null() -> None:
    message = list(b"\x1b[0;36m(EngineCore pid=7)\x1b[0;0m \rLoading 5%")
    raw = [{"MESSAGE": message, "CONTAINER_NAME": "nemotron"}, {"MESSAGE": None}, {"MESSAGE": "plain", "PRIORITY": "3"}]
    got = lines("\n".join(map(json.dumps, raw)) + "\n")
    assert [line.text for line in got] == ["(EngineCore pid=7) Loading 5%", "", "plain"]
    assert [line.source for line in got] == ["nemotron", "", ""]


def test_the_systems_own_voice_belongs_to_no_service() -> None:
    got = lines(
        "Nov 30 09:33:41 host vllm[2213]: text\n"
        "Nov 30 09:33:42 host kernel: Out of memory: Killed process 2213 (VLLM::EngineCor)\n"
        "Nov 30 09:33:42 host systemd[1]: vllm.service: Main process exited, code=killed, status=9/KILL\n"
    )
    assert [line.source for line in got] == ["vllm", "", ""]
    assert got[1].text.startswith("Out of memory")


def test_envelopes_are_found_again_when_they_change() -> None:
    plain = [f"INFO 11-30 09:20:42 [core.py:{i}] plain" for i in range(700)]
    docker = [f"2026-11-30T09:20:42Z INFO 11-30 09:20:42 [core.py:{i}] docker" for i in range(700)]
    compose = [f"nemotron-1  | INFO 11-30 09:20:42 [core.py:{i}] compose" for i in range(700)]
    got = texts("\n".join(plain + docker + compose) + "\n")
    assert sum(text.startswith("INFO 11-30") for text in got) == 2100


def test_a_few_lines_that_only_look_wrapped_are_left_alone() -> None:
    log = [f"INFO 11-30 09:20:42 [core.py:{i}] text" for i in range(100)]
    log[50] = "name  | value"
    log[60] = '{"log": "x", "stream": "y"}'
    log[70] = "> quoted"
    assert texts("\n".join(log) + "\n") == log


def test_loguru_is_no_envelope() -> None:
    log = ["2026-04-19 13:05:22.330 | INFO     | vllm.mod:func:12 - text"] * 5
    assert texts("\n".join(log)) == log


# -- carriage returns ------------------------------------------------------------------------------------------------


def test_of_a_bar_the_last_part_counts_and_keeps_the_process() -> None:
    bar = "(Worker_TP0 pid=7) Capturing:   0%|     | 0/25\rCapturing:  12%|#2   | 3/25\rCapturing:  16%|#6   | 4/25\r"
    assert texts(bar + "\n") == ["(Worker_TP0 pid=7) Capturing:  16%|#6   | 4/25"]
    assert texts("\rLoading:  25%\n\rLoading:  50%\n") == ["Loading:  25%", "Loading:  50%"]
    assert texts("(Worker pid=7) \r\n") == ["(Worker pid=7) "]


def test_a_terminals_line_ends_leave_the_text_whole() -> None:
    got = lines("INFO 11-30 09:00:00 [a.py:1] x\r\r\nINFO 11-30 09:00:00 [a.py:1] y\r\nplain\r\n")
    assert [line.text for line in got] == ["INFO 11-30 09:00:00 [a.py:1] x", "INFO 11-30 09:00:00 [a.py:1] y", "plain"]
    assert [line.more for line in got] == [True, False, False]


def test_marks_of_continuation_are_unknown_where_the_input_has_none() -> None:
    assert [line.more for line in lines("a\nb\n")] == [None, None]
    assert [line.more for line in lines("a\r\nb\r\n")] == [None, None]
    assert [line.more for line in lines("a\r\nb\n")] == [True, False]


def test_a_return_planted_in_a_logged_message_cannot_push_the_head_out() -> None:
    fake = "(EngineCore pid=2) ERROR 11-30 09:00:00 [core.py:1] EngineCore failed to start."
    (line,) = lines(f"(APIServer pid=1) INFO 11-30 09:00:00 [logger.py:63] Received request x\r{fake}\nend\n")[:1]
    assert line.text.startswith("(APIServer pid=1) INFO 11-30 09:00:00 [logger.py:63] Received request x (EngineCore")


# -- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "coloured",
    [
        "\x1b[0;36m(EngineCore pid=7)\x1b[0;0m \x1b[31mERROR\x1b[0m \x1b[90m11-30 09:00:00\x1b[0m text",
        "\x1b]0;title\x07(EngineCore pid=7) \x1b[2KERROR 11-30 09:00:00 text",
        "[1;36m(EngineCore pid=7)[0;0m [31mERROR[0m 11-30 09:00:00 text",
        "#033[0;36m(EngineCore pid=7)#033[0;0m ERROR 11-30 09:00:00 text",
        "^[[0;36m(EngineCore pid=7)^[[0;0m ERROR 11-30 09:00:00 text",
    ],
)
def test_colour_goes_also_when_its_escape_is_lost(coloured: str) -> None:
    assert texts(coloured + "\n") == ["(EngineCore pid=7) ERROR 11-30 09:00:00 text"]


def test_file_and_line_brackets_are_no_colour() -> None:
    log = ["ERROR 11-30 09:00:00 [core.py:10] took 10m [0m", "x [20] [3;4]"]
    assert texts("\n".join(log)) == ["ERROR 11-30 09:00:00 [core.py:10] took 10m ", "x [20] [3;4]"]


def test_a_long_line_shows_its_cut() -> None:
    (line,) = lines("HEAD" + "x" * (MAX_LINE * 2) + "TAIL")
    assert len(line.text) < MAX_LINE + 100
    assert line.text.startswith("HEAD") and line.text.endswith("TAIL") and "line cut" in line.text


def test_fences_and_folds_are_left_out_and_leave_a_gap() -> None:
    got = lines("prose\n```text\nlog\n```\n<details><summary>x</summary>\nmore prose\n")
    assert [(line.number, line.text, line.gap) for line in got] == [
        (1, "prose", False),
        (3, "log", True),
        (6, "more prose", True),
    ]


def test_powershells_error_record_is_undone() -> None:
    got = texts(
        "docker : INFO 11-30 09:21:41 [importing.py:44] Triton is installed\r\n"
        "At line:1 char:1\r\n"
        "+ docker logs nemotron 2>&1 | Out-File x.log\r\n"
        "+ ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\r\n"
        "    + CategoryInfo          : NotSpecified: (INFO 11-30:String) [], RemoteException\r\n"
        "    + FullyQualifiedErrorId : NativeCommandError\r\n"
        " \r\n"
        "INFO 11-30 09:21:41 [importing.py:68] next\r\n"
    )
    assert got == [
        "INFO 11-30 09:21:41 [importing.py:44] Triton is installed",
        "INFO 11-30 09:21:41 [importing.py:68] next",
    ]


def test_runs_with_lines_left_out_between_them_mark_the_gap() -> None:
    got = list(read_lines([Run(5, b"a\nb\n"), Run(7, b"c\n"), Run(20, b"d\n")]))
    assert [(line.number, line.gap) for line in got] == [(5, False), (6, False), (7, False), (20, True)]


@pytest.mark.parametrize("width", [80, 120, 237])
def test_a_terminals_wrapping_is_undone(width: int) -> None:
    log = [
        f"(Worker_TP{i % 4} pid=7{i % 4}) ERROR 11-30 09:00:00 [core.py:{i}] " + f"word{i} " * (i * 7 % 60)
        for i in range(60)
    ]
    log = [line.rstrip() for line in log]
    wrapped = [part for line in log for part in [line[i : i + width] for i in range(0, len(line), width)]]
    assert len(wrapped) > len(log)
    got = lines("\n".join(wrapped) + "\n")
    assert [line.text for line in got] == log
    assert not any(line.gap for line in got)


def test_a_table_of_full_width_lines_is_no_wrapping() -> None:
    table = ["+" + "-" * 78 + "+", *["| " + "x" * 76 + " |"] * 6, "+" + "-" * 78 + "+"]
    log = [f"INFO 11-30 09:00:00 [core.py:{i}] x" for i in range(20)]
    assert texts("\n".join(log + table + log)) == log + table + log


@given(st.binary(max_size=3000))
def test_any_bytes_become_lines(data: bytes) -> None:
    got = lines(data)
    for line in got:
        assert "\n" not in line.text
    assert len(got) <= data.count(b"\n") + 1
