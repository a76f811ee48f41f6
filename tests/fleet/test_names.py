"""Which files of a directory are logs."""

from __future__ import annotations

import gzip

import pytest

from logdoctor.fleet.names import is_archive_name, is_log_name, looks_like_log, may_be_log
from tests.fleet.build import READY


@pytest.mark.parametrize(
    "name",
    ["vllm.log", "a/b.log.1", "vllm.log.2.gz", "vllm.log-20251130", "0.log.20251130-093341.zst", "x.LOG", "n.txt"],
)
def test_logs_by_name(name: str) -> None:
    assert is_log_name(name)


@pytest.mark.parametrize("name", ["vllm.yaml", "log", "catalog.json", "x.log.zip", "x.log.tar.gz", "logs/vllm", "a.py"])
def test_no_logs_by_name(name: str) -> None:
    assert not is_log_name(name)


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.zst", "a.TAR.GZ", "x.log.tar"])
def test_archives(name: str) -> None:
    assert is_archive_name(name)
    assert not may_be_log(name)


@pytest.mark.parametrize("name", ["a.gz", "a.log.gz", "tar", "a.zip"])
def test_no_archives(name: str) -> None:
    assert not is_archive_name(name)


@pytest.mark.parametrize("name", ["a.yaml", "a.yml", "README.md", "a.png", "b.safetensors"])
def test_the_content_of_some_files_is_never_looked_at(name: str) -> None:
    assert not may_be_log(name)


@pytest.mark.parametrize(
    "start",
    [
        b'{"log":"INFO 11-30 10:00:01 [a.py:1] x\\n","stream":"stdout","time":"2026-11-30T10:00:01Z"}\n',
        b'{"attrs":{"tag":"x"},"log":"hello\\n","stream":"stderr","time":"2026-11-30T10:00:01Z"}\n',
        b"2026-11-30T10:00:01.123456789Z stdout F hello\n",
        b"2026-11-30T10:00:01.123456789+01:00 stderr P hel",
        b"\n\n\x1b[0;36m(EngineCore pid=12)\x1b[0;0m INFO 11-30 10:00:01 [a.py:1] x\n",
        b"first words of a wrapper script\nINFO 11-30 10:00:01 [a.py:1] x\n",
        b"[pod/vllm-0/server] hello\n",
        READY.encode(),
        gzip.compress(READY.encode(), mtime=0),
        gzip.compress(READY.encode() * 1000, mtime=0)[:200],
    ],
)
def test_logs_by_content(start: bytes) -> None:
    assert looks_like_log(start)


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b'{"schema_version":1,"source":"a.log","key":"00"}\n',
        b'{"model_type": "llama"}\n',
        b"2026-11-30T10:00:01Z stdout\n",
        b"a: b\nINFORMATION 11-30\n",
        gzip.compress(b"nothing of the kind\n", mtime=0),
        b"\x1f\x8b broken",
    ],
)
def test_no_logs_by_content(start: bytes) -> None:
    assert not looks_like_log(start)
