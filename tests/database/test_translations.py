"""The texts in other languages say what the entries say: the same places, options, variables and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from logdoctor.database import Database, DatabaseError, Signature, load_database
from logdoctor.database import loading as loading_module
from logdoctor.database.loading import shipped_directory
from logdoctor.database.translations import Translation, load_translations, misfits, translated
from logdoctor.diagnosis.templates import fill
from logdoctor.report.words import LANGUAGES

OTHERS = tuple(lang for lang in LANGUAGES if lang != "en")
SHIPPED = load_database(environ={}).by_id
LOADED = {lang: load_translations(shipped_directory(), lang) for lang in OTHERS}
PAIRS = [(lang, name) for lang in OTHERS for name in LOADED[lang]]
TYPED = re.compile(r"--[a-z][\w-]+|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w.]*[A-Za-z_])")
FALLBACK = re.compile(r"\{([\w.]+)\|[^{}]*\}")


def texts(name: str, lang: str) -> Iterator[tuple[str, str, str]]:
    """Each text of an entry with its translation."""
    own, other = SHIPPED[name], LOADED[lang][name]
    for key in ("title", "cause", "verify", "decided_when"):
        if getattr(other, key):
            yield key, getattr(own, key), getattr(other, key)
    for number, (remedy, summary) in enumerate(zip(own.remedies, other.remedies, strict=True)):
        yield f"remedy {number}", remedy.summary, summary


def test_there_is_a_file_for_every_language_and_none_besides() -> None:
    assert {path.stem for path in (shipped_directory() / "translations").glob("*.yaml")} == set(OTHERS)


@pytest.mark.parametrize("lang", OTHERS)
def test_enough_entries_are_translated(lang: str) -> None:
    assert len(LOADED[lang]) >= 60


@pytest.mark.parametrize(("lang", "name"), PAIRS)
def test_a_translation_fits_its_entry(lang: str, name: str) -> None:
    assert name in SHIPPED, "there is no such entry"
    assert list(misfits(SHIPPED[name], LOADED[lang][name])) == []


@pytest.mark.parametrize(("lang", "name"), PAIRS)
def test_what_is_typed_and_every_number_is_the_same(lang: str, name: str) -> None:
    for key, own, other in texts(name, lang):
        own, other = FALLBACK.sub(r"{\1}", own), FALLBACK.sub(r"{\1}", other)
        assert set(TYPED.findall(own)) == set(TYPED.findall(other)), key
        assert set(NUMBER.findall(own)) == set(NUMBER.findall(other)), key


@pytest.mark.parametrize("name", LOADED["zh"])
def test_chinese_is_chinese_and_reads_without_stray_blanks(name: str) -> None:
    for key, own, other in texts(name, "zh"):
        if key != "verify":  # which may be nothing but a line of the log
            assert re.search(r"[\u4e00-\u9fff]", other), key
        assert other != own or key == "verify"
        assert not re.search(r"[\u4e00-\u9fff，。；：] [\u4e00-\u9fff，。；：]", other), key
        assert not re.search(r"[\u4e00-\u9fff][,;:?!]", other), f"{key} has half-width punctuation"


# -- how they are used ------------------------------------------------------------------------------------------------


def test_the_database_speaks_the_language_where_it_can() -> None:
    database = load_database(environ={}, lang="zh")
    assert database.lang == "zh"
    assert database.by_id["engine-dead"].title == LOADED["zh"]["engine-dead"].title
    untranslated = next(name for name in SHIPPED if name not in LOADED["zh"])
    assert database.by_id[untranslated] == SHIPPED[untranslated]
    assert [row.id for row in database.rows] == list(SHIPPED)
    assert database.version == load_database(environ={}).version


def test_all_but_the_texts_stays() -> None:
    own = SHIPPED["kv-cache-one-request"]
    other = translated(own, LOADED["zh"][own.id])
    assert other.remedies[0].value == own.remedies[0].value
    assert other.remedies[0].summary != own.remedies[0].summary
    kept = {field: getattr(other, field) for field in Signature._fields}
    changed = {field for field, value in kept.items() if value != getattr(own, field)}
    assert changed <= {"title", "cause", "remedies", "verify", "decided_when"}
    assert "24.0" in fill(other.title, {"needed": "24.0"}, {})


def test_an_entry_of_the_users_own_keeps_its_words(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "- id: engine-dead\n  title: My own words\n  severity: error\n  phase: serving\n"
        "  match: {any: [{literal: EngineDeadError}]}\n  cause: It died.\n  confidence: likely\n  basis: field-report\n"
        "  examples: {match: [EngineDeadError], no_match: [EngineCore]}\n",
        encoding="utf-8",
    )
    assert load_database([tmp_path], environ={}, lang="zh").by_id["engine-dead"].title == "My own words"


def entry() -> Signature:
    return SHIPPED["serve-given-twice"]


@pytest.mark.parametrize(
    ("translation", "says"),
    [
        (Translation("标题 {rest}", "原因"), "0 remedies"),
        (Translation("标题", "原因", ("甲", "乙", "丙")), "placeholders none"),
        (Translation("标题 {rest}", "原因 {other}", ("甲", "乙", "丙")), "placeholders other"),
        (Translation("标题 {rest}", "原因", ("甲", "乙", "丙"), decided_when="丁"), "has none"),
    ],
)
def test_what_does_not_fit_any_more_speaks_english(translation: Translation, says: str) -> None:
    assert any(says in complaint for complaint in misfits(entry(), translation))
    assert translated(entry(), translation) == entry()
    assert Database.of([entry()]).signature(0) == entry()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- a\n", "wants a mapping"),
        ("engine-dead: {title: x}\n", "wants a title and a cause"),
        ("engine-dead: {title: x, cause: y, fix: z}\n", "unknown key fix"),
        ("engine-dead: {title: x, cause: y, remedies: z}\n", "wants a list"),
        ("engine-dead: {title: 1, cause: y}\n", "wants texts"),
    ],
)
def test_a_broken_file_is_named(text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "translations").mkdir()
    (tmp_path / "translations" / "zh.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=says):
        load_translations(tmp_path, "zh")
    monkeypatch.setattr(loading_module, "shipped_directory", lambda: tmp_path)
    with pytest.raises(DatabaseError, match=r"signatures/translations/zh\.yaml: cannot be read"):
        load_database(environ={}, lang="zh")
