"""Reads parameter and result types out of a definition's head, on whichever side of the name a language puts them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from cairn.source.type_names import split_types, type_name, type_text

_OPENING, _CLOSING = "([{<", ")]}>"
_MODIFIERS = re.compile(
    r"^(?:(?:final|const|mut|ref|out|in|params|var|val|vararg|private|public|protected|internal|readonly|override"
    r"|static|crossinline|noinline|inout|this|scoped|register|restrict) |@[\w.]+(?:\([^)]*\))? |\.\.\.|\*+|&)+"
)
_MODIFIER_WORDS = frozenset({"private", "protected", "public", "static", "readonly", "final", "var", "const"})
_EFFECTS = re.compile(r"^(?:(?:async|reasync|throws|rethrows|throws\([\w.]+\)) )+")
_PROMOTED = re.compile(r"\b(?:private|public|protected|readonly)\b")
_POINTER = re.compile(r"(?:[\s*&]+const|\s*[*&])+$")
_TYPE_PARAMETER = re.compile(r"(?:(?:const|in|out|reified) )*('?\w+)")
_NAME = re.compile(r"^[$\w]+$")
# A parameter of C that holds a function, as `int (*visit)(int)`, or several, as `int (*visit[2])(int)`.
_TO_FUNCTION = re.compile(
    r"[^()]*\([\w\s]*[*^&]+(?:const|volatile|restrict|_Nonnull|_Nullable|\s)*\b(\w+)(?:\[\w*\])*\)\s*\(.*\)", re.DOTALL
)
_GO_NAMED = re.compile(r"(?!chan\b|func\b|map\b|struct\b|interface\b)\w+ +(?=\S)")


class Heads(NamedTuple):
    """The parameters of a function with their types (empty where unknown), which of them become attributes, its result.

    `result` is the class a call gives, empty where it is not said.
    """

    parameters: dict[str, str]
    promoted: frozenset[str]
    result: str


@lru_cache(maxsize=1 << 14)
def read_head(signature: str, name: str, side: str, result: str) -> Heads:
    """Take a signature apart; see `cairn.source.languages.rules.Rules` for `side` and `result`."""
    receiver = ""
    start = 0
    if side == "go" and signature.startswith("func ("):
        closing = _closing(signature, 5)
        receiver, start = signature[6:closing], closing + 1
    at = _word_at(signature, name, start)
    opening = signature.find("(", at + len(name) if at >= 0 else start)
    if opening < 0:
        return Heads({}, frozenset(), "")
    closing = _closing(signature, opening)
    parts = _split(signature[opening + 1 : closing])
    parameters: dict[str, str] = {}
    promoted: set[str] = set()
    if side == "go":
        _read_go([receiver, *parts] if receiver else parts, parameters)
    else:
        for part in parts:
            rest_of_all = part.startswith(("*", "...", "vararg"))
            found, text = _parameter(part, side)
            if found:
                kind = type_text(text) if text else ""
                parameters[found] = kind if not rest_of_all else _rest_of_all(part, kind)
                if _PROMOTED.search(part):
                    promoted.add(found)
    rest = _EFFECTS.sub("", signature[closing + 1 :].strip())
    returned = ""
    if side == "go":
        returned = _last_word(_split(rest[1:-1])[0]) if rest.startswith("(") and len(rest) > 2 else rest
    elif result and rest.startswith(result):
        returned = rest[len(result) :]
    elif side == "before" and not result and at >= 0:
        returned = _MODIFIERS.sub("", _last_word(signature[:at].strip()))
    read = type_name if side == "go" else type_text
    return Heads(parameters, frozenset(promoted), read(returned.partition(" where ")[0].strip()) if returned else "")


@lru_cache(maxsize=1 << 14)
def split_parameters(signature: str, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the types of the parameters and of the results of a function of Go, as they are written."""
    start = _closing(signature, 5) + 1 if signature.startswith("func (") else 0
    at = _word_at(signature, name, start)
    opening = signature.find("(", at + len(name)) if at >= 0 else -1
    if opening < 0:
        return (), ()
    closing = _closing(signature, opening)
    rest = signature[closing + 1 :].strip().rstrip("{").strip()
    results = rest[1:-1] if rest.startswith("(") else rest
    return _types_of_go(signature[opening + 1 : closing]), _types_of_go(results)


