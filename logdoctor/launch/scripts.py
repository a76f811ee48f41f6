"""Read a shell script: which of its commands starts vLLM, with which words and which variables.

Variables that the script itself sets are looked up to know the values; the text keeps them as they are. Arrays and
texts of words (`"${ARGS[@]}"`, `$ARGS`) are followed to where they are set, so that a change is written there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from logdoctor.launch import shell
from logdoctor.launch.command import Form, Slot, Variable, Word
from logdoctor.launch.pieces import Piece
from logdoctor.launch.programs import Program, assignment, basename, find_run, find_script, find_server, never_starts
from logdoctor.launch.shell import Statement, Token

MAX_NESTING = 4
MAX_SPLICED = 2_000
"""Words that variables may add to one command."""
MAX_VALUE = 20_000
"""Characters of a value after putting in variables; scripts that grow beyond are left as they are."""

_KEYWORDS = frozenset({"then", "do", "else", "if", "elif", "while", "until", "!", "{", "time", "("})
_ELSEWHERE = frozenset({"docker", "podman", "nerdctl", "kubectl", "ssh", "srun", "ray"})
"""Programs that start the server where a variable in front of them does not reach."""
_REFERENCE = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)(?::?-(?P<default>[^{}]*))?\})")
_ARRAY = re.compile(r'"?\$\{(?P<name>[A-Za-z_]\w*)\[[@*]\]\}"?')
_WHOLE = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})")


@dataclass(frozen=True, slots=True)
class ScriptWord:
    """A word of a command, and what it needs to be read as a script of its own."""

    word: Word
    piece: Piece
    token: Token

    def inside(self) -> Piece:
        """Return what stands inside its quotes."""
        return shell.content(self.piece, self.token)


@dataclass(frozen=True, slots=True)
class Call:
    """A command that starts vLLM or a container."""

    words: tuple[ScriptWord, ...]
    program: Program
    env: Mapping[str, Variable] = field(default_factory=dict)
    """What the script exports before it, and what stands in front of the command."""
    new_variable: Slot | None = None
    notes: tuple[str, ...] = ()

    @property
    def plain(self) -> tuple[Word, ...]:
        """The words alone."""
        return tuple(one.word for one in self.words)


@dataclass(slots=True)
class _Setting:
    """A variable of the script."""

    value: str
    known: bool
    piece: Piece
    token: Token


class Script:
    """A script with what it has set so far."""

    def __init__(self, piece: Piece, *, newline_ends: bool = True, depth: int = 0) -> None:
        self._piece = piece
        self._depth = depth
        self._newline_ends = newline_ends
        self._settings: dict[str, _Setting] = {}
        self._arrays: dict[str, list[Token] | None] = {}
        self._exported: dict[str, Variable] = {}
        self._notes: list[str] = []

    def calls(self) -> Iterator[Call]:
        """Yield the commands that start a container or a server, in their order."""
        for statement in shell.split(self._piece, newline_ends=self._newline_ends):
            if statement.array:
                self._note_array(statement)
                continue
            words = self._words(statement)
            plain = [one.word for one in words]
            if self._note_assignments(statement, words) or not plain or never_starts(plain):
                continue
            run = find_run(plain)
            server = find_server(plain)
            if run is not None or server is not None:
                program = Program("", run or 0) if run is not None else server
                yield self._call(statement, words, program or Program())
            elif (script := find_script(plain)) is not None and self._depth < MAX_NESTING:
                yield from Script(words[script].inside(), depth=self._depth + 1).calls()

    def _call(self, statement: Statement, words: list[ScriptWord], program: Program) -> Call:
        env = dict(self._exported)
        start = program.start if program.name else program.first
        for position, one in enumerate(words[:start]):
            named = assignment(one.word.value)
            if named is not None:
                env[named[0]] = self._variable(words, position, named)
        notes = list(self._notes)
        if statement.comment_after_backslash:
            line = self._piece.text.count("\n", 0, statement.end) + 1
            where = f" (line {line})" if self._depth == 0 else ""
            notes.append(f"a blank or a comment after a backslash ends the command too early{where}")
        return Call(tuple(words), program, env, self._slot(words, program), tuple(notes))

    def _slot(self, words: list[ScriptWord], program: Program) -> Slot | None:
        """Where `NAME=value` goes in front of the command: before `exec` and `nohup`, but behind `sudo`."""
        first = next((one.word for one in words if one.word.value not in _KEYWORDS), None)
        if first is None or not program.name:
            return None
        if any(basename(one.word.value) in _ELSEWHERE for one in words[: program.start]):
            return None
        if first.value == "sudo" and program.start < len(words):
            first = words[program.start].word
        return Slot(first.start, "", " ", Form.SHELL, self._piece.quoting)

    def _variable(self, words: list[ScriptWord], position: int, named: tuple[str, str]) -> Variable:
        word = words[position].word
        cut = (word.start, word.after if word.after >= 0 else word.end)
        return Variable(named[0], named[1], cut, word, f"{named[0]}=", not word.expands)

    # -- what the script sets -----------------------------------------------------------------------------------------

    def _note_assignments(self, statement: Statement, words: list[ScriptWord]) -> bool:
        """Take note of `NAME=value`, `export NAME=value` and `export NAME`; False when it is another command."""
        begin = 1 if words and words[0].word.value in ("export", "readonly", "declare", "local", "typeset") else 0
        exports = begin == 1 and words[0].word.value == "export"
        settings = [(one, assignment(one.word.value)) for one in words[begin:]]
        if not begin and not all(named for _, named in settings):
            return False
        for one, named in settings:
            name, value = named or (one.word.value, "")
            if named is not None:
                offset = one.token.start + len(name) + 1
                token = replace(one.token, start=min(offset, one.token.end), value=value)
                self._settings[name] = _Setting(value, not one.word.expands, one.piece, token)
            if exports or name in self._exported:
                known = self._settings.get(name)
                cut = self._statement_cut(statement, words, one, begin)
                self._exported[name] = Variable(
                    name, known.value if known else None, cut, one.word if named else None, f"{name}=",
                    bool(known and known.known),
                )  # fmt: skip
        return True

    def _statement_cut(
        self, statement: Statement, words: list[ScriptWord], one: ScriptWord, begin: int
    ) -> tuple[int, int]:
        """What goes when a setting is removed: its word, or the whole line when nothing else stands there."""
        if len(words) > begin + 1:
            return (one.word.before, one.word.end) if one.word.before >= 0 else (one.word.start, one.word.after)
        text = self._piece.text
        start, end = statement.start, statement.end
        line = text.rfind("\n", 0, start) + 1
        rest = text[end : (text.find("\n", end) + 1) or len(text)]
        alone = not text[line:start].strip() and (not rest.strip(" \t\r\n;") or rest.lstrip(" \t").startswith("#"))
        if alone:
            return self._piece.start(line), self._piece.end(end + len(rest))
        trailing = re.match(r"[ \t]*(?:;|&&)?[ \t]*", text[end:])
        return self._piece.start(start), self._piece.end(end + (trailing.end() if trailing else 0))

    def _note_array(self, statement: Statement) -> None:
        name = statement.array.removesuffix("+")
        tokens = list(statement.tokens)
        if statement.array.endswith("+"):
            tokens = [*(self._arrays.get(name) or []), *tokens]
        self._arrays[name] = tokens

    # -- words --------------------------------------------------------------------------------------------------------

    def _words(self, statement: Statement) -> list[ScriptWord]:
        spans = sorted([*((t.start, t.end) for t in statement.tokens), *statement.redirects])
        places = {span: place for place, span in enumerate(spans)}
        words: list[ScriptWord] = []
        for token in statement.tokens:
            spliced = self._spliced(token) if len(words) < MAX_SPLICED else None
            if spliced:
                words.extend(self.row(*spliced))
            else:
                words.append(self._word(self._piece, token, spans, places[token.start, token.end]))
        return words

    def _spliced(self, token: Token) -> tuple[Piece, list[Token]] | None:
        """Return the words that a variable stands for where the script sets it."""
        raw = self._piece.text[token.start : token.end]
        array = _ARRAY.fullmatch(raw)
        if array is not None:
            tokens = self._arrays.get(array["name"])
            return (self._piece, tokens) if tokens else None
        whole = _WHOLE.fullmatch(raw)
        setting = self._settings.get(whole["plain"] or whole["braced"]) if whole else None
        if setting is None or not setting.known or not re.search(r"\s", setting.value.strip()):
            return None
        inner = shell.content(setting.piece, setting.token)
        rows = shell.split(inner, newline_ends=False)
        tokens = [one for statement in rows for one in statement.tokens]
        return (inner, tokens) if len(rows) == 1 and tokens else None

    def row(self, piece: Piece, tokens: list[Token]) -> Iterator[ScriptWord]:
        """Yield the words of a list of tokens that stand side by side."""
        spans = [(token.start, token.end) for token in tokens]
        for place, token in enumerate(tokens):
            yield self._word(piece, token, spans, place)

    def _word(self, piece: Piece, token: Token, spans: list[tuple[int, int]], place: int) -> ScriptWord:
        value, expands = self._resolved(token)
        word = Word(
            value=value,
            start=piece.start(token.start),
            end=piece.end(token.end),
            before=piece.end(spans[place - 1][1]) if place else -1,
            after=piece.start(spans[place + 1][0]) if place + 1 < len(spans) else -1,
            quoting=piece.quoting,
            expands=expands,
            raw=piece.text[token.start : token.end],
            filled=token.expands and not expands,
        )
        return ScriptWord(word, piece, token)

    def _resolved(self, token: Token) -> tuple[str, bool]:
        """Put in what the script sets; also whether something is left that only the shell knows."""
        if not token.expands:
            return token.value, False
        left = False

        def one(found: re.Match[str]) -> str:
            nonlocal left
            setting = self._settings.get(found["plain"] or found["braced"])
            if setting is not None and setting.known:
                return setting.value
            if setting is None and found["default"] is not None:
                return found["default"]
            left = True
            return found[0]

        value = _REFERENCE.sub(one, token.value)
        if len(value) > MAX_VALUE:
            return token.value, True
        rest = _REFERENCE.sub("", token.value)
        return value, left or "$" in rest or "`" in rest
