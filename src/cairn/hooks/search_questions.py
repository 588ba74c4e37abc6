"""Tells from a search pattern what is asked: where a name is defined, where a text is, how things work."""

from __future__ import annotations

import re
from itertools import product
from typing import Literal, NamedTuple

from cairn.hooks.shell_programs import Syntax
from cairn.search.query import STOP_WORDS, looks_named

Kind = Literal["structural", "literal", "semantic"]

MAX_CHARS = 500  # characters of a pattern; a longer one is data
MOST_NAMES = 4
_MOST_ALTERNATIVES = 8
_MAX_DEPTH = 8
_GAP = "\0"  # stands for any text
_NAME = r"[A-Za-z_$~][\w$]*(?:(?:::|\.|#|->)~?[A-Za-z_$][\w$]*)*[?!]?"
_MODIFIERS = (
    r"(?:(?:export|default|pub(?:\(\w+\))?|public|private|protected|internal|static|async|abstract|final|virtual"
    r"|override|inline|unsafe|extern|data|sealed|open|suspend|local|declare|readonly|partial) +)*"
)
_DEFINES = re.compile(
    rf"(?:{_MODIFIERS})(?P<how>class|def|defp|defmodule|defmacro|function\*?|func|fn|fun|sub|proc|struct|enum|interface|trait"
    rf"|impl|protocol|extension|record|object|module|mod|namespace|package|typedef|union|type|macro_rules!|let|var|val|const"
    rf"|\#\s*define)\s+(?:\([^)]*\)\s*)?(?:self\.)?(?P<name>{_NAME})(?P<rest>.*)",
    re.DOTALL,
)
_IMPORTS = re.compile(
    r"(?:from|import|require|require_relative|use|using|include|\#\s*include)\b(?P<rest>.*)", re.DOTALL
)
_CALLS = re.compile(rf"(?:\.|await |new |return |throw |raise |@)*(?P<name>{_NAME})\s*[(<{{].*", re.DOTALL)
_CREATES = re.compile(rf"(?:new|throw|raise|await|extends|implements|instanceof|@)\s*(?P<name>{_NAME})[\s(]*")
_ASSIGNS = re.compile(rf"(?:self\.|this\.|\.|@)?(?P<name>{_NAME})\s*(?::?=|:)?\s*")
_WORD_OF_PROSE = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*[?.,!]*")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_KEYWORDS = frozenset(
    [
        *("import", "from", "export", "default", "return", "class", "def", "function", "func", "const", "let", "var"),
        *("self", "this", "static", "async", "await", "public", "private", "new", "throw", "raise", "if", "else"),
        *("for", "while", "in", "is", "not", "and", "or", "true", "false", "null", "none", "undefined", "void", "int"),
        *("string", "str", "bool", "type", "struct", "enum", "interface", "todo", "fixme", "xxx", "hack", "note"),
        *("print", "log", "console", "err", "error", "test", "tests", "assert", "require", "include", "use", "end"),
        *("do", "fn", "pub", "impl", "extends", "implements", "instanceof"),
    ]
)
_ASKING = frozenset({"how", "where", "what", "why", "which", "when", "who", "does"})
_LEAST_WORDS = 3
_LEAST_WORDS_WITHOUT_FORM = 4


class PatternQuestion(NamedTuple):
    """What a search asks.

    Attributes:
        names: possible names of definitions, as written in the pattern; empty if it does not ask for names.
        is_definite: whether its form proves that these are names: a definition, a call, an import.
        text: the pattern in plain words.
        is_prose: whether it reads like a sentence or question.
        whole_words: words that every matching line must contain, delimited by others.
    """

    names: tuple[str, ...]
    is_definite: bool
    text: str
    is_prose: bool
    whole_words: tuple[str, ...] = ()

    @property
    def is_question(self) -> bool:
        """Whether it is phrased as a question, so that no line of code could match."""
        words = self.text.lower().split()
        return self.is_prose and len(words) > _LEAST_WORDS and (words[0] in _ASKING or self.text.endswith("?"))

    @property
    def kind(self) -> Kind:
        """What it looks like; only the index knows whether there is such a name."""
        if self.names:
            return "structural"
        return "semantic" if self.is_prose else "literal"


