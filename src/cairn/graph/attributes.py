"""Tells what `.name` means after something known: a member, or what an attribute holds."""

from __future__ import annotations

import re

from cairn.graph.entities import Entity, Expressions, How
from cairn.graph.exports import Exports
from cairn.graph.inheritance import Inheritance
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.results import Results
from cairn.graph.rules import TYPE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import read_head
from cairn.graph.source_file import SourceFile
from cairn.source.type_names import type_name

_TYPE_ARGUMENT = re.compile(r":[^\[]*\[([^,]+)\]\s*$")  # the only one of a declared type


class Attributes:
    """The attributes of modules, types and instances."""

    def __init__(
        self, sight: Sight, expressions: Expressions, inheritance: Inheritance, exports: Exports, results: Results
    ) -> None:
        self._sight = sight
        self._expressions = expressions
        self._inheritance = inheritance
        self._exports = exports
        self._results = results

    def attribute(self, source: SourceFile, head: Entity, name: str, *, is_called: bool = True) -> Entity | None:
        """Return what `.name` means after something known; with `is_called`, it is called or ends the expression."""
        if head.tag == "module":
            entity = self._exports.in_place(file_of(head.node), name, source)
            return entity.by(How.IMPORT) if entity is not None else None
        if head.tag == "package":
            entity = self._exports.in_place(head.text, name, source)
            return entity.by(How.IMPORT) if entity is not None else None
        if head.tag == "function" and self._may_be_called_unsaid(source, head):
            head = self._results.of_call(head, None) or head
        if head.tag == "function" and source.rules.family == "rust":  # the module that it is exported from has its name
            return self._exports.in_place(file_of(head.node), name, source)
        if head.tag == "outside":
            return head
        if head.tag not in ("class", "instance"):
            return None
        rules = self._sight.file(file_of(head.node)).rules
        if rules.maker and name == rules.maker:
            return head._replace(tag="class")  # the brackets that follow, or their absence, make it an instance
        entity = self._inheritance.member(head.node, name)
        if entity is None or (entity.tag == "function" and not is_called and rules.fields_apart):
            entity = self.content(head.node, name) or entity
        if entity is None:
            return self._of_class(head, name) if head.tag == "class" else None
        entity = self._given_by_descriptor(head, name, entity)
        return entity.by(How.RECEIVER if head.tag == "instance" else head.how)

    def _may_be_called_unsaid(self, source: SourceFile, function: Entity) -> bool:
        """Tell whether naming a function may call it: one of Ruby, or a method of Python, which may be a property."""
        if source.rules.family != "python":
            return source.rules.family == "ruby"
        parent = self._sight.code.definition(function.node).parent
        owner = node_of(file_of(function.node), parent)
        return parent >= 0 and self._sight.code.definition(owner).kind in TYPE_KINDS

    def _given_by_descriptor(self, head: Entity, name: str, held: Entity) -> Entity:
        """Return what an attribute of a class of Python gives on an object if what it holds has a `__get__`, else that.

        That is the type which the attribute's declaration gives to that of the descriptor, as in `Late[Till]`, or what
        `__get__` says that it returns, or what is assigned to the attribute.
        """
        if (
            head.tag != "instance"
            or held.tag != "instance"
            or self._sight.file(file_of(held.node)).rules.family != "python"
        ):
            return held
        getter = self._inheritance.member(held.node, "__get__")
        if getter is None or getter.tag != "function":
            return held
        for current in self._inheritance.lineage(head.node):
            source, place = self._sight.file(file_of(current)), place_of(current)
            members = source.members.get(source.definitions[place].qualified_name, {})
            for declaration in members.get(name, ()):
                declared = source.definitions[declaration].signature.partition("=")[0]
                given = _TYPE_ARGUMENT.search(declared)
                if given is not None and (type_ := type_name(given[1])):
                    return self._expressions.type_of(source, place, type_)
        others = (self._results.of_call(getter, held), self.content(head.node, name))
        known = (other for other in others if other is not None and other.node >= 0 and other.node != held.node)
        return next(known, held)

    def _of_class(self, head: Entity, name: str) -> Entity | None:
        """Return what a name means behind that of an enumeration, or of a module of Rust within a file."""
        kind = self._sight.code.definition(head.node).kind
        source = self._sight.file(file_of(head.node))
        if kind == "module" and source.rules.family == "rust":
            return self._exports.of_inner_module(source, place_of(head.node), name)
        return Entity("instance", head.node, How.RECEIVER) if kind == "enum" else None

    def outside_of_types(self, source: SourceFile, name: str) -> Entity | None:
        """Return what an attribute holds that is assigned outside of all types, such as in the block of a test."""
        # One question for all scopes: values that name each other in many would be gone through for ever.
        key = ("outside of types", source.number, name)
        return self._sight.memo.recall(key, None, lambda: self._find_outside_of_types(source, name))

    def _find_outside_of_types(self, source: SourceFile, name: str) -> Entity | None:
        for scope, value in source.attributes.get((-1, name), ()):
            entity = self._expressions.first_value(source, scope, [value])
            if entity is not None:
                return entity.by(How.RECEIVER)
        return None

    def content(self, node: int, name: str) -> Entity | None:
        """Return what an attribute of a type holds, by what is assigned to it or by how it is declared."""
        return self._sight.memo.recall(("attribute", node, name), None, lambda: self._find_content(node, name))

    def _find_content(self, node: int, name: str) -> Entity | None:
        first_value = self._expressions.first_value
        for current in self._inheritance.lineage(node):
            source, place = self._sight.file(file_of(current)), place_of(current)
            for scope, value in source.attributes.get((place, name), ()):
                entity = first_value(source, scope, [value])
                if entity is not None:
                    return entity.by(How.RECEIVER)
            entity = first_value(source, place, source.values.get((place, name), ()))
            if entity is None:
                entity = self._promoted_parameter(source, place, name)
            if entity is not None:
                return entity.by(How.RECEIVER)
        return None

    def _promoted_parameter(self, source: SourceFile, place: int, name: str) -> Entity | None:
        """Return what a constructor's parameter holds that is an attribute as well."""
        rules, owner = source.rules, source.definitions[place].qualified_name
        for maker in source.members.get(owner, {}).get(rules.constructor, ()):
            definition = source.definitions[maker]
            head = read_head(definition.signature, definition.name, rules.type_side, rules.result)
            for parameter in head.promoted & {name, f"${name}"}:
                kind = head.parameters[parameter]
                return self._expressions.type_of(source, place, kind) if kind else None
        return None
