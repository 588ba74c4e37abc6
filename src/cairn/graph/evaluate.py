"""Tells what an expression means where it stands: by scope, by import, by the class of what stands before a dot."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from cairn.graph.code import Code, SourceFile, file_of, node_of, place_of
from cairn.graph.entities import OUTSIDE, SHADOWED, Entity, How
from cairn.graph.memo import Memo
from cairn.graph.modules import Place
from cairn.graph.namesakes import MAX_OWNED, Namesake, Namesakes
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, TYPE_KINDS, VALUE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.signatures import declared_type, read_head
from cairn.source.imports import Import, ImportFlag
from cairn.source.references import RESULT

_PART = re.compile(r"([@$\w~]+[?!=]?|\"\"|\[\]|\{\}|\?)((?:\(\)|\[\]|\{\})*)")
_MAX_BASES, _MIN_BASES = 200, 8  # of a type, with theirs
_BASES_A_FILE = 200_000  # looked at for all definitions of a file: a chain of thousands must not take minutes
_UNCHANGING = frozenset(
    {"unwrap", "expect", "clone", "as_ref", "as_mut", "borrow", "borrow_mut", "lock", "iter", "to_owned"}
)


class Evaluator:
    """Tells what expressions mean in one state of the code; keeps what it found out."""

    def __init__(self, code: Code) -> None:
        self.memo = Memo(code.room.answers)
        self.sight = Sight(code, self.memo)
        self.namesakes = Namesakes(self.sight)
        self._code = code

    # -- expressions --------------------------------------------------------------------------------------------------

    def evaluate(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        """Return what an expression stands for where `scope` is the definition around it, None if that is unknown."""
        return self.memo.recall(
            (source.number, scope, expression),
            None,
            lambda: self._walk(self.sight.file(source.number), scope, expression),
        )

    def _walk(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        if expression.startswith(":"):
            found = self.evaluate(source, scope, expression[1:])
            return found._replace(tag="instance") if found is not None and found.tag == "class" else found
        head, parts = self._first(source, scope, expression)
        for name, suffix in parts:
            if head is None:
                return None
            if head.tag == "outside":
                return head
            member = self._attribute(source, head, name)
            if member is None and name in _UNCHANGING and head.tag == "instance":
                member = head
                suffix = ""
            head = self._applied(member, suffix, head)
        return head

    def _first(self, source: SourceFile, scope: int, expression: str) -> tuple[Entity | None, list[tuple[str, str]]]:
        """Evaluate the first part of an expression; return it with the parts that follow."""
        parts = _PART.findall(expression)
        (name, suffix), rest = parts[0], parts[1:]
        rules = source.rules
        if name in ("?", '""', "[]", "{}"):
            return (None if name == "?" else OUTSIDE), rest
        if name in rules.this and not suffix:
            return self._own_type(source, scope), rest
        if name in rules.types and (own := self._own_type(source, scope)) is not None:
            return self._applied(own._replace(tag="class"), suffix, None), rest
        if f"{name}{suffix}" in rules.parents or name in rules.parents:
            own = self._own_type(source, scope)
            return self._parent(own, rest), rest[1:] if own is not None else rest
        if rules.prefix and name.startswith(rules.prefix):
            own = self._own_type(source, scope)
            found = self._attribute(source, own, name.lstrip(rules.prefix)) if own is not None else None
            return self._applied(found, suffix, None), rest
        return self._applied(self._lookup(source, scope, name), suffix, None), rest

    def _own_type(self, source: SourceFile, scope: int) -> Entity | None:
        place = source.enclosing_type(scope)
        if place < 0:
            return None
        if source.definitions[place].kind == "impl":  # stands for the type it is of
            found = self._type_named(source, source.definitions[place].name)
            if found is not None:
                return found._replace(tag="instance", how=How.RECEIVER)
        return Entity("instance", node_of(source.number, place), How.RECEIVER)

    def _parent(self, own: Entity | None, rest: Sequence[tuple[str, str]]) -> Entity | None:
        """Return what `super` leads to: a member of a base class, or, called by itself, the base's constructor."""
        if own is None:
            return None
        constructor = self.sight.file(file_of(own.node)).rules.constructor
        name = rest[0][0] if rest else constructor
        for base in self.bases_of(own.node):
            found = self.member(base, name)
            if found is not None:
                found = found.by(How.RECEIVER)
                return self._applied(found, rest[0][1], None) if rest else found
        return OUTSIDE if self.inherits_outside(own.node) else None

    def inherits_outside(self, node: int) -> bool:
        """Tell whether a type names a base that is not of this project, or not known to be."""
        source = self.sight.file(file_of(node))
        return len(source.bases.get(place_of(node), ())) > len(self.bases_of(node))

    def _applied(self, found: Entity | None, suffix: str, owner: Entity | None) -> Entity | None:
        """Return what a call gives, where brackets follow."""
        if found is None or not suffix:
            return found
        if suffix == "{}" and found.tag == "class":
            return found._replace(tag="instance")  # a literal, as in Go
        if not suffix.startswith("()"):
            return None  # an item of something
        if found.tag == "class":
            found = found._replace(tag="instance")
        elif found.tag == "function":
            found = self._result(found, owner)
        elif found.tag != "outside":
            return None
        return found if suffix == "()" or found is None else None

    def _result(self, found: Entity, owner: Entity | None) -> Entity | None:
        """Return what a function gives: what its head says, else what its `return` statements do."""
        source = self.sight.file(file_of(found.node))
        place = place_of(found.node)
        one, rules = source.definitions[place], source.rules
        text = read_head(one.signature, one.name, rules.type_side, rules.result).result
        if text in ("Self", "static", "this", "self") and owner is not None and owner.node >= 0:
            return owner._replace(tag="instance", how=max(owner.how, How.RECEIVER))
        if text:
            return self._type(source, one.parent, text).by(How.RECEIVER)
        given = self.memo.recall(
            ("result", found.node),
            None,
            lambda: self._first_value(self.sight.file(source.number), place, source.values.get((place, RESULT), ())),
        )
        return given.by(How.RECEIVER) if given is not None and given.tag in ("instance", "outside") else None

    def _type(self, source: SourceFile, scope: int, text: str) -> Entity:
        """Return an instance of the class that a type annotation names, something outside if it names another."""
        if text in ("Self", "self", "static"):
            own = self._own_type(source, scope)
            if own is not None:
                return own
        found = self.evaluate(source, scope, text)
        return found._replace(tag="instance") if found is not None and found.tag == "class" else OUTSIDE

    def _first_value(self, source: SourceFile, scope: int, values: Iterable[str]) -> Entity | None:
        """Return the first of several values whose nature is known."""
        for value in values:
            typed = value.startswith(":")
            found = self._type(source, scope, value[1:]) if typed else self.evaluate(source, scope, value)
            if found is not None and found.tag != "value":
                return found
        return None

    # -- names in scope -----------------------------------------------------------------------------------------------

    def _lookup(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return what a plain name means in a scope."""
        inner = True
        while scope >= 0:
            one = source.definitions[scope]
            if one.kind in FUNCTION_KINDS or one.kind in VALUE_KINDS:
                found = self._local(source, scope, name)
            elif inner or source.rules.implicit:
                found = self._of_type_around(source, scope, name)
            else:
                found = None
            if found is not None:
                return None if found is SHADOWED else found
            inner = inner and one.kind not in FUNCTION_KINDS
            scope = one.parent
        return self._global(source, name)

    def _local(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        one, rules = source.definitions[scope], source.rules
        nested = source.members.get(one.qualified_name, {}).get(name)
        if nested:
            return self._group(source, nested)
        if values := source.values.get((scope, name)):
            return self._first_value(source, scope, values) or SHADOWED
        parameters = read_head(one.signature, one.name, rules.type_side, rules.result).parameters
        if name in parameters:
            kind = parameters[name]
            return self._type(source, one.parent, kind).by(How.RECEIVER) if kind else SHADOWED
        if rules.open_types and one.parent < 0 and "." in one.qualified_name and rules.implicit:
            owner = self._owner_type(source, scope)
            return self._attribute(source, owner, name) if owner is not None else None
        return None

    def _owner_type(self, source: SourceFile, scope: int) -> Entity | None:
        """Return the type of a method that stands outside of it, such as `Type::method` in C++."""
        owner = source.definitions[scope].qualified_name.rpartition(".")[0].rpartition(".")[2]
        found = self._type_named(source, owner)
        return found._replace(tag="instance", how=How.RECEIVER) if found is not None else None

    def _of_type_around(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        one = source.definitions[scope]
        if one.kind in NAMESPACE_KINDS and not source.rules.prefix:
            places = source.members.get(one.qualified_name, {}).get(name)
            return self._group(source, places) if places else None
        found = self.member(node_of(source.number, scope), name)
        if found is not None:
            return found if file_of(found.node) == source.number else found.by(How.RECEIVER)
        return self._typed_attribute(node_of(source.number, scope), name)

    def _global(self, source: SourceFile, name: str) -> Entity | None:
        """Return what a name means at the top of a file."""
        return self.memo.recall(
            ("global", source.number, name), None, lambda: self._find_global(self.sight.file(source.number), name)
        )

    def _find_global(self, source: SourceFile, name: str) -> Entity | None:
        values = source.values.get((-1, name))
        places = source.members.get("", {}).get(name)
        if values and not (places and source.definitions[places[0]].kind in FUNCTION_KINDS | TYPE_KINDS):
            found = self._first_value(source, -1, values)
            if found is not None:
                return found
        if places:
            return self._group(source, places)
        for one in source.aliases.get(name, ()):
            if one.module or one.flags & ImportFlag.REEXPORT == 0:
                found = self.imported(source, one)
                if found is not None:
                    return found
        for one in source.stars if source.rules.package != "all" else ():
            place = self.sight.place(source, one.module)
            found = self._in_place(place, name, source) if place is not None else None
            if found is not None and found.node >= 0:
                return found.by(How.IMPORT)
        return self._found(self.namesakes.in_package(source, name))

    def imported(self, source: SourceFile, one: Import) -> Entity | None:
        """Return what an import binds; something outside where the module is not of this project."""
        if source.rules.package == "package":
            text = f"{one.module}.{one.name}" if one.module else one.name
            return self._found(self.namesakes.qualified(source, text)) or OUTSIDE
        whole = one.module
        place = self.sight.place(source, whole)
        if place is None:
            return OUTSIDE
        if not one.name:
            if source.rules.family == "python" and "." in whole and one.alias == whole.partition(".")[0]:
                place = self.sight.place(source, one.alias)
            return self._module(place)
        if one.name == "=":
            return self._in_place(place, "default", source) or self._module(place)
        found = self._in_place(place, one.name, source)
        if found is None and source.rules.family == "rust":
            deeper = self.sight.place(source, f"{whole}::{one.name}")
            found = self._module(deeper) if deeper != place else None
        return found.by(How.IMPORT) if found is not None else SHADOWED if one.name == "*" else None

    def _module(self, place: Place) -> Entity | None:
        if place is None:
            return None
        if isinstance(place, str):
            return Entity("package", -1, How.IMPORT, place)
        return Entity("module", node_of(place, -1), How.IMPORT)

    def _in_place(self, place: Place, name: str, asking: SourceFile) -> Entity | None:
        """Return what a name means as a member of a module or package."""
        if isinstance(place, str):
            if asking.rules.package == "directory":
                return self._found(self.namesakes.in_folder(place, name))
            return self._module(self.sight.child(place, name))
        if place is None:
            return None
        return self.memo.recall(("in", place, name), None, lambda: self._member_of_file(place, name))

    def _member_of_file(self, place: int, name: str) -> Entity | None:
        return self._exported(place, name) or self._module(self.sight.child(place, name))

    def _exported(self, place: int, name: str) -> Entity | None:
        """Return what a file gives under a name: what it defines, imports, or takes over whole, the nearest first."""
        seen = {place}
        queue = [place]
        for current in queue:
            source = self.sight.file(current)
            found = self._defined(source, name) or self._passed_on(source, name)
            if found is not None:
                return found.by(How.IMPORT) if found.node >= 0 or found.tag == "package" else found
            for one in source.stars:
                following = self.sight.place(source, one.module)
                if isinstance(following, int) and following not in seen:
                    seen.add(following)
                    queue.append(following)
        return None

    def _defined(self, source: SourceFile, name: str) -> Entity | None:
        places = source.members.get("", {}).get(name)
        if not places:
            return None
        found = self._group(source, places)
        if found is not None and found.tag != "value":
            return found
        return self._first_value(source, -1, source.values.get((-1, name), ())) or found

    def _passed_on(self, source: SourceFile, name: str) -> Entity | None:
        """Return what a file imports, or renames, under a name."""
        for one in source.aliases.get(name, ()):
            found = self.imported(source, one) if one.module else self._global(source, one.name)
            if found is not None:
                return found
        return None

    def _type_named(self, source: SourceFile, name: str) -> Entity | None:
        found = self._global(source, name) if name else None
        return found if found is not None and found.tag == "class" else None

    # -- members ------------------------------------------------------------------------------------------------------

    def _attribute(self, source: SourceFile, head: Entity, name: str) -> Entity | None:
        """Return what `.name` means after something known."""
        if head.tag == "module":
            found = self._in_place(file_of(head.node), name, source)
            return found.by(How.IMPORT) if found is not None else None
        if head.tag == "package":
            found = self._in_place(head.text, name, source)
            return found.by(How.IMPORT) if found is not None else None
        if head.tag == "function" and source.rules.family == "python":
            head = self._result(head, None) or head  # a property reads like an attribute
        if head.tag == "outside":
            return head
        if head.tag not in ("class", "instance"):
            return None
        rules = self.sight.file(file_of(head.node)).rules
        if head.tag == "class" and rules.maker and name == rules.maker:
            return head  # the brackets that follow, or their absence, make it an instance
        found = self.member(head.node, name)
        if found is None:
            found = self._typed_attribute(head.node, name)
        if found is None:
            return None
        return found.by(How.RECEIVER if head.tag == "instance" else head.how)

    def member(self, node: int, name: str) -> Entity | None:
        """Return a member of a type or of what it inherits from, the nearest first."""
        return self.memo.recall(("member", node, name), None, lambda: self._find_member(node, name))

    def _find_member(self, node: int, name: str) -> Entity | None:
        found = (self._own_member(current, name) for current in self._lineage(node))
        return next((one for one in found if one is not None), None)

    def _lineage(self, node: int) -> Iterator[int]:
        """Yield a type and what it inherits from, the nearest first; the bases of each once that was looked at."""
        seen, limit = {node}, self._most_bases(node)
        queue = deque([node])
        while queue:
            current = queue.popleft()
            yield current
            for base in self.bases_of(current):
                if base not in seen and len(seen) < limit:
                    seen.add(base)
                    queue.append(base)

    def _own_member(self, node: int, name: str) -> Entity | None:
        source = self.sight.file(file_of(node))
        one = source.definitions[place_of(node)]
        places = source.members.get(one.qualified_name, {}).get(name)
        declared_apart = source.rules.family == "c"
        if places and not declared_apart:
            return self._group(source, places)
        if not source.rules.open_types:
            return None
        found = [node_of(source.number, place) for place in places or ()]
        for other in self.sight.named(name)[:MAX_OWNED]:
            elsewhere = self._code.file(file_of(other))
            owner = elsewhere.definitions[place_of(other)].qualified_name[: -len(name) - 1]
            if other not in found and owner.rpartition(".")[2] == one.name and self._same_type(source, elsewhere):
                found.append(other)
        functions = [other for other in found if self._code.definition(other).kind in FUNCTION_KINDS]
        return self.entity(self._code.main_of(functions or found)) if found else None

    def _same_type(self, source: SourceFile, other: SourceFile) -> bool:
        if other.rules.family != source.rules.family:
            return False
        if source.rules.package == "directory":
            return posixpath.dirname(source.path) == posixpath.dirname(other.path)
        if source.rules.family == "csharp":
            return source.facts.package == other.facts.package
        return True

    def bases_of(self, node: int) -> list[int]:
        """Return the types that a type inherits from or implements, in the order it names them."""
        return self.memo.recall(("bases", node), [], lambda: self._find_bases(node))

    def _find_bases(self, node: int) -> list[int]:
        source = self.sight.file(file_of(node))
        place = place_of(node)
        found: list[int] = []
        for expression in source.bases.get(place, ()):
            base = self.evaluate(
                source, source.definitions[place].parent, expression.partition("[")[0].partition("(")[0]
            )
            if base is not None and base.tag == "class" and base.node != node:
                found.append(base.node)
        if source.rules.family == "rust" and source.definitions[place].kind != "impl":
            found += self._traits_of(source, place)
        return found

    def _most_bases(self, node: int) -> int:
        """Return how many types are looked at for one type; a file of thousands of definitions has fewer for each."""
        n_definitions = len(self._code.file(file_of(node)).definitions)
        return min(_MAX_BASES, max(_MIN_BASES, _BASES_A_FILE // n_definitions))

    def overridden(self, node: int, name: str) -> list[int]:
        """Return the methods called `name` of all types that a type inherits from."""
        members = (self._own_member(base, name) for base in self._lineage(node) if base != node)
        return [one.node for one in members if one is not None and one.tag == "function"]

    def _traits_of(self, source: SourceFile, place: int) -> list[int]:
        """Return the traits that the impl blocks of a Rust type in its own file name."""
        name = source.definitions[place].name
        found = []
        for other, one in enumerate(source.definitions):
            if one.kind == "impl" and one.name == name:
                found += self.bases_of(node_of(source.number, other))
        return found

    def _typed_attribute(self, node: int, name: str) -> Entity | None:
        """Return what an attribute of a type holds, by what is assigned to it or by how it is declared."""
        return self.memo.recall(("attribute", node, name), None, lambda: self._find_attribute(node, name))

    def _find_attribute(self, node: int, name: str) -> Entity | None:
        for current in self._lineage(node):
            source, place = self.sight.file(file_of(current)), place_of(current)
            for scope, value in source.attributes.get((place, name), ()):
                found = self._first_value(source, scope, [value])
                if found is not None:
                    return found.by(How.RECEIVER)
            found = self._first_value(source, place, source.values.get((place, name), ()))
            if found is None:
                found = self._promoted(source, place, name)
            if found is not None:
                return found.by(How.RECEIVER)
        return None

    def _promoted(self, source: SourceFile, place: int, name: str) -> Entity | None:
        """Return what a constructor's parameter holds that is an attribute as well."""
        rules, owner = source.rules, source.definitions[place].qualified_name
        for one in (source.definitions[at] for at in source.members.get(owner, {}).get(rules.constructor, ())):
            head = read_head(one.signature, one.name, rules.type_side, rules.result)
            for parameter in head.promoted & {name, f"${name}"}:
                kind = head.parameters[parameter]
                return self._type(source, place, kind) if kind else None
        return None

    # -- definitions as entities --------------------------------------------------------------------------------------

    def _group(self, source: SourceFile, places: Sequence[int]) -> Entity | None:
        """Return the entity of definitions that share a scope and a name."""
        nodes = [node_of(source.number, place) for place in places]
        if len(nodes) > 1:
            functions = [one for one in nodes if source.definitions[place_of(one)].kind in FUNCTION_KINDS]
            types = [one for one in nodes if source.definitions[place_of(one)].kind in TYPE_KINDS - {"impl"}]
            nodes = types or functions or nodes
        return self.entity(self._code.main_of(nodes) if len(nodes) > 1 else nodes[0])

    def _found(self, one: Namesake | None) -> Entity | None:
        return self.entity(one.node).by(one.how) if one is not None else None

    def only_function(self, source: SourceFile, name: str) -> Entity | None:
        """Return the only function of a name that a file's language sees, however it is called."""
        return self._found(self.namesakes.only_function(source, name))

    def entity(self, node: int) -> Entity:
        """Return what the name of a definition stands for."""
        source = self.sight.file(file_of(node))
        place = place_of(node)
        one = source.definitions[place]
        if one.kind in TYPE_KINDS:
            return Entity("class", node)
        if one.kind in FUNCTION_KINDS:
            return Entity("function", node)
        if one.kind in NAMESPACE_KINDS:
            return Entity("class", node)  # its members are found like those of a type
        if one.kind in VALUE_KINDS:
            return self._declared(source, place) or Entity("value", node)
        return Entity("value", node)

    def _declared(self, source: SourceFile, place: int) -> Entity | None:
        """Return what a field, property or variable holds by its declaration or its first value."""
        one = source.definitions[place]
        text = declared_type(one.signature, one.name, source.rules.type_side)
        found = self.memo.recall(
            ("declared", node_of(source.number, place)), None, lambda: self._find_declared(source, place, text)
        )
        return found.by(How.RECEIVER) if found is not None and found.tag == "instance" else None

    def _find_declared(self, source: SourceFile, place: int, text: str) -> Entity | None:
        one = self.sight.file(source.number).definitions[place]
        found = self._type(source, one.parent, text) if text else None
        return found or self._first_value(source, one.parent, source.values.get((one.parent, one.name), ()))
