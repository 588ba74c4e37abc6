"""Finds the members of types, their own and those they inherit."""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Iterator

from cairn.graph.declarations import Declarations
from cairn.graph.entities import Entity, Expressions
from cairn.graph.namesakes import MAX_OWNED, is_one_type
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, TYPE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import aliased_type
from cairn.graph.source_file import SourceFile
from cairn.types import Definition

_MAX_BASES, _MIN_BASES = 200, 8  # of a type, with theirs
_PRECEDENCE = {"trait": 0, "interface": 2}  # of what types of PHP get members from; of classes 1
_BASES_A_FILE = 200_000  # looked at for all definitions of a file: a chain of thousands must not take minutes


class Inheritance:
    """The types of one state of the code: what each inherits from, and its members."""

    def __init__(self, sight: Sight, expressions: Expressions, declarations: Declarations) -> None:
        self._sight = sight
        self._code = sight.code
        self._memo = sight.memo
        self._expressions = expressions
        self._declarations = declarations

    # -- members ------------------------------------------------------------------------------------------------------

    def member(self, node: int, name: str) -> Entity | None:
        """Return a member of a type or of what it inherits from, the nearest first."""
        return self._memo.recall(("member", node, name), None, lambda: self._find_member(node, name))

    def _find_member(self, node: int, name: str) -> Entity | None:
        declared = None
        for current in self.lineage(node):
            member = self._own_member(current, name)
            if member is None:
                continue
            definition = self._code.definition(current)
            if definition.kind != "interface" or current == node or not self._waits_for_body(current):
                return member
            declared = declared or member
        return declared

    def _waits_for_body(self, node: int) -> bool:
        """Tell whether a type only declares members, so that what a class or trait has of the name comes first."""
        return self._sight.file(file_of(node)).rules.family == "php"

    def _own_member(self, node: int, name: str) -> Entity | None:
        source = self._sight.file(file_of(node))
        definition = source.definitions[place_of(node)]
        places = source.members.get(definition.qualified_name, {}).get(name, ())
        if name == definition.name:  # constructors have it too, but the name means the type
            places = [place for place in places if source.definitions[place].kind != "constructor"]
        declared_apart = source.rules.family == "c"
        if places and not declared_apart:
            return self._declarations.group(source, places)
        if not source.rules.open_types:
            return None
        nodes = [node_of(source.number, place) for place in places]
        for other in self._sight.nodes_named(name)[:MAX_OWNED]:
            elsewhere = self._code.file(file_of(other))
            part = elsewhere.definitions[place_of(other)]
            owner = part.qualified_name[: -len(name) - 1]
            if other in nodes or (name == definition.name and part.kind == "constructor"):
                continue
            is_same = owner == definition.qualified_name or (
                source.rules.family != "ruby" and is_one_type(owner, definition.qualified_name)
            )
            if is_same and _may_share_type(source, elsewhere):
                nodes.append(other)
        functions = [other for other in nodes if self._code.definition(other).kind in FUNCTION_KINDS]
        return self._declarations.entity(self._code.main_of(functions or nodes)) if nodes else None

    def overridden(self, node: int, name: str) -> list[int]:
        """Return the methods called `name` of all types that a type inherits from."""
        own = {node, *self.parts_of(node)}
        members = (self._own_member(base, name) for base in self.lineage(node) if base not in own)
        return [member.node for member in members if member is not None and member.tag == "function"]

    # -- bases --------------------------------------------------------------------------------------------------------

    def lineage(self, node: int) -> Iterator[int]:
        """Yield a type and what it inherits from, the nearest first; a type's bases are found after it is yielded."""
        seen, limit = {node}, self._most_bases(node)
        queue = deque([node])
        while queue:
            current = queue.popleft()
            yield current
            for base in (*self.parts_of(current), *self.bases_of(current)):
                if base not in seen and len(seen) < limit:
                    seen.add(base)
                    queue.append(base)

    def _most_bases(self, node: int) -> int:
        """Return how many types are looked at for one type: fewer in a file of thousands of definitions."""
        n_definitions = len(self._code.file(file_of(node)).definitions)
        return min(_MAX_BASES, max(_MIN_BASES, _BASES_A_FILE // n_definitions))

    def parts_of(self, node: int) -> list[int]:
        """Return the other declarations of a type that is declared in parts."""
        return self._memo.recall(("parts", node), [], lambda: self._find_parts(node))

    def _find_parts(self, node: int) -> list[int]:
        source = self._sight.file(file_of(node))
        definition = source.definitions[place_of(node)]
        if source.rules.family == "swift" and definition.kind in TYPE_KINDS:
            return self._extensions_of(node, source, definition)
        family = source.rules.family
        if family not in ("csharp", "ruby") or not _may_have_parts(family, definition):
            return []
        full_name = source.full_name(place_of(node))
        parts = []
        for other in self._sight.nodes_named(definition.name)[:MAX_OWNED]:
            elsewhere = self._code.file(file_of(other))
            place = place_of(other)
            is_same = elsewhere.rules.family == family and elsewhere.full_name(place) == full_name
            tells = family == "csharp" or bool(elsewhere.bases.get(place))  # Ruby finds members in all parts anyway
            if other != node and is_same and tells and _may_have_parts(family, elsewhere.definitions[place]):
                parts.append(other)
        return parts

    def _extensions_of(self, node: int, source: SourceFile, definition: Definition) -> list[int]:
        """Return the extensions of a type, which may say what else it conforms to."""
        nodes = [other for other in self._sight.nodes_named(definition.name)[:MAX_OWNED] if other != node]
        found = []
        for other in nodes:
            elsewhere = self._code.file(file_of(other))
            place = place_of(other)
            is_extension = elsewhere.definitions[place].kind == "extension"
            if is_extension and elsewhere.rules.family == source.rules.family and place in elsewhere.bases:
                found.append(other)
        return found

    def bases_of(self, node: int) -> list[int]:
        """Return the types that a type inherits from or implements, in the order it names them."""
        return self._memo.recall(("bases", node), [], lambda: self._find_bases(node))

    def _find_bases(self, node: int) -> list[int]:
        source = self._sight.file(file_of(node))
        place = place_of(node)
        definition = source.definitions[place]
        bases: list[int] = []
        for expression in source.bases.get(place, ()):
            plain = expression.partition("[")[0].partition("(")[0]
            base = self._expressions.evaluate(source, definition.parent, plain)
            if (base is None or base.node < 0) and source.rules.family == "ruby":
                base = self._expressions.evaluate(source, place, plain)  # `include` stands within
            if base is not None and base.tag == "class" and base.node != node:
                bases.append(base.node)
        if definition.kind == "type" and (same := aliased_type(definition.signature)):
            entity = self._expressions.evaluate(source, definition.parent, same)
            bases += [entity.node] if entity is not None and entity.tag == "class" and entity.node != node else []
        if source.rules.family == "php":
            bases.sort(key=lambda base: _PRECEDENCE.get(self._code.definition(base).kind, 1))
        if source.rules.family == "rust" and definition.kind != "impl":
            bases += self._traits_of(source, definition.name)
        return bases

    def _traits_of(self, source: SourceFile, name: str) -> list[int]:
        """Return the traits that the impl blocks of a Rust type in its own file name."""
        traits = []
        for place, definition in enumerate(source.definitions):
            if definition.kind == "impl" and definition.name == name:
                traits += self.bases_of(node_of(source.number, place))
        return traits

    def has_unknown_base(self, node: int) -> bool:
        """Tell whether a type names a base that is not of this project, or not known to be."""
        for part in (node, *self.parts_of(node)):
            source = self._sight.file(file_of(part))
            if len(source.bases.get(place_of(part), ())) > len(self.bases_of(part)):
                return True
        return False


def _may_have_parts(family: str, definition: Definition) -> bool:
    if family == "ruby":
        return definition.kind in TYPE_KINDS | NAMESPACE_KINDS
    return definition.kind in TYPE_KINDS and "partial" in definition.signature.split()


def _may_share_type(source: SourceFile, other: SourceFile) -> bool:
    """Tell whether two files may hold parts of one type, by the rules of their language."""
    if other.rules.family != source.rules.family:
        return False
    if source.rules.package == "directory":
        return posixpath.dirname(source.path) == posixpath.dirname(other.path)
    if source.rules.family == "csharp":
        return source.facts.package == other.facts.package
    return True
