"""Tells which definition a name means where code says it: also of what variables and fields hold nothing known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from cairn.graph.code import Code
from cairn.graph.entities import Entity, How
from cairn.graph.graph import Graph
from cairn.graph.linkage import are_apart
from cairn.graph.modules.places import Place
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.rules import BY_NAME_ONLY, FUNCTION_KINDS, NAMESPACE_KINDS, OPEN_KINDS, TYPE_KINDS, VALUE_KINDS
from cairn.graph.source_file import SourceFile
from cairn.source.destructured import TAG
from cairn.source.imports import Import

if TYPE_CHECKING:
    from cairn.source.occurrences import Occurrence  # start-up time: it is for helpers

_MAX_STEPS = 60  # modules that re-export from one another


class No(Enum):
    """Why a name is not a reference to what is asked about."""

    OTHER = "other"  # it means something else
    UNKNOWN = "unknown"  # nothing tells what it means


Verdict = How | No


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """What references are looked for to.

    Attributes:
        nodes: its definitions; of a field that is none by itself, its type.
        name: what it is called.
        owners: the types or namespaces that have it as a member; none for what stands at the top of a file.
        is_field: whether it is a member without a definition of its own, such as a field of a struct.
    """

    nodes: frozenset[int]
    name: str
    owners: frozenset[int]
    is_field: bool = False


class _TopNames:
    """Tells whether names mean a target by what stands at the top of files, is imported, or is shared."""

    def __init__(self, graph: Graph, target: ReferenceTarget) -> None:
        self._code: Code = graph.code
        self._meaning = graph.resolver.meaning
        self._target = target
        self._above = {other for node in target.nodes for other in graph.connections.overridden(node)}
        self.is_member = any(self._code.definition(owner).kind in TYPE_KINDS for owner in target.owners)

    def compared(self, entity: Entity) -> Verdict:
        """Tell whether what an expression stands for is the target."""
        if entity.node < 0 or place_of(entity.node) < 0:
            return No.OTHER
        if entity.node in self._above or (self._target.owners and self._is_open(entity.node)):
            return No.UNKNOWN  # it may well arrive there
        same = entity.node in self._target.nodes or bool(set(self._code.group(entity.node)) & self._target.nodes)
        return entity.how if same and not self._target.is_field else No.OTHER

    def _is_open(self, node: int) -> bool:
        """Tell whether another definition belongs to an interface, which types of many languages fit unsaid."""
        source = self._code.file(file_of(node))
        parent = source.definitions[place_of(node)].parent
        return node not in self._target.nodes and parent >= 0 and source.definitions[parent].kind in OPEN_KINDS

    def among(self, source: SourceFile, places: Sequence[int], how: How) -> Verdict:
        """Tell whether definitions of a file are the target."""
        nodes = {node_of(source.number, place) for place in places}
        return how if nodes & self._target.nodes and not self._target.is_field else No.OTHER

    def at_top(self, source: SourceFile, name: str) -> Verdict:
        """Tell what a plain name means at the top of a file."""
        if places := source.members.get("", {}).get(name):
            return self.among(source, places, How.EXACT)
        for imported in source.aliases.get(name, ()):
            if imported.module:
                return self._of_imported(source, imported)
        stars = source.stars if source.rules.package == "file" else ()
        found = [self._of_imported(source, imported) for imported in stars]
        if How.IMPORT in found:
            return How.IMPORT
        return self._shared(source) if name == self._target.name else No.UNKNOWN

    def _shared(self, source: SourceFile) -> Verdict:
        """Tell what a name means that files share without an import."""
        name = self._target.name
        namesake = self._meaning.namesakes.in_package(source, name)
        if namesake is not None:
            nodes = {namesake.node, *self._code.group(namesake.node)}
            return namesake.how if nodes & self._target.nodes and not self._target.is_field else No.OTHER
        if source.rules.package != "all" or self._target.is_field or self.is_member:
            return No.UNKNOWN
        return self._only_one(source)

    def _only_one(self, source: SourceFile) -> Verdict:
        """Tell whether only the target has its name at the top of the files whose names this one sees."""
        top = [node for node in self._code.nodes_named(self._target.name) if self._is_seen(source, node)]
        paths = {file_of(node) for node in top}
        if not top or not set(top) & self._target.nodes:
            return No.OTHER if top else No.UNKNOWN
        return How.NAME if set(top) <= self._target.nodes or len(paths) == 1 else No.UNKNOWN

    def _is_seen(self, source: SourceFile, node: int) -> bool:
        other = self._code.file(file_of(node))
        kin = other.rules.family == source.rules.family if source.rules.family else other.language == source.language
        return kin and place_of(node) in other.members.get("", {}).get(self._target.name, ())

    def imported_member(self, source: SourceFile, name: str) -> Verdict | None:
        """Tell whether a plain name is the target as a member that a file imports; None where it imports none so."""
        if source.rules.package != "package" or self._target.is_field:
            return None
        given = (*(star.module for star in source.stars), *self._meaning.namesakes.global_usings.stars(source))
        full_names = [f"{imported.module}.{imported.name}" for imported in source.aliases.get(name, ())]
        for text in full_names or [f"{module}.{name}" for module in given]:
            if (namesake := self._meaning.namesakes.with_full_name(source, text)) is not None:
                nodes = {namesake.node, *self._code.group(namesake.node)}
                return How.IMPORT if nodes & self._target.nodes else No.OTHER
        return None

    def of_variable(self, source: SourceFile, name: str) -> Verdict:
        """Tell what a variable of PHP means outside of functions: that of the file, or of one that includes it."""
        places = source.members.get("", {}).get(name[1:])
        return self.among(source, places, How.EXACT) if places and not self._target.owners else No.OTHER

    def of_import(self, source: SourceFile, occurrence: Occurrence) -> Verdict:
        """Tell what an import binds where it says a name."""
        found = [
            self._of_imported(source, imported)
            for imported in source.facts.imports
            if occurrence.name in (imported.name, imported.alias) and imported.module
        ]
        if How.IMPORT in found:
            return How.IMPORT
        own = source.members.get("", {}).get(occurrence.name)
        if own and source.rules.family == "ecmascript" and not found:  # `export { name }`
            return self.among(source, own, How.EXACT)
        return No.OTHER if found and No.UNKNOWN not in found else No.UNKNOWN

    def _of_imported(self, source: SourceFile, imported: Import) -> Verdict:
        """Tell whether an import binds the target, by what its module defines or exports in turn."""
        if self._target.is_field or (self.is_member and source.rules.package != "package"):
            return No.OTHER
        entity = self._meaning.exports.of_import(source, imported) if imported.name != "*" else None
        if entity is not None and entity.tag in ("function", "class"):
            verdict = self.compared(entity)
            return How.IMPORT if isinstance(verdict, How) else verdict
        if source.rules.package == "package":
            text = f"{imported.module}.{imported.name}"
            namesake = self._meaning.namesakes.with_full_name(source, text)
            return No.OTHER if namesake is None or namesake.node not in self._target.nodes else How.IMPORT
        place = self._meaning.sight.place(source, imported.module)
        name = self._target.name if imported.name == "*" else imported.name
        if place is None:
            return No.UNKNOWN  # what seems to be another library is often a part of this project
        return self.given(place, name, source)

    def given(self, place: Place, name: str, asking: SourceFile) -> Verdict:
        """Tell what a module gives under a name: the target, something else, or nothing that is known."""
        seen = {(place, name)}
        queue: list[tuple[Place, str]] = [(place, name)]
        verdict: Verdict = No.UNKNOWN
        for current, wanted in queue:
            if isinstance(current, str):
                found = self._meaning.namesakes.in_folder(asking, current, wanted)
                if found is not None and asking.rules.package == "directory":
                    return How.IMPORT if found.node in self._target.nodes else No.OTHER
            if not isinstance(current, int):
                continue
            source = self._code.file(current)
            if places := source.members.get("", {}).get(wanted):
                if any(node_of(current, at) in self._target.nodes for at in places):
                    return How.IMPORT
                verdict = No.OTHER
                continue
            for imported in (*source.aliases.get(wanted, ()), *source.stars):
                following = wanted if imported.name == "*" else imported.name
                step = (self._meaning.sight.place(source, imported.module), following) if imported.module else None
                if step is not None and step not in seen and len(seen) < _MAX_STEPS:
                    seen.add(step)
                    queue.append(step)
        return verdict


class Denoting:
    """Tells whether names mean a target."""

    def __init__(self, graph: Graph, target: ReferenceTarget) -> None:
        self._code: Code = graph.code
        self._meaning = graph.resolver.meaning
        self._target = target
        names = {self._code.definition(node).qualified_name for node in target.nodes}
        self._full_name = min(names) if len(names) == 1 and not target.is_field else ""
        kinds = {self._code.definition(node).kind for node in target.nodes}
        self._is_type = not kinds.isdisjoint(TYPE_KINDS)
        self._is_constant = "constant" in kinds
        self._is_value = kinds <= VALUE_KINDS
        types = (self._code.definition(owner).name for owner in target.owners)
        self._says_owner = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in types) or "(?!)")
        self._top = _TopNames(graph, target)

    def verdict(self, source: SourceFile, scope: int, occurrence: Occurrence) -> Verdict:
        """Tell whether a place in the code means the target."""
        found = self._verdict(source, scope, occurrence)
        if found is How.NAME and _may_be_local(source, occurrence):
            return No.UNKNOWN
        return found

    def _verdict(self, source: SourceFile, scope: int, occurrence: Occurrence) -> Verdict:
        name, head = occurrence.name, occurrence.head
        if name.startswith("$"):
            return self._top.of_variable(source, name)
        if occurrence.role == "import":
            return self._top.of_import(source, occurrence)
        if occurrence.role == "type" and source.rules.family == "elixir" and not self._is_type:
            return No.OTHER  # types have names of their own
        if source.rules.family == "elixir" and (head == "@" or self._is_constant):
            return self._of_module_attribute(source, scope, name) if head == "@" and self._is_constant else No.OTHER
        if not self._target.is_field and not occurrence.is_key and head != "@":
            expression = f"{head}.{name}" if head else name
            entity = self._meaning.evaluate(source, scope, expression)
            if entity is not None and entity.tag in ("function", "class"):
                return self._compared(source, scope, occurrence, entity)
            if occurrence.role in ("type", "base", "construct") and not head and self._is_type:
                return self._top.at_top(source, name)  # where a member of that name cannot be meant
        if occurrence.is_key:
            return self._of_key(source, scope, head)
        return self._of_member(source, scope, head) if head else self._of_plain(source, scope, name)

    def _compared(self, source: SourceFile, scope: int, occurrence: Occurrence, entity: Entity) -> Verdict:
        """Tell whether what a name stands for is the target, or the name that of the target, which only holds it."""
        found = self._top.compared(entity)
        if found is not No.OTHER or not self._is_value:
            return found
        named = self._of_member(source, scope, occurrence.head) if occurrence.head else None
        named = named or self._of_plain(source, scope, occurrence.name)
        return named if isinstance(named, How) else found

    def _of_module_attribute(self, source: SourceFile, scope: int, name: str) -> Verdict:
        """Tell whether an attribute of Elixir, such as `@rate`, is the target: each module has its own."""
        around = (place for place in source.around(scope) if source.definitions[place].kind in NAMESPACE_KINDS)
        if (module := next(around, None)) is None:
            return No.UNKNOWN
        named = source.members.get(source.definitions[module].qualified_name, {}).get(name, ())
        own = [place for place in named if source.definitions[place].kind == "constant"]
        return self._top.among(source, own, How.EXACT) if own else No.UNKNOWN

    def _of_plain(self, source: SourceFile, scope: int, name: str) -> Verdict:
        inner, is_known, first = True, True, scope
        while scope >= 0:
            definition = source.definitions[scope]
            if definition.kind in FUNCTION_KINDS:
                nested = source.members.get(definition.qualified_name, {}).get(name)
                if nested:
                    return self._top.among(source, nested, How.EXACT)
            elif name == self._target.name and (inner or source.rules.implicit or definition.kind in NAMESPACE_KINDS):
                found = self._member_of(node_of(source.number, scope))
                if found is not None:
                    return found
                # What mixes in a module or a trait may have the member.
                is_mixed_in = source.rules.implicit and definition.kind in OPEN_KINDS | {"module", "extension"}
                is_known = is_known and not is_mixed_in and self._is_known(node_of(source.number, scope))
            inner = inner and definition.kind not in FUNCTION_KINDS
            scope = definition.parent
        if self._top.is_member and name == self._target.name:
            if (imported := self._top.imported_member(source, name)) is not None:
                return imported
            return No.OTHER if is_known and not self._lost_its_type(source, first) else No.UNKNOWN
        return self._top.at_top(source, name)

    def _lost_its_type(self, source: SourceFile, scope: int) -> bool:
        """Tell whether a function is in no type although its language has such functions only in types."""
        return source.language in ("java", "csharp") and scope >= 0 and source.enclosing_type(scope) < 0

    def _of_member(self, source: SourceFile, scope: int, head: str) -> Verdict:
        if head == "@":
            place = source.enclosing_type(scope)
            return self._of_receiver(node_of(source.number, place)) if place >= 0 else No.UNKNOWN
        entity = self._meaning.evaluate(source, scope, head) if head != "?" else None
        if entity is None:
            return How.NAME if f"{head}.{self._target.name}" == self._full_name else No.UNKNOWN
        if entity.tag in ("module", "package"):
            module: Place = file_of(entity.node) if entity.tag == "module" else entity.text
            return self._top.given(module, self._target.name, source)
        if entity.tag not in ("class", "instance") or entity.node < 0 or place_of(entity.node) < 0:
            return No.UNKNOWN
        return self._of_receiver(entity.node)

    def _of_receiver(self, node: int) -> Verdict:
        """Tell whether a member of something of a known type is the target."""
        found = self._member_of(node)
        if found is not None:
            return How.RECEIVER if isinstance(found, How) else found
        below = any(node in self._meaning.inheritance.lineage(owner) for owner in self._target.owners)
        return No.OTHER if self._is_known(node) and not below else No.UNKNOWN

    def _is_known(self, node: int) -> bool:
        """Tell whether all that a type inherits from is known."""
        inheritance = self._meaning.inheritance
        return not any(inheritance.has_unknown_base(base) for base in inheritance.lineage(node))

    def _of_key(self, source: SourceFile, scope: int, head: str) -> Verdict:
        """Tell whether the key of a literal, or a named argument, is a member of the type that is made."""
        if not self._target.owners:
            return No.OTHER
        if head.startswith(TAG):
            return self._of_attribute(source, scope, head.removeprefix(TAG))
        entity = self._meaning.evaluate(source, scope, head) if head != "?" else None
        if entity is None:
            return No.UNKNOWN
        if entity.tag not in ("class", "instance") or entity.node < 0 or place_of(entity.node) < 0:
            return No.OTHER
        found = self._member_of(entity.node)
        return How.RECEIVER if isinstance(found, How) else No.OTHER

    def _of_attribute(self, source: SourceFile, scope: int, tag: str) -> Verdict:
        """Tell whether an attribute in JSX is a property of the type that the component says it takes."""
        entity = self._meaning.evaluate(source, scope, tag)
        nodes = [] if entity is None or entity.node < 0 or place_of(entity.node) < 0 else [entity.node]
        nodes += [node_of(source.number, at) for at in source.members.get("", {}).get(tag, ())]
        for imported in source.aliases.get(tag, ()):
            place = self._meaning.sight.place(source, imported.module)
            if isinstance(place, int):
                name = tag if imported.name == "default" else imported.name
                nodes += [node_of(place, at) for at in self._code.file(place).members.get("", {}).get(name, ())]
        if any(self._says_owner.search(self._code.definition(node).signature) for node in nodes):
            return How.RECEIVER
        return No.OTHER if nodes else No.UNKNOWN

    def _member_of(self, node: int) -> Verdict | None:
        """Tell whether the member of a type that has the target's name is the target; None where there is none."""
        name = self._target.name
        inheritance = self._meaning.inheritance
        for current in inheritance.lineage(node):
            if any(part in self._target.owners for part in self._parts_of(current)):
                return How.EXACT
            source, place = self._code.file(file_of(current)), place_of(current)
            definition = source.definitions[place]
            if source.members.get(definition.qualified_name, {}).get(name) or source.attributes.get((place, name)):
                return No.OTHER
        return None

    def _parts_of(self, node: int) -> Iterator[int]:
        """Yield a type with the other places where its language lets it be continued."""
        yield node
        source, definition = self._code.file(file_of(node)), self._code.definition(node)
        if not source.rules.open_types and definition.kind not in NAMESPACE_KINDS:
            return
        for owner in self._target.owners:
            other = self._code.file(file_of(owner))
            is_kin = other.rules.family == source.rules.family
            is_kin = is_kin and not are_apart(source, place_of(node), other, place_of(owner))
            name = self._code.definition(owner).qualified_name
            # C# sees what the namespaces around a namespace have.
            is_around = source.rules.family == "csharp" and definition.qualified_name.startswith(f"{name}.")
            if is_kin and (name == definition.qualified_name or (is_around and definition.kind in NAMESPACE_KINDS)):
                yield owner


def _may_be_local(source: SourceFile, occurrence: Occurrence) -> bool:
    """Tell whether a plain name may be that of a variable, in a language of which no more than names is known."""
    is_plain = not occurrence.head and occurrence.role in ("read", "write")
    return source.rules is BY_NAME_ONLY and is_plain and occurrence.name.islower()
