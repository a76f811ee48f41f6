"""A stand-in for the model hub that refuses, with the headers that the hub documents."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_REFUSALS = {
    401: (
        401,
        "GatedRepo",
        "Access to model acme/gated-model is restricted. You must have access to it and be authenticated to access "
        "it. Please log in.",
    ),
    403: (
        403,
        "GatedRepo",
        "Access to model acme/gated-model is restricted and you are not in the authorized list. Visit the model page "
        "to ask for access.",
    ),
    404: (401, "RepoNotFound", "Repository not found"),
    429: (429, "", "Too Many Requests"),
}


class Hub:
    """Answers every request with one refusal; a context manager."""

    def __init__(self, status: int) -> None:
        code, error, message = _REFUSALS[status]

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                body = json.dumps({"error": message}).encode()
                self.send_response(code)
                if error:
                    self.send_header("X-Error-Code", error)
                self.send_header("X-Error-Message", message)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Hub:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
