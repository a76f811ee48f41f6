"""Secrets known by their name: `api_key=…`, `'hf_token': '…'`, `--api-key …`, `Authorization: …`, `?token=…`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lazy import Pattern
from .names import kind_of_name, kind_of_query
from .shapes import is_opaque
from .spans import Span
from .values import closing_quote, is_secret_value, line_value, read_value

_KEYWORDS = (
    "key",
    "token",
    "secret",
    "pass",
    "pwd",
    "cred",
    "auth",
    "cookie",
    "dsn",
    "connection",
    "salt",
    "jwt",
    "sess",
    "_pat",
)
_WORD = Pattern("|".join(_KEYWORDS))
_NAME_LEFT = Pattern(r"[A-Za-z0-9_.\-]{0,80}\Z")
_NAME_RIGHT = Pattern(r"[A-Za-z0-9_.\-]{0,80}")
_ESCAPED = Pattern(r"\\[nrtbfv]$")
_AFTER_NAME = Pattern(
    r"""(?P<quote>\\*["'`])?\]?"""
    r"""(?P<sep>[ \t]*(?:=>|:=|=(?!=)|:(?!:))[ \t]*|%3[AaDd](?:%20|\+)*|[ \t]*==[ \t]*(?=["']))"""
)
_FLAG_GAP = Pattern(
    r"""(?:[ \t]+(?:\\\n[ \t]*)?|[ \t]*\\?\n[ \t]*(?:-[ \t]+)?"""
    r"""|\\*["'],\s*(?:\\\n)?(?=\\*["'])|\\*["']\s*\n\s*-[ \t]+)(?!-)"""
)
_BY_NAME = Pattern(
    r"""(?<!\S)(?:(?:-[a-z]{0,6}e|--(?:[a-z]+-){0,2}(?:env|build-arg|secret))(?:=|(?:[ \t]|\\\n)+)(?:\w+,){0,20}"""
    r"""|(?:export|unset|readonly|declare|typeset)[ \t]+(?:[\w-]+[ \t]+){0,20})["']?\Z"""
)
"""What stands before the name of a variable that is passed on by its name alone."""
_SHELL_SAYS = Pattern(
    r"[ \t]*(?:unbound variable|parameter (?:null or )?not set|readonly variable|command not found)\b"
)
_NEXT_LINE = Pattern(r"[ \t]*\r?\n[^\S\n]*(?=\\*[\"'\[(]|[^\s\"'=:]{6,}\s*(?:\n|$))")
_LIST = Pattern(r"[ \t]*(?:#[^\n]*)?(?:\r?\n[ \t]*-[ \t]+[\"']?[^\s:\"']+[\"']?[ \t]*(?=\r?\n|\Z))+")
_ITEM = Pattern(r"\n[ \t]*-[ \t]+")
_BLOCK = Pattern(r"[|>][+-]?\d?[ \t]*\n")
_PAIR = Pattern(
    r"""\\{0,15}["']?(?:[ \t]{0,8},[ \t]{0,8}|[ \t]{0,8},?\r?\n[ \t]{0,60})(?:-[ \t]{1,8})?"""
    r"""\\{0,15}["']?[Vv]alue\\{0,15}["']?[ \t]{0,8}[:=][ \t]{0,8}"""
)
_MORE_WORDS = Pattern(r"\s(?:\S*/)?(?:vllm|python\S*|docker|podman|exec|nohup|-|&&|\|)|=|\\$|[\"']")
_NEAR = 400  # how far a look around a name goes; work on a line of a million columns stays bounded
_SOURCE_LINE = Pattern(r"[,)]\s*(?:#.*)?$|^\s*(?:return|def|if|raise|with|assert|for|while|self\.)\b")


def find_assignments(text: str, lower: str) -> Iterator[Span]:
    """Yield the values of every secret name in `text`."""
    if "?" in text or "&" in text:
        yield from _query(text)
    if not has_keyword(lower):
        return
    done = hidden = 0
    for match in _WORD.finditer(lower):
        if match.start() < done or match.end() + _NEAR < hidden:
            continue  # part of the name before, or deep inside a value that is hidden anyway
        start, end = _name(text, match.start(), match.end())
        done = max(end, match.end())
        for span in _judge(text, start, end):
            hidden = max(hidden, span.end)
            yield span


def has_keyword(lower: str) -> bool:
    """Tell whether a lower-cased text holds a part of a secret's name."""
    return any(word in lower for word in _KEYWORDS)


def _name(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a keyword to the name around it; an escape such as `\\n` before it is no part of the name."""
    left = _NAME_LEFT.search(text, max(0, start - 80), start)
    right = _NAME_RIGHT.match(text, end)
    start = left.start() if left else start
    if start and text[start] in "nrtbfv" and text[start - 1] == "\\":
        start += 1
    end = right.end() if right else end
    while end > start and text[end - 1] in ".-":
        end -= 1
    return start, end


def _judge(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the secrets that belong to the name at `start:end`."""
    raw = text[start:end]
    name = raw.lstrip("-.")
    kind = kind_of_name(name)
    if not kind:
        return
    flag = raw.startswith("-")
    extents = _extents(text, start, end, name, flag)
    yield from (Span(*extent, kind) for extent in extents)


def _extents(text: str, start: int, end: int, name: str, flag: bool) -> Iterator[tuple[int, int]]:
    after = _AFTER_NAME.match(text, end)
    if text[max(0, start - 2) : start] == "${":
        yield from read_value(text, start - 2)
    elif after and after["sep"].strip() == ":" and _SHELL_SAYS.match(text, after.end()):
        return
    elif after:
        yield from _assigned(text, start, after, name, flag)
    elif not flag and _BY_NAME.search(text, max(0, start - _NEAR), start):
        return
    elif flag and (gap := _FLAG_GAP.match(text, end)):
        yield from _flag_values(text, gap.end(), name, gap.group())
    elif pair := _PAIR.match(text, end):
        yield from read_value(text, pair.end())
    elif (
        not flag and text[max(0, start - 1) : start] != "$"
    ):  # a reference is followed by the next word, not by a value
        yield from _prose(text, end, name)


def _assigned(text: str, start: int, after: re.Match[str], name: str, flag: bool) -> Iterator[tuple[int, int]]:
    """Yield the value behind `=` or `:`."""
    sep, position = after["sep"].strip(), after.end()
    if sep.startswith("%"):
        yield from _percent(text, position)
        return
    outer = _outer_quote(text, start, after)
    if (line := _NEXT_LINE.match(text, position)) and not outer:
        position = line.end()
    elif sep == ":" and (listed := _LIST.match(text, position)):
        for item in _ITEM.finditer(listed.group()):
            yield from read_value(text, position + item.end())
        return
    elif sep == ":" and (block := _BLOCK.match(text, position)):
        yield from _block(text, start, block.end())
        return
    begin = _line_start(text, start)
    own_line = begin >= 0 and not text[begin:start].strip(" \t-") and "\n" not in text[after.end() : position]
    bare = not re.match(r"""\\*["'`\[({]|[bru]["']""", text[position : position + 8])
    if flag and sep == ":":
        yield from _quoted_in_line(text, position)
    elif _takes_line(text, position, name, sep, own_line) and bare and not outer:
        yield from line_value(text, position)
    else:
        code = sep == "=" and not flag and name == name.lower()
        for first, last in read_value(text, position, outer=outer, code=code or _is_source(text, start)):
            if not bare or _is_likely(text[first:last], name, sep, own_line, bool(after["quote"] or outer)):
                yield first, last


def _outer_quote(text: str, start: int, after: re.Match[str]) -> str:
    """Return the quote that was opened right before the name and is still open, else nothing."""
    if after["quote"]:
        return ""
    match = re.search(r"""\\*["'`]$""", text[max(0, start - 5) : start])
    return match.group() if match else ""


def _takes_line(text: str, position: int, name: str, sep: str, own_line: bool) -> bool:
    """Tell whether a value goes on to the end of the line although it holds blanks."""
    low = name.lower()
    if sep == ":" and low.endswith(("cookie", "authorization")):
        return not re.match(r"(?i)(?:bearer|basic|token)\s", text[position : position + 10])
    if not own_line:
        return False
    if sep == ":":
        return True
    rest = text[position : _line_end(text, position)]
    return name.isupper() and not _MORE_WORDS.search(rest)


def _is_source(text: str, start: int) -> bool:
    begin, end = _line_start(text, start), _line_end(text, start)
    return begin >= 0 and bool(_SOURCE_LINE.search(text[begin:end]))


def _is_likely(value: str, name: str, sep: str, own_line: bool, quoted: bool) -> bool:
    """Tell whether a bare value behind this name can be its secret, and not prose, a number or code."""
    kind = kind_of_name(name)
    structured = own_line or quoted
    if re.fullmatch(r"[\d.,]{1,12}%?", value):
        return kind == "password" or (structured and kind not in ("token", "hf-token", "authorization", "secret"))
    if kind == "credentials" and value.startswith(("/", "~", "./")):
        return False
    if kind == "authorization" and not quoted:
        return is_opaque(value) or (sep == ":" and name.lower().endswith("authorization"))
    if structured or sep == "=":
        return True
    return is_opaque(value) or len(value) >= 20


_NEXT_LISTED = Pattern(r"""\\*["'],\s*(?=\\*["'](?!-))""")
_NEXT_WORD = Pattern(r"""["']?[ \t]+(?![-\\|&;<>]|\d?>)""")
_NO_KEY = Pattern(r"/|[A-Za-z][\w.-]*/[\w.-]+(?:\s|$)|[\w.-]+=|[a-z]{1,20}\s+[^\s\\-]")  # a model, a word, NAME=
_INVALID = Pattern(r"""value: (\\*["'])""")
_PERCENT = Pattern(r"""(?:%5[Bb])?(?:%2[27])?((?:(?!%2[267Cc]|%7[Dd]|%5[Dd])[^\s&"'<>#])+)""")


def _flag_values(text: str, position: int, name: str, gap: str) -> Iterator[tuple[int, int]]:
    """Yield the words after a flag; `--api-key` of vLLM takes several."""
    listed = '"' in gap or "'" in gap
    for extent in read_value(text, position):
        yield extent
        position = extent[1]
    if "api" not in name.lower():
        return
    follower = _NEXT_LISTED if listed else _NEXT_WORD
    while gone := follower.match(text, position):
        if not listed and _NO_KEY.match(text, gone.end()):
            return
        extents = list(read_value(text, gone.end()))
        if not extents:
            return
        yield from extents
        position = extents[-1][1]


def _quoted_in_line(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield what argparse quotes in `argument --api-key: invalid … value: '…'`."""
    line_end = _line_end(text, position)
    if quote := _INVALID.search(text, position, line_end):
        close = closing_quote(text, quote.end(), quote.group(1))
        yield quote.end(), close if close != -1 else line_end


def _percent(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield a percent-encoded value, quoted by %22 or ended by %26, a blank or a quote."""
    match = _PERCENT.match(text, position)
    if match and is_secret_value(match.group(1)):
        yield match.span(1)


def _block(text: str, start: int, position: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a YAML block scalar: all that are indented deeper than the name."""
    begin = max(0, _line_start(text, start))
    indent = len(text[begin:start]) - len(text[begin:start].lstrip())
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end == -1 else end
        line = text[position:end]
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return
        yield from line_value(text, position)
        position = end + 1


_PROSE = Pattern(r"(?i)(?: (?:is|was|are|were|provided|given|used|value|set to|equals|header)){0,3}[ \t]*[:=]?[ \t]*")
_REPORTED = Pattern(r"(?:[^\n]{0,160}\n){1,3}?[^\n]{0,200}?\binput_value=(?=\\*[\"'\[{(])")


def _prose(text: str, end: int, name: str) -> Iterator[tuple[int, int]]:
    """Yield an opaque word after `password is`, `API key provided:`, or pydantic's input value for the field."""
    gap = _PROSE.match(text, end)
    if gap and gap.end() > end:
        for first, last in read_value(text, gap.end()):
            quoted = text[gap.end()] in "\"'`\\"
            if is_opaque(text[first:last]) or (quoted and gap.group().strip() and " " not in text[first:last]):
                yield first, last
    if name == name.lower() and text[end : end + 1] == "\n" and (match := _REPORTED.match(text, end)):
        yield from read_value(text, match.end())


_PARAMETER = Pattern(r"[?&;]((?:amp;)?[A-Za-z][\w.\-\[\]%]{0,60})=([^&\s\"'<>#`\\]+)")


def _query(text: str) -> Iterator[Span]:
    """Yield the secrets in the query strings of URLs and access lines."""
    for match in _PARAMETER.finditer(text):
        kind = kind_of_query(
            match.group(1).removeprefix("amp;").replace("%5F", "_").replace("%5f", "_").replace("%2D", "-")
        )
        if kind and is_secret_value(match.group(2)):
            yield Span(match.start(2), match.end(2), kind)


# "API key", "access token", "connection string": names of two words in prose and messages.
_SPOKEN = Pattern(
    r"((?:api|access|secret|private|auth(?:entication|orization)?|account|license|hub|security) (?:key|token)s?"
    r"|connection string|hf token|hugging ?face token)\b"
)


def find_spoken(text: str, lower: str) -> Iterator[Span]:
    """Yield secrets that prose announces: `Incorrect API key provided: …`."""
    if " key" not in lower and " token" not in lower and " string" not in lower:
        return
    for match in _SPOKEN.finditer(lower):
        name = match.group(1).replace(" ", "_")
        kind = kind_of_name(name) or "secret"
        after = _AFTER_NAME.match(text, match.end())
        extents = read_value(text, after.end()) if after else _prose(text, match.end(), name)
        for first, last in extents:
            quoted = text[first - 1] in "\"'`"
            if quoted or is_opaque(text[first:last]) or last - first >= 20:
                yield Span(first, last, kind)


def _line_start(text: str, position: int) -> int:
    """Return where the line of `position` begins, or -1 if that is far away."""
    floor = max(0, position - _NEAR)
    begin = text.rfind("\n", floor, position) + 1
    return begin if begin or not floor else -1


def _line_end(text: str, position: int) -> int:
    """Return where the line of `position` ends, or the end of what is near."""
    end = text.find("\n", position, position + _NEAR)
    return min(len(text), position + _NEAR) if end == -1 else end
