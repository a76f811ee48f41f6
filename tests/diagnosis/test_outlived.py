"""A server that is up: what clients make it say, and what it outlived, are no causes of a failure."""

from __future__ import annotations

from functools import cache

import pytest

from logdoctor.database import load_database
from logdoctor.model import BootDiagnosis, Severity, Verdict
from logdoctor.reading import read_text
from tests.diagnosis.build import CASCADE, UP, banner, boot, ids, lines, raised, root, said

OK = '(APIServer pid=1) INFO:     172.18.0.1:41000 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
REFUSED = '(APIServer pid=1) INFO:     172.18.0.1:41000 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request'
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.19 GiB"
SAYINGS = (
    OOM,
    "RuntimeError: CUDA error: an illegal instruction was encountered",
    "ValueError: No available memory for the cache blocks.",
    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
    "KeyError: \"Reasoning parser 'super_v3' not found. Available parsers: deepseek_r1\"",
    "ncclUnhandledCudaError: Call to CUDA function failed.",
)
"""What a client may write into a prompt, a model's name, a schema."""
FILE = '  File "/usr/local/lib/python3.12/dist-packages/vllm/entrypoints/chat_utils.py", line 9, in render\n    go()'
COMPLAINTS = (
    "Error with model error=ErrorInfo(message='The model `{}` does not exist.', type='NotFoundError', code=404)",
    "tool parse failed for model output: ```{}```",
    "Error in extracting tool call from response. {}",
    'Failed to compile grammar: the schema says "{}"',
    "The following fields were present in the request but ignored: {{'{}'}}",
    "Error in preprocessing prompt inputs: {}",
    f"Error in preprocessing prompt inputs\nTraceback (most recent call last):\n{FILE}\n"
    "jinja2.exceptions.TemplateError: {{}}",
    f"Exception in ASGI application\nTraceback (most recent call last):\n{FILE}\npydantic_core._pydantic_core."
    "ValidationError: 1 validation error for ChatCompletionRequest\nmessages.0.content\n  Input should be a valid "
    "string [type=string_type, input_value={}, input_type=str]",
    'answer of the model:\nTraceback (most recent call last):\n  File "a.py", line 3, in <module>\n{}',
)


def alarms(of: BootDiagnosis) -> list[str]:
    return [f"{f.severity.value} {f.id}" for f in of.findings if f.severity.rank >= Severity.ERROR.rank]


def complaint(text: str, process: str, level: str) -> str:
    return said(text, process, level, file="serving.py:10")


@pytest.mark.parametrize("saying", SAYINGS)
@pytest.mark.parametrize("shape", COMPLAINTS)
@pytest.mark.parametrize("level", ["ERROR", "WARNING"])
def test_what_a_client_made_the_server_say_alarms_nobody(shape: str, saying: str, level: str) -> None:
    log = lines(banner("0.24.0"), UP, OK, complaint(shape.format(saying), "APIServer pid=1", level), REFUSED, OK)
    made = boot(log)
    assert made.verdict is Verdict.READY
    assert alarms(made) == []


@pytest.mark.parametrize("shape", COMPLAINTS[:6])
def test_versions_without_process_names_know_it_by_the_module(shape: str) -> None:
    line = said(shape.format(OOM), "x", "ERROR", file="serving_chat.py:197").replace("(x) ", "")
    made = boot(lines(banner("0.8.5"), UP, OK, line, OK))
    assert (made.verdict, alarms(made)) == (Verdict.READY, [])


def test_the_same_words_of_the_engine_are_an_alarm() -> None:
    died = raised(OOM, "run_busy_loop", head="EngineCore encountered a fatal error.")
    made = boot(lines(banner("0.24.0"), UP, OK, died))
    assert made.verdict is Verdict.CRASHED
    assert root(made).startswith("gpu-o")


def test_the_same_words_before_the_server_is_up_are_an_alarm() -> None:
    made = boot(lines(banner("0.24.0"), complaint(f"it failed: {OOM}", "APIServer pid=1", "ERROR")))
    assert alarms(made) != []


def test_text_of_a_client_never_stands_in_the_report() -> None:
    secret = "my very own words"
    made = boot(lines(banner(), UP, OK, complaint(f"Failed to compile grammar: {secret}", "APIServer pid=1", "ERROR")))
    assert secret not in repr(made)


# --- outlived ---------------------------------------------------------------------------------------------------------

RETRY = "Error retrieving file list: 504 Server Error: Gateway Time-out for url: https://hf.co/api/x, retrying 1 of 2"
SKIPPED = (
    "(EngineCore pid=68) E0828 07:03:11.123456 112 torch/_inductor/select_algorithm.py:2100] [0/0] Exception out of "
    "resource: shared memory, Required: 147456, Hardware limit: 101376. Reducing block sizes may help."
)


