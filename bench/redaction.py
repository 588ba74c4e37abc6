"""Measures what `cairn.memory.redaction` takes out of texts: secrets it must find, and lines it must leave alone.

    python bench/redaction.py --repos REPOS    both halves, with what was missed and what was touched

The rules were developed on one half of the secrets and lines; the other half is what the figures speak of. Secrets are
made at run time from a fixed seed, so no file holds anything that looks like one. Harmless lines are those of the
repositories in a folder, by default of Python's standard library, that stand near words like key, token and password.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import re
import string
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from cairn.memory.redaction import redact

SEED = 20261
N_SECRETS, N_HARMLESS = 1000, 2000  # of each, half to develop on and half to report
LIBRARY = Path(sysconfig.get_path("stdlib"))
_T = TypeVar("_T")
_HEX, _LOWER, _UPPER = "0123456789abcdef", string.ascii_lowercase, string.ascii_uppercase
_WORD = string.ascii_letters + string.digits
_URL = _WORD + "-_"
_B64 = _WORD + "+/"


class Case(NamedTuple):
    """A text with a secret in it."""

    kind: str
    context: str
    text: str
    secret: str  # what must not be left


class Kind(NamedTuple):
    """How a kind of secret is made, and how people name what holds it."""

    name: str
    make: Callable[[random.Random], str]
    variable: str
    by_shape: bool  # whether it is known without its name


def _of(letters: str, count: int) -> Callable[[random.Random], str]:
    return lambda dice: "".join(dice.choices(letters, k=count))


def _key(*parts: str | tuple[str, int]) -> Callable[[random.Random], str]:
    """Return a maker of keys: texts as they are, and (letters, count) at random."""
    return lambda dice: "".join(
        part if isinstance(part, str) else "".join(dice.choices(part[0], k=part[1])) for part in parts
    )


def _jwt(dice: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head, body = part({"alg": "HS256", "typ": "JWT"}), part({"sub": dice.randrange(10**9), "name": "Ada"})
    return f"{head}.{body}.{_of(_URL, 43)(dice)}"


def _uuid(dice: random.Random) -> str:
    return "-".join(_of(_HEX, count)(dice) for count in (8, 4, 4, 4, 12))


_PEOPLE = (
    "hunter",
    "dragon",
    "Summer",
    "winter",
    "Monkey",
    "sunshine",
    "Falcon",
    "purple",
    "Liverpool",
    "coffee",
    "tr0ub4dor",
    "ninja",
)


def _password(dice: random.Random) -> str:
    form = dice.randrange(4)
    if form == 0:
        return dice.choice(_PEOPLE) + str(dice.randrange(2, 9999))
    if form == 1:
        return dice.choice(_PEOPLE) + dice.choice("!@#%*") + str(dice.randrange(10, 9999)) + dice.choice("!?*#")
    if form == 2:
        return _of(_WORD, dice.randint(10, 24))(dice)
    return _of(_WORD, 6)(dice) + dice.choice("!@%^*") + _of(_WORD, 6)(dice)


KINDS = tuple(
    Kind(*row)
    for row in (
        ("aws-access-key", _key("AKIA", (_UPPER[:24] + "234567", 16)), "AWS_ACCESS_KEY_ID", True),
        ("aws-secret-key", _of(_B64, 40), "AWS_SECRET_ACCESS_KEY", False),
        ("aws-session", _key("FwoGZX" + "IvYXdz", (_B64, 200)), "AWS_SESSION_TOKEN", True),
        ("azure-storage", _key((_B64, 76), "+ASt", (_B64, 5), "=="), "AZURE_STORAGE_KEY", True),
        ("azure-client-secret", _key((_WORD, 3), "8Q~", (_WORD, 34)), "AZURE_CLIENT_SECRET", True),
        ("azure-old-key", _key((_B64, 86), "=="), "AZURE_ACCOUNT_KEY", False),
        ("google-api-key", _key("AI" + "za", (_URL, 35)), "GOOGLE_API_KEY", True),
        ("google-token", _key("ya" + "29.", (_URL, 80)), "GOOGLE_ACCESS_TOKEN", True),
        ("google-client-secret", _key("GOC" + "SPX-", (_WORD, 28)), "GOOGLE_CLIENT_SECRET", True),
        ("github-classic", _key("gh" + "p_", (_WORD, 36)), "GITHUB_TOKEN", True),
        ("github-oauth", _key("gh" + "o_", (_WORD, 36)), "GH_TOKEN", True),
        ("github-server", _key("gh" + "s_", (_WORD, 36)), "GITHUB_TOKEN", True),
        ("github-fine", _key("github" + "_pat_", (_WORD, 22), "_", (_WORD, 59)), "GITHUB_PAT", True),
        ("gitlab", _key("gl" + "pat-", (_URL, 20)), "GITLAB_TOKEN", True),
        ("gitlab-runner", _key("gl" + "rt-", (_URL, 20)), "CI_RUNNER_TOKEN", True),
        (
            "slack-bot",
            _key("xo" + "xb-", ("123456789", 12), "-", ("123456789", 12), "-", (_WORD, 24)),
            "SLACK_BOT_TOKEN",
            True,
        ),
        (
            "slack-app",
            _key("xa" + "pp-1-A", (_UPPER, 10), "-", ("123456789", 13), "-", (_HEX, 64)),
            "SLACK_APP_TOKEN",
            True,
        ),
        ("stripe", _key("sk" + "_live_", (_WORD, 24)), "STRIPE_SECRET_KEY", True),
        ("stripe-restricted", _key("rk" + "_test_", (_WORD, 40)), "STRIPE_API_KEY", True),
        ("webhook-secret", _key("wh" + "sec_", (_WORD, 32)), "STRIPE_WEBHOOK_SECRET", True),
        ("openai-project", _key("sk-" + "proj-", (_URL, 100)), "OPENAI_API_KEY", True),
        ("openai-old", _key("sk" + "-", (_WORD, 20), "T3Bl" + "bkFJ", (_WORD, 20)), "OPENAI_API_KEY", True),
        ("anthropic", _key("sk-" + "ant-api03-", (_URL, 93), "AA"), "ANTHROPIC_API_KEY", True),
        ("openrouter", _key("sk-" + "or-v1-", (_HEX, 64)), "OPENROUTER_API_KEY", True),
        ("hugging-face", _key("h" + "f_", (_WORD, 34)), "HF_TOKEN", True),
        ("npm", _key("np" + "m_", (_WORD, 36)), "NPM_TOKEN", True),
        ("pypi", _key("py" + "pi-AgEIcHlwaS5vcmc", (_URL, 130)), "TWINE_PASSWORD", True),
        ("rubygems", _key("ruby" + "gems_", (_HEX, 48)), "GEM_HOST_API_KEY", True),
        ("docker", _key("dckr" + "_pat_", (_URL, 27)), "DOCKER_TOKEN", True),
        ("twilio", _key("S" + "K", (_HEX, 32)), "TWILIO_API_KEY", True),
        ("twilio-auth", _of(_HEX, 32), "TWILIO_AUTH_TOKEN", False),
        ("sendgrid", _key("S" + "G.", (_URL, 22), ".", (_URL, 43)), "SENDGRID_API_KEY", True),
        ("mailgun", _key("ke" + "y-", (_HEX, 32)), "MAILGUN_API_KEY", True),
        ("mailchimp", _key((_HEX, 32), "-us" + "12"), "MAILCHIMP_API_KEY", True),
        ("telegram", _key(("123456789", 10), ":A" + "A", (_URL, 33)), "TELEGRAM_BOT_TOKEN", True),
        ("discord", _key("MT", (_WORD, 24), ".", (_WORD, 6), ".", (_WORD, 38)), "DISCORD_TOKEN", True),
        ("shopify", _key("shp" + "at_", (_HEX, 32)), "SHOPIFY_ACCESS_TOKEN", True),
        ("square", _key("sq0" + "atp-", (_URL, 22)), "SQUARE_ACCESS_TOKEN", True),
        ("digitalocean", _key("do" + "p_v1_", (_HEX, 64)), "DIGITALOCEAN_TOKEN", True),
        ("datadog", _of(_HEX, 32), "DD_API_KEY", False),
        ("newrelic", _key("NR" + "AK-", (_UPPER + string.digits, 27)), "NEW_RELIC_API_KEY", True),
        ("heroku", _uuid, "HEROKU_API_KEY", False),
        ("vault", _key("hv" + "s.", (_WORD, 90)), "VAULT_TOKEN", True),
        ("terraform", _key((_WORD, 14), ".atlas" + "v1.", (_URL, 67)), "TFE_TOKEN", True),
        ("databricks", _key("da" + "pi", (_HEX, 32)), "DATABRICKS_TOKEN", True),
        ("cloudflare", _of(_URL, 40), "CLOUDFLARE_API_TOKEN", False),
        ("age", _key("AGE-SECRET" + "-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)), "SOPS_AGE_KEY", True),
        ("jwt", _jwt, "ACCESS_TOKEN", True),
        ("linear", _key("lin" + "_api_", (_WORD, 40)), "LINEAR_API_KEY", True),
        ("notion", _key("nt" + "n_", (_WORD, 46)), "NOTION_TOKEN", True),
        ("figma", _key("fi" + "gd_", (_URL, 40)), "FIGMA_TOKEN", True),
        ("atlassian", _key("ATA" + "TT3xFfGF0", (_URL, 180), "=", (_HEX.upper(), 8)), "JIRA_API_TOKEN", True),
        ("airtable", _key("pa" + "t", (_WORD, 14), ".", (_HEX, 64)), "AIRTABLE_API_KEY", True),
        ("postman", _key("PM" + "AK-", (_HEX, 24), "-", (_HEX, 34)), "POSTMAN_API_KEY", True),
        ("grafana", _key("gl" + "sa_", (_WORD, 32), "_", (_HEX, 8)), "GRAFANA_TOKEN", True),
        ("doppler", _key("dp" + ".pt.", (_WORD, 43)), "DOPPLER_TOKEN", True),
        ("pulumi", _key("pu" + "l-", (_HEX, 40)), "PULUMI_ACCESS_TOKEN", True),
        ("supabase", _key("sb" + "p_", (_HEX, 40)), "SUPABASE_ACCESS_TOKEN", True),
        ("groq", _key("gs" + "k_", (_WORD, 52)), "GROQ_API_KEY", True),
        ("replicate", _key("r" + "8_", (_WORD, 37)), "REPLICATE_API_TOKEN", True),
        ("tailscale", _key("ts" + "key-auth-", (_WORD, 12), "-", (_WORD, 32)), "TS_AUTHKEY", True),
        ("hubspot", lambda dice: "pa" + "t-na1-" + _uuid(dice), "HUBSPOT_TOKEN", True),
        ("sonarqube", _key("sq" + "p_", (_HEX, 40)), "SONAR_TOKEN", True),
        ("django", _of(_LOWER + string.digits + "!@#%^*-_=+", 50), "DJANGO_SECRET_KEY", False),
        ("rails", _of(_HEX, 128), "SECRET_KEY_BASE", False),
        ("client-secret", _of(_WORD, 32), "OAUTH_CLIENT_SECRET", False),
        ("encryption-key", _key((_B64, 43), "="), "ENCRYPTION_KEY", False),
        ("api-token", _of(_LOWER + string.digits, 32), "SERVICE_API_TOKEN", False),
        ("jwt-secret", _of(_WORD, 48), "JWT_SECRET", False),
        ("password", _password, "DB_PASSWORD", False),
        ("smtp-password", _password, "SMTP_PASSWORD", False),
        ("admin-password", _password, "ADMIN_PASSWORD", False),
        ("redis-password", _password, "REDIS_PASSWORD", False),
        ("root-password", _password, "MYSQL_ROOT_PASSWORD", False),
    )
)


def _camel(variable: str) -> str:
    first, *rest = variable.lower().split("_")
    return first + "".join(word.title() for word in rest)


# {s}: the secret, {V}: VARIABLE, {v}: variable, {k}: variable-in-kebab, {c}: variableInCamel, {w}: words
_NAMED = {
    "env line": ("{V}={s}", "export {V}={s}", '{V}="{s}"', "export {V}='{s}'", "# local\nPORT=80\n{V}={s}\nDEBUG=1"),
    "json": (
        '{{"{v}": "{s}"}}',
        '  "{c}": "{s}",',
        '{{"env": {{"{V}": "{s}", "PORT": "80"}}}}',
        '{{"name": "{V}", "value": "{s}"}}',
    ),
    "yaml": ("{v}: {s}", "  {c}: '{s}'", '    {k}: "{s}"', "  - name: {V}\n    value: {s}", "environment:\n  {V}: {s}"),
    "shell": (
        "{V}={s} ./run.sh",
        "docker run -e {V}={s} app",
        "tool deploy --{k} {s}",
        "tool deploy --{k}={s} --yes",
        "set -x {V} '{s}'",
    ),
    "log line": (
        "2026-01-05 10:11:12 INFO config {v}={s} port=80",
        "[debug] loaded {v}: '{s}'",
        "level=info msg=start {v}={s}",
        "DEBUG settings {{'{v}': '{s}', 'port': 80}}",
    ),
    "traceback": (
        '  File "app.py", line 3, in connect\n    connect({v}="{s}")\nConnectionError',
        "KeyError: {{'{v}': '{s}'}}",
        "Error: login failed ({v}={s})",
        "ValueError: bad {w} '{s}'",
    ),
    "url": (
        "https://api.example.com/v1/items?{v}={s}&page=2",
        "GET /items?page=1&{v}={s} HTTP/1.1",
        "curl 'https://x.example.com/?{c}={s}'",
    ),
    "header": ("X-{k}: {s}", '-H "X-{k}: {s}"', "headers = {{'X-{k}': '{s}'}}", "req.headers.set('X-{k}', '{s}')"),
    "code": (
        '{v} = "{s}"',
        "const {c} = '{s}';",
        'private static final String {V} = "{s}";',
        '{v}: str = "{s}"',
        '{v} := "{s}"',
        'os.environ["{V}"] = "{s}"',
        'let {c}: &str = "{s}";',
        'client = Client({v}="{s}")',
        "'{v}' => '{s}',",
    ),
    "prose": ("The {w} is {s}", "I used the {w} `{s}` for the tests.", "Set the {w} to {s} and restart.", "{w}: {s}"),
    "toml": ('{v} = "{s}"', '[auth]\n{k} = "{s}"', "{k} = '{s}' # production"),
    "ini": ("[db]\n{v} = {s}", "{v}={s}", "spring.{k}={s}"),
    "diff": ("+{V}={s}", '-    {v} = "{s}"', '+  "{c}": "{s}",'),
    "escaped": ('"{{\\"{v}\\": \\"{s}\\"}}"', 'body="{{\\"{c}\\":\\"{s}\\"}}"', '{{"log": "{V}={s}\\nPORT=80"}}'),
}
_BARE = {
    "env line": ("VALUE={s}", "X_SETTING='{s}'"),
    "json": ('{{"items": ["{s}"]}}', '{{"note":"{s}"}}'),
    "yaml": ("note: {s}", "- {s}"),
    "shell": ("echo {s} | tool", "tool run {s}", "printf '%s' \"{s}\" > out"),
    "log line": ("2026-01-05 WARN rejected {s} from 10.0.0.7", "got [{s}]", "request_id=7 sent={s}"),
    "traceback": ("ValueError: invalid value: {s}", "AssertionError: '{s}' != ''", "    call('{s}')\nTypeError"),
    "url": ("https://example.com/cb?x={s}", "https://{s}@example.com/repo.git", "https://example.com/%3D{s}"),
    "header": ("Authorization: Bearer {s}", "authorization: token {s}", "-H 'Authorization: {s}'"),
    "code": ('x = "{s}"', "f('{s}', 1)", "return `{s}`;"),
    "prose": ("I pasted {s} into the form.", "It printed ({s}), then stopped.", "The value was {s}."),
}
_PASSWORD_CONTEXTS = {
    "connection": (
        "postgres://app:{s}@db.example.com:5432/app",
        "redis://:{s}@cache:6379/0",
        "mongodb+srv://root:{s}@c0.example.net/x",
        "Server=db;Database=x;User Id=sa;Password={s};",
        "host=db user=app password={s} dbname=x",
        "amqp://u:{s}@mq//",
    ),
    "command": (
        "mysql -u root -p{s} app",
        "curl -u admin:{s} https://example.com",
        "sshpass -p '{s}' ssh host",
        "docker login -u me -p {s}",
        "tool --password {s} --now",
        "redis-cli -a {s} ping",
        "PGPASSWORD={s} psql -h db",
    ),
    "sql": ("ALTER USER app WITH PASSWORD '{s}';", "CREATE USER 'a'@'%' IDENTIFIED BY '{s}';"),
    "xml": (
        "<password>{s}</password>",
        '<property name="password" value="{s}"/>',
        '<add key="DbPassword" value="{s}" />',
    ),
}


def secrets(count: int = N_SECRETS) -> list[Case]:
    """Return texts with a secret in each, the kinds and contexts in turn."""
    dice = random.Random(SEED)
    cases = list(_cases(dice))
    dice.shuffle(cases)
    return cases[:count]


def _cases(dice: random.Random) -> Iterator[Case]:
    for kind in KINDS:
        for context, forms in _NAMED.items():
            yield _case(dice, kind, context, dice.choice(forms))
        extra = _BARE if kind.by_shape else _PASSWORD_CONTEXTS if "password" in kind.name else {}
        for context, forms in extra.items():
            yield _case(dice, kind, f"{context}, unnamed" if kind.by_shape else context, dice.choice(forms))
    for number in range(24):
        yield _private_key(dice, number)


def _case(dice: random.Random, kind: Kind, context: str, form: str) -> Case:
    secret, variable = kind.make(dice), kind.variable
    if context in ("url", "connection", "command", "xml", "shell"):  # there they would be written as %40, or in quotes
        secret = secret if kind.by_shape else re.sub("[!@#%^*?=+/&]", "7", secret)
    text = form.format(
        s=secret,
        V=variable,
        v=variable.lower(),
        k=variable.lower().replace("_", "-"),
        c=_camel(variable),
        w=variable.lower().replace("_", " "),
    )
    return Case(kind.name, context, text, secret)


def _private_key(dice: random.Random, number: int) -> Case:
    kind = ("RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ")[number % 6]
    rows = [_of(_B64, 64)(dice) for _ in range(dice.randint(3, 20))]
    first, last = (f"-----{word} {kind}PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
    whole = [[first, *rows, last], [first, *rows], [*rows, last], [first, *rows, last]][number // 6]
    text = "\\n".join(whole) if number // 6 == 3 else "\n".join(whole)
    return Case(
        "private-key",
        ("whole", "without its end", "without its beginning", "escaped")[number // 6],
        text,
        dice.choice(rows),
    )


_TEMPLATES = (
    "commit {sha1}",
    "index {sha7}..{sha7} 100644",
    '"integrity": "sha512-{b64}=="',
    'hash = "sha256:{sha256}"',
    "resolved https://registry.npmjs.org/a/-/a-1.2.{n}.tgz#{sha1}",
    "id: {uuid}",
    "{sha256}  dist/app-{n}.tar.gz",
    "color: #{hex6};",
    "m_{uuid7}",
    "c_{sha12}",
    "password = get_password()",
    "token: str",
    "if password is None:",
    "token = request.headers.get('X-Token')",
    "PASSWORD=${{PASSWORD}}",
    "API_KEY=your-api-key",
    "api_key: <your-key>",
    "token=xxxxxxxxxxxx",
    "secret: changeme",
    "def check_password(password: str, hashed: str) -> bool:",
    "The password must have at least {n} characters.",
    "Tokens expire after {n} minutes.",
    "tests/test_auth.py::test_token[{n}-valid] PASSED",
    "FROM python@sha256:{sha256}",
    "uses: actions/checkout@{sha1}",
    "self.token = token",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${{TOKEN}}",
    "function t(e,n){{return e.token=n,e.key===n.key}}",
    "/home/me/keys/id_rsa.pub",
    "--password-stdin",
    "use --token to pass the token",
    'etag: W/"{sha12}"',
    "x = '{b64}'",
    "data:image/png;base64,{b64}",
    "go.sum: golang.org/x/mod v0.{n}.0 h1:{b64}=",
    "cache_key = 'users/{n}'",
    "primary_key: id",
    "export TOKEN=$(cat token.txt)",
    "password: {{{{ vault_password }}}}",
    "password: ${{{{ secrets.PASSWORD }}}}",
    "token_type: bearer",
    "max_tokens: {n}00",
    "next_token = lexer.next()",
    "password_hash = bcrypt.hash(password)",
    "const key = `${{a}}-${{b}}`;",
    "public_key = load('key.pem')",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} me@host",
    "secret_name = 'db-credentials'",
    "tokens used: {n}{n}{n}",
    "key{n}: value{n}",
    "sha1({n}) = {sha1}",
    "trace_id={uuid} span_id={sha12}",
    "build-{sha7}.js",
    "password=password",
    "https://user:password@example.com/",
    "git@github.com:org/repo.git",
    "https://example.com/reset?token=<token>",
    "CSRF token missing or incorrect.",
    "assert token == 'if'",
    'case "token": return Token;',
    "Password123Field",
    "type Token struct {{ Kind int }}",
    "let secret = rand::random();",
    "request_token(client_id, scope='read')",
    "session key rotated at {n}:{n}",
    "nonce: {n}",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    'if text.startswith("-----BEGIN PRIVATE KEY-----"):',
    '"version": "1.{n}.0", "sha": "{sha1}"',
)


def templates(count: int) -> list[str]:
    """Return harmless lines of the forms above, with numbers, hashes and ids of their own."""
    dice = random.Random(SEED)
    return [_TEMPLATES[number % len(_TEMPLATES)].format(**_fillings(dice)) for number in range(count)]


def _fillings(dice: random.Random) -> dict[str, str]:
    sizes = {"sha1": 40, "sha7": 7, "sha12": 12, "sha256": 64, "hex6": 6}
    hexes = {name: _of(_HEX, size)(dice) for name, size in sizes.items()}
    uuid7 = "019" + _uuid(dice)[3:]
    return hexes | {
        "uuid": _uuid(dice),
        "uuid7": uuid7,
        "b64": _of(_B64, 86)(dice),
        "b43": _of(_B64, 43)(dice),
        "n": str(dice.randint(10, 59)),
    }


def harmless(folder: Path = LIBRARY) -> list[str]:
    """Return lines in which nothing is secret: real ones of the folders in a folder, and templates for the rest."""
    real = sample(folder)
    lines = real + templates(N_HARMLESS - len(real))
    random.Random(SEED).shuffle(lines)
    return lines


_HARD = re.compile(r"(?i)passw|secret|token|api.?key|credential|private.?key|passphrase|authorization|bearer|jwt")
_NEAR = re.compile(r"(?i)\bkey|key\b|hash|sha256|sha1|auth|cookie|digest|uuid|cert")
_N_REAL = 1560
_NOT_LIBRARY = ("site-packages", "dist-packages", "test", "__pycache__")  # of the folders beside the standard library


def sample(folder: Path) -> list[str]:
    """Return lines near words like key, token and password, the same for the same clones."""
    repositories = [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name not in _NOT_LIBRARY]
    queues = [queue for repository in repositories for queue in _ranked(repository)]
    chosen: dict[str, None] = {}
    for place in range(max(map(len, queues))):
        chosen |= {queue[place]: None for queue in queues if place < len(queue)}
        if len(chosen) >= _N_REAL:
            break
    return list(chosen)[:_N_REAL]


def _ranked(repository: Path) -> list[list[str]]:
    """Return the lines of a repository that name secrets, and those with words near these, ordered by their hash."""
    hard, near = set(), set()
    for file in repository.rglob("*"):
        if not file.is_symlink() and file.is_file() and file.stat().st_size < 400_000:
            text = file.read_text(encoding="utf-8", errors="ignore")
            lines = {line.strip() for line in text.split("\n") if 12 < len(line.strip()) < 160 and line.isprintable()}
            hard |= {line for line in lines if _HARD.search(line)}
            near |= {line for line in lines if _NEAR.search(line)}
    return [sorted(lines, key=lambda line: hashlib.sha256(line.encode()).digest()) for lines in (hard, near - hard)]


def halves(items: list[_T]) -> tuple[list[_T], list[_T]]:
    """Return what to develop on, and what to report on."""
    return items[::2], items[1::2]


def missed(cases: list[Case]) -> list[Case]:
    """Return those of whose secret eight characters in a row are still there and nowhere else in the text."""
    return [case for case in cases if _left(case)]


def _left(case: Case) -> bool:
    size = min(len(case.secret), 8)
    kept = redact(case.text).text
    label = re.sub(r".*?\[redacted: ([a-z0-9-]+)\].*?", r"\1 ", kept)
    elsewhere = case.text.replace(case.secret, " ") + label.replace("-", " ")
    windows = {case.secret[at : at + size] for at in range(len(case.secret) - size + 1)}
    return case.secret in kept or any(
        window in kept for window in windows if window not in elsewhere and window.strip("_") not in label
    )


def touched(lines: list[str]) -> list[str]:
    return [line for line in lines if redact(line).text != line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, metavar="REPOS", default=LIBRARY)
    parser.add_argument("--half", choices=("develop", "report"))
    arguments = parser.parse_args()
    lines_of_halves = halves(harmless(arguments.repos))
    for name, cases, lines in zip(("develop", "report"), halves(secrets()), lines_of_halves, strict=True):
        if arguments.half in (None, name):
            _report(name, cases, lines)
    return 0


def _report(name: str, cases: list[Case], lines: list[str]) -> None:
    lost, changed = missed(cases), touched(lines)
    for case in lost:
        print(f"  missed  {case.kind} ({case.context}): {case.text!r} -> {redact(case.text).text!r}")
    for line in changed:
        print(f"  touched {line!r} -> {redact(line).text!r}")
    caught = len(cases) - len(lost)
    print(f"{name}: {caught} of {len(cases)} secrets caught, {len(changed)} of {len(lines)} harmless lines touched")


if __name__ == "__main__":
    sys.exit(main())
