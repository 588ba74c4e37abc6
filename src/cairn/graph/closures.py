"""Tells what the parameters of closures hold, and what a closure is called on: by the function that it is given to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cairn.graph.entities import SHADOWED, Entity, Expressions, How
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.rules import FUNCTION_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import declared_type, parameter_texts, read_head, type_parameters
from cairn.graph.source_file import SourceFile
from cairn.source.closures import LAST, Closure
from cairn.source.implied import ARGUMENT, RESULT_OF_FUNCTION
from cairn.source.ruby_values import EVALUATED
from cairn.source.type_names import split_types, type_text

_MODIFIERS = re.compile(
    r"^(?:(?:suspend|crossinline|noinline|inline|inout|mut|dyn|impl|move|readonly|vararg|final|sending"
    r"|@\w+(?:\([^()]*\))?) |&(?:'\w+ )?)+"
)
_RUST_FUNCTION = re.compile(r"(?:Async)?Fn(?:Once|Mut)?\s?\(")
_RECEIVER = re.compile(r"([\w.]+(?:<.*>)?)\??\.$")
_FOREIGN_RUBY = frozenset({"tap", "then", "yield_self"})
_FOREIGN_KOTLIN = {"apply": "receiver", "run": "receiver", "with": "given", "also": "it", "let": "it", "use": "it"} | {
    "takeIf": "it",
    "takeUnless": "it",
}
# Methods of other libraries that hand each item of a container to a closure, or what is in an optional value.
_EACH_WORDS = """
    all allSatisfy also and_then any associateBy compactMap contains count distinctBy drop dropWhile each every exists
    forall foreach sortWith withFilter
    fast_filter filter filter_map filterNot find findIndex findLast first firstIndex firstOrNull flat_map
    flatMap for_each forEach groupBy indexOfFirst indexOfLast inspect is_ok_and is_some_and isSuperset last
    lastOrNull let map map_or map_or_else mapNotNull max_by_key maxBy maxByOrNull min_by_key minBy minByOrNull
    none onEach partition position remove_if removeAll removeIf retain retainAll single singleOrNull skip_while
    some sort_by_key sortBy sortedBy sortedByDescending sumBy sumOf take_while takeWhile then unwrap_or_else
