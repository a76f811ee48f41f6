"""What a command line of paths means."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from logdoctor.fleet.sources import count_sources, find_sources, is_url, with_list
from tests.fleet.build import READY, write

JSON_FILE = '{"log":"INFO 11-30 10:00:01 [a.py:1] x\\n","stream":"stdout","time":"2026-11-30T10:00:01Z"}\n'


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory as people have them: logs, what stands beside them, an archive."""
    root = write(
        tmp_path / "logs",
        {
            "b.log": READY,
            "a.log.1": READY,
            "notes.txt": "x",
            "a.yaml": READY,
            "README.md": READY,
            "node-2/server": READY,
            "node-2/deep/0123-json": JSON_FILE,
            "node-1/0.log.gz": gzip.compress(READY.encode()),
            "node-1/config.json": "{}",
            ".hidden/c.log": READY,
        },
    )
    with tarfile.open(root / "more.tar.gz", "w:gz") as tar:
        for name in ("b.log", "a.yaml", "node-2/server", "notes.txt"):
            tar.add(root / name, f"more/{name}")
    monkeypatch.chdir(tmp_path)
    return root


def names(*paths: str, **options: object) -> list[str]:
    return [source.name for source in find_sources(paths, **options)]  # type: ignore[arg-type]


def test_a_directory_gives_its_logs_by_name_or_content_in_order(logs: Path) -> None:
    assert names("logs") == [
        "logs/a.log.1",
        "logs/b.log",
        "logs/more.tar.gz!more/b.log",
        "logs/more.tar.gz!more/node-2/server",
        "logs/more.tar.gz!more/notes.txt",
        "logs/node-1/0.log.gz",
        "logs/node-2/deep/0123-json",
        "logs/node-2/server",
        "logs/notes.txt",
    ]


def test_a_named_file_is_taken_whatever_it_is_called(logs: Path) -> None:
    assert names("logs/a.yaml", "./logs/README.md") == ["logs/a.yaml", "logs/README.md"]


def test_every_log_comes_once(logs: Path) -> None:
    assert names("logs/b.log", "logs/", "./logs/b.log", "logs/*.log").count("logs/b.log") == 1


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("logs/*.log", ["logs/b.log"]),
        ("logs/*.yaml", ["logs/a.yaml"]),
        ("logs/node-[12]", ["logs/node-1/0.log.gz", "logs/node-2/deep/0123-json", "logs/node-2/server"]),
        ("logs/**/*.gz", ["logs/more.tar.gz!more/b.log", "logs/more.tar.gz!more/node-2/server"]),
        ("logs/node-2/*", ["logs/node-2/deep/0123-json", "logs/node-2/server"]),
    ],
)
def test_patterns(logs: Path, pattern: str, expected: list[str]) -> None:
    assert names(pattern)[: len(expected)] == expected


def test_what_cannot_be_read_is_a_source_with_a_problem(logs: Path) -> None:
    (logs / "broken.tar").write_bytes(b"x" * 2000)
    os.mkfifo(logs / "pipe.log")
    found = {
        source.name: source.problem for source in find_sources(["logs", "gone.log", "none/*.log", "logs/pipe.log"])
    }
    assert found["gone.log"] == "does not exist"
    assert found["none/*.log"] == "does not exist"
    assert found["logs/broken.tar"] == "this is no tar archive"
    assert found["logs/pipe.log"] == "is no regular file"
    assert not found["logs/b.log"]


def test_a_cut_archive_gives_its_logs_and_then_says_so(logs: Path) -> None:
    data = (logs / "more.tar.gz").read_bytes()
    (logs / "cut.tar.gz").write_bytes(data[: len(data) // 2])
    found = list(find_sources(["logs/cut.tar.gz"]))
    assert found[-1].name == "logs/cut.tar.gz"
    assert "cut off" in found[-1].problem


def test_an_archive_in_an_archive_is_said_and_not_opened(logs: Path) -> None:
    with tarfile.open(logs / "outer.tar", "w") as tar:
        tar.add(logs / "more.tar.gz", "inner.tar.gz")
    (source,) = find_sources(["logs/outer.tar"])
    assert source.name == "logs/outer.tar!inner.tar.gz"
    assert "inside an archive" in source.problem


def test_names_in_an_archive_do_not_leave_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with tarfile.open("evil.tar", "w") as tar:
        info = tarfile.TarInfo("../../etc/./x.log")
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    assert names("evil.tar") == ["evil.tar!etc/x.log"]
    assert [path.name for path in tmp_path.iterdir()] == ["evil.tar"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_a_problem(logs: Path) -> None:
    (logs / "b.log").chmod(0)
    found = {source.name: source.problem for source in find_sources(["logs"])}
    assert "permission denied" in found["logs/b.log"]


def test_the_output_is_no_input(logs: Path) -> None:
    (logs / "out.log").write_text(READY)
    assert "logs/out.log" not in names("logs", leave_out=["logs/../logs/out.log"])


def test_links_to_directories_are_not_followed(logs: Path) -> None:
    (logs / "node-1" / "round").symlink_to(logs)
    (logs / "linked.log").symlink_to(logs / "b.log")
    found = names("logs")
    assert "logs/linked.log" in found
    assert not [name for name in found if "round" in name]


def test_the_first_directory_below_the_path_is_known(logs: Path) -> None:
    below = {source.name: source.below for source in find_sources(["logs"])}
    assert below["logs/node-2/deep/0123-json"] == "node-2"
    assert below["logs/b.log"] == ""
    assert below["logs/more.tar.gz!more/node-2/server"] == "node-2"
    assert below["logs/more.tar.gz!more/b.log"] == ""
    assert {source.below for source in find_sources(["logs/node-2/server"])} == {""}


def test_a_list_on_standard_input() -> None:
    assert with_list(["a", "-", "b"], io.BytesIO(b"x y\n\nz\n")) == ["a", "x y", "z", "b"]
    assert with_list(["-"], io.BytesIO(b"x\ny\0z\0")) == ["x\ny", "z"]


def test_counting_needs_no_archive_opened(logs: Path) -> None:
    assert count_sources(["logs/node-1", "logs/node-2", "gone"]) == 4
    assert count_sources(["logs"]) is None


def test_addresses_of_object_stores_are_for_ray() -> None:
    assert is_url("s3://bucket/x.log") and not is_url("C:/x.log") and not is_url("/a/b://c")
    (source,) = find_sources(["s3://bucket/x.log"])
    assert "--engine ray" in source.problem


def test_a_key_is_the_same_for_the_same_name(logs: Path) -> None:
    first, second = (list(find_sources(["logs"])) for _ in range(2))
    assert [source.key for source in first] == [source.key for source in second]
    assert len({source.key for source in first}) == len(first)


def test_a_name_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"caf\xe9.log")).write_text("x")
    (source,) = find_sources(["."])
    assert len(source.key) == 16
