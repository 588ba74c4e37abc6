"""Resolves references and imports: references become edges between definitions, imports edges between files."""

from __future__ import annotations

import posixpath
from array import array
from collections.abc import Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple

from cairn import waiting
from cairn.graph.by_name import WHOLE_NAMES, ByName
from cairn.graph.code import Code
from cairn.graph.entities import Entity, How
from cairn.graph.evaluate import Evaluator
from cairn.graph.memo import content_of, place_called
from cairn.graph.namesakes import MAX_NAMESAKES
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.recent import Recent
from cairn.graph.rules import FUNCTION_KINDS, RECEIVER_BEFORE_NAME, TYPE_KINDS, VALUE_KINDS
from cairn.graph.scopes import begins_with
from cairn.graph.source_file import SourceFile, imports_saying
from cairn.graph.used_files import files_used
from cairn.source.arguments import UNKNOWN
from cairn.source.expressions import called_name
from cairn.source.imports import Import, ImportFlag
from cairn.source.references import CAST, KINDS

_MAX_RENAMES = 12  # steps from one variable to the next
_NO_DEFINITION = frozenset({"module", "package", "outside", "instance", "container"})
CALL, CONSTRUCT, INHERIT, IMPLEMENT, DECORATE, USE = range(len(KINDS))
ALL_KINDS = frozenset(range(len(KINDS)))
_USING = frozenset({CALL, DECORATE, USE})  # by which an attribute of something uses what it is of
_WITH_ATTRIBUTES = FUNCTION_KINDS | VALUE_KINDS
# How a reference may call something: by one of its names alone; as a function, also by what else a file calls it; as
# anything, also by words that stand for the type around or make an instance.
Spelling = Literal["itself", "function", "any"]


class Edge(NamedTuple):
    """One resolved reference: from a definition (or a file) to a definition.

    `kind` is an index into `KINDS`; `called` is the name used there, which may be an alias.
    """

    source: int
    target: int
    kind: int
    how: How
    line: int
    called: str


class ImportEdge(NamedTuple):
    """One file's import of another."""

    source: int
    target: int
    line: int
    flags: ImportFlag


class Overrides(NamedTuple):
    """Pairs of a method and a method of a base type that it overrides, as arrays, since there can be many."""

    methods: array[int]
    bases: array[int]


class _Meaning(NamedTuple):
    """What a reference leads to, how, and by which name."""

    target: Entity
    kind: int
    called: str


@dataclass(slots=True)
class _FileRows:
    """What was resolved in a file so far; `count` is its number of references."""

    count: int
    needs: set[int]
    edges: list[Edge] | None = None
    imports: list[ImportEdge] | None = None
    overrides: Overrides | None = None


