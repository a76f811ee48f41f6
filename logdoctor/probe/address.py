"""The one address that a probe talks to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_NO_SCHEME = re.compile(r"(?![a-z][a-z0-9+.-]*://)", re.I)
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
    parts = urlsplit(f"http://{text}" if _NO_SCHEME.match(text) else text)
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise ProbeError(f"an address begins with http:// or https://, not {scheme}://")
    if parts.username is not None or parts.password is not None:
        raise ProbeError("no user or password in the address; give a key by --api-key-env NAME")
    if parts.query or parts.fragment:
        raise ProbeError("the address ends before ? and #")
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ProbeError(f"no address: {error}") from error
    if not host or re.search(r"[\s\x00-\x1f]", parts.netloc + parts.path):
        raise ProbeError("the address names no host")
    prefix = re.sub(r"/v1$", "", parts.path.rstrip("/"))
    return Address(scheme, host, _DEFAULT_PORTS[scheme] if port is None else port, prefix)