@pytest.mark.parametrize("line", [said(RETRY, "APIServer pid=1", "ERROR", file="repo_utils.py:65"), SKIPPED])
def test_a_start_outlives_what_was_tried_again_or_left_out(line: str) -> None:
    made = boot(lines(banner("0.24.0"), line, said("Application starts"), UP, OK))
    assert (made.verdict, alarms(made)) == (Verdict.READY, [])
    assert all("outlived" in f.title for f in made.findings if f.id.startswith(("hub-un", "triton-")))


def test_a_start_that_goes_on_after_an_error_has_not_failed() -> None:
    retry = said(RETRY, "APIServer pid=1", "ERROR", file="repo_utils.py:65")
    on = [said(f"Step {step} is done", "APIServer pid=1") for step in range(4)]
    assert boot(lines(banner("0.24.0"), retry, *on)).verdict is Verdict.STARTING


def test_an_error_that_a_start_outlived_is_not_the_cause_of_a_later_crash() -> None:
    died = raised("RuntimeError: CUDA error: an illegal memory access was encountered", "execute_model")
    made = boot(lines(banner("0.24.0"), SKIPPED, UP, OK, died))
    assert made.verdict is Verdict.CRASHED
    assert root(made) == "cuda-illegal-memory-access"


CLIENT = (
    'Traceback (most recent call last):\n  File "/app/client.py", line 1, in <module>\n    openai.chat()\n'
    "openai.APIConnectionError: Connection error."
)


@pytest.mark.parametrize("line", [CLIENT, "comfyui: " + OOM, CLIENT.replace("openai.APIConnectionError", "KeyError")])
def test_another_program_in_the_same_stream_is_not_the_server(line: str) -> None:
    made = boot(lines(banner("0.24.0"), UP, OK, line, OK))
    assert (made.verdict, alarms(made)) == (Verdict.READY, [])


def test_an_engine_that_answers_on_after_its_own_error_stays_degraded() -> None:
    error = said("RuntimeError: CUDA error: an illegal memory access was encountered", level="ERROR")
    assert boot(lines(banner("0.24.0"), UP, OK, error, OK)).verdict is Verdict.DEGRADED


def test_an_adapter_that_an_engine_refuses_at_run_time_degrades_nothing() -> None:
    refused = raised("ValueError: LoRA rank 64 is greater than max_lora_rank 16.", "add_lora", head="Call failed.")
    made = boot(lines(banner("0.24.0"), UP, OK, refused, REFUSED, OK))
    assert (made.verdict, alarms(made)) == (Verdict.READY, [])
    assert "lora-rank-too-high" in ids(made.findings)


# --- waiting ----------------------------------------------------------------------------------------------------------

WAIT = (
    "No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are "
    "hanging or doing some time-consuming work (e.g. compilation, weight/kv cache quantization)."
)


def waits(minutes: int) -> list[str]:
    return [said(WAIT, time=f"11-30 {10 + m // 60:02d}:{m % 60:02d}:00") for m in range(1, minutes + 1)]


@pytest.mark.parametrize(
    ("last", "patient", "hung"),
    [
        ("Dynamo bytecode transform time: 39.81 s", 20, 31),
        ("flashinfer.jit: [Autotuner]: Autotuning process starts ...", 40, 46),
        ("Starting to load model acme/m...", 25, 31),
        ("Capturing CUDA graphs (decode, FULL):  10%|█         | 3/35", 12, 16),
    ],
)
def test_how_long_processes_may_wait_depends_on_the_stretch(last: str, patient: int, hung: int) -> None:
    slow = boot(lines(banner("0.24.0"), said(last, "Worker_TP0 pid=9"), *waits(patient)))
    assert slow.verdict is Verdict.STARTING
    assert alarms(slow) == []
    assert "processes-wait-long" in ids(slow.findings)
    stuck = boot(lines(banner("0.24.0"), said(last, "Worker_TP0 pid=9"), *waits(hung)))
    assert (stuck.verdict, root(stuck)) == (Verdict.STALLED, "shm-broadcast-hang")


def test_waiting_where_nothing_takes_minutes_is_a_hang_soon() -> None:
    first = said("vLLM is using nccl==2.27.3", "Worker_TP0 pid=9")
    assert boot(lines(banner("0.24.0"), first, *waits(3))).verdict is Verdict.STALLED


# --- the whole database in the mouth of a client ----------------------------------------------------------------------


@cache
def sayings_of_the_database() -> list[str]:
    """The message of every line of every example: the worst that a client can quote."""
    proven = load_database(environ={}, examples=True)
    logs = [example.log for signature in proven.signatures for example in signature.examples.match]
    records = (record for log in logs for _, record in read_text(log))
    return list(dict.fromkeys(text for record in records for _, text in record.lines if text.strip()))


