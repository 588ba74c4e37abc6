"""Tells what a call gives: an instance of the class that is called, or what a function says it returns."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.graph.entities import Entity, Expressions, How
from cairn.graph.nodes import file_of, place_of
from cairn.graph.sight import Sight
from cairn.graph.signatures import read_head
from cairn.source.references import RESULT


class Results:
    """The results of calls."""

    def __init__(self, sight: Sight, expressions: Expressions) -> None:
        self._sight = sight
        self._expressions = expressions

    def with_suffix(self, entity: Entity | None, suffix: str, owner: Entity | None) -> Entity | None:
        """Return what an entity gives with the brackets that follow it.

        Args:
            suffix: such as `()` for a call and `{}` for a literal; may be empty.
            owner: what stands before the dot, where the entity is a member.
        """
        if entity is None or not suffix:
            return entity
        if suffix in ("{}", "(){}") and entity.tag in ("class", "instance"):
            return entity._replace(tag="instance")  # a literal, as in Go, an anonymous class, as in Java, or a cast
        if suffix.startswith("[]") and entity.tag in ("class", "function"):
            suffix = suffix.removeprefix("[]")  # of type arguments
            return self.with_suffix(entity, suffix, owner)
        if not suffix.startswith("()"):
            return None  # an item of something
        if entity.tag == "class":
            result: Entity | None = entity._replace(tag="instance")
        elif entity.tag == "function":
            result = self.of_call(entity, owner)
        elif entity.tag == "outside":
            result = entity
        else:
            return None
        return result if suffix == "()" or result is None else None

    def of_call(self, function: Entity, owner: Entity | None) -> Entity | None:
        """Return what a function gives: what its head says, else what its `return` statements do."""
        source = self._sight.file(file_of(function.node))
        place = place_of(function.node)
        definition, rules = source.definitions[place], source.rules
        text = read_head(definition.signature, definition.name, rules.type_side, rules.result).result
        if text in ("Self", "static", "this", "self") and owner is not None and owner.node >= 0:
            return owner._replace(tag="instance", how=max(owner.how, How.RECEIVER))
        result_values = source.values.get((place, RESULT), ())
        if not text and owner is not None and owner.node >= 0 and _gives_itself(result_values, rules.this):
            return owner._replace(tag="instance", how=max(owner.how, How.RECEIVER))
        if text:
            return self._expressions.type_of(source, definition.parent, text).by(How.RECEIVER)
        result = self._sight.memo.recall(
            ("result", function.node), None, lambda: self._find_returned(source.number, place)
        )
        return result.by(How.RECEIVER) if result is not None and result.tag in ("instance", "outside") else None

    def _find_returned(self, file: int, place: int) -> Entity | None:
        source = self._sight.file(file)
        return self._expressions.first_value(source, place, source.values.get((place, RESULT), ()))


def _gives_itself(values: Sequence[str], this: frozenset[str]) -> bool:
    """Tell whether a function returns the object that it is called on, by its comment or its first `return`."""
    return bool(values) and (values[0] in (":static", "static()") or values[0] in this)
