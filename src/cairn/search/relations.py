"""Recognises queries that ask for a relation between symbols or for a kind of definition, from tables of phrases."""

from __future__ import annotations

import re
from itertools import product
from typing import Literal, NamedTuple

from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS

Relation = Literal["callers", "callees", "references", "writes", "implementers", "importers", "tests"]

# `X` stands for a symbol, `a|b` for either word. Words are compared in lower case; those in `_FILLERS` are skipped.
_PLACES = "functions|methods|classes|components|files|modules|places|code"
_CHANGING = "change|modify|rename|remove|delete"
_CHANGED = "changing|modifying|renaming|removing|deleting"
_FORMS: dict[Relation, tuple[str, ...]] = {
    "callers": (
        "callers of|for X", "callsites of X", "call sites of X", "who|what calls X", "call|calls to|of X",
        "where is X called", "where is X called from", "X callers", "where do we call X",
        f"which|what {_PLACES} call|calls X", f"{_PLACES} that call|calls X",
    ),
    "references": (
        "reference|references to|of X", "usage|usages|use|uses of X", "X references|usages|uses",
        "who|what uses|reads|references|renders|instantiates X", "what refers to X",
        "where is X used|referenced|read|rendered|instantiated", "where do we use|read|render X",
        f"which|what {_PLACES} use|uses|reference|references|read|reads|render|renders X",
        f"{_PLACES} that use|uses|reference|references|read|reads|render|renders X",
        "what|who depends on X", f"{_PLACES} that depend|depends on X", f"which|what {_PLACES} depend|depends on X",
        f"what breaks|break if|when i|we {_CHANGING} X", f"what would|will|could break if|when i|we {_CHANGING} X",
        f"what is affected if|when i|we {_CHANGING} X", f"what is affected by {_CHANGED} X",
        f"impact|effect|effects of {_CHANGED} X", "is X used", "is X still used", "is X unused",
        "does anything use|reference|read X",
    ),
    "writes": (
        "where is X assigned|set|written|changed|modified|mutated", "who|what writes|sets|assigns|changes|modifies X",
        "writes|assignments of|to X", "where do we set|write|change|assign X",
    ),
    "callees": ("callees of X", "what does X call", "what X calls"),
    "implementers": (
        "who|what implements|extends|subclasses|overrides X", "who|what inherits|derives from X",
        "implementations|implementers|subclasses|subtypes|overrides of X", "who|what conforms to X",
        "which classes|types implement|extend X", "classes|types that implement|extend X",
        "which types conform to X", "types that conform to X", "X implementations|subclasses",
    ),
    "importers": (
        "importers of X", "who|what imports|includes X", "which|what files|modules import|include X",
        "files|modules that import|include X", "where is X imported", "where do we import X",
    ),
    "tests": ("tests for|of X", "what tests X", "which|what tests cover|exercise X", "tests that cover|exercise X"),
}  # fmt: skip


def _spelled_out(form: str) -> list[tuple[str, ...]]:
    """Return the templates of a form; one for `where is X called` is also one for `where X is called`."""
    templates = list(product(*(part.split("|") for part in form.split())))
    if form.startswith("where is X "):
        templates += [("where", "X", "is", *template[3:]) for template in templates]
    return templates


_TEMPLATES = [(each, relation) for relation, forms in _FORMS.items() for form in forms for each in _spelled_out(form)]
_LONGEST = max(len(template) for template, _ in _TEMPLATES)
# By where the symbol stands and the words around it; of forms that fit the same words, the first counts.
_BY_WORDS = {
    (template.index("X"), tuple(word for word in template if word != "X")): number
    for number, (template, _) in reversed(list(enumerate(_TEMPLATES)))
}
# Two words may just as well be prose, unless the first one is shaped like a name.
_MARKED = re.compile(r"[_.:$#/()]|[a-z][A-Z]")
_SHAPED = re.compile(rf"{_MARKED.pattern}|^[A-Z]")
_OPENINGS = frozenset({"find", "list", "show", "me", "all", "the", "every", "each"})
_FILLERS = frozenset({"the", "function", "method", "class", "type", "interface", "file", "module"}) | frozenset(
    {"component", "hook", "struct", "trait", "enum", "constant", "variable", "field", "property", "macro"}
)
_ANYWHERE = re.compile(
    r"(?i)(?:\s(?:anywhere|(?:in|across) (?:the|this|our) (?:whole )?(?:code(?: ?base)?|project|repo(?:sitory)?)))+"
    r"\s*\??$"
)
_IN_FILE = re.compile(
    r"(?P<rest>.+\S)\s+in\s+(?:the file )?[`\"']?(?P<path>[^\s`\"']*(?:/|\.\w{1,8})[^\s`\"'?]*)[`\"']?\??"
)

