"""Inputs: files, standard input, compressed, UTF-16, damaged, too long."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from logdoctor.reading import InputError, InputRuns, open_runs
from logdoctor.reading import sources as module

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def everything(runs: InputRuns) -> bytes:
    return b"".join(run.data for run in runs)


def from_stdin(data: bytes, **options: int) -> InputRuns:
    return open_runs([], stdin=io.BytesIO(data), **options)


def test_standard_input_is_read_when_no_path_is_given() -> None:
    runs = from_stdin(b"a\nb\n")
    assert everything(runs) == b"a\nb\n"
    assert runs.bytes_read == 4
    assert runs.notes == ()


def test_files_are_one_log_with_running_line_numbers(tmp_path: Path) -> None:
    first, second = tmp_path / "vllm.log.1", tmp_path / "vllm.log"
    first.write_bytes(b"one\ntwo\nthree without end")
    second.write_bytes(b"four\n")
    runs = list(open_runs([str(first), str(second)], stdin=io.BytesIO()))
    assert [(run.first_line, run.data) for run in runs] == [
        (1, b"one\ntwo\n"),
        (3, b"three without end"),
        (4, b"four\n"),
    ]


def test_dash_stands_for_standard_input_among_files(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"file\n")
    assert everything(open_runs([str(path), "-"], stdin=io.BytesIO(b"stdin\n"))) == b"file\nstdin\n"


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("members", [1, 3])
def test_compressed_inputs_are_known_by_their_first_bytes(compress: object, members: int) -> None:
    text = b"INFO a line\n" * 5000
    assert callable(compress)
    assert everything(from_stdin(compress(text) * members)) == text * members


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_a_cut_compressed_input_gives_what_is_there_and_says_so(compress: object) -> None:
    assert callable(compress)
    text = os.urandom(200_000).hex().encode() + b"\n"
    runs = from_stdin(compress(text)[:-20_000])
    assert text.startswith(everything(runs)[:100_000])
    assert any("cut off" in note for note in runs.notes)


def test_damage_inside_a_compressed_input_is_noted() -> None:
    packed = bytearray(gzip.compress(os.urandom(100_000)))
    packed[50_000:50_100] = b"\0" * 100
    runs = from_stdin(bytes(packed))
    everything(runs)
    assert any("damaged" in note or "cut off" in note for note in runs.notes)


def test_zero_padding_behind_a_gzip_member_is_no_damage() -> None:
    runs = from_stdin(gzip.compress(b"text\n") + b"\0" * 512)
    assert everything(runs) == b"text\n"
    assert runs.notes == ()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
def test_encodings_come_out_as_utf8(encoding: str) -> None:
    text = "INFO 11-30 09:00:00 [core.py:1] größer █ 😀\r\nsecond line\r\n"
    assert everything(from_stdin(text.encode(encoding))).decode() == text


def test_utf16_big_endian_with_its_mark() -> None:
    assert everything(from_stdin(b"\xfe\xff" + "a line\n".encode("utf-16-be"))) == b"a line\n"


def test_invalid_bytes_are_replaced_and_counted() -> None:
    runs = from_stdin(b"caf\xe9 and \xff\n")
    assert everything(runs).decode() == "caf\N{REPLACEMENT CHARACTER} and \N{REPLACEMENT CHARACTER}\n"
    assert any(note.startswith("2 characters") for note in runs.notes)


def test_nul_bytes_of_a_copied_and_truncated_log_are_left_out() -> None:
    runs = from_stdin(b"\0" * 100_000 + b"INFO line\n")
    assert everything(runs) == b"INFO line\n"
    assert any(note.startswith("100000 NUL") for note in runs.notes)


def test_reading_stops_at_the_limit_and_says_so() -> None:
    runs = from_stdin(b"0123456789\n" * 1000, max_bytes=50)
    assert everything(runs) == (b"0123456789\n" * 5)[:50]
    assert runs.bytes_read == 50
    assert any("50 bytes" in note for note in runs.notes)


def test_a_line_far_too_long_keeps_head_and_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 1000)
    monkeypatch.setattr(module, "MAX_PHYSICAL_LINE", 4000)
    monkeypatch.setattr(module, "_HEAD", 3000)
    runs = list(from_stdin(b"before\nSTART" + b"x" * 50_000 + b"END\nafter\n"))
    lines = b"".join(run.data for run in runs).split(b"\n")
    assert lines[0] == b"before"
    assert lines[1].startswith(b"START") and lines[1].endswith(b"END") and b"line cut" in lines[1]
    assert len(lines[1]) < 4100
    assert lines[2] == b"after"
    assert runs[-1].first_line + runs[-1].data.count(b"\n") == 4


def test_missing_file_directory_and_forbidden_file_are_one_sentence_each(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.log does not exist\.$"):
        open_runs([str(tmp_path / "nothing.log")], stdin=io.BytesIO())
    with pytest.raises(InputError, match=r"is a directory; name the log files inside it\.$"):
        open_runs([str(tmp_path)], stdin=io.BytesIO())
    with pytest.raises(InputError):
        open_runs(["a\0b"], stdin=io.BytesIO())


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file_says_permission_denied(tmp_path: Path) -> None:
    path = tmp_path / "secret.log"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        open_runs([str(path)], stdin=io.BytesIO())


def test_an_error_while_reading_is_an_input_error() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(InputError, match=r"standard input cannot be read: input/output error\."):
        everything(open_runs(["-"], stdin=Broken()))  # type: ignore[arg-type]


@given(st.binary(max_size=2000), st.integers(1, 50))
def test_any_bytes_in_any_chunking_give_the_same_lines(data: bytes, chunk: int) -> None:
    assume(not data.startswith((b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00", b"7z\xbc\xaf\x27\x1c")))
    whole = everything(from_stdin(data))
    original = module.CHUNK
    module.CHUNK = chunk
    try:
        pieces = list(from_stdin(data))
    finally:
        module.CHUNK = original
    if not data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        assert b"".join(run.data for run in pieces) == whole
    number = 1
    for run in pieces:
        assert run.first_line == number
        run.data.decode("utf-8")
        number += run.data.count(b"\n") + (not run.data.endswith(b"\n"))


@pytest.mark.parametrize(
    ("begin", "command"),
    [(b"\xfd7zXZ\x00rest", "xz -dc"), (b"BZh91AY", "bzip2 -dc"), (b"PK\x03\x04rest", "unzip -p")],
)
def test_packed_files_of_other_kinds_are_named(tmp_path: Path, begin: bytes, command: str) -> None:
    path = tmp_path / "run.log.packed"
    path.write_bytes(begin)
    with pytest.raises(InputError, match=f"{path}: this is a .*{command} FILE"):
        list(open_runs([str(path)], stdin=io.BytesIO()))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["vllm.log", "vllm.log.1", "vllm.log.2.gz"], True),
        (["vllm.log.2.gz", "vllm.log.1", "vllm.log"], False),
        (["a.log", "b.log"], False),
        (["vllm.log", "vllm.log.old"], False),
    ],
)
def test_rotated_parts_in_the_shells_order_are_remarked(names: list[str], said: bool) -> None:
    assert bool(module.order_remarks(names)) is said
