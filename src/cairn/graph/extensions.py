"""Finds functions that are called like methods of a type although they are written outside of it."""

from __future__ import annotations

import re
from collections.abc import Collection

from cairn.graph.declarations import Declarations
from cairn.graph.entities import Entity, How
from cairn.graph.inheritance import Inheritance
from cairn.graph.namesakes import MAX_NAMESAKES, Namesakes
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.rules import COMMON_NAMES, FUNCTION_KINDS, RECEIVER_BEFORE_NAME, TYPE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import bounds_of, read_head, receiver_of
from cairn.graph.source_file import SourceFile
from cairn.source.extension_blocks import ANY, EXTENDED
from cairn.types import Definition


class Extensions:
    """The extension functions of a language that marks their first parameter."""

    def __init__(
        self, sight: Sight, namesakes: Namesakes, inheritance: Inheritance, declarations: Declarations
    ) -> None:
        self._sight = sight
        self._declarations = declarations
        self._code = sight.code
        self._namesakes = namesakes
        self._inheritance = inheritance

    def find(self, source: SourceFile, head: Entity | None, name: str) -> Entity | None:
        """Return the extension that `.name` means after something that has no such member; `head` may be unknown."""
        if head is not None and head.tag == "value":
            head = None
        if not source.rules.extension or (head is not None and head.tag not in ("instance", "outside")):
            return None
        known = self._known(name, source.rules.family, source.rules.extension)
        if not known:
            return None
        spaces = self._namesakes.spaces(source)
        named = {imported.module for imported in source.aliases.get(name, ())}
        visible = [node for node in known if self._is_visible(node, source, named.union(spaces))]
        fitting = {node: how for node in visible if (how := self._fit(head, node)) is not None}
        if not fitting:
            return None
        best = min(fitting.values())
        if best == How.NAME and (name.lower() in COMMON_NAMES or self._is_method(name, known)):
            return None
        nodes = [node for node, how in fitting.items() if how == best]
        if len({self._code.definition(node).qualified_name for node in nodes}) > 1:
            return None
        return self._declarations.entity(self._code.main_of(nodes)).by(best)

    def find_unsaid(self, source: SourceFile, name: str) -> Entity | None:
        """Return the extension that a call of a bare name means, where nothing tells what it is called on."""
        modules = {imported.module for imported in source.aliases.get(name, ())}
        known = self._known(name, source.rules.family, source.rules.extension) if name[0].islower() else []
        imported = [node for node in known if self._package_of(node) in modules]
        if len({self._code.definition(node).qualified_name for node in imported}) == 1:
            return self._declarations.entity(self._code.main_of(imported)).by(How.IMPORT)
        return self.find(source, None, name)

    def _known(self, name: str, family: str, mark: str) -> list[int]:
        return self._sight.memo.recall(("extensions", name, family), [], lambda: self._find_known(name, family, mark))

    def _find_known(self, name: str, family: str, mark: str) -> list[int]:
        nodes = []
        for node in self._sight.nodes_named(name)[:MAX_NAMESAKES]:
            source = self._code.file(file_of(node))
            definition = source.definitions[place_of(node)]
            if mark == RECEIVER_BEFORE_NAME:
                is_kind = definition.kind in FUNCTION_KINDS or definition.kind == "property"
                is_marked = is_kind and receiver_of(definition.signature, name) != ""
            else:
                is_marked = definition.kind in FUNCTION_KINDS and f"({mark} " in definition.signature
                is_marked = is_marked or _extended_around(source, place_of(node)) is not None
            if is_marked and source.rules.family == family:
                nodes.append(node)
        return nodes

    def _is_visible(self, node: int, source: SourceFile, spaces: Collection[str]) -> bool:
        """Tell whether a file sees an extension: by its package, or, of one that a type has, within such types."""
        definition = self._code.definition(node)
        owner = definition.parent
        if owner < 0 or not source.rules.head_parameters:
            return self._package_of(node) in spaces
        if file_of(node) == source.number:
            return True
        types = (node_of(source.number, at) for at, it in enumerate(source.definitions) if it.kind in TYPE_KINDS)
        return any(node_of(file_of(node), owner) in self._inheritance.lineage(type_) for type_ in types)

    def _is_method(self, name: str, known: Collection[int]) -> bool:
        """Tell whether some type of the project has a method of a name, besides extensions."""
        for node in self._sight.nodes_named(name)[:MAX_NAMESAKES]:
            if node in known:
                continue
            source = self._code.file(file_of(node))
            definition = source.definitions[place_of(node)]
            if definition.kind in FUNCTION_KINDS and "static" not in definition.signature.partition("(")[0].split():
                return True
        return False

    def _package_of(self, node: int) -> str:
        full_name = self._code.file(file_of(node)).full_name(place_of(node))
        return full_name.rpartition(".")[0].rpartition(".")[0]

    def _fit(self, head: Entity | None, node: int) -> How | None:
        """Return how surely a function extends the type of something, None where it extends another."""
        wanted = self._extended(node)
        if head is None or not wanted:
            return How.NAME
        if head.tag == "instance":
            lineage = (self._code.definition(type_).name for type_ in self._inheritance.lineage(head.node))
            is_unknown = self._inheritance.has_unknown_base(head.node)
            return How.RECEIVER if wanted in lineage else How.NAME if is_unknown else None
        if not head.text:
            return How.NAME
        return How.RECEIVER if head.text.rpartition(".")[2] == wanted else How.NAME

    def _extended(self, node: int) -> str:
        """Return the name of the type that a function extends, empty for one that may be any."""
        source = self._sight.file(file_of(node))
        definition = source.definitions[place_of(node)]
        rules = source.rules
        if rules.extension == RECEIVER_BEFORE_NAME:
            name = receiver_of(definition.signature, definition.name).rpartition(".")[2]
            return "" if name in ("Any", *bounds_of(definition.signature)) or _is_parameter(definition, name) else name
        if (extended := _extended_around(source, place_of(node))) is not None:
            return "" if extended == ANY else extended
        types = read_head(definition.signature, definition.name, rules.type_side, rules.result).parameters
        name = next(iter(types.values()), "").partition("<")[0].rpartition(".")[2]
        return "" if name == "object" or f"<{name}>" in definition.signature.partition("(")[0] else name


def _extended_around(source: SourceFile, place: int) -> str | None:
    """Return what an extension block of C# around a function extends, None where there is none."""
    definition = source.definitions[place]
    owner = source.definitions[definition.parent] if definition.parent >= 0 else None
    if definition.kind not in FUNCTION_KINDS or owner is None or "static class" not in owner.signature:
        return None
    values = source.values.get((place, EXTENDED), ())
    return values[0][1:].partition("<")[0].rpartition(".")[2] if values else None


def _is_parameter(definition: Definition, name: str) -> bool:
    """Tell whether a name is one of the type parameters before a function's name."""
    return re.search(rf"[<,] ?(?:reified )?{re.escape(name)}\b", definition.signature.partition("(")[0]) is not None