"""
_UNNAMED = {"scala": "_"}  # what stands for the only parameter of a closure that names none
_EACH = frozenset(_EACH_WORDS.split())


class _FunctionType(NamedTuple):
    """What a closure must be: what it is called on, empty for nothing, and its parameters; written in a scope."""

    receiver: str
    parameters: tuple[str, ...]
    node: int


class Closures:
    """The closures of one state of the code."""

    def __init__(self, sight: Sight, expressions: Expressions) -> None:
        self._sight = sight
        self._expressions = expressions

    def look_up(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what a name means as a parameter of a closure, `SHADOWED` where that is unknown, None for others."""
        closure = source.closure(scope)
        names = [parameter.partition(":") for parameter in closure.parameters]
        for place, (parameter, _, declared) in enumerate(names):
            if parameter == name:
                return self._parameter(source, scope, place, declared) or SHADOWED
        family = source.rules.family
        if family == "swift" and not names and re.fullmatch(r"\$\d", name):
            return self._parameter(source, scope, int(name[1:]), "") or SHADOWED
        if (
            family == "jvm"
            and name == _UNNAMED.get(source.language, "it")
            and not names
            and (found := self._parameter(source, scope, 0, ""))
        ):
            return found
        return None

    def _parameter(self, source: SourceFile, scope: int, place: int, declared: str) -> Entity | None:
        if declared:
            return self._expressions.type_of(source, scope, declared).by(How.RECEIVER)
        key = ("closure", node_of(source.number, scope), place)
        return self._sight.memo.recall(key, None, lambda: self._find_parameter(source, scope, place))

    def _find_parameter(self, source: SourceFile, scope: int, place: int) -> Entity | None:
        closure = source.closure(scope)
        for required in self._required(source, closure):
            if place < len(required.parameters):
                text = required.parameters[place]
                return self._given_type(source, closure, required, text) or self._typed(required.node, text)
        if source.rules.family == "ruby":
            return self._yielded(source, closure, place)
        if place == 0 and (head := self._foreign_head(source, closure)) is not None:
            how = _FOREIGN_KOTLIN.get(_last_name(closure.callee), "") if source.rules.family == "jvm" else ""
            if head.tag == "container" and (how != "it" or _last_name(closure.callee) == "let"):
                item = self._expressions.evaluate(source, closure.scope, f"{_head_of(closure.callee)}[]")
                return item if _last_name(closure.callee) in _EACH else None
            return head if how == "it" else None
        return None

    def _yielded(self, source: SourceFile, closure: Closure, place: int) -> Entity | None:
        """Return what the method that is called hands to a block of Ruby."""
        for node in self._callees(source, closure):
            if (entity := self._value_of(node, f"yield{place}")) is not None:
                return entity
        head = self._foreign_head(source, closure) if not place else None
        if head is not None and head.tag == "function":
            head = self._expressions.evaluate(source, closure.scope, f"{_head_of(closure.callee)}()")
        is_itself = _last_name(closure.callee) in _FOREIGN_RUBY and head is not None and head.tag == "instance"
        return head if is_itself else None

    def _value_of(self, node: int, name: str) -> Entity | None:
        """Return what a variable of a function holds."""
        source, place = self._sight.file(file_of(node)), place_of(node)
        return self._expressions.first_value(source, place, source.values.get((place, name), ()))

    def receiver(self, source: SourceFile, scope: int) -> Entity | None:
        """Return what a closure is called on, such as the `this` of a lambda of Kotlin; None for most closures."""
        if source.rules.family not in ("jvm", "ruby"):
            return None
        key = ("closure", node_of(source.number, scope), LAST)
        return self._sight.memo.recall(key, None, lambda: self._find_receiver(source, source.closure(scope)))

    def _find_receiver(self, source: SourceFile, closure: Closure) -> Entity | None:
        if source.rules.family == "ruby":
            found = (self._value_of(node, EVALUATED) for node in self._callees(source, closure))
            return next(filter(None, found), None)
        for required in self._required(source, closure):
            return self._typed(required.node, required.receiver) if required.receiver else None
        way = _FOREIGN_KOTLIN.get(_last_name(closure.callee), "")
        if way == "given" and closure.given:
            return self._expressions.evaluate(source, closure.scope, closure.given)
        return self._foreign_head(source, closure) if way == "receiver" and "." in closure.callee else None

    def _foreign_head(self, source: SourceFile, closure: Closure) -> Entity | None:
        """Return what stands before the dot of a call of a function of another library."""
        head = _head_of(closure.callee)
        return self._expressions.evaluate(source, closure.scope, head) if head else None

    def _given_type(self, source: SourceFile, closure: Closure, required: _FunctionType, text: str) -> Entity | None:
        """Return what a type parameter of the function that is called stands for by the call's type arguments."""
        if not closure.types or not text.isidentifier():
            return None
        names = type_parameters(self._sight.code.definition(required.node).signature)
        if text not in names or names.index(text) >= len(closure.types) or not closure.types[names.index(text)]:
            return None
        return self._expressions.type_of(source, closure.scope, closure.types[names.index(text)]).by(How.RECEIVER)

    def _typed(self, node: int, text: str) -> Entity | None:
        kind = type_text(text)
        if not kind:
            return None
        entity = self._expressions.type_of(self._sight.file(file_of(node)), place_of(node), kind)
        return entity.by(How.RECEIVER) if entity.tag != "outside" else entity

    def implied(self, source: SourceFile, scope: int, value: str) -> Entity | None:
        """Return what a place in the code must hold: the result of the function around, or an argument of a call."""
        if value == RESULT_OF_FUNCTION:
            place = source.definition_around(scope)
            definition = source.definitions[place] if place == scope else None
            if definition is None:
                return None
            head = read_head(definition.signature, definition.name, source.rules.type_side, source.rules.result)
            text = head.result or declared_type(definition.signature, definition.name, source.rules.type_side)
            return self._expressions.type_of(source, scope, text).by(How.RECEIVER) if text else None
        _, callee, label, argument = value.split(ARGUMENT)
        call = Closure(scope, callee, int(argument), label, "", ())
        found = (self._parameter_text(node, call) for node in self._callees(source, call))
        return next((self._typed(node, text) for node, text in filter(None, found)), None)

    # -- what the function that is called wants ------------------------------------------------------------------------

    def _required(self, source: SourceFile, closure: Closure) -> Iterator[_FunctionType]:
        """Yield what a closure must be by the functions that it may be given to."""
        for node in self._callees(source, closure):
            if (found := self._required_by(node, closure)) is not None:
                yield found

    def _callees(self, source: SourceFile, closure: Closure) -> list[int]:
        """Return the functions that a closure may be given to."""
        if not closure.callee:
            return []
        callee = self._expressions.called(source, closure.scope, closure.callee)
        is_known = callee is not None and callee.node >= 0 and place_of(callee.node) >= 0
        return self._functions(callee) if callee is not None and is_known else []

    def _functions(self, callee: Entity) -> list[int]:
        """Return the functions that a call may mean, which have one name; for a class, those that make it."""
        if callee.tag == "function":
            return list(self._sight.code.group(callee.node))
        if callee.tag != "class":
            return []
        source, place = self._sight.file(file_of(callee.node)), place_of(callee.node)
        definition = source.definitions[place]
        owner = definition.qualified_name[: -len(definition.name) - 1]
        namesakes = source.members.get(owner, {}).get(definition.name, ())
        functions = [place for place in namesakes if source.definitions[place].kind in FUNCTION_KINDS]
        if functions and source.rules.family == "ecmascript":  # an interface has the name of the function
            return [node_of(source.number, place) for place in functions]
        maker = source.rules.constructor
        places = source.members.get(definition.qualified_name, {}).get(maker or definition.name, ()) if maker else ()
        if source.rules.family == "ruby":
            member = self._expressions.evaluate(source, place, maker)
            return [member.node] if member is not None and member.tag == "function" else []
        return [callee.node, *(node_of(source.number, place) for place in places)]

    def _required_by(self, node: int, closure: Closure) -> _FunctionType | None:
        found = self._parameter_text(node, closure)
        return self._function_type(*found, 0) if found is not None else None

    def _parameter_text(self, node: int, closure: Closure) -> tuple[int, str] | None:
        """Return a function with the type, as it is written, of its parameter that takes an argument of a call."""
        source, definition = self._sight.file(file_of(node)), self._sight.code.definition(node)
        parameters = parameter_texts(definition.signature, definition.name, source.rules.type_side)
        if parameters and parameters[0][1] in ("self", "this") and source.rules.family in ("rust", "ecmascript"):
            parameters = parameters[1:]
        if closure.label:
            parameters = [entry for entry in parameters if closure.label in entry[:2]]
            place = 0
        else:
            place = len(parameters) - 1 if closure.argument == LAST else closure.argument
        if not 0 <= place < len(parameters):
            return None
        return node, parameters[place][2]

    def _function_type(self, node: int, text: str, depth: int) -> _FunctionType | None:
        """Read a type that a closure may have, which may be an alias, an interface of one method, or a bound."""
        text = _MODIFIERS.sub("", _without_brackets(text))
        source, definition = self._sight.file(file_of(node)), self._sight.code.definition(node)
        if source.rules.family == "rust":
            bound = re.search(rf"\b{re.escape(text)}\s?:\s?(?!:)([^{{]*)", _heads_around(source, place_of(node)))
            text = bound[1] if text.isalnum() and bound is not None else text
            found = _RUST_FUNCTION.search(text)
            return _FunctionType("", _listed(text, found.end() - 1), node) if found is not None else None
        if (opening := _opening_of_function(text)) >= 0:
            before = _RECEIVER.search(text[:opening])
            return _FunctionType(before[1] if before else "", _listed(text, opening), node)
        name = type_text(text)
        if not name or depth:
            return None
        entity = self._expressions.evaluate(source, definition.parent, name.partition("<")[0])
        if entity is None or entity.tag != "class":
            return None
        return self._of_named(entity.node, depth + 1)

    def _of_named(self, node: int, depth: int) -> _FunctionType | None:
        """Return the type of a closure that an alias names, or that implements an interface of one method."""
        source, definition = self._sight.file(file_of(node)), self._sight.code.definition(node)
        if definition.kind == "type":
            return self._function_type(node, definition.signature.partition("=")[2].strip().rstrip(";"), depth)
        if definition.kind != "interface":
            return None
        members = source.members.get(definition.qualified_name, {}).values()
        methods = [place for places in members for place in places if source.definitions[place].kind in FUNCTION_KINDS]
        if len(methods) != 1:
            return None
        method = source.definitions[methods[0]]
        texts = parameter_texts(method.signature, method.name, source.rules.type_side)
        return _FunctionType("", tuple(entry[2] for entry in texts), node_of(source.number, methods[0]))


