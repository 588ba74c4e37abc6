"""Tells what the name of a definition stands for: a class, a function, or what a field or variable holds."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.graph.entities import Entity, Expressions, How
from cairn.graph.namesakes import Namesake
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, TYPE_KINDS, VALUE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import declared_type
from cairn.graph.source_file import SourceFile


class Declarations:
    """Definitions as entities."""

    def __init__(self, sight: Sight, expressions: Expressions) -> None:
        self._sight = sight
        self._code = sight.code
        self._expressions = expressions

    def entity(self, node: int) -> Entity:
        """Return what the name of a definition stands for."""
        source = self._sight.file(file_of(node))
        place = place_of(node)
        kind = source.definitions[place].kind
        if kind in TYPE_KINDS:
            return Entity("class", node)
        if kind in FUNCTION_KINDS:
            return Entity("function", node)
        if kind in NAMESPACE_KINDS:
            return Entity("class", node)  # its members are found like those of a type
        if kind in VALUE_KINDS:
            return self._content(source, place) or Entity("value", node)
        return Entity("value", node)

    def in_expression(self, entity: Entity) -> Entity:
        """Return what a name stands for where it is not a type: in TypeScript variables may have the name of a type."""
        if entity.tag != "class":
            return entity
        source = self._sight.file(file_of(entity.node))
        definition = source.definitions[place_of(entity.node)]
        if source.rules.family != "ecmascript" or definition.kind not in ("interface", "type"):
            return entity
        owner = definition.qualified_name[: -len(definition.name) - 1]
        values = [
            place
            for place in source.members.get(owner, {}).get(definition.name, ())
            if source.definitions[place].kind in VALUE_KINDS
        ]
        return self.entity(node_of(source.number, values[0])).by(entity.how) if values else entity

    def is_outside(self, entity: Entity) -> bool:
        """Tell whether a field, property or variable holds something of a type that is not of this project."""
        if entity.tag != "value" or entity.node < 0 or place_of(entity.node) < 0:
            return False
        source, place = self._sight.file(file_of(entity.node)), place_of(entity.node)
        content = self._declared(source, place) if source.definitions[place].kind in VALUE_KINDS else None
        return content is not None and content.tag == "outside"

    def entity_of(self, namesake: Namesake | None) -> Entity | None:
        """Return what a definition that was found by name stands for, None for none."""
        return self.entity(namesake.node).by(namesake.how) if namesake is not None else None

    def group(self, source: SourceFile, places: Sequence[int]) -> Entity | None:
        """Return what definitions stand for that share a scope and a name."""
        nodes = [node_of(source.number, place) for place in places]
        if len(nodes) > 1:
            functions = [node for node in nodes if source.definitions[place_of(node)].kind in FUNCTION_KINDS]
            types = [
                node for node in nodes if source.definitions[place_of(node)].kind in TYPE_KINDS - {"impl", "extension"}
            ]
            is_apart = source.rules.family == "elixir"  # whose types have names of their own, which code cannot mean
            nodes = (functions if is_apart else []) or types or functions or nodes
        return self.entity(self._code.main_of(nodes) if len(nodes) > 1 else nodes[0])

    def _content(self, source: SourceFile, place: int) -> Entity | None:
        """Return what a field, property or variable holds by its declaration or its first value."""
        content = self._declared(source, place)
        tags = ("instance", "container", "outside") if source.rules.capital_types else ("instance", "container")
        if source.rules.maker and source.definitions[place].kind == "constant":
            tags = (*tags, "class")  # another name of a class
        if content is None or content.tag not in tags:
            return None
        # Values of Scala are read like methods without arguments are called.
        is_read = source.language == "scala" and content.tag == "container"
        return content._replace(how=How.RECEIVER, holder=node_of(source.number, place) if is_read else content.holder)

    def _declared(self, source: SourceFile, place: int) -> Entity | None:
        definition = source.definitions[place]
        text = declared_type(definition.signature, definition.name, source.rules.type_side)
        return self._sight.memo.recall(
            ("declared", node_of(source.number, place)), None, lambda: self._find_content(source, place, text)
        )

    def _find_content(self, source: SourceFile, place: int, text: str) -> Entity | None:
        definition = self._sight.file(source.number).definitions[place]
        scope = definition.parent
        declared = self._expressions.type_of(source, scope, text) if text else None
        return declared or self._expressions.first_value(source, scope, source.values.get((scope, definition.name), ()))
