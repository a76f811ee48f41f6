"""What one remedy changes in a launch."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from logdoctor.knowledge.releases import parse_version
from logdoctor.knowledge.tables import Kind as Table
from logdoctor.knowledge.tables import canonical, lookup
from logdoctor.knowledge.values import canonical_value, value_exists
from logdoctor.launch import edits
from logdoctor.launch.command import LaunchCommand, split_image
from logdoctor.launch.edits import Edit
from logdoctor.launch.errors import NotEditable
from logdoctor.launch.flags import Arguments, Use, flag_words, is_switch, read_arguments
from logdoctor.launch.programs import API_SERVER, assignment
from logdoctor.model import Facts, Remedy

_IMAGE = re.compile(r"(?P<image>[a-z0-9][\w.-]*(?::\d+)?(?:/[\w.-]+)*:[\w.-]+)(?P<newer> or newer)?")
_VARIANT = re.compile(r"v?\d[\d.]*(?:rc\d+)?(?P<variant>-[\w.-]+)")


@dataclass(frozen=True, slots=True)
class Change:
    """A launch text after a remedy."""

    text: str
    touched: tuple[str, ...] = ()
    """Flags and variables that were set and must not be removed again."""
    notes: tuple[str, ...] = ()


def change(
    launch: LaunchCommand, remedy: Remedy, removals: Sequence[Remedy], facts: Facts, already: frozenset[str]
) -> Change:
    """Return the launch text with a remedy applied; `removals` are what the same finding says to remove.

    Nothing of `already`, what was set before, is removed. Raises `NotEditable` with the reason.
    """
    if remedy.kind == "env":
        return _set_variable(launch, remedy.command)
    if remedy.kind == "image":
        return _set_image(launch, remedy.command)
    if remedy.kind == "remove":
        return _remove(launch, remedy.command, already)
    return _set_flags(launch, remedy.command, removals, facts)


# -- variables and the image ------------------------------------------------------------------------------------------


def _set_variable(launch: LaunchCommand, command: str) -> Change:
    named = assignment(command.strip())
    if named is None:
        raise NotEditable("it names no variable with its value")
    name, value = named[0], named[1].strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    if launch.in_container and launch.env.get(name) is None and launch.new_variable is None:
        raise NotEditable(f"the launch has no place for the variable {name}")
    return Change(edits.apply_edits(launch.text, edits.set_variable(launch, name, value)), (name,))


def _set_image(launch: LaunchCommand, command: str) -> Change:
    from logdoctor.launch.rewriting import same_repository

    found = _IMAGE.fullmatch(command.strip())
    if found is None:
        raise NotEditable("it belongs into the build of the image")
    word, wanted = launch.image_word, found["image"]
    if word is None or not launch.image:
        raise NotEditable("the launch names no image")
    if not same_repository(launch.image, wanted):
        raise NotEditable(f"the launch uses another image, {launch.image[:100]}")
    new, old = parse_version(split_image(wanted)[1]), parse_version(split_image(launch.image)[1])
    if found["newer"] and new is not None and old is not None and old >= new:
        return Change(launch.text)
    if split_image(launch.image)[1] == split_image(wanted)[1]:
        return Change(launch.text)
    variant = _VARIANT.fullmatch(split_image(launch.image)[1])
    notes = (f"whether {wanted} also exists as the variant {variant['variant']}",) if variant else ()
    return Change(edits.apply_edits(launch.text, edits.replace_word(word, wanted)), (), notes)


# -- flags ------------------------------------------------------------------------------------------------------------


def _set_flags(launch: LaunchCommand, command: str, removals: Sequence[Remedy], facts: Facts) -> Change:
    rows: list[list[str]] = []
    changed: list[Edit] = []
    touched: list[str] = []
    arguments = read_arguments(launch.argv, launch.program)
    for name, value in flag_words(command):
        if not name.startswith("-"):
            raise NotEditable("it names no flag")
        use = _last_use(arguments, name)
        switch = is_switch(name)
        touched.append(canonical(Table.FLAG, name))
        misnamed = _misnamed(arguments, name, value, removals, facts) if use is None else None
        if misnamed is not None:
            changed.extend(_rename(launch, misnamed, name))
        elif use is None and value is not None and (whole := _as_mapping_use(arguments, name)) is not None:
            changed.extend(_rewrite(launch, whole, whole.name, _with_key(whole, name, value)))
        elif use is None and value is None and not switch:
            changed.extend(_moved(launch, arguments, name, removals, facts))
        elif use is not None:
            changed.extend(_rewrite(launch, use, name, value))
        else:
            rows.append(_row(arguments, name, value))
    if rows:
        changed.extend(_append(launch, rows))
    return Change(edits.apply_edits(launch.text, changed), tuple(touched))


def _last_use(arguments: Arguments, name: str) -> Use | None:
    plain, _, nested = name.partition(".")
    canon = canonical(Table.FLAG, plain)
    if canon.startswith("--no-"):
        canon = f"--{canon[5:]}"
    uses = [use for use in arguments.uses if use.name == canon and use.nested == nested]
    return uses[-1] if uses else None


def _rewrite(launch: LaunchCommand, use: Use, name: str, value: str | None) -> list[Edit]:
    words = launch.argv
    if value is None:
        negated = canonical(Table.FLAG, name).startswith("--no-")
        if use.negated == negated and not use.joined:
            return []
        return edits.replace_word(words[use.first], name)
    if use.value is not None and same_value(use.value, value) and use.known:
        return []
    value = merged_json(use.value, value) if use.known and not use.nested else value
    if use.joined:
        return edits.replace_word(words[use.first], value, "" if use.spelled == "-O" else f"{use.spelled}=")
    if use.last == use.first:
        return edits.insert_words(launch.text, words[use.first], [[value]], ())
    changed = edits.replace_word(words[use.first + 1], value)
    if use.last > use.first + 1:
        changed += edits.delete_words(launch.text, words, use.first + 2, use.last)
    return changed


def merged_json(stated: str | None, wanted: str) -> str:
    """Return a mapping in JSON with the keys that are wanted put into the one that is stated; else what is wanted."""
    mine, theirs = _mapping(stated or ""), _mapping(wanted)
    if mine is None or theirs is None:
        return wanted
    return stated or wanted if {**mine, **theirs} == mine else json.dumps({**mine, **theirs}, ensure_ascii=False)


def _mapping(text: str) -> dict[str, object] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _as_mapping_use(arguments: Arguments, name: str) -> Use | None:
    """Return the use that gives a flag's keys in one mapping, for a remedy that names one of the keys."""
    plain, _, nested = name.partition(".")
    use = _last_use(arguments, plain) if nested else None
    return use if use is not None and use.known and _mapping(use.value or "") is not None else None


