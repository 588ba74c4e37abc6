"""Whether a value looks like a secret, a placeholder or a piece of code."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HEXADECIMAL = re.compile("(?:[0-9a-f-]+|[0-9A-F-]+)")
_LETTERS = re.compile("[a-z]+")
_TEMPLATE = re.compile(
    r"[$#%]\{|\{\{|\$\(|^\$|^%\(|^%[A-Z_]+%$|%[sdr]$|^<.*>?$"
    r"|^\{[\w.: !-]*\}?$|^\[.*\]?$|^\(|^[*.?_x#-]+$|\*{3}|[.]{3}|^@[\w.]+@?$|^__\w+__$|^#"
)
_SEQUENCES = "0123456789abcdefghijklmnopqrstuvwxyz0123456789 1234567890 abcdef0123456789 qwertyuiop"

# Words that a secret in use is not made of: what examples, types, checks and documentation put in its place.
_FILLERS = frozenset(
    """
    a abc access access_token account active actual add address admin all allow alt always an and another any
    anything api app application apps are arg args array as at attr attribute attributes auth authenticate
    authentication authenticator authorization auto aws azure bad bar base basic baz be bearer been blank bool
    boolean both box brace bracket broken bucket bug but by bytes cache can cannot case cert change changed changeme
    char characters chars check claim claims class clear cli client code colon column com comma command comment
    commit common config confirm confirmation confirmed const contain context cookie cookies cool could create
    created credential credentials csrf current custom data database date db debug default define defined delete
    demo deny dev did digest directory disabled do docs does done dummy each email empty enabled encoded encrypt
    encrypted end enter env environment eof eq equal error errors every example examples expire expired expires
    expiry fail failed failure fake false field fields file files filled filter first fixed fixme fixture float foo
    foobar for forgot forgotten format from func function generate generated generator get github gitlab given
    global go good google group guest handler has hash hashed have header headers hello helper here hex hidden hint
    hmac host how html http https i id ident identifier if ignore in index info init input insecure insert int
    integer internal invalid is it item its json jwt key keys keyword keywords kind label last later left length
    less let letters level line list literal local localhost logged login logout long lookup machine mail main
    manager map mask masked match max may me memory message method min misc missing mock mode model module more must
    my mysql name named namespace never new newline next nil no node none normal not nothing null nullable number
    object of off ok old on one only open operator option optional options or org other our out outer override own
    owner page param parameter params paren parent parse part pass passed passphrase passwd password passwords path
    pattern payload personal phrase place placeholder plain please plugin port postgres postgresql prefix present
    primary private prod production profile project prompt property protected provide provided provider proxy public
    punctuation put pw pwd qa query qux random raw read real redacted redirect ref refresh regex register registry
    remember remote remove replace request require required reset resource response rest result return returns role
    root rule run safe salt same sample save schema scheme scope script search secret secrets section secure
    security see select self semicolon send sent server service session set setting settings setup short should show
    sign signature signed signing size some something source special sql ssh staging start state static status
    storage store str string strong struct sub subject submit success such suffix super symbol sys system table tag
    target tbd team temp template temporary test tested tester testing tests text than that the their them then
    there these they thing this three time title tls to todo toggle token tokens too true two txt type types
    unauthorized unchanged undefined under unique unknown unset until update updated upper url urls use used user
    username users uses using utf uuid val valid validate validation value values var varchar variable vault verify
    version very view visible void was wasm we weak web webhook when where which whitespace who with without word
    words world would write wrong www xml xx xxx xxxx yaml yes you your yours zero
    """.split()  # noqa: SIM905 - a page of words, not of quotes
)  # fmt: skip
_PAIRS = frozenset(
    pair for pair, count in Counter(pair for word in _FILLERS for pair in pairwise(word)).items() if count > 2
)
_TECHNICAL = re.compile(
    r"(?i)(?:sha|md|utf|base|aes|rsa|hs|rs|es|ps|ed|x|ipv|oauth|argon|pbkdf|rc|h|p|v|s|ec|dsa|k8|i18|l10|w3|r|http|tls|ssl|m|u|f|int|uint"
    r"|float|str|arg|foo|bar|baz|token|key|user|value|val|secret|test|var|param|field|item|name|id)[-_]?[0-9]{1,4}(?:[-_]?[a-z]{1,8})?"
)


def is_placeholder(value: str) -> bool:
    """Whether it stands where a secret belongs: `${TOKEN}`, `<password>`, `your-api-key`, `xxxx`, `changeme`."""
    if _TEMPLATE.search(value) or "xxxx" in value.lower() or _in_sequence(value):
        return True
    if len(set(value)) < 3:
        return True
    return _only_fillers(value)


def _only_fillers(value: str) -> bool:
    pieces = _PIECES.findall(value)
    if not pieces:
        return False
    return all(piece.lower() in _FILLERS or (piece.isdigit() and len(piece) < 2) for piece in pieces)


def _in_sequence(value: str) -> bool:
    return len(value) >= 3 and value.lower() in _SEQUENCES


def looks_random(value: str) -> bool:
    """Whether a machine made it: letters and digits in no order that words or numbers have."""
    pieces = _PIECES.findall(value[:512])
    length = sum(map(len, pieces))
    if length < 8 or len(set(value)) < 6 or is_placeholder(value):
        return False
    words = [piece.lower() for piece in pieces if not piece.isdigit()]
    if len(words) in (0, len(pieces)):
        return length >= 14 and bool(words) and _familiar(value) < 0.5
    if len(pieces) <= 2 * len(words) and all(word in _FILLERS for word in words):
        return False
    if length >= 16 and _HEXADECIMAL.fullmatch(value):
        return True
    if length < 2.6 * len(pieces):  # letters and digits take turns
        return len(pieces) >= 4 or _familiar(value) < 0.5
    return length >= 10 and _familiar(value) < (0.62 if length < 4.2 * len(pieces) else 0.5)


def _familiar(value: str) -> float:
    """Return the share of pairs of letters that are common in words: about a third where letters are random."""
    pairs = [pair for word in _LETTERS.findall(value.lower()) for pair in pairwise(word)]
    return sum(pair in _PAIRS for pair in pairs) / len(pairs) if pairs else 0.0


def is_mixed(value: str) -> bool:
    """Whether a person may have made it up as a password: letters and digits, or letters with signs between."""
    if _TECHNICAL.fullmatch(value) or is_placeholder(value):
        return False
    has_letter = any(map(str.isalpha, value))
    has_digit = any(map(str.isdigit, value))
    has_sign = any(letter in "!@#$%^*+~?=" for letter in value)
    return has_letter and (has_digit or has_sign or (len(value) >= 8 and value.isalpha() and _familiar(value) < 0.4))


def is_passphrase(value: str) -> bool:
    """Whether it is words that stand together in no sentence: `correct-horse-battery-staple`."""
    words = value.split("-")
    chosen = {word.lower() for word in words} - _FILLERS
    return len(words) >= 4 and len(chosen) >= 4 and all(word.isalpha() and len(word) >= 3 for word in words)


def is_phrase(value: str, least: int) -> bool:
    """Whether it is at least so many words that no sentence has side by side: `correct horse battery staple`."""
    words = value.split()
    is_even = value.islower() or all(map(str.istitle, words))
    return (
        len(words) >= least
        and is_even
        and all(word.isalpha() for word in words)
        and _FILLERS.isdisjoint(map(str.lower, words))
    )


def is_prose(value: str) -> bool:
    """Whether it is a sentence or a label rather than words chosen as a passphrase."""
    words = value.split()
    if len(words) < 2:
        return False
    words = [word.strip(".,:;!?'\"()") for word in words]
    if any(map(_is_chosen, words)):
        return False
    plain = sum(word.lower() in _FILLERS for word in words)
    return (
        plain * 3 > len(words) or value.rstrip()[-1:] in ".:!?," or value[:1].isupper() or "%" in value or "{" in value
    )


def _is_chosen(word: str) -> bool:
    """Whether letters and digits take turns in a word as in a password: `Tr0ub4dor`, not `sha256` or `2nd`."""
    return len(word) >= 6 and word.isalnum() and is_mixed(word) and any(map(str.isdigit, word))
