# ruff: noqa: E501 - a pattern is a row
"""Passwords that are plain words, where the sentence says that they are one: "the staging password is swordfish".

Most sentences about passwords say something else of them: that one is hashed, wrong, or in the vault. Such words are
known by their endings, and else by a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from cairn.memory.secret_values import is_mixed, is_phrase, is_placeholder

_PASSWORD = r"(?:pass ?(?:word|phrase|code)|pasword|passwrod|passwor|psswd|passwd|pwd|\bpw|passwort|kennwort|\b(?:db|database|root|admin|user|mysql|postgres|redis|wi-?fi|ssh|ftp|sudo) pass|\b(?:wi-?fi|wlan|wpa[23]?|hotspot) (?:key|code))"
_TOKEN = r"(?:(?:api|auth|access|deploy|bearer|bot|refresh|session|service|admin|personal|webhook|client|shared|app|signing|the|our|my) (?:token|secret)|(?:api|access|secret|signing) key)"
_WHOSE = r"(?: (?:for|of|on|in|at|to) [0-9a-z_.@/' -]{1,40}?)?"
_IS = r" (?:(?:is|was|are|lautet)(?: (?:now|still|actually|currently|always|again|simply|just|really))?(?: (?:set|reset|changed|back) to)?|(?:has been|had been|got|gets) (?:set|reset|changed) to):?"
_QUOTED = r"""(\*\*|["'`])?([^\s"'`*,;()<>{}\[\]\\\x00][^"'`\n,;()<>{}\[\]\\\x00]{2,80})"""
_VALUE = rf"[ \t]+{_QUOTED}"  # the last group; before it what quotes it
_OWNER = "the|our|my|your|staging|prod|production|dev|test|demo|db|database|root|admin|default|wi-?fi"
_USER = "user(?:name)?|login|log in|logged in|sign in|as|account"
_IS_SAID = (
    rf"(?i)\b(?:[a-z0-9-]+ )?{_PASSWORD}{_WHOSE}{_IS}{_VALUE}",
    rf"(?i)\b(?:{_OWNER}) (?:[a-z0-9-]+ )?{_PASSWORD}{_WHOSE} ?[:=]{_VALUE}",
)
# As a line or a sentence of its own: `password: swordfish`, `db password - swordfish`.
_IS_NOTED = (
    rf"(?i)(?:^|\n|[.!?] |\b(?:and|with|btw|admin|root),? )(?:[a-z0-9-]+ )?{_PASSWORD}{_WHOSE}(?: ?:| -){_VALUE}"
)
# Before what says so, in the last group.
_IS_GIVEN = (
    r"(?i)\b(?:use|try|enter|type|take)[ \t]+(?:\*\*|[\"'`])?([a-z0-9!@#$%^&+~=-]{3,60})(?:\*\*|[\"'`])? (?:as|for) (?:the |your |our |its |a )?"
    rf"(?:[a-z0-9-]+ )?{_PASSWORD}(?: (?:for|of|on|in|to) |[.,;!)]|[ \t]*(?:\n|$))",
    r"(?i)(?:^|\n|[.!?:] |[\"'`])([a-z0-9!@#$%^&+~=-]{3,60})[\"'`]? is (?:the|our|my) (?:[a-z0-9-]+ ){0,2}?"
    rf"{_PASSWORD}(?: (?:for|of|on|in|to) |[.,;!)]|[ \t]*(?:\n|$))",
)
_IS_SET = rf"(?i)\b(?:set|reset|changed?|rotated?|updated?) (?:(?:the|our|my|your|its) )?(?:[a-z0-9-]+ ){{0,2}}?{_PASSWORD}{_WHOSE} (?:back )?to{_VALUE}"
# With the name of a user, the first group.
_GOES_WITH_USER = (
    rf"(?i)\b(?:{_USER})(?: as)? ([0-9a-z_.@-]{{1,40}}),?(?: and| with| /)?(?: the)? {_PASSWORD}{_VALUE}",
    rf"(?i)\b(?:{_USER}) (?:is |: ?)?([0-9a-z_.@-]{{1,40}}),? (?:and )?(?:the )?(?:{_PASSWORD}|pass) (?:is )?{_QUOTED}",
    rf"(?i)\bcred(?:ential)?s?{_WHOSE}(?: (?:is|are))?:?[ \t]+([0-9a-z_.@-]{{1,40}}) ?[/:][ \t]*{_QUOTED}",
)
# Name and password as one: `log in with admin/hunter22`. The last group is the password, the one before it the name.
_LOG_IN = r"(?:log(?:ged|ging|s)?[ -]?(?:in|on|into)|sign(?:ed|ing|s)?[ -]?(?:in|on|into)|authenticat(?:e|es|ed|ing)|login|logon|cred(?:ential)?s?|accounts?|user(?:name)?|ssh|anmeld(?:en|ung)|einloggen|zugang(?:sdaten)?|connexion|identifiants?|acceso|iniciar sesi.n)"
_ACCOUNT = r"(?:admin(?:istrator)?|root|super(?:user|admin)|sysadmin|sa|guest|demo|user|manager|operator|support|staff|postgres|mysql|oracle|elastic|rabbitmq|minio|minioadmin|grafana|jenkins|keycloak|tomcat|vagrant|ubuntu|pi|deploy|backup|test(?:er|user)?|qa|dev)[0-9]{0,2}"
_MAIL = r"[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{2,40}"
_PAIR = r"[\"'`*]{0,2} ?[/:] ?[\"'`*]{0,2}([\w!@#$%^&*+~=?.-]{4,60})(?:[\s,;)\"'`\]]|$)"
_BEGINNING = r"(?:^|[^\w/.:@\\-])"
_PAIR_TO_LOG_IN = (
    rf"(?i)\b{_LOG_IN}\b[^\n]{{0,60}}?[^\w/.:@\\-]({_ACCOUNT}|{_MAIL}){_PAIR}",
    rf"(?i){_BEGINNING}({_ACCOUNT}|{_MAIL}){_PAIR}[^\n]{{0,30}}?(?:to|for|the|you) (?:the )?{_LOG_IN}\b",
    rf"(?i)\(({_ACCOUNT}){_PAIR}",
)
_PAIR_OF_ANYBODY = (
    rf"(?i)\b{_LOG_IN}\b[^\n]{{0,30}}?(?:\bwith|\busing|\bas|\bis|\bare|:) [\"'`]?([\w.-]{{2,40}}){_PAIR}"
)
_PAIR_ALONE = rf"(?i){_BEGINNING}({_ACCOUNT}){_PAIR}"
_NO_USERS = frozenset({b"with", b"and", b"the", b"using", b"by", b"a", b"your", b"no", b"without"})
_NO_VALUES = frozenset(b"this that it what here which where email username name below above everything".split())
_TOKEN_IS_SAID = rf"(?i)\b{_TOKEN}{_WHOSE}{_IS}{_VALUE}"
_DIGITS = r"(?i)\b(?:pin(?: code)?|passcode|otp|one-time (?:code|password)|(?:2fa|door|gate|alarm|entry|unlock) code)(?: (?:for|of|on) [0-9a-z_.' -]{1,40}?)?(?: (?:is|was))?(?: now)?:? ([0-9]{4,8})\b"
_HINTS = r"(?i)pass|pasw|pssw|creds|pwd|\bpw|kennwort|token|secret|credential|\bpin\b|otp|(?:2fa|door|gate|alarm|entry|unlock) code|(?:wi-?fi|wlan|wpa[23]?|hotspot) (?:key|code)|(?:api|access|signing) key"
_PHRASE_WORDS, _WORDS_WITHOUT_QUOTES = 2, 4  # that make a passphrase where the sentence calls it one, or else
# The sentence speaks of something that has to do with a password.
_OF_ANOTHER = re.compile(
    rb"(?i)\b(?:with|about|which|who|check\w*|verif\w+|stor\w+|hash\w*|read\w*|validat\w+|of|for|in|from|by|without|if|whether)"
    rb" (?:the |a |an |our |your |their |its |this |every |any )?$"
)
_CLAUSE = re.compile(r"[.:?!]?(?:\n|$|\s-|[.:] )")
_CLAUSE_END = re.compile(
    r"[.:?]*(?:[,;)]|\s*$|\s+(?:and|but|or|for|on|in|at|now|until|since|so|not|there|here|please|again)\b|\s+[-\u2013(/])|[.:?]\s|\s*\n"
)
_WORD = re.compile(r"[A-Za-z0-9!@#$%^&+~=-]{3,60}")
_ENDING_OF_NAME = re.compile(r"[_@.-]?[0-9]{2,8}[!?#$*]?|[!?#$*]{1,3}[0-9]{0,4}")
_PATH_LIKE = re.compile(r"\.[A-Za-z]|^[vV][0-9]|[0-9]x[0-9]|^[0-9.:-]+$|[(=]|^[\w-]+_[\w-]*$")
_SIGNS = "!@#$%^&*+~=?"
_DIGIT_ENDING = re.compile(r"[A-Za-z]{4,}[0-9]{1,4}[!?]?")


_LAST_LETTER = "\u2e7f"  # of scripts that have letters
_ABROAD_NAMES = (
    "contraseña", "contrasena", "senha", "palavra-passe", "mot de passe", "mdp", "passwort", "kennwort", "wachtwoord", "hasło",
    "haslo", "пароль", "密码", "密碼", "パスワード", "비밀번호", "lösenordet", "lösenord", "adgangskoden", "adgangskode", "passordet",
    "passord", "salasana", "heslo", "jelszó", "jelszo", "şifre", "sifre", "parola",
)  # fmt: skip
_ABROAD = rf"(?:{'|'.join(_ABROAD_NAMES)}|(?:la|el|il|le|a) password)"
_WHOSE_ABROAD = r"(?: (?:de|del|de la|do|da|du|des|di|della|del|für|fuer|von|vom|voor|van|для|от|к|till|til|dla|pro|do) [\w./@-]{1,30}(?: (?:la |el |de )?[\w./@-]{1,30})??)?"
_IS_ABROAD = r"(?: (?:es|é|est|ist|lautet|is|to|jest|är|er|on|je|è|это)(?: (?:ahora|agora|maintenant|jetzt|nu|teraz|теперь))?:? | ?[:\uff1a] ?| [\u2014\u2013-] |(?:是|为|為|は|는|은) ?)"
_SAID_ABROAD = rf"(?i)(?:^|[^\w]){_ABROAD}{_WHOSE_ABROAD}{_IS_ABROAD}[\"'`«„“]?([\w!@#$%^&+~=-]{{3,60}})"
_END_ABROAD = re.compile(
    r"[\"'`»“”]?(?:[.,;!)。\u3001\uff0c]?(?:\s|$)|[。\u3001\uff0c])(?:$|[^\w]|(?:y|e|et|und|en|i|\u0438|\u0430|och|og|ja|mais|pero|aber|но|para|pour|na)\b|(?<=[.,;!\n。\u3001\uff0c])|(?<=[.,;!] ))"
)
# What a password is said to be like, in those languages.
_LIKE_ABROAD = re.compile(
    r"(?i)(?:\w*(?:[ai]d[oa]s?|\w{3}[ai]t[oa]|ori[oa]s?|óri[oa]s?|[aeiá]bles?|[aeiá]bile|[aeiá]vel|mente|ée?s?|oires?|iques?|ique|vide|ect[oae]?|eux|euse)"
    r"|(?:ge|ver|be|ent|zer|er|ab|an|aus|ein)\w+(?:t|en|d)|\w+(?:iert|ig|lich|lijk|baar|bar|los|pflicht|haft)|falsch|richtig|leer|leeg|fout|juist|optional|verplicht"
    r"|\w+(?:ny|na|ne|ta|ty|te|owy|owe|owa|né|ný|ná|no)|\w+(?:ен|ена|ено|ан|ана|ано|ый|ий|ая|\u043e\u0435|ые|ется|ются|тся|ать|ить|лся|лась|ит|\u0435т)"
    r"|\w+(?:ad|at|kt|lös|er|inen|llinen|ton|tön)|vac[ií]a?o?|vazi[ao]|errad[ao]|err[oó]ne[ao]|vuot[ao]|incorrect|invalid[ea]?|null|zu|dans|nicht|niet|pas|não|no|non|не|nie|inte|ikke)"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What else a password is said to be, or a sentence goes on with.
_PREDICATES = _words(
    "wrong right weak strong short long longer shorter fine okay safe kept sent lost shown written rewritten overwritten"
    " overridden taken given broken stolen forgotten frozen driven seen gone built rebuilt held found bound unbound"
    " split spelled stale same clear opaque dynamic constant none often usually sometimes just already currently"
    " quite rather almost nearly fully partly mostly simply exact outdated without via per because since unless than"
    " those both either neither half base hex hashes salt bcrypt scrypt sha jwt uuid unicode latin ready due enough"
    " flaky slow fast live dead unique rare big small large huge tiny easy hard complex weird strange sane subject"
    " handled fetched six seven eight nine ten four five several many few mine yours ours theirs someone nobody"
    " everyone everybody anyone nothing something everything continue proceed enter comply unlock finish avoid prevent"
    " prod case-sensitive plaintext cleartext knowledge legacy deprecated mandatory"
    " obsolete identical unlikely likely meaningless harmless pointless vault keychain keyring bitwarden onepassword"
    " ldap kerberos saml oauth passkey passkeys argon pbkdf crypt cached tbd todo"
    " reached met kept put read cut hit let shut sought thought bought brought caught taught dealt meant sold told"
    " worn drawn thrown known grown blown flown undone redone reset unset preset up-to-date out-of-date made remade"
    " better worse best worst different worth above below inside outside behind next ahead apart alone aside away"
    " whatever whichever whoever wherever yet maybe perhaps probably rarely off-limits moot"
    " string strings text str int integer bool boolean number field input type any char varchar masked form param argument label"
    " column prompt unused empty hash digest salted pending same true false yes see when while only but"
    " crucial vital longest shortest ambiguous anonymous fake bogus dummy noise garbage gibberish"
    " nonsense prose english text lowercase uppercase alphanumeric numeric digits letters bytes chars"
    " whitespace rubbish junk overkill redundant scary bad awful terrible great nice cool stupid silly dumb poor"
)
_ENDINGS = re.compile(
    r"(?:[^aeiou]ed|[aeiou]ed|[a-z]{3}ing|[ai]ble|[a-z]{2}ive|[a-z]{3}(?:al|ic)|[a-z]{2}ous|ful|less|[a-z]{3}(?<!f)ly|[a-z]{2}[ao]ry"
    r"|[a-z]{4}(?:ant|ent)|ect|ete|[a-z]{3}ate|[a-z]{3}(?:tion|sion|ment|ness|ity|ism|ist)|-like|-proof|-safe|-wide|-based"
    r"|-only|-side|-specific|-hash|-free|-dependent|-bound|-time|-level|-use|-length)$"
)


def iter_said(text: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each value that a sentence calls secret, one byte standing for each character."""
    yield from _pairs(text)
    if not _compile(_HINTS).search(text):
        return
    yield from _passwords(text)
    for pattern in _IS_GIVEN:
        for match in _compile(pattern).finditer(text):
            if _is_said(match.group(1).decode(), _PHRASE_WORDS) and match.group(1).lower() not in _NO_VALUES:
                yield (*match.span(1), "password")
    for match in _each(_TOKEN_IS_SAID, text):
        start, value = _value(match)
        word = _WORD.match(value)
        if word and _DIGIT_ENDING.fullmatch(word[0]) and is_mixed(word[0]):
            yield start, start + len(word[0]), "token"
    for match in _compile(_DIGITS).finditer(text):
        yield (*match.span(1), "passcode")


def iter_said_abroad(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each password that a sentence in another language says."""
    lower = text.lower()
    if "password" not in lower and not any(name in lower for name in _ABROAD_NAMES):
        return
    for match in _search_abroad().finditer(text):
        start, end = match.span(1)
        value = match[1].rstrip("-=")
        is_like = is_placeholder(value) or _LIKE_ABROAD.fullmatch(value) or (value.isascii() and _is_predicate(value))
        is_sentence = max(value, default="") > _LAST_LETTER  # no spaces part its words
        if not (is_like or is_sentence) and any(map(str.isalpha, value)) and _END_ABROAD.match(text, end):
            yield start, start + len(value), "password"


@cache
def _search_abroad() -> re.Pattern[str]:
    return re.compile(_SAID_ABROAD)


def _passwords(text: bytes) -> Iterator[tuple[int, int, str]]:
    for pattern in (*_IS_SAID, _IS_NOTED, _IS_SET, *_GOES_WITH_USER):
        for match in _each(pattern, text):
            if pattern in _GOES_WITH_USER and match.group(1).lower() in _NO_USERS:
                continue
            is_of_another = pattern in _IS_SAID and _OF_ANOTHER.search(text[max(0, match.start() - 30) : match.start()])
            start, value = _value(match)
            length = _length(match, text)
            is_sentence = pattern == _IS_NOTED and value[:length].count("-") > 1
            if length and not is_of_another and not is_sentence:
                yield start, start + length, "password"


def _pairs(text: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the passwords that stand behind the name of a user; paths and addresses look much the same."""
    for pattern in (*_PAIR_TO_LOG_IN, _PAIR_OF_ANYBODY, _PAIR_ALONE):
        for match in _each(pattern, text):
            start, value = _value(match)
            value = value.rstrip(".?-*")
            is_made_up = is_mixed(value) and _is_strong(value, 3 if pattern == _PAIR_OF_ANYBODY else 2)
            if pattern == _PAIR_ALONE:
                name, rest = match.group(1).decode().lower(), value.lower()
                is_made_up = rest.startswith(name) and _ENDING_OF_NAME.fullmatch(rest.removeprefix(name)) is not None
            if is_made_up and not _PATH_LIKE.search(value):
                yield start, start + len(value), "password"


def _is_strong(value: str, least: int) -> bool:
    """Tell whether a value has that many kinds of characters; with fewer than three, several digits or a sign."""
    kinds = (str.isupper, str.islower, str.isdigit, _SIGNS.__contains__)
    n_kinds = sum(any(map(kind, value)) for kind in kinds)
    is_long = len(value) >= 6 if least > 2 else sum(map(str.isdigit, value)) > 1 or any(map(kinds[-1], value))
    return n_kinds >= least and (is_long or n_kinds > 2)


def _each(pattern: str, text: bytes) -> Iterator[Any]:
    """Yield the matches of a pattern, also those that begin in the value of another."""
    start = 0
    while match := _compile(pattern).search(text, start):
        yield match
        start, _ = _value(match)


def _value(match: Any) -> tuple[int, str]:  # noqa: ANN401 - re2 ships no types
    """Return where the value of a match begins, and what it may be."""
    number = match.re.groups
    return match.start(number), match.group(number).decode()


def _length(match: Any, text: bytes) -> int:  # noqa: ANN401 - as above
    """Return the length of the password that the value of a match begins with, 0 if it is none."""
    start, value = _value(match)
    if match.group(match.re.groups - 1):
        value = value.rstrip("*\"'`.: ")
        return len(value) if _is_said(value, _PHRASE_WORDS) else 0
    if (word := _WORD.match(value)) is None:
        return 0
    least = _PHRASE_WORDS if b"phrase" in match.group().lower() else _WORDS_WITHOUT_QUOTES
    clause = _CLAUSE.split(value, maxsplit=1)[0].rstrip(".:? ")
    if " " in clause and _is_said(clause, least):
        return len(clause)
    if not _CLAUSE_END.match(text[start + word.end() : start + len(value) + 20].decode()):
        return 0
    plain = word[0].rstrip("-=")
    return len(plain) if _is_said(plain, least) else 0


def _is_said(value: str, phrase_words: int) -> bool:
    if " " in value:
        words = value.split()
        return is_phrase(value, phrase_words) and sum(map(_is_predicate, words)) * 4 <= len(words)
    if value.isdigit():
        return 4 <= len(value) <= 12
    if not _WORD.fullmatch(value) or is_placeholder(value):
        return False
    return any(map(str.isalpha, value)) and not _is_predicate(value)


def _is_predicate(word: str) -> bool:
    """Whether a word says what a password is like, or what becomes of it: `hashed`, `wrong`, `optional`."""
    low = word.lower().strip("-!")
    parts = low.split("-")
    if low in _PREDICATES or is_placeholder(word) or any(part in _PREDICATES for part in parts):
        return True
    if word.isupper() and word.isalpha():  # an abbreviation or a constant
        return True
    if any(map(str.isdigit, low)):
        return not is_mixed(word)
    return bool(_ENDINGS.search(low))


@cache
def _compile(pattern: str) -> Any:  # noqa: ANN401 - as above
    import re2  # noqa: PLC0415 - start-up time: only texts need it

    return re2.compile(pattern.encode())
