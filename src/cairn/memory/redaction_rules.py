# ruff: noqa: E501 - a rule is a row
"""Secrets that are recognised by their shape or by the words around them: one row each.

The shapes are what the providers document about their keys. Patterns are RE2's, so none can take more than linear time. They
run over one byte for each character: see `redaction.mask`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import NamedTuple

from cairn.memory.secret_values import is_placeholder, looks_random


class SecretRule(NamedTuple):
    """How one kind of secret looks.

    Args:
        kind: what stands in its place, in `[redacted: KIND]`.
        needs: lower-case words, divided by spaces; where none of them is in the text, the pattern is not tried.
        pattern: the secret is its first group, or the whole match if it has none.
        check: whether what the pattern found is a secret.
    """

    kind: str
    needs: str
    pattern: str
    check: Callable[[str], bool]


def _is_varied(secret: str) -> bool:
    """Whether it is more than a prefix with `xxxx` or `...` behind it."""
    return len(set(secret[-24:])) >= 6 and "xxxxxx" not in secret.lower()


def _is_given(secret: str) -> bool:
    return not is_placeholder(secret)


def _basic(secret: str) -> bool:
    """Whether it is base64 of a name and a password."""
    try:
        decoded = base64.b64decode(secret + "=" * (-len(secret) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and not is_placeholder(decoded.decode().split(":", 1)[1])


def _encoded(secret: str) -> bool:
    """Whether it is base64 of a key, which begins as keys do."""
    try:
        decoded = base64.b64decode(secret + "=" * (-len(secret) % 4), validate=True)
    except binascii.Error:
        return False
    return decoded.isascii() and decoded.decode().isprintable() and _is_varied(decoded.decode())


def _is_whole(length: int) -> Callable[[str], bool]:
    """Return what tells whether a key on two lines has so many characters."""
    return lambda secret: len("".join(secret.split())) == length and _is_varied(secret)


def _session(secret: str) -> bool:
    """Whether one of the cookies carries what only its owner may know."""
    values = [part.partition("=")[2].strip() for part in secret.split(";")]
    return any(looks_random(value) and not is_placeholder(value) for value in values)


def _digits_in(secret: str) -> bool:
    return _is_given(secret) and (looks_random(secret) or any(letter in "0123456789!#$%^*" for letter in secret))


def _login(secret: str) -> bool:
    return _is_given(secret) and not secret.startswith(("-", "/", "<", "$"))


def _with_slash(secret: str) -> bool:
    """Whether it is a password that nobody encoded for its URL, and not a port and a path."""
    number, slash, _ = secret.partition("/")
    return bool(slash) and not number.isdigit() and any(map(str.isdigit, secret)) and _is_given(secret)


def _is_mnemonic(secret: str) -> bool:
    return len(set(secret.replace(",", " ").split())) >= 8


_L = r"(?:\b|_|%[0-9A-Fa-f]{2})"  # what may stand before a key: no letter or digit, but %3D may
_HEX = "[0-9a-f]"
_WORD = "[0-9A-Za-z]"
_URL = "[0-9A-Za-z_-]"
_B64 = "[0-9A-Za-z+/]"
_UUID = f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"


# The beginnings of keys in base64: of `ghp_`, `gho_`, `ghs_`, `github_pat_`, `AKIA`, `sk-ant-`, `sk-proj-` and so on.
_ENCODED = "Z2hwX|Z2hvX|Z2hzX|Z2l0aHViX3BhdF|QUtJQ|c2stYW50L|c2stcHJvai|c2tfbGl2ZV|Z2xwYXQt|eG94Yi"


def _key(kind: str, prefix: str, rest: str, needs: str = "") -> SecretRule:
    """Return the rule of keys that begin with a fixed prefix."""
    return SecretRule(kind, (needs or prefix).lower(), f"{_L}({prefix}{rest})", _is_varied)


_SHAPES = (
    _key("aws-access-key", "(?:AKIA|ASIA|ABIA|ACCA)", r"[A-Z2-7]{16})\b(?:", "akia asia abia acca"),
    SecretRule("aws-secret-key", "akia asia", rf"\b(?:AKIA|ASIA)[A-Z2-7]{{16}}[^0-9A-Za-z]{{1,12}}({_B64}{{40}})\b", _is_varied),
    _key("aws-session-token", "(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)", "[0-9A-Za-z+/=_-]{50,}", "fwogzxivyxdz iqojb3jpz2lu"),
    _key("aws-bedrock-key", "ABSK", f"{_B64}{{100,}}={{0,2}}"),
    _key("azure-key", "", f"{_B64}{{30,80}}(?:AIoT|[+]ASt|[+]ASb|[+]AEh|[+]ARm|AzSe|AzFu|AzCa|[+]ACR|ACDb|APIM|[+]ABa|AzEG)"
         f"{_B64}{{5,8}}={{0,2}}", "aiot +ast +asb +aeh +arm azse azfu azca +acr acdb apim +aba azeg"),
    _key("azure-client-secret", "[0-9A-Za-z_~.]{3}[0-9]Q~", "[0-9A-Za-z_~.-]{31,34}", "q~"),
    _key("azure-devops-token", "", f"{_WORD}{{76}}AZDO{_WORD}{{4}}", "azdo"),
    SecretRule("azure-signature", "sig=", r"[?&;\s\"']sig=([0-9A-Za-z%+/]{40,}(?:%3D|=){0,2})", _is_varied),
    _key("google-api-key", "AIza", f"{_URL}{{35}}"),
    _key("google-token", r"ya29\.", "[0-9A-Za-z_.-]{20,}", "ya29."),
    _key("google-client-secret", "GOCSPX-", f"{_URL}{{24,}}"),
    _key("google-refresh-token", "1//0", f"{_URL}{{30,}}"),
    _key("github-token", "gh[pousr]_", "[0-9A-Za-z_.-]{36,}", "ghp_ gho_ ghu_ ghs_ ghr_"),
    _key("github-token", "github_pat_", "[0-9A-Za-z_]{22,}"),
    _key("gitlab-token", "gl(?:pat|dt|rt|rtr|ptt|ft|imt|agent|oas|cbt|soat|ffct|wt)-", r"[0-9A-Za-z_.=-]{20,}",
         "glpat- gldt- glrt- glrtr- glptt- glft- glimt- glagent- gloas- glcbt- glsoat- glffct- glwt-"),
    _key("gitlab-token", "GR1348941", f"{_URL}{{20,}}"),
    _key("slack-token", r"xox[abceoprs](?:\.xox[bp])?-", f"{_URL}{{10,}}", "xox"),
    _key("slack-token", "xapp-", r"[0-9]-[0-9A-Za-z-]{20,}"),
    SecretRule("slack-webhook", "hooks.slack.com",
         rf"hooks\.slack\.com/(?:services|workflows|triggers)/({_WORD}{{8,}}/{_WORD}{{6,}}/[0-9A-Za-z/]{{16,}})", _is_varied),
    _key("stripe-key", "(?:sk|rk)_(?:live|test|prod)_", f"{_WORD}{{16,}}", "k_live_ k_test_ k_prod_"),
    _key("webhook-secret", "whsec_", "[0-9A-Za-z+/=]{24,}"),
    _key("anthropic-key", "sk-ant-", f"{_URL}{{20,}}"),
    _key("openrouter-key", "sk-or-", f"{_URL}{{32,}}"),
    _key("openai-key", "sk-(?:proj|svcacct|admin|None|lf|service)-", f"{_URL}{{20,}}", "sk-"),
    _key("openai-key", "sk-", f"{_WORD}{{32,}}"),
    _key("hugging-face-token", "hf_", "[0-9A-Za-z]{30,}"),
    _key("hugging-face-token", "api_org_", "[A-Za-z]{30,}"),
    _key("npm-token", "npm_", f"{_WORD}{{36}}"),
    _key("pypi-token", "pypi-", f"{_URL}{{50,}}"),
    _key("rubygems-key", "rubygems_", f"{_HEX}{{48}}"),
    _key("crates-token", "cio", f"{_WORD}{{32}}\\b"),
    _key("nuget-key", "oy2", "[0-9a-z]{43}\\b"),
    _key("clojars-token", "CLOJARS_", "[0-9a-z]{60}"),
    _key("docker-token", "dckr_(?:pat|oat)_", f"{_URL}{{24,}}", "dckr_"),
    _key("docker-swarm-token", "SWMTKN-1-", "[0-9a-z]{40,}-[0-9a-z]{20,}"),
    _key("twilio-key", "SK", f"{_HEX}{{32}}\\b"),
    _key("sendgrid-key", r"SG\.", rf"{_URL}{{20,24}}\.{_URL}{{39,50}}", "sg."),
    _key("mailgun-key", "key-", f"{_HEX}{{32}}\\b"),
    _key("mailgun-key", "", f"{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}\\b", "-"),
    _key("mailchimp-key", "", f"{_HEX}{{32}}-us[0-9]{{1,2}}\\b", "-us"),
    _key("brevo-key", "x(?:keysib|smtpsib)-", f"{_HEX}{{64}}-{_WORD}{{16}}", "xkeysib- xsmtpsib-"),
    _key("resend-key", "re_", f"{_WORD}{{8}}_{_WORD}{{24}}"),
    _key("telegram-token", "(?:bot)?", f"[0-9]{{8,10}}:AA{_URL}{{32,33}}", ":aa"),
    _key("discord-token", "[MNO]", rf"{_URL}{{22,27}}\.{_URL}{{6,7}}\.{_URL}{{27,40}}", "."),
    _key("discord-token", r"mfa\.", f"{_URL}{{60,}}", "mfa."),
    SecretRule("discord-webhook", "/api/webhooks/", f"discord(?:app)?\\.com/api/webhooks/[0-9]+/({_URL}{{50,}})", _is_varied),
    SecretRule("teams-webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/([0-9A-Za-z@/-]{60,})", _is_varied),
    SecretRule("zapier-webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/([0-9]+/[0-9a-z]{5,})", _is_given),
    _key("shopify-token", "shp(?:at|ca|pa|ss|ua|tka)_", "[0-9A-Fa-f]{32}", "shpat_ shpca_ shppa_ shpss_ shpua_ shptka_"),
    _key("square-token", "sq0(?:atp|csp)-", f"{_URL}{{22,}}", "sq0"),
    _key("square-token", "EAAA", f"{_URL}{{60}}\\b"),
    _key("facebook-token", "EAA", f"{_WORD}{{80,}}"),
    _key("digitalocean-token", "do[opr]_v1_", f"{_HEX}{{64}}", "_v1_"),
    _key("newrelic-key", "NR(?:AK|II|RA|JS|IQ)-", f"{_URL}{{19,}}", "nrak- nrii- nrra- nrjs- nriq-"),
    _key("newrelic-key", "", f"(?:eu01xx)?{_HEX}{{30,36}}(?:NRAL|FFFFNRAL)", "nral"),
    _key("heroku-key", "HRKU-", f"{_URL}{{36,}}"),
    _key("vault-token", r"hv[sbr]\.", f"{_URL}{{24,}}", "hvs. hvb. hvr."),
    _key("terraform-token", "", rf"{_WORD}{{14}}\.atlasv1\.{_URL}{{60,}}", ".atlasv1."),
    _key("databricks-token", "dapi", f"{_HEX}{{32}}(?:-[0-9])?\\b"),
    _key("cloudflare-key", r"v1\.0-", f"{_HEX}{{24}}-{_HEX}{{100,}}", "v1.0-"),
    _key("cloudflare-key", "cf(?:ut|at|k)_", f"{_WORD}{{40,}}", "cfut_ cfat_ cfk_"),
    _key("age-key", "AGE-SECRET-KEY-(?:PQ-)?1", "[0-9A-Za-z]{50,}", "age-secret-key-"),
    _key("jwt", "eyJ", rf"{_URL}{{10,}}\.eyJ{_URL}{{10,}}(?:\.[0-9A-Za-z_-]*)?"),
    _key("jwt", "eyJ", rf"{_URL}{{10,}}\.{_URL}*\.{_URL}{{8,}}\.{_URL}{{8,}}\.{_URL}{{8,}}"),
    _key("mapbox-token", r"[st]k\.eyJ", rf"{_URL}{{30,}}\.{_URL}{{16,}}", "k.eyj"),
    _key("linear-key", "lin_(?:api|oauth)_", f"{_WORD}{{32,}}", "lin_"),
    _key("notion-token", "(?:ntn_|secret_)", f"{_WORD}{{40,}}", "ntn_ secret_"),
    _key("figma-token", "fig(?:d|o|u|or)_", f"{_URL}{{32,}}", "fig"),
    _key("atlassian-token", "AT(?:ATT|CTT|STT|BB|TA)", r"[0-9A-Za-z_=-]{28,}", "atatt atctt atstt atbb atta"),
    _key("asana-token", "[0-2]/[0-9]{16}", f"(?:/[0-9]{{16}})?:{_HEX}{{32}}\\b", "/"),
    _key("airtable-token", "pat", rf"{_WORD}{{14}}\.{_HEX}{{64}}"),
    _key("postman-key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    _key("grafana-token", "gl(?:sa|c)_", r"[0-9A-Za-z+/_=]{32,}", "glsa_ glc_"),
    _key("sentry-token", "sntry[su]_", r"[0-9A-Za-z+/=_-]{40,}", "sntry"),
    _key("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[0-9A-Za-z_.-]{40,}", "dp."),
    _key("1password-token", "ops_eyJ", f"{_URL}{{50,}}"),
    _key("1password-key", "A3-", "[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}"),
    _key("pulumi-token", "pul-", f"{_HEX}{{40}}"),
    _key("fly-token", "(?:FlyV1 )?fm[12][a-z]?_", r"[0-9A-Za-z+/=_,-]{40,}", "fm1 fm2"),
    _key("fly-token", "fo1_", f"{_URL}{{40,}}"),
    _key("supabase-key", "sb(?:p|_secret)_", f"{_URL}{{30,}}", "sbp_ sb_secret_"),
    _key("planetscale-token", "pscale_(?:tkn|pw|oauth)_", r"[0-9A-Za-z_.-]{30,}", "pscale_"),
    _key("neon-key", "napi_", f"{_WORD}{{40,}}"),
    _key("netlify-token", "nfp_", f"{_WORD}{{36,}}"),
    _key("vercel-token", "vc[pikar]_", f"{_WORD}{{24,}}", "vcp_ vci_ vck_ vca_ vcr_"),
    _key("render-key", "rnd_", f"{_WORD}{{28,}}"),
    _key("replicate-token", "r8_", f"{_WORD}{{37}}"),
    _key("groq-key", "gsk_", f"{_WORD}{{40,}}"),
    _key("xai-key", "xai-", f"{_WORD}{{60,}}"),
    _key("perplexity-key", "pplx-", f"{_WORD}{{40,}}"),
    _key("langsmith-key", "lsv2_(?:pt|sk)_", f"{_HEX}{{32}}_{_HEX}{{10}}", "lsv2_"),
    _key("tavily-key", "tvly-", f"{_URL}{{24,}}"),
    _key("firecrawl-key", "fc-", f"{_HEX}{{32}}\\b"),
    _key("pinecone-key", "pcsk_", f"{_URL}{{40,}}"),
    _key("elevenlabs-key", "sk_", f"{_HEX}{{48}}\\b"),
    _key("sourcegraph-token", "sgp_", f"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}"),
    _key("circleci-token", "CCIP(?:AT|RJ)_", r"[0-9A-Za-z_]{30,}", "ccipat_ cciprj_"),
    _key("buildkite-token", "bk(?:ua|aj|ct)_", f"{_WORD}{{40}}", "bkua_ bkaj_ bkct_"),
    _key("sonarqube-token", "sq[pua]_", f"{_HEX}{{40}}", "sqp_ squ_ sqa_"),
    _key("artifactory-key", "(?:AKCp|cmVmdGtu)", f"{_WORD}{{50,}}", "akcp cmvmdgtu"),
    _key("dynatrace-token", r"dt0[a-z][0-9]{2}\.", r"[0-9A-Z]{24}\.[0-9A-Z]{64}", "dt0"),
    _key("twitter-token", "A{18,22}", r"[0-9A-Za-z%]{30,}", "aaaaaaaaaaaaaaaaaa"),
    _key("dropbox-token", r"sl\.(?:u\.)?", f"{_URL}{{60,}}", "sl."),
    _key("typeform-token", "tfp_", r"[0-9A-Za-z_.-]{40,}"),
    _key("hubspot-token", "pat-(?:na|eu|ap)[0-9]-", _UUID, "pat-"),
    _key("plaid-token", "access-(?:sandbox|development|production)-", _UUID, "access-"),
    _key("paypal-token", r"access_token\$(?:production|sandbox)\$", rf"[0-9a-z]{{16}}\${_HEX}{{32}}", "access_token$"),
    _key("flutterwave-key", "FLWSECK(?:_TEST)?-", "[0-9A-Za-z]{12,}(?:-X)?", "flwseck"),
    _key("easypost-key", "EZ[AT]K", f"{_WORD}{{54}}", "ezak eztk"),
    _key("shippo-token", "shippo_(?:live|test)_", f"{_HEX}{{40}}", "shippo_"),
    _key("duffel-token", "duffel_(?:live|test)_", f"{_URL}{{40,}}", "duffel_"),
    _key("contentful-token", "CFPAT-", f"{_URL}{{40,}}"),
    _key("alibaba-key", "LTAI", f"{_WORD}{{12,26}}\\b"),
    _key("tencent-key", "AKID", f"{_WORD}{{32}}\\b"),
    _key("yandex-key", "(?:AQVN|y0_|t1\\.9eu)", f"{_URL}{{34,}}", "aqvn y0_ t1.9eu"),
    _key("tailscale-key", "tskey-(?:auth|api|client|scim|webhook)-", r"[0-9A-Za-z-]{16,}", "tskey-"),
    _key("infracost-key", "ico-", f"{_WORD}{{32}}\\b"),
    _key("prefect-key", "pn[ub]_", f"{_WORD}{{36}}\\b", "pnu_ pnb_"),
    _key("readme-key", "rdme_", "[0-9a-z]{70}"),
    _key("wakatime-key", "waka_", _UUID),
    _key("openshift-token", "sha256~", f"{_URL}{{40,}}"),
    _key("adobe-secret", "p8e-", f"{_WORD}{{32}}\\b"),
    _key("frameio-token", "fio-u-", f"{_URL}{{60,}}"),
    _key("lob-key", "(?:live|test)_", f"(?:pub_)?{_HEX}{{31,35}}\\b", "live_ test_"),
    _key("sidekiq-key", "[0-9a-f]{8}:", f"{_HEX}{{8}}@(?:gems|enterprise)\\.contribsys\\.com", "contribsys.com"),
    _key("laravel-key", "base64:", f"{_B64}{{43}}="),
    _key("encoded-private-key", "(?:LS0tLS1CRUdJTiBSU0EgUFJJVkFURS|LS0tLS1CRUdJTiBQUklWQVRF|LS0tLS1CRUdJTiBFQyBQUklWQVRF|"
         "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg|LS0tLS1CRUdJTiBFTkNSWVBURU|LS0tLS1CRUdJTiBEU0EgUFJJVkFURS)", r"[0-9A-Za-z+/=]{20,}",
         "ls0tls1crudjti"),
    SecretRule("encoded-key", "z2hwx z2hvx z2hzx z2l0ahvix3bhd qutjq c2stywn0 c2stchjvai c2tfbgl2zv z2xwyxqt eg94yi", rf"\b((?:{_ENCODED}){_B64}{{24,}}={{0,2}})", _encoded),
    SecretRule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"\b(gh[pousr]_{_WORD}{{6,35}}\n[ \t]*{_WORD}{{1,30}})\b", _is_whole(40)),
    SecretRule("aws-access-key", "akia asia", r"\b(A[KS]IA[A-Z2-7]{4,15}\n[ \t]*[A-Z2-7]{1,12})\b", _is_whole(20)),
)  # fmt: skip

_VALUE = r"""['"`]?([^\s'"`<>\x00]{4,})"""

_CONTEXTS = (
    SecretRule("url-password", "://", r"""[A-Za-z][0-9A-Za-z+.-]*://[^\s/:@"'`<>\x00]*:([^\s/"'`<>\x00]+)@[0-9A-Za-z\[{$_]""", _is_given),
    SecretRule("url-password", "://", r"""[A-Za-z][0-9A-Za-z+.-]*://[^\s/:@"'`<>\x00]*:([^\s@"'`<>\x00]{4,200})@[0-9A-Za-z\[]""", _with_slash),
    SecretRule("url-password", "://", rf"://({_URL}{{20,}})(?::x-oauth-basic)?@[0-9A-Za-z]", looks_random),
    SecretRule("url-password", "jdbc:", r"jdbc:oracle:[a-z]+:[0-9A-Za-z_]+/([^\s@/\"']+)@", _is_given),
    SecretRule("authorization", "authorization", r"""(?i)authorization\\?["'`]?\]?\)?\s*(?:[:=,]|=>)+\s*(?:[rbf]?\\?["'`])?(?:(?:bearer|basic|token|"""
         r"""apikey|api-key|key|bot|negotiate|digest|oauth|genie-?key|splunk|sso-key|klaviyo-api-key|discogs token=)[ :=]\s*)?"""
         r"""(?:username=[^\s,]+,\s*)?([^\s'"`,;(){}<>\[\]\\\x00]{6,})""", looks_random),
    SecretRule("authorization", "digest", r"""(?i)digest\s[^\n\x00]{0,200}?\bresponse=\\?"([0-9a-f]{32,})""", _is_varied),
    SecretRule("authorization", "signature=", r"(?i)aws4-hmac-sha256[^\n\x00]*?signature=([0-9a-f]{64})", _is_varied),
    SecretRule("signature", "x-amz-signature= x-goog-signature=", r"(?i)x-(?:amz|goog)-signature=([0-9a-f]{64,})", _is_varied),
    SecretRule("authorization", "bearer", r"(?i)\bbearer[ :]\s*([0-9A-Za-z_.~+/-]{12,}=*)", looks_random),
    SecretRule("authorization", "basic", r"(?i)\bbasic\s+([0-9A-Za-z+/]{8,}={0,2})", _basic),
    SecretRule("cookie", "cookie", r"""(?i)\bcookie2?\\?["'`]?\]?\s*(?:[:,]|=>)\s*[rbf]?\\?["'`]?([0-9A-Za-z_.$-]{1,64}=[^\n"'`\\\x00]{6,})""", _session),
    SecretRule("cookie", "-b cookie", r"""\bcurl\b[^\n\x00]{0,300}?\s(?:-b|--cookie)[ =]?["']?([0-9A-Za-z_.-]{1,64}=[^\n"'\x00]{6,})""", _session),
    SecretRule("command-password", "mysql maria", r"""\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)\b[^\n|\x00]{0,200}?\s-p(['"]?[^\s'"\x00-]['"]?[^\s'"\x00]{2,})""", _login),
    SecretRule("command-password", "scp ssh ftp rsync", r"""\b(?:scp|ssh|s?ftp|rsync)\s[^\n|\x00]{0,200}?\b[A-Za-z_][\w.-]*:([^\s:@/"'\x00]{4,})@[\w.-]+""", _digits_in),
    SecretRule("command-password", "sshpass", rf"\bsshpass\s+(?:-v\s+)?-p\s*{_VALUE}", _login),
    SecretRule("command-password", "login", rf"\b(?:docker|podman|oras|helm|az|oc|skopeo|nerdctl|crane|acr)\b[^\n|\x00]{{0,60}}?\slogin\b[^\n|\x00]{{0,200}}?\s-p[ =]{_VALUE}", _login),
    SecretRule("command-password", "curl", r"""\bcurl\b[^\n|\x00]{0,300}?\s(?:-[a-zA-Z]*u|--user|--proxy-user|-U)[ =]?["']?[^\s:"'$\x00]*:([^\s"'\x00]{2,})""", _login),
    SecretRule("command-password", "curl", r"""\bcurl\b[^\n|\x00]{0,300}?\s(?:-[a-zA-Z]*u|--user|--proxy-user|-U)[ =]?(?:["'][^\s:"'$\x00]*:|[^\s:"'$\x00]*:["'])([^"'\n\x00]{2,80})["']""", _login),
    SecretRule("command-password", "http https", r"""(?:^|\s)https?\s[^\n|\x00]{0,200}?(?:-a|--auth)[ =]["']?[^\s:"'$\x00]+:([^\s"'\x00]{2,})""", _login),
    SecretRule("command-password", "htpasswd", rf"\bhtpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+[^\s\x00]+\s+[^\s\x00]+\s+{_VALUE}", _login),
    SecretRule("command-password", "redis", rf"\b(?:redis-cli|redis-benchmark|valkey-cli)\b[^\n|\x00]{{0,200}}?\s(?:-a|--pass)[ =]{_VALUE}", _login),
    SecretRule("command-password", "ldap", rf"\bldap(?:search|add|modify|delete|whoami|passwd)\b[^\n|\x00]{{0,200}}?\s-w\s+{_VALUE}", _login),
    SecretRule("command-password", "pass:", r"""(?i)-pass(?:in|out)?\s+["']?pass:([^\s"'\x00]{2,})""", _login),
    SecretRule("command-password", "openssl", rf"\bopenssl\s+enc\b[^\n|\x00]{{0,200}}?\s-k\s+{_VALUE}", _login),
    SecretRule("command-password", "openssl", rf"\bopenssl\s+passwd\s+(?:-(?:salt\s+[^\s\x00]+|[0-9]|crypt|apr1|aixmd5|quiet|noverify|table)\s+)*{_VALUE}", _digits_in),
    SecretRule("command-password", "zip", rf"\b(?:un)?zip\b[^\n|\x00]{{0,100}}?\s-P\s*{_VALUE}", _login),
    SecretRule("command-password", "7z", rf"\b7za?\s[^\n|\x00]{{0,100}}?\s-p{_VALUE}", _login),
    SecretRule("command-password", "smbclient", r"""\bsmbclient\b[^\n|\x00]{0,200}?\s-U\s+["']?[^\s%"'\x00]+%([^\s"'\x00]{3,})""", _login),
    SecretRule("command-password", "sqlcmd bcp", rf"\b(?:sqlcmd|bcp)\b[^\n|\x00]{{0,200}}?\s-P\s*{_VALUE}", _login),
    SecretRule("command-password", "mongo", rf"\bmongo(?:sh|dump|restore|import|export)?\b[^\n|\x00]{{0,200}}?\s-p\s+{_VALUE}", _login),
    SecretRule("command-password", "keytool jarsigner", rf"\b(?:keytool|jarsigner)\b[^\n|\x00]{{0,300}}?\s-(?:store|key|new|src|deststore)pass\s+{_VALUE}", _login),
    SecretRule("command-password", "sudo", r"""\becho\s+(?:-n\s+)?["']?([^\s"'|$\x00]{4,})["']?\s*\|\s*sudo\s+(?:-[a-zA-Z]+\s+)*-S""", _login),
    SecretRule("command-password", "-stdin", r"""\becho\s+(?:-n\s+)?["']?([^\s"'|$\x00]{4,})["']?\s*\|[^\n|]{0,100}--(?:password|token)-stdin""", _login),
    SecretRule("command-password", "--with-token", r"""\becho\s+(?:-n\s+)?["']?([^\s"'|$\x00]{8,})["']?\s*\|[^\n|]{0,100}--with-token""", _login),
    SecretRule("command-password", "chpasswd", r"""\becho\s+(?:-n\s+)?["']?[0-9A-Za-z_-]+:([^\s"'|$\x00]{4,})["']?\s*\|\s*(?:sudo\s+)?chpasswd""", _login),
    SecretRule("command-password", "net", rf"(?i)\bnet\s+use\s[^\n|\x00]{{0,80}}?/user:[^\s\x00]+\s+{_VALUE}", _login),
    SecretRule("command-password", "vault", rf"\bvault\s+login\s+(?:token=)?{_VALUE}", looks_random),
    SecretRule("command-password", "git config", rf"(?i)\b(?:git|npm|yarn|pnpm|gcloud|aws|heroku|poetry|pip|gh|fly)\s[^\n|\x00]{{0,60}}?\b(?:config|configure)\s[^\n|\x00]{{0,60}}?"
         rf"(?:token|secret|password|_auth|access[_-]key|key)[a-z_.-]*[ =]{_VALUE}", looks_random),
    SecretRule("login-password", "auth", r"""(?i)\b[a-z]*(?:auth|credentials?)(?:\s*[=:]\s*)?[(\[]\s*["'][^"'\n\x00]{1,64}["']\s*,\s*["']([^"'\s\x00]{4,})["']\s*[)\]]""", _digits_in),
    SecretRule("login-password", "password", r"""(?i)passw(?:or)?d['"\]]{0,3}\)\s*\.(?:type|fill|send_?keys|clear_and_type|set|val)\(\s*["']([^"'\s\x00]{4,})["']""", _digits_in),
    SecretRule("password", "password passphrase passcode", r"""(?i)\b(?:use|with|set|try|enter|type|is)\s+["'`]?([^\s"'`\x00]{4,100})["'`]?\s+as\s+(?:(?:the|a|my|your|our|its)\s+)?(?:[a-z]+\s+)?(?:password|passphrase|passcode)\b""", _digits_in),
    SecretRule("password", "/pass /pw", r"""(?i)\b(?:user(?:name)?|login|account) ?/(?:pass(?:word)?|pw|pwd) *(?:is|are|[:=]) *["'`]?[^\s/"'`\x00]{1,60} ?/ ?([^\s"'`,;\x00]{4,100})""", _is_given),
    SecretRule("dsn-password", "@tcp( @unix(", r"""\b[A-Za-z_][\w.-]*:([^\s@"'`\x00]{1,100})@(?:tcp|unix)\(""", _is_given),
    SecretRule("netrc-password", "machine", r"\bmachine\s+[^\s\x00]+\s+login\s+[^\s\x00]+\s+password\s+([^\s\x00]+)", _is_given),
    SecretRule("pgpass-password", ":", r"(?m)(?:^|\s)[0-9A-Za-z_.*-]+:(?:[0-9]{2,5}|\*):[0-9A-Za-z_*-]+:[A-Za-z*][0-9A-Za-z_*-]*:([^\s:/\x00]{4,})[ \t\r]*$", _digits_in),
    SecretRule("sql-password", "identified", r"(?i)\bidentified\s+(?:with\s+[0-9A-Za-z_]+\s+)?by\s+(?:password\s+)?[\"']([^\"'\n\x00]+)", _is_given),
    SecretRule("sql-password", "password", r"(?i)\b(?:role|user|login|with|encrypted|set)\s+(?:[0-9A-Za-z_\"]+\s+)?(?:(?:with|encrypted|login)\s+)*password\s*(?:=\s*)?'([^'\n\x00]+)", _is_given),
    SecretRule("password-hash", "$1$ $2 $5$ $6$ $y$ $apr1$ $argon2", r"(\$(?:(?:1|apr1)\$[./0-9A-Za-z]{1,8}\$[./0-9A-Za-z]{22}|2[abxy]\$[0-9]{2}\$[./0-9A-Za-z]{53}|(?:[56]|y)\$(?:[0-9A-Za-z=./]{1,40}\$){1,2}[./0-9A-Za-z]{43,86}|argon2(?:id|i|d)\$[0-9A-Za-z+/=,$]{40,200}))", _is_varied),
    SecretRule("seed-phrase", "phrase mnemonic seed", r"""(?i)\b(?:mnemonic|seed|(?:seed|recovery|secret|backup)[ _-]?(?:phrase|words))[\\"']{0,3}(?:\s+is)?\s*[:=]?>?\s*[\\"'`]{0,3}([a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})""", _is_mnemonic),
    SecretRule("jwk-private-key", '"kty"', rf"\\?\"(?:d|p|q|dp|dq|qi|k)\\?\"\s*:\s*\\?\"({_URL}{{20,}})", _is_varied),
    SecretRule("netscape-cookie", "\ttrue\t \tfalse\t", r"\t(?:TRUE|FALSE)\t[^\t\n]*\t(?:TRUE|FALSE)\t[0-9]+\t[^\t\n]+\t([^\s]{8,})", looks_random),
)  # fmt: skip

RULES = _SHAPES + _CONTEXTS
