"""Finds the members of types, their own and those they inherit."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from cairn.graph.code import Code
from cairn.graph.declarations import Declarations
from cairn.graph.entities import Entity, Expressions
from cairn.graph.linkage import are_apart
from cairn.graph.memo import Needs, namesakes_of
from cairn.graph.namesakes import MAX_OWNED, is_one_type
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.recent import Recent
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, SCOPELESS_KINDS, TYPE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import aliased_type
from cairn.graph.source_file import SourceFile
from cairn.types import Definition

_MAX_BASES, _MIN_BASES = 200, 8  # of a type, with theirs
_PRECEDENCE = {"trait": 0, "interface": 2}  # of what types of PHP get members from; of classes 1
_MIXIN = re.compile(rb"\b(?:include|extend|prepend)\b")
_BASES_A_FILE = 200_000  # looked at for all definitions of a file: a chain of thousands must not take minutes


class _Owned(NamedTuple):
    """A definition, the qualified name of what it is in, and whether it is a constructor."""

    node: int
    owner: str
    is_maker: bool


class _Lineage(NamedTuple):
    """A type and all that it inherits from, the nearest first.

    `tails` are the last parts of their qualified names, `needs` what their bases and other parts need, and `all_needs`
    is all of that.
    """

    nodes: tuple[int, ...]
    tails: tuple[str, ...]
    needs: tuple[Needs, ...]
    all_needs: Needs


class Inheritance:
    """The types of one state of the code: what each inherits from, and its members."""

    def __init__(self, sight: Sight, expressions: Expressions, declarations: Declarations) -> None:
        self._sight = sight
        self._code = sight.code
        self._memo = sight.memo
        self._expressions = expressions
        self._declarations = declarations
        self._by_type: Recent[str, dict[str, list[_Owned]]] = Recent(
            self._code.room.names, lambda found: len(found) + 8
        )

    # -- members ------------------------------------------------------------------------------------------------------

    def member(self, node: int, name: str) -> Entity | None:
        """Return a member of a type or of what it inherits from, the nearest first."""
        return self._memo.recall(("member", node, name), None, lambda: self._find_member(node, name))

    def _find_member(self, node: int, name: str) -> Entity | None:
        declared = None
        for current in self._with_member(node, name):
            member = self._own_member(current, name)
            if member is None:
                continue
            if current == node or not self._waits_for_body(current, member):
                return member
            declared = declared or member
        return declared

    def _waits_for_body(self, node: int, member: Entity) -> bool:
        """Tell whether a type only declares a member, so that what a class or trait has of the name comes first."""
        if self._sight.file(file_of(node)).rules.family != "php":
            return False
        kind = self._code.definition(node).kind
        if kind != "trait" or member.tag != "function":
            return kind == "interface"
        return "abstract" in self._code.definition(member.node).signature.partition("(")[0].split()

    def _with_member(self, node: int, name: str, besides: Collection[int] = ()) -> Iterator[int]:
        """Yield a type and what it inherits from, the nearest first, without types that surely lack a member.

        Args:
            node: the type.
            name: of the member.
            besides: types that are left out.
        """
        whole = self._memo.known(("lineage", node))
        source = self._sight.file(file_of(node))
        nodes = self._code.nodes_named(name)
        if not isinstance(whole, _Lineage) or not source.rules.open_types or len(nodes) > MAX_OWNED:
            yield from (current for current in self.lineage(node) if current not in besides)
            return
        owners = self._owners(name, nodes)
        noted = 0
        for place, (current, tail) in enumerate(zip(whole.nodes, whole.tails, strict=True)):
            if current in besides:
                continue
            if tail not in owners:
                self._memo.need(namesakes_of(name))
                continue
            for needs in whole.needs[noted:place]:
                self._memo.need_all(needs)
            noted = place
            yield current
        self._memo.need_all(whole.all_needs)

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
        for other, owner, is_maker in self._owned(name, definition.qualified_name.rpartition(".")[2]):
            if other in nodes or (name == definition.name and is_maker):
                continue
            is_same = owner == definition.qualified_name or (
                source.rules.family != "ruby" and is_one_type(owner, definition.qualified_name)
            )
            if is_same and _may_share_type(source, place_of(node), self._code.file(file_of(other)), place_of(other)):
                nodes.append(other)
        functions = [other for other in nodes if self._code.definition(other).kind in FUNCTION_KINDS]
        return self._declarations.entity(self._code.main_of(functions or nodes)) if nodes else None

    def _owned(self, name: str, type_: str) -> Sequence[_Owned]:
        """Return the definitions of a name in types that are called `type_`, whatever is around these."""
        return self._owners(name, self._sight.nodes_named(name)).get(type_, ())

    def _owners(self, name: str, nodes: Sequence[int]) -> dict[str, list[_Owned]]:
        """Return the definitions of a name by the last parts of the names of the types that they are in."""
        if (by_type := self._by_type.get(name)) is None:
            by_type = {}
            for node in nodes[:MAX_OWNED]:
                definition = self._code.definition(node)
                owner = definition.qualified_name[: -len(name) - 1]
                owned = _Owned(node, owner, definition.kind == "constructor")
                by_type.setdefault(owner.rpartition(".")[2], []).append(owned)
            self._by_type.put(name, by_type)
        return by_type

    def overridden(self, node: int, name: str) -> list[int]:
        """Return the methods called `name` of all types that a type inherits from."""
        own = {node, *self.parts_of(node)}
        members = (self._own_member(base, name) for base in self._with_member(node, name, own))
        return [member.node for member in members if member is not None and member.tag == "function"]

    # -- bases --------------------------------------------------------------------------------------------------------

    def lineage(self, node: int) -> Iterator[int]:
        """Yield a type and what it inherits from, the nearest first; a type's bases are found after it is yielded."""
        if isinstance(whole := self._memo.known(("lineage", node)), _Lineage):
            for current, needs in zip(whole.nodes, whole.needs, strict=True):
                yield current
                self._memo.need_all(needs)
            return
        seen, limit = {node: None}, self._most_bases(node)
        queue = deque([node])
        while queue:
            current = queue.popleft()
            yield current
            for base in (*self.parts_of(current), *self.bases_of(current)):
                if base not in seen and len(seen) < limit:
                    seen[base] = None
                    queue.append(base)
        parts = [(of, each) for each in seen for of in ("parts", "bases")]
        self._memo.combine(("lineage", node), parts, lambda needs: _lineage_of(self._code, seen, needs))

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
        key = ("declared", family, definition.name, full_name)
        declared: list[int] = self._memo.recall(
            key, [], lambda: self._find_declared(family, definition.name, full_name)
        )
        return [*(other for other in declared if other != node), *self._class_part(node, source, definition)]

    def _class_part(self, node: int, source: SourceFile, definition: Definition) -> list[int]:
        """Return the module in a module of Ruby whose methods are for the classes themselves."""
        name = source.rules.class_part
        part = self._own_member(node, name) if name and definition.kind == "module" else None
        return [part.node] if part is not None and part.tag == "class" else []

    def _find_declared(self, family: str, name: str, full_name: str) -> list[int]:
        """Return the parts in which a type is declared; of Ruby those that name bases: members are found in all."""
        declared = []
        for node in self._sight.nodes_named(name)[:MAX_OWNED]:
            source, place = self._code.file(file_of(node)), place_of(node)
            is_same = source.rules.family == family and source.full_name(place) == full_name
            if not is_same or not _may_have_parts(family, source.definitions[place]):
                continue
            if family == "csharp" or _names_bases(self._code, source, place):
                declared.append(node)
        return declared

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