@pytest.mark.parametrize("shape", [*COMPLAINTS[:6], "it answered:\n{}", "it answered\n\n{}"])
def test_no_signature_fires_on_what_a_client_quotes(shape: str) -> None:
    assert len(sayings_of_the_database()) > 800
    quoted = (shape.replace("{{", "").replace("}}", "").replace("{}", text) for text in sayings_of_the_database())
    made = boot(lines(banner("0.24.0"), UP, OK, *(complaint(text, "APIServer pid=1", "ERROR") for text in quoted), OK))
    assert (made.verdict, alarms(made)) == (Verdict.READY, [])
    # One head is the server's own word on an answer that its parser could not read.
    own = {"tool-call-not-parsed"} if "extracting tool call" in shape else set()
    assert {f.id for f in made.findings if f.severity is Severity.WARNING} <= own


# --- other programs ---------------------------------------------------------------------------------------------------

AGENT = 'Traceback (most recent call last):\n  File "/app/agent.py", line 9, in <module>\n    main()\n'
BAR = "(EngineCore pid=68) Loading safetensors checkpoint shards:  {}% Completed | {}/8 [00:06<00:30,  6.00s/it]"
STRANGERS = (
    AGENT + "RuntimeError: gateway token expired",
    AGENT + "ModuleNotFoundError: No module named 'redis'",
    AGENT + "OSError: [Errno 98] Address already in use",
    AGENT + "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): refused",
    "/start.sh: line 9:    77 Killed                  nvidia-smi dmon",
)


@pytest.mark.parametrize("words", STRANGERS)
def test_another_programs_end_is_none_of_a_start(words: str) -> None:
    made = boot(lines(banner("0.24.0"), BAR.format(25, 2), words, BAR.format(37, 3)))
    assert (made.verdict, alarms(made)) == (Verdict.STARTING, [])
    assert any("another program" in note for note in made.notes)


@pytest.mark.parametrize("words", STRANGERS)
def test_another_programs_end_is_none_of_a_server_that_is_up(words: str) -> None:
    made = boot(lines(banner("0.24.0"), UP, OK, words))
    assert (made.verdict, alarms(made)) == (Verdict.READY, [])


@pytest.mark.parametrize("words", ["Killed", "Segmentation fault (core dumped)", "Aborted (core dumped)"])
def test_a_native_end_that_the_server_works_on_after_is_not_its_own(words: str) -> None:
    made = boot(lines(banner("0.24.0"), UP, OK, words, OK))
    assert (made.verdict, alarms(made)) == (Verdict.READY, [])
    assert boot(lines(banner("0.24.0"), UP, OK, words)).verdict is Verdict.CRASHED


def test_tokens_made_after_it_refute_it_too_but_not_the_line_that_was_due() -> None:
    text = "Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: {} tokens/s, Running: 1 reqs"
    made = [said(text.format(speed), "APIServer pid=1", file="loggers.py:127") for speed in ("9.0", "8.0", "9.5")]
    assert boot(lines(banner("0.24.0"), UP, made[0], "Killed", made[1], made[2])).verdict is Verdict.READY
    assert boot(lines(banner("0.24.0"), UP, made[0], "Killed", made[1])).verdict is Verdict.CRASHED


@pytest.mark.parametrize(
    "after", ["Segmentation fault (core dumped)", "Killed", "vllm-1 exited with code 137", "terminate called without x"]
)
def test_nobodys_word_below_the_engines_own_exception_is_not_the_cause(after: str) -> None:
    unknown = raised("AttributeError: 'FooMixer' object has no attribute 'zeta'", "profile_run")
    made = boot(lines(banner("0.24.0"), unknown, CASCADE, after))
    assert root(made) == "unknown-failure"
    assert made.root_cause is not None and "FooMixer" in made.root_cause.title


# --- hanging ----------------------------------------------------------------------------------------------------------


def test_processes_that_wait_to_the_end_of_a_serving_log_hang() -> None:
    made = boot(lines(banner("0.24.0"), UP, OK, *waits(5)))
    assert (made.verdict, root(made)) == (Verdict.DEGRADED, "processes-hang-in-service")
    assert boot(lines(banner("0.24.0"), UP, OK, *waits(5), OK)).verdict is Verdict.READY


def test_a_queue_that_nothing_is_taken_from_is_stuck() -> None:
    text = (
        "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, "
        "Waiting: 2 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%"
    )
    still = [said(text, "APIServer pid=1", time=f"11-30 10:0{minute}:00") for minute in range(4)]
    made = boot(lines(banner("0.24.0"), UP, OK, *still))
    assert (made.verdict, root(made)) == (Verdict.DEGRADED, "requests-never-scheduled")
