"""The table of token formats: secrets that are known by their own shape, whatever stands around them.

A rule is a kind (it names the placeholder), literal keywords in lower case (one must occur in the lower-cased text,
else the pattern is not tried, nor compiled), and the pattern; its group `secret`, or the whole match, is the secret.
Order matters only for the kind: of two rules that claim the same stretch the first names it.
Lengths are the documented ones, lower where test keys and truncated keys must be caught as well.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One token format."""

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    word: bool = False
    """Whether the token begins only where a word may begin; without it `task-…` would hold an `sk-` key."""


# Three or more characters of base64url with a digit or a capital among the first: no hyphenated English word.
_MIXED = r"(?=[A-Za-z0-9_-]{0,40}[0-9A-Z])"

TOKEN_RULES: tuple[Rule, ...] = (
    # https://huggingface.co/docs/hub/security-tokens: hf_ and 34 characters. Shorter than 20 would eat hf_overrides.
    Rule("hf-token", ("hf_",), r"hf_(?:oauth_)?[A-Za-z0-9]{20,}(?:\.[A-Za-z0-9_-]{20,}){0,2}"),
    Rule("hf-token", ("api_org_",), r"api_org_[A-Za-z0-9]{20,}"),
    # https://docs.anthropic.com/en/api: sk-ant-api03-…
    Rule("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{8,}"),
    # https://platform.openai.com/docs/api-reference/authentication: sk-…, sk-proj-…, sk-svcacct-…, sk-admin-…;
    # the same prefix serves OpenRouter (sk-or-v1-), DeepSeek, Langfuse (sk-lf-), LiteLLM and vLLM's documentation.
    Rule("api-key", ("sk-",), r"sk-" + _MIXED + r"[A-Za-z0-9_-]{6,}", word=True),
    Rule("api-key", ("sk-",), r"sk-[A-Za-z0-9_-]{20,}", word=True),
    # https://docs.stripe.com/keys: sk_live_, rk_test_, pk_live_, whsec_
    Rule("stripe-key", ("_live_", "_test_", "_prod_"), r"[spr]k_(?:live|test|prod)_[A-Za-z0-9]{8,}", word=True),
    Rule("stripe-key", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{16,}"),
    # https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
    Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{20,}"),
    Rule("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,}"),
    # https://docs.gitlab.com/security/tokens/#token-prefixes
    Rule(
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glcbt-", "glsoat-", "glimt-", "glagent-", "gloas-", "glffct-"),
        r"gl(?:pat|dt|rt|ptt|ft|cbt|soat|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{15,}",
    ),
    Rule("gitlab-token", ("gr1348941",), r"GR1348941[A-Za-z0-9_-]{15,}"),
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-prefixes
    Rule(
        "aws-key",
        ("akia", "asia", "abia", "acca", "a3t"),
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",
    ),
    # A secret access key has no prefix: 40 characters of base64 within reach of its key id or of the word aws.
    Rule(
        "aws-secret",
        ("akia", "asia", "aws"),
        r"(?i:akia[a-z0-9]{16}|asia[a-z0-9]{16}|aws)[^\n]{0,60}?(?<![A-Za-z0-9+/=])(?P<secret>(?=[a-z0-9+/]{0,39}[A-Z])"
        r"(?=[A-Z0-9+/]{0,39}[a-z])(?=[A-Za-z+/]{0,39}[0-9])[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
    ),
    Rule("aws-key", ("absk", "bedrock-api-key-"), r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=_-]{40,}"),
    # https://cloud.google.com/docs/authentication/api-keys; OAuth access, refresh and client secrets
    Rule("google-key", ("aiza",), r"AIza[A-Za-z0-9_-]{30,}"),
    Rule("google-key", ("gocspx-",), r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    Rule("google-key", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{20,}"),
    Rule("google-key", ("1//0",), r"(?<![\w/])1//0[A-Za-z0-9_-]{30,}"),
    # https://api.slack.com/concepts/token-types, https://api.slack.com/messaging/webhooks
    Rule("slack-token", ("xox", "xapp-"), r"(?:xox[a-z]|xapp)(?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    Rule(
        "webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9_/-]{8,})",
    ),
    Rule("webhook", ("/api/webhooks/",), r"/api/webhooks/(?P<secret>\d{8,}/[A-Za-z0-9_-]{20,})"),
    Rule("webhook", ("webhook.office.com/",), r"webhook\.office\.com/(?P<secret>[\w@/-]{20,})"),
    # https://datatracker.ietf.org/doc/html/rfc7519: header.payload.signature, each base64url; any part may be cut off
    Rule(
        "jwt", ("eyj",), r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{2,}){1,4}\.?|" + r"eyJ[A-Za-z0-9_-]{30,}", word=True
    ),
    # https://docs.nvidia.com/ngc/gpu-cloud/ngc-user-guide: personal keys nvapi-…; legacy keys are base64 of `id:uuid`
    Rule("nvidia-key", ("nvapi-",), r"nvapi-[A-Za-z0-9_-]{20,}"),
    # https://docs.npmjs.com/about-access-tokens, https://pypi.org/help/#apitoken, https://guides.rubygems.org/api-key-scopes
    Rule("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{20,}", word=True),
    Rule("pypi-token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{40,}|pypi-AgEI[A-Za-z0-9_-]{8,}"),
    Rule("token", ("rubygems_",), r"rubygems_[a-f0-9]{40,}"),
    # https://docs.docker.com/security/access-tokens
    Rule("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    # https://learn.microsoft.com/azure: client secrets (`…8Q~…`), storage account keys (88 characters), DevOps tokens
    Rule("azure-key", ("q~",), r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    Rule(
        "azure-key", ("==", "%3d%3d"), r"[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+=])|(?:[A-Za-z0-9]|%2[BFbf]){86}%3[Dd]%3[Dd]"
    ),
    Rule("azure-key", ("azdo",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    # https://www.twilio.com/docs/iam/api-keys, https://docs.sendgrid.com/ui/account-and-settings/api-keys, Mailgun,
    # Mailchimp
    Rule("twilio-key", ("sk", "ac"), r"(?:SK|AC)[0-9a-z]{32}(?![0-9A-Za-z])", word=True),
    Rule("sendgrid-key", ("sg.",), r"SG\.[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]{16,})?", word=True),
    Rule("mailgun-key", ("key-",), r"key-[0-9a-f]{32}(?![0-9a-f])", word=True),
    Rule("mailchimp-key", ("-us",), r"[0-9a-z]{32}-us\d{1,2}(?!\d)", word=True),
    # Model and GPU services: Groq, xAI, Perplexity, Replicate, Together, Fireworks, Tavily, LangSmith, RunPod,
    # Weights & Biases, Modal
    Rule("api-key", ("gsk_", "xai-", "pplx-"), r"(?:gsk_|xai-|pplx-)[A-Za-z0-9]{20,}", word=True),
    Rule("api-key", ("r8_", "tgp_v1_", "fw_"), r"(?:r8_|tgp_v1_|fw_)[A-Za-z0-9_-]{20,}", word=True),
    Rule(
        "api-key",
        ("tvly-", "lsv2_", "rpa_"),
        r"(?:tvly-(?:dev-|prod-)?|lsv2_(?:pt|sk)_|rpa_)[A-Za-z0-9_]{20,}",
        word=True,
    ),
    Rule("api-key", ("wandb_v1_",), r"wandb_v1_[A-Za-z0-9_]{20,}"),
    Rule("api-key", ("ak-", "as-", "wk-", "ws-"), r"(?:ak|as|wk|ws)-[A-Za-z0-9]{22}(?![A-Za-z0-9-])", word=True),
    # Prefixes from the documentation of: HashiCorp Vault and Terraform, Databricks, DigitalOcean, Doppler, Dynatrace,
    # Grafana, New Relic, Sentry, PlanetScale, Pulumi, Postman, Prefect, Tailscale, Linear, Notion, Figma, Shopify,
    # Square, Atlassian, Artifactory, Sonar, Sourcegraph, Supabase, Netlify, Fly, 1Password, age, Alibaba, Brevo
    Rule("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{20,}", word=True),
    Rule("token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    Rule("token", ("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?(?![0-9a-f])", word=True),
    Rule("token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{40,}", word=True),
    Rule("token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}", word=True),
    Rule("token", ("dt0",), r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", word=True),
    Rule("token", ("glc_", "glsa_"), r"gl(?:c|sa)_[A-Za-z0-9+/=_]{20,}", word=True),
    Rule("token", ("nrak-", "nrjs-", "nrii-", "nral"), r"(?:NRAK|NRJS|NRII)-[A-Za-z0-9_-]{19,}", word=True),
    Rule("token", ("sntry",), r"sntry[su]_[A-Za-z0-9_+/=]{20,}", word=True),
    Rule("token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{20,}", word=True),
    Rule(
        "token",
        ("pul-", "pnu_", "pmak-"),
        r"(?:pul-[0-9a-f]{40}|pnu_[A-Za-z0-9]{36}|PMAK-[0-9a-f]{24}-[0-9a-f]{34})",
        word=True,
    ),
    Rule("token", ("tskey-",), r"tskey-[a-z]+-[A-Za-z0-9-]{10,}", word=True),
    Rule("token", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}", word=True),
    Rule("token", ("ntn_", "secret_"), r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})", word=True),
    Rule("token", ("figd_", "shp"), r"(?:figd_[A-Za-z0-9_-]{30,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32})", word=True),
    Rule("token", ("sq0", "eaaa"), r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{56,})", word=True),
    Rule("token", ("atatt3", "atctt3", "atbb"), r"(?:AT[AC]TT3[A-Za-z0-9_=-]{40,}|ATBB[A-Za-z0-9]{24,})", word=True),
    Rule("token", ("akcp", "cmvmd"), r"(?:AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{59,})", word=True),
    Rule(
        "token",
        ("sqp_", "squ_", "sqa_", "sgp_"),
        r"(?:sq[pua]_[0-9a-f]{40}|sgp_(?:[A-Za-z0-9-]+_)?[0-9a-f]{40})",
        word=True,
    ),
    Rule(
        "token",
        ("sbp_", "sb_secret_", "nfp_", "fm2_"),
        r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}|nfp_\w{36,}|fm2_[\w+/=]{40,})",
        word=True,
    ),
    Rule(
        "token",
        ("ops_eyj", "a3-"),
        r"(?:ops_eyJ[A-Za-z0-9+/=]{40,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){2,5}[A-Z0-9]{5})",
        word=True,
    ),
    Rule("private-key", ("age-secret-key-",), r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    Rule("token", ("ltai",), r"LTAI[A-Za-z0-9]{12,}", word=True),
    Rule("token", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[0-9a-f]{40,}-[A-Za-z0-9]{16}"),
    Rule("token", ("hrku-",), r"HRKU-[A-Za-z0-9_-]{30,}", word=True),
    Rule("token", ("ezak", "eztk"), r"EZ[AT]K[A-Za-z0-9]{54}", word=True),
    # Adobe, Clojars, Duffel, Flutterwave, Frame.io, Infracost, ReadMe, Scalingo, SettleMint, Shippo, Typeform,
    # OpenShift, MaxMind, Meta, Yandex Cloud, Octopus, Cloudflare
    Rule(
        "token",
        ("p8e-", "clojars_", "ico-"),
        r"(?:p8e-[a-z0-9]{32}|CLOJARS_[a-z0-9]{60}|ico-[A-Za-z0-9]{32})",
        word=True,
    ),
    Rule("token", ("duffel_", "shippo_"), r"(?:duffel|shippo)_(?:live|test)_[\w=-]{40,}", word=True),
    Rule("token", ("flwseck", "flwpubk"), r"FLW(?:PUB|SEC)K(?:_TEST)?-[0-9A-Za-z]{12,}(?:-X)?", word=True),
    Rule("token", ("fio-u-", "tk-us-"), r"(?:fio-u|tk-us)-[\w=-]{48,}", word=True),
    Rule(
        "token",
        ("rdme_", "tfp_", "sm_"),
        r"(?:rdme_[a-z0-9]{70}|tfp_[\w.=-]{59}|sm_[aps]at_[A-Za-z0-9]{16})",
        word=True,
    ),
    Rule("token", ("sha256~", "_mmk"), r"(?:sha256~[\w-]{43}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)", word=True),
    Rule("token", ("eaam", "eaac", "aqvn"), r"(?:EAA[MC][A-Za-z0-9]{100,}|AQVN[\w-]{35,38})", word=True),
    Rule("token", ("t1.", "api-"), r"(?:t1\.[\w-]{4,}={0,2}\.[\w-]{86}={0,2}|API-[A-Z0-9]{26}(?![A-Z0-9]))", word=True),
    Rule("token", ("v1.0-",), r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", word=True),
    # Telegram bot tokens, Discord bot tokens: https://core.telegram.org/bots/api, https://discord.com/developers/docs
    Rule("token", (":aa",), r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    Rule(
        "token",
        ("mt", "nz", "od", "nd"),
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}",
        word=True,
    ),
    # https://datatracker.ietf.org/doc/html/rfc6750 and rfc7617, in headers and in prose; "bearer token" is no secret
    Rule(
        "bearer-token",
        ("bearer",),
        r"(?i:bearer)(?:[ \t]+|%20|\\u0020|:[ \t]*)(?P<secret>(?=[a-z._~+/-]{0,19}[0-9A-Z_])[\w.~+/=-]{6,}"
        r"|[\w.~+/=-]{20,})",
    ),
    Rule(
        "basic-auth",
        ("basic",),
        r"\b(?i:basic)(?:[ \t]+|%20)(?P<secret>(?=[a-z]{0,40}[0-9A-Z+/])[A-Za-z0-9+/]{8,}={1,2}|"
        r"(?=[a-z]{0,40}[0-9A-Z+/])[A-Za-z0-9+/]{12,})(?![\w-])",
    ),
)