def _lineage_of(code: Code, nodes: Iterable[int], needs: Sequence[Needs]) -> _Lineage:
    """Return a lineage, given what the parts and what the bases of each type need, one after the other."""
    tails = (code.definition(node).qualified_name.rpartition(".")[2] for node in nodes)
    steps = [parts if bases <= parts else parts | bases for parts, bases in zip(needs[::2], needs[1::2], strict=True)]
    return _Lineage(tuple(nodes), tuple(tails), tuple(steps), frozenset().union(*steps))


def _may_have_parts(family: str, definition: Definition) -> bool:
    if family == "ruby":
        return definition.kind in TYPE_KINDS | NAMESPACE_KINDS
    return definition.kind in TYPE_KINDS and "partial" in definition.signature.split()


def _names_bases(code: Code, source: SourceFile, place: int) -> bool:
    """Tell whether a type of Ruby names bases; its text alone says so of most that name none."""
    data = code.checkout.read(source.number)
    may = data is None or "<" in source.definitions[place].signature or _says_mixin(source, place, data)
    return bool(may and source.bases.get(place))


def _says_mixin(source: SourceFile, place: int, data: bytes) -> bool:
    """Tell whether the text of a type of Ruby has the word that adds a base, outside of what it contains."""
    span = source.definitions[place].span
    at = span.start_byte
    for inner in source.definitions[place + 1 :]:
        if inner.span.start_byte >= span.end_byte:
            break
        if inner.kind not in SCOPELESS_KINDS and inner.span.start_byte >= at:
            if _MIXIN.search(data, at, inner.span.start_byte):
                return True
            at = inner.span.end_byte
    return _MIXIN.search(data, at, span.end_byte) is not None


def _may_share_type(source: SourceFile, place: int, other: SourceFile, other_place: int) -> bool:
    """Tell whether a type may have a member that another file defines, by the rules of their language."""
    if other.rules.family != source.rules.family:
        return False
    if source.rules.family == "c":
        return not are_apart(source, place, other, other_place)
    if source.rules.package == "directory":
        return posixpath.dirname(source.path) == posixpath.dirname(other.path)
    if source.rules.family == "csharp":
        return source.package == other.package
    return True
