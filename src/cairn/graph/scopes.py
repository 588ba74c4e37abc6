"""Tells what a plain name means in a scope: a local name, a parameter, a member of the type around, or a global."""

from __future__ import annotations

from itertools import takewhile

from cairn.graph.attributes import Attributes
from cairn.graph.declarations import Declarations
from cairn.graph.entities import SHADOWED, Entity, Expressions, How
from cairn.graph.exports import Exports
from cairn.graph.inheritance import Inheritance
from cairn.graph.nodes import file_of, node_of
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, RECEIVER_BEFORE_NAME, VALUE_KINDS
from cairn.graph.signatures import bounds_of, read_head, receiver_of
from cairn.graph.source_file import SourceFile
from cairn.source.references import THIS

_CONTENTS = frozenset({"instance", "value", "outside"})


class Scopes:
    """The names that are in scope at a place in a file."""

    def __init__(
        self,
        expressions: Expressions,
        declarations: Declarations,
        inheritance: Inheritance,
        exports: Exports,
        attributes: Attributes,
    ) -> None:
        self._expressions = expressions
        self._declarations = declarations
        self._inheritance = inheritance
        self._exports = exports
        self._attributes = attributes

    def look_up(
        self, source: SourceFile, scope: int, name: str, expression: str, *, is_call: bool = False
    ) -> Entity | None:
        """Return what a plain name means in a scope, at the beginning of an expression; with `is_call`, no variable."""
        inner = True
        definitions, implicit = source.definitions, source.rules.implicit
        while scope >= 0:
            definition = definitions[scope]
            if definition.kind in FUNCTION_KINDS or definition.kind in VALUE_KINDS:
                apart = source.rules.functions_apart
                entity = self._local(source, scope, name, expression, is_call) if not apart else None
            elif inner or implicit:
                entity = self._in_type(source, scope, name, is_called=not expression.startswith(f"{name}."))
                entity = None if is_call and entity is not None and entity.tag in _CONTENTS else entity
            else:
                entity = None
            if entity is None and source.rules.bounds:
                entity = self._bound(source, scope, name)
            if entity is not None:
                return None if entity is SHADOWED else entity
            inner = inner and definition.kind not in FUNCTION_KINDS
            scope = definition.parent
        return self._exports.at_top(source, name)

    def _bound(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return the type that a type parameter must have, as in `<T: Bound>`."""
        definition = source.definitions[scope]
        bounds = bounds_of(definition.signature).get(name)
        if bounds is None:
            return None
        kinds = (self._expressions.type_of(source, definition.parent, bound) for bound in bounds)
        known = next((kind for kind in kinds if kind.tag == "instance"), None)
        return known._replace(tag="class", how=How.RECEIVER) if known is not None else SHADOWED

    def _local(self, source: SourceFile, scope: int, name: str, expression: str, is_call: bool) -> Entity | None:
        definition, rules = source.definitions[scope], source.rules
        nested = source.members.get(definition.qualified_name, {}).get(name)
        if nested:
            return self._declarations.group(source, nested)
        own = source.values.get((scope, THIS))
        if own and (entity := self._in_anonymous(source, scope, own[0], name)) is not None:
            return entity
        if is_call:
            return self._of_owner(source, scope, name)
        # In `let task = task.spawn()`, the value is about something else of that name.
        values = [value for value in source.values.get((scope, name), ()) if not _begins_with(value, expression)]
        if values:
            return self._expressions.first_value(source, scope, values) or SHADOWED
        parameters = read_head(definition.signature, definition.name, rules.type_side, rules.result).parameters
        if name in parameters:
            kind = parameters[name]
            is_inside = rules.bounds or self._owner(source, scope) is not None
            around = scope if is_inside else definition.parent
            return self._expressions.type_of(source, around, kind).by(How.RECEIVER) if kind else SHADOWED
        return self._of_owner(source, scope, name)

    def _in_anonymous(self, source: SourceFile, scope: int, own: str, name: str) -> Entity | None:
        """Return what a name means as a member of the type that the anonymous class around a method extends."""
        base = self._expressions.type_of(source, source.definitions[scope].parent, own[1:])
        member = self._inheritance.member(base.node, name) if base.tag == "instance" else None
        return member.by(How.RECEIVER) if member is not None else None

    def _of_owner(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what a name means as a member of the type of a method that stands outside of it."""
        owner = self._owner(source, scope) if source.rules.implicit else None
        is_known = owner is not None and owner.tag != "outside"
        return self._attributes.attribute(source, owner, name) if owner is not None and is_known else None

    def _receiver(self, source: SourceFile, scope: int) -> Entity | None:
        """Return what an extension function is called on, as in `fun Till.open()`; None for other functions."""
        definition = source.definitions[scope]
        kind = receiver_of(definition.signature, definition.name) if definition.kind in FUNCTION_KINDS else ""
        return self._expressions.type_of(source, scope, kind).by(How.RECEIVER) if kind else None

    def _owner(self, source: SourceFile, scope: int) -> Entity | None:
        """Return what a method is called on that stands outside of its type, such as `Type::method` in C++."""
        if source.rules.extension == RECEIVER_BEFORE_NAME:
            return self._receiver(source, scope)
        definition = source.definitions[scope]
        owner = definition.qualified_name[: -len(definition.name) - 1]
        around = source.definitions[definition.parent] if definition.parent >= 0 else None
        if not source.rules.open_types or not owner or definition.kind not in FUNCTION_KINDS:
            return None
        if around is not None and (around.kind not in NAMESPACE_KINDS or around.qualified_name == owner):
            return None
        entity = self._exports.type_called(source, owner)
        return entity._replace(tag="instance", how=How.RECEIVER) if entity is not None else None

    def _in_type(self, source: SourceFile, scope: int, name: str, *, is_called: bool) -> Entity | None:
        """Return what a name means within a type or namespace: one of its members, or what an attribute holds."""
        definition = source.definitions[scope]
        if definition.kind in NAMESPACE_KINDS and not source.rules.prefix:
            places = source.members.get(definition.qualified_name, {}).get(name)
            return self._declarations.group(source, places) if places else None
        node = node_of(source.number, scope)
        entity = self._inheritance.member(node, name)
        if entity is not None and entity.tag == "function" and not is_called and source.rules.fields_apart:
            entity = self._attributes.content(node, name) or entity
        if entity is not None:
            return entity if file_of(entity.node) == source.number else entity.by(How.RECEIVER)
        return self._attributes.content(node, name) or self._head_parameter(source, scope, name)

    def _head_parameter(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what a parameter in the head of a class holds, as in `class Till(drawer: Drawer)`."""
        rules, definition = source.rules, source.definitions[scope]
        if not rules.head_parameters:
            return None
        head = read_head(definition.signature, definition.name, rules.type_side, rules.result)
        kind = head.parameters.get(name)
        return self._expressions.type_of(source, scope, kind).by(How.RECEIVER) if kind else None

    def own_type(self, source: SourceFile, scope: int) -> Entity | None:
        """Return what `this` or `self` means in a scope, None outside of types."""
        place = source.enclosing_type(scope)
        if source.rules.extension == RECEIVER_BEFORE_NAME:
            functions = takewhile(lambda around: around != place, source.around(scope))
            receivers = (self._receiver(source, function) for function in functions)
            if (receiver := next(filter(None, receivers), None)) is not None:
                return receiver
        if place < 0:
            return self._owner(source, scope) if scope >= 0 else None
        if source.definitions[place].kind in ("impl", "extension"):  # stands for the type that it adds to
            entity = self._exports.type_named(source, source.definitions[place].name)
            if entity is not None:
                return entity._replace(tag="instance", how=How.RECEIVER)
        return Entity("instance", node_of(source.number, place), How.RECEIVER)


def _begins_with(value: str, expression: str) -> bool:
    """Tell whether an expression is the beginning of another, or all of it."""
    return value.startswith(expression) and value[len(expression) : len(expression) + 1] in _AFTER_NAME


_AFTER_NAME = ("", ".", "(", "[", "{")
