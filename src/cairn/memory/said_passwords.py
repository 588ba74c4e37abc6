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

_PASSWORD = r"(?:pass ?(?:word|phrase|code)|passwd|pwd|\bpw|passwort|kennwort|\b(?:db|database|root|admin|user|mysql|postgres|redis|wi-?fi|ssh|ftp|sudo) pass)"
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
_IS_SET = rf"(?i)\b(?:set|reset|changed?|rotated?|updated?) (?:(?:the|our|my|your|its) )?(?:[a-z0-9-]+ ){{0,2}}?{_PASSWORD}{_WHOSE} (?:back )?to{_VALUE}"
# With the name of a user, the first group.
_GOES_WITH_USER = (
    rf"(?i)\b(?:{_USER})(?: as)? ([0-9a-z_.@-]{{1,40}}),?(?: and| with| /)?(?: the)? {_PASSWORD}{_VALUE}",
    rf"(?i)\bcredentials?{_WHOSE}(?: (?:is|are))?:?[ \t]+([0-9a-z_.@-]{{1,40}}) ?[/:][ \t]*{_QUOTED}",
)
_NO_USERS = frozenset({b"with", b"and", b"the", b"using", b"by", b"a", b"your", b"no", b"without"})
_TOKEN_IS_SAID = rf"(?i)\b{_TOKEN}{_WHOSE}{_IS}{_VALUE}"
_DIGITS = r"(?i)\b(?:pin(?: code)?|passcode|otp|one-time (?:code|password)|2fa code)(?: (?:for|of|on) [0-9a-z_.' -]{1,40}?)?(?: (?:is|was))?(?: now)?:? ([0-9]{4,8})\b"
_HINTS = r"(?i)pass|pwd|\bpw|kennwort|token|secret|credential|\bpin\b|otp|2fa|(?:api|access|signing) key"
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
_DIGIT_ENDING = re.compile(r"[A-Za-z]{4,}[0-9]{1,4}[!?]?")


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
    if not _compile(_HINTS).search(text):
        return
    yield from _passwords(text)
    for match in _each(_TOKEN_IS_SAID, text):
        start, value = _value(match)
        word = _WORD.match(value)
        if word and _DIGIT_ENDING.fullmatch(word[0]) and is_mixed(word[0]):
            yield start, start + len(word[0]), "token"
    for match in _compile(_DIGITS).finditer(text):
        yield (*match.span(1), "passcode")


def _passwords(text: bytes) -> Iterator[tuple[int, int, str]]:
    for pattern in (*_IS_SAID, _IS_SET, *_GOES_WITH_USER):
        for match in _each(pattern, text):
            if pattern in _GOES_WITH_USER and match.group(1).lower() in _NO_USERS:
                continue
            is_of_another = pattern in _IS_SAID and _OF_ANOTHER.search(text[max(0, match.start() - 30) : match.start()])
            start, _ = _value(match)
            if not is_of_another and (length := _length(match, text)):
                yield start, start + length, "password"


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