class Resolver:
    """Resolves references in one state of the code, and remembers the results.

    Attributes:
        code: the files.
        meaning: what evaluates the expressions.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        self.meaning = Evaluator(code)
        self._by_name = ByName(self.meaning)
        self._rows: Recent[int, _FileRows] = Recent(code.room.rows, lambda rows: rows.count + 10)
        self._edges_to: Recent[Hashable, list[Edge]] = Recent(code.room.rows // 8, lambda edges: len(edges) + 3)

    # -- a file's edges -----------------------------------------------------------------------------------------------

    def edges(self, number: int) -> list[Edge]:
        """Return the resolved references of a file, in reading order."""
        rows = self._rows_of(number)
        if rows.edges is None:
            source = self.code.file(number)
            with self._noting(rows):
                rows.edges = self.edges_at(source, range(len(source.facts.kinds)))
        return rows.edges

    def _rows_of(self, number: int) -> _FileRows:
        rows = self._rows.get(number)
        if rows is None:
            count = len(self.code.file(number).facts.kinds)
            rows = self._rows.put(number, _FileRows(count, {content_of(self.code.paths[number])}))
        return rows

    @contextmanager
    def _noting(self, rows: _FileRows) -> Iterator[None]:
        """Add the needs of what is resolved during the block to those of a file."""
        with self.meaning.memo.noting() as needs:
            yield
        rows.needs |= needs

    def needs(self, number: int) -> frozenset[int]:
        """Return what the edges, imports and overrides of a file need to stay as they are; see `cairn.graph.memo`."""
        for find in (self.edges, self.imports, self.overrides):
            find(number)
        return frozenset(self._rows_of(number).needs)

    def edges_to(
        self,
        number: int,
        names: Collection[str],
        kinds: Collection[int] = ALL_KINDS,
        spelling: Spelling = "any",
        lines: Collection[int] | None = None,
    ) -> list[Edge]:
        """Return the resolved references of a file that may lead to something with one of some names, and some more.

        Args:
            number: the file.
            names: what it may be called.
            kinds: only references of these kinds are wanted.
            spelling: how it may be called there.
            lines: only what is written on these; None for all.
        """
        if "__call__" in names:  # any instance may be called
            return [edge for edge in self.edges(number) if lines is None or edge.line in lines]
        key = (number, frozenset(names), frozenset(kinds), spelling, frozenset(lines) if lines is not None else None)
        if (edges := self._edges_to.get(key)) is not None:
            return edges
        source = self.code.file(number)
        facts = source.facts
        aliases = local_names_of(source, names, spelling)
        likely = {place for place, text in enumerate(facts.texts) if called_name(text) in aliases}
        if source.rules.functions_are_objects:
            holders = (text.rpartition(".")[0] for text in facts.texts)
            likely |= {place for place, holder in enumerate(holders) if called_name(holder) in aliases}
        wanted = kinds_written(kinds)
        rows = enumerate(zip(facts.expressions, facts.kinds, facts.lines, strict=True))
        places = [
            at
            for at, (text, kind, line) in rows
            if text in likely and kind in wanted and (lines is None or line in lines)
        ]
        return self._edges_to.put(key, self.edges_at(source, places))

    def edges_at(self, source: SourceFile, places: Iterable[int]) -> list[Edge]:
        """Return what some references of a file are resolved to, given by their places among its facts."""
        facts = source.facts
        edges: list[Edge] = []
        known: dict[tuple[int, int, int, int], _Meaning | None] = {}
        for at in places:
            waiting.check()
            kind, around = facts.kinds[at], facts.scopes[at]
            scope = facts.blocks[at] if facts.blocks and facts.blocks[at] >= 0 else around
            expression = facts.texts[facts.expressions[at]]
            count = facts.counts[at] if facts.counts else UNKNOWN
            key = (facts.expressions[at], scope, kind, count)
            if key not in known:
                known[key] = self._meaning_of(source, scope, expression, kind, count)
            if (meaning := known[key]) is None:
                continue
            target, kind, called = meaning
            own = node_of(source.number, around)
            if target.node == own and kind in (INHERIT, IMPLEMENT, USE, DECORATE):
                continue
            self.meaning.memo.need(content_of(self.code.paths[file_of(target.node)]))
            nodes = (target.node, *self._also_called(target, kind))
            edges += [Edge(own, node, kind, target.how, facts.lines[at], called) for node in nodes]
        return edges

    def _meaning_of(self, source: SourceFile, scope: int, expression: str, kind: int, count: int) -> _Meaning | None:
        """Return what a reference leads to, and how; None if that is unknown."""
        target = self._target(source, scope, expression, kind)
        target = _taking(self.meaning, source, scope, expression, target, count)
        if target is not None:
            called = expression.rpartition(".")[2].removesuffix("[]")
            called = called.rstrip("!") if source.rules.family == "rust" else called
            return _Meaning(target, _kind_of(kind, target), called)
        owner = self._owner_of_attribute(source, scope, expression) if kind in _USING else None
        return _Meaning(owner, USE, called_name(expression.rpartition(".")[0])) if owner is not None else None

    def _owner_of_attribute(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        """Return the function, or the variable at the top of a file, of which an expression names an attribute.

        `run.later` is one of `run`, and `<Context.Provider>` of `Context`. None if it is of neither.
        """
        holder = expression.rpartition(".")[0]
        if not source.rules.functions_are_objects or not holder or holder[-1] in ")]}":
            return None
        name = holder.rpartition(".")[2]
        named = self.meaning.sight.nodes_named(name)[:MAX_NAMESAKES]
        may_be_one = name in source.aliases or any(
            self.code.definition(node).kind in _WITH_ATTRIBUTES for node in named
        )
        owner = self.meaning.evaluate(source, scope, holder) if may_be_one else None
        if owner is None or owner.tag != "function":
            return self._variable_of(owner)
        kind = self.code.definition(owner.node).kind
        is_bare_method = kind == "method" and "." not in holder  # which such a name cannot mean
        return None if is_bare_method or kind == "constructor" else owner

    def _variable_of(self, entity: Entity | None) -> Entity | None:
        """Return the variable at the top of a file that an expression named by itself, None if it named none."""
        if entity is None:
            return None
        node = entity.holder if entity.holder >= 0 else entity.node if entity.tag == "value" else -1
        if node < 0 or place_of(node) < 0:
            return None
        definition = self.code.definition(node)
        is_at_top = definition.parent < 0 and definition.kind in VALUE_KINDS
        return Entity("value", node, entity.how) if is_at_top else None

    def _also_called(self, target: Entity, kind: int) -> list[int]:
        """Return what else a call leads to: the variable by whose name it calls, the type that an alias stands for."""
        if kind not in (CALL, CONSTRUCT):
            return []
        if target.holder >= 0 and target.holder != target.node:
            return [target.holder]
        if target.tag != "class":
            return []
        definition = self.code.definition(target.node)
        is_alias = definition.kind == "type" and "=" in definition.signature
        return self.meaning.inheritance.bases_of(target.node) if is_alias else []

    def imports(self, number: int, saying: frozenset[str] | None = None) -> list[ImportEdge]:
        """Return the files of the project that a file imports, each with its line, in reading order.

        Args:
            number: the file.
            saying: where that spares much, only imports that say one of these names are looked at.
        """
        source = self.code.file(number)
        if saying is not None and source.rules.package == "package":  # others name paths, which takes little
            return self._find_imports(source, imports_saying(source, saying))
        rows = self._rows_of(number)
        if rows.imports is None:
            with self._noting(rows):
                rows.imports = self._find_imports(source, source.facts.imports)
        return rows.imports

    def _find_imports(self, source: SourceFile, statements: Iterable[Import]) -> list[ImportEdge]:
        imports: dict[tuple[int, int], ImportEdge] = {}
        for imported in statements:
            for file in self._files_of_import(source, imported) if imported.module else ():
                if file != source.number:
                    edge = ImportEdge(source.number, file, imported.line, imported.flags)
                    imports.setdefault((file, imported.line), edge)
        return list(imports.values())

    def overrides(self, number: int) -> Overrides:
        """Return the methods of a file, each with every method of a base type that it overrides."""
        rows = self._rows_of(number)
        if rows.overrides is None:
            overrides = Overrides(array("q"), array("q"))
            with self._noting(rows):
                for place in range(len(self.code.file(number).definitions)):
                    waiting.check()
                    node = node_of(number, place)
                    bases = self.overridden(node)
                    overrides.methods.extend([node] * len(bases))
                    overrides.bases.extend(bases)
            rows.overrides = overrides
        return rows.overrides

    def overridden(self, node: int) -> list[int]:
        """Return the methods of base types that a method overrides."""
        if place_of(node) < 0:
            return []
        source = self.code.file(file_of(node))
        definition = source.definitions[place_of(node)]
        if definition.parent < 0 or definition.kind not in FUNCTION_KINDS:
            return []
        if source.definitions[definition.parent].kind not in TYPE_KINDS | source.rules.mixins:
            return []
        return self.meaning.inheritance.overridden(node_of(source.number, definition.parent), definition.name)

    def symbols_of_imports(self, number: int) -> list[int]:
        """Return the definitions that a file's imports bind."""
        source = self.code.file(number)
        entities = (
            self.meaning.exports.of_import(source, imported)
            for imported in source.facts.imports
            if imported.module and imported.name not in ("", "*")
        )
        return [
            entity.node for entity in entities if entity is not None and entity.node >= 0 and place_of(entity.node) >= 0
        ]

    def _files_of_import(self, source: SourceFile, imported: Import) -> list[int]:
        if source.rules.package == "package":
            is_whole = imported.name == "*"
            name = imported.module if is_whole else f"{imported.module}.{imported.name}"
            entity = self.meaning.namesakes.with_full_name(source, name)
            if is_whole and (entity is None or self.code.definition(entity.node).kind == "namespace"):
                targets = (edge.target for edge in self.edges(source.number))
                none: dict[str, set[int]] = {}
                key, find = ("files used", source.number), lambda: files_used(self.meaning.sight, source, targets)
                return sorted(self.meaning.memo.recall(key, none, find).get(imported.module, ()))
            return [file_of(entity.node)] if entity is not None else []
        if "*" in imported.module:
            return self.meaning.sight.matching(source, imported.module)
        place = self.meaning.sight.place(source, imported.module)
        if isinstance(place, int):
            files = [place]
            deeper = self.meaning.sight.child(place, imported.name) if imported.name else None
            return [*files, deeper] if isinstance(deeper, int) else files
        if place is None:
            return []
        if source.rules.package == "directory":
            self.meaning.memo.need(place_called(f"{place}/"))
            return [
                number
                for number, path in enumerate(self.code.paths)
                if posixpath.dirname(path) == place and self.code.languages[number] == source.language
            ]
        deeper = self.meaning.sight.child(place, imported.name) if imported.name else None
        return [deeper] if isinstance(deeper, int) else []

    def _target(self, source: SourceFile, scope: int, expression: str, kind: int) -> Entity | None:
        """Return the definition that a reference leads to, None if that is unknown."""
        target = self._denoted(source, scope, expression, kind)
        if kind == CALL and (target is None or target.tag == "outside"):
            target = _by_cast(self.meaning, source, scope, expression) or target
        is_read = target is not None and target.tag == "container" and source.language == "scala"
        if target is not None and (target.tag == "outside" or is_read) and target.holder >= 0:
            return Entity("value", target.holder, target.how)
        if target is None:
            is_call = kind in (CALL, CONSTRUCT)
            return self._by_name.only_function(source, scope, expression) if is_call and source.rules.by_name else None
        may_be_unseen = source.rules.family not in WHOLE_NAMES and source.rules.extension != RECEIVER_BEFORE_NAME
        if target.tag == "outside" and target.text and kind == CALL and may_be_unseen:
            return self._by_name.of_type_named(source, target.text, expression)
        if target.tag == "instance" and kind != USE:
            return self._call_method_of(target)
        if target.node < 0 or target.tag in _NO_DEFINITION:
            return None
        if target.tag == "value" and kind in (CALL, CONSTRUCT) and source.rules.family == "c":
            return None  # what the body of a macro declares looks like variables
        if target.tag == "function" and kind == USE and source.rules.family == "elixir":
            return None  # a specification names types, which may be called like functions
        if target.tag == "class" and kind == CALL and self.code.definition(target.node).kind == "extension":
            return None  # the type is of another library
        return target

    def _denoted(self, source: SourceFile, scope: int, expression: str, kind: int) -> Entity | None:
        """Return what an expression means where it is referred to in some way."""
        evaluate = self.meaning.evaluate
        if kind == CALL and "." not in expression and expression.isidentifier():
            called = self.meaning.called(source, scope, expression)
            is_unknown = called is None or called.tag == "outside"
            return self.meaning.extension_unsaid(source, scope, expression) or called if is_unknown else called
        around = source.around_of(scope) if kind in (INHERIT, IMPLEMENT) and scope >= 0 else scope
        target = evaluate(source, around, expression)
        if target is not None and target.node >= 0:
            return target
        if kind == IMPLEMENT and source.rules.family == "ruby":
            return evaluate(source, scope, expression)
        if kind == DECORATE and source.rules.attribute_suffix:
            return evaluate(source, around, expression.partition("(")[0] + source.rules.attribute_suffix)
        return target

    def _call_method_of(self, instance: Entity) -> Entity | None:
        member = self.meaning.inheritance.member(instance.node, "__call__")
        return member.by(How.RECEIVER) if member is not None and member.tag == "function" else None


