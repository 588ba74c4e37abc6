"""Tells what an expression means where it stands: by scope, by import, by the class of what stands before a dot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cairn.graph.attributes import Attributes
from cairn.graph.closures import Closures
from cairn.graph.code import Code
from cairn.graph.containers import Containers, as_outside
from cairn.graph.declarations import Declarations
from cairn.graph.entities import OUTSIDE, Entity, How
from cairn.graph.exports import Exports
from cairn.graph.extensions import Extensions
from cairn.graph.inheritance import Inheritance
from cairn.graph.macros import Macros
from cairn.graph.memo import Memo
from cairn.graph.namesakes import Namesakes
from cairn.graph.nodes import file_of, node_of
from cairn.graph.overloads import Overloads
from cairn.graph.results import Results
from cairn.graph.roots import Roots
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, RECEIVER_BEFORE_NAME, TYPE_KINDS
from cairn.graph.scopes import Scopes
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile
from cairn.graph.traits import Traits
from cairn.source.expressions import mark_path
from cairn.source.implied import ARGUMENT, RESULT_OF_FUNCTION

_PART = re.compile(r"(#?[@$\w~]+[?!=]?|\"\"|\[\]|\{\}|\?)((?:<\w+>)?(?:\(\d*\)|\[\]|\{\})*)")
_TYPE_GIVEN = re.compile(r"<(\w+)>(?:\(\d*\))?")
# Functions of other libraries that give something of their type argument itself, and no list of it or the like.
_GIVES_IT = re.compile(
    r"(?i)(?!\w*(?:s|all|list|set|map|array|flow|type|many|lazy|channel)$)(?:get|find|resolve|inject|instance|create|make|provide|read|watch|view_?model|service|body|receive|decode|parse"
    r"|from_?json|deserialize|mock|spy|any|of|require|lookup|fetch|load|by)\w*"
)
_BRACKETS = re.compile(r"^\(\d*\)")
_UNCHANGING = frozenset(
    {"unwrap", "expect", "clone", "as_ref", "as_mut", "borrow", "borrow_mut", "lock", "iter", "to_owned"}
    | {"freeze", "dup", "tap", "itself", "await"}
)


class Evaluator:
    """Tells what expressions mean in one state of the code, and remembers it.

    An expression is read from left to right. Its first name is looked up in the scopes around it, each further one
    among the attributes of what stands before it, and brackets give the result of a call.
    """

    def __init__(self, code: Code) -> None:
        self.memo = Memo(code.room.answers)
        self.sight = Sight(code, self.memo)
        self.namesakes = Namesakes(self.sight)
        self.declarations = Declarations(self.sight, self)
        self.inheritance = Inheritance(self.sight, self, self.declarations)
        self.exports = Exports(self.sight, self, self.declarations, self.namesakes)
        self._macros = Macros(self.sight)
        self._containers = Containers(self.sight, self)
        self.overloads = Overloads(self.sight, self.inheritance)
        self._results = Results(self.sight, self, self._containers, self.inheritance, self.overloads)
        self._attributes = Attributes(self.sight, self, self.inheritance, self.exports, self._results)
        self.roots = Roots(self.sight, self.namesakes, self.inheritance)
        self.extensions = Extensions(self.sight, self.namesakes, self.inheritance, self.declarations)
        self._traits = Traits(self.sight, self.exports, self.inheritance)
        self._closures = Closures(self.sight, self)
        self.scopes = Scopes(self, self.declarations, self.inheritance, self.exports, self._attributes, self._closures)

    def evaluate(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        """Return what an expression stands for where `scope` is the definition around it, None if that is unknown."""
        return self.memo.recall(
            (source.number, scope, expression),
            None,
            lambda: self._walk(self.sight.file(source.number), scope, expression),
        )

    def called(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what an expression stands for where it is called, a plain name being no variable in some languages."""
        if not source.rules.methods_apart or not name.isidentifier():
            return self.evaluate(source, scope, name)
        if name in source.rules.this:
            own = self.scopes.own_type(source, scope)
            return own._replace(tag="class") if own is not None else None  # another constructor
        if name in source.rules.parents:
            return self.evaluate(source, scope, name)
        return self.memo.recall(
            ("called", source.number, scope, name),
            None,
            lambda: self.scopes.look_up(self.sight.file(source.number), scope, name, name, is_call=True),
        )

    def _walk(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        if expression.startswith(":"):
            entity = self.evaluate(source, scope, expression[1:])
            return entity._replace(tag="instance") if entity is not None and entity.tag == "class" else entity
        if expression.endswith("!") and source.rules.family == "rust":
            return self._macros.look_up(source, expression)
        head, parts = self._first(source, scope, expression)
        for name, suffix in parts:
            head = self._results.as_list(head.unheld() if head is not None else None, name)
            if head is not None and head.tag == "container":
                if (content := self._containers.member(head, name)) is not None:
                    head = self._results.with_suffix(content, _BRACKETS.sub("", suffix), None)
                    continue
                head = as_outside(head)
            if head is not None:
                head = self.scopes.bounded(source, scope, self.declarations.in_expression(head))
                head = OUTSIDE if self.declarations.is_outside(head) else head
            member = self._member_of(source, scope, head, name, is_called=bool(suffix) or name == parts[-1][0])
            if member is None and name in _UNCHANGING and head is not None and head.tag == "instance":
                member = head
                suffix = ""
            if member is None:
                outside = head if head is not None and head.tag == "outside" else None
                head = self._given(source, scope, outside, name, suffix, None) if "<" in suffix else outside
                if head is None and not source.rules.extension and source.rules.family != "rust":
                    return None
            else:
                head = self._given(source, scope, member, name, suffix, head) if suffix else member
        return head

    def _given(
        self, source: SourceFile, scope: int, entity: Entity | None, name: str, suffix: str, owner: Entity | None
    ) -> Entity | None:
        """Return what something gives with the brackets behind it, perhaps what a type argument says: `get<Till>()`."""
        if (written := _TYPE_GIVEN.match(suffix)) is None:
            return self._results.with_suffix(entity, suffix, owner)
        is_foreign = entity is None or entity.tag == "outside"
        if is_foreign and _GIVES_IT.fullmatch(name):
            given: Entity | None = self.type_of(source, scope, written[1]).by(How.NAME)
        elif entity is not None and entity.tag == "function" and self._results.gives_its_parameter(entity):
            given = self.type_of(source, scope, written[1]).by(How.RECEIVER)
        else:
            return self._results.with_suffix(entity, suffix[written.end(1) + 1 :], owner)
        return self._results.with_suffix(given, suffix[written.end() :], None)

    def _member_of(
        self, source: SourceFile, scope: int, head: Entity | None, name: str, *, is_called: bool
    ) -> Entity | None:
        """Return what `.name` means after something that may be unknown or outside."""
        if name.startswith("#"):
            return self.scopes.private_member(source, scope, name)
        if source.rules.family == "php":
            name = name.lstrip("$")  # a static property
        if head is not None and head.tag != "outside":
            member = self._attributes.attribute(source, head, name, is_called=is_called)
            if member is not None:
                return member
        if source.rules.family == "rust":
            return self._traits.find(source, head, name)
        return self.extensions.find(source, head, name)

    def _first(self, source: SourceFile, scope: int, expression: str) -> tuple[Entity | None, list[tuple[str, str]]]:
        """Evaluate the first part of an expression; return it with the parts that follow."""
        parts = _PART.findall(expression)
        if not parts:
            return None, []  # an operator
        (name, suffix), rest = parts[0], parts[1:]
        rules, scopes = source.rules, self.scopes
        if rules.capital_types and name[0].isupper() and not suffix:
            whole, deeper = self._qualified(source, scope, name, rest)
            if whole is not None:
                return whole, deeper
        if name in ("?", '""', "[]", "{}"):
            return (None if name == "?" else OUTSIDE._replace(text="String" if name == '""' else "")), rest
        if rules.family == "rust" and name in ("crate", "$crate", "super"):
            return self._module_by_path(source, scope, parts)
        if name in rules.this and not suffix:
            own = scopes.own_type(source, scope)
            is_module = own is None and rules.family == "rust"
            return (self.exports.module(source, "self") if is_module else own), rest
        if name in rules.types and (own := scopes.own_type(source, scope)) is not None:
            return self._results.with_suffix(own._replace(tag="class"), suffix, None), rest
        if f"{name}{suffix}" in rules.parents or name in rules.parents:
            own = scopes.own_type(source, scope)
            if rules.family == "ruby":  # the method of the same name
                return self._parent(own, [(_function_around(source, scope), suffix)]), rest
            return self._parent(own, rest), rest[1:] if own is not None else rest
        return self._in_scope(source, scope, parts, expression)

    def _in_scope(
        self, source: SourceFile, scope: int, parts: list[tuple[str, str]], expression: str
    ) -> tuple[Entity | None, list[tuple[str, str]]]:
        """Return what the first part means where it stands, or the type behind it if it is a package."""
        (name, suffix), rest = parts[0], parts[1:]
        if source.rules.paths_marked and expression.startswith(f"{name}:"):
            return self.scopes.look_up(source, scope, name, name, is_call=True), rest
        entity = self._plain(source, scope, name, suffix, expression)
        if suffix:
            return self._given(source, scope, entity, name, suffix, None), rest
        is_package = entity is None and source.rules.package == "package" and not source.rules.capital_types
        return self._behind_packages(source, scope, name, rest) if is_package else (entity, rest)

    def _plain(self, source: SourceFile, scope: int, name: str, suffix: str, expression: str) -> Entity | None:
        """Return what a name by itself means: an attribute, the maker of the type around, or what is in scope."""
        rules = source.rules
        if name.startswith("this@"):
            return self.scopes.labelled(source, scope, name.removeprefix("this@"))
        own = self.scopes.own_type(source, scope) if rules.prefix or rules.maker else None
        if rules.prefix and name.startswith(rules.prefix):
            plain = name.lstrip(rules.prefix)
            if own is None:
                return self._attributes.outside_of_types(source, plain)
            return self._attributes.attribute(source, own, plain)
        if rules.maker and name == rules.maker and own is not None:
            return own._replace(tag="class")
        is_call = rules.methods_apart and "(" in suffix
        entity = self.scopes.look_up(source, scope, name, expression, is_call=is_call)
        if entity is None and rules.extension == RECEIVER_BEFORE_NAME and name[0].islower():
            owners = self.scopes.own_types(source, scope)
            found = (self.extensions.find(source, owner, name) for owner in owners)
            entity = next((each for each in found if each is not None and each.how <= How.RECEIVER), None)
        if suffix.startswith(("(", "<")) and (entity is None or entity.tag == "outside"):
            entity = self.extension_unsaid(source, scope, name) or entity
        if entity is None and rules.capital_types and name[0].isupper():
            return OUTSIDE._replace(text=name)
        return entity

    def extension_unsaid(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return the extension that a bare call means on what a closure around it is called on, which nothing tells."""
        if source.rules.extension != RECEIVER_BEFORE_NAME or self.scopes.is_variable(source, scope, name):
            return None
        return self.extensions.find_unsaid(source, name)

    def _module_by_path(
        self, source: SourceFile, scope: int, parts: list[tuple[str, str]]
    ) -> tuple[Entity | None, list[tuple[str, str]]]:
        """Return the module that `crate`, or a row of `super`, leads to in Rust; and the parts that follow."""
        if parts[0][0] != "super":
            return self.exports.module(source, "crate"), parts[1:]
        ups = next((place for place, part in enumerate(parts) if part[0] != "super"), len(parts))
        inner = sum(source.definitions[place].kind == "module" for place in source.around(scope))
        steps = "::".join(["super"] * max(0, ups - inner)) or "self"
        return self.exports.module(source, steps), parts[ups:]

    def _behind_packages(
        self, source: SourceFile, scope: int, first: str, rest: list[tuple[str, str]]
    ) -> tuple[Entity | None, list[tuple[str, str]]]:
        """Return the type in `org.acme.Shop`, with the parts that follow it."""
        for count, (name, suffix) in enumerate(rest):
            if name[0].isupper():
                packages = ".".join([first, *(package for package, _ in rest[:count])])
                whole, deeper = self._qualified(source, scope, packages, rest[count:])
                return (whole, deeper) if whole is not None else (None, rest)
            if suffix:
                break
        return None, rest

    def _qualified(
        self, source: SourceFile, scope: int, first: str, rest: list[tuple[str, str]]
    ) -> tuple[Entity | None, list[tuple[str, str]]]:
        """Return the type that the most of several names in a row mean, with the parts that follow it."""
        if source.rules.family == "ruby" and first == "Object" and rest and rest[0][0][0].isupper():
            return self._absolute(source, rest)
        count = 0
        while count < len(rest) and rest[count][0][0].isupper() and (not count or not rest[count - 1][1]):
            count += 1
        while count:
            entity = self._type_of_full_name(source, scope, first, ".".join([first, *(one for one, _ in rest[:count])]))
            if entity is not None and entity.tag == "class":
                return self._results.with_suffix(entity, rest[count - 1][1], None), rest[count:]
            count -= 1
        if source.rules.open_types and not source.rules.open_namespaces:
            entity = self._in_nesting(source, scope, first)
            return (entity if entity is not None and entity.tag == "class" else None), rest
        return None, rest

    def _absolute(
        self, source: SourceFile, parts: list[tuple[str, str]]
    ) -> tuple[Entity | None, list[tuple[str, str]]]:
        """Return what `::A::B` means in Ruby, whatever is around it; with the parts that follow."""
        count = 0
        while count < len(parts) and parts[count][0][0].isupper() and (not count or not parts[count - 1][1]):
            count += 1
        for taken in range(count, 0, -1):
            name = ".".join(part for part, _ in parts[:taken])
            if (namesake := self.namesakes.with_full_name(source, name)) is not None:
                entity = self.declarations.entity_of(namesake)
                return self._results.with_suffix(entity, parts[taken - 1][1], None), parts[taken:]
        return OUTSIDE._replace(text=parts[0][0]), parts[1:]

    def _in_nesting(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what a name means within the types and modules around, which may go on in other files."""
        for definition in (source.definitions[place] for place in source.around(scope)):
            if definition.kind in TYPE_KINDS | NAMESPACE_KINDS:
                namesake = self.namesakes.with_full_name(source, f"{definition.qualified_name}.{name}")
                if namesake is not None:
                    return self.declarations.entity_of(namesake)
        top = self.declarations.entity_of(self.namesakes.with_full_name(source, name))
        return top or next(self._mixed_in(source, scope, name), None)

    def _mixed_in(self, source: SourceFile, scope: int, name: str) -> Iterator[Entity]:
        """Yield what a name means in what the types around inherit from, and in what the file mixes into all."""
        first, _, rest = name.partition(".")
        owners = [node_of(source.number, place) for place in source.around(scope)]
        owners = [node for node in owners if self.sight.code.definition(node).kind in TYPE_KINDS | NAMESPACE_KINDS]
        mixed = (self.evaluate(source, -1, text) for text in source.bases.get(-1, ()))
        owners += [entity.node for entity in mixed if entity is not None and entity.tag == "class"]
        for node in owners:
            entity = self.inheritance.member(node, first)
            if entity is not None and entity.tag == "class" and rest:
                full_name = f"{self.sight.code.definition(entity.node).qualified_name}.{rest}"
                entity = self.declarations.entity_of(self.namesakes.with_full_name(source, full_name))
            if entity is not None and entity.tag == "class":
                yield entity

    def _type_of_full_name(self, source: SourceFile, scope: int, first: str, whole: str) -> Entity | None:
        """Return what a name in several parts means: in full, in a package of the file, or behind an imported one."""
        if source.rules.open_types and not source.rules.open_namespaces:
            return self._in_nesting(source, scope, whole)
        names = [
            f"{imported.module}.{imported.name}.{whole[len(first) + 1 :]}" for imported in source.aliases.get(first, ())
        ]
        for name in (*names, whole):
            if (namesake := self.namesakes.with_full_name(source, name)) is not None:
                return self.declarations.entity_of(namesake)
        return self.declarations.entity_of(self.namesakes.in_package(source, whole))

    def _parent(self, own: Entity | None, rest: Sequence[tuple[str, str]]) -> Entity | None:
        """Return what `super` leads to: a member of a base class, or, called by itself, the base's constructor."""
        if own is None or own.node < 0:
            return own
        rules = self.sight.file(file_of(own.node)).rules
        name = rest[0][0] if rest else rules.constructor
        parts = (own.node, *self.inheritance.parts_of(own.node))
        for base in (base for part in parts for base in self.inheritance.bases_of(part)):
            if not name:  # constructors have the name of their type
                if self.sight.code.definition(base).kind != "class":
                    continue
                return Entity("class", base, How.RECEIVER)
            member = self.inheritance.member(base, name)
            if member is not None:
                member = member.by(How.RECEIVER)
                return self._results.with_suffix(member, rest[0][1], None) if rest else member
        return OUTSIDE if self.inheritance.has_unknown_base(own.node) else None

    def type_of(self, source: SourceFile, scope: int, text: str) -> Entity:
        """Return an instance of the class that a type annotation names, something outside if it names no class here."""
        if text in ("Self", "self", "static"):
            own = self.scopes.own_type(source, scope)
            if own is not None:
                return own
        name = text.partition("<")[0]
        entity = self.evaluate(source, scope, mark_path(name) if source.rules.paths_marked else name)
        container = self._containers.container(source.number, scope, text)
        if entity is not None and entity.tag == "class":
            is_alias = self.sight.code.definition(entity.node).kind == "type"
            if not (container and is_alias):
                return entity._replace(tag="instance")
        return container or OUTSIDE._replace(text=name)

    def first_value(self, source: SourceFile, scope: int, values: Iterable[str]) -> Entity | None:
        """Return what the first of several values stands for that is known to be more than a value."""
        for value in values:
            if value.startswith(":"):
                entity: Entity | None = self.type_of(source, scope, value[1:])
            elif value.startswith((ARGUMENT, RESULT_OF_FUNCTION)):
                entity = self._closures.implied(source, scope, value)
            else:
                entity = self.evaluate(source, scope, value)
            if entity is not None and entity.tag != "value":
                return entity
        return None


def _function_around(source: SourceFile, scope: int) -> str:
    """Return the name of the innermost function around a scope, empty for none."""
    around = (source.definitions[place] for place in source.around(scope))
    return next((definition.name for definition in around if definition.kind in FUNCTION_KINDS), "")
