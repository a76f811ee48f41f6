"""Logs made to cost as much as they can: each function fills a given number of bytes with one kind of trouble."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import count, cycle

Bomb = Callable[[int], bytes]
BOMBS: dict[str, Bomb] = {}

HEAD = "(EngineCore_DP0 pid=7) ERROR 11-30 09:20:57 [core.py:101] "
INFO = "(EngineCore_DP0 pid=7) INFO 11-30 09:20:57 [core.py:101] "
BANNER = "(APIServer pid=1) INFO 11-30 09:20:45 [api_server.py:1] vLLM API server version 0.17.1\n"
ARGUMENTS = "(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:238] non-default args: "


def bomb(function: Bomb) -> Bomb:
    """Register a generator under its name."""
    BOMBS[function.__name__] = function
    return function


def filled(size: int, pieces: Iterable[str]) -> bytes:
    """Join pieces until `size` bytes are reached; whole pieces only."""
    out, length = [], 0
    for piece in pieces:
        data = piece.encode()
        if length + len(data) > size:
            break
        out.append(data)
        length += len(data)
    return b"".join(out)


def repeated(size: int, line: str) -> bytes:
    """The same text again and again."""
    data = line.encode()
    return data * (size // len(data))


def lines_of(name: str, make: Callable[[int], str]) -> None:
    """Register a bomb of numbered lines."""
    BOMBS[name] = lambda size: filled(size, (make(number) for number in count()))


def same(name: str, text: str) -> None:
    """Register a bomb of one text repeated."""
    BOMBS[name] = partial(_same, text)


def _same(text: str, size: int) -> bytes:
    return repeated(size, text)


# --- nothing but size -----------------------------------------------------------------------------------------------

same("empty_lines", "\n")
same("carriage_returns", "\r")
same("crlf", "\r\n")
same("nul_bytes", "\0")
same("blanks", " ")
same("blank_lines", "  \n")
same("one_letter_lines", "a\n")
same("one_column", "a")
same("invalid_bytes", "\u00ff")
same("spinner", "\rloading 12%|#### ")
same("bars", f"{INFO.split('INFO', maxsplit=1)[0]}Loading shards:  10% Completed | 1/9 [00:00<00:10, 1.1s/it]\r")
same("bar_lines", "(EngineCore_DP0 pid=7) \rLoading shards:  10% Completed | 1/9 [00:00<00:10, 1.1s/it]\n")


@bomb
def raw_bytes(size: int) -> bytes:
    """Every byte value, over and over: nothing of it is text."""
    return (bytes(range(256)) * (size // 256 + 1))[:size]


@bomb
def wide_line(size: int) -> bytes:
    """One log line of a megabyte."""
    return BANNER.encode() + HEAD.encode() + b"word " * (size // 5 - 60) + b"\n"


@bomb
def wide_lines(size: int) -> bytes:
    """A few lines of 100,000 columns."""
    return BANNER.encode() + (HEAD + "x" * (size // 10 - 200) + "\n").encode() * 9


@bomb
def utf16(size: int) -> bytes:
    """A log as Windows writes it."""
    return b"\xff\xfe" + filled(size // 2, cycle([BANNER, HEAD + "CUDA error\n"])).decode().encode("utf-16-le")


# --- brackets, quotes, escapes --------------------------------------------------------------------------------------

for opening in ("[", "{", "(", "<", "'", '"', "`", "\\", "<a", "{'a': ", "[(", "A(a=", "f'", "dict(a="):
    same(f"args_{opening}", opening)
    BOMBS[f"args_{opening}"] = partial(
        lambda text, size: BANNER.encode() + (ARGUMENTS + "{'model': ").encode() + repeated(size - 300, text) + b"\n",
        opening,
    )
    BOMBS[f"json_{opening}"] = partial(lambda text, size: b'{"log": ' + repeated(size - 20, text) + b"\n", opening)
for opening in ("{", "[", '{"a":', "<a "):
    same(f"lines_of_{opening}", opening * 60 + "\n")


@bomb
def dict_repr(size: int) -> bytes:
    """Arguments with as many keys as fit."""
    pairs = filled(size - 300, (f"'key_{number}': {number}, " for number in count()))
    return (BANNER + ARGUMENTS).encode() + b"{" + pairs + b"}\n"


@bomb
def dict_of_dicts(size: int) -> bytes:
    """Arguments nested as deep as the reader follows, again and again."""
    deep = "{'a': " * 50 + "1" + "}" * 50
    pairs = filled(size - 300, (f"'key_{number}': {deep}, " for number in count()))
    return (BANNER + ARGUMENTS).encode() + b"{" + pairs + b"}\n"


@bomb
def argument_lines(size: int) -> bytes:
    """Many argument lines, each half open."""
    return BANNER.encode() + filled(size - 100, (f"{ARGUMENTS}{{'k{n}': [({{'a': 'b" + "\n" for n in count()))


@bomb
def config_line(size: int) -> bytes:
    """An engine configuration that never ends."""
    start = f"{INFO}Initializing a V1 LLM engine (v0.17.1) with config: "
    return (BANNER + start).encode() + filled(size - 400, (f"key{n}=A(b=<C.D: {n}>, " for n in count())) + b"\n"


@bomb
def config_lines(size: int) -> bytes:
    """Engine configurations without commas."""
    start = f"{INFO}Initializing a V1 LLM engine (v0.17.1) with config: "
    return BANNER.encode() + repeated(size - 100, start + "model=" + "a b c=" * 300 + "\n")


@bomb
def namespace(size: int) -> bytes:
    """0.8.5's Namespace, full of names."""
    start = "INFO 04-24 13:01:01 [api_server.py:1044] args: Namespace("
    return (BANNER + start).encode() + filled(size - 300, (f"name{n}=[{n}, None], " for n in count())) + b")\n"


