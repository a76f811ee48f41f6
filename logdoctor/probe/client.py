"""A small HTTP client that is safe to point at a server of unknown state.

It talks to one address and follows no redirect; no proxy is asked. Every exchange ends at its deadline, whatever the
other side does (a server that sends one byte a minute included), and reads a bounded number of bytes. Failures are
values, not exceptions: that nothing answers is what a probe is there to find.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from logdoctor import __version__
from logdoctor.probe.address import Address

MAX_BODY = 8 * 2**20
"""Bytes of a body that are read; `/metrics` of a busy server has a few hundred thousand."""
MAX_LINE = 2**18
_LEAST_KEY = 4
"""Characters of a key that is worth hiding: a shorter one is no secret, and hiding it would hide everything."""


class Failure(str, Enum):
    """Why there is no usable reply; the value is how a report says it."""

    REFUSED = "connection refused"
    NO_NAME = "the name does not resolve"
    NO_ROUTE = "no route to the host"
    CONNECT_TIMED_OUT = "no connection in time"
    TIMED_OUT = "connected, no answer in time"
    TLS = "TLS failed"
    CLOSED = "the connection was closed without an answer"
    NOT_HTTP = "the answer is not HTTP"
    TOO_LARGE = "the answer is too large"


UNREACHED = frozenset({Failure.REFUSED, Failure.NO_NAME, Failure.NO_ROUTE, Failure.CONNECT_TIMED_OUT, Failure.TLS})
"""Failures before anything was said."""
TIME_OUTS = frozenset({Failure.CONNECT_TIMED_OUT, Failure.TIMED_OUT})


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request."""

    status: int = 0
    """HTTP status; 0 when there was none."""
    body: bytes = b""
    failure: Failure | None = None
    detail: str = ""
    """More on the failure, in the words of the system."""
    location: str = ""
    """Where a redirect points; it is not followed."""
    seconds: float = 0.0
    first_seconds: float | None = None
    """Until the first event of a stream that carried text."""
    last_seconds: float | None = None
    """Until the last one."""
    events: tuple[Mapping[str, Any], ...] = field(default=())
    """The events of a stream."""

    @property
    def ok(self) -> bool:
        """Whether a whole reply with status 200 came."""
        return self.status == 200 and self.failure is None

    @property
    def connected(self) -> bool:
        """Whether there was somebody to talk to."""
        return self.failure not in UNREACHED

    @property
    def timed_out(self) -> bool:
        """Whether the deadline ended it."""
        return self.failure in TIME_OUTS

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON, or None when it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def message(self) -> str:
        """What an error reply says, in its first line, as vLLM and its neighbours word it."""
        loaded = self.json()
        found = loaded.get("error", loaded) if isinstance(loaded, dict) else None
        if isinstance(found, dict):
            found = found.get("message") or found.get("detail")
        text = found if isinstance(found, str) else "" if loaded is not None else self.text
        return next((line.strip()[:300] for line in text.splitlines() if line.strip()), "")


@dataclass(frozen=True, slots=True)
class Client:
    """Talks to one address. The key, if any, is sent as a bearer token and stands in no reply."""

    address: Address
    timeout: float = 60.0
    """Seconds that one exchange may take in all."""
    key: str = field(default="", repr=False)

    def get(self, path: str, timeout: float | None = None) -> Reply:
        """Ask for a path."""
        return self._exchange("GET", path, None, timeout, _read_body)

    def post(self, path: str, value: Mapping[str, Any], timeout: float | None = None) -> Reply:
        """Send JSON to a path."""
        return self._exchange("POST", path, json.dumps(value).encode(), timeout, _read_body)

    def stream(self, path: str, value: Mapping[str, Any], timeout: float | None = None) -> Reply:
        """Send JSON to a path and read server-sent events."""
        return self._exchange("POST", path, json.dumps(value).encode(), timeout, _read_events)

    def _exchange(self, method: str, path: str, body: bytes | None, timeout: float | None, read: _Reader) -> Reply:
        start = time.monotonic()
        connection = self._connection(self.timeout if timeout is None else timeout)
        watch = _Watch(connection)
        try:
            reply = self._try(connection, method, path, body, read, start)
        finally:
            watch.release()
            connection.close()
        if watch.expired:
            reply = Reply(status=reply.status, failure=Failure.TIMED_OUT if reply.connected else reply.failure)
        return replace(reply, seconds=time.monotonic() - start)

    def _try(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        read: _Reader,
        start: float,
    ) -> Reply:
        try:
            connection.connect()
        except OSError as error:
            return Reply(failure=_connect_failure(error), detail=_words(error))
        try:
            connection.request(method, self.address.prefix + path, body, self._headers(body is not None))
            return read(connection.getresponse(), self._clean, start)
        except _TooLarge:
            return Reply(failure=Failure.TOO_LARGE)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Reply(failure=_failure(error), detail=_words(error))

    def _connection(self, limit: float) -> http.client.HTTPConnection:
        host, port = self.address.host, self.address.port
        if self.address.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=limit, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=limit)

    def _headers(self, with_body: bool) -> dict[str, str]:
        headers = {"User-Agent": f"logdoctor/{__version__}", "Accept": "*/*", "Connection": "close"}
        if with_body:
            headers["Content-Type"] = "application/json"
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return headers

    def _clean(self, data: bytes) -> bytes:
        """Take the key out of whatever echoes it."""
        return data.replace(self.key.encode(), b"***") if len(self.key) >= _LEAST_KEY else data