def _heads_around(source: SourceFile, place: int) -> str:
    """Return the head of a function and those of the types around it."""
    return " , ".join(source.definitions[at].signature for at in source.around(place))


def _last_name(expression: str) -> str:
    return expression.rpartition(".")[2]


def _head_of(expression: str) -> str:
    return expression.rpartition(".")[0]


def _without_brackets(text: str) -> str:
    """Return a type without the brackets around all of it and the mark of an optional one."""
    text = text.strip()
    for _ in range(3):
        plain = text.rstrip("?!").strip()
        if not plain.startswith("(") or _closing(plain, 0) != len(plain) - 1:
            return plain if "->" not in plain and "=>" not in plain else text
        inner = plain[1:-1].strip()
        if "->" not in inner and "=>" not in inner:
            return plain
        text = inner
    return text


def _opening_of_function(text: str) -> int:
    """Return where the parameters of a function type begin, -1 where it is none."""
    opening = text.find("(")
    while opening >= 0:
        closing = _closing(text, opening)
        if re.match(r"\s*(?:async )?(?:throws(?:\(\w+\))? )?(?:->|=>)", text[closing + 1 :]):
            return opening
        opening = text.find("(", closing + 1)  # behind the end where a bracket is never closed
    return -1


def _listed(text: str, opening: int) -> tuple[str, ...]:
    """Return the types in the brackets of a function type, without the names before them."""
    items = split_types(text[opening + 1 : _closing(text, opening)])
    return tuple(_MODIFIERS.sub("", re.sub(r"^(?:_ )?\w+\??\s?:\s?(?!:)", "", item)) for item in items if item)


def _closing(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if not depth:
            return place
    return len(text) - 1
