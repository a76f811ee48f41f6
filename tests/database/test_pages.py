"""Pages, index and changelog follow the entries, and say when they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from logdoctor.database import changelog, pages
from logdoctor.database.changelog import parse, recorded_ids, updated
from tests.database.build import signature

ENTRIES = (
    signature(),
    signature(id="other-one", title="A | in <title>", harmless=True, file="signatures/server.yaml"),
)


def test_there_is_a_page_for_each_and_an_index() -> None:
    made = pages.render(ENTRIES)
    assert set(made) == {"kv-too-small.md", "other-one.md", "README.md"}
    assert "from memory.yaml; change it there" in made["kv-too-small.md"]
    assert "# kv-too-small" in made["kv-too-small.md"]
    index = made["README.md"]
    assert "2 signatures, 1 of them for harmless lines." in index
    assert "| [other-one](other-one.md) | harmless | kv-cache | A \\| in \\<title> |" in index
    assert index.index("## memory.yaml") < index.index("## server.yaml")


def test_pages_do_not_depend_on_where_an_entry_stands() -> None:
    moved = [signature(line=99), ENTRIES[1]]
    assert pages.render(moved) == pages.render(ENTRIES)


def test_stale_pages_are_found_written_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "signatures"
    directory.mkdir()
    assert pages.refresh(directory, ENTRIES, only_check=True) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"signatures/{name}: stale; run python -m logdoctor.database.pages"
        for name in ("pages/README.md", "pages/kv-too-small.md", "pages/other-one.md", "CHANGELOG.md")
    ]
    assert not (directory / "pages").exists()
    assert pages.refresh(directory, ENTRIES, only_check=False) == 0
    assert pages.refresh(directory, ENTRIES, only_check=True) == 0
    assert capsys.readouterr().out == "2 pages, 3 changed\n"
    (directory / "pages" / "left-over.md").write_text("x")
    (directory / "pages" / "kv-too-small.md").write_text("x")
    assert pages.refresh(directory, ENTRIES, only_check=True) == 1
    pages.refresh(directory, ENTRIES, only_check=False)
    assert {path.name for path in (directory / "pages").iterdir()} == set(pages.render(ENTRIES))
    assert pages.refresh(directory, ENTRIES, only_check=True) == 0


def test_the_command_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["--chek"]) == 2
    assert "usage: python -m logdoctor.database.pages [--check]" in capsys.readouterr().err


# --- changelog --------------------------------------------------------------------------------------------------------

LOG = """\
# Changelog

Words at the top.

## [Unreleased]

### Added

- `new-one`: because of an issue

### Changed

- `kept`: clearer words

## [0.1.0] - 2026-01-02

### Added

- `gone`
- `kept`
"""


def test_ids_are_replayed_from_the_oldest_release() -> None:
    _, sections = parse(LOG)
    assert [section.heading for section in sections] == ["[Unreleased]", "[0.1.0] - 2026-01-02"]
    assert recorded_ids(sections) == {"new-one", "gone", "kept"}


def test_a_complete_log_stays_as_it_is() -> None:
    assert updated(LOG, ["new-one", "gone", "kept"]) == LOG


def test_what_is_missing_is_added_and_what_is_gone_removed() -> None:
    text = updated(LOG, ["kept", "new-one", "another"])
    _, sections = parse(text)
    assert sections[0].ids("Added") == {"another", "new-one"}
    assert sections[0].ids("Removed") == {"gone"}
    assert sections[0].ids("Changed") == {"kept"}
    assert "- `new-one`: because of an issue" in text
    assert "Words at the top." in text
    assert recorded_ids(sections) == {"kept", "new-one", "another"}
    assert updated(text, ["kept", "new-one", "another"]) == text


def test_what_was_never_released_just_disappears() -> None:
    text = updated(LOG, ["gone", "kept"])
    assert "new-one" not in text
    assert "### Removed" not in text


def test_a_log_is_begun() -> None:
    text = updated("", ["b", "a"])
    assert text.startswith(changelog.EMPTY.rstrip("\n"))
    assert text.endswith("### Added\n\n- `a`\n- `b`\n")


def test_a_new_section_follows_a_release() -> None:
    released = LOG.replace("## [Unreleased]", "## [0.2.0] - 2026-02-03")
    text = updated(released, ["new-one", "gone", "kept", "z"])
    assert [section.heading for section in parse(text)[1]] == [
        "[Unreleased]",
        "[0.2.0] - 2026-02-03",
        "[0.1.0] - 2026-01-02",
    ]
    assert parse(text)[1][0].ids("Added") == {"z"}
