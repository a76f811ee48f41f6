"""What to type instead of what the command line refused: the nearest name or value, with what was typed behind it.

argparse prints the words that it did not know, and the values that it would have taken. Both tell more than the
tables: a value typed behind a wrong name belongs behind the right one, and the list that is printed is this version's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from logdoctor.diagnosis.templates import shell_word
from logdoctor.knowledge.absence import Absence, Presence
from logdoctor.knowledge.releases import Version
from logdoctor.knowledge.successors import likeness, nearest_of
from logdoctor.knowledge.tables import Kind, canonical, known_versions, lookup, record_of
from logdoctor.knowledge.values import canonical_value, flag_choices, lookup_value, value_exists
from logdoctor.model import Finding, Remedy

_SURE = 0.85
"""From here on a name that was never there is a slip of the pen, and needs no question back."""
_IF_MEANT = "if that is what was meant"
_LEFT_OVER = re.compile(r"error: unrecognized arguments: ([^\n]{1,2000})")
_LISTED = re.compile(r"(?:\(choo?se from|Available parsers:|Valid options:) ([^\n]{1,4000})")
_ITEM = re.compile(r"[\w.+/:-]{1,80}")
_LIBRARY_SWITCH = re.compile(r"VLLM_(?:\w+_)?USE_(FLASHINFER|MARLIN|CUTLASS|AITER)(?:_\w+)?")
"""A variable that asks for a library with 1 and keeps it out with 0, where a flag names one of several."""
_OPTION = re.compile(r"--?[A-Za-z]")


Typed = Mapping[str, str | None]
"""The word behind each flag as it was typed: empty where there was none, None where only the launch knows it."""


class Correction(NamedTuple):
    """What replaces one refused flag."""

    old: str
    typed: str
    """The flag with its value, as it was refused."""
    new: str
    """What to type instead; empty where nothing takes its place."""
    sure: bool
    """False where the reader has to say whether that was meant."""
    kept: bool = False
    """True where the value behind it is one that only the launch knows, and stays."""


def typed_values(texts: Iterable[str]) -> dict[str, str]:
    """Return the words behind each flag that argparse left over, from the lines that say so."""
    found: dict[str, str] = {}
    for text in texts:
        message = _LEFT_OVER.search(text)
        name = ""
        for word in message[1].split() if message else ():
            if _OPTION.match(word):
                name, equals, value = word.partition("=")
                found.setdefault(name, value if equals else "")
            elif name and (not found[name] or found[name][0] in "{["):
                found[name] = f"{found[name]} {word}".strip()
    return {name: _whole(value) for name, value in found.items()}


def _whole(value: str) -> str:
    """Keep one value: a mapping or list with its blanks as far as it is one, else the first word."""
    if value[:1] in ("{", "["):
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return value.split()[0]
        return value
    return value.split()[0] if value.split() else ""


def listed_values(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the values that a refusal says it would take."""
    found = next((listed for text in texts if (listed := _LISTED.search(text))), None)
    items = _ITEM.findall(found[1]) if found else []
    return tuple(dict.fromkeys(item for item in items if item != "None"))


# -- flags ------------------------------------------------------------------------------------------------------------


def is_option(word: str) -> bool:
    """Whether a word that was left over is a flag, and no negative number."""
    return _OPTION.match(word) is not None


def correction(absence: Absence, shown: str, value: str | None, version: Version | None) -> Correction:
    """Return what to type instead of a flag, its value carried over where the new one takes it."""
    typed = f"{shown} {shell_word(value)}" if value else shown
    use = absence.suggestion
    successor = absence.successor
    sure = successor is not None or likeness(absence.name, use) >= _SURE
    if lookup(Kind.ENV, use) is not None:
        return Correction(shown, typed, _variable(use, value or ""), sure)
    if not use.startswith("--") or " " in use:
        return Correction(shown, typed, use, sure)
    record = record_of(Kind.FLAG, use.partition(".")[0]) or {}
    if record.get("bool") and "." not in use:
        # A switch takes no value; one behind the old name may have meant the opposite.
        return Correction(shown, typed, use, sure and (value or "").casefold() in ("", "true", "1"))
    as_json = successor is not None and successor.note.startswith("As JSON")
    if value is None and not as_json:
        return Correction(shown, typed, use, sure, kept=True)
    if not value or as_json or value_exists(use, value, version) is False:
        return Correction(shown, typed, use, False)
    return Correction(shown, typed, f"{use} {shell_word(value)}", sure)


