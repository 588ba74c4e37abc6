"""Tells which calls cannot mean a definition: by how many arguments they give, and by what stands before the dot."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import NamedTuple, Self

from cairn.graph.graph import Graph
from cairn.graph.nodes import file_of, place_of
from cairn.graph.resolve import DECORATE
from cairn.graph.rules import TYPE_KINDS
from cairn.graph.signatures import Arity, arity_of
from cairn.graph.source_file import SourceFile

_COUNTED = {"python": "python", "go": "go", "jvm": "java", "ecmascript": "typescript", "c": "c"}  # family: a language
_DOTTED = frozenset(
    {"python", "go"}
)  # whose functions are called by name, or behind a module, and methods behind a dot
_PLAIN_DECORATORS = frozenset({"abstractmethod", "classmethod", "override", "staticmethod"})
_FUNCTIONS = frozenset({"function", "method"})
_MAX_ARGUMENT_BYTES = 3_000
_TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|[()\[\]{},]|\blambda\b|[<*]|\.\.\.",
    re.DOTALL,
)
_OPENING = re.compile(rb"[ \t]?(?:\[[\w., *]*\])?[ \t]?\(")
_CHAIN = re.compile(rb"(?<![\w.)\]])([A-Za-z_]\w*)(?:\.\w+)*\.$")


class _Shape(NamedTuple):
    """How one definition is called; `is_member`: behind a dot, as a method is."""

    arity: Arity | None
    is_member: bool


class CallShapes:
    """What the calls of some definitions look like, as far as their language tells.

    Args:
        family: their language's family.
    """

    def __init__(self, graph: Graph, family: str, shapes: Sequence[_Shape]) -> None:
        self._graph = graph
        self._family = family
        self._shapes = shapes

    @classmethod
    def of(cls, graph: Graph, nodes: Sequence[int]) -> Self | None:
        """Find it for some definitions, None where nothing is known."""
        shapes: list[_Shape] = []
        families: set[str] = set()
        for node in nodes:
            source, place = graph.code.file(file_of(node)), place_of(node)
            if place < 0 or not _has_shape(source, place):
                return None
            families.add(source.rules.family)
            shapes.append(_shape_of(source, place))
        family = min(families, default="")
        return cls(graph, family, shapes) if len(families) == 1 and family in _COUNTED else None

    def fits(self, source: SourceFile, data: bytes, name: re.Match[bytes], before: bytes) -> bool:
        """Tell whether a call may mean one of them.

        Args:
            source: the file it is in.
            data: its text.
            name: the name that is called, found there.
            before: what stands on the line before that.
        """
        if source.rules.family != self._family or (self._family == "ecmascript" and source.language == "javascript"):
            return True
        if self._family == "c" and before.rstrip().endswith(b"~"):
            return False  # a destructor
        is_dotted = before.rstrip().endswith(b".")
        n_arguments = count_arguments(data, name.end(), self._family)
        return any(
            self._fits_receiver(shape, source, before.rstrip(), is_dotted)
            and (n_arguments < 0 or shape.arity is None or shape.arity.takes(n_arguments, is_dotted=is_dotted))
            for shape in self._shapes
        )

    def fits_in_template(self, source: SourceFile, before: bytes) -> bool:
        """Tell whether a call in a template may mean one of them, by what stands before it on its line."""
        before = before.rstrip()
        return any(self._fits_receiver(shape, source, before, before.endswith(b".")) for shape in self._shapes)

    def _fits_receiver(self, shape: _Shape, source: SourceFile, before: bytes, is_dotted: bool) -> bool:
        if self._family not in _DOTTED:
            return True
        if not is_dotted:
            return not shape.is_member
        chain = _CHAIN.search(before)
        imports = source.aliases.get(chain[1].decode(), ()) if chain is not None else ()
        if not imports:
            return shape.is_member
        return not all(
            imported.module and not imported.name and self._is_foreign(source, imported.module) for imported in imports
        )

    def _is_foreign(self, source: SourceFile, module: str) -> bool:
        """Tell whether a module is of another project; one that has the name of a file here may not be."""
        if module.startswith(".") or self._graph.resolver.meaning.sight.place(source, module) is not None:
            return False
        last = re.split(r"[./]", module)[-1]
        return not any(
            posixpath.basename(path).partition(".")[0] == last or f"/{last}/" in f"/{path}"
            for path in self._graph.code.paths
        )


def _has_shape(source: SourceFile, place: int) -> bool:
    """Tell whether anything is known of what calls of a definition look like."""
    return source.definitions[place].kind in _FUNCTIONS or source.rules.family == "c"


def _shape_of(source: SourceFile, place: int) -> _Shape:
    definition, facts = source.definitions[place], source.facts
    parent = source.definitions[definition.parent] if definition.parent >= 0 else None
    is_member = parent is not None and parent.kind in TYPE_KINDS
    is_member = is_member or definition.signature.startswith("func (")  # a method of Go, outside of its type
    decorators = {
        facts.texts[text].rpartition(".")[2]
        for kind, text, scope in zip(facts.kinds, facts.expressions, facts.scopes, strict=True)
        if kind == DECORATE and scope == place
    }
    is_plain = decorators <= _PLAIN_DECORATORS or source.rules.family != "python"
    language = source.language if source.rules.family == "jvm" else _COUNTED.get(source.rules.family, "")
    is_plain = is_plain and definition.kind in _FUNCTIONS
    arity = arity_of(definition.signature, definition.name, language) if is_plain else None
    return _Shape(arity, is_member)


def count_arguments(data: bytes, start: int, family: str) -> int:
    """Return how many arguments a call gives whose name ends at a byte, -1 if that is not plain to see."""
    opening = _OPENING.match(data, start)
    if opening is None:
        return -1
    text = data[opening.end() : opening.end() + _MAX_ARGUMENT_BYTES]
    if family == "python":
        text = re.sub(rb"(?m)#[^\n]*$", b"", text)
    depth, commas, last = 0, 0, 0
    for match in _TOKEN.finditer(text):
        mark = match[0]
        if mark in (b"(", b"[", b"{"):
            depth += 1
        elif mark in (b")", b"]", b"}"):
            depth -= 1
            if depth < 0:
                return _count(text, match.start(), last, commas, family)
        elif not depth and mark == b",":
            commas, last = commas + 1, match.end()
        elif (not depth and mark in (b"<", b"lambda", b"...")) or (not depth and mark == b"*" and family == "python"):
            return -1
    return -1


def _count(text: bytes, end: int, last: int, commas: int, family: str) -> int:
    """Return the number of arguments, from where they end, where the last one begins, and the commas between them."""
    if family == "go" and not commas and text[:end].rstrip().endswith(b")"):
        return -1  # a call may give several
    if family == "jvm" and text[end + 1 :].lstrip(b" \t").startswith(b"{"):
        return -1  # a closure of Kotlin is one more
    return commas + bool(text[last:end].strip())
