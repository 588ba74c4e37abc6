"""Tells what a call gives: an instance of the class that is called, or what a function says it returns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cairn.graph.containers import GIVE, Containers
from cairn.graph.entities import Entity, Expressions, How
from cairn.graph.inheritance import Inheritance
from cairn.graph.nodes import file_of, place_of
from cairn.graph.overloads import Overloads
from cairn.graph.sight import Sight
from cairn.graph.signatures import read_head, type_parameters
from cairn.graph.source_file import SourceFile
from cairn.source.references import RESULT
from cairn.source.type_names import split_types, type_text

_COUNTED = re.compile(r"\((\d+)\)")
_UNSAID = frozenset({"array", "iterable"})
_LISTS = "ArrayList|LinkedList|AbstractList|List|Collection|Iterable|IEnumerable|IList|Array|Set|HashSet|Sequence"
_RESULTS = frozenset({"instance", "outside", "container"})


class Results:
    """The results of calls."""

    def __init__(
        self,
        sight: Sight,
        expressions: Expressions,
        containers: Containers,
        inheritance: Inheritance,
        overloads: Overloads,
    ) -> None:
        self._inheritance = inheritance
        self._overloads = overloads
        self._sight = sight
        self._containers = containers
        self._expressions = expressions

    def with_suffix(self, entity: Entity | None, suffix: str, owner: Entity | None) -> Entity | None:
        """Return what an entity gives with the brackets that follow it.

        Args:
            suffix: such as `()` or `(2)` for a call and `{}` for a literal; may be empty.
            owner: what stands before the dot, where the entity is a member.
        """
        if entity is None or not suffix:
            return entity
        entity, suffix = self._counted(entity.unheld(), suffix)
        if suffix in ("{}", "(){}") and entity.tag in ("class", "instance"):
            return entity._replace(tag="instance")  # a literal, as in Go, an anonymous class, as in Java, or a cast
        suffix = _as_call(entity, suffix)
        if suffix.startswith("[]") and entity.tag in ("class", "function"):
            suffix = suffix.removeprefix("[]")  # of type arguments
            return self.with_suffix(entity, suffix, owner)
        if suffix.startswith("[]") and entity.tag == "container":
            return self.with_suffix(self._containers.item(entity), suffix.removeprefix("[]"), None)
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
        if result is not None and result.tag == "container" and suffix.startswith("()[]"):
            return self.with_suffix(result, suffix.removeprefix("()"), None)
        return result if suffix == "()" or result is None else None

    def _counted(self, entity: Entity, suffix: str) -> tuple[Entity, str]:
        """Return the function that takes as many arguments as brackets say, and these without the number."""
        if (counted := _COUNTED.match(suffix)) is None:
            return entity, suffix
        suffix = f"(){suffix[counted.end() :]}"
        n_arguments = int(counted[1]) + suffix.startswith("(){}")
        return self._overloads.taking(entity, n_arguments) or entity, suffix

    def of_call(self, function: Entity, owner: Entity | None) -> Entity | None:
        """Return what a function gives: what its head says, else what its `return` statements do."""
        source = self._sight.file(file_of(function.node))
        place = place_of(function.node)
        definition, rules = source.definitions[place], source.rules
        text = self._said(function.node)
        if text in _UNSAID and rules.family == "php":
            text = ""  # a comment says of what
        if text in ("Self", "static", "this", "self") and owner is not None and owner.node >= 0:
            return owner._replace(tag="instance", how=max(owner.how, How.RECEIVER))
        result_values = source.values.get((place, RESULT), ())
        if not text and owner is not None and owner.node >= 0 and _gives_itself(result_values, rules.this):
            return owner._replace(tag="instance", how=max(owner.how, How.RECEIVER))
        if text and owner is not None and (given := self._given_by_base(source, definition.parent, owner, text)):
            return given
        if text:
            return self._expressions.type_of(source, definition.parent, text).by(How.RECEIVER)
        result = self._sight.memo.recall(
            ("result", function.node), None, lambda: self._find_returned(source.number, place)
        )
        return result.by(How.RECEIVER) if result is not None and result.tag in _RESULTS else None

    def gives_its_parameter(self, function: Entity) -> bool:
        """Tell whether a function says that it returns what its only type parameter stands for."""
        names = type_parameters(self._sight.code.definition(function.node).signature)
        return len(names) == 1 and self._said(function.node) == names[0]

    def _given_by_base(self, source: SourceFile, place: int, owner: Entity, text: str) -> Entity | None:
        """Return what a type parameter of a type stands for, where a type names it as its base: `: Base<Item>`."""
        if place < 0 or owner.node < 0 or place_of(owner.node) < 0 or not text.isidentifier():
            return None
        base = source.definitions[place]
        names = type_parameters(base.signature)
        if text not in names:
            return None
        for node in self._inheritance.lineage(owner.node):
            items = _named_base(self._sight.code.definition(node).signature, re.escape(base.name))
            if len(items) == len(names) and (kind := type_text(items[names.index(text)])):
                heir = self._sight.file(file_of(node))
                return self._expressions.type_of(heir, place_of(node), kind).by(How.RECEIVER)
        return None

    def as_list(self, head: Entity | None, name: str) -> Entity | None:
        """Return an object whose type extends a list as that list, where its type itself has no such member."""
        if head is None or head.tag != "instance" or name not in GIVE:
            return head
        if self._inheritance.member(head.node, name) is not None:
            return head
        return self.as_container(head) or head

    def as_container(self, owner: Entity) -> Entity | None:
        """Return what an object holds whose type extends a container of a library, None for all others."""
        if owner.tag != "instance" or place_of(owner.node) < 0:
            return None
        for node in self._inheritance.lineage(owner.node):
            source, place = self._sight.file(file_of(node)), place_of(node)
            items = _named_base(source.definitions[place].signature, _LISTS)
            if not items or not self._inheritance.has_unknown_base(node):
                continue
            given = self._given_by_base(source, place, owner, items[0])
            if given is not None:
                name = self._sight.code.definition(given.node).name if given.tag == "instance" else ""
                return Entity("container", given.node, How.RECEIVER, f"Array<{name}>") if name else None
            return self._containers.container(source.number, place, f"Array<{type_text(items[0])}>")
        return None

    def _said(self, node: int) -> str:
        """Return what the head of a function, or of another with its name beside it, says that it returns."""
        rules = self._sight.file(file_of(node)).rules
        for other in (node, *self._sight.code.group(node)):
            definition = self._sight.code.definition(other)
            head = read_head(definition.signature, definition.name, rules.type_side, rules.result)
            if head.result:
                return head.result
        return ""

    def _find_returned(self, file: int, place: int) -> Entity | None:
        source = self._sight.file(file)
        found = self._expressions.first_value(source, place, source.values.get((place, RESULT), ()))
        is_called = found is not None and found.tag == "function" and source.rules.family == "ruby"
        return self.of_call(found, None) if found is not None and is_called else found  # without brackets


def _named_base(signature: str, base: str) -> list[str]:
    """Return the type arguments that a type's head gives to a base, none where it does not name it so."""
    found = re.search(rf"[\s:,](?:{base})<(.+)>", signature)
    return split_types(found[1]) if found is not None else []


def _as_call(entity: Entity, suffix: str) -> str:
    """Return the brackets of a call without the closure that may stand behind them."""
    return "()" if suffix in ("{}", "(){}") and entity.tag in ("function", "outside") else suffix


def _gives_itself(values: Sequence[str], this: frozenset[str]) -> bool:
    """Tell whether a function returns the object that it is called on, by its comment or its first `return`."""
    return bool(values) and (values[0] in (":static", "static()") or values[0] in this)