def understand_pattern(pattern: str, syntax: Syntax, *, is_prose: bool = False) -> PatternQuestion:
    """Return what a pattern asks for.

    Args:
        pattern: of a search in the contents of files.
        syntax: its syntax.
        is_prose: whether it was given to a tool that takes questions.
    """
    if len(pattern) > MAX_CHARS or not pattern.strip():
        return PatternQuestion((), is_definite=False, text="", is_prose=False)
    is_prose = is_prose or (_is_prose(pattern.strip()) and not _is_definite(pattern))
    texts = [pattern] if syntax == "fixed" or is_prose else expand(pattern, is_basic=syntax == "basic")
    names: dict[str, None] = {}
    is_definite = False
    for text in texts:
        found, definite = _names_in(text.strip(" \t\"'`"))
        names |= dict.fromkeys(found)
        is_definite = is_definite or definite
    plain = " ".join(texts[0].replace(_GAP, " ").split()) if texts else ""
    if is_prose and len(plain.split()) > 1:
        names = {name: None for name in names if looks_named(name)}
    whole_words = _whole_words(texts[0]) if len(texts) == 1 else ()
    if not names and all(_is_keyword(word) for word in plain.split()):
        return PatternQuestion((), is_definite=False, text="", is_prose=False)
    return PatternQuestion(tuple(names)[:MOST_NAMES], is_definite and bool(names), plain, is_prose, whole_words)


def understand_file_pattern(pattern: str) -> PatternQuestion:
    """Return what a pattern for file names asks for, if it contains a name from code, or is prose."""
    if len(pattern) > MAX_CHARS:
        return PatternQuestion((), is_definite=False, text="", is_prose=False)
    if _is_prose(pattern.strip()):
        return PatternQuestion((), is_definite=False, text=pattern.strip(), is_prose=True)
    stem = pattern.rstrip("/").rpartition("/")[2].strip("*").partition(".")[0].strip("*")
    names = (stem,) if _IDENTIFIER.fullmatch(stem) and looks_named(stem) else ()
    return PatternQuestion(names, is_definite=False, text=stem, is_prose=False)


def _names_in(text: str) -> tuple[list[str], bool]:
    """Return the names that a text asks for, and whether its form proves that they are names."""
    text = text.strip(f"{_GAP} ")
    spaced = text.replace(_GAP, " ")
    if match := _DEFINES.fullmatch(spaced):
        return [match["name"]], True
    if "include" in spaced[:10]:
        return [], False  # it is a file name
    if match := _IMPORTS.fullmatch(spaced):
        return [name for name in _IDENTIFIER.findall(match["rest"]) if not _is_keyword(name)][-1:], True
    if (match := _CALLS.fullmatch(text)) and not _is_keyword(match["name"]):
        return [match["name"]], True
    match = _CREATES.fullmatch(text) or _ASSIGNS.fullmatch(text)
    if match and not _is_keyword(match["name"]):
        return [match["name"]], False
    words = [word for word in _IDENTIFIER.findall(spaced) if looks_named(word) and not _is_keyword(word)]
    return list(dict.fromkeys(words))[:2], False


def _whole_words(text: str) -> tuple[str, ...]:
    """Return a text's words except the first and last, which may be parts of longer ones."""
    words = text.split(" ")[1:-1]
    return tuple(word for word in words if _IDENTIFIER.fullmatch(word) and word.lower() not in STOP_WORDS)


def _is_definite(text: str) -> bool:
    match = _DEFINES.fullmatch(text.strip())
    return _IMPORTS.fullmatch(text.strip()) is not None or (match is not None and not _is_question(match["rest"]))


def _is_question(text: str) -> bool:
    """Tell whether the text after a definition's name continues as a sentence: `type of the option`."""
    return len([word for word in text.split() if word.lower() in STOP_WORDS]) > 1


def _is_keyword(word: str) -> bool:
    """Tell whether a word is a mere keyword; `Error` may well be somebody's class."""
    return (word.islower() or word.isupper()) and word.lower() in _KEYWORDS


def _is_prose(text: str) -> bool:
    """Tell whether a text reads like a sentence: some plain words, including a function word."""
    words = text.split()
    if len(words) < _LEAST_WORDS or not all(_WORD_OF_PROSE.fullmatch(word) for word in words):
        return False
    links = any(word.lower().strip("?.,!") in STOP_WORDS for word in words)
    return links or len(words) >= _LEAST_WORDS_WITHOUT_FORM


