"""IP and MAC addresses, told apart from versions such as 12.4.5.8."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lazy import Pattern
from .spans import Span

_IPV4 = Pattern(r"(?<![\d.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?!\d|\.\d)")
# Right before the number: what makes it a version for certain …
_PINNED = Pattern(
    r"(?:[=<>~!]=[ \t]*|(?<!\\)[A-Za-z_][-.]?|[\w]-|\bcu\d\d\D?|\.so\.|nvidia[\w-]{1,40}\s{1,40}|(?i:version"
    r"|release)\W{1,4}|\+)$"
)
# … what makes it an address …
_ADDRESSED = Pattern(
    r"(?i)(?:\b(?:\w*ip|\w*addr(?:ess)?(?:es)?|\w*host|\w*node|peer|server|client|remote|endpoint|listen\w*|bind\w*|inet6"
    r"|gateway|dns|master|head|(?:no_)?proxy|connect(?:ion|ed|ing)? (?:from|to)|request from|route|ssh|ping|subnet|via)"
    r"[^\w\n]{0,6}|[:/]//?|@|\[)$"
)
_PORT = Pattern(r":\d{1,5}(?![\d.])|/(?:[89]|[12]\d|3[0-2])(?![\d.])|<\d{1,5}>|%\w+")
# … and words that speak for a version when nothing speaks for an address.
_VERSIONED = Pattern(
    r"(?i)(?:(?<![a-z])(?:v|ver|nv\w+|hip\w*|lib\w+|requires?|needs|pip3?|build|release)|version|driver|cuda\w*|cudnn\w*"
    r"|cublas\w*|cufft\w*|cufile\w*|curand\w*|cusolver\w*|cuspars\w*"
    r"|nccl|ptxas|tensorrt|firmware|vbios|rocm|miopen|toolkit|runtime|nvidia\S*|torch\w*|flashinfer\S*|triton"
    r"|vllm\S*|cutlass\S*|package|wheel|upgrade|downgrade|pypi\S*)[^\n]{0,24}$"
)
# First group of three digits or more: global, local and link-local addresses have it, `c10::` and `[::2]` have not.
_IPV6 = Pattern(
    r"(?<![\w:.])(?:(?=[0-9A-Fa-f]{3,4}:)(?=(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4})"
    r"(?:[0-9A-Fa-f]{1,4}:){1,7}(?::?[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}|:)(?:%\w{1,15})?)(?![\w:])"
)
_MAC = Pattern(r"(?<![\w:-])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![\w:-])")


def find_addresses(text: str, lower: str) -> Iterator[Span]:
    """Yield IPv4, IPv6 and MAC addresses; loopback, 0.0.0.0 and netmasks are nobody's."""
    del lower
    if "." in text:
        for match in _IPV4.finditer(text):
            if kind := _judge(text, match):
                yield Span(match.start(), match.end(), kind)
    colons = text.count(":")
    if colons >= 7 or "::" in text:
        for match in _IPV6.finditer(text):
            if _is_ipv6(match.group()):
                local = match.group()[:2].lower() in ("fc", "fd") or match.group()[:3].lower() == "fe8"
                yield Span(match.start(), match.end(), "private-ip" if local else "ip")
    if colons >= 5:
        yield from (Span(match.start(), match.end(), "mac") for match in _MAC.finditer(text))


def _judge(text: str, match: re.Match[str]) -> str:
    """Return the kind of a dotted quad, or the empty text for a version or an address that names nobody."""
    octets = tuple(int(part) for part in match.groups())
    if max(octets) > 255 or octets[0] in (0, 127, 255):  # 255: netmasks
        return ""
    kind = "private-ip" if _is_private(octets) else "ip"
    before = text[max(0, match.start() - 60) : match.start()].rpartition("\n")[2]
    if _PINNED.search(before) and not _ADDRESSED.search(before):
        return ""
    if _PORT.match(text, match.end()) or _ADDRESSED.search(before):
        return kind
    if octets[:2] not in ((192, 168), (169, 254)) and _VERSIONED.search(before):
        return ""
    return kind if kind == "private-ip" or octets[0] > 13 or max(octets) >= 100 else ""


def _is_private(octets: tuple[int, ...]) -> bool:
    """RFC 1918, RFC 6598 (carrier) and RFC 3927 (link-local)."""
    first, second = octets[:2]
    return (
        first == 10
        or (first == 172 and 16 <= second <= 31)
        or (first, second) in ((192, 168), (169, 254))
        or (first == 100 and 64 <= second <= 127)
    )


def _is_ipv6(text: str) -> bool:
    groups = text.partition("%")[0].split(":")
    if "::" in text:
        return text.count("::") == 1 and len(groups) <= 8
    return len(groups) == 8