# --- boots, processes, services -------------------------------------------------------------------------------------

same("banners", BANNER)
same("usage_errors", "vllm serve: error: unrecognized arguments: --a\n")
same("short_usage_errors", "vllm: error: a\n")
same("image_banners", "== vLLM ==\n")
same("rules", "=====\n")
same("import_lines", "INFO 11-30 09:20:42 [importing.py:44] Triton is installed\n")
same("imports_and_errors", "INFO 11-30 09:20:42 [importing.py:44] Triton is installed\nvllm: error: a\n")
same("exits", "a exited with code 1\n")
same("banner_and_exit", BANNER + "vllm-1 exited with code 1 (restarting)\n")
same("banner_and_traceback", BANNER + 'Traceback (most recent call last):\n  File "a", line 1, in b\nOSError: c\n')
lines_of("dying_boots", lambda n: f"{BANNER}{HEAD}EngineCore failed to start.\n{HEAD}ValueError: no {n} here\n")
lines_of("processes", lambda n: f"(Worker_TP{n} pid={n}) ERROR 11-30 09:20:57 [a.py:1] CUDA out of memory. x{n}\n")
lines_of("short_processes", lambda n: f"(A pid={n}) x\n")
lines_of("open_tracebacks", lambda n: f"(A pid={n}) Traceback (most recent call last):\n")
lines_of("ranks", lambda n: f"[rank{n}]: RuntimeError: NCCL error {n}\n")
lines_of("ray_workers", lambda n: f"(RayWorkerWrapper pid={n}, ip=10.0.{n % 256}.{n // 256 % 256}) x {n}\n")
lines_of("services", lambda n: f"s{n}-1 | {BANNER}")
lines_of("service_lines", lambda n: f"s{n} | (A pid={n}) Traceback (most recent call last):\n")
lines_of("pods", lambda n: f"[pod/p{n}/c{n}] {HEAD}ValueError: {n}\n")
lines_of("cri_pieces", lambda n: f"2026-11-30T09:20:57.{n:09}Z stdout P piece {n}\n")
lines_of("json_file", lambda n: json.dumps({"log": f"{HEAD}x {n}\n", "stream": "stderr", "time": "2026-11-30"}) + "\n")
lines_of("json_pieces", lambda n: json.dumps({"log": "x" * 50, "stream": f"s{n}", "container_name": f"c{n}"}) + "\n")
lines_of("journal", lambda n: f"Nov 30 09:20:57 host{n} unit{n}[{n}]: {HEAD}x\n")
lines_of(
    "journal_json", lambda n: json.dumps({"MESSAGE": list(b"(A pid=1) x" * 9), "SYSLOG_IDENTIFIER": f"{n}"}) + "\n"
)
lines_of("hosts", lambda n: f"node{n}.example.com:{n}:{n} [0] NCCL INFO Channel {n}\n")