def _variable(use: str, value: str) -> str:
    """Return a variable with the value that means what was typed behind a flag; the name alone where none is known."""
    switch = _LIBRARY_SWITCH.fullmatch(use)
    if switch is not None and value not in ("", "auto"):
        return f"{use}={int(switch[1].casefold() in value.casefold())}"
    value = canonical_value(use, value)
    return f"{use}={shell_word(value)}" if lookup_value(use, value) else use


def lacks_value(use: str) -> bool:
    """Whether what is to be typed is a flag that takes a value, or a variable, and stands without one."""
    if use.startswith("-"):
        name, _, nested = use.partition(".")
        record = record_of(Kind.FLAG, name)
        return " " not in use and "=" not in use and record is not None and (bool(nested) or not record.get("bool"))
    return re.fullmatch(r"[A-Z][A-Z0-9_]*", use) is not None


def instead_of_variable(absence: Absence, typed: str | None) -> tuple[str, str, bool]:
    """Return kind and text of what takes a variable's place, its value carried over, and whether it surely is meant.

    What needs a value that is not known is advice: nothing to type.
    """
    kind, use, sure = _instead(absence, typed)
    return ("advice" if kind != "host" and lacks_value(use) else kind), use, sure


def _instead(absence: Absence, typed: str | None) -> tuple[str, str, bool]:
    use = absence.suggestion
    sure = absence.successor is not None or likeness(absence.name, use) >= _SURE
    if use.startswith("-"):
        if not typed or " " in use or (record_of(Kind.FLAG, use.partition(".")[0]) or {}).get("bool"):
            return "flag", use, sure
        taken = value_exists(use, typed, absence.version)
        return "flag", use if taken is False else f"{use} {shell_word(canonical_value(use, typed))}", sure
    if not re.fullmatch(r"[A-Z]\w*(?:=.*)?", use):
        return "host", use, sure
    carried = typed and "=" not in use and value_exists(use, typed, absence.version) is not False
    return "env", f"{use}={shell_word(typed or '')}" if carried else use, sure


def flag_sentence(absence: Absence) -> str:
    """Say what became of a flag that a log refuses: that alone tells something about a version that is not known."""
    if absence.version is not None or absence.introduced is None or absence.removed is not None:
        return absence.sentence
    hint = f" {absence.successor.note}" if absence.successor is not None and absence.successor.note else ""
    use = f" Before that: {absence.suggestion}.{hint}" if absence.suggestion else ""
    return f"The flag {absence.name} comes with vLLM {absence.introduced}, so this one is older.{use}"


def flag_remedies(absences: Sequence[Absence], corrections: Sequence[Correction], id: str) -> list[Remedy]:
    """Return one fix for all refused flags: the words to type, what is to go, and the versions that have them all."""
    remedies = []
    # A launch that knows the value only where it runs keeps it: there the flag alone is renamed.
    bare = [one for one in corrections if lacks_value(one.new) and not one.kept]
    for sure in (True, False):
        chosen = [one for one in corrections if one.new.startswith("-") and one.sure is sure and one not in bare]
        if chosen:
            new = " ".join(dict.fromkeys(one.new for one in chosen))
            remedies.append(Remedy(f"Write {_told(chosen)}", "flag", new, "" if sure else _IF_MEANT, id))
    for one in corrections:
        if one in bare:
            told = f"Use {one.new} with its value instead of {one.typed}"
            remedies.append(Remedy(told, "advice", "", "" if one.sure else _IF_MEANT, id))
        elif one.new and not one.new.startswith("-"):
            kind = "env" if one.new[0].isupper() else "host"
            remedies.append(Remedy(f"Write {_told([one])}", kind, one.new, "" if one.sure else _IF_MEANT, id))
    olds = [one.old for one in corrections]
    remedies.append(Remedy(f"Take {listing(olds)} out", "remove", " ".join(map(shell_word, olds)), "", id))
    # All the words were refused at once: each part is about another one.
    remedies[1:] = [replace(one, with_previous=True) for one in remedies[1:]]
    versions = _versions(absences)
    if versions:
        remedies.append(Remedy(f"Or use {versions}", "advice", "", "", id))
    return remedies


def _told(corrections: Sequence[Correction]) -> str:
    return ", ".join(f"{one.new} instead of {one.typed}" for one in corrections)


