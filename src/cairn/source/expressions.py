"""Normalizes expressions of all languages to one form.

`a->b`, `A::b` and `a?.b` become `a.b`. The content of brackets is dropped, so that `f(x)[0].g` becomes `f()[].g`.
Anything else becomes `?`. In languages with overloading, parentheses keep the number of arguments if it is obvious:
`f(1)[].g`. Where calls often name the type that they return, a single type argument stays: `get<Till>(0).ring`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cairn.source.arguments import OVERLOADING, UNKNOWN, count_in_text

_MAX_EXPRESSION_BYTES = 400
_MAX_SHORTENED_BYTES = 20_000  # of an expression, including the content of its brackets
_MAX_WRAPPINGS = 8
_PLAIN = re.compile(r"#?[@$\w]+(?:\.#?[@$\w]+)*")  # `#name` is private in JavaScript
_STRING = re.compile(r"""[rbfu]*"(?:[^"\\\n]|\\.)*"|[rbfu]*'(?:[^'\\\n]|\\.)*'|`[^`]*`""", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_EMPTIED = {"(": "\1", "[": "\2", "{": "\3"}  # placeholders for empty brackets while the outer ones are emptied
_FIRST_COUNT, _MAX_COUNT = 0xE000, 99  # private-use letters that stand for brackets with this many arguments meanwhile
_COUNT = re.compile(f"[{chr(_FIRST_COUNT)}-{chr(_FIRST_COUNT + _MAX_COUNT)}]")
_GENERICS = re.compile(r"(?:::)?<[^<>()]*>")
_TYPE_GIVEN = re.compile(r"<([A-Z]\w*)>(?=\(\d*\)(?:[.?!]|$))")  # `get<Till>().ring`
_GIVING_TYPES = frozenset({"csharp", "dart", "kotlin"})  # where calls often say what they give
_TURBOFISH = re.compile(r"::<(?:[^<>]|<[^<>]*>)*>")
_ARROW = re.compile(r"->|::|\?\.|&\.|!!?\.|\\")
_ROUND = re.compile(r"[()]")
_CAST = re.compile(r"\(\s*(?:(?:const|struct|final) )*([A-Za-z_][\w.:]*)(?:<[^()]*>)?[\s*&?]*\)\s*[&*]?[\w$\"(]")
_UNTYPED = re.compile(r"\s+as\s+(?:any|never|unknown)$")  # a cast that adds nothing
_CAST_BEHIND = re.compile(r"\sas[?!]?\s+([A-Za-z_][\w.]*)(?:<[^()]*>)?\??$")
_ASSERTED = re.compile(r"^.*[\w)\]]\.\((?:\*([A-Za-z_][\w.]*)|((?:\w+\.)?[A-Z]\w*))\)(?=\.)", re.DOTALL)
_BRACKETED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|[()\[\]{}]", re.DOTALL)
_NEW_BARE = re.compile(rb"new\s+[\w\\.]+")
_MADE = re.compile(r"\(new\s+(\\?[A-Za-z_][\w\\.]*)\s*[()]")
_KEYWORD = re.compile(r"^(?:await|new|yield|typeof|void|return|throw)\s+")
_CHAIN = re.compile(
    r"(?:[@$\w]+[?!]?|\"\"|\[\]|\{\})(?:<\w+>)?(?:\(\d*\)|\[\]|\{\})*"
    r"(?:\.#?[@$\w~]+[?!=]?(?:<\w+>)?(?:\(\d*\)|\[\]|\{\})*)*"
)
_LAST_NAME = re.compile(r"((?:(?<=\.)#)?[$\w]+[?!]?)$")
_SPACE = re.compile(r"\s+")
# `<Till as Ring>::ring` of Rust: the type by which it is called, or the trait where that is no plain name.
_AS_TRAIT = re.compile(
    rb"<\s*(?:([A-Z]\w*)(?:<[^<>]*>)?(?:\s+as\s[^<>]*(?:<[^<>]*>)?)?|[^<>]{1,200}?\sas\s+([\w:]+)(?:<[^<>]*>)?)\s*>(?=::)"
)
_AWAIT = re.compile(rb"\s*\.await\b")
_PATH = re.compile(rb"[a-z_]\w*::")
_CASCADES = re.compile(r"\s*\??\.\.(?:.*\.\.)?", re.DOTALL)
_RAW_NAME = re.compile(r"(?<![\w\"'])r#(?=[A-Za-z_])")  # of Rust


@lru_cache(maxsize=1 << 16)
def expression_of(raw: bytes, counted: str = "", *, keeps_types: bool = False) -> str:
    """Return the normal form of an expression, empty if it names nothing.

    Args:
        raw: the source text.
        counted: the language, if arguments are to be counted; see `cairn.source.arguments`.
        keeps_types: whether the only type argument of a call stays, if it is a plain name.
    """
    is_whole = len(raw) <= _MAX_EXPRESSION_BYTES
    text = raw.decode("utf-8", "replace") if is_whole else _shortened(raw)
    if _PLAIN.fullmatch(text):
        return text
    text = _KEYWORD.sub("", text.strip()).lstrip("&*~!")
    if _NEW_BARE.fullmatch(raw):
        text += "()"
    if text.startswith("(new "):
        text = _instance(text)
    text = _RAW_NAME.sub("", _STRING.sub('""', text))
    if text.startswith("("):
        text = _unwrapped(text)
    if ".(" in text and (asserted := _ASSERTED.match(text)):
        text = f"{asserted[1] or asserted[2]}{{}}{text[asserted.end() :]}"
    text = _TURBOFISH.sub("", _without_contents(text, counted if is_whole else ""))
    text = text.replace("->", ".")
    if keeps_types:
        text = _TYPE_GIVEN.sub("\1\\1\2", text)
    while (plain := _GENERICS.sub("", text)) != text:
        text = plain
    text = text.replace("\1", "<").replace("\2", ">")
    text = _ARROW.sub(".", text)
    text = _SPACE.sub("", text).replace(")?", ")").strip(".")
    if _CHAIN.fullmatch(text):
        return text
    last = _LAST_NAME.search(text)
    return f"?.{last[1]}" if last is not None and not last[1][0].isdigit() else ""


