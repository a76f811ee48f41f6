"""The shipped entries, and the user's directories over them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from logdoctor.database import DatabaseError, load_database, loading
from logdoctor.database.loading import config_directory, make_database

ENTRY = """\
- id: {id}
  title: {title}
  severity: info
  phase: serving
  match: {{any: [{{literal: "some text of {id}"}}]}}
  cause: A cause.
  confidence: certain
  basis: source
"""


def entry(name: str, title: str = "a title") -> str:
    return ENTRY.format(id=name, title=title)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shipped directory with two entries, away from the real one and from the user's home."""
    directory = tmp_path / "shipped"
    directory.mkdir(mode=0o755)
    (directory / "b.yaml").write_text(entry("second"))
    (directory / "a.yaml").write_text(entry("first"))
    (directory / "README.md").write_text("no entry")
    monkeypatch.setattr(loading, "shipped_directory", lambda: directory)
    return directory


@pytest.fixture
def own(tmp_path: Path) -> Path:
    directory = tmp_path / "own"
    directory.mkdir(mode=0o755)
    return directory


def put(directory: Path, text: str, name: str = "mine.yaml") -> None:
    path = directory / name
    path.write_text(text)
    path.chmod(0o644)


def load(*extra: Path, ignore_broken: bool = False, **environ: str) -> loading.Database:
    return load_database(extra, ignore_broken, environ=environ)


def test_the_shipped_files_come_in_the_order_of_their_names(shipped: Path) -> None:
    database = load()
    assert [signature.id for signature in database.signatures] == ["first", "second"]
    assert database.by_id["second"].place == "signatures/b.yaml:1"
    assert database.notes == ()


def test_the_real_database_loads() -> None:
    database = load()
    assert list(database.by_id) == [signature.id for signature in database.signatures]
    assert database.version.startswith(f"{len(database.signatures)}-")


def test_an_overlay_adds_replaces_and_disables(shipped: Path, own: Path) -> None:
    put(own, entry("third") + entry("first", "my title") + "- id: second\n  disabled: true\n")
    database = load(own)
    assert [signature.id for signature in database.signatures] == ["first", "third"]
    assert database.by_id["first"].title == "my title"
    assert database.by_id["first"].file == str(own / "mine.yaml")


def test_disabling_what_is_not_there_is_only_a_note(shipped: Path, own: Path) -> None:
    put(own, "- id: gone\n  disabled: true\n")
    database = load(own)
    assert len(database.signatures) == 2
    assert database.notes == (f"{own / 'mine.yaml'}:1: gone is disabled but there is no such signature",)


def test_later_directories_win(shipped: Path, own: Path, tmp_path: Path) -> None:
    config = tmp_path / "xdg" / "logdoctor" / "signatures"
    config.mkdir(parents=True, mode=0o755)
    variable = tmp_path / "variable"
    variable.mkdir(mode=0o755)
    for directory, names in ((config, "xyz"), (variable, "yz"), (own, "z")):
        put(directory, "".join(entry(name, directory.name) for name in names))
    database = load(own, XDG_CONFIG_HOME=str(tmp_path / "xdg"), LOGDOCTOR_SIGNATURES=str(variable))
    assert [database.by_id[name].title for name in "xyz"] == ["signatures", "variable", "own"]


