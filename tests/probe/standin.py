"""A server on the loopback that speaks vLLM's API and plays one fault at a time.

    with StandIn(Plan(health=503)) as server:
        probe(ProbeOptions(server.address))

What it answers is fixed by its `Plan`; what it was asked is kept in `requests`.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from logdoctor.probe import Address
from logdoctor.probe.questions import CONTINUATION, QUESTIONS

ANSWERS = {
    QUESTIONS[0].prompt: "42",
    QUESTIONS[1].prompt: "108",
    QUESTIONS[2].prompt: "63",
    QUESTIONS[3].prompt: "14",
    CONTINUATION.prompt: " 8, 9, 10, 11",
}
TOOL_TEXT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
GARBAGE = "!" * 60


@dataclass(frozen=True)
class Plan:
    """How the server behaves; as it stands here it is in order."""

    version: str = "0.17.1"
    served: tuple[str, ...] = ("tiny",)
    max_model_len: int = 2048
    health: int = 200
    redirect: str = ""
    """Where /health and everything else sends to."""
    key: str = ""
    """The API key that it wants."""
    echo: bool = False
    """Error texts hold the key that was sent."""
    models: bool = True
    """False: another program, which has no /v1/models."""
    metrics: tuple[tuple[int, int, int], ...] = ((0, 0, 100),)
    """Running, waiting and tokens so far, one after another; the last one stays."""
    chat_template: bool = True
    chat_status: int = 200
    body: bytes | None = None
    """Sent with status 200 in place of every chat reply."""
    hang: bool = False
    """Requests get no answer at all."""
    drip: bool = False
    """Requests get one byte now and then, for ever."""
    close: bool = False
    """Requests end with a closed connection."""
    die: bool = False
    """The first request ends it all."""
    content: str | None = None
    """Answer to every chat in place of the right one."""
    thinking: str = ""
    thinking_tokens: int = 0
    """What the thinking costs; with fewer max_tokens no content comes."""
    fields: tuple[str, ...] = ("reasoning",)
    """In which fields the thinking comes; none: in content, with its marks."""
    swallow: bool = False
    """The whole answer comes as thinking."""
    stream_loses: str = ""
    """`content` or `reasoning`: it comes only without streaming."""
    stream_error: bool = False
    """Streams end with an error event."""
    tool: str = "called"
    """`called`, `in content`, `ignored`, `off`, `broken`."""
    tool_stream: str = ""
    """The same for streams; empty: as `tool`."""
    load: str = ""
    """What happens to some answers under load: `garbled`, `empty`, `wrong`, `differs`, `failed`."""
    load_from: int = 3
    """From how many requests at once."""
    kv_tokens: int = 10**9
    """A longer prompt waits for ever."""
    ollama: tuple[dict[str, Any], ...] | None = None


class _Listening(ThreadingHTTPServer):
    """Takes as many connections at once as a probe opens; Python's own queue holds five and refuses the others."""

    daemon_threads = True
    request_queue_size = 128