def expression_in(language: str, raw: bytes) -> str:
    """Return the normal form of an expression in a language."""
    if language == "rust" and raw.startswith(b"<") and (typed := _AS_TRAIT.match(raw)):
        raw = (typed[1] or typed[2]) + raw[typed.end() :]
    if language == "rust" and b".await" in raw:
        raw = _AWAIT.sub(b"", raw)
    elif language == "dart" and b".." in raw:  # each part of a cascade is called on the expression before the first
        raw = _CASCADES.sub(".", _without_contents(raw.decode("utf-8", "replace")), count=1).encode()
    elif b".prototype." in raw:  # of a class of JavaScript
        raw = raw.replace(b".prototype.", b".")
    keeps_types = language in _GIVING_TYPES and b">(" in raw
    expression = expression_of(raw, language if language in OVERLOADING else "", keeps_types=keeps_types)
    if language == "ruby" and raw.startswith(b"::"):
        return f"Object.{expression}" if expression[:1].isupper() else expression
    is_path = language == "rust" and not raw.endswith(b"!") and _PATH.match(raw)
    return mark_path(expression) if is_path else expression


def _instance(text: str) -> str:
    """Turn `(new Type(…)).x` into `Type{}.x`."""
    made = _MADE.match(text)
    depth = 0
    for place, letter in enumerate(text if made is not None else ""):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return f"{made[1]}{{}}{text[place + 1 :]}" if made is not None else text
    return text


def mark_path(expression: str) -> str:
    """Return an expression with a mark after its first name, which must be a module or a type."""
    head, dot, rest = expression.partition(".")
    is_plain = head.isidentifier() and head[0].islower() and head not in ("crate", "self", "super")
    return f"{head}:{dot}{rest}" if dot and is_plain else expression


def called_name(expression: str) -> str:
    """Return the last name of an expression."""
    return expression.rpartition(".")[2].partition("(")[0].partition("<")[0].removesuffix("[]")


def _shortened(raw: bytes) -> str:
    """Return a long expression without the content of its brackets, or its end if they do not match."""
    text = raw[-_MAX_SHORTENED_BYTES:].decode("utf-8", "replace")
    parts: list[str] = []
    depth = at = 0
    for match in _BRACKETED.finditer(text):
        mark = match[0]
        if mark in ("(", "[", "{"):
            parts += [text[at : match.start()], mark] if not depth else []
            depth += 1
        elif mark in (")", "]", "}"):
            depth -= 1
            at = match.start() if not depth else at
        elif not depth and mark.startswith("/"):
            parts.append(text[at : match.start()])
            at = match.end()
    whole = "".join([*parts, text[at:]])
    return whole if not depth and len(whole) <= _MAX_EXPRESSION_BYTES else text[-_MAX_EXPRESSION_BYTES:]


def _unwrapped(text: str) -> str:
    """Return an expression without parentheses around its beginning; a cast becomes a literal of its type."""
    for _ in range(_MAX_WRAPPINGS):
        closing = _closing(text) if text.startswith("(") else -1
        if closing < 0:
            break
        inner, rest = _KEYWORD.sub("", text[1:closing].strip()).lstrip("&*"), text[closing + 1 :]
        inner = _UNTYPED.sub("", inner)
        cast = _CAST.match(inner) if rest else None
        if cast or (cast := _CAST_BEHIND.search(inner)):
            return f"{cast[1]}{{}}{rest}"
        if not inner.startswith("(") and not _CHAIN.fullmatch(_ARROW.sub(".", _without_contents(inner))):
            break
        text = inner + rest
    return text


def _closing(text: str) -> int:
    """Return the offset of the bracket that closes the one at the beginning of a text, -1 for none."""
    depth = 0
    for match in _ROUND.finditer(text):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.start()
    return -1


def _without_contents(text: str, counted: str = "") -> str:
    """Return a text with all brackets emptied, or holding a number of arguments."""

    def emptied(match: re.Match[str]) -> str:
        count = count_in_text(match[0][1:-1], counted) if counted and match[0][0] == "(" else UNKNOWN
        return chr(_FIRST_COUNT + count) if 0 <= count <= _MAX_COUNT else _EMPTIED[match[0][0]]

    for _ in range(_MAX_EXPRESSION_BYTES):
        shorter = _BRACKETS.sub(emptied, text)
        if shorter == text:
            break
        text = shorter
    if counted:
        text = _COUNT.sub(lambda match: f"({ord(match[0]) - _FIRST_COUNT})", text)
    return text.replace("\1", "()").replace("\2", "[]").replace("\3", "{}")