def _versions(absences: Sequence[Absence]) -> str:
    """Say which releases have all the names; empty where none has, or where it is not known."""
    if any(one.introduced is None for one in absences):
        return ""
    entries = [lookup(Kind.FLAG, one.name) for one in absences]
    having = [v for v in known_versions() if all(e is not None and e.exists_in(v) for e in entries)]
    later = [v for v in having if (seen := absences[0].version) is None or v > seen]
    if not later:
        return ""
    which = "it" if len(absences) == 1 else "them all"
    if later[-1] == known_versions()[-1] and absences[0].presence is Presence.LATER:
        return f"vLLM {later[0]} or newer, which has {which}"
    return f"a version that has {which} ({later[0]} to {later[-1]})"


def listing(names: Sequence[str]) -> str:
    """Join names as a sentence has them."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


# -- values -----------------------------------------------------------------------------------------------------------


def unlisted(owner: str, value: str, version: Version | None) -> Absence:
    """Describe a value that a log refuses and the tables would take, or do not judge."""
    return Absence(Kind.FLAG, value, version, Presence.UNKNOWN, owner=canonical(Kind.FLAG, owner))


class Nearest(NamedTuple):
    """The valid value that is spelled most like the one that was refused."""

    value: str
    same: bool
    """True when only hyphens, underscores or capitals differ."""
    sure: bool


def nearest_value(owner: str, value: str, listed: Sequence[str], version: Version | None) -> Nearest | None:
    """Return the nearest value: among those that the message lists, else among those of the version."""
    choices = listed or flag_choices(owner, version) or ()
    folded = _folded(value)
    same = next((choice for choice in choices if _folded(choice) == folded), None)
    if same is not None:
        return Nearest(same, True, True) if same != value else None
    found = nearest_of(value, choices)
    return Nearest(found, False, likeness(value, found) >= _SURE) if found else None


def _folded(value: str) -> str:
    return re.sub(r"[-_. ]", "_", value.casefold())


def value_remedy(
    owner: str, shown: str, absence: Absence, near: Nearest | None, id: str, listed: Sequence[str] = ()
) -> Remedy | None:
    """Return what to type instead of a value: what replaces it, else the nearest one.

    `listed` are the values that the message says it takes; they know better than any table.
    """
    use = absence.successor.use if absence.successor is not None else ""
    if use and (use.startswith("-") or "=" in use or not listed or use in listed):
        command = use if use.startswith("-") or "=" in use else f"{owner} {use}"
        return Remedy(f"Write {use} instead of {shown}", "flag" if command.startswith("-") else "env", command, "", id)
    if near is None:
        return None
    condition = "" if near.sure else _IF_MEANT
    kind, command = ("flag", f"{owner} {near.value}") if owner.startswith("-") else ("env", f"{owner}={near.value}")
    return Remedy(
        f"Write {near.value}, the nearest value that it takes, instead of {shown}", kind, command, condition, id
    )


def value_sentence(owner: str, shown: str, absence: Absence, near: Nearest | None, listed: Sequence[str]) -> str:
    """Say what is wrong with a value, by the list that the message prints where it prints one."""
    if near is not None and near.same:
        return f"{owner} takes the value as {near.value}; spelled {shown} it is another one, and refused."
    said = absence.sentence
    if absence.presence is Presence.UNKNOWN and absence.introduced is None and listed:
        said = f"This vLLM does not take {shown} for {owner}."
    elif absence.version is None and absence.introduced is not None and listed:
        last = f" to {absence.last}" if absence.removed is not None else " on"
        said = (
            f"{absence.name} is a value of {owner} from vLLM {absence.introduced}{last}. By the list that it prints, "
            "this vLLM is another release."
        )
    if near is not None and near.value not in said:
        said = f"{said} The nearest value that it takes is {near.value}."
    return said


def names_flag(finding: Finding, flag: str) -> bool:
    """Whether a finding is about this flag: it leads the title, or a remedy takes it away."""
    word = re.compile(rf"(?<![\w-]){re.escape(flag)}(?![\w-])")
    return finding.title.startswith(f"{flag} ") or any(
        word.search(remedy.command) for remedy in finding.remedies if remedy.kind == "remove"
    )


def texts_on(findings: Iterable[Finding], line: int) -> list[str]:
    """Return what findings show of a line."""
    return [item.text for finding in findings for item in finding.evidence if item.line == line and item.text]
