"""Redaction: no secret passes into any format.

Every report is made from a redacted diagnosis. Detectors find (`Span`), the `Redactor` replaces: the same secret by the
same placeholder (`<hf-token-1>`, `<user-1>`, `<private-ip-2>`, `<prompt>`) throughout one report. Each detector module
says where the format it knows is documented:

    rules, tokens   formats with a shape of their own (a table), and long random runs
    pem             private keys, whole or in part
    names, values, assignments   values behind names such as `api_key`, in every notation
    urls            user names and passwords in URLs
    prompts         what users sent: prompts, messages, token ids
    places, addresses   users, e-mail, hosts, pods, GPUs, IP addresses
    wraps           secrets cut by a line break
    launches        secrets in a command to paste become variables of the shell
    finding   all of them on one text
    redactor, walk   one text, a whole diagnosis
"""

from __future__ import annotations

from .redactor import Redactor
from .walk import redact

__all__ = ["Redactor", "redact"]