def _with_key(use: Use, name: str, value: str) -> str:
    """Return the mapping of a flag with one key set, `--flag.key.inner value` too."""
    try:
        worth: object = json.loads(value)
    except (ValueError, RecursionError):
        worth = value
    keys = name.split(".")[1:]
    wanted = worth
    stated: object = _mapping(use.value or "") or {}
    inner = [stated]
    for key in keys[:-1]:
        stated = stated.get(key) if isinstance(stated, dict) else None
        inner.append(stated)
    for key, around in zip(reversed(keys), reversed(inner), strict=True):
        wanted = {**(around if isinstance(around, dict) else {}), key: wanted}
    return json.dumps(wanted, ensure_ascii=False)


def same_value(left: str, right: str) -> bool:
    """Whether two values mean the same: `0.9` and `0.90`, `fp8` and `FP8`."""
    if left.strip().casefold() == right.strip().casefold():
        return True
    try:
        return float(left) == float(right)
    except ValueError:
        return False


def _row(arguments: Arguments, name: str, value: str | None) -> list[str]:
    """Write a flag with its value in one word or in two, as the launch does."""
    if value is None:
        return [name]
    valued = [use for use in arguments.uses if use.value is not None and use.spelled.startswith("--")]
    joined = sum(use.joined for use in valued) * 2 > len(valued)
    return [f"{name}={value}"] if joined else [name, value]


def _append(launch: LaunchCommand, rows: list[list[str]]) -> list[Edit]:
    words = [*launch.repeated, *launch.argv]
    behind = words[-1] if words else launch.after
    if behind is not None:
        return edits.insert_words(launch.text, behind, rows, words or [behind])
    if launch.new_arguments is not None:
        return edits.begin_words(launch.new_arguments, rows)
    raise NotEditable("the launch has no place for arguments")


def _misnamed(
    arguments: Arguments, name: str, value: str | None, removals: Sequence[Remedy], facts: Facts
) -> Use | None:
    """Return the use of a flag that is to go and only has the wrong name: it has the value of the new one."""
    from logdoctor.knowledge.successors import nearest, successor_of

    version = facts.get("vllm.version")
    release = parse_version(str(version.value)) if version else None
    for removal in removals:
        for old, _ in _flags_to_remove(removal.command):
            use = _last_use(arguments, old)
            if use is None or use.nested or use.last > use.first + 1 or lookup(Table.FLAG, old) is not None:
                continue
            successor = successor_of(Table.FLAG, old, release)
            meant = successor.use if successor else nearest(Table.FLAG, old, release)
            same = use.value == value if value is not None else use.value is None or not is_switch(name)
            if meant == name and same:
                return use
    return None


def _moved(
    launch: LaunchCommand, arguments: Arguments, name: str, removals: Sequence[Remedy], facts: Facts
) -> list[Edit]:
    """Take the value for a flag from the flag or the variable that the same finding says to remove."""
    version = facts.get("vllm.version")
    release = parse_version(str(version.value)) if version else None
    for removal in removals:
        old = removal.command.split()[0] if removal.command.split() else ""
        use = _last_use(arguments, old) if old.startswith("-") else None
        if use is not None and use.value is not None and value_exists(name, use.value, release) is not False:
            return _rename(launch, use, name)
        variable = launch.env.get(old.partition("=")[0])
        if variable is not None and variable.value and variable.known:
            value = canonical_value(name, variable.value)
            if value_exists(name, value, release) is True:
                return _append(launch, [_row(arguments, name, value)])
    raise NotEditable("its value is to be filled in")