def _taking(
    meaning: Evaluator, source: SourceFile, scope: int, expression: str, target: Entity | None, count: int
) -> Entity | None:
    """Return what a call means that gives so many arguments, None if nothing of the name takes them."""
    if target is None or count < 0 or target.tag != "function":
        return target
    if meaning.sight.code.file(file_of(target.node)).language != source.language:
        return target
    taking = meaning.overloads.taking
    if (found := taking(target, count)) is not None:
        return found
    others = _besides_members(meaning, source, scope, expression)
    return next(filter(None, (taking(other, count) for other in others if other.tag == "function")), None)


def _besides_members(meaning: Evaluator, source: SourceFile, scope: int, expression: str) -> Iterator[Entity]:
    """Yield what the last name of an expression means if it is not a member: an extension, or a name of the file."""
    head, dot, name = expression.rpartition(".")
    owners = [meaning.evaluate(source, scope, head)] if dot else [*meaning.scopes.own_types(source, scope)]
    if source.rules.extension:
        found = (meaning.extensions.find(source, owner, name) for owner in owners if owner is not None)
        yield from (each for each in found if each is not None)
    if not dot and (entity := meaning.exports.at_top(source, name)) is not None:
        yield entity


def _by_cast(meaning: Evaluator, source: SourceFile, scope: int, expression: str) -> Entity | None:
    """Return the method that a call means by what its variable, or the object itself, is found to be around it."""
    head, dot, rest = expression.partition(".")
    variable, rest = (head, rest) if dot else ("this", head)
    for value in _held_by(source, scope, variable):
        entity = meaning.evaluate(source, scope, f"{value}.{rest}")
        if entity is not None and entity.tag == "function" and entity.how <= How.RECEIVER:
            return entity.by(How.RECEIVER)
    return None


