"""Write words, variables and removals into a launch text, each in the layout and quoting of its place."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from logdoctor.launch.command import Form, LaunchCommand, Layout, Slot, Span, Variable, Word
from logdoctor.launch.errors import NotEditable
from logdoctor.launch.pieces import Quoting, encode
from logdoctor.launch.yaml_nodes import after_line, line_start

_SAFE = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_PLAIN_YAML = re.compile(r"(?:[A-Za-z0-9_./+]|-(?=[^\s]))[\w./+@%:=,~ -]*", re.ASCII)
_NOT_TEXT = re.compile(
    r"(?i:true|false|yes|no|on|off|y|n|null|~|\.inf|\.nan)|[-+]?[\d.][\d_.:eE+-]*|0[xXoObB][\da-fA-F_]+"
)
"""What YAML 1.1 or 1.2 reads as something else than text."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One stretch of the text and what takes its place."""

    start: int
    end: int
    text: str = ""


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all changes made; they must not overlap."""
    parts: list[str] = []
    at = 0
    line_ends = "\r\n" if "\r\n" in text else "\n"
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start < at:
            raise NotEditable("two changes would be written at the same place")
        parts += (text[at : edit.start], re.sub(r"\r?\n", line_ends, edit.text))
        at = edit.end
    return "".join(parts) + text[at:]


# -- how a word is written --------------------------------------------------------------------------------------------


def shell_word(value: str, like: str = "") -> str:
    """Quote a word for a shell, with the quotes of the word whose place it takes."""
    if len(like) >= 2 and like[0] == like[-1] == '"':
        return '"' + "".join(f"\\{char}" if char in '\\"$`' else char for char in value) + '"'
    if len(like) >= 2 and like[0] == like[-1] == "'":
        return "'" + value.replace("'", "'\\''") + "'"
    return value if _SAFE.fullmatch(value) else shlex.quote(value)


def yaml_text(value: str, quoting: Quoting | None = None, *, flow: bool = False) -> str:
    """Write a text as a YAML scalar; without quotes only where no reader takes it for something else."""
    printable = value.isprintable()
    if quoting is Quoting.YAML_SINGLE and printable:
        return "'" + value.replace("'", "''") + "'"
    plain = _PLAIN_YAML.fullmatch(value) and not _NOT_TEXT.fullmatch(value) and value.strip() == value
    plain = plain and ": " not in value and not value.endswith(":") and not (flow and "," in value)
    if quoting is not Quoting.YAML_DOUBLE and plain:
        return value
    return json.dumps(value, ensure_ascii=not printable)


def written(word: Word, value: str, prefix: str = "") -> str:
    """Return how a value is written in the place of a word, behind a prefix that belongs to the same word."""
    if word.layout is not Layout.SHELL:
        quoting = word.quoting[0] if word.quoting else None
        return yaml_text(prefix + value, quoting, flow=word.layout is Layout.FLOW)
    if word.raw[:1] in ("'", '"') and word.raw[:1] == word.raw[-1:]:
        return encode(shell_word(prefix + value, word.raw), word.quoting)
    like = word.raw[len(prefix) :] if word.raw.startswith(prefix) else ""
    return encode(prefix + shell_word(value, like), word.quoting)


# -- words ------------------------------------------------------------------------------------------------------------


def replace_word(word: Word, value: str, prefix: str = "") -> list[Edit]:
    """Write another value into the place of a word."""
    return [Edit(word.start, word.end, written(word, value, prefix))]


def delete_words(text: str, words: Sequence[Word], first: int, last: int) -> list[Edit]:
    """Take away words with the blanks, commas or lines that belong to them."""
    edits = []
    begin = first
    for at in range(first, last + 1):
        ends = at == last or not _follows(words[at], words[at + 1])
        if ends:
            edits.extend(_delete_row(text, words[begin : at + 1]))
            begin = at + 1
    return edits


def _follows(word: Word, following: Word) -> bool:
    """Whether two words stand side by side in the same list."""
    return word.layout is following.layout and following.before == word.end


def _delete_row(text: str, row: Sequence[Word]) -> list[Edit]:
    head, tail = row[0], row[-1]
    if head.layout is Layout.BLOCK:
        for word in row:
            _lead(text, word)
        return [Edit(line_start(text, word.start), after_line(text, word.end)) for word in row]
    if head.layout is Layout.FLOW:
        return [_delete_items(text, head, tail)]
    return [Edit(*shell_cut(text, head, tail))]


def shell_cut(text: str, head: Word, tail: Word) -> Span:
    """Return what removes words of a command: with the blank before them, or behind them where they begin a line."""
    before = text[head.before : head.start] if 0 <= head.before <= head.start else ""
    behind = text[tail.end : tail.after] if tail.after >= tail.end else ""
    if head.before < 0 or ("\n" in before and behind and "\n" not in behind):
        return head.start, tail.after if behind else tail.end
    # A comment before them belongs to the word that stands there.
    return (head.before + before.rindex("\n") if "#" in before else head.before), tail.end


def _delete_items(text: str, head: Word, tail: Word) -> Edit:
    """Remove items of a list in brackets with one comma; comments that stand between items stay."""
    if tail.after >= 0:
        if "#" not in text[tail.end : tail.after]:
            return Edit(head.start, tail.after)
        comma = text.index(",", tail.end) + 1
        start = head.start
        if not text[comma : text.find("\n", comma)].strip():
            start = len(text[:start].rstrip(" \t"))
        return Edit(start, comma)
    if head.before >= 0 and "#" not in text[head.before : head.start]:
        return Edit(head.before, tail.end)
    return Edit(head.start, tail.end)


def _lead(text: str, word: Word) -> str:
    """Return what stands before an item in its line: blanks and the dash."""
    lead = text[line_start(text, word.start) : word.start]
    if lead.strip(" -"):
        raise NotEditable("the list of arguments is laid out in a way that cannot be changed safely")
    return lead


def insert_words(text: str, behind: Word, rows: Sequence[Sequence[str]], neighbours: Sequence[Word]) -> list[Edit]:
    """Write new words behind a word, in the layout that its neighbours have; a row is a flag with its values."""
    if behind.layout is Layout.BLOCK:
        lead = _lead(text, behind)
        at = after_line(text, behind.end)
        items = "".join(f"{lead}{yaml_text(word, _style(neighbours))}\n" for row in rows for word in row)
        missing = "" if text[at - 1 : at] == "\n" else "\n"
        return [Edit(at, at, missing + (items[:-1] if missing else items))]
    if behind.layout is Layout.FLOW:
        comma = _comma(text, neighbours)
        quoting = _style(neighbours)
        items = "".join(f"{comma}{yaml_text(word, quoting, flow=True)}" for row in rows for word in row)
        return [Edit(behind.end, behind.end, items)]
    gap = _gap(text, neighbours)
    parts = [gap + encode(" ".join(shell_word(word) for word in row), behind.quoting) for row in rows]
    return [Edit(behind.end, behind.end, "".join(parts))]


def insert_before(text: str, word: Word, value: str) -> Edit:
    """Write a word in front of the first word of a list."""
    if word.layout is Layout.BLOCK:
        at = line_start(text, word.start)
        return Edit(at, at, f"{_lead(text, word)}{yaml_text(value, _style([word]))}\n")
    if word.layout is Layout.FLOW:
        return Edit(word.start, word.start, f"{yaml_text(value, _style([word]), flow=True)}, ")
    return Edit(word.start, word.start, encode(shell_word(value), word.quoting) + " ")


def _style(words: Sequence[Word]) -> Quoting | None:
    """Return the quotes that every item of a list has, or None."""
    styles = {word.quoting[0] for word in words if word.layout is not Layout.SHELL and word.quoting}
    only = styles.pop() if len(styles) == 1 else None
    return None if only is Quoting.YAML_PLAIN else only


def _comma(text: str, words: Sequence[Word]) -> str:
    """Return what stands between two items of a list in brackets: a comma, and a line end where each has a line."""
    for word in reversed(words):
        between = text[word.before : word.start] if word.layout is Layout.FLOW and word.before >= 0 else ""
        if between.startswith(",") and "\n" in between and "#" not in between:
            return between
    return ", "


def _gap(text: str, words: Sequence[Word]) -> str:
    """Return the blank before a flag: a continued line where the command has one flag a line."""
    for word in reversed(words):
        gap = text[word.before : word.start] if 0 <= word.before < word.start else ""
        if word.layout is Layout.SHELL and "\n" in gap and word.value.startswith("-"):
            gap = gap[gap.rindex("\n") :] if "#" in gap else gap
            return gap if not gap.strip(" \t\r\n\\") else " "
    return " "


def begin_words(slot: Slot, rows: Sequence[Sequence[str]]) -> list[Edit]:
    """Write a new list of arguments."""
    items = ", ".join(yaml_text(word, Quoting.YAML_DOUBLE, flow=True) for row in rows for word in row)
    return [Edit(slot.at, slot.at, slot.before + items + slot.after)]


# -- variables --------------------------------------------------------------------------------------------------------


def set_variable(launch: LaunchCommand, name: str, value: str) -> list[Edit]:
    """Give a variable a value, in the place where it stands or in a new one; nothing when it has that value."""
    variable = launch.env.get(name)
    if variable is not None and variable.value == value:
        return []
    if variable is not None and variable.place is not None:
        return _rewrite(variable, value)
    if variable is not None and variable.cut[1] > variable.cut[0]:
        raise NotEditable(f"{name} is passed on from where the launch runs; set it there")
    if launch.new_variable is None:
        raise NotEditable(f"the launch has no place for the variable {name}")
    return [new_variable(launch.new_variable, name, value)]


def _rewrite(variable: Variable, value: str) -> list[Edit]:
    place = variable.place
    assert place is not None
    if variable.value is None:  # `-e NAME`, `- NAME`: passed on by name
        return replace_word(place, variable.name + "=" + value, variable.prefix.removesuffix(f"{variable.name}="))
    return replace_word(place, value, variable.prefix)


def new_variable(slot: Slot, name: str, value: str) -> Edit:
    """Write a variable into its slot."""
    quoting = slot.quoting[0] if slot.quoting else None
    if slot.form is Form.SHELL:
        setting = encode(f"{name}={shell_word(value)}", slot.quoting)
    elif slot.form is Form.ITEM:
        setting = yaml_text(f"{name}={value}", quoting, flow=slot.flow)
    elif slot.form is Form.ENTRY:
        key = yaml_text(name, quoting, flow=slot.flow)
        setting = f"{key}: {yaml_text(value, quoting or Quoting.YAML_DOUBLE, flow=slot.flow)}"
    elif slot.flow:
        names = [yaml_text(one, quoting) for one in ("name", "value")]
        setting = f"{{{names[0]}: {yaml_text(name, quoting)}, {names[1]}: {json.dumps(value, ensure_ascii=False)}}}"
    else:
        setting = f"name: {name}\n{slot.indent}value: {json.dumps(value, ensure_ascii=False)}"
    return Edit(slot.at, slot.at, slot.before + setting + slot.after)


def cut(span: Span) -> Edit:
    """Take away a stretch of the text."""
    return Edit(*span)
