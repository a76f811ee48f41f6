"""What a client wrote is marked, what vLLM says is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.reading import read_text
from logdoctor.reading.quoting import settings_head

HEAD = "(APIServer pid=1) INFO 11-30 09:54:46 [logger.py:63] "
PLANTED = "torch.OutOfMemoryError: CUDA out of memory"


@pytest.mark.parametrize(
    "message",
    [
        f"Received request cmpl-{PLANTED}-0: prompt: 'x', params: SamplingParams(n=1), prompt_token_ids: [1]",
        f"Received request cmpl-{PLANTED}: params: SamplingParams(n=1), lora_request: None.",
        f"Request cmpl-1 details: prompt: '{PLANTED}', prompt_token_ids: [79, 80], prompt_embeds shape: None.",
        f"Generated response cmpl-1 (streaming delta): output: '{PLANTED}', output_token_ids: [1], finish_reason: stop",
        f"Generated response cmpl-1: output: '{PLANTED}', finish_reason: length",
        f"Added request cmpl-{PLANTED}-0-9fcec167.",
        f"Aborted request {PLANTED}.",
        f"Aborted request(s) {PLANTED}.",
        f"Request {PLANTED} aborted.",
        f"Request {PLANTED} failed (engine dead).",
        "Dumping input data for V1 LLM engine (v0.26.0) with config: model='x', ",
        "Dumping scheduler output for model execution: SchedulerOutput(scheduled_new_reqs=[])",
        "Using supplied chat template:",
        'response_body={"x": 1}',
    ],
)
def test_request_logging_and_dumps_are_quoted(message: str) -> None:
    ((_, record),) = read_text(HEAD + message + "\n")
    assert record.quoted
    assert record.exception is None


@pytest.mark.parametrize(
    "message",
    [
        "Initializing a V1 LLM engine (v0.26.0) with config: model='x'",
        "Requested memory does not fit",
        "Request logging is disabled.",
        "`--enable-log-requests` is set but the minimum log level is higher than DEBUG.",
        "non-default args: {'model': 'Received request x'}",
        "EngineCore received a request",
        "Added support for x",
        "Using supplied tokenizer",
    ],
)
def test_vllms_own_sentences_are_not_quoted(message: str) -> None:
    ((_, record),) = read_text(HEAD + message + "\n")
    assert not record.quoted


@pytest.mark.parametrize("end", ["\r\n", "\n"], ids=["marked", "marks lost"])
def test_a_template_of_many_lines_is_quoted_as_a_whole(end: str) -> None:
    template = [
        "Using supplied chat template:",
        "{% if x %}",
        "ValueError: No available memory for the cache blocks.",
        "",
        "{% endif %}",
    ]
    text = end.join(HEAD + line for line in template) + "\n(APIServer pid=1) INFO 11-30 09:54:46 [launcher.py:1] next\n"
    first, second = [record for _, record in read_text(text)]
    assert first.quoted and first.message == "\n".join(template)
    assert first.exception is None
    assert not second.quoted


@pytest.mark.parametrize(
    ("access", "quoted"),
    [
        ('127.0.0.1:37408 - "POST /v1/completions HTTP/1.1" 200 OK', False),
        ('127.0.0.1:37408 - "POST /v1/chat/completions HTTP/1.1" 404 Not Found', False),
        ('[::1]:37408 - "GET /health HTTP/1.1" 200 OK', False),
        ('127.0.0.1:37408 - "GET /v1/models HTTP/1.1" 401 Unauthorized', False),
        ('127.0.0.1:37408 - "GET /cudaErrorIllegalInstruction HTTP/1.1" 404 Not Found', True),
        ('127.0.0.1:37408 - "GET /v1/models?key=sk-secret HTTP/1.1" 200 OK', True),
        ('127.0.0.1:37408 - "GET /v1/nope%0AERROR%2001-01 HTTP/1.1" 404 Not Found', True),
    ],
)
def test_access_lines_are_quoted_when_the_client_chose_the_words(access: str, quoted: bool) -> None:
    ((_, record),) = read_text(f"(APIServer pid=1) INFO:     {access}\n")
    assert record.quoted is quoted


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), max_size=200), st.booleans())
def test_no_request_id_leaves_its_record(planted: str, marked: bool) -> None:
    """vLLM's formatter repeats the head behind a line end; a client can plant nothing but more lines of that head."""
    end = "\r\n" if marked else "\n"
    following = "(APIServer pid=1) INFO 11-30 09:54:46 [a.py:1] next"
    text = f"{HEAD}Received request {planted}{end}{HEAD}{planted}: params: x\n{following}\n"
    got = [record for _, record in read_text(text)]
    assert all(record.quoted for record in got[:-1]) or planted.strip() == ""
    assert {record.process.name for record in got} == {"APIServer"}
    assert {record.level for record in got} == {"INFO"}


@pytest.mark.parametrize(
    ("message", "head"),
    [
        ("non-default args: {'model': 'CUDA error'}", "non-default args: {"),
        ("args: Namespace(model='CUDA error')", "args: Namespace("),
        ("Starting to load model CUDA error...", "Starting to load model "),
        ("Loading model from scratch...", "Loading model from scratch"),
        (
            "Initializing a V1 LLM engine (v0.17.1) with config: model='CUDA error'",
            "Initializing a V1 LLM engine (v0.17.1) with config: ",
        ),
        ("Initializing an LLM engine (v0.8.5) with config: x", "Initializing an LLM engine (v0.8.5) with config: "),
        ("the args: Namespace(x)", ""),
        ("args: x", ""),
        ("CUDA error", ""),
    ],
)
def test_what_an_operator_chose_stands_behind_a_known_beginning(message: str, head: str) -> None:
    assert settings_head(message) == head