_UNQUOTED = re.compile(r"^[\"'`]+|[\"'`]+\??$")
_METHODS = frozenset({"method", "constructor", "destructor"})
_MODULES = frozenset({"module", "namespace", "package"})
_VALUES = frozenset({"constant", "variable", "property", "field"})
KINDS: dict[str, frozenset[str]] = {
    "class": TYPE_KINDS,
    "type": TYPE_KINDS,
    "struct": frozenset({"struct", "union"}),
    "interface": frozenset({"interface", "protocol", "trait"}),
    "trait": frozenset({"trait"}),
    "protocol": frozenset({"protocol"}),
    "enum": frozenset({"enum"}),
    "record": frozenset({"record"}),
    "model": TYPE_KINDS,
    "entity": TYPE_KINDS,
    "function": FUNCTION_KINDS,
    "func": FUNCTION_KINDS,
    "fn": FUNCTION_KINDS,
    "def": FUNCTION_KINDS,
    "method": _METHODS,
    "module": _MODULES,
    "mod": _MODULES,
    "namespace": _MODULES,
    "macro": frozenset({"macro"}),
    "macro_rules!": frozenset({"macro"}),
    "typealias": TYPE_KINDS,
    "type alias": TYPE_KINDS,
    "const": _VALUES,
    "constant": _VALUES,
    "var": _VALUES,
    "let": _VALUES,
    "val": _VALUES,
}


class RelationQuestion(NamedTuple):
    """A question for what is in a relation to a symbol; `symbol` is as the user wrote it, without quotes."""

    relation: Relation
    symbol: str

    @property
    def is_shaped(self) -> bool:
        """Whether the symbol is shaped like a name, and not like a word of prose."""
        return _SHAPED.search(self.symbol) is not None

    @property
    def is_marked(self) -> bool:
        """Whether the symbol is written as no word of prose is: a capital at its beginning is not enough."""
        return _MARKED.search(self.symbol) is not None


def parse_relation(text: str) -> RelationQuestion | None:
    """Return the relation that a query asks for, None for any other query."""
    if " in " in text and (within := _IN_FILE.fullmatch(text)) is not None:
        question = parse_relation(within["rest"])
        return question and question._replace(symbol=f"{within['path']}:{question.symbol}")
    words = _ANYWHERE.sub("", text).split()
    while words and words[0].lower() in _OPENINGS:
        del words[0]
    if not 1 < len(words) <= _LONGEST + len(_FILLERS) or (len(words) == 2 and not _SHAPED.search(words[0])):
        return None
    words = [word for at, word in enumerate(words) if word.lower() not in _FILLERS or at in (0, len(words) - 1)]
    question = _question_of(words)
    if question is None and words[-1].rstrip("?").lower() in _FILLERS:  # `who calls the load method`
        question = _question_of(words[:-1])
    return question


def _question_of(words: list[str]) -> RelationQuestion | None:
    folded = [word.lower() for word in words]
    folded[-1] = folded[-1].rstrip("?")
    fitting = [
        (number, at)
        for at in range(len(words))
        if (number := _BY_WORDS.get((at, (*folded[:at], *folded[at + 1 :])))) is not None
    ]
    if not fitting:
        return None
    number, at = min(fitting)
    symbol = _UNQUOTED.sub("", words[at]).removesuffix("()")
    return RelationQuestion(_TEMPLATES[number][1], symbol) if symbol.strip("?") else None


def parse_kind(text: str) -> tuple[str, str] | None:
    """Return the kind and the name of a query such as `class Session`, None for any other query."""
    word, _, name = text.partition(" ")
    return (word, name.strip()) if word in KINDS and name and " " not in name.strip() else None
