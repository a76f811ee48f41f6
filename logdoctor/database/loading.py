"""Find, read and combine the shipped database and the user's own directories.

Two steps, so that the first can be stored: YAML to checked plain dictionaries (`entries`), and those to
`Signature` objects (`schema.signature_from_dict`).
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logdoctor.database.cache import cached, key_of
from logdoctor.database.compact import FORMAT, Row, dump_rows, load_rows, make_full_row, make_row, row_of
from logdoctor.database.issues import Issue
from logdoctor.database.schema import Signature

if TYPE_CHECKING:
    from logdoctor.database.translations import Translation

ENVIRONMENT_VARIABLE = "LOGDOCTOR_SIGNATURES"
"""Directories of the user's own entries, separated as in PATH."""

ENGLISH = "en"
"""The language that entries are written in."""

Entry = dict[str, Any]


class DatabaseError(Exception):
    """The database cannot be used; `issues` holds every complaint."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        self.issues = tuple(issues)
        count = len(self.issues)
        head = "1 problem" if count == 1 else f"{count} problems"
        super().__init__("\n".join([f"the signature database has {head}:", *map(str, self.issues)]))


class Database:
    """All signatures in force, in the order of their files.

    The rows are there at once; a signature is made from its row when somebody asks for it.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        version: str,
        notes: Iterable[str] = (),
        *,
        lang: str = ENGLISH,
        translations: Mapping[str, Translation] | None = None,
    ) -> None:
        self.rows = tuple(rows)
        self.version = version
        """Number of signatures and a short hash of their content, e.g. `214-9f3c2ab1`."""
        self.notes = tuple(notes)
        """Remarks about the user's directories, for stderr."""
        self.lang = lang
        """Language of the entries' texts, as far as they are translated."""
        self._translations = translations or {}
        self._made: dict[int, Signature] = {}

    @classmethod
    def of(cls, signatures: Iterable[Signature], version: str = "") -> Database:
        """Build a database of signatures that are already there."""
        made = dict(enumerate(signatures))
        database = cls(map(row_of, made.values()), version)
        database._made.update(made)
        return database

    def signature(self, number: int) -> Signature:
        """Return the signature of a row."""
        made = self._made.get(number)
        if made is None:
            made = self.rows[number].signature()
            if made.id in self._translations:
                from logdoctor.database.translations import translated

                made = translated(made, self._translations[made.id])
            self._made[number] = made
        return made

    def lang_of(self, name: str) -> str:
        """Return the language that an entry speaks: it is English where its translation is missing or does not fit."""
        if name not in self._translations:
            return ENGLISH
        from logdoctor.database.translations import misfits

        number = next((n for n, row in enumerate(self.rows) if row.id == name), -1)
        fits = number >= 0 and next(misfits(self.rows[number].signature(), self._translations[name]), None) is None
        return self.lang if fits else ENGLISH

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """All signatures."""
        return tuple(self.signature(number) for number in range(len(self.rows)))

    @property
    def by_id(self) -> Mapping[str, Signature]:
        """All signatures by their id."""
        return {signature.id: signature for signature in self.signatures}


@dataclass(slots=True)
class Layer:
    """What one directory holds: entries of sound files, and the complaints about the others."""

    entries: list[Entry] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)


def load_database(
    extra_dirs: Iterable[str | Path] = (),
    ignore_broken: bool = False,
    *,
    environ: Mapping[str, str] | None = None,
    examples: bool = False,
    lang: str = ENGLISH,
) -> Database:
    """Load the shipped signatures and lay the user's directories over them.

    With `examples` the entries are read from their YAML and hold their examples; without, the compact form will do.
    `lang` is the language of their texts where they are translated; entries of the user's own are not.

    Order, later over earlier: shipped, the platform's configuration directory, `LOGDOCTOR_SIGNATURES`,
    `extra_dirs`. An entry with a known id takes that id's place, `disabled: true` takes it out. Raises
    `DatabaseError` with every complaint, unless `ignore_broken` turns those about the user's files into notes.
    """
    environ = os.environ if environ is None else environ
    rows = {row.id: row for row in (map(make_full_row, shipped_entries()) if examples else shipped_rows())}
    notes: list[str] = []
    issues: list[Issue] = []
    translations = _translations(lang)
    for directory in _user_dirs(extra_dirs, environ):
        layer = read_directory(directory)
        for entry in layer.entries:
            translations.pop(entry["id"], None)
        issues += layer.issues
        if not layer.entries and not layer.issues:
            notes.append(f"{directory}: holds no *.yaml file with signatures")
        notes += _overlay(rows, layer.entries, make_full_row if examples else make_row)
    if issues and not ignore_broken:
        raise DatabaseError(issues)
    notes += [f"ignored: {issue}" for issue in issues]
    version = rows_version(rows.values())
    return Database(rows.values(), version, notes, lang=lang, translations=translations)


def _translations(lang: str) -> dict[str, Translation]:
    if lang == ENGLISH:
        return {}
    from logdoctor.database.translations import load_translations, place

    try:
        return load_translations(shipped_directory(), lang)
    except (OSError, ValueError) as error:
        raise DatabaseError([Issue(place(lang), 0, f"cannot be read: {error}")]) from error


def make_database(entries: Iterable[Entry], notes: Iterable[str] = ()) -> Database:
    """Build the database from checked dictionaries."""
    rows = [make_full_row(entry) for entry in entries]
    return Database(rows, rows_version(rows), notes)


def rows_version(rows: Iterable[Row]) -> str:
    """Return the count and a hash of the content; where an entry stands and its examples do not count."""
    marks = [row.mark for row in rows]
    return f"{len(marks)}-{hashlib.sha256(chr(10).join(marks).encode()).hexdigest()[:8]}"


