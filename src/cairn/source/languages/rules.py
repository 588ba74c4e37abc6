"""How a language finds what a name means, as data for the symbol graph."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """How one language finds what a name means.

    Attributes:
        family: languages of one family see each other's definitions; empty where names alone tell.
        finder: which way of `cairn.graph.modules` leads from an import to a file, empty for none.
        this: the words for the object whose method runs; `types` for its class; `parents` for what it inherits.
        prefix: what an attribute of that object begins with where no word stands before it, such as Ruby's `@`.
        implicit: whether a method calls another of its object without such a word.
        package: what shares its names without an import: `file`, `directory`, `package` (as the files say), or `all`.
        open_types: whether methods of a type may stand outside of it, even in other files.
        open_namespaces: whether what a namespace holds is seen in the rest of its file without the namespace's name.
        type_side: where a type stands: `after` (`x: T`), `before` (`T x`), `go` (`x T`), or empty for none.
        result: the mark before the type a function returns, empty where it stands before the name.
        maker: the method of a class that gives an instance, such as Ruby's `new`.
        constructor: the method that runs then.
        exports: what tells that others may use a definition: `name` (no underscore before it), `capital` (its first
            letter), or `word` (such as `public` in its head).
        exports_members: whether they may use all that a type holds, whatever tells of the rest.
    """

    family: str
    finder: str = ""
    this: frozenset[str] = frozenset({"this"})
    types: frozenset[str] = frozenset()
    parents: frozenset[str] = frozenset({"super"})
    prefix: str = ""
    implicit: bool = False
    package: str = "file"
    open_types: bool = False
    open_namespaces: bool = True
    type_side: str = ""
    result: str = ""
    maker: str = ""
    constructor: str = "constructor"
    exports: str = "name"
    exports_members: bool = False


def words(*names: str) -> frozenset[str]:
    """Return words as a set."""
    return frozenset(names)
