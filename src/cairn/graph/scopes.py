"""Tells what a plain name means in a scope: a local name, a parameter, a member of the type around, or a global."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from cairn.graph.attributes import Attributes
from cairn.graph.closures import Closures
from cairn.graph.declarations import Declarations
from cairn.graph.entities import SHADOWED, Entity, Expressions, How
from cairn.graph.exports import Exports
from cairn.graph.inheritance import Inheritance
from cairn.graph.nodes import file_of, node_of
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, RECEIVER_BEFORE_NAME, TYPE_KINDS, VALUE_KINDS
from cairn.graph.signatures import bounds_of, read_head, receiver_of
from cairn.graph.source_file import SourceFile
from cairn.source.references import THIS

_CONTENTS = frozenset({"instance", "value", "outside", "container"})


class Scopes:
    """The names that are in scope at a place in a file."""

    def __init__(
        self,
        expressions: Expressions,
        declarations: Declarations,
        inheritance: Inheritance,
        exports: Exports,
        attributes: Attributes,
        closures: Closures,
    ) -> None:
        self._expressions = expressions
        self._declarations = declarations
        self._inheritance = inheritance
        self._exports = exports
        self._attributes = attributes
        self._closures = closures

    def look_up(
        self, source: SourceFile, scope: int, name: str, expression: str, *, is_call: bool = False
    ) -> Entity | None:
        """Return what a plain name means in a scope, at the beginning of an expression; with `is_call`, no variable."""
        inner = True
        definitions, implicit = source.definitions, source.rules.implicit
        while scope >= 0:
            entity: Entity | None
            if scope >= len(definitions):
                entity = self._in_closure(source, scope, name, expression, is_call)
                if entity is not None:
                    return None if entity is SHADOWED else entity
                scope = source.closure(scope).scope
                continue
            definition = definitions[scope]
            bound = self._bound(source, scope, name) if source.rules.bounds and name[:1].isupper() else None
            if bound is not None:
                entity = bound
            elif definition.kind in FUNCTION_KINDS or definition.kind in VALUE_KINDS:
                apart = source.rules.functions_apart
                entity = self._local(source, scope, name, expression, is_call) if not apart else None
            elif inner or implicit or (source.rules.family == "rust" and definition.kind == "module"):
                entity = self._in_type(source, scope, name, is_called=not expression.startswith(f"{name}."))
                entity = None if is_call and entity is not None and entity.tag in _CONTENTS else entity
            else:
                entity = None
            if entity is not None:
                return None if entity is SHADOWED else entity
            inner = inner and definition.kind not in FUNCTION_KINDS
            scope = source.around_of(scope)
        return self._exports.at_top(source, name) or self._in_component(source, name)

    def _in_component(self, source: SourceFile, name: str) -> Entity | None:
        """Return the member of what a file exports as a component, which its template knows by the name alone."""
        places = source.members.get("", {}).get(source.rules.component, ()) if source.rules.component else ()
        if not places or name == source.rules.component:
            return None
        node = node_of(source.number, places[0])
        return self._inheritance.member(node, name) or self._attributes.content(node, name)

    def is_variable(self, source: SourceFile, scope: int, name: str) -> bool:
        """Tell whether a name is that of a variable or parameter of a function, or of a closure in it."""
        rules = source.rules
        while scope >= 0:
            if (scope, name) in source.values:
                return True
            if scope < len(source.definitions):
                definition = source.definitions[scope]
                head = read_head(definition.signature, definition.name, rules.type_side, rules.result)
                return definition.kind in FUNCTION_KINDS and name in head.parameters
            closure = source.closure(scope)
            if any(parameter.partition(":")[0] == name for parameter in closure.parameters):
                return True
            scope = closure.scope
        return (scope, name) in source.values

    def _in_closure(self, source: SourceFile, scope: int, name: str, expression: str, is_call: bool) -> Entity | None:
        """Return what a name means in a closure: a variable, a parameter, a member of what the closure is called on."""
        if not is_call:
            values = [value for value in source.values.get((scope, name), ()) if not begins_with(value, expression)]
            if values:
                return self._expressions.first_value(source, scope, values) or SHADOWED
            if (entity := self._closures.look_up(source, scope, name)) is not None:
                return entity
        receiver = self._closures.receiver(source, scope)
        if receiver is None or receiver.tag not in ("class", "instance"):
            return None
        entity = self._attributes.attribute(source, receiver, name)
        return None if is_call and entity is not None and entity.tag in _CONTENTS else entity

    def _bound(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return the type that a type parameter must have, as in `<T: Bound>`."""
        definition = source.definitions[scope]
        bounds = bounds_of(definition.signature).get(name)
        if bounds is None:
            return None
        kinds = (self._expressions.type_of(source, definition.parent, bound) for bound in bounds)
        known = next((kind for kind in kinds if kind.tag == "instance"), None)
        return known._replace(tag="class", how=How.RECEIVER) if known is not None else SHADOWED

    def bounded(self, source: SourceFile, scope: int, entity: Entity) -> Entity:
        """Return what a value of a type parameter has that another place declares, by the bounds around a scope."""
        if entity.tag != "outside" or not source.rules.bounds or not entity.text.isidentifier():
            return entity
        found = (self._bound(source, place, entity.text) for place in source.around(scope))
        bound = next((each for each in found if each is not None and each is not SHADOWED), None)
        return bound._replace(tag="instance") if bound is not None else entity

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
        values = [value for value in source.values.get((scope, name), ()) if not begins_with(value, expression)]
        parameter = self._parameter(source, scope, name) if not values or rules.parameters_keep_types else None
        if values and (parameter is None or parameter.tag != "instance"):
            return self._expressions.first_value(source, scope, values) or SHADOWED
        return parameter or self._of_owner(source, scope, name)

    def _parameter(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what a parameter of a function is declared to be, None where it has none of a name."""
        definition, rules = source.definitions[scope], source.rules
        parameters = read_head(definition.signature, definition.name, rules.type_side, rules.result).parameters
        if name not in parameters:
            return None
        kind = parameters[name]
        is_inside = rules.bounds or self._owner(source, scope) is not None
        around = scope if is_inside else definition.parent
        return self._expressions.type_of(source, around, kind).by(How.RECEIVER) if kind else SHADOWED

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
            if not places and source.rules.family == "rust":
                return self._exports.of_inner_module(source, scope, name)
            return self._declarations.group(source, places) if places else None
        node = node_of(source.number, scope)
        if definition.kind == "extension" and source.rules.family == "swift":
            extended = self._exports.type_named(source, definition.name)
            node = extended.node if extended is not None else node
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
        while scope >= len(source.definitions):
            if (receiver := self._closures.receiver(source, scope)) is not None:
                return receiver
            scope = source.closure(scope).scope
        place = source.enclosing_type(scope)
        if source.rules.extension == RECEIVER_BEFORE_NAME:
            functions = takewhile(lambda around: around != place, source.around(scope))
            receivers = (self._receiver(source, function) for function in functions)
            if (receiver := next(filter(None, receivers), None)) is not None:
                return receiver
        if place < 0:
            return self._owner(source, scope) if scope >= 0 else None
        if source.definitions[place].kind in ("impl", "extension"):  # stands for the type that it adds to
            if (
                source.rules.bounds
                and (bound := self._bound(source, place, source.definitions[place].name)) is not None
            ):
                return bound._replace(tag="instance") if bound is not SHADOWED else None
            entity = self._exports.type_named(source, source.definitions[place].name)
            if entity is not None:
                return entity._replace(tag="instance", how=How.RECEIVER)
        return Entity("instance", node_of(source.number, place), How.RECEIVER)

    def labelled(self, source: SourceFile, scope: int, label: str) -> Entity | None:
        """Return what `this@label` means in Kotlin: the type around of that name, or what a function extends."""
        for place in source.around(scope):
            definition = source.definitions[place]
            if definition.name == label:
                is_type = definition.kind in TYPE_KINDS
                return (
                    Entity("instance", node_of(source.number, place), How.EXACT)
                    if is_type
                    else self._receiver(source, place)
                )
        return None

    def own_types(self, source: SourceFile, scope: int) -> Iterator[Entity | None]:
        """Yield what `this` means in a scope, and in the scopes around it where closures have one of their own."""
        while scope >= len(source.definitions):
            if (receiver := self._closures.receiver(source, scope)) is not None:
                yield receiver
            scope = source.closure(scope).scope
        yield self.own_type(source, scope)

    def private_member(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what `.#name` means in JavaScript after anything: a member of a class around it."""
        for place in source.around(scope):
            if places := source.members.get(source.definitions[place].qualified_name, {}).get(name):
                return self._declarations.group(source, places)
        return None


def begins_with(value: str, expression: str) -> bool:
    """Tell whether an expression is the beginning of another, or all of it."""
    return value.startswith(expression) and value[len(expression) : len(expression) + 1] in _AFTER_NAME


_AFTER_NAME = ("", ".", "(", "[", "{")
