"""Boots: one start of a server each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.model import Record, Run
from logdoctor.reading import looks_like_vllm, read_lines, read_records, read_text

IMPORTS = (
    "INFO 11-30 09:35:20 [importing.py:44] Triton is installed but 0 active driver(s) found (expected 1).\n"
    "INFO 11-30 09:35:20 [importing.py:68] Triton not installed or not compatible.\n"
    "W1130 09:35:20.311000 10771 torch/utils/cpp_extension.py:118] No CUDA runtime is found\n"
)
PLATFORM = "INFO 04-19 13:05:22 [__init__.py:239] Automatically detected platform cuda.\n"
LOGO = (
    "(APIServer pid=1) INFO 11-30 09:35:22 [utils.py:302] \r\n"
    "(APIServer pid=1) INFO 11-30 09:35:22 [utils.py:302]        █     █     █▄   ▄█\r\n"
    "(APIServer pid=1) INFO 11-30 09:35:22 [utils.py:302]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.17.1\r\n"
    "(APIServer pid=1) INFO 11-30 09:35:22 [utils.py:302] \n"
)
OLD_BANNER = "INFO 04-19 13:05:30 [api_server.py:1043] vLLM API server version 0.8.5\n"
NEW_BANNER = "(APIServer pid=1) INFO 11-30 09:35:22 [startup.py:5] vLLM server version 0.31.0, serving model x\n"
ARGS = "(APIServer pid=1) INFO 11-30 09:35:22 [utils.py:238] non-default args: {'model': 'x'}\n"
CHILD = (
    IMPORTS
    + "(EngineCore_DP0 pid=68) INFO 11-30 09:35:30 [core.py:101] Initializing a V1 LLM engine (v0.17.1) with config\n"
)
DEATH = (
    "(APIServer pid=1) Traceback (most recent call last):\n"
    '(APIServer pid=1)   File "/usr/lib/dist-packages/vllm/entrypoints/cli/main.py", line 73, in main\n'
    "(APIServer pid=1) ValueError: no\n"
)
READY = "(APIServer pid=1) INFO:     Application startup complete.\n"
REPORT = (
    "INFO 11-30 09:00:00 [__init__.py:239] Automatically detected platform cuda.\n"
    "Collecting environment information...\n"
    "==============================\n        System Info\n==============================\n"
    "OS : Ubuntu 22.04.5 LTS (x86_64)\nvLLM Version : 0.17.1\nGPU models : GPU 0: NVIDIA GB10\n"
)
IMAGE = (
    "\n==========\n== CUDA ==\n==========\n\nCUDA Version 12.8.1\n\nContainer image Copyright (c) 2016-2023, NVIDIA\n\n"
)
USAGE = "usage: vllm [-h] [-v] {chat,serve} ...\nvllm: error: unrecognized arguments: /models/tiny\n"


def boots(text: str) -> list[int]:
    """First line numbers of the boots."""
    firsts: dict[int, int] = {}
    for index, record in read_text(text):
        firsts.setdefault(index, record.first_line)
    assert list(firsts) == list(range(1, len(firsts) + 1))
    return list(firsts.values())


def count(text: str) -> int:
    return text.count("\n")


@pytest.mark.parametrize("banner", [LOGO, NEW_BANNER], ids=["logo", "line"])
@pytest.mark.parametrize("prelude", ["", IMPORTS, IMAGE, IMAGE + IMPORTS])
def test_a_restart_loop_is_cut_before_the_first_line_of_each_start(banner: str, prelude: str) -> None:
    one = prelude + banner + ARGS + CHILD + DEATH
    got = boots(one * 3)
    blanks = len(prelude) - len(prelude.lstrip("\n"))
    assert got == [1 + blanks + i * count(one) for i in range(3)]


def test_a_server_that_was_killed_and_starts_again_is_two_boots() -> None:
    one = IMPORTS + LOGO + ARGS + CHILD + READY
    assert boots(one * 2) == [1, count(one) + 1]


def test_starts_of_children_are_no_boots() -> None:
    text = (
        IMPORTS + LOGO + ARGS + CHILD + IMPORTS * 3 + "(Worker pid=80) INFO 11-30 09:36:00 [a.py:1] x\n" + READY + DEATH
    )
    assert boots(text) == [1]


def test_the_old_nameless_server() -> None:
    engine = "INFO 04-19 13:05:40 [core.py:58] Initializing a V1 LLM engine (v0.8.5) with config: x\n"
    one = PLATFORM + OLD_BANNER + "INFO 04-19 13:05:31 [api_server.py:1044] args: Namespace(x=1)\n" + PLATFORM + engine
    assert boots(one * 3) == [1, 1 + count(one), 1 + 2 * count(one)]


def test_banners_of_further_api_servers_are_copies() -> None:
    copy = "(ApiServer_{0} pid=19{0}) INFO 11-30 10:08:20 [api_server.py:9] vLLM API server version 0.11.0\n"
    engines = "".join(
        f"(EngineCore_DP{i} pid=18{i}) INFO 11-30 10:08:20 [core.py:1] Initializing a V1 LLM engine (v0.11.0)\n"
        for i in range(2)
    )
    one = (
        "INFO 11-30 10:08:04 [utils.py:345] vLLM API server version 0.11.0\n"
        + IMPORTS
        + copy.format(1)
        + copy.format(0)
        + engines
    )
    assert boots(one) == [1]
    assert boots(one * 2) == [1, count(one) + 1]
    named = copy.format(0) + copy.format(1) + engines
    assert boots(named * 2) == [1, count(named) + 1]


def test_a_pasted_environment_report_is_no_boot() -> None:
    start = IMPORTS + LOGO + ARGS + CHILD
    assert boots(REPORT + start) == [1]
    assert boots(start + REPORT + READY) == [1]
    assert boots(start + REPORT) == [1]
    assert boots(REPORT) == [1]


@pytest.mark.parametrize("prelude", ["", IMPORTS])
def test_refused_command_lines_are_boots(prelude: str) -> None:
    one = prelude + USAGE
    assert boots(one) == [1]
    assert boots(one * 3) == [1, count(one) + 1, 2 * count(one) + 1]


def test_starts_that_die_before_any_banner_are_boots() -> None:
    one = (
        IMPORTS
        + 'Traceback (most recent call last):\n  File "/x/vllm/config/device.py", line 56, in f\nRuntimeError: no\n'
    )
    assert boots(one * 3) == [1, count(one) + 1, 2 * count(one) + 1]


def test_children_that_die_one_after_another_are_one_boot() -> None:
    died = 'Traceback (most recent call last):\n  File "/x/vllm/v1/worker.py", line 56, in f\nRuntimeError: no\n'
    assert boots(NEW_BANNER + ARGS + (IMPORTS + died) * 3 + DEATH) == [1]


def test_an_error_that_a_library_prints_is_no_end() -> None:
    text = NEW_BANNER + ARGS + "OSError: could not load libfoo\n" + IMPORTS + ARGS
    thread = (
        'Exception in thread T-1 (f):\nTraceback (most recent call last):\n  File "a.py", line 5, in f\nKeyError: 1\n'
    )
    assert boots(text) == [1]
    assert boots(NEW_BANNER + ARGS + thread + IMPORTS + ARGS) == [1]


def test_the_start_that_has_just_begun_is_the_last_boot() -> None:
    one = IMPORTS + LOGO + ARGS + DEATH
    assert boots(one + IMPORTS) == [1, count(one) + 1]


def test_an_excerpt_without_banner_is_one_boot() -> None:
    assert boots(CHILD + READY + DEATH) == [1]
    assert boots(DEATH) == [1]
    assert boots("cudaErrorIllegalInstruction\n") == [1]
    assert boots("") == []


def test_the_end_of_an_earlier_start_is_a_boot_of_its_own() -> None:
    rest = "(EngineCore_DP0 pid=68) INFO 11-30 09:30:00 [core.py:9] serving\n" + READY
    assert boots(rest + IMPORTS + LOGO + ARGS) == [1, count(rest) + 1]


def test_compose_reports_the_end_of_a_container() -> None:
    def compose(text: str) -> str:
        return "".join(f"nemotron-1  | {line}\n" for line in text.splitlines())

    one = compose(LOGO + ARGS) + "nemotron-1 exited with code 1 (restarting)\n"
    assert boots(one * 3) == [1, count(one) + 1, 2 * count(one) + 1]
    quiet = compose(ARGS) + "nemotron-1 exited with code 137\n"
    assert boots(quiet * 2) == [1, count(quiet) + 1]


def services(**texts: str) -> str:
    """The lines of several services in turns, as compose prints them."""
    queues = {name: text.splitlines() for name, text in texts.items()}
    lines = []
    while any(queues.values()):
        for name, queue in queues.items():
            if queue:
                lines.append(f"{name}-1  | {queue.pop(0)}")
    return "\n".join(lines) + "\n"


def by_boot(text: str) -> list[set[str]]:
    found: dict[int, set[str]] = {}
    last = 0
    for index, record in read_text(text):
        assert index >= last
        last = index
        found.setdefault(index, set()).add(record.process.host)
    return list(found.values())


def test_services_in_one_stream_have_boots_of_their_own() -> None:
    start = LOGO + ARGS + DEATH
    assert by_boot(services(chat=start * 2, embed=start)) == [{"chat-1"}, {"chat-1"}, {"embed-1"}]


def test_services_that_are_no_vllm_are_left_out() -> None:
    nginx = '172.17.0.1 - - [30/Nov/2026:09:00:00 +0000] "GET / HTTP/1.1" 200 612\n' * 20
    assert by_boot(services(nginx=nginx, nemotron=LOGO + ARGS + DEATH)) == [{"nemotron-1"}]
    assert by_boot(services(nginx=nginx, webui=nginx)) == [{"nginx-1"}, {"webui-1"}]


def test_the_kernels_word_goes_to_the_server_that_spoke_last() -> None:
    text = (
        "Nov 30 09:33:41 host vllm[2213]: (EngineCore pid=7) INFO 11-30 09:00:00 [core.py:9] x\n"
        "Nov 30 09:33:42 host sshd[99]: Accepted publickey\n"
        "Nov 30 09:33:42 host kernel: Out of memory: Killed process 2213 (VLLM::EngineCor)\n"
        "Nov 30 09:33:43 host systemd[1]: vllm.service: Main process exited, code=killed, status=9/KILL\n"
    )
    got = list(read_text(text))
    assert [index for index, _ in got] == [1, 1, 1]
    assert got[1][1].message.startswith("Out of memory")


def record(text: str) -> Record:
    return next(iter(read_text(text)))[1]


@pytest.mark.parametrize(
    "text",
    [
        "(EngineCore pid=7) anything",
        "INFO 11-30 09:00:00 [core.py:9] x",
        USAGE,
        "vllm serve: error: argument --port: invalid int value: 'x'",
        "api_server.py: error: unrecognized arguments: serve",
        'Traceback (most recent call last):\n  File "/x/vllm/config/device.py", line 5, in f\nRuntimeError: x',
        "(RustFrontend pid=3) INFO 11-30 09:22:01 [process.rs:98] x",
    ],
)
def test_what_looks_like_vllm(text: str) -> None:
    assert looks_like_vllm(record(text))


@pytest.mark.parametrize(
    "text",
    [
        '172.17.0.1 - - [30/Nov/2026:09:00:00 +0000] "GET / HTTP/1.1" 200 612',
        'time=2026-11-30T09:00:00.000Z level=INFO source=routes.go:1158 msg="Listening on [::]:11434"',
        "INFO:     Application startup complete.",
        'Traceback (most recent call last):\n  File "/opt/app.py", line 5, in f\nRuntimeError: x',
        "usage: myprog [-h]\nmyprog: error: x",
    ],
)
def test_what_does_not_look_like_vllm(text: str) -> None:
    assert not looks_like_vllm(record(text))


PARTS = [
    IMPORTS,
    PLATFORM,
    LOGO,
    OLD_BANNER,
    NEW_BANNER,
    ARGS,
    CHILD,
    DEATH,
    READY,
    REPORT,
    IMAGE,
    USAGE,
    "text\n",
    "x exited with code 1\n",
]


@given(st.binary(max_size=4000))
def test_any_bytes_become_boots(data: bytes) -> None:
    indices = [index for index, _ in read_records(read_lines([Run(1, data)]))]
    assert indices == sorted(indices)


@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_boots_are_numbered_without_holes_and_lose_no_record(parts: list[str]) -> None:
    text = "".join(parts)
    got = list(read_text(text))
    indices = [index for index, _ in got]
    assert indices == sorted(indices)
    assert set(indices) == set(range(1, max(indices, default=0) + 1))
    firsts = [item.first_line for _, item in got]
    assert firsts == sorted(firsts)
