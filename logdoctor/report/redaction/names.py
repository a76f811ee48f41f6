"""Which names announce a secret: of arguments, variables, headers, JSON keys and query parameters."""

from __future__ import annotations

from functools import lru_cache

from .lazy import Pattern


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# vLLM speaks of tokens all day; these are tokens of text, not of access.
_TEXT_TOKENS = _words(
    "audio begin bos by cls decoder draft each end eos expert first generated image img input last mask max "
    "media min new next num number of out output pad per placeholder prompt sampled sep sequence single "
    "special start stop sub suffix target think thinking tool total unexpected unk video vision word"
)
_PLURAL_OWNERS = _words("access api auth bearer csrf hf refresh secret session")
_PAT_OWNERS = frozenset({"ado", "azure", "bitbucket", "devops", "gh", "git", "github", "gitlab"})
_KEY_OWNERS = _words(
    "access account admin aes api app application auth client consumer deploy encrypt encryption functions gpg "
    "hmac jwt license master ngc nvidia openai private root secret service session shared signing ssh storage "
    "subscription wandb webhook"
)
# `token_path`, `secretName`, `password_length` … say something about a secret and are none.
_ABOUT = _words(
    "budget class count dir directory enabled env expires expiry fd field file filename format hash header "
    "help id ids index keyfile len length limit mode name names path paths prefix provider py ref regex "
    "required service size size_limit source storage store suffix ttl type types uri url usage"
)
_FUSED = Pattern(
    r"(?:api|access|secret|private|account|signing|encryption|auth|master|license|subscription|sharedaccess"
    r"|pre?shared)key"
    r"|(?:auth|access|api|hf|hub|id|bearer|refresh|session|csrf|xsrf|github|gh|gitlab|bot|push|user|service"
    r"|security|sas)token"
)
_PART = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SOURCE_FILE = Pattern(
    r"\.(?:py|pyc|pyx|cc|cpp|cu|cuh|c|h|hpp|rs|go|js|ts|json|ya?ml|toml|so|txt|md|log|html|safetensors)$"
)

# Query parameters that are secret only in a URL: signatures of pre-signed links, OAuth codes, bare keys.
_QUERY = Pattern(
    r"(?:key|sig|signature|code|sid|session|hmac|policy|key-pair-id|awsaccesskeyid|googleaccessid|ticket|nonce"
    r"|x-(?:amz|goog)-(?:signature|credential|security-token)|hdnea|hdnts|skoid|assertion)"
)


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str:
    """Return the kind of secret that a value of this name is, or the empty text."""
    if _SOURCE_FILE.search(name):
        return ""
    parts = [match.group().lower() for match in _PART.finditer(name)]
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    if not parts:
        return ""
    flat = "".join(parts)
    if parts[-1] in _ABOUT and not flat.endswith(("accesskeyid", "sessionid")):
        return ""
    return _by_word(name, parts, flat) or _by_token(parts, flat)


def _by_word(name: str, parts: list[str], flat: str) -> str:
    """Judge names with a word that is always about a secret."""
    if "password" in flat or "passwd" in flat or "passphrase" in flat or parts[-1] in ("passcode", "passw", "psk"):
        return "password"
    if parts[-1] == "pwd" and name != "PWD" and name != "OLDPWD":
        return "password"
    if (
        parts[-1] == "pass"
        and (name.isupper() or parts[:-1] in (["user"], ["db"], ["proxy"], ["smtp"]))
        and len(parts) > 1
    ):
        return "password"
    if "apikey" in flat:
        return "api-key"
    if parts[-1].startswith("credential"):
        return "credentials"
    if "accesskey" in flat or "secretkey" in flat or "privatekey" in flat or parts[-1].startswith("secret"):
        return "secret"
    if parts[-1] == "key" and len(parts) > 1 and parts[-2] in _KEY_OWNERS:
        return "secret"
    if (
        parts[-1].startswith("authorization")
        or parts[-1] == "auth"
        or flat.endswith(("httpauth", "basicauth", "userpwd"))
    ):
        return "authorization"
    if parts[-1] in ("cookie", "cookies") or flat in ("sessionid", "jsessionid", "phpsessid"):
        return "cookie"
    if flat.endswith(("connectionstring", "connstring", "connstr", "dsn")):
        return "connection-string"
    if parts[-1] in ("salt", "jwt", "bearer", "totp") or (
        parts[-1] == "pat" and parts[-2:-1] and parts[-2] in _PAT_OWNERS
    ):
        return "jwt" if parts[-1] == "jwt" else "secret"
    return "secret" if "secret" in parts else ""


def _by_token(parts: list[str], flat: str) -> str:
    """Judge names that end in `token`, or are written in one word."""
    hub = "hf-token" if flat.startswith("hf") or "huggingface" in flat else "token"
    if parts[-1] == "token":
        return "" if len(parts) > 1 and parts[-2] in _TEXT_TOKENS else hub
    if parts[-1] == "tokens" and len(parts) > 1 and parts[-2] in _PLURAL_OWNERS:
        return hub
    if (match := _FUSED.search(flat)) and flat.endswith((match.group(), match.group() + "s")):
        return "token" if match.group().endswith("token") else "secret"
    return ""


def kind_of_query(name: str) -> str:
    """Return the kind of secret that a URL's query parameter of this name is, or the empty text."""
    kind = kind_of_name(name)
    return kind or ("url-signature" if _QUERY.fullmatch(name.lower()) else "")
