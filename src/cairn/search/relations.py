"""Recognises queries that ask for a relation between symbols or for a kind of definition, from tables of phrases."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS

Relation = Literal["callers", "callees", "references", "writes", "implementers", "importers", "tests"]

# `X` stands for a symbol. Words are compared in lower case; those in `_FILLERS` are skipped.
_FORMS: dict[Relation, tuple[str, ...]] = {
    "callers": (
        "callers of X", "callers for X", "who calls X", "what calls X", "calls to X", "where is X called",
        "where is X called from", "X callers",
    ),
    "references": (
        "references to X", "references of X", "usages of X", "uses of X", "X references", "X usages", "X uses",
        "who uses X", "what uses X", "where is X used", "where is X referenced", "where is X read", "who references X",
        "what references X", "what refers to X", "who reads X", "what reads X",
    ),
    "writes": (
        "where is X assigned", "where is X set", "where is X written", "where is X changed", "where is X modified",
        "where is X mutated", "who writes X", "what writes X", "who sets X", "what sets X", "who assigns X",
        "what assigns X", "who changes X", "who modifies X", "what modifies X", "writes of X", "writes to X",
        "assignments of X", "assignments to X", "what changes X",
    ),
    "callees": ("callees of X", "what does X call", "what X calls"),
    "implementers": (
        "who implements X", "what implements X", "which classes implement X", "implementations of X",
        "implementers of X", "subclasses of X", "subtypes of X", "who extends X", "what extends X",
        "who inherits from X", "what inherits from X", "classes that extend X", "classes that implement X",
        "what conforms to X", "who conforms to X", "types that implement X", "types that conform to X",
        "which types implement X", "which types conform to X", "who subclasses X", "what subclasses X",
        "who overrides X", "what overrides X", "overrides of X", "X implementations", "X subclasses",
        "what derives from X",
    ),
    "importers": (
        "importers of X", "who imports X", "what imports X", "which files import X", "where is X imported",
        "who includes X", "what includes X", "which files include X",
    ),
    "tests": (
        "tests for X", "tests of X", "what tests X", "which tests cover X", "what tests cover X",
        "which tests exercise X",
    ),
}  # fmt: skip
_TEMPLATES = [(tuple(form.split()), relation) for relation, forms in _FORMS.items() for form in forms]
_LONGEST = max(len(template) for template, _ in _TEMPLATES)
# By where the symbol stands and the words around it; of forms that fit the same words, the first counts.
_BY_WORDS = {
    (template.index("X"), tuple(word for word in template if word != "X")): number
    for number, (template, _) in reversed(list(enumerate(_TEMPLATES)))
}
# Two words may just as well be prose, unless the first one is shaped like a name.
_SHAPED = re.compile(r"[_.:$#/()]|[a-z][A-Z]|^[A-Z]")
_OPENINGS = frozenset({"find", "list", "show", "me", "all", "the"})
_FILLERS = frozenset({"the", "function", "method", "class", "type", "interface", "file", "module"})

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


def parse_relation(text: str) -> RelationQuestion | None:
    """Return the relation that a query asks for, None for any other query."""
    words = text.split()
    while words and words[0].lower() in _OPENINGS:
        del words[0]
    if not 1 < len(words) <= _LONGEST + len(_FILLERS) or (len(words) == 2 and not _SHAPED.search(words[0])):
        return None
    words = [word for at, word in enumerate(words) if word.lower() not in _FILLERS or at in (0, len(words) - 1)]
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
    symbol = words[at].strip("\"'`").removesuffix("()")
    return RelationQuestion(_TEMPLATES[number][1], symbol) if symbol.strip("?") else None


def parse_kind(text: str) -> tuple[str, str] | None:
    """Return the kind and the name of a query such as `class Session`, None for any other query."""
    word, _, name = text.partition(" ")
    return (word, name.strip()) if word in KINDS and name and " " not in name.strip() else None
