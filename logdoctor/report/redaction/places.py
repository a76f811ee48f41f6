"""Who and where: users in home paths, e-mail addresses, hosts, pods, and the UUIDs of GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lazy import Pattern
from .spans import Span

_HOME = Pattern(r"(?:/|\\{1,4})(?:home\d?|Users)(?:/|\\{1,4})(?P<user>[^/\\\s'\"`:,;()\[\]{}<>|&?=*]{1,64})")
# A Windows profile may hold blanks: `C:\Users\Jane Doe\models`.
_PROFILE = Pattern(r"[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)(?P<user>[^/\\:*?\"'<>|\n]{1,64}?)(?=\\|/|[\"'\n]|$)")
_TEMP_OWNER = Pattern(r"torchinductor_(?P<user>[A-Za-z][\w.-]{0,40})")
_USER_VARIABLE = Pattern(
    r"(?<![A-Za-z0-9_])(?:USER|LOGNAME|USERNAME|SUDO_USER|LNAME)[\"']?\s?[=:]\s?[\"']?(?P<user>[A-Za-z][\w.@-]{0,63})"
)
_NOBODY = {
    "app",
    "default",
    "false",
    "jovyan",
    "me",
    "name",
    "nobody",
    "none",
    "null",
    "public",
    "ray",
    "root",
    "shared",
}
_NOBODY |= {"str", "true", "user", "username", "users", "vllm", "you", "your"}
_EMAIL = Pattern(
    r"(?:(?<![\w.+-])|(?<=\\[nrt]))[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}"
    r"(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}(?![\w-])"
)
# https://docs.nvidia.com/datacenter/tesla/mig-user-guide: GPU-<uuid>, MIG-<uuid>, MIG-GPU-<uuid>/gi/ci; a prefix
# is legal too
_DEVICE = Pattern(
    r"(?<![A-Za-z0-9])(?P<kind>MIG|GPU)-(?:GPU-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{1,12}){0,4}(?:/\d{1,2}){0,2}"
    r"(?![A-Za-z0-9])"
)
_DEVICE_SHORT = Pattern(r"DEVICES[\"']?\s?[=:]\s?\S{0,200}?(?P<kind>MIG|GPU)-(?:GPU-)?[0-9a-fA-F]{3,8}(?![A-Za-z0-9-])")


def find_people(text: str, lower: str) -> Iterator[Span]:
    """Yield users of home paths and e-mail addresses."""
    if "home" in lower or "users" in lower:
        for pattern in (_PROFILE, _HOME):
            yield from _users(pattern, text)
    if "torchinductor_" in text:
        yield from _users(_TEMP_OWNER, text)
    if "USER" in text or "NAME" in text:
        yield from _users(_USER_VARIABLE, text)
    if "@" in text:
        yield from (Span(*match.span("user"), "user") for match in _PROMPT_SIGN.finditer(text) if match["user"])
        for match in _EMAIL.finditer(text):
            if not match.group().startswith("git@"):
                yield Span(match.start(), match.end(), "email")


def _users(pattern: Pattern, text: str) -> Iterator[Span]:
    for match in pattern.finditer(text):
        user = match["user"]
        if user.lower() not in _NOBODY and user[0] not in "$%.~-":
            yield Span(*match.span("user"), "user")


def find_devices(text: str, lower: str) -> Iterator[Span]:
    """Yield the UUIDs of GPUs and MIG slices."""
    if "gpu-" in lower or "mig-" in lower:
        for match in _DEVICE.finditer(text):
            yield Span(match.start(), match.end(), f"{match['kind'].lower()}-uuid")
        for match in _DEVICE_SHORT.finditer(text):
            yield Span(match.start("kind"), match.end(), f"{match['kind'].lower()}-uuid")


# NCCL's debug lines begin `host:pid:tid [device]`; c10d prints peers as `[host]:port`.
_NCCL = Pattern(
    r"(?:(?<=\s)|(?<=[\"'(\]])|(?<=\\n)|^)(?P<host>[A-Za-z0-9][\w.-]{0,63}):\d{1,7}:\d{1,7}(?= \[\d{1,3}\]| \(|: )",
    re.MULTILINE,
)
_PEER = Pattern(r"\[(?P<host>[A-Za-z][\w.-]{0,80})\]:\d{2,5}(?!\d)")
# journald and syslog: `Nov 30 09:33:41 host unit[pid]:`, or with an ISO date
_JOURNAL = Pattern(
    r"^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? (?P<host>[A-Za-z0-9][\w.-]{0,63}) "
    r"(?=[A-Za-z_][\w./@-]{0,63}(?:\[\d+\])?: )"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,20} (?P<node>[A-Za-z0-9][\w.-]{0,63}) (?=[A-Za-z_][\w./@-]{0,63}\[\d+\]: ))",
    re.MULTILINE,
)
_PROMPT_SIGN = Pattern(
    r"(?<![\w.])(?:(?!root@)(?P<user>[a-z_][\w-]{0,31})|root)@(?P<host>[A-Za-z0-9][\w.-]{0,63}):[^\s$#]{0,100}[$#]"
    r"(?:\s|$)",
    re.MULTILINE,
)
_NAMED = Pattern(
    r"(?<![A-Za-z0-9])(?i:(?:\w{0,30}_)?(?:host_?name|node_?name|master_addr(?:ess)?|master_host|head_node|fqdn)"
    r"|node_host|host|data_parallel_address|--(?:master-addr(?:ess)?|data-parallel-address))"
    r"(?:\\*[\"'])?(?:\s?=\s?|:\s?(?=\\*[\"'])|\s{0,12}:\s{1,12}|\s)(?:\\*[\"'])?(?P<host>[A-Za-z0-9][\w-]{0,62}"
    r"(?:\.[\w-]{1,62}){0,8})(?![\w(\[/-]|\.\w)"
)
_KUBERNETES = Pattern(r"^[ \t]*Node:\s{1,24}(?P<host>[A-Za-z0-9][\w.-]{0,80})(?=/|\s*$)", re.MULTILINE)
_URL = Pattern(
    r"(?i)(?<![a-z0-9])(?:https?|wss?|tcp|udp|grpcs?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|ray"
    r"|nats|ldaps?|ssh|s?ftp|kafka|git|oci|docker)"
    r":(?:\\?/){2}(?:[^\s/@\"'<>]{0,200}@|<credentials-\d+>@)?(?P<host>[a-z0-9][\w-]{0,62}(?:\.[\w-]{1,62}){0,8})"
    r"(?![\w.]*\()"
)
_INSIDE_SUFFIXES = (".svc", ".lan", ".corp", ".intranet", ".local", ".internal")
_INSIDE = Pattern(
    r"(?i)(?<![\w./@-])(?P<host>(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}(?:svc|lan|corp|intranet|localdomain"
    r"|cluster\.local|local|internal))(?![\w(-]|\.\w)(?P<port>:\d{2,5}\b)?"
)
_TOP = r"(?:com|net|org|io|cloud|dev|ai|edu|gov|mil|eu|de|fr|uk|ch|cn|jp|kr|in|us|co)"
_REGISTRY = Pattern(
    rf"(?i)(?<![\w./@:\\-])(?P<host>(?:[a-z0-9][a-z0-9-]{{0,62}}\.){{1,6}}{_TOP})(?=:\d{{2,5}}\b|/[a-z0-9])",
)
_DOMAIN = Pattern(rf"\.{_TOP}(?::\d|/)")
_CLOUD = Pattern(r"(?i)(?<![\w-])(?P<host>(?:ip|ec2)-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[\w.-]{1,80})?)")
_POD = Pattern(r"-(?P<set>[a-f0-9]{8,10})-(?P<id>[bcdfghjklmnpqrstvwxz2456789]{5})(?![\w-])")
_DEPLOYMENT = Pattern(r"(?<![\w./-])[a-z0-9][a-z0-9-]{1,60}\Z")
_PUBLIC = Pattern(
    r"(?i)(?:.*\.)?(?:huggingface\.co|hf\.co|hf-mirror\.com|modelscope\.(?:cn|com)|github\.com"
    r"|githubusercontent\.com|github\.io|gitlab\.com|pytorch\.org"
    r"|vllm\.ai|python\.org|pypi\.org|pythonhosted\.org|pydantic\.dev|nvidia\.com|nvcr\.io|docker\.(?:io|com)"
    r"|ghcr\.io|quay\.io|mcr\.microsoft\.com"
    r"|gcr\.io|readthedocs\.(?:io|org)|kernel\.org|ray\.io|openai\.com|anthropic\.com|googleapis\.com|google\.com"
    r"|microsoft\.com|apache\.org|numpy\.org"
    r"|scipy\.org|w3\.org|ietf\.org|mozilla\.org|stackoverflow\.com|arxiv\.org|redhat\.com|ubuntu\.com|debian\.org"
    r"|example\.(?:com|org)|amazonaws\.com"
    r"|cuda|wikipedia\.org|json-schema\.org|fastapi\.tiangolo\.com|opentelemetry\.io|amd\.com|intel\.com|wandb\.ai"
    r"|kubernetes\.io|nvidia\.github\.io)"
)
_SITE = Pattern(
    r"(?i)(?:www|docs?|spec|wiki|developers?|download|errors|pip|learn|support|forums?|blog)\.[\w.-]+|[\w.-]+\.org"
)
_NOT_A_HOST = Pattern(
    r"(?i)localhost\S*|host(?:name)?|ip|port|server|none|null|true|false|unknown|auto|str|bool|int|float|list|dict"
    r"|any|self|cls|optional|or|and|is|to|of|for|in|not|with|memory|cpu|gpu|device"
    r"|\d+|.*\.(?:py|cc|cpp|cu|so|h|hpp|c|json|yaml|yml|log|sh)|kubernetes\.docker\.internal|host\.docker\.internal"
    r"|self\..*|args\..*"
)


def find_hosts(text: str, lower: str) -> Iterator[Span]:
    """Yield host, node and pod names, where a known form says that it is one."""
    patterns = [_JOURNAL] if ": " in text else []
    if "ip-" in lower or "ec2-" in lower:
        patterns.append(_CLOUD)
    if "nccl" in lower:
        patterns.append(_NCCL)
    if "]:" in text:
        patterns.append(_PEER)
    if "host" in lower or "node" in lower or "master" in lower or "fqdn" in lower:
        patterns += [_NAMED, _KUBERNETES]
    if "//" in text or "\\/" in text:
        patterns.append(_URL)
    if "@" in text:
        patterns.append(_PROMPT_SIGN)
    if "." in text and any(suffix in lower for suffix in _INSIDE_SUFFIXES):
        patterns.append(_INSIDE)
    if _DOMAIN.search(lower):
        patterns.append(_REGISTRY)
    for pattern in patterns:
        for match in pattern.finditer(text):
            group = "node" if match.groupdict().get("node") else "host"
            if _is_host(match, group, pattern):
                yield Span(*match.span(group), "host")
    if "-" in text:
        yield from _pods(text)


def _pods(text: str) -> Iterator[Span]:
    """Yield names such as `nemotron-7d9f8b6c5d-x2x4z`: deployment, replica set, pod."""
    for match in _POD.finditer(text):
        name = _DEPLOYMENT.search(text, max(0, match.start() - 60), match.start())
        if name and re.search(r"\d", match["id"] + match["set"]):
            yield Span(name.start(), match.end(), "pod")


def _is_host(match: re.Match[str], group: str, pattern: Pattern) -> bool:
    host = match[group]
    if pattern in (_NCCL, _JOURNAL, _PROMPT_SIGN, _KUBERNETES):  # always a host, whatever it is called
        return host != "localhost" and (
            pattern is not _NCCL or not re.fullmatch(r"[\d.:]+|\w+\.(?:py|cc|cpp|cu|h)", host)
        )
    if pattern is _URL and _SITE.fullmatch(host) and match.string[match.end(group) : match.end(group) + 1] != ":":
        return False
    if _NOT_A_HOST.fullmatch(host) or re.fullmatch(r"[\d.]+|\d+(?:\.\w+)+", host) or _PUBLIC.fullmatch(host):
        return False
    if pattern is _INSIDE:
        certain = host.lower().endswith((".svc", ".lan", ".corp", ".intranet", ".localdomain", "cluster.local"))
        return certain or bool(match["port"]) or bool(re.search(r"[\d-]", host))
    return pattern is not _NAMED or _is_named_host(match)


def _is_named_host(match: re.Match[str]) -> bool:
    """Tell whether the word after `host`, `node_name` … is a name: with a sign between, or not a plain word."""
    between = match.group()[: match.start("host") - match.start()]
    if between.startswith("--") or re.search(r"[=:\"']", between):
        return True
    return bool(re.search(r"\d", match["host"]) and re.search(r"[-.]", match["host"]))