# --- envelopes, prefixes, colour ------------------------------------------------------------------------------------

same("prefixes", "(A pid=1) ")
same("prefix_lines", "(A pid=1) " * 40 + "\n")
same("rank_prefixes", "[rank0]: ")
same("open_prefixes", "(A")
same("open_prefix_lines", "(" + "A " * 100 + "\n")
same("quotes", "> ")
same("quote_lines", "> " * 200 + "\n")
same("html_quotes", "&gt; ")
same("indents", "\t \n")
same("times", "2026-11-30T09:20:57Z ")
same("time_lines", "2026-11-30T09:20:57Z " * 20 + "\n")
same("compose_chain", "a | b | c | ")
same("compose_lines", "a" * 5000 + "\n")
same("pods_open", "[pod/a/b] " * 30 + "\n")
same("fences", "```\n")
same("folds", "<details>" * 8 + "\n")
same("powershell", "docker : x\nAt line:1 char:1\n+ a\n")
same("colour", "\x1b[31m")
same("colour_lines", "\x1b[31m\x1b[0m" * 20 + "x\n")
same("lost_colour", "[0;36m")
same("osc", "\x1b]8;;http://a\x07")
same("open_osc", "\x1b]")
same("csi_open", "\x1b[1;1;")
same("escape_only", "\x1b")
same("wrapped", "x" * 80 + "\n")
same("half_wrapped", "y z " * 20 + "\n" + "(A pid=1) " + "x" * 70 + "\n")
same("ray_repeats", "(A pid=1) x [repeated 5x across cluster] (Ray deduplicates logs\n")
same("ray_repeat_wide", "[repeated 5x across cluster")
same("it_s", "it/s]INFO 11-30 09:20:57 [")


@bomb
def nested_json(size: int) -> bytes:
    """A line in a json-file in a json-file and so on, until it is as long as it may be."""
    text = f"{HEAD}x\n"
    while True:
        wrapped = json.dumps({"log": text, "stream": "stderr", "time": "2026-11-30T09:20:57Z"}) + "\n"
        if len(wrapped) > size:
            return text.encode()
        text = wrapped


@bomb
def nested_json_lines(size: int) -> bytes:
    """Lines five envelopes deep."""
    text = f"{HEAD}x\n"
    for _ in range(5):
        text = json.dumps({"log": text, "stream": "stderr", "time": "2026-11-30T09:20:57Z"}) + "\n"
    return repeated(size, text)


@bomb
def changing_envelopes(size: int) -> bytes:
    """Every line in another envelope than the one before."""
    forms = ("{}", "> {}", "a | {}", "2026-11-30T09:20:57Z {}", "[pod/a/b] {}", "Nov 30 09:20:57 h u[1]: {}")
    return filled(size, (form.format(f"{HEAD}x\n") for form in cycle(forms)))


# --- tracebacks -----------------------------------------------------------------------------------------------------

FRAME = '  File "/usr/lib/python3/dist-packages/vllm/a.py", line {n}, in f{n}\n    call_{n}()\n'
CONNECTOR = "\nThe above exception was the direct cause of the following exception:\n\n"


