"""The texts of entries in another language: `signatures/translations/LANG.yaml`, by id.

Only what people read is translated: title, cause, the summaries of remedies in their order, what shows that a fix
worked, and what decides between causes. What one types stays, and so do placeholders. An entry without a translation,
or whose translation does not fit any more, speaks English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from logdoctor.database.schema import Signature

FOLDER = "translations"
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]*)(?:\|[^{}]*)?\}")
_FOLD = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])")
_TEXTS = ("title", "cause", "verify", "decided_when")


class Translation(NamedTuple):
    """The texts of one entry in another language; an empty one is not translated."""

    title: str
    cause: str
    remedies: tuple[str, ...] = ()
    """Summaries, one for each remedy, in their order."""
    verify: str = ""
    decided_when: str = ""


def place(lang: str) -> str:
    """Return the file of a language as messages name it."""
    return f"signatures/{FOLDER}/{lang}.yaml"


def load_translations(directory: Path, lang: str) -> dict[str, Translation]:
    """Return the translations into a language by id. Raises ValueError with what is wrong in the file."""
    import yaml

    path = directory / FOLDER / f"{lang}.yaml"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(path.read_bytes())
    try:
        loaded = loader.get_single_data()
    finally:
        loader.dispose()
    if not isinstance(loaded, dict):
        raise ValueError(f"{path.name}: wants a mapping from ids to texts")
    return {str(name): _translation(f"{path.name}: {name}", entry) for name, entry in loaded.items()}


def _translation(where: str, entry: Any) -> Translation:
    if not isinstance(entry, dict) or not {"title", "cause"} <= entry.keys():
        raise ValueError(f"{where} wants a title and a cause")
    unknown = entry.keys() - {*_TEXTS, "remedies"}
    if unknown:
        raise ValueError(f"{where} has the unknown key {min(map(str, unknown))}")
    remedies = entry.get("remedies", [])
    if not isinstance(remedies, list) or not all(isinstance(text, str) for text in remedies):
        raise ValueError(f"{where}: remedies wants a list of texts")
    texts = {key: entry.get(key, "") for key in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"{where}: wants texts")
    return Translation(
        remedies=tuple(map(_unfolded, remedies)), **{key: _unfolded(text) for key, text in texts.items()}
    )


def _unfolded(text: str) -> str:
    """Take out the blanks that folding in YAML puts where a line ended: Chinese has none between its words."""
    return _FOLD.sub("", text.strip())


def translated(signature: Signature, translation: Translation) -> Signature:
    """Return the signature with its texts in the other language; the same one where the translation does not fit."""
    if next(misfits(signature, translation), None) is not None:
        return signature
    pairs = zip(signature.remedies, translation.remedies, strict=True)
    return signature._replace(
        title=translation.title,
        cause=translation.cause,
        remedies=tuple(remedy._replace(summary=summary) for remedy, summary in pairs),
        verify=translation.verify or signature.verify,
        decided_when=translation.decided_when or signature.decided_when,
    )


def misfits(signature: Signature, translation: Translation) -> Iterator[str]:
    """Say where a translation does not have the shape of the entry: other placeholders, other remedies."""
    if len(translation.remedies) != len(signature.remedies):
        yield f"has {len(translation.remedies)} remedies, the entry {len(signature.remedies)}"
        return
    pairs: list[tuple[str, str, str]] = [
        (key, getattr(signature, key), getattr(translation, key)) for key in _TEXTS if getattr(translation, key)
    ]
    for number, (remedy, summary) in enumerate(zip(signature.remedies, translation.remedies, strict=True)):
        pairs.append((f"remedy {number}", remedy.summary, summary))
    for name, own, other in pairs:
        if not own:
            yield f"{name}: the entry has none"
        elif placeholders(own) != placeholders(other):
            yield f"{name}: has the placeholders {_list(other)}, the entry {_list(own)}"


def placeholders(text: str) -> set[str]:
    """Return the names that are filled into a text."""
    return set(_PLACEHOLDER.findall(text))


def _list(text: str) -> str:
    return ", ".join(sorted(placeholders(text))) or "none"
