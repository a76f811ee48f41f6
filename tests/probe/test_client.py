"""The client's promises: one address, bounded in time and size, and the key stays where it belongs."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from logdoctor.probe import Address
from logdoctor.probe.client import MAX_BODY, Client, Failure
from tests.probe.standin import Plan, StandIn

BODY = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 5}
KEY = "sk-made-up-0123456789"


def _closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Raw:
    """A server that says the given bytes to whoever comes, and keeps the connection or not."""

    def __init__(self, says: bytes, *, keeps: bool = False) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._says, self._keeps = says, keeps
        self.address = Address("http", "127.0.0.1", self._listener.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        kept = []
        try:
            while True:
                connection, _ = self._listener.accept()
                connection.recv(65536)
                connection.sendall(self._says)
                if self._keeps:
                    kept.append(connection)
                else:
                    # Closing with something unread would reset the connection and take the reply back.
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass
                    connection.close()
        except OSError:
            pass

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()


@pytest.fixture
def healthy() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


def test_a_reply_is_read(healthy: StandIn) -> None:
    reply = Client(healthy.address, 5).get("/version")
    assert reply.ok
    assert reply.json() == {"version": "0.17.1"}


def test_a_stream_is_read_and_timed(healthy: StandIn) -> None:
    reply = Client(healthy.address, 5).stream("/v1/chat/completions", {**BODY, "stream": True})
    assert reply.ok
    assert len(reply.events) > 2
    assert reply.first_seconds is not None
    assert reply.last_seconds is not None
    assert 0 < reply.first_seconds <= reply.last_seconds <= reply.seconds


def test_nobody_there() -> None:
    reply = Client(Address("http", "127.0.0.1", _closed_port()), 5).get("/health")
    assert (reply.status, reply.failure, reply.connected) == (0, Failure.REFUSED, False)


def test_a_name_that_does_not_resolve() -> None:
    assert Client(Address("http", "no-such-host.invalid", 80), 5).get("/health").failure is Failure.NO_NAME


def test_plain_http_asked_by_tls(healthy: StandIn) -> None:
    assert Client(Address("https", "127.0.0.1", healthy.port), 5).get("/health").failure is Failure.TLS


@pytest.mark.parametrize("plan", [Plan(hang=True), Plan(drip=True)], ids=["silence", "a byte now and then"])
def test_every_exchange_ends_at_its_deadline(plan: Plan) -> None:
    with StandIn(plan) as server:
        reply = Client(server.address, 0.4).post("/v1/chat/completions", BODY)
    assert reply.timed_out
    assert reply.failure is Failure.TIMED_OUT


def test_headers_that_never_end_are_cut_at_the_deadline() -> None:
    with Raw(b"HTTP/1.1 200 OK\r\nA: b\r\n", keeps=True) as server:
        assert Client(server.address, 0.3).get("/health").failure is Failure.TIMED_OUT


def test_a_closed_connection() -> None:
    with StandIn(Plan(close=True)) as server:
        reply = Client(server.address, 5).post("/v1/chat/completions", BODY)
    assert (reply.failure, reply.connected) == (Failure.CLOSED, True)


def test_a_reply_that_breaks_off_is_no_reply() -> None:
    with Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}") as server:
        assert Client(server.address, 5).get("/v1/models").failure is Failure.CLOSED


def test_what_is_not_http() -> None:
    with Raw(b"SSH-2.0-OpenSSH_9.6\r\n") as server:
        assert Client(server.address, 5).get("/health").failure is Failure.NOT_HTTP


def test_no_more_is_read_than_the_bound() -> None:
    with Raw(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (MAX_BODY + 10)) as server:
        reply = Client(server.address, 10).get("/metrics")
    assert (reply.failure, reply.body) == (Failure.TOO_LARGE, b"")


def test_an_endless_stream_is_cut() -> None:
    line = b"data: " + b"x" * 100_000 + b"\n"
    says = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + line * (MAX_BODY // len(line) + 2)
    with Raw(says) as server:
        assert Client(server.address, 10).stream("/v1/chat/completions", BODY).failure is Failure.TOO_LARGE


def test_a_redirect_is_not_followed() -> None:
    with StandIn() as other, StandIn(Plan(redirect=f"http://127.0.0.1:{other.port}/health")) as server:
        reply = Client(server.address, 5, KEY).get("/health")
        assert other.requests == []
    assert reply.status == 301
    assert reply.location.endswith("/health")


def test_no_proxy_is_asked(healthy: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert Client(healthy.address, 5).get("/health").ok
        assert proxy.requests == []


@pytest.mark.parametrize("streamed", [False, True])
def test_the_key_is_sent_and_never_comes_back(streamed: bool) -> None:
    with StandIn(Plan(key="another", echo=True)) as server:
        client = Client(server.address, 5, KEY)
        reply = (client.stream if streamed else client.post)("/v1/chat/completions", BODY)
    assert server.headers[-1]["Authorization"] == f"Bearer {KEY}"
    assert "Bearer ***" in reply.text
    assert KEY not in repr(reply) + repr(client)


def test_the_key_does_not_come_back_in_events() -> None:
    event = f'data: {{"choices": [{{"delta": {{"content": "{KEY}"}}}}]}}\n\n'
    with Raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + event.encode()) as server:
        reply = Client(server.address, 5, KEY).stream("/v1/chat/completions", BODY)
    assert len(reply.events) == 1
    assert KEY not in repr(reply)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "too long", "code": 400}}', "too long"),
        (b'{"object": "error", "message": "no such model"}', "no such model"),
        (b'{"error": "Unauthorized"}', "Unauthorized"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b"Internal Server Error\nmore", "Internal Server Error"),
        (b"[1, 2]", ""),
        (b"", ""),
    ],
)
def test_what_an_error_reply_says(body: bytes, message: str) -> None:
    head = f"HTTP/1.1 500 X\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with Raw(head + body) as server:
        assert Client(server.address, 5).get("/x").message() == message