def _held_by(source: SourceFile, scope: int, variable: str) -> Iterator[str]:
    """Yield what a variable is found to be around a scope, and what else it is said to hold than its first value."""
    while True:
        for type_ in source.values.get((scope, f"{variable}{CAST}"), ()):
            yield f"{type_.partition('<')[0]}{{}}"
        for value in source.values.get((scope, variable), ())[1:]:
            if value.startswith(":"):
                yield f"{value[1:].partition('<')[0]}{{}}"
            elif not begins_with(value, variable):
                yield value
        if scope < 0:
            return
        scope = source.around_of(scope)


def renamings(source: SourceFile) -> list[tuple[str, str]]:
    """Return the names that a file imports or exports something by, each with the other name that it gives it."""
    return [(entry.name, entry.alias) for entry in source.facts.imports if entry.alias and entry.alias != entry.name]


def kinds_written(kinds: Collection[int]) -> frozenset[int]:
    """Return the kinds of references, as they are written, from which edges of some kinds may come."""
    may_be_called = CONSTRUCT in kinds or USE in kinds  # a type, or an attribute of a function
    written = {*kinds, CALL} if may_be_called else set(kinds)
    return frozenset(written | {DECORATE} if USE in kinds else written)


def _kind_of(kind: int, target: Entity) -> int:
    return CONSTRUCT if kind == CALL and target.tag == "class" else kind


def local_names_of(source: SourceFile, names: Collection[str], spelling: Spelling = "any") -> set[str]:
    """Return the names that a file may use for something with one of some names."""
    if spelling == "itself":
        return {*names, *(f"{name}!" for name in names)} if source.rules.family == "rust" else set(names)
    aliases = {*names, *(word.partition("(")[0] for word in source.rules.parents)}
    if spelling == "any":
        aliases |= {source.rules.maker, *source.rules.types}
        aliases |= source.rules.this if source.rules.methods_apart else frozenset()  # calls another constructor
    aliases |= {
        imported.alias
        for imported in source.facts.imports
        if imported.name in names or imported.name in ("=", "default", "")
    }
    for _ in range(_MAX_RENAMES):  # a variable may hold it, and another variable that one
        more = {
            variable.rpartition(".")[2] for _, variable, value in source.facts.values if called_name(value) in aliases
        }
        if more <= aliases:
            break
        aliases |= more
    if source.rules.family == "rust":
        aliases |= {f"{name}!" for name in aliases}
    return aliases | {f"{source.rules.prefix}{name}" for name in aliases} if source.rules.prefix else aliases