@dataclass
class StandIn:
    """A running stand-in; a context manager."""

    plan: Plan = field(default_factory=Plan)
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of everything that it was asked."""
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.busy = 0
        self.seen = 0
        self.stuck = 0
        self.scrapes = 0
        self.over = threading.Event()
        handler = type("Handler", (_Handler,), {"standin": self})
        self._server = _Listening(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def address(self) -> Address:
        """Where it listens, as a probe wants it."""
        return Address("http", "127.0.0.1", self.port)

    @property
    def url(self) -> str:
        """Where it listens, as the command line wants it."""
        return str(self.address)

    def __enter__(self) -> StandIn:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop listening and let hanging requests go."""
        if not self.over.is_set():
            self.over.set()
            self._server.shutdown()
            self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    standin: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer the status pages."""
        plan = self.standin.plan
        self._note()
        if plan.redirect:
            self._send(301, b"", Location=plan.redirect)
        elif self.path == "/health":
            self._send(plan.health, b"")
        elif self.path == "/api/ps" and plan.ollama is not None:
            self._json(200, {"models": list(plan.ollama)})
        elif not plan.models:
            self._json(404, {"detail": "Not Found"})
        elif self.path == "/version":
            self._json(200, {"version": plan.version})
        elif self.path == "/metrics":
            self._send(200, self._metrics().encode())
        elif self.path == "/v1/models":
            if self._may():
                cards = [
                    {"id": name, "object": "model", "root": f"/models/{name}", "max_model_len": plan.max_model_len}
                    for name in plan.served
                ]
                self._json(200, {"object": "list", "data": cards})
        else:
            self._json(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        """Answer a request, or play the fault."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._note(body)
        standin = self.standin
        with standin.lock:
            standin.busy += 1
            standin.seen += 1
            number = standin.seen
        try:
            if self._may() and self._lives():
                self._answer(body, number, self._company())
        finally:
            with standin.lock:
                standin.busy -= 1

    def _company(self) -> int:
        """Wait for the requests that come at the same time, however slow the machine is; return how many there are."""
        wanted = self.standin.plan.load_from if self.standin.plan.load else 1
        for _ in range(30):
            time.sleep(0.01)
            if self.standin.busy >= wanted:
                break
        return self.standin.busy

    # ---------------------------------------------------------------------------------------------------- the faults

    def _may(self) -> bool:
        plan = self.standin.plan
        sent = self.headers.get("Authorization", "")
        if not plan.key or sent == f"Bearer {plan.key}":
            return True
        self._json(401, {"error": f"Unauthorized {sent if plan.echo else ''}"})
        return False

    def _lives(self) -> bool:
        plan, over = self.standin.plan, self.standin.over
        if plan.hang:
            over.wait(30)
        elif plan.drip:
            self._head(200, "application/json", None)
            while not over.wait(0.05):
                self.wfile.write(b"1\r\n \r\n")
        elif plan.die:
            self.close_connection = True
            threading.Thread(target=self.standin.stop).start()
            over.wait(5)
        elif plan.close:
            self.close_connection = True
        elif plan.chat_status != 200:
            said = f"broken {self.headers.get('Authorization', '')}" if plan.echo else "EngineCore encountered an issue"
            self._json(plan.chat_status, {"error": {"message": said, "code": plan.chat_status}})
        else:
            return True
        self.close_connection = True
        return False

    def _answer(self, body: dict[str, Any], number: int, busy: int) -> None:
        plan = self.standin.plan
        if self.path == "/v1/completions":
            self._complete(body)
            return
        if not plan.chat_template:
            self._json(400, {"error": {"message": "you must provide a chat template if the tokenizer has none"}})
            return
        if plan.body is not None:
            self._send(200, plan.body, kind="application/json")
            return
        streamed = bool(body.get("stream"))
        if body.get("tools"):
            self._tool((plan.tool_stream or plan.tool) if streamed else plan.tool, streamed)
            return
        message, finish, tokens = self._message(body)
        if plan.load and busy >= plan.load_from and number % 2:
            if plan.load == "failed":
                self._json(500, {"error": {"message": "broken"}})
                return
            right = message["content"]
            message["content"] = {"garbled": GARBAGE, "empty": "", "wrong": "7", "differs": f"It is {right}"}[plan.load]
        if streamed:
            message = {key: value for key, value in message.items() if key != plan.stream_loses}
        self._reply("chat.completion", {"message": message}, finish, tokens, streamed)

    def _message(self, body: dict[str, Any]) -> tuple[dict[str, Any], str, int]:
        plan = self.standin.plan
        right = ANSWERS.get(body["messages"][0]["content"], "I do not know")
        content = right if plan.content is None else plan.content
        message: dict[str, Any] = {"role": "assistant", "content": content}
        tokens = plan.thinking_tokens + 2
        cut = plan.thinking_tokens >= body["max_tokens"]
        thinking = plan.thinking + (content if plan.swallow else "")
        if cut or plan.swallow:
            message["content"] = None
        if cut:
            tokens = body["max_tokens"]
        if thinking and plan.fields:
            message |= dict.fromkeys(plan.fields, thinking)
        elif thinking:
            message["content"] = f"<think>{thinking}" + ("" if cut else f"</think>{content}")
        return message, "length" if cut else "stop", tokens

    def _complete(self, body: dict[str, Any]) -> None:
        standin = self.standin
        tokens = len(body["prompt"].split())
        if tokens > standin.plan.kv_tokens:
            standin.stuck += 1
            standin.over.wait(10)
            self.close_connection = True
            return
        if tokens > standin.plan.max_model_len:
            self._json(400, {"error": {"message": "This model's maximum context length is exceeded"}})
            return
        text = ANSWERS.get(body["prompt"], " and so on") if standin.plan.content is None else standin.plan.content
        self._reply("text_completion", {"text": text}, "length", 12, bool(body.get("stream")), prompt=tokens)

    def _tool(self, way: str, streamed: bool) -> None:
        if way == "off":
            said = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
            self._json(400, {"error": {"message": said, "code": 400}})
        elif way == "broken":
            self._json(500, {"error": {"message": "Tool parser could not locate tool call tokens", "code": 500}})
        else:
            call = {"index": 0, "id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
            message: dict[str, Any] = {"role": "assistant", "content": None}
            if way == "called":
                message["tool_calls"] = [call]
            else:
                message["content"] = TOOL_TEXT if way == "in content" else "It is sunny."
            finish = "tool_calls" if way == "called" else "stop"
            self._reply("chat.completion", {"message": message}, finish, 20, streamed)

    # ---------------------------------------------------------------------------------------------------- the replies

    def _reply(
        self, kind: str, said: dict[str, Any], finish: str, tokens: int, streamed: bool, prompt: int = 9
    ) -> None:
        usage = {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
        if not streamed:
            choice = {"index": 0, **said, "finish_reason": finish}
            self._json(200, {"object": kind, "choices": [choice], "usage": usage})
            return
        self._head(200, "text/event-stream", None)
        if self.standin.plan.stream_error:
            self._event({"error": {"message": "EngineDeadError", "code": 500}})
        for piece in _pieces(said):
            self._event({"choices": [{"index": 0, **piece, "finish_reason": None}]})
            time.sleep(0.001)
        last = {"delta": {}} if "message" in said else {"text": ""}
        self._event({"choices": [{"index": 0, **last, "finish_reason": finish}]})
        self._event({"choices": [], "usage": usage})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, value: dict[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _json(self, status: int, value: object) -> None:
        self._send(status, json.dumps(value).encode(), kind="application/json")

    def _send(self, status: int, data: bytes, kind: str = "text/plain", **headers: str) -> None:
        self._head(status, kind, len(data), **headers)
        self.wfile.write(data)

    def _head(self, status: int, kind: str, length: int | None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _metrics(self) -> str:
        standin = self.standin
        running, waiting, tokens = standin.plan.metrics[min(standin.scrapes, len(standin.plan.metrics) - 1)]
        standin.scrapes += 1
        labels = '{engine="0",model_name="tiny"}'
        return (
            f"# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
            f"vllm:num_requests_running{labels} {running:.1f}\n"
            f"vllm:num_requests_waiting{labels} {waiting + standin.stuck:.1f}\n"
            f"vllm:kv_cache_usage_perc{labels} 0.25\n"
            f"vllm:num_preemptions_total{labels} 3.0\n"
            f"vllm:generation_tokens_total{labels} {tokens:.1f}\n"
            f"vllm:iteration_tokens_total_count{labels} {tokens:.1f}\n"
        )

    def _note(self, body: dict[str, Any] | None = None) -> None:
        standin = self.standin
        with standin.lock:
            standin.requests.append((self.command, self.path))
            standin.headers.append(dict(self.headers))
            if body is not None:
                standin.bodies.append(body)


def _pieces(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Cut what is said into the pieces of a stream."""
    if "text" in said:
        return [{"text": part} for part in _cut(said["text"])]
    message = said["message"]
    pieces: list[dict[str, Any]] = [{"delta": {"role": "assistant", "content": ""}}]
    thinking = [name for name in message if name.startswith("reasoning")]
    if thinking:
        pieces += [{"delta": dict.fromkeys(thinking, part)} for part in _cut(message[thinking[0]])]
    pieces += [{"delta": {"content": part}} for part in _cut(message.get("content") or "")]
    if message.get("tool_calls"):
        pieces.append({"delta": {"tool_calls": message["tool_calls"]}})
    return pieces


def _cut(text: str) -> list[str]:
    return [text[start : start + 3] for start in range(0, len(text), 3)]
