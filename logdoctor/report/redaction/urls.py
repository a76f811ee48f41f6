"""User names and passwords in URLs."""

from __future__ import annotations

from collections.abc import Iterator

from .lazy import Pattern
from .spans import Span, is_masked

# https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1: scheme://userinfo@host. A raw password may hold anything
# but a blank or a quote; the last `@` before the path ends it.
_USERINFO = Pattern(
    r"(?i)(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]{1,20}:|[a-z][a-z0-9+.-]{1,20}:\\)?(?:\\?/){2}"
    r"(?P<info>[^\s\"'`<>]{1,400})@(?=[\w.\[-])"
)
_ENCODED = Pattern(r"(?i)[a-z][a-z0-9+.-]{1,20}%3A%2F%2F(?P<info>[^\s\"'`<>&/@]{1,400}?)(?:%40|@)")
# `curl -u user:password`, `--user`, `--proxy-user`, docker and podman `login -p`
_LOGIN = Pattern(
    r"""(?:\s|["'])(?:-u|--user|--proxy-user|--userpwd)(?:[= ]|["'],\s?)["']?(?P<info>[\w.@-]{1,64}:[^\s"']{1,200})"""
)
_PASSWORD_FLAG = Pattern(
    r"""\b(?:login|mysql|sshpass|redis-cli)\b[^\n|;&]{0,120}?\s-(?:p|a)[ =]?["']?(?P<info>[^\s"'-][^\s"']{2,200})"""
)


def find_url_credentials(text: str, lower: str) -> Iterator[Span]:
    """Yield the user part of URLs and of login options."""
    if "@" in text and "//" in text.replace("\\/", "/"):
        for match in _USERINFO.finditer(text):
            info = match["info"]
            if ("/" in info.split(":", 1)[0] or "/" in info) and not _before_path(info):
                continue
            if info != "git" and not info.startswith(("$", "{")) and not is_masked(info):
                yield Span(*match.span("info"), "credentials")
    if "%3a%2f%2f" in lower:
        yield from (Span(*m.span("info"), "credentials") for m in _ENCODED.finditer(text) if not is_masked(m["info"]))
    if "-u" in text or "--user" in text or "--proxy-user" in text:
        yield from (Span(*m.span("info"), "credentials") for m in _LOGIN.finditer(text) if not is_masked(m["info"]))
    if "login" in lower or "mysql" in lower or "sshpass" in lower or "redis-cli" in lower:
        yield from (
            Span(*m.span("info"), "password") for m in _PASSWORD_FLAG.finditer(text) if not is_masked(m["info"])
        )


def _before_path(info: str) -> bool:
    """Tell whether what stands before `@` is user information although it holds a slash (a raw `/` in a password)."""
    head = info.split("/", 1)[0]
    user, colon, password = head.partition(":")
    return bool(colon and user and not password.isdigit() and "." not in user)