# --- the shipped directory ------------------------------------------------------------------------------------------


def shipped_directory() -> Path:
    """Return the shipped `signatures/`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]  # plain paths: `importlib.resources` costs 10 ms at every start
    for candidate in (package / "signatures", package.parent / "signatures"):
        if candidate.is_dir():
            return candidate
    raise DatabaseError([Issue("signatures", 0, "the shipped signatures are not there; install logdoctor again")])


def shipped_rows() -> list[Row]:
    """Return the rows of the shipped files: from the compact form in the wheel, from the cache, or made anew."""
    directory = shipped_directory()
    key = source_key(directory)
    for data in (_built_in(directory, key), None):
        try:
            return load_rows(data if data is not None else cached("signatures", key, compact_shipped))
        except (ValueError, RecursionError):
            continue
    return load_rows(compact_shipped())


def compact_shipped() -> bytes:
    """Return the compact form of the shipped files."""
    return dump_rows(map(make_row, shipped_entries()))


_MAKERS = ("entries", "schema", "compact", "literals", "patterns")
"""Modules that decide what the compact form holds: another code makes another form."""


def source_key(directory: Path) -> str:
    """Name the content of the files that the compact form is made from."""
    own = Path(__file__).parent
    files = [*sorted(directory.glob("*.yaml")), *(own / f"{name}.py" for name in _MAKERS)]
    return key_of(str(FORMAT).encode(), *(part for path in files for part in (path.name.encode(), path.read_bytes())))


def _built_in(directory: Path, key: str) -> bytes | None:
    """The compact form that the build put beside the files, when it was made from just these."""
    try:
        return (directory / f"compact-{key}.json").read_bytes()
    except OSError:
        return None


def shipped_entries(*, strict: bool = False) -> list[Entry]:
    """Return the entries of the shipped files; patterns are compiled only when `strict`."""
    layer = read_shipped(strict=strict)
    if layer.issues:
        raise DatabaseError(layer.issues)
    return layer.entries


def read_shipped(*, strict: bool = True) -> Layer:
    """Read the shipped files, keeping complaints apart."""
    directory = shipped_directory()
    paths = sorted(directory.glob("*.yaml"))
    return _read_files(((f"signatures/{path.name}", path) for path in paths), strict)


# --- the user's directories -----------------------------------------------------------------------------------------


def _user_dirs(extra_dirs: Iterable[str | Path], environ: Mapping[str, str]) -> Iterator[Path]:
    config = config_directory(environ)
    if config is not None and config.is_dir():
        yield config
    yield from (Path(part) for part in environ.get(ENVIRONMENT_VARIABLE, "").split(os.pathsep) if part)
    yield from map(Path, extra_dirs)


def config_directory(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Return where this platform keeps a user's own signatures; it need not exist."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if platform != "darwin" and Path(base).is_absolute():
        return Path(base, "logdoctor", "signatures")
    home = environ.get("HOME", "")
    if not home:
        return None
    if platform == "darwin":
        return Path(home, "Library", "Application Support", "logdoctor", "signatures")
    return Path(home, ".config", "logdoctor", "signatures")


def read_directory(directory: Path) -> Layer:
    """Read a directory of the user's own; one that any user of the machine may write to is refused."""
    try:
        paths = sorted(path for path in directory.iterdir() if path.suffix in (".yaml", ".yml"))
        refused = [path for path in (directory, *paths) if _anyone_may_write(path)]
    except OSError as error:
        return Layer(issues=[_os_issue(directory, error)])
    if refused:
        what = "may be written by every user of this machine; take that right away (chmod o-w)"
        return Layer(issues=[Issue(str(path), 0, what) for path in refused])
    return _read_files(((str(path), path) for path in paths), strict=True)


def _anyone_may_write(path: Path) -> bool:
    return os.name == "posix" and bool(path.stat().st_mode & stat.S_IWOTH)


def _os_issue(path: Path, error: OSError) -> Issue:
    return Issue(str(path), 0, (error.strerror or "cannot be read").lower())


def _overlay(rows: dict[str, Row], layer: Iterable[Entry], make: Callable[[Entry], Row]) -> list[str]:
    """Add, replace or take out rows in place; return remarks."""
    notes = []
    for entry in layer:
        if not entry.get("disabled"):
            rows[entry["id"]] = make(entry)
        elif rows.pop(entry["id"], None) is None:
            notes.append(f"{entry['file']}:{entry['line']}: {entry['id']} is disabled but there is no such signature")
    return notes


# --- files ----------------------------------------------------------------------------------------------------------


def _read_files(named: Iterable[tuple[str, Path]], strict: bool) -> Layer:
    """Read the files of one directory. A file with any complaint gives no entry at all."""
    layer = Layer()
    places: dict[str, str] = {}
    for name, path in named:
        entries, issues = _read_file(name, path, strict)
        for entry in entries:
            other = places.setdefault(entry["id"], f"{name}:{entry['line']}")
            if other != f"{name}:{entry['line']}":
                issues.append(Issue(name, entry["line"], f"id {entry['id']} is taken by {other}", "duplicate-id"))
        layer.issues += issues
        if not issues:
            layer.entries += entries
    return layer


def _read_file(name: str, path: Path, strict: bool) -> tuple[list[Entry], list[Issue]]:
    from logdoctor.database.entries import MAX_FILE_BYTES, read_entries

    try:
        data = path.read_bytes()
    except OSError as error:
        return [], [_os_issue(path, error)]
    if len(data) > MAX_FILE_BYTES:
        return [], [Issue(name, 0, f"is larger than {MAX_FILE_BYTES // 2**20} MiB")]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [Issue(name, data.count(b"\n", 0, error.start) + 1, "is not UTF-8 text")]
    return read_entries(text, name, strict=strict)
