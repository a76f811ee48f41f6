"""Whose log it is when it is not a vLLM server's: other servers use the same libraries and fail in the same words."""

from __future__ import annotations

from logdoctor.model import Record

LOOKED_AT = 400
"""Records of a log that are looked at; every server says early who it is."""
_MARKS = (
    ("server_args=ServerArgs(", "SGLang"),
    ("sglang.launch_server", "SGLang"),
    ("text_generation_launcher", "Text Generation Inference (TGI)"),
    ("text-generation-launcher", "Text Generation Inference (TGI)"),
    ("[TRT-LLM]", "TensorRT-LLM"),
    ("[TensorRT-LLM] TensorRT-LLM version", "TensorRT-LLM"),
    ("llama_model_loader:", "llama.cpp"),
    ("llama_model_load_from_file", "llama.cpp"),
    ("server is listening on http://127.0.0.1:8080 - starting the main loop", "llama.cpp"),
    ("source=sched.go", "Ollama"),
    ("source=routes.go", "Ollama"),
    ("OLLAMA_HOST:", "Ollama"),
    ("lmdeploy - ", "LMDeploy"),
    ("xinference.", "Xinference"),
    ("tritonserver", "Triton Inference Server"),
)
_CLIENTS = (
    ("Namespace(subparser='bench'", "vLLM's benchmark client"),
    ("Starting initial single prompt test run", "vLLM's benchmark client"),
)

_REPORT = "logdoctor: a report, and no log"


class Owner:
    """Finds out whose log it is, record by record."""

    def __init__(self) -> None:
        self.name = ""
        """The program, in words; empty while nothing speaks for another one."""
        self.is_client = False
        """Whether it is a part of vLLM that serves nothing, and begins like a server."""
        self._left = LOOKED_AT

    def observe(self, record: Record) -> None:
        """Take note of a record of the log."""
        first = record.lines[0][1]
        if first.startswith("logdoctor ") and ", signature database " in first:
            self.name = self.name or _REPORT
        if not self._left or self.name or record.quoted:
            return
        self._left -= 1
        for marks, is_client in ((_MARKS, False), (_CLIENTS, True)):
            name = next((name for mark, name in marks if mark in first), "")
            if name:
                self.name, self.is_client = name, is_client
                return