@bomb
def deep_traceback(size: int) -> bytes:
    """One traceback with as many frames as fit."""
    frames = filled(size - 200, (FRAME.format(n=n) for n in count()))
    return BANNER.encode() + b"Traceback (most recent call last):\n" + frames + b"RecursionError: deep\n"


@bomb
def tiny_frames(size: int) -> bytes:
    """The same with the shortest frames there are."""
    frames = repeated(size - 200, '  File "a", line 1\n')
    return BANNER.encode() + b"Traceback (most recent call last):\n" + frames + b"RecursionError: deep\n"


@bomb
def chained(size: int) -> bytes:
    """Exceptions that cause exceptions."""
    one = 'Traceback (most recent call last):\n  File "a", line 1, in b\nError{n}: text {n}\n' + CONNECTOR
    return BANNER.encode() + filled(size - 100, (one.replace("{n}", str(n)) for n in count()))


@bomb
def chained_logged(size: int) -> bytes:
    """The same in one log record."""
    one = 'Traceback (most recent call last):\n  File "a", line 1, in b\nError{n}: text {n}\n' + CONNECTOR
    text = "".join(one.replace("{n}", str(n)) for n in range(1 + size // 900))
    return BANNER.encode() + filled(size - 100, (f"{HEAD}{line}\n" for line in cycle(text.split("\n"))))


same("traceback_heads", "Traceback (most recent call last):\n")
same("error_lines", "ValueError: x\n")
lines_of("different_errors", lambda n: f"{HEAD}SomeError{n}: text {n} of 'quoted' /path/{n}\n")
same("group_marks", "  | " * 20 + "\n")
same(
    "exception_groups",
    "  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: a (1)\n  +-+---- 1 ----\n",
)
same("connectors", CONNECTOR)
same(
    "rust_causes",
    "(Frontend pid=1) ERROR 11-30 09:20:57 [main.rs:1] error: a\nCaused by these errors\n  1: a\n  2: b\n",
)
same("thread_dumps", 'Fatal Python error: x\nCurrent thread 0x1\n  File "a", line 1 in b\n')
same("child_processes", "Process A:\nTraceback (most recent call last):\n")


@bomb
def long_message(size: int) -> bytes:
    """An exception whose message is the rest of the file."""
    start = f'{BANNER}Traceback (most recent call last):\n  File "a", line 1, in b\nValueError: x\n'
    return start.encode() + repeated(size - len(start), "    and more of it\n")


@bomb
def long_record(size: int) -> bytes:
    """A log record with as many lines as fit."""
    return BANNER.encode() + repeated(size - 100, f"{HEAD}  more\n")


# --- what the tool looks for ----------------------------------------------------------------------------------------

same("access_lines", '(APIServer pid=1) INFO:     1.2.3.4:5 - "GET /v1/models HTTP/1.1" 200 OK\n')
same("throughput", "INFO 11-30 09:20:57 [l.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, "
     "Avg generation throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n")  # fmt: skip
same("requests", "INFO 11-30 09:20:57 [l.py:1] Received request chatcmpl-1: prompt: 'x y z', params: S(n=1)\n")
same("quoted_forever", "INFO 11-30 09:20:57 [l.py:1] Received request a: " + "Request b " * 50 + "\n")
same("http_wide", ' HTTP/1.1" "GET / ')
same("throughput_wide", "Avg prompt throughput: 1 tokens/s, Avg generation throughput: ")


@cache
def fact_literals() -> tuple[str, ...]:
    """Every text that a fact, phase or event line holds."""
    from logdoctor.facts import LITERALS
    from logdoctor.facts.events import EVENTS

    return tuple(dict.fromkeys((*LITERALS, *(event.literal for event in EVENTS))))


@cache
def signature_texts() -> tuple[str, ...]:
    """Every literal core of every signature."""
    from logdoctor.database import load_database

    rows = load_database(environ={}).rows
    return tuple(dict.fromkeys(literal for row in rows for literal in (*row.literals, *row.against)))


@cache
def examples() -> tuple[str, ...]:
    """The lines that the signatures say they match."""
    from logdoctor.database import load_database

    signatures = load_database(environ={}, examples=True).signatures
    return tuple(example.log for signature in signatures for example in signature.examples.match)


@bomb
def all_literals(size: int) -> bytes:
    """The core of every signature, each on a line of an error."""
    return BANNER.encode() + filled(size - 100, (f"{HEAD}{text}\n" for text in cycle(signature_texts())))


@bomb
def all_literals_at_once(size: int) -> bytes:
    """The cores of all signatures in one line."""
    line = HEAD + " ".join(signature_texts()).replace("\n", " ") + "\n"
    return BANNER.encode() + repeated(size - 100, line)


@bomb
def all_literals_bare(size: int) -> bytes:
    """The same without a head."""
    return BANNER.encode() + filled(size - 100, (f"{text}\n" for text in cycle(signature_texts())))


@bomb
def all_examples(size: int) -> bytes:
    """Everything that can be wrong is wrong, many times."""
    return BANNER.encode() + filled(size - 100, (f"{text}\n" for text in cycle(examples())))


@bomb
def all_examples_per_boot(size: int) -> bytes:
    """Every boot dies of something else, at once."""
    return filled(size, (f"{BANNER}{text}\n" for text in cycle(examples())))


@bomb
def all_facts(size: int) -> bytes:
    """The words of every fact."""
    return BANNER.encode() + filled(size - 100, (f"{INFO}{text} 1\n" for text in cycle(fact_literals())))


@bomb
def all_facts_at_once(size: int) -> bytes:
    """The words of all facts in each line."""
    return BANNER.encode() + repeated(size - 100, f"{INFO}{' 1 '.join(fact_literals())}\n")


@bomb
def fact_words(size: int) -> bytes:
    """Short words that stand in many literals."""
    words = {word for text in fact_literals() for word in re.findall(r"\w+", text)}
    return BANNER.encode() + repeated(size - 100, f"{INFO}{' '.join(sorted(words))}\n")


lines_of(
    "unknown_variables",
    lambda n: f"WARNING 11-30 09:20:57 [e.py:1] Unknown vLLM environment variable detected: VLLM_A{n}\n",
)
lines_of("env_values", lambda n: f"{INFO}set via VLLM_X{n}={n}\n")
lines_of(
    "shards",
    lambda n: f"{INFO}Loading safetensors checkpoint shards: {n % 100}% Completed | {n}/99999 [00:00<00:10, 1s/it]\n",
)
same("unrecognized", f"{BANNER}vllm serve: error: unrecognized arguments: " + "--flag-a --flag-b=c " * 500 + "\n")


# --- what redaction looks for ---------------------------------------------------------------------------------------


def _secrets() -> Iterator[str]:
    for number in count():
        yield f"hf_{number:034} "
        yield f"api_key='sk-{number:048}' "
        yield f"user{number}@host{number}.example.com 10.{number % 256}.{number // 256 % 256}.1 "
        yield f"https://u{number}:p{number}@h/ -----BEGIN PRIVATE KEY----- "


@bomb
def secrets_wide(size: int) -> bytes:
    """Secrets in the message of an unknown failure."""
    return (
        f"{BANNER}{HEAD}EngineCore failed to start.\n{HEAD}SomeError: ".encode()
        + filled(size - 300, _secrets())
        + b"\n"
    )


@bomb
def secrets_lines(size: int) -> bytes:
    """Secrets in everything: arguments, errors of every boot."""
    return filled(size, (f"{BANNER}{ARGUMENTS}{{'x': '{secret}'}}\n{HEAD}OSError: {secret}\n" for secret in _secrets()))


def iterations(names: Iterable[str] | None = None) -> Iterator[tuple[str, Bomb]]:
    """The bombs by name."""
    return ((name, BOMBS[name]) for name in (names or BOMBS))
