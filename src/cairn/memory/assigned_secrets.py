"""Secrets that are told by a name: `password = "…"`, `DB_PASSWORD=…`, `--token …`, "the api key is …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from cairn.memory.secret_values import is_mixed, is_passphrase, is_phrase, is_placeholder, is_prose, looks_random


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# How much a name says: any value of a password is secret, a token or key must look like one.
_PASSWORDS = _words(
    "password passwd passw passwort passphrase passcode kennwort contrasena contrase?a senha pwd passw "
    "userpass dbpass dbpassword mysqlpass mypassword rootpassword adminpassword pgpassword sshpass "
    "storepass keypass requirepass masterauth motdepasse pw pass psw wachtwoord"
)
_SECRETS = _words("secret secrets clientsecret appsecret credential credentials creds")
_TOKENS = _words(
    "token tokens apikey apitoken accesstoken authtoken accesskey secretkey privatekey jwt otp bearer pat sid auth"
)
_KEYS = _words(
    "api access secret private signing encryption encrypt master auth account shared storage service "
    "license licence deploy session cookie app application client consumer hmac jwt crypto webhook "
    "integration ingest admin write ssh host tls ssl deployment machine data agent decryption hash "
    "validation rails django flask security sas subscription project bot provider password primary "
    "secondary preshared psk interface appkey stripe openai azure google algolia sentry mailgun sendgrid "
    "twilio datadog dd cohere mistral anthropic gemini"
)
_TAILS = _words(
    "value prod production dev development staging stage test live local base base64 raw plain plaintext "
    "hex new old current previous default v1 v2 0 1 2 3 string str text primary secondary main env b64 db "
    "admin root 01 02 backup us eu"
)
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z?]+|[0-9]+")

_NAME = rb"""(?i)[0-9a-z_$-]*(?:(?:api|access|secret|private|signing|encryption|encrypt|master|auth|account|shared
    |storage|service|licen[sc]e|deploy|session|cookie|app|application|client|consumer|hmac|crypto|webhook
    |integration|ingest|admin|write|ssh|host
    |machine|agent|decryption|validation|security|sas|subscription|project|bot|provider|primary|secondary|preshared|stripe
    |openai|azure|google|algolia|sendgrid|mailgun|datadog|dd|cohere|mistral|anthropic|gemini|twilio|data|ssl|tls|hash|rails
    |django|flask)[ _.-]?key(?:[ _.-]base)?
    |passw|passphrase|passcode|kennwort|contrase|senha|wachtwoord|mot[ _]?de[ _]?passe|pwd|secret|token|credential|creds
    |bearer|jwt|psk
    |(?:^|[^a-z])pass|[a-z]_?pass\b|_pw|\bpw|\bpsw|otp|\bpat\b|_pat\b|_auth|\bauth|\bsid)[0-9a-z_?-]*""".replace(
    b"\n    ", b""
)

_NAMES_IN_VALUE = 8
_CLOSED = re.compile(rb"""(?:\\{0,3}["'`])?[\])]?[?!]?(?:\*\*)?""")
_TYPE = rb"""[ \t]*:[ \t]*[&*?]?(?:'[a-z]+ )?[A-Za-z_][\w.:<>\[\]|? ]{0,40}?[ \t]*=[ \t]*"""
_ASSIGN = re.compile(
    rb"""(?:(?P<typed>""" + _TYPE + rb"""(?=["'`]|[rbfRBF]["']))"""
    rb"""|(?P<next>[ \t]*[:=](?:\*\*)?[ \t]*\r?\n[ \t]*(?=[^\s"'`>|!]))"""
    rb"""|(?P<op>[ \t]*(?:=>|:=|===?|\+=|\?=|\?\?=|\|\|=|=|:|->|<-|\xef\xbc\x9a)(?:\*\*)?[ \t]*)"""
    rb"""(?:\n[ \t]*(?=["'`])|\\\r?\n[ \t]*|!!?[a-z]{1,10}[ \t]+|[>|][+-]?[ \t]*\n[ \t]*)?"""
    rb"""|(?P<comma>[ \t]*,[ \t]*(?:(?:value|content|"value"|'value'|\\"value\\"|Value|"Value")[ \t]*[:=][ \t]*)?)"""
    rb"""|(?P<named>[ \t,]+(?:value|content)=)"""
    rb"""|(?P<below>[ \t]*\n[ \t]*value:[ \t]*)"""
    rb"""|(?P<cell>[ \t]*\|[ \t]*)"""
    rb"""|(?P<tag>>[ \t]*(?=[^<\s]))"""
    rb"""|(?P<call>\((?=[rbf]?["'`]))"""
    rb"""|(?P<says>[ \t]+(?:is|was|are|ist|lautet|est|es|to|be|used|set to|of"""
    rb"""|for [a-z0-9_. -]{1,40}(?: is|:)|for [a-z0-9_.-]{1,30}|found|leaked|using|with|here|value|in use)?"""
    rb"""(?:[ \t]?[:=])?[ \t]+)"""
    rb"""|(?P<gap>[ \t]+))"""
)
_CONFIRM = re.compile(
    rb"(?:new|std::string|String|Buffer\.from|Secret|SecretStr|SecretString"
    rb"|b64decode|encode|bytes|str|string|to_string)\((?=[rb]?[\"'])"
)
_QUOTED = re.compile(
    rb"""(?P<prefix>[rbfuRBFUL@$]{0,2})(?:["]{3}([^"\x00]{1,400})["]{3}|'{3}([^'\x00]{1,400})'{3}"""
    rb"""|"((?:[^"\\\n\x00]|\\[^\n\x00])*+)["]|'((?:[^'\\\n\x00]|\\[^\n\x00])*+)'|`([^`\n\x00]*+)`"""
    rb"""|\\{1,3}"((?:[^"\\\n\x00]|\\[^"\n\x00\\])*+)\\{1,3}["]|\\{1,3}'([^'\\\n\x00]*+)\\{1,3}'"""
    rb"""|["'`]([^\s"'`\x00]++)$)""",
    re.MULTILINE,
)
_BARE = re.compile(rb"""[^\s"'`,;&<>(){}\[\]|\\\x00]++""")
_WORD = re.compile(rb"""[^\s\x00]++""")
_LABEL = (
    rb"(?:[\w./@-]{1,100}[:-])?(?:[0-9]{1,7}(?:[ \t]*[:|?-]|\t))?[ \t]*[+-]?"  # of a line: file, number, sign of a diff
)
_BEFORE_ENV = re.compile(
    rb"(?:(?:^|\n)[ \t]*" + _LABEL + rb"[ \t]*(?:(?:export|set|setx|setenv|ENV|ARG|env|local|declare|readonly|typeset"
    rb"|-|\$ ?|#|>)[ \t]+(?:-[a-zA-Z]+[ \t]+)?)*"
    rb"|(?:[ \t]|^)(?:-e|--env|--build-arg|--set|--from-literal=|env|export|sudo|set|&&|;)[ \t]*|[ \t=]"
    rb"|[ \t\[,=][\"'])$"
)
_LINE_START = re.compile(rb"(?:^|\n)[ \t]*(?:-[ \t]+|export[ \t]+)?[\w.\[\]/:-]*[\"']?$")
_LINE_END = re.compile(rb"[ \t]*[;,]?[ \t]*(?:#|//|;|\r?\n|\Z)")

_PHRASE = re.compile(rb"[A-Za-z]{2,20}(?: [A-Za-z]{2,20}){2,9}+(?=[ \t]*[;.]?(?:[ \t]*\r?\n|  |\Z))")
_CELL_END = re.compile(rb"[ \t]*\|")


class _Name(NamedTuple):
    kind: str  # what stands in the place of the value
    any_value: bool  # a password: people choose them, so they look like anything
    is_secret: bool  # named a secret: must not be made of common words


@cache
def _names() -> Any:  # noqa: ANN401 - re2 ships no types
    import re2  # noqa: PLC0415 - start-up time: only texts need it

    return re2.compile(_NAME)


@lru_cache(maxsize=4096)
def _meaning(name: bytes) -> _Name | None:
    """Return what a name says about its value; None if the value is no secret (`password_field`, `token_type`)."""
    words = [word.lower() for word in _PIECES.findall(name.decode())]
    while len(words) > 1 and (words[-1] in _TAILS or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, joined = words[-1], "".join(words)
    if last in _PASSWORDS or joined in _PASSWORDS or any(joined.endswith(word) for word in _PASSWORDS if len(word) > 5):
        return _Name("password", True, True)
    if last in _SECRETS or joined.endswith("secret"):
        return _Name("secret", False, True)
    if last in _TOKENS or joined.endswith(
        ("token", "apikey", "accesskey", "secretkey", "privatekey", "authtoken", "accountkey")
    ):
        return _Name("token", False, False)
    if last in ("key", "keys") and len(words) > 1 and (words[-2] in _KEYS):
        return _Name("key", False, False)
    return None


class _Runs:
    """Where a value without quotes ends, found once for all names within it: a chain of them takes linear time."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern = pattern
        self._end = self._asked = 0

    def value(self, text: bytes, start: int) -> str | None:
        """Return the run that begins at `start`; None if none does, or if too many names were in this one."""
        if start >= self._end:
            match = self._pattern.match(text, start)
            self._end, self._asked = (match.end() if match else start), 0
        self._asked += 1
        if start >= self._end or self._asked > _NAMES_IN_VALUE:
            return None
        return text[start : self._end].decode()


class _Found(NamedTuple):
    """A name with what stands around its value."""

    text: bytes
    bare: _Runs
    words: _Runs
    name: bytes
    start: int  # of the name
    end: int
    meaning: _Name


def iter_assigned(text: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each value that its name makes a secret, one byte standing for each character."""
    bare, words = _Runs(_BARE), _Runs(_WORD)
    for match in _names().finditer(text):
        start, end = match.span()
        if meaning := _meaning(match.group()):
            closed = _CLOSED.match(text, end)
            after = closed.end() if closed else end
            found = _Found(text, bare, words, match.group(), start, after, meaning)
            if span := _value(found):
                yield (*span, meaning.kind)


def _value(found: _Found) -> tuple[int, int] | None:
    sign = _ASSIGN.match(found.text, found.end)
    if sign is None:
        return None
    how, start = sign.lastgroup or "", sign.end()
    if wrapped := _CONFIRM.match(found.text, start):
        start = wrapped.end()
    if quoted := _QUOTED.match(found.text, start):
        number = quoted.lastindex or 1
        if number == 1:
            return None
        begin, end = quoted.span(number)
        return (begin, end) if _is_secret_literal(found, how, quoted.group(number).decode(), quoted.group(1)) else None
    return _bare(found, how, start)


def _is_secret_literal(found: _Found, how: str, value: str, prefix: bytes) -> bool:
    """Whether a string in quotes is the secret that its name promises."""
    if len(value) < 3 or len(value) > 4000 or is_placeholder(value):
        return False
    if prefix.lower().endswith(b"f") and "{" in value:
        return False
    if how in ("comma", "gap", "says") or not found.meaning.any_value:
        spaced = any(map(str.isspace, value))
        if spaced:
            return how in ("gap", "says") and found.meaning.any_value and _is_said_phrase(found, value)
        if found.meaning.is_secret and how not in ("comma", "gap"):
            return looks_random(value) or is_mixed(value) or (found.meaning.any_value and is_passphrase(value))
        is_chosen = len(value) >= 6 and (is_mixed(value) or is_passphrase(value))
        return looks_random(value) or (found.meaning.any_value and is_chosen)
    return not is_prose(value)


def _is_said_phrase(found: _Found, value: str) -> bool:
    """Whether words in quotes behind a name are a passphrase: any that are no sentence if the name is an option."""
    return is_phrase(value, 3) or (found.name.startswith(b"-") and not is_prose(value))


def _bare(found: _Found, how: str, start: int) -> tuple[int, int] | None:
    """Return the span of a value without quotes, if it is a secret and not code."""
    text = found.text
    if how in ("comma", "call", "typed"):
        return None
    if found.meaning.any_value and (phrase := _phrase(found, start)):
        return phrase
    if how in ("op", "below", "gap", "named") and (span := _of_environment(found, how, start)):
        return span
    value = found.bare.value(text, start)
    if value is None:
        return None
    end = start + len(value)
    if how in ("says", "gap"):  # a mark behind it ends the sentence, but `!` may be its last letter
        end = start + len(value.rstrip(".:?"))
        value = value.rstrip(".:!?")
    if len(value) < 4 or text[end : end + 1] in (b"(", b"[", b"{") or is_placeholder(value) or _is_code(value):
        return None
    if (how == "next" and not _LINE_END.match(text, end)) or (how == "cell" and not _is_cell(found, end)):
        return None
    if _is_likely(found, how, value, start, end):
        return start, end
    return None


def _phrase(found: _Found, start: int) -> tuple[int, int] | None:
    """Return the span of words without quotes that make up a line behind `password:`, or three behind `passphrase:`."""
    if not found.text[found.end : start].rstrip().endswith((b":", b"=")):
        return None
    words = _PHRASE.match(found.text, start)
    least = 3 if b"phrase" in found.name.lower() else 4
    return words.span() if words and is_phrase(words.group().decode(), least) else None


def _is_likely(found: _Found, how: str, value: str, start: int, end: int) -> bool:
    is_option = found.name.startswith(b"-")  # `--token VALUE` says as much as `--token=VALUE`
    if looks_random(value) and (how != "gap" or is_option or len(value) >= 12):
        return True
    least = 6 if found.meaning.is_secret else 8
    if is_option and how in ("gap", "op") and is_mixed(value) and len(value) >= least and _is_password_like(value):
        return True
    if how != "tag" and found.meaning.any_value and is_passphrase(value):
        return how not in ("op", "next") or bool(_LINE_END.match(found.text, end))
    if how == "tag" and found.meaning.any_value and found.text[end : end + 2] == b"</":
        return True
    if not found.meaning.is_secret or not is_mixed(value):
        return False
    if how in ("says", "gap", "next", "cell"):
        return found.meaning.any_value and len(value) >= 6 and _is_password_like(value)
    text = found.text
    sign = text[found.end : start]
    if how == "op" and b" " not in sign.strip(b"\t") and b"=" in sign:
        return _is_password_like(value) or bool(_LINE_START.search(text, max(0, found.start - 80), found.start))
    return (bool(_LINE_END.match(text, end)) and text[end : end + 1] not in (b",", b")")) or _is_password_like(value)


def _is_cell(found: _Found, end: int) -> bool:
    """Whether name and value are cells of a table side by side: `| DB_PASSWORD | … |`."""
    row = found.text[found.text.rfind(b"\n", 0, found.start) + 1 : found.start]
    return row.lstrip().startswith(b"|") and bool(_CELL_END.match(found.text, end))


def _is_password_like(value: str) -> bool:
    """Whether letters, digits and signs are mixed as in no identifier: `hunter2`, `P@ss-w0rd!`."""
    signs = sum(letter in "!@#$%^*+~?=" for letter in value)
    digits = sum(map(str.isdigit, value))
    return (digits >= 1 and len(value) >= 6 and not re.fullmatch(r"[a-z]+(?:_[a-z0-9]+)+", value)) or (
        signs >= 1 and digits >= 1
    )


_CODE = re.compile(
    r"[@:&*$~!-]*[A-Za-z_]\w*(?:(?:\.|::|->|\?\.|!\.|/)[A-Za-z_]\w*)+[!?*]*"
    r"|[@:&*$%~!]+[A-Za-z_]\w*[!?]?|https?:.*|[.~]?/[\w./-]*|\w+[!=<>]=[^=].*"
)


def _is_code(value: str) -> bool:
    """Whether it is an expression or a path: `self.token`, `Secret::Plain`, `&key`, `/run/secrets/db`."""
    return bool(_CODE.fullmatch(value)) and not looks_random(value.rsplit(".", 1)[-1])


def _of_environment(found: _Found, how: str, start: int) -> tuple[int, int] | None:
    """Return the span of what follows `NAME=` in an environment file, a shell command or `ENV NAME value`."""
    text, name = found.text, found.name
    if not name.isupper() or not _BEFORE_ENV.search(text, max(0, found.start - 60), found.start):
        return None
    if how == "gap":
        before = text[max(0, found.start - 10) : found.start].strip().lower()
        if not before.endswith((b"env", b"setx", b"setenv", b"-x", b"-gx", b"set", b"arg")):
            return None
    elif how == "op" and text[found.end : start].partition(b"\\")[0] not in (b"=", b":=", b": "):
        return None
    value = found.words.value(text, start) or ""
    if (quote := text[found.start - 1 : found.start].decode()) in ("'", '"'):  # it stands around name and value
        value = value.partition(quote)[0]
    if (
        len(value) < 4
        or is_placeholder(value)
        or value[:1] in "\"'`$"
        or re.match(r"[A-Za-z_.]+[(\[]", value)
        or _is_code(value)
    ):
        return None
    if value[-1] in ",;)}" and how == "op":
        value = value[:-1]
    if any(map(str.isdigit, value)) or found.meaning.any_value or looks_random(value):
        if re.fullmatch(r"[\d.]{1,4}|[A-Z_]+|[A-Za-z]\w*\(.*", value):
            return None
        return start, start + len(value)
    return None