def _types_of_go(text: str) -> tuple[str, ...]:
    """Return the types in a list of Go, where either all have a name or none, and names may share a type."""
    parts = _split(text)
    named = any(_GO_NAMED.match(part) for part in parts)
    types: list[str] = []
    shared = ""
    for part in reversed(parts):
        if named and (match := _GO_NAMED.match(part)):
            shared = part[match.end() :]
        types.append(" ".join((shared if named else part).split()))
    return tuple(reversed(types))


@lru_cache(maxsize=1 << 13)
def parameter_texts(signature: str, name: str, side: str) -> list[tuple[str, str, str]]:
    """Return the label (empty for none), the name and the type, as it is written, of each parameter of a function."""
    at = _word_at(signature, name, 0)
    opening = signature.find("(", at + len(name) if at >= 0 else 0)
    if opening < 0 or side not in ("after", "before"):
        return []
    found = []
    for part in _split(signature[opening + 1 : _closing(signature, opening)]):
        if side == "before":
            type_, _, last = part.rpartition(" ")
            found.append(("", last, type_))
            continue
        names, _, text = _MODIFIERS.sub("", part).partition(":")
        words = names.split() or [""]
        found.append((words[0] if len(words) > 1 else "", words[-1].rstrip("?"), _without_default(text)))
    return found


@lru_cache(maxsize=1 << 12)
def type_parameters(signature: str) -> list[str]:
    """Return the names of the type parameters of a function or a type, in the order of its head."""
    opening = signature.find("<")
    if opening < 0 or 0 <= signature.find("(") < opening:
        return []
    names = (
        _TYPE_PARAMETER.match(part) for part in split_types(signature[opening + 1 : _closing_angle(signature, opening)])
    )
    return [found[1] for found in names if found is not None]


def _closing_angle(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        if text[place] == "<":
            depth += 1
        elif text[place] == ">" and text[place - 1] not in "-=":
            depth -= 1
            if not depth:
                return place
    return len(text)


class Arity(NamedTuple):
    """How many arguments a function takes; `most` is -1 for any number."""

    least: int
    most: int

    def takes(self, count: int, *, is_dotted: bool) -> bool:
        """Tell whether a call may give so many; behind a type's name, the object is one of them."""
        return count >= self.least and (self.most < 0 or count <= self.most + is_dotted)


@lru_cache(maxsize=1 << 14)
def arity_of(signature: str, name: str, language: str) -> Arity | None:
    """Return how many arguments a function takes by its head, None if that is not known.

    Args:
        language: `python`, `go`, `java`, `kotlin`, `scala`, `csharp`, `swift`, `typescript`, `cpp` or `c`.
    """
    start = _closing(signature, 5) + 1 if signature.startswith("func (") and language == "go" else 0
    if language in _STRINGS_LEFT_OUT:
        signature = _TEXT.sub('""', signature)
    at = _word_at(signature, name, start)
    opening = signature.find("(", at) if at >= 0 else -1
    closing = _closing(signature, opening) if opening >= 0 else len(signature)
    if closing >= len(signature) or not language:
        return None
    between = signature[at + len(name) : opening].strip(" \n" if language == "scala" else "= \n")
    if between and not (language in _TYPES_BEHIND and _TYPE_PARAMETERS.fullmatch(between)):
        return None  # type parameters may hold brackets too
    inside = signature[opening:closing]
    marks = ("'", "`", "#") if language in _STRINGS_LEFT_OUT else ("'", '"', "`", "#")
    if any(mark in inside for mark in marks):
        return None  # so may texts and directives
    inside = inside.replace("->", "").replace("=>", "")
    if inside.count("<") != inside.count(">"):
        return None  # a comparison or a shift, in a default
    parts = _split(inside[1:])
    if language == "python":
        return _arity_of_python(parts)
    if language in ("c", "cpp") and parts == ["void"]:
        return Arity(0, 0)
    if language == "c" and not parts:
        return None
    if language == "typescript":
        parts = [part for part in parts if not part.startswith("this:")]
        return _arity(parts)._replace(least=0)
    return _arity_of_overload(signature[:at].split(), parts, language) if language in _OF_OVERLOADS else _arity(parts)


_STRINGS_LEFT_OUT = frozenset({"cpp", "csharp", "java", "kotlin", "scala", "swift"})
_OF_OVERLOADS = frozenset({"csharp", "java", "kotlin", "scala", "swift"})
_TYPES_BEHIND = frozenset({"csharp", "scala", "swift"})
_TYPE_PARAMETERS = re.compile(r"[?!]?\s*(?:<.*>|\[.*\])?", re.DOTALL)
_TEXT = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)'")


