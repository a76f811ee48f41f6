"""Tar archives read as a stream, against the standard library's writer."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.fleet.archives import MAX_EXTENDED, ArchiveError, members

NAMES = st.text("abc/ é.", min_size=1, max_size=260).filter(
    lambda name: not name.endswith("/") and "//" not in name and not name.startswith("/")
)


def archive(files: dict[str, bytes], format_: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format_) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def chunked(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def read(data: bytes, size: int = 1000) -> dict[str, bytes]:
    return {member.name: b"".join(member.pieces) for member in members(chunked(data, size))}


@given(
    files=st.dictionaries(NAMES, st.binary(max_size=2000), max_size=6),
    format_=st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]),
    size=st.integers(1, 3000),
)
def test_every_member_comes_out_as_it_went_in(files: dict[str, bytes], format_: int, size: int) -> None:
    assert read(archive(files, format_), size) == files


@given(files=st.dictionaries(NAMES, st.binary(max_size=2000), min_size=1, max_size=4), skip=st.sets(st.integers(0, 3)))
def test_members_that_nobody_reads_are_passed_over(files: dict[str, bytes], skip: set[int]) -> None:
    found = {}
    for position, member in enumerate(members(chunked(archive(files), 700))):
        if position not in skip:
            found[member.name] = b"".join(member.pieces)
    assert found == {name: data for position, (name, data) in enumerate(files.items()) if position not in skip}


def test_directories_links_and_devices_are_no_members() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo(f"kind-{kind.decode()}.log")
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
        info = tarfile.TarInfo("real.log")
        info.size = 3
        tar.addfile(info, io.BytesIO(b"abc"))
    assert read(out.getvalue()) == {"real.log": b"abc"}


@given(data=st.binary(max_size=3000))
def test_anything_else_is_an_error_and_no_crash(data: bytes) -> None:
    try:
        read(data)
    except ArchiveError as error:
        assert str(error)


@given(cut=st.integers(1, 5000))
def test_a_cut_archive_gives_what_is_there(cut: int) -> None:
    whole = archive({"a.log": b"x" * 1500, "b.log": b"y" * 1500})
    found: dict[str, bytes] = {}
    try:
        for member in members(chunked(whole[:cut], 512)):
            found[member.name] = b"".join(member.pieces)
    except ArchiveError as error:
        assert "cut" in str(error) or "no tar" in str(error)
    for name, data in found.items():
        assert data == (b"x" if name == "a.log" else b"y") * len(data)


def test_a_cut_inside_a_member_is_said_after_the_member() -> None:
    whole = archive({"a.log": b"x" * 5000})
    found: list[bytes] = []
    with pytest.raises(ArchiveError, match="cut off"):
        for member in members([whole[:3000]]):
            found.append(b"".join(member.pieces))
    assert found == [b"x" * (3000 - 512)]


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_header_that_claims_gigabytes_is_not_read(kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 4 << 30
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        yield info.tobuf()
        while True:
            taken += 1 << 16
            yield b"a" * (1 << 16)

    with pytest.raises(ArchiveError, match="too long"):
        list(members(endless()))
    assert taken <= MAX_EXTENDED


def test_an_error_in_reading_comes_through() -> None:
    def broken() -> Iterator[bytes]:
        yield archive({"a.log": b"x" * 5000})[:1024]
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        for member in members(broken()):
            list(member.pieces)
