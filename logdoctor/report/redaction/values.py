"""Where the value after a secret's name begins and ends, in Python, JSON, YAML, shell, header and query notation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lazy import Pattern
from .shapes import is_opaque
from .spans import is_masked

_QUOTE = Pattern(r"""(\\{0,15})(["'`])""")
_STRING_PREFIX = Pattern(
    r"(?:[bBrRuUfF]{1,2}(?=\\*[\"'])|Secret(?:Str|Bytes)\((?:value=)?|[A-Za-z.]{0,40}(?:Auth|Token|Credentials?)\("
    r"(?=\s*\\*[\"']))"
)
_SCHEME = Pattern(
    r"(?i)(?:bearer|basic|token|digest|negotiate|apikey|api-key|key|aws4-hmac-sha256|github-bearer)(?:[ \t]+|%20|=)"
    r"(?=\S)"
)
# Values that say "nothing here", types, references to a variable, and masks: all of them readable and harmless.
_NO_SECRET = Pattern(
    r"""(?i:none|null|nil|true|false|yes|no|unset|undefined|str|bool|int|bytes|float|string|boolean|any|optional|list|dict
    |union|secretstr|tuple|collection|sequence|iterable|mapping|callable|type|required|default|missing|redacted|hidden|masked
    |not\ set|n/a)(?:\ ?[\[|=].{0,80}|,)?
    |[*x•.…_-]*|\$\{?[A-Z_][A-Z0-9_]*\}?|\$\{?(?:[a-z]{1,20}_){0,4}(?:key|token|secret|password|pass|auth)\}?
    |\$[1-9@*]|\$\{[^}]*\}|\$\([^)]*\)|%[A-Z_]+%|\{\{.{0,200}\}\}|\{[a-z_.]*\}
    |<[A-Za-z][A-Za-z _-]*>|\[REDACTED\]
    |\*{2,}[^*]{0,4}""",
    re.VERBOSE,
)
# In code lines of tracebacks a value is an expression: `token=token,`, `api_key=os.environ[...]`, `self.token`.
_CODE = Pattern(
    r"(?:self|cls|args|config|cfg|kwargs|os|request|settings|envs?|model_config|vllm_config|opts?)\.[\w.].*"
    r"|(?:use_)?(?:hf_|auth_|access_|api_)?(?:tokens?|api_key|keys?|password|passwd|pwd|secret|auth|credentials?"
    r"|cookies?|headers?"
    r"|authorization|keyfile)|[A-Za-z_][\w.]*[(\[].*"
)
_BARE_STOP = Pattern(
    r"""[\s"'`]|\\[nrt](?=[\w.-]{1,60}\s?[=:]|["']|$|\\|\s)"""
    r"""|[,;&|](?=\s|$|["'\[{(]|[\w.-]{1,60}\s?[=:])|[)\]}>]+(?=\s|$|[,;:."'`)\]}>])|\.(?=\s|$)|[,;:!?](?=\s|$)|\\$|\\(?=\n)"""
)
_WORD = Pattern(r"[^\s,'\"\[\](){}]{2,}")
_COMMENT = Pattern(r"(?<!\s)\s+#\s")


def is_secret_value(value: str) -> bool:
    """Tell whether a value could be a secret at all: not None, not a type, not `${NAME}`, not masked already."""
    value = value.strip()
    return bool(value) and not _NO_SECRET.fullmatch(value) and not is_masked(value)


def is_reference(value: str) -> bool:
    """Tell whether a value is a reference to a variable, which a text may show."""
    return value.startswith("$") and _NO_SECRET.fullmatch(value) is not None


def closing_quote(text: str, position: int, quote: str) -> int:
    """Return where the string that was opened by `quote` (with its backslashes) ends, or -1."""
    slashes, mark = len(quote) - 1, quote[-1]
    at = position
    while (at := text.find(mark, at)) != -1:
        count = 0
        while at - count > position and text[at - count - 1] == "\\":
            count += 1
        if count == slashes or (slashes == 0 and count % 2 == 0) or (slashes and count < slashes):
            return at - min(count, slashes)
        at += 1
    return -1


def quoted_end(text: str, position: int, quote: str) -> int:
    """Return the end of a quoted value: its closing quote, within lines that look like one wrapped string."""
    end = closing_quote(text, position, quote)
    if end == -1:
        line_end = text.find("\n", position)
        return len(text) if line_end == -1 else _ragged_end(text, line_end)
    breaks = text.count("\n", position, end)
    if breaks <= 1:
        return end
    line_end = text.find("\n", position)
    middle = text[line_end + 1 : text.rfind("\n", position, end)]
    return (
        end
        if breaks <= 12 and all(" " not in line.strip().rpartition("] ")[2] for line in middle.split("\n"))
        else line_end
    )


def _ragged_end(text: str, line_end: int) -> int:
    """Return the end of an unclosed string: of its line, or of the next where that holds one opaque run only."""
    rest = text[line_end + 1 :].split("\n", 1)[0]
    return (
        line_end + 1 + len(rest) if rest.strip() and " " not in rest.strip() and is_opaque(rest.strip()) else line_end
    )


_VARIABLE = Pattern(r"\$\{\w{1,80}(?::?[-=+?])?([^}\s]{0,400})\}")
_LONGEST = 4000  # characters of a list of secrets


def read_value(text: str, position: int, *, outer: str = "", code: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the extents of the secret strings in the value that begins at `position`.

    `outer` is the quote that was opened before the name (`"HF_TOKEN=…"`); `code`: the value may be an expression.
    """
    if prefix := _STRING_PREFIX.match(text, position):
        position = prefix.end()
    if quote := _QUOTE.match(text, position):
        if outer and quote.group() == outer:
            return
        yield from _trim(text, quote.end(), quoted_end(text, quote.end(), quote.group()))
    elif text[position : position + 1] in ("[", "(", "{"):
        yield from _strings(text, position)
    elif outer:
        yield from _trim(text, position, quoted_end(text, position, outer))
    else:
        yield from _bare(text, position, code)


def _strings(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield the strings in a bracket (of a mapping: its values); bare words too, as in YAML `[a, b]`."""
    opening = text[position]
    while text[position : position + 1] in ("[", "(") and text[position + 1 : position + 2] in ("[", "("):
        position += 1  # of nested lists the innermost
    closing = {"[": "]", "(": ")", "{": "}"}[text[position]]
    at, found, last = position + 1, False, min(len(text), position + _LONGEST)
    while at < last and text[at] != closing:
        if quote := _QUOTE.match(text, at):
            end = quoted_end(text, quote.end(), quote.group())
            after = end + len(quote.group())
            is_key = opening == "{" and re.match(r"\s*:", text[after : after + 4])
            if not is_key:
                yield from _trim(text, quote.end(), end)
            at, found = after, True
        elif text[at] in " ,:\t\\" or (text[at] == "\n" and text.count("\n", position, at) < 12):
            at += 1
        elif text[at] == "{" and opening == "{":
            return  # names in an inner mapping speak for themselves
        elif found or opening == "{":
            at += 1
            if text[at - 1] == "\n":
                return
        elif word := _WORD.match(text, at):
            yield from (extent for extent in _trim(text, at, word.end()) if is_opaque(word.group(), 4))
            at = word.end()
        else:
            return


def _bare(text: str, position: int, code: bool) -> Iterator[tuple[int, int]]:
    if scheme := _SCHEME.match(text, position):
        position = scheme.end()
    if variable := _VARIABLE.match(text, position):  # `${NAME:-default}`: the default alone can be secret
        yield from _trim(text, *variable.span(1))
        return
    if text.startswith("$(", position):  # what a command prints is not in the text
        return
    stop = _BARE_STOP.search(text, position)
    end = stop.start() if stop else len(text)
    while end > position and text[end - 1] == "\\":
        end -= 1
    value = text[position:end]
    if not (code and _CODE.fullmatch(value)) and value not in ("[", "(", "{"):
        yield from _trim(text, position, end)


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the extent without a scheme such as `Bearer` and without blanks, if a secret is left."""
    while start < end and text[start].isspace():
        start += 1
    if (scheme := _SCHEME.match(text, start, end)) and scheme.end() < end:
        start = scheme.end()
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end and is_secret_value(text[start:end]):
        yield start, end


def line_value(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield the extent of a value that takes the rest of its line: a YAML scalar, a header."""
    end = text.find("\n", position)
    end = len(text) if end == -1 else end
    if comment := _COMMENT.search(text, position, end):
        end = comment.start()
    yield from _trim(text, position, end)
