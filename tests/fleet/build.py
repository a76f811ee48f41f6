"""Small logs in vLLM's format, and the records of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from logdoctor.fleet.sources import key_of
from logdoctor.fleet.work import Diagnoser, Task, WorkOptions, stream_of
from logdoctor.report.record import base_record

READY = """\
(APIServer pid=1) INFO 11-30 10:00:01 [api_utils.py:345]   █▄█▀ █     █     █     █  version 0.27.1
(APIServer pid=1) INFO 11-30 10:00:01 [api_utils.py:273] non-default args: {'model_tag': '/models/tiny', 'model': '/models/tiny'}
(EngineCore pid=12) INFO 11-30 10:00:05 [core.py:121] Initializing a V1 LLM engine (v0.27.1) with config: model='/models/tiny', tokenizer='/models/tiny', dtype=torch.bfloat16, max_seq_len=2048, seed=0
(APIServer pid=1) INFO 11-30 10:00:20 [launcher.py:37] Available routes are:
(APIServer pid=1) INFO:     Started server process [1]
(APIServer pid=1) INFO:     Waiting for application startup.
(APIServer pid=1) INFO:     Application startup complete.
"""  # noqa: E501 (as vLLM prints them)

SHARD = """\
(APIServer pid=1) INFO 11-30 10:00:01 [api_utils.py:273] non-default args: {'model_tag': '/models/tiny', 'model': '/models/tiny'}
(EngineCore pid=12) INFO 11-30 10:00:05 [core.py:121] Initializing a V1 LLM engine (v0.27.1) with config: model='/models/tiny', tokenizer='/models/tiny', dtype=torch.bfloat16, max_seq_len=2048, seed=0
(EngineCore pid=12) INFO 11-30 10:00:06 [default_loader.py:291] Loading weights
(EngineCore pid=12) Process EngineCore:
(EngineCore pid=12) Traceback (most recent call last):
(EngineCore pid=12)   File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap
(EngineCore pid=12)     self.run()
(EngineCore pid=12)   File "/usr/local/lib/python3.12/dist-packages/vllm/model_executor/model_loader/weight_utils.py", line 800, in safetensors_weights_iterator
(EngineCore pid=12)     with safe_open(st_file, framework="pt") as f:
(EngineCore pid=12) safetensors._safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata, file not fully covered
(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""  # noqa: E501


def unknown(message: str = "flux 17 overheated", minute: int = 0) -> str:
    """A start that ends with an exception that no signature knows."""
    return f"""\
(APIServer pid=1) INFO 11-30 10:{minute:02}:01 [api_utils.py:273] non-default args: {{'model': '/models/tiny'}}
(EngineCore pid=12) INFO 11-30 10:{minute:02}:05 [core.py:121] Initializing a V1 LLM engine (v0.27.1) with config: x=1
(EngineCore pid=12) Process EngineCore:
(EngineCore pid=12) Traceback (most recent call last):
(EngineCore pid=12)   File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap
(EngineCore pid=12)     self.run()
(EngineCore pid=12)   File "/opt/app/capacitor.py", line 3, in charge
(EngineCore pid=12)     raise RuntimeError(text)
(EngineCore pid=12) RuntimeError: {message}
"""


def write(root: Path, logs: Mapping[str, str | bytes]) -> Path:
    """Write logs below a directory."""
    for name, content in logs.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


_DIAGNOSERS: dict[WorkOptions, Diagnoser] = {}


def diagnoser(options: WorkOptions | None = None) -> Diagnoser:
    """A diagnoser; one per set of options."""
    options = options or WorkOptions()
    return _DIAGNOSERS.setdefault(options, Diagnoser(options))


def record_of(log: str | bytes, name: str = "a.log", below: str = "", **options: Any) -> dict[str, Any]:
    """The record of a log, as its line says."""
    data = log.encode() if isinstance(log, str) else log
    line = diagnoser(WorkOptions(**options)).record(Task(name, key_of(name), below=below), stream_of([data]))
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    loaded: dict[str, Any] = json.loads(line)
    return loaded


def made(name: str, cause: str = "", *, fingerprint: str = "00000000", **rest: Any) -> dict[str, Any]:
    """A record made by hand: with a root cause, or of a server that is up."""
    record = base_record(name, key_of(name), ("0.1.0", "1-abc"))
    record.update(verdict="ready", exit_status=0)
    if cause:
        root = {"id": cause, "title": f"The title of {cause}", "severity": "fatal", "confidence": "certain"}
        root |= {"phase": "weights", "line": 3, "fingerprint": fingerprint}
        record.update(verdict="failed", exit_status=1, root_cause=root)
    record.update(rest)
    return record


def lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Records as an output file holds them."""
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