class _TooLarge(Exception):
    """More came than a probe reads."""


class _Watch:
    """Ends an exchange at its deadline from outside: a time-out of a socket starts anew with every byte."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.expired = False
        self._connection = connection
        self._timer = threading.Timer(connection.timeout or 0, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def release(self) -> None:
        """Stop watching."""
        self._timer.cancel()

    def _expire(self) -> None:
        self.expired = True
        # The connection is used by another thread, which may be closing it just now.
        with contextlib.suppress(OSError, AttributeError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)


_Clean = Callable[[bytes], bytes]
_Reader = Callable[[http.client.HTTPResponse, _Clean, float], Reply]


def _read_body(response: http.client.HTTPResponse, clean: _Clean, start: float) -> Reply:
    body = response.read(MAX_BODY + 1)
    if len(body) > MAX_BODY:
        raise _TooLarge
    if response.length:
        raise http.client.IncompleteRead(body)
    location = (response.getheader("Location") or "").encode("latin-1", "replace")
    return Reply(status=response.status, body=clean(body), location=clean(location).decode("latin-1"))


def _read_events(response: http.client.HTTPResponse, clean: _Clean, start: float) -> Reply:
    kind = (response.getheader("Content-Type") or "").lower()
    if response.status != 200 or "text/event-stream" not in kind:
        return _read_body(response, clean, start)
    events: list[Mapping[str, Any]] = []
    first = last = None
    for event in _events(response, clean):
        if _has_text(event):
            last = time.monotonic() - start
            first = last if first is None else first
        events.append(event)
    return Reply(status=response.status, events=tuple(events), first_seconds=first, last_seconds=last)


def _events(response: http.client.HTTPResponse, clean: _Clean) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of an event stream until its end mark."""
    read = 0
    while line := response.readline(MAX_LINE):
        read += len(line)
        if read > MAX_BODY:
            raise _TooLarge
        if not line.startswith(b"data:"):
            continue
        data = clean(line[5:]).strip()
        if data == b"[DONE]":
            return
        with contextlib.suppress(ValueError, RecursionError):
            event = json.loads(data)
            if isinstance(event, dict):
                yield event


def _has_text(event: Mapping[str, Any]) -> bool:
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return False
    delta = choice.get("delta")
    parts = [choice.get("text"), *(delta.values() if isinstance(delta, dict) else ())]
    # The first event of a chat holds the role only.
    return any(part for part in parts if part not in ("", "assistant", None))


def _connect_failure(error: OSError) -> Failure:
    if isinstance(error, ConnectionRefusedError):
        return Failure.REFUSED
    if isinstance(error, socket.gaierror):
        return Failure.NO_NAME
    if isinstance(error, ssl.SSLError):
        return Failure.TLS
    if isinstance(error, TimeoutError):
        return Failure.CONNECT_TIMED_OUT
    return Failure.CLOSED if isinstance(error, ConnectionError) else Failure.NO_ROUTE


def _failure(error: Exception) -> Failure:
    if isinstance(error, TimeoutError):
        return Failure.TIMED_OUT
    if isinstance(error, ConnectionError | http.client.IncompleteRead):
        return Failure.CLOSED  # RemoteDisconnected is a ConnectionError
    if isinstance(error, http.client.HTTPException | ValueError):
        return Failure.NOT_HTTP
    return Failure.CLOSED


def _words(error: Exception) -> str:
    """The system's words for an error, never the request that caused it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return str(error.verify_message)
    return str(error.strerror or "") if isinstance(error, OSError) else ""
