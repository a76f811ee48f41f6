"""Draft an entry from a failure that no signature knows: everything a log can tell, and TODO where a person must.

The caller hands in plain values, and lines that are already redacted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from logdoctor.database.schema import LEVELS, NONE, ROLES, Kind, Signature
from logdoctor.model import Phase, Severity

TODO = "TODO"
MAX_PATTERN = 160
MAX_LINES = 40
ID_WORDS = 5

# What differs from one log to the next, and how a pattern says so. The order matters: the wider form first.
_VARIABLE = re.compile(
    r"""(?P<quoted>(?<!\w)'[^'\n]{0,200}'(?!\w)|"[^"\n]{0,200}")
      | (?P<path>(?<![\w/])(?:https?://|/|\./)[^\s'",;)\]]+|(?<![\w.-])[\w.-]+/[\w./-]+)
      | (?P<hex>\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{8,}\b)
      | (?P<number>(?<![A-Za-z_])[-+]?\d[\d.,]*\d|(?<![A-Za-z_])\d)
      | (?P<placeholder><[^<>\n]{1,60}>|\[[^\[\]\n]*(?:redacted|REDACTED)[^\[\]\n]*\])
      | (?P<line>(?<!\s)\s*\n\s*)""",
    re.VERBOSE,
)
_STANDS_FOR = {
    "quoted": r"['\"][^'\"\n]{0,200}['\"]",
    "path": r"[^\s]{1,300}",
    "hex": r"[0-9a-fx]{1,64}",
    "number": r"[-+]?[\d.,]{1,24}",
    "placeholder": r"[^\n]{1,200}?",
    "line": r"\s{1,40}",
}
_BARE_WORD = re.compile(r"[A-Za-z]{2,}")
_DULL = re.compile("the|an|of|to|in|is|was|be|by|for|and|or|not|on|at|with|this|that|it|error|exception|failed")
_FRAME = re.compile(r'File "([^"\n]{1,300})", line \d')
_LOGGED = re.compile(r"\[([\w./-]{1,200}\.py):\d+\]")
_EXCEPTION_TYPE = re.compile(r"[\w.]{1,100}(?:Error|Exception|Interrupt|Exit): (?=.*\w)")


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A failure as the log shows it."""

    message: str
    """The message to recognise it by: the innermost exception as `Type: text`, or the text of an ERROR record."""
    lines: Sequence[str]
    """The lines of the log that show it, whole and in their order, redacted."""
    phase: str = ""
    vllm: str = ""
    """The version in which it was seen."""
    level: str = ""
    role: str = ""


def draft_signature(
    failure: Unrecognised, taken: Collection[str] = (), file: str = "signatures/YOUR-SUBJECT.yaml"
) -> str:
    """Return an entry as YAML text, with comments that say where to put it and what is left to do."""
    pattern, core = propose_pattern(failure.message)
    phase = failure.phase if failure.phase in {value.value for value in Phase} else Phase.SERVING.value
    out = [
        f"# Put this into {file}, answer every {TODO}, then run",
        "#   logdoctor signatures lint && logdoctor signatures test",
        f"- id: {propose_id(failure.message, taken)}",
        f'  title: "{TODO}: say the fault, at most 100 characters"',
        "  severity: fatal",
        f"  phase: {phase}",
    ]
    if failure.vllm:
        out.append(
            f"  # Seen in vLLM {_comment(failure.vllm)}. {TODO}: vllm: the range that can print it, from the source"
        )
    out += ["  match:", "    any:"]
    if pattern:
        out += [f"      # literal core: {_comment(core)}", f"      - pattern: {_single_quoted(pattern)}"]
    else:
        out.append(f'      - literal: "{TODO}: a text of at least 8 characters that only this failure prints"')
    level = failure.level if failure.level in LEVELS else NONE
    out.append(f"        level: [{', '.join(dict.fromkeys((level, 'ERROR', 'CRITICAL', NONE)))}]")
    if failure.role in ROLES:
        out.append(f"        # it came from here; keep it only if nothing else can say it: from: [{failure.role}]")
    out += [
        f'  cause: "{TODO}: why it happens, in one to three sentences, at most 600 characters"',
        "  remedies:",
        f'    - summary: "{TODO}: what to change"',
        f'      flag: "{TODO}: or env, remove, image, host, config; or drop this line"',
        f'  verify: "{TODO}: what the next start prints when it worked"',
        "  confidence: possible",
        "  basis: field-report",
        f'  references: ["{TODO}: a file of vLLM, owner/repository#number, or a page"]',
        "  examples:",
        "    match:",
        *_block(failure.lines),
        "    no_match:",
        f'      - "{TODO}: a line that looks alike and is something else"',
    ]
    return "\n".join(out) + "\n"


def propose_pattern(message: str) -> tuple[str, str]:
    """Return a pattern for a message, and the fixed text in it that carries it; both empty when nothing is fixed.

    Numbers, quoted names, paths and addresses become classes; what is left is cut around its longest fixed part.
    """
    parts = _parts(message[:4000])
    fixed = [index for index, (is_fixed, _) in enumerate(parts) if is_fixed]
    if not fixed:
        return "", ""
    best = max(fixed, key=lambda index: (len(parts[index][1].strip()), -index))
    core = parts[best][1].strip()
    if len(core) < 8 or re.fullmatch(r"[\w.]+:", core):
        return "", ""
    first = last = best
    length = len(parts[best][1])
    while first > 0 or last < len(parts) - 1:
        grown = False
        for index in (first - 1, last + 1):
            if 0 <= index < len(parts) and length + len(parts[index][1]) <= MAX_PATTERN:
                first, last, grown = min(first, index), max(last, index), True
                length += len(parts[index][1])
        if not grown:
            break
    chosen = parts[first : last + 1]
    while chosen and not chosen[0][0]:
        chosen = chosen[1:]
    while chosen and not chosen[-1][0]:
        chosen = chosen[:-1]
    return "".join(_escaped(text) if is_fixed else text for is_fixed, text in chosen).strip(), core


def _parts(message: str) -> list[tuple[bool, str]]:
    """Cut a message into (True, fixed text) and (False, class) pieces."""
    parts: list[tuple[bool, str]] = []
    at = 0
    for found in _VARIABLE.finditer(message):
        if found.start() > at:
            parts.append((True, message[at : found.start()]))
        parts.append((False, _STANDS_FOR[found.lastgroup or "number"]))
        at = found.end()
    if at < len(message):
        parts.append((True, message[at:]))
    return parts


def _escaped(text: str) -> str:
    return re.sub(r"[\\.^$*+?{}\[\]|()]", r"\\\g<0>", text)


def propose_id(message: str, taken: Collection[str] = ()) -> str:
    """Return a free slug made of the first words of the message that say something."""
    head = _EXCEPTION_TYPE.sub("", message[:400], count=1)
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", _VARIABLE.sub(" ", head))
    words = [word.lower() for word in _BARE_WORD.findall(split) if word.isascii()]
    telling = [word for word in dict.fromkeys(words) if not _DULL.fullmatch(word)][:ID_WORDS]
    slug = "-".join(telling if len(telling) > 1 else [*(telling or ["unknown"]), "failure"])
    number = 2
    free = slug
    while free in taken:
        free, number = f"{slug}-{number}", number + 1
    return free


def propose_file(signatures: Iterable[Signature], phase: str, source: str = "") -> str:
    """Return the file under `signatures/` where an entry for a failure belongs.

    What counts is, in this order: entries that refer to the source file that raised it, a word that the names of both
    files begin with, entries that refer to its directory, and entries of the phase. Of entries, those count that tell
    a cause; the first file by name wins among equals.
    """
    told = [s for s in signatures if s.file and s.kind is Kind.CAUSE and s.severity.rank >= Severity.ERROR.rank]
    told = [s for s in told if s.match and not s.harmless]
    path = _in_package(source)
    folder = path.rpartition("/")[0]
    counts = Counter[str]()
    for signature in told:
        same_phase = signature.phase.value == phase
        references = [_in_package(reference) for reference in signature.references]
        if path and path in references:
            counts[signature.file] += 1_000_000 + 10_000 * same_phase
        elif "/" in folder and any(reference.startswith(f"{folder}/") for reference in references):
            counts[signature.file] += 1_000 + 10 * same_phase
        counts[signature.file] += same_phase
    for file in counts:
        if path and _alike(path, file):
            counts[file] += 500_000
    if not any(counts.values()):
        return "signatures/YOUR-SUBJECT.yaml"
    return min(counts, key=lambda file: (-counts[file], file))


def raised_in(lines: Sequence[str]) -> str:
    """Return the source file of the last frame of a traceback in these lines, else of the logger of the last line."""
    found = [match[1] for line in lines if (match := _FRAME.search(line))]
    logged = _LOGGED.search(lines[-1]) if lines else None
    return found[-1] if found else logged[1] if logged else ""


def _in_package(path: str) -> str:
    """Return the path of a source file from its package on."""
    for marker in ("site-packages/", "dist-packages/"):
        path = path.rpartition(marker)[2]
    return path.partition(":")[0].strip("/") if path.endswith(".py") or ".py:" in path else ""


def _alike(path: str, file: str) -> bool:
    """Whether a word of a source file's path begins as one of the file's name does: quant and quantization."""
    stem = file.rpartition("/")[2].removesuffix(".yaml")
    words = {word for word in re.split(r"[\W_]+", path) if len(word) > 4} - _COMMON
    return any(word[:5] == other[:5] for word in words for other in stem.split("-") if len(other) > 4)


_COMMON = frozenset({"model", "models", "config", "utils", "device", "layers", "server"})
"""Words of paths that say nothing about the subject."""


# --- YAML -----------------------------------------------------------------------------------------------------------


def _comment(text: str) -> str:
    return " ".join(_visible(text).split())


def _single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'" if text == _visible(text) else _double_quoted(text)


def _double_quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char == _visible(char) else f"\\U{ord(char):08x}" for char in quoted)


def _visible(text: str) -> str:
    """Return text without what YAML or a terminal takes amiss."""
    return "".join(char if char.isprintable() else "�" for char in text)


def _block(lines: Sequence[str]) -> list[str]:
    """Return the lines as one item of a list: a block where YAML allows, else a quoted text."""
    lines = [line.replace("\t", "    ").rstrip() for line in lines[:MAX_LINES]]
    while lines and not lines[0]:
        lines = lines[1:]
    if not lines:
        return [f'      - "{TODO}: the lines of the log that show it"']
    plain = all(line == _visible(line) for line in lines) and not lines[0].startswith(" ")
    if len(lines) == 1 or not plain:
        return [f"      - {_double_quoted(chr(10).join(lines))}"]
    return ["      - |", *(f"        {line}" if line else "" for line in lines)]
