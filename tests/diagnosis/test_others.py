"""Logs of other programs are not diagnosed as vLLM's, however alike their errors are."""

from __future__ import annotations

import pytest

from logdoctor.model import Verdict
from tests.diagnosis.build import banner, boot, diagnose, lines

OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB"
OTHERS = {
    "SGLang": "[2026-03-04 08:00:00] server_args=ServerArgs(model_path='Qwen/Qwen3-8B', tp_size=2)",
    "TGI": '2026-03-04T08:00:00.123Z  INFO text_generation_launcher: Args { model_id: "meta-llama/Llama-3.1-8B" }',
    "TensorRT-LLM": "[TensorRT-LLM] TensorRT-LLM version: 1.0.0",
    "llama.cpp": "llama_model_loader: loaded meta data with 41 key-value pairs",
    "Ollama": "time=2026-03-04T08:00:00.123Z level=INFO source=sched.go:517 msg=offload",
    "benchmark": "Namespace(subparser='bench', bench_type='serve', backend='vllm', port=8000)",
    "report": "logdoctor 0.1.0, signature database 700-0123abcd",
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_servers_error_is_none_of_vllms(name: str) -> None:
    made = diagnose(lines(OTHERS[name], OOM))
    assert (made.verdict, made.boots) == (Verdict.UNDETERMINED, ())
    assert name in made.notes[0]


def test_the_benchmark_begins_like_a_server() -> None:
    first = "INFO 03-04 08:15:02 [__init__.py:216] Automatically detected platform cuda."
    assert diagnose(lines(first, OTHERS["benchmark"], OOM)).boots == ()


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "benchmark"])
def test_beside_a_vllm_the_others_do_not_hide_it(name: str) -> None:
    assert boot(lines(OTHERS[name], banner("0.24.0"), OTHERS[name])).verdict is Verdict.STARTING


def test_a_tail_of_vllm_beside_ollama_is_vllms() -> None:
    tail = '(APIServer pid=1) INFO:     10.0.0.5:1 - "POST /v1/completions HTTP/1.1" 200 OK'
    assert boot(lines(OTHERS["Ollama"], tail)).verdict is Verdict.READY


def test_a_lone_error_without_an_owner_is_still_told() -> None:
    assert diagnose(OOM).boots != ()
