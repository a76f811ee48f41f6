"""Places of a log in which a stranger's text stands: each makes a log that holds the text there."""

from __future__ import annotations

from collections.abc import Callable

Place = Callable[[str], str]
PLACES: dict[str, Place] = {}

BANNER = "(APIServer pid=1) INFO 11-30 09:20:45 [api_server.py:1] vLLM API server version 0.17.1\n"
CORE = "(EngineCore_DP0 pid=7)"
ERROR = f"{CORE} ERROR 11-30 09:20:57 [core.py:101] "
INFO = f"{CORE} INFO 11-30 09:20:57 [core.py:101] "
DEATH = (
    f"{ERROR}EngineCore failed to start.\n{ERROR}Traceback (most recent call last):\n"
    f'{ERROR}  File "/usr/lib/python3/dist-packages/vllm/v1/engine/core.py", line 1, in run\n'
    f"{ERROR}ValueError: the flux is out of phase\n"
)


def place(function: Place) -> Place:
    """Register a place under its name."""
    PLACES[function.__name__] = function
    return function


@place
def model_name(text: str) -> str:
    arguments = repr({"model": text, "served_model_name": [text], "chat_template": text})
    return f"{BANNER}(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:1] non-default args: {arguments}\n{DEATH}"


@place
def parser_name(text: str) -> str:
    arguments = repr({"reasoning_parser": text, "tool_call_parser": text, "quantization": text})
    return f"{BANNER}(APIServer pid=1) INFO 11-30 09:20:45 [utils.py:1] non-default args: {arguments}\n{DEATH}"


@place
def engine_configuration(text: str) -> str:
    return (
        f"{BANNER}{INFO}Initializing a V1 LLM engine (v0.17.1) with config: model={text!r}, dtype={text}, x=1\n{DEATH}"
    )


@place
def unknown_exception(text: str) -> str:
    return BANNER + DEATH.replace("the flux is out of phase", text)


@place
def several_lines_of_an_exception(text: str) -> str:
    return BANNER + DEATH.replace("the flux", f"first\n{ERROR}{text}\n{ERROR}last of the flux")


@place
def bare_exception(text: str) -> str:
    return f'{BANNER}Traceback (most recent call last):\n  File "/a/vllm/b.py", line 1, in <module>\nOSError: {text}\n'


@place
def file_of_a_frame(text: str) -> str:
    return BANNER + DEATH.replace("core.py", text.replace('"', "")).replace(" in run", f" in {text}")


@place
def refused_argument(text: str) -> str:
    return f"{BANNER}usage: vllm serve [-h]\nvllm serve: error: unrecognized arguments: --flag {text} --other={text}\n"


@place
def refused_choice(text: str) -> str:
    return (
        f"{BANNER}usage: vllm serve [-h]\nvllm serve: error: argument --reasoning-parser: invalid choice: {text!r} "
        "(choose from 'deepseek_r1', 'qwen3')\n"
    )


@place
def refused_value(text: str) -> str:
    return f"{BANNER}vllm serve: error: argument --max-model-len: invalid int value: {text!r}\n"


@place
def variable(text: str) -> str:
    return (
        f"{BANNER}WARNING 11-30 09:20:57 [envs.py:1] Unknown vLLM environment variable detected: VLLM_{text}\n{DEATH}"
    )


@place
def process_name(text: str) -> str:
    return BANNER + DEATH.replace("EngineCore_DP0", f"EngineCore_{text}")


@place
def source_of_a_line(text: str) -> str:
    return BANNER + DEATH.replace("core.py", text)


@place
def last_healthy_line(text: str) -> str:
    return f"{BANNER}{INFO}Starting to load model {text}...\n{DEATH}"


@place
def service(text: str) -> str:
    return "".join(f"{text}-1  | {line}\n" for line in (BANNER + DEATH).splitlines())


@place
def host(text: str) -> str:
    return f"{BANNER}{text}:7:9 [0] NCCL WARN NET/IB : No device found {text}\n{DEATH}"


@place
def json_envelope(text: str) -> str:
    import json

    wrapped = [{"log": f"{line}\n", "stream": "stderr", "time": text} for line in model_name(text).split("\n") if line]
    return "".join(json.dumps(line) + "\n" for line in wrapped)


@place
def gated_repository(text: str) -> str:
    return (
        f"{BANNER}OSError: You are trying to access a gated repo.\nMake sure to have access to it at "
        f"https://huggingface.co/{text}.\n401 Client Error.\n"
    )


@place
def missing_file(text: str) -> str:
    return f"{BANNER}FileNotFoundError: [Errno 2] No such file or directory: {text!r}\n{DEATH}"


@place
def out_of_memory(text: str) -> str:
    return BANNER + DEATH.replace(
        "ValueError: the flux is out of phase",
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has {text} process {text}",
    )


@place
def request(text: str) -> str:
    return (
        f"{BANNER}{INFO}Received request chatcmpl-1: prompt: {text!r}, params: SamplingParams(n=1)\n"
        f"{INFO}Request {text} failed.\n{DEATH}"
    )


@place
def access_line(text: str) -> str:
    return f'{BANNER}(APIServer pid=1) INFO:     10.0.0.1:5 - "GET /{text} HTTP/1.1" 404 Not Found\n{DEATH}'
