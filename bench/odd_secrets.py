"""Secrets in odd places, written after the rules: run it for how many of them `cairn.memory.redaction` takes out.

python bench/odd_secrets.py
"""

from __future__ import annotations

import random
import string
import sys
from collections.abc import Callable

from redaction import Case, missed

SEED = 7
_HEX, _WORD = "0123456789abcdef", string.ascii_letters + string.digits
_B64 = _WORD + "+/"


def _of(letters: str, count: int) -> Callable[[random.Random], str]:
    return lambda dice: "".join(dice.choices(letters, k=count))


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "github": lambda dice: "gh" + "p_" + _of(_WORD, 36)(dice),
    "aws": lambda dice: "AK" + "IA" + _of(string.ascii_uppercase[:24] + "234567", 16)(dice),
    "slack": lambda dice: "xo" + "xp-" + _of("123456789", 12)(dice) + "-" + _of(_WORD, 28)(dice),
    "stripe": lambda dice: "sk" + "_test_" + _of(_WORD, 99)(dice),
    "openai": lambda dice: "sk-" + "svcacct-" + _of(_WORD + "-_", 120)(dice),
    "hex": _of(_HEX, 40),
    "hex32": _of(_HEX, 32),
    "base64": lambda dice: _of(_B64, 43)(dice) + "=",
    "word": _of(_WORD, 20),
    "person": lambda dice: (
        dice.choice(("Kestrel", "maple", "Tuesday", "granite")) + dice.choice("!#@") + _of("0123456789", 4)(dice)
    ),
    "short": lambda dice: dice.choice(("kestrel", "maple", "tuesday", "granite")) + _of("23456789", 2)(dice),
}

