"""The one address that a probe talks to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_NO_SCHEME = re.compile(r"(?![a-z][a-z0-9+.-]*://)", re.I)
_HOST = re.compile(r"[\w.~-]+|[0-9a-f.]*:[0-9a-f:.]*(?:%\w+)?", re.A)
_PATH = re.compile(r"(?:/[\w.~%+@=,-]*)*", re.A)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class ProbeError(ValueError):
    """The probe cannot be made as asked; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Address:
    """Scheme, host, port and path prefix of a server."""

    scheme: str
    host: str
    port: int
    prefix: str = ""
    """Path below which the server stands behind a proxy, without a final slash; usually empty."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"


def parse_address(text: str) -> Address:
    """Read `http://localhost:8000`, also without scheme or with `/v1` at its end, as API clients write it."""
    text = text.strip()
    try:
        parts = urlsplit(f"http://{text}" if _NO_SCHEME.match(text) else text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        # Its message may repeat a password.
        raise ProbeError("this is no address; it looks like http://localhost:8000") from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise ProbeError(f"an address begins with http:// or https://, not {parts.scheme}://")
    if parts.username is not None or parts.password is not None:
        raise ProbeError("no user or password in the address; give a key by --api-key-env NAME")
    if parts.query or parts.fragment:
        raise ProbeError("the address ends before ? and #")
    if not _HOST.fullmatch(host) or not _PATH.fullmatch(parts.path):
        raise ProbeError("the address names no host, or holds characters that none has")
    prefix = re.sub(r"(?:/v1)?/*$", "", parts.path.rstrip("/"))
    return Address(parts.scheme, host, _DEFAULT_PORTS[parts.scheme] if port is None else port, prefix)