def _arity_of_overload(words: list[str], parts: list[str], language: str) -> Arity:
    """Return the same in a language with overloads, given the words before the name."""
    if language == "java" and parts and parts[0].endswith(" this"):
        parts = parts[1:]  # declares the type of the object
    arity = _arity(parts)
    if language == "scala":
        if any(part.endswith("*") for part in parts):
            return Arity(0, -1)
        is_given = bool(parts) and parts[0].startswith(("implicit ", "using "))
        # Several arguments may be one tuple, and none may be the unit.
        return Arity(0, -1) if len(parts) == 1 or is_given else arity
    if any(part.startswith(("vararg ", "params ")) or " vararg " in part or " params " in part for part in parts):
        return Arity(max(0, arity.least - 1), -1)
    if language == "csharp" and parts and parts[0].startswith("this "):
        return arity._replace(least=max(0, arity.least - 1))  # called like a method
    if language == "kotlin" and ("override" in words or "actual" in words):
        return arity._replace(least=0)  # what it overrides has the defaults
    return arity


def _arity(parts: list[str]) -> Arity:
    has_rest = any("..." in part for part in parts)
    n_defaults = sum("=" in part for part in parts)
    return Arity(max(0, len(parts) - has_rest - n_defaults), -1 if has_rest else len(parts))


def _arity_of_python(parts: list[str]) -> Arity:
    if parts and parts[0].partition(":")[0].strip() in ("self", "cls"):
        parts = parts[1:]
    named = [part for part in parts if part not in ("*", "/") and not part.startswith("*")]
    has_rest = any(part.startswith("*") and part != "*" for part in parts)
    return Arity(sum("=" not in part for part in named), -1 if has_rest else len(named))


@lru_cache(maxsize=1 << 14)
def declared_type(signature: str, name: str, side: str) -> str:
    """Return the class that the declaration of a field, property or variable names, empty where it names none."""
    head = signature.partition("=")[0].strip().rstrip(";{ ")
    if side == "after":
        before, found, text = head.partition(":")
        return type_text(text) if found and before.rstrip(" ?!").endswith(name) else ""
    if side == "go":
        _, found, text = head.partition(f"{name} ")
        return type_name(text) if found else ""
    if side == "before":
        at = _word_at(head, name, 0)
        while (following := _word_at(head, name, at + 1)) >= 0 and at >= 0:  # a type may have the same name
            at = following
        before = _POINTER.sub("", head[:at].rstrip("$ \t")) if at >= 0 else ""
        word = _last_word(before) if before else ""
        return type_text(word) if word not in _MODIFIER_WORDS else ""
    return ""


def aliased_type(signature: str) -> str:
    """Return the class that `type Name = Other` gives another name, or that `type Name: Bound` must be, else empty."""
    _, found, text = signature.partition("=")
    if not found:
        text = signature.partition(":")[2].partition("+")[0].partition("&")[0].partition(" where ")[0]
    return type_name(text.strip().rstrip(";"))


@lru_cache(maxsize=1 << 13)
def receiver_of(signature: str, name: str) -> str:
    """Return the class before the name in `fun Type<T>.name()` or `val Type.name`, empty for all others."""
    found = re.search(
        rf"\b(?:fun|val|var) (?:<[^()]*?> )?(?:@\w+ )*\(?([\w.]+)(?:<[^()]*>)?\??\)?\.`?{re.escape(name)}\b", signature
    )
    return type_name(found[1]) if found is not None else ""