# {0}: the secret
_ODD = (
    ("github", "https://oauth2:{0}@gitlab.example.com/a/b.git"),
    ("github", "remote: https://x-access-token:{0}@github.com/o/r\nfatal: 403"),
    ("github", "see the screenshot:{0}!!"),
    ("github", "**{0}**"),
    ("github", "|name|value|\n|--|--|\n|tok|{0}|"),
    ("github", "<td>{0}</td>"),
    ("github", "\x1b[31m{0}\x1b[0m"),
    ("github", "['git', 'clone', 'https://{0}@github.com/o/r']"),
    ("github", "token\n\n    {0}\n"),
    ("github", "ключ {0} здесь"),
    ("github", "\u201c{0}\u201d"),
    ("github", "a\\n{0}\\nb"),
    ("github", "TOKEN%3D{0}%26x"),
    ("github", "b'{0}'"),
    ("github", "{{{0}}}"),
    ("github", "x={0};y=1"),
    ("aws", "[default]\naws_access_key_id={0}"),
    ("aws", "aws_access_key_id\t{0}"),
    ("aws", "User name,Access key ID\nbob,{0},"),
    ("aws", "Credential={0}/20260101/eu/s3/aws4_request"),
    ("aws", "X-Amz-Credential={0}%2F20260101"),
    ("aws", "AWSAccessKeyId={0}&Expires=1"),
    ("slack", "SLACK={0}#general"),
    ("slack", "curl -F token={0} https://slack.com/api/x"),
    ("slack", "@bot use {0}, please"),
    ("stripe", "Stripe.api_key='{0}'"),
    ("stripe", "curl https://api.stripe.com -u {0}:"),
    ("stripe", "Invalid API Key provided: {0}"),
    ("openai", "Incorrect API key provided: {0}. You can find your key at x"),
    ("openai", "api_key={0!r}"),
    ("openai", 'OpenAI(api_key="{0}", timeout=3)'),
    ("openai", "?key={0}"),
    ("hex", "DIGEST_TOKEN := {0}"),
    ("hex", "token {0}"),
    ("hex", "gh auth status: Token: {0}"),
    ("hex", '"accessToken" : "{0}"'),
    ("hex", "access-token: {0}"),
    ("hex", "x-api-key={0}"),
    ("hex", "PRIVATE-TOKEN: {0}"),
    ("hex", "?private_token={0}"),
    ("hex", "-H X-Vault-Token:{0}"),
    ("hex", "SecretKey={0}"),
    ("hex", "wandb: api key {0}"),
    ("hex", "machine api.wandb.ai login user password {0}"),
    ("hex", 'WANDB_API_KEY: "{0}"'),
    ("hex", "//registry.npmjs.org/:_authToken={0}"),
    ("hex", "codecov -t {0} --token={0}"),
    ("hex32", "datadog.api_key: {0}"),
    ("hex32", "DD-API-KEY: {0}"),
    ("hex32", "appid={0}&api_key={0}"),
    ("hex32", "<apiKey>{0}</apiKey>"),
    ("hex32", '<add key="ApiKey" value="{0}"/>'),
    ("hex32", "apikey {0}"),
    ("hex32", "api-key = '{0}'"),
    ("hex32", "API key\uff1a{0}"),
    ("hex32", "Set-Cookie: session={0}; HttpOnly"),
    ("hex32", "Cookie: theme=dark; PHPSESSID={0}"),
    ("hex32", "sessionid={0}; csrftoken=x; token={0}"),
    ("hex32", 'Authorization: Token token="{0}"'),
    ("hex32", "'HTTP_AUTHORIZATION' => 'Bearer {0}'"),
    ("base64", "SharedAccessKeyName=Root;SharedAccessKey={0}"),
    ("base64", "AccountName=x;AccountKey={0};EndpointSuffix=core"),
    ("base64", "PrivateKey = {0}"),
    ("base64", "PresharedKey={0}"),
    ("base64", "APP_KEY=base64:{0}"),
    ("base64", "encryption_key: !!binary {0}"),
    ("base64", 'secret: "{0}" # rotate'),
    ("base64", "data:\n  password: {0}"),
    ("base64", '"auth": "{0}"'),
    ("base64", "_auth={0}"),
    ("base64", "SECRET_KEY=b'{0}'"),
    ("base64", "--from-literal=token={0}"),
    ("base64", 'jwtSecret => "{0}"'),
    ("base64", "JWT_SECRET ?= {0}"),
    ("word", "echo {0} | docker login -u me --password-stdin"),
    ("word", "echo '{0}' | gh auth login --with-token"),
    ("word", "client_secret={0}&grant_type=client_credentials"),
    ("word", '#define WIFI_PASSWORD "{0}"'),
    ("word", "define('AUTH_KEY', '{0}');"),
    ("word", '$env:API_TOKEN = "{0}"'),
    ("word", "setx API_TOKEN {0}"),
    ("word", "ENV API_TOKEN {0}"),
    ("word", "ARG NPM_TOKEN={0}"),
    ("word", "sed -i 's/TOKEN=.*/TOKEN={0}/' .env"),
    ("word", 'new Client(new Secret("{0}"), apiKey: "{0}")'),
    ("word", 'System.setProperty("api.secret", "{0}")'),
    ("word", '{{:api_key, "{0}"}}'),
    ("word", 'config :app, secret_key_base: "{0}"'),
    ("word", '(def api-key "{0}")'),
    ("word", "passphrase: >-\n  {0}"),
    ("person", "passwd: {0}"),
    ("person", "Password: {0}"),
    ("person", "my password is '{0}'"),
    ("person", "login bob / password {0}"),
    ("person", "ftp://bob:{0}@ftp.example.com"),
    ("person", '{{"username":"bob","password":"{0}"}}'),
    ("person", "'PASSWORD': '{0}',"),
    ("person", "expect(page).fill('#password', '{0}')"),
    ("person", "ansible_become_pass={0}"),
    ("person", 'echo "{0}" | sudo -S ls'),
    ("person", "spring.datasource.password={0}"),
    ("person", "net use z: \\\\srv\\x /user:bob {0}"),
    ("short", "mysql://root:{0}@127.0.0.1/x"),
    ("short", "PGPASSWORD={0} pg_dump"),
    ("short", "-e POSTGRES_PASSWORD={0}"),
    ("short", "redis-cli -h x -a {0}"),
    ("short", "Pwd={0};Database=x"),
    ("short", "pw: {0}"),
)


def cases() -> list[Case]:
    """Return the texts, with a secret of the fixed seed in each."""
    dice = random.Random(SEED)
    return [_case(kind, form, _MAKERS[kind](dice)) for kind, form in _ODD]


def _case(kind: str, form: str, secret: str) -> Case:
    if "://" in form and kind == "person":
        secret = secret.replace("#", "!").replace("@", "!")
    return Case(kind, form, form.format(secret), secret)


def main() -> int:
    """Print what was missed, and how many."""
    lost = missed(cases())
    for case in lost:
        print(f"  missed {case.text!r}")
    print(f"{len(_ODD) - len(lost)} of {len(_ODD)} caught")
    return 0


if __name__ == "__main__":
    sys.exit(main())