# -- regular expressions -----------------------------------------------------------------------------------------------


def expand(pattern: str, *, is_basic: bool) -> list[str]:
    """Return up to a few texts that a regular expression matches, with a gap for arbitrary text."""
    return [text for text in _PatternReader(pattern, is_basic).alternatives(0) if text.strip(f"{_GAP} ")]


class _PatternReader:
    """Reads a regular expression from left to right.

    Args:
        is_basic: whether it is a POSIX basic one, in which parentheses and bars are operators after a backslash.
    """

    def __init__(self, pattern: str, is_basic: bool) -> None:
        self._pattern, self._is_basic = pattern, is_basic
        self._at = 0

    def alternatives(self, depth: int) -> list[str]:
        """Return the texts up to the end, or to the end of a group."""
        texts: list[str] = []
        branch = [""]
        while (token := self._next()) is not None:
            if token == "|":
                texts, branch = texts + branch, [""]
            elif token == ")" and depth:
                break
            elif token == "(" and depth < _MAX_DEPTH:
                inner = self.alternatives(depth + 1)
                branch = _joined(branch, [""] if self._is_optional() else inner)
            elif self._is_optional() or self._is_repeated():
                branch = _joined(branch, [" " if token == " " else _GAP])
            else:
                branch = _joined(branch, ["" if token in ("(", ")") else token])
        return (texts + branch)[:_MOST_ALTERNATIVES]

    def _next(self) -> str | None:
        """Return the next operator or the text of the next part, None at the end."""
        if self._at >= len(self._pattern):
            return None
        letter = self._pattern[self._at]
        self._at += 1
        if letter == "\\":
            return self._escaped()
        if letter == "[":
            return self._class()
        if letter == "(" and not self._is_basic:
            self._skip(r"\?(?:[:=!>]|<[=!]|P?<\w+>|[a-zA-Z-]+:?)")
            return "("
        if letter in "|)" and not self._is_basic:
            return letter
        if letter in "^$":
            return ""
        if letter == "." and not re.compile(r"[*+?{]").match(self._pattern, self._at):
            return "."  # few people escape it
        return _GAP if letter in ".*?+" else letter if letter not in "()|" else f"\1{letter}"

    def _escaped(self) -> str:
        letter = self._pattern[self._at : self._at + 1]
        self._at += 1
        if self._is_basic and letter in ("|", "(", ")"):
            return letter
        if letter in ("b", "B", "<", ">", "A", "z", "Z"):
            return ""
        if letter == "s":
            return " "
        if letter in ("w", "W", "d", "D", "S", "p", "P"):
            return _GAP
        return " " if letter in ("n", "t", "r") else f"\1{letter}" if letter in ("|", "(", ")") else letter

    def _class(self) -> str:
        end = self._pattern.find("]", self._at + 1)
        inside = self._pattern[self._at : end] if end > 0 else ""
        if inside.startswith("[:") and end > 0:  # `[[:space:]]`
            end = self._pattern.find("]", end + 1)
        self._at = end + 1 if end > 0 else len(self._pattern)
        if len(inside) == 1 or (len(inside) == 2 and inside[0].lower() == inside[1].lower()):
            return f"\1{inside[0]}"
        return " " if inside in ("[:space:", "[:blank:", " \\t", "\\s") else _GAP

    def _is_optional(self) -> bool:
        return self._skip(r"\\\?|\\\{[\d,]*\\\}|\*" if self._is_basic else r"\?\??|\*\??|\{0[\d,]*\}")

    def _is_repeated(self) -> bool:
        return self._skip(r"\\\+" if self._is_basic else r"\+[?+]?|\{[\d,]+\}")

    def _skip(self, what: str) -> bool:
        match = re.compile(what).match(self._pattern, self._at)
        self._at = match.end() if match else self._at
        return match is not None


def _joined(heads: list[str], tails: list[str]) -> list[str]:
    pairs = product(heads, tails or [""])
    return [head + tail.replace("\1", "") for head, tail in pairs][:_MOST_ALTERNATIVES]