_BOUNDS = re.compile(
    r"(?:[<,(]|\bwhere\b)\s*(?:reified )?([A-Z]\w*)\s*:(?!:)\s*((?:[^<>,{}()=]|<(?:[^<>{}]|<[^<>{}]*>)*>)+)"
)

_EXTENDED = re.compile(r"[<,]\s*(?:(?:const|in|out) )*([A-Z]\w*)\s+extends\s+([A-Za-z_][\w.]*)")  # of TypeScript, Java


@lru_cache(maxsize=1 << 13)
def bounds_of(signature: str) -> dict[str, tuple[str, ...]]:
    """Return what type parameters must be, by their names: `<T: A + B>`, also after `where`, or `<T extends A>`."""
    bounds: dict[str, tuple[str, ...]] = {}
    for name, text in (*_BOUNDS.findall(signature), *_EXTENDED.findall(signature)):
        kinds = (type_name(part.strip()) for part in re.split(r"[+&]|\bwhere\b", text))
        bounds[name] = (*bounds.get(name, ()), *(kind for kind in kinds if kind))
    return bounds


def _word_at(text: str, word: str, start: int) -> int:
    """Return where a word stands by itself, -1 if nowhere."""
    at = text.find(word, start)
    while at >= 0:
        end = at + len(word)
        if not (at and _is_letter(text[at - 1])) and not (end < len(text) and _is_letter(text[end])):
            return at
        at = text.find(word, end)
    return -1


def _is_letter(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _closing(text: str, opening: int) -> int:
    """Return where the bracket that opens at `opening` closes, the end of the text where it does not."""
    depth = 0
    for place in range(opening, len(text)):
        letter = text[place]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if not depth:
                return place
    return len(text)


def _split(text: str) -> list[str]:
    """Split at the commas outside of all brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and not (letter == ">" and text[place - 1] in "-="):
            depth -= 1
        elif letter == "," and depth <= 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def _parameter(part: str, side: str) -> tuple[str, str]:
    part = _MODIFIERS.sub("", part)
    if side == "after":
        name, _, text = part.partition(":")
        if not text:
            name = name.partition("=")[0]
        return (name.split() or [""])[-1].rstrip("?"), _without_default(text)  # Swift writes a label before the name
    if side == "before":
        part = _without_default(part)
        if "(" in part and (pointer := _TO_FUNCTION.fullmatch(part)) is not None:
            return pointer[1], ""
        at = re.search(r"[&*]*([$\w]+)(?:\[\])?$", part)
        return (at[1], part[: at.start()].strip()) if at is not None and at.start() else ("", "")
    name = part.partition("=")[0].partition(":")[0].strip("*&: ")
    return (name, "") if _NAME.match(name) else ("", "")


def _rest_of_all(part: str, kind: str) -> str:
    """Return what a parameter holds that takes all arguments that are left, each of a type."""
    return f"Array<{kind}>" if kind and part.startswith("vararg") else ""


def _without_default(text: str) -> str:
    depth = 0
    for place, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "=" and depth <= 0 and text[place + 1 : place + 2] != ">":
            return text[:place].strip()
    return text.strip()


def _read_go(parts: list[str], parameters: dict[str, str]) -> None:
    """Read `a, b T`: a name without a type has that of the next."""
    waiting: list[str] = []
    for part in parts:
        name, found, text = part.partition(" ")
        waiting.append(name)
        if found:
            kind = type_name(text.removeprefix("..."))
            parameters |= dict.fromkeys(waiting, "" if text.startswith("...") else kind)
            waiting = []


def _last_word(text: str) -> str:
    """Return the last word of a text, with the brackets it ends in and what stands in them."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        letter = text[place]
        if letter in _CLOSING:
            depth += 1
        elif letter in _OPENING:
            depth -= 1
        elif letter.isspace() and depth <= 0:
            return text[place + 1 :]
    return text