def test_the_variable_may_name_several_directories(shipped: Path, own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(mode=0o755)
    put(own, entry("x"))
    put(other, entry("y"), "y.yml")
    assert {"x", "y"} < load(LOGDOCTOR_SIGNATURES=f"{own}{os.pathsep}{other}{os.pathsep}").by_id.keys()


def test_a_broken_file_stops_everything_unless_asked(shipped: Path, own: Path) -> None:
    put(own, entry("third") + "- id: fourth\n", "broken.yaml")
    put(own, entry("fifth"), "sound.yaml")
    with pytest.raises(DatabaseError) as caught:
        load(own)
    assert str(own / "broken.yaml") + ":9: " in str(caught.value)
    database = load(own, ignore_broken=True)
    assert [signature.id for signature in database.signatures] == ["first", "second", "fifth"]
    assert database.notes[0].startswith(f"ignored: {own / 'broken.yaml'}:9: ")


def test_a_broken_shipped_file_is_never_ignored(shipped: Path) -> None:
    put(shipped, "- id: x\n")
    with pytest.raises(DatabaseError, match=r"signatures/mine\.yaml:1: an entry lacks"):
        load(ignore_broken=True)


def test_an_id_may_stand_only_once_in_a_directory(shipped: Path, own: Path) -> None:
    put(own, entry("third"), "one.yaml")
    put(own, entry("other") + entry("third"), "two.yaml")
    with pytest.raises(DatabaseError) as caught:
        load(own)
    assert [str(issue) for issue in caught.value.issues] == [
        f"{own / 'two.yaml'}:9: id third is taken by {own / 'one.yaml'}:1"
    ]


def test_a_missing_directory_is_named(shipped: Path, own: Path) -> None:
    with pytest.raises(DatabaseError, match="no such file or directory"):
        load(own / "nothing")
    assert load(own / "nothing", ignore_broken=True).notes == (
        f"ignored: {own / 'nothing'}: no such file or directory",
    )


def test_a_missing_config_directory_is_nothing(shipped: Path, own: Path) -> None:
    assert load(XDG_CONFIG_HOME=str(own)).notes == ()


def test_an_empty_directory_is_noted(shipped: Path, own: Path) -> None:
    assert load(own).notes == (f"{own}: holds no *.yaml file with signatures",)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_what_everyone_may_write_is_refused(shipped: Path, own: Path) -> None:
    put(own, entry("third"))
    own.chmod(0o777)
    with pytest.raises(DatabaseError, match="may be written by every user"):
        load(own)
    own.chmod(0o755)
    (own / "mine.yaml").chmod(0o666)
    with pytest.raises(DatabaseError, match=r"mine\.yaml: may be written by every user"):
        load(own)
    assert len(load(own, ignore_broken=True).signatures) == 2


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"# fine\n# \xff\xfe\n", ":2: is not UTF-8 text"),
        (b"#" * (4 * 2**20 + 1), ": is larger than 4 MiB"),
    ],
)
def test_unreadable_content_is_named(shipped: Path, own: Path, data: bytes, complaint: str) -> None:
    (own / "mine.yaml").write_bytes(data)
    (own / "mine.yaml").chmod(0o644)
    with pytest.raises(DatabaseError) as caught:
        load(own)
    assert str(caught.value.issues[0]) == f"{own / 'mine.yaml'}{complaint}"


def test_a_byte_order_mark_is_no_fault(shipped: Path, own: Path) -> None:
    (own / "mine.yaml").write_bytes(b"\xef\xbb\xbf" + entry("third").encode())
    (own / "mine.yaml").chmod(0o644)
    assert "third" in load(own).by_id


@pytest.mark.parametrize(
    ("platform", "environ", "wanted"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/logdoctor/signatures"),
        ("linux", {"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/logdoctor/signatures"),
        ("linux", {"HOME": "/h"}, "/h/.config/logdoctor/signatures"),
        ("darwin", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/h/Library/Application Support/logdoctor/signatures"),
        ("linux", {}, None),
    ],
)
def test_the_usual_place_of_a_platform(platform: str, environ: dict[str, str], wanted: str | None) -> None:
    found = config_directory(environ, platform)
    assert (found and found.as_posix()) == wanted


def test_the_version_follows_the_content_only(shipped: Path) -> None:
    first = loading.shipped_entries()
    moved = [{**one, "line": 99, "file": "elsewhere"} for one in first]
    version = make_database(first).version
    assert version == make_database(moved).version
    assert version.startswith("2-")
    changed = [{**first[0], "title": "another"}, first[1]]
    assert version != make_database(changed).version
    assert make_database(first).version == load().version


def test_a_checkout_and_a_wheel_are_both_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "logdoctor"
    (package / "database").mkdir(parents=True)
    monkeypatch.setattr(loading, "__file__", str(package / "database" / "loading.py"))
    with pytest.raises(DatabaseError, match="shipped signatures are not there"):
        loading.shipped_directory()
    (tmp_path / "site" / "signatures").mkdir()
    assert loading.shipped_directory() == tmp_path / "site" / "signatures"
    (package / "signatures").mkdir()
    assert loading.shipped_directory() == package / "signatures"