def _rename(launch: LaunchCommand, use: Use, name: str) -> list[Edit]:
    word = launch.argv[use.first]
    at = launch.text.find(use.spelled, word.start, word.end)
    if use.joined and at >= 0:  # the name alone: a value that the shell fills in keeps its own quotes
        return [Edit(at, at + len(use.spelled), name)]
    if use.joined:
        return edits.replace_word(word, use.value or "", f"{name}=")
    return edits.replace_word(word, name)


# -- removals ---------------------------------------------------------------------------------------------------------


def _remove(launch: LaunchCommand, command: str, already: frozenset[str]) -> Change:
    """Remove flags, variables and stray words; what is not there needs no removal."""
    text = launch.text
    changed: list[Edit] = []
    words = command.split()
    first = words[0] if words else ""
    if re.fullmatch(r"[A-Za-z_]\w*(?:=.*)?", command.strip(), re.DOTALL) and _is_variable(launch, command.strip()):
        name = command.strip().partition("=")[0]
        return Change(text if name in already else edits.apply_edits(text, [edits.cut(launch.env[name].cut)]))
    arguments = read_arguments(launch.argv, launch.program)
    if first.startswith("-"):
        for name, value in _flags_to_remove(command):
            if canonical(Table.FLAG, name) not in already:
                changed.extend(_remove_flag(launch, arguments, name, value))
    else:
        changed.extend(_remove_words(launch, arguments, words))
    return Change(edits.apply_edits(text, changed))


def _is_variable(launch: LaunchCommand, command: str) -> bool:
    name, equals, value = command.partition("=")
    variable = launch.env.get(name)
    if variable is None or variable.cut[0] == variable.cut[1]:
        return False
    return not equals or variable.value is None or same_value(variable.value, value)


def _flags_to_remove(command: str) -> list[tuple[str, str | None]]:
    """Read what to remove: here a value behind an unknown flag is its value too."""
    return [(name, value) for name, value in flag_words(command) if name.startswith("-")]


def _remove_flag(launch: LaunchCommand, arguments: Arguments, name: str, value: str | None) -> list[Edit]:
    plain, _, nested = name.partition(".")
    canon = canonical(Table.FLAG, plain)
    negated = canon.startswith("--no-") and lookup(Table.FLAG, canon) is not None and is_switch(f"--{canon[5:]}")
    target = f"--{canon[5:]}" if negated else canon
    uses = [use for use in arguments.uses if use.name == target and (not nested or use.nested == nested)]
    uses = [use for use in uses if not is_switch(target) or use.negated == bool(negated)]
    if value is not None:
        uses = [use for use in uses if use.value is not None and same_value(use.value, value)]
    if not uses and launch.option(name) is not None:
        return [edits.cut(one.cut) for one in launch.options if one.name == name]
    if target == "--model" and uses and launch.program != API_SERVER:
        return _model_first(launch, arguments, uses)
    edited: list[Edit] = []
    for use in uses:
        edited.extend(edits.delete_words(launch.text, launch.argv, use.first, use.last))
    return _merged(edited)


def _model_first(launch: LaunchCommand, arguments: Arguments, uses: Sequence[Use]) -> list[Edit]:
    """Make the value of --model the first positional argument, where `vllm serve` wants it."""
    if arguments.positional:
        return _merged([e for one in uses for e in edits.delete_words(launch.text, launch.argv, one.first, one.last)])
    use, head = uses[-1], launch.argv[0]
    if use.value is None or not use.known:
        raise NotEditable("the model is known only where the launch runs; put it right behind serve")
    if use.first == 0:
        if use.joined:
            return edits.replace_word(head, use.value)
        return edits.delete_words(launch.text, launch.argv, 0, 0)
    removed = edits.delete_words(launch.text, launch.argv, use.first, use.last)
    return [edits.insert_before(launch.text, head, use.value), *removed]


def _remove_words(launch: LaunchCommand, arguments: Arguments, words: Sequence[str]) -> list[Edit]:
    if words and all(word in ("serve", "vllm") for word in words):
        if not launch.repeated:
            return []
        return edits.delete_words(launch.text, launch.repeated, 0, len(launch.repeated) - 1)
    changed: list[Edit] = []
    for word in words:
        places = arguments.positional[1 if launch.program != API_SERVER else 0 :]
        place = next((at for at in places if launch.argv[at].value == word), None)
        if place is not None:
            changed.extend(edits.delete_words(launch.text, launch.argv, place, place))
    return _merged(changed)


def _merged(changes: Sequence[Edit]) -> list[Edit]:
    """Join removals that touch or overlap, such as those of two neighbouring items."""
    merged: list[Edit] = []
    for one in sorted(changes, key=lambda edit: (edit.start, edit.end)):
        last = merged[-1] if merged else None
        if last is not None and one.start < last.end and not one.text and not last.text:
            merged[-1] = Edit(last.start, max(last.end, one.end))
        else:
            merged.append(one)
    return merged
