"""Records whose text a client chose: no signature may match in them, and no redactor may miss them."""

from __future__ import annotations

import re

# Message starts of vLLM's request logging and of its dumps after a crash, over all versions.
_STARTS = (
    "Received request ",
    "Added request ",
    "Aborted request",
    "Aborting request",
    "Abort request",
    "Finished request ",
    "Generated response ",
    "Generated streaming response ",
    "Request ",
    "Dumping input data for ",
    "Dumping scheduler output for ",
    "Dumping scheduler stats",
    "Using supplied chat template:",
    "response_body=",
)
_FIRST = frozenset(start[:3] for start in _STARTS)
# `Request ID …`: an id of the client's choice follows; other sentences that begin so are vLLM's own.
_REQUEST = re.compile(r"Request \S.{0,300}?(?: details: |aborted|failed|finished|cancelled|rejected|timed out)", re.S)

_SETTINGS = re.compile(
    r"(?:non-default )?args: (?:Namespace\(|\{)|Starting to load model |Loading model from scratch"
    r"|Initializing an? (?:V[01] )?LLM engine \(v[^)\s]{1,60}\) with config: "
)
_ACCESS = re.compile(r'(?:\S+|\[[\da-f:]+\]:\d+) - "[A-Z]{3,9} (\S*)')
_ENDPOINTS = re.compile(
    r"/(?:v1(?:/(?:chat/completions|completions|embeddings|models|responses|messages|score|rerank|audio/(?:transcriptions"
    r"|translations)|realtime|load_lora_adapter|unload_lora_adapter))?|v2/rerank|health|ping|metrics|version|load|docs"
    r"|openapi\.json|redoc|tokenize|detokenize|pooling|classify|score|rerank|invocations|sleep|wake_up|is_sleeping"
    r"|reset_prefix_cache|server_info|favicon\.ico|inference/v1/generate|generative_scoring|collective_rpc)?/?$"
)


def is_quoted(message: str) -> bool:
    """Whether a logger's message carries text of a client."""
    if message[:3] not in _FIRST or not message.startswith(_STARTS):
        return False
    return not message.startswith("Request ") or _REQUEST.match(message) is not None


def settings_head(message: str) -> str:
    """The beginning of a message that goes on with what an operator chose; empty when it is no such message.

    Arguments, the engine's configuration and the model to load hold names, paths and chat templates of any content.
    Facts are read from them; a signature, a phase or an event is none of their business.
    """
    match = _SETTINGS.match(message)
    return match[0] if match else ""


def is_foreign_target(message: str) -> bool:
    """Whether an access line names a path that is not one of the server's own: the client chose its words."""
    match = _ACCESS.match(message)
    return match is not None and _ENDPOINTS.match(match[1]) is None
