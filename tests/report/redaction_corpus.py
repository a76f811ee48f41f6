"""A planted corpus: made-up secrets of documented shapes, and the places in which vLLM's surroundings print them."""

from __future__ import annotations

import base64
import json
import random
import shlex
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

B62 = string.ascii_letters + string.digits
URL64 = B62 + "-_"
B64 = B62 + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


@dataclass(frozen=True)
class Secret:
    """A made-up secret; `shaped` ones are known by their own form, the others only by the name before them."""

    family: str
    text: str
    shaped: bool

    @property
    def fragments(self) -> tuple[str, ...]:
        """What must not survive: the secret, and every stretch of ten characters behind a public prefix."""
        body = self.text[12:] if self.shaped else self.text
        return (self.text, *(body[at : at + 10] for at in range(0, max(0, len(body) - 9))))


Maker = Callable[[random.Random], str]


def _run(alphabet: str, length: int, prefix: str = "", suffix: str = "") -> Maker:
    return lambda rng: prefix + "".join(rng.choice(alphabet) for _ in range(length)) + suffix


def _jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': str(rng.randrange(10**9)), 'iat': rng.randrange(10**9)})}.{_run(URL64, 43)(rng)}"


SHAPED: dict[str, Maker] = {
    "hugging face": _run(B62, 34, "hf_"),
    "hugging face organisation": _run(B62, 34, "api_org_"),
    "openai": lambda r: "sk-" + _run(B62, 20)(r) + "T3BlbkFJ" + _run(B62, 20)(r),
    "openai project": _run(URL64, 124, "sk-proj-"),
    "openai service": _run(URL64, 58, "sk-svcacct-"),
    "anthropic": _run(URL64, 93, "sk-ant-api03-", "AA"),
    "openrouter": _run(HEX, 64, "sk-or-v1-"),
    "own vllm key": lambda r: "sk-" + _run(string.ascii_lowercase, 6)(r) + "-" + _run(B62, 12)(r) + "7X",
    "github classic": _run(B62, 36, "ghp_"),
    "github oauth": _run(B62, 36, "gho_"),
    "github server": _run(B62, 36, "ghs_"),
    "github fine": lambda r: "github_pat_" + _run(B62, 22)(r) + "_" + _run(B62, 59)(r),
    "gitlab": _run(URL64, 20, "glpat-"),
    "gitlab deploy": _run(URL64, 20, "gldt-"),
    "gitlab runner": _run(URL64, 20, "glrt-"),
    "aws id": _run(string.ascii_uppercase + "234567", 16, "AKIA"),
    "aws session id": _run(string.ascii_uppercase + "234567", 16, "ASIA"),
    "google api": _run(URL64, 35, "AIza"),
    "google client": _run(URL64, 28, "GOCSPX-"),
    "google access": _run(URL64, 60, "ya29."),
    "slack bot": lambda r: f"xoxb-{_run(string.digits, 12)(r)}-{_run(string.digits, 12)(r)}-{_run(B62, 24)(r)}",
    "slack user": lambda r: f"xoxp-{_run(string.digits, 12)(r)}-{_run(string.digits, 12)(r)}-{_run(HEX, 32)(r)}",
    "slack app": lambda r: f"xapp-1-A{_run(UPPER, 10)(r)}-{_run(string.digits, 13)(r)}-{_run(HEX, 64)(r)}",
    "jwt": _jwt,
    "nvidia": _run(URL64, 64, "nvapi-"),
    "npm": _run(B62, 36, "npm_"),
    "pypi": _run(URL64, 140, "pypi-AgEIcHlwaS5vcmc"),
    "docker": _run(URL64, 27, "dckr_pat_"),
    "azure client": lambda r: _run(B62, 3)(r) + "8Q~" + _run(B62 + "_.~-", 33)(r) + "x",
    "azure storage": _run(B64, 86, "", "=="),
    "stripe live": _run(B62, 24, "sk_live_"),
    "stripe restricted": _run(B62, 24, "rk_test_"),
    "twilio": _run(HEX, 32, "SK"),
    "sendgrid": lambda r: f"SG.{_run(URL64, 22)(r)}.{_run(URL64, 43)(r)}",
    "mailgun": _run(HEX, 32, "key-"),
    "groq": _run(B62, 52, "gsk_"),
    "xai": _run(B62, 80, "xai-"),
    "perplexity": _run(B62, 48, "pplx-"),
    "replicate": _run(B62, 37, "r8_"),
    "langsmith": lambda r: f"lsv2_pt_{_run(HEX, 32)(r)}_{_run(HEX, 10)(r)}",
    "tavily": _run(B62, 32, "tvly-dev-"),
    "vault": _run(URL64, 95, "hvs."),
    "databricks": _run(HEX, 32, "dapi"),
    "digitalocean": _run(HEX, 64, "dop_v1_"),
    "grafana": _run(B62, 32, "glsa_", "_1a2b3c4d"),
    "tailscale": lambda r: f"tskey-auth-{_run(B62, 12)(r)}CNTRL-{_run(B62, 32)(r)}",
    "linear": _run(B62, 40, "lin_api_"),
    "shopify": _run(HEX, 32, "shpat_"),
    "atlassian": _run(B62 + "_-", 180, "ATATT3xFfGF0", "=2A1B3C4D"),
    "age": _run("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58, "AGE-SECRET-KEY-1"),
}

RARE: dict[str, Maker] = {
    "stripe webhook": _run(B62, 32, "whsec_"),
    "gitlab registration": _run(URL64, 20, "GR1348941"),
    "bedrock": _run(B62, 100, "ABSK"),
    "google refresh": _run(URL64, 60, "1//0"),
    "rubygems": _run(HEX, 48, "rubygems_"),
    "azure devops": _run(B62, 76, "", "AZDO1aB2"),
    "mailchimp": _run(HEX, 32, "", "-us12"),
    "weights and biases": _run(B62, 60, "wandb_v1_"),
    "modal": _run(B62, 22, "ak-"),
    "terraform": lambda r: f"{_run(B62, 14)(r)}.atlasv1.{_run(URL64, 65)(r)}",
    "doppler": _run(B62, 43, "dp.pt."),
    "dynatrace": lambda r: f"dt0c01.{_run(UPPER, 24)(r)}.{_run(UPPER, 64)(r)}",
    "new relic": _run(UPPER, 27, "NRAK-"),
    "sentry": _run(HEX, 64, "sntryu_"),
    "planetscale": _run(URL64, 43, "pscale_tkn_"),
    "pulumi": _run(HEX, 40, "pul-"),
    "postman": lambda r: f"PMAK-{_run(HEX, 24)(r)}-{_run(HEX, 34)(r)}",
    "notion": _run(B62, 46, "ntn_"),
    "square": _run(URL64, 43, "sq0csp-"),
    "artifactory": _run(B62, 69, "AKCp"),
    "sonar": _run(HEX, 40, "squ_"),
    "supabase": _run(HEX, 40, "sbp_"),
    "1password": _run(B64, 250, "ops_eyJ"),
    "alibaba": _run(B62, 20, "LTAI"),
    "brevo": lambda r: f"xkeysib-{_run(HEX, 64)(r)}-{_run(B62, 16)(r)}",
    "heroku": _run(URL64, 60, "HRKU-AA"),
    "easypost": _run(B62, 54, "EZAK"),
    "adobe": _run(HEX, 32, "p8e-"),
    "duffel": _run(URL64, 43, "duffel_live_"),
    "flutterwave": _run(HEX, 32, "FLWSECK_TEST-", "-X"),
    "frame.io": _run(URL64, 64, "fio-u-"),
    "readme": _run(string.ascii_lowercase + string.digits, 70, "rdme_"),
    "openshift": _run(URL64, 43, "sha256~"),
    "meta": _run(B62, 120, "EAAM"),
    "yandex": _run(URL64, 38, "AQVN"),
    "octopus": _run(UPPER, 26, "API-"),
    "cloudflare": lambda r: f"v1.0-{_run(HEX, 24)(r)}-{_run(HEX, 146)(r)}",
    "telegram": lambda r: f"{r.randrange(10**9, 10**10)}:AA{_run(URL64, 33)(r)}",
    "discord": lambda r: f"M{_run(B62, 23)(r)}.{_run(B62, 6)(r)}.{_run(URL64, 38)(r)}",
    "slack webhook": lambda r: f"hooks.slack.com/services/T{_run(UPPER, 8)(r)}/B{_run(UPPER, 8)(r)}/{_run(B62, 24)(r)}",
    "discord webhook": lambda r: f"/api/webhooks/{r.randrange(10**17, 10**18)}/{_run(URL64, 68)(r)}",
    "teams webhook": lambda r: (
        f"webhook.office.com/webhookb2/{uuid.UUID(int=r.getrandbits(128))}@x/IncomingWebhook/{_run(HEX, 32)(r)}"
    ),
    "bearer": _run(URL64, 40, "Bearer "),
    "basic": lambda r: "Basic " + base64.b64encode(f"user:{_run(B62, 12)(r)}1".encode()).decode(),
    "aws pair": lambda r: f"AKIA{_run(UPPER, 16)(r)}:{_run(B64, 37)(r)}aA1",
}
"""One example for each remaining row of the rule table."""

_WORDS = ("correct", "horse", "battery", "staple", "winter", "tiger", "orange", "secure", "admin", "magic", "river")


def _passphrase(rng: random.Random) -> str:
    return "-".join(rng.choice(_WORDS) for _ in range(4))


def _odd(rng: random.Random) -> str:
    return _run(B62, 6)(rng) + rng.choice("!@#$%^*") + rng.choice("!#%^*+~") + _run(B62, 6)(rng)


NAMED: dict[str, Maker] = {
    "hex 32": _run(HEX, 32),
    "hex 40": _run(HEX, 40),
    "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
    "base 64": _run(B64, 31, "", "="),
    "aws secret": lambda r: _run(B64, 37)(r) + "aA1",
    "short": lambda r: rng_word(r) + str(r.randrange(10, 99)),
    "token-abc123": lambda r: "token-" + _run(string.ascii_lowercase, 3)(r) + str(r.randrange(100, 999)),
    "passphrase": _passphrase,
    "odd characters": _odd,
    "word": lambda r: "".join(r.choice(string.ascii_lowercase) for _ in range(12)),
}


def rng_word(rng: random.Random) -> str:
    """Return a short word."""
    return "hunter" + "".join(rng.choice(string.ascii_lowercase) for _ in range(2))


def secrets(per_family: int = 6) -> list[Secret]:
    """Return the corpus' secrets, the same on every run."""
    rng = random.Random(20_240_229)
    found = [Secret(name, make(rng), True) for name, make in SHAPED.items() for _ in range(per_family)]
    found += [Secret(name, make(rng), False) for name, make in NAMED.items() for _ in range(per_family)]
    assert len({secret.text for secret in found}) == len(found)
    return found


LOG = "(APIServer pid=1) INFO 11-30 09:33:56 [utils.py:238] "
Place = Callable[[str], str]


def _split(text: str, secret: str, gap: str, share: float) -> str:
    at = text.index(secret) + max(1, int(len(secret) * share))
    return text[:at] + gap + text[at:]


def _non_default(s: str) -> str:
    return f"{LOG}non-default args: {{'model_tag': '/models/tiny', 'api_key': [{s!r}], 'enforce_eager': True}}"


# Places that name the secret: every secret must be caught in every one of them.
NAMED_PLACES: dict[str, Place] = {
    "non-default args": _non_default,
    "second of two keys": lambda s: f"{LOG}non-default args: {{'api_key': ['first-key-1', {s!r}], 'port': 8000}}",
    "non-default hf_token": lambda s: (
        f"{LOG}non-default args: {{'model': 'm', 'hf_token': {s!r}, 'max_model_len': 4096}}"
    ),
    "namespace": lambda s: f"{LOG}args: Namespace(host=None, port=8000, api_key={s!r}, ssl_keyfile=None, max_tokens=5)",
    "namespace list": lambda s: f"args: Namespace(host=None, api_key=[{s!r}], hf_overrides=None, lora_modules=None)",
    "namespace last": lambda s: f"args: Namespace(port=8000, hf_token={s!r})",
    "environment line": lambda s: f"PATH=/usr/bin\nHF_TOKEN={s}\nHOME=/root",
    "environment in one line": lambda s: f"Environment: PATH=/usr/bin, NGC_API_KEY={s}, VLLM_USE_V1=1",
    "export": lambda s: f"export HUGGING_FACE_HUB_TOKEN={shlex.quote(s)}",
    "export quoted": lambda s: f'export OPENAI_API_KEY="{s}"',
    "before a command": lambda s: f"HF_TOKEN={s} vllm serve meta-llama/Llama-3.1-8B --max-model-len 4096",
    "json": lambda s: json.dumps({"model": "m", "api_key": s, "port": 8000}),
    "json in json": lambda s: json.dumps({"log": json.dumps({"hf_token": s}) + "\n", "stream": "stdout"}),
    "json thrice": lambda s: json.dumps({"a": json.dumps({"log": json.dumps({"password": s})})}),
    "repr in repr": lambda s: repr(str({"api_key": s, "port": 1})),
    "yaml": lambda s: f"model: m\npassword: {s}\nport: 8000",
    "yaml quoted": lambda s: f"  hf_token: {json.dumps(s)}",
    "yaml block": lambda s: f"auth:\n  api_key: |\n    {s}\n  port: 8000",
    "compose environment": lambda s: (
        f"    environment:\n      - HUGGING_FACE_HUB_TOKEN={s}\n      - VLLM_LOGGING_LEVEL=DEBUG"
    ),
    "compose mapping": lambda s: f"    environment:\n      HF_TOKEN: {s}\n      VLLM_LOGGING_LEVEL: DEBUG",
    "compose command": lambda s: f"    command:\n      - --api-key\n      - {s}\n      - --port\n      - '8000'",
    "kubernetes": lambda s: (
        f"        - name: HF_TOKEN\n          value: {json.dumps(s)}\n        - name: PORT\n          value: '80'"
    ),
    "kubernetes json": lambda s: json.dumps({"env": [{"name": "HF_TOKEN", "value": s}, {"name": "A", "value": "b"}]}),
    "docker inspect": lambda s: json.dumps({"Env": ["PATH=/usr/bin", f"HF_TOKEN={s}", "NVIDIA_VISIBLE_DEVICES=all"]}),
    "command line": lambda s: f"vllm serve m --api-key {shlex.quote(s)} --port 8000",
    "command line with =": lambda s: f"vllm serve m --api-key={shlex.quote(s)} --port 8000",
    "command line, two keys": lambda s: f"vllm serve m --api-key first1key {shlex.quote(s)} --port 8000",
    "continued command line": lambda s: f"vllm serve m \\\n  --hf-token \\\n  {shlex.quote(s)} \\\n  --port 8000",
    "argv": lambda s: repr(["vllm", "serve", "m", "--api-key", s, "--port", "8000"]),
    "argv json": lambda s: json.dumps(["--api-key", s, "--port", "8000"]),
    "docker run": lambda s: f"docker run --gpus all -e HF_TOKEN={shlex.quote(s)} -p 8000:8000 vllm/vllm-openai:v0.17.1",
    "docker run quoted": lambda s: f'docker run -e "HF_TOKEN={s}" vllm/vllm-openai:v0.17.1',
    "header": lambda s: f"Authorization: Bearer {s}",
    "header in a dict": lambda s: f"headers={{'host': '127.0.0.1', 'authorization': 'Bearer {s}', 'accept': '*/*'}}",
    "header tuple": lambda s: f"[(b'x-api-key', b'{s}'), (b'accept', b'*/*')]".replace("', b'", "': b'", 1),
    "key header": lambda s: f"X-Api-Key: {s}",
    "curl": lambda s: f'curl -H "Authorization: Bearer {s}" http://localhost:8000/v1/models',
    "cookie": lambda s: f"Cookie: session={s}; theme=dark",
    "query": lambda s: (
        f'INFO:     127.0.0.1:5 - "GET /v1/models?api_key={quote(s, safe="")}&n=1 HTTP/1.1" 401 Unauthorized'
    ),
    "second query parameter": lambda s: f'"GET /v1/x?a=1&access_token={quote(s, safe="")} HTTP/1.1" 404 Not Found',
    "user part of a URL": lambda s: f"pip install --index-url https://user:{quote(s, safe='')}@example.com/simple vllm",
    "proxy": lambda s: f"HTTPS_PROXY=http://proxy-user:{quote(s, safe='')}@10.1.2.3:3128",
    "exception": lambda s: f"(EngineCore pid=2) ValueError: Invalid configuration: hf_token={s!r} is not usable",
    "exception, escaped": lambda s: f'RuntimeError: request failed: {{\\"api_key\\": \\"{s}\\"}}',
    "pydantic": lambda s: (
        f"1 validation error\nhf_token\n  Input should be a boolean [type=bool, input_value={s!r}, input_type=str]"
    ),
    "argparse": lambda s: f"vllm: error: argument --api-key: invalid choice value: {s!r}",
    "traceback line": lambda s: f'    client = Client(base_url="http://localhost", api_key={s!r}, timeout=5)',
    "secret string": lambda s: f"Settings(api_key=SecretStr({s!r}), port=8000)",
    "bytes": lambda s: f"Config(password=b{s!r}, retries=3)",
    "toml": lambda s: f"[auth]\ntoken = {json.dumps(s)}\nport = 8000",
    "ini": lambda s: f"[auth]\npassword = {s}\nport = 8000",
    "connection string": lambda s: f"Server=db;User=sa;Password={s};Encrypt=yes",
    "ray environment": lambda s: (
        f"Copying the following environment variables to workers: {{'HF_TOKEN': {s!r}, 'X': '1'}}"
    ),
    "wrapped early": lambda s: _split(_non_default(s), s, "\n", 0.25) if repr(s)[1:-1] == s else _non_default(s),
    "wrapped late": lambda s: _split(_non_default(s), s, "\n", 0.8) if repr(s)[1:-1] == s else _non_default(s),
    "wrapped with prefix": lambda s: _split(f"{LOG}hf_token='{s}', port=1", s, "\n(APIServer pid=1) ", 0.5),
    "wrapped environment": lambda s: _split(f"HF_TOKEN={s}\nPORT=8000", s, "\n", 0.5),
    "wrapped command line": lambda s: _split(f"vllm serve m --api-key {s} --port 8000", s, "\n", 0.6),
    "wrapped twice": lambda s: _split(
        _split(f"'password': '{s}', 'port': 1", s, "\n", 0.7), s[: int(len(s) * 0.7)], "\n", 0.4
    ),
}

# Places without a name: secrets with a shape of their own are caught there too.
BARE_PLACES: dict[str, Place] = {
    "alone": lambda s: s,
    "in a sentence": lambda s: f"the server said: {s} is not valid here",
    "end of a sentence": lambda s: f"OSError: 401 Client Error for {s}.",
    "parentheses": lambda s: f"request failed ({s}), retrying",
    "after a newline escape": lambda s: f"'line one\\n{s}\\nline three'",
    "after a colour": lambda s: f"\x1b[32m{s}\x1b[0m",
    "in a path": lambda s: f"/cache/{s}/model.safetensors",
    "in a list": lambda s: f"keys: [{s}, other]",
    "unknown argument": lambda s: f"vllm: error: unrecognized arguments: {s}",
    "percent-encoded": lambda s: f"GET /x?q=a%20{quote(s, safe='')} HTTP/1.1",
    "request id": lambda s: f"{LOG}Received request cmpl-{s}-0: params: SamplingParams(n=1)",
    "wrapped": lambda s: f"the server said: {s[: len(s) // 2]}\n{s[len(s) // 2 :]} is not valid",
    "wrapped near the end": lambda s: f"the server said: {s[:-4]}\n{s[-4:]}",
    "backquotes": lambda s: f"use `{s}` as the key",
    "xml": lambda s: f"<key>{s}</key>",
    "csv": lambda s: f"1,{s},x",
    "semicolons": lambda s: f"a;{s};b",
    "repr of bytes": lambda s: f"b'{s}'",
    "double quotes": lambda s: f'"{s}"',
    "cut": lambda s: f"the server said: {s}…",
}


def plants(secret: Secret) -> Iterator[tuple[str, str]]:
    """Yield (name of the place, text) for every place in which this secret must be caught."""
    for name, place in NAMED_PLACES.items():
        yield name, place(secret.text)
    if secret.shaped:
        for name, place in BARE_PLACES.items():
            yield name, place(secret.text)
