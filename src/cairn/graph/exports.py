"""Tells what a name means at the top of a file, in a module and in a package: by definition, import or re-export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cairn.graph.declarations import Declarations
from cairn.graph.entities import OUTSIDE, SHADOWED, Entity, Expressions, How
from cairn.graph.modules.places import Place
from cairn.graph.namesakes import Namesakes, is_one_type
from cairn.graph.nodes import node_of
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS, VALUE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile
from cairn.source.imports import Import, ImportFlag


class Exports:
    """The names that files and modules give."""

    def __init__(
        self, sight: Sight, expressions: Expressions, declarations: Declarations, namesakes: Namesakes
    ) -> None:
        self._sight = sight
        self._memo = sight.memo
        self._expressions = expressions
        self._declarations = declarations
        self._namesakes = namesakes

    # -- in the file itself -------------------------------------------------------------------------------------------

    def at_top(self, source: SourceFile, name: str) -> Entity | None:
        """Return what a name means at the top of a file."""
        return self._memo.recall(
            ("global", source.number, name), None, lambda: self._find_at_top(self._sight.file(source.number), name)
        )

    def _find_at_top(self, source: SourceFile, name: str) -> Entity | None:
        values = source.values.get((-1, name))
        places = source.members.get("", {}).get(name)
        if values and not (places and source.definitions[places[0]].kind in FUNCTION_KINDS | TYPE_KINDS):
            value = self._expressions.first_value(source, -1, values)
            if value is not None:
                return self._held_by(source, places, value)
        if places and not self._are_extensions(source, places):
            return self._declarations.group(source, places)
        imports = [i for i in source.aliases.get(name, ()) if i.module or i.flags & ImportFlag.REEXPORT == 0]
        if not imports:
            imports += self._namesakes.used_modules.aliases(source, name)
            imports += self._namesakes.global_usings.aliases(source, name)
        if (entity := _nearest(self.of_import(source, imported) for imported in imports)) is not None:
            return entity
        for imported in source.stars if source.rules.package != "all" else ():
            entity = self._in_whole(source, imported, name)
            if entity is not None and entity.node >= 0:
                return entity.by(How.IMPORT)
        if source.rules.finder == "rust":
            return self.module(source, name)
        shared = self._declarations.entity_of(self._namesakes.in_package(source, name))
        if shared is None and source.rules.package == "package":
            given = (self._member_of_type(source, module, name) for module in self._types_given(source))
            shared = next((entity for entity in given if entity is not None), None)
        return shared or (self._declarations.group(source, places) if places else None)

    def _in_whole(self, source: SourceFile, imported: Import, name: str) -> Entity | None:
        """Return what a name means in what a file imports whole; a part of Dart has the scope of its library."""
        place = self._sight.place(source, imported.module)
        if isinstance(place, int) and source.rules.finder == "dart" and imported.flags & ImportFlag.WHOLE:
            return self.at_top(self._sight.file(place), name)
        return self.in_place(place, name, source) if place is not None else None

    def _are_extensions(self, source: SourceFile, places: Sequence[int]) -> bool:
        """Tell whether some definitions only add to a type that is declared elsewhere."""
        return source.rules.package == "all" and all(source.definitions[at].kind == "extension" for at in places)

    def module(self, source: SourceFile, name: str) -> Entity | None:
        """Return the module that a file means by a name, None if it is not of this project."""
        return _module_at(self._sight.place(source, name))

    def type_named(self, source: SourceFile, name: str) -> Entity | None:
        """Return the class that a name means at the top of a file, None if it means none."""
        entity = self.at_top(source, name) if name else None
        return entity if entity is not None and entity.tag == "class" else None

    def type_called(self, source: SourceFile, name: str) -> Entity | None:
        """Return the class of a qualified name, which may leave out namespaces around it."""
        plain = self.type_named(source, name.rpartition(".")[2])
        if plain is not None and is_one_type(self._sight.code.definition(plain.node).qualified_name, name):
            return plain
        return self._declarations.entity_of(self._namesakes.type_called(source, name))

    # -- by import ----------------------------------------------------------------------------------------------------

    def of_import(self, source: SourceFile, imported: Import) -> Entity | None:
        """Return what an import binds; something outside where the module is not of this project."""
        if source.rules.package == "package":
            text = f"{imported.module}.{imported.name}" if imported.module else imported.name
            entity = self._declarations.entity_of(self._namesakes.with_full_name(source, text))
            return entity or self._member_of_type(source, imported.module, imported.name) or OUTSIDE
        module = imported.module
        place = self._sight.place(source, module)
        if place is None and source.rules.family == "rust" and imported.name not in ("", "*"):
            place = self._sight.place(source, f"{module}::{imported.name}")  # its folder has no file of its own
            return _module_at(place) or OUTSIDE
        if place is None:
            return OUTSIDE
        if not imported.name:
            if source.rules.family == "python" and "." in module and imported.alias == module.partition(".")[0]:
                place = self._sight.place(source, imported.alias)
            return _module_at(place)
        if imported.name == "=":
            return self.in_place(place, "default", source) or _module_at(place)
        entity = self.in_place(place, imported.name, source)
        if entity is None and source.rules.family == "rust":
            deeper = self._sight.place(source, f"{module}::{imported.name}")
            entity = _module_at(deeper) if deeper != place else None
        if entity is None:
            return SHADOWED if imported.name == "*" else None
        return entity.by(How.IMPORT)

    def _types_given(self, source: SourceFile) -> tuple[str, ...]:
        """Return the types all of whose members a file imports."""

        def find() -> tuple[str, ...]:
            own = (imported.module for imported in self._sight.file(source.number).stars)
            stars = (*own, *self._namesakes.global_usings.stars(source))
            return tuple(module for module in stars if self._is_type(source, module))

        return self._memo.recall(("types given", source.number), (), find)

    def _is_type(self, source: SourceFile, name: str) -> bool:
        namesake = self._namesakes.with_full_name(source, name, TYPE_KINDS) if name else None
        return namesake is not None and self._sight.code.definition(namesake.node).kind in TYPE_KINDS

    def _member_of_type(self, source: SourceFile, module: str, name: str) -> Entity | None:
        """Return the member of a type, by its full name, that an import gives; the type may inherit it."""
        if not name.isidentifier() or name == module.partition(".")[0] or not self._is_type(source, module):
            return None
        entity = self._expressions.evaluate(source, -1, f"{module}.{name}")
        is_member = entity is not None and entity.node >= 0 and self._sight.code.definition(entity.node).parent >= 0
        return entity.by(How.IMPORT) if entity is not None and is_member else None

    def of_inner_module(self, source: SourceFile, place: int, name: str) -> Entity | None:
        """Return what a module of Rust within a file imports under a name; `super` is the file there."""
        for imported in source.aliases.get(name, ()):
            if imported.module and source.at_line(imported.line) == place:
                entity = self.of_import(source, imported._replace(module=_without_super(imported.module)))
                if entity is not None and entity.tag != "outside":
                    return entity.by(How.IMPORT)
        return None

    # -- in a module or package ---------------------------------------------------------------------------------------

    def in_place(self, place: Place, name: str, asking: SourceFile) -> Entity | None:
        """Return what a name means as a member of a module or package."""
        if isinstance(place, str):
            if asking.rules.package == "directory":
                return self._declarations.entity_of(self._namesakes.in_folder(asking, place, name))
            return _module_at(self._sight.child(place, name))
        if place is None:
            return None
        return self._memo.recall(("in", place, name), None, lambda: self._member_of_file(place, name))

    def _member_of_file(self, file: int, name: str) -> Entity | None:
        return self._find_export(file, name) or _module_at(self._sight.child(file, name))

    def _find_export(self, file: int, name: str) -> Entity | None:
        """Return what a file gives under a name: what it defines, imports, or re-exports whole, the nearest first."""
        seen = {file}
        queue = [file]
        for current in queue:
            source = self._sight.file(current)
            entity = self._definition(source, name) or self._reexport(source, name)
            if entity is not None:
                return entity.by(How.IMPORT) if entity.node >= 0 or entity.tag == "package" else entity
            for imported in _given_on(source):
                following = self._sight.place(source, imported.module)
                if isinstance(following, int) and following not in seen:
                    seen.add(following)
                    queue.append(following)
        return None

    def _definition(self, source: SourceFile, name: str) -> Entity | None:
        """Return what a file defines at its top under a name."""
        places = source.members.get("", {}).get(name)
        if not places:
            return None
        entity = self._declarations.group(source, places)
        if entity is not None and entity.tag != "value":
            return entity
        value = self._expressions.first_value(source, -1, source.values.get((-1, name), ()))
        return self._held_by(source, places, value) if value is not None else entity

    def _held_by(self, source: SourceFile, places: Sequence[int] | None, value: Entity) -> Entity:
        """Return what a variable at the top of a file holds, with the variable if that is a definition."""
        if not places or source.definitions[places[0]].kind not in VALUE_KINDS:
            return value
        return value._replace(holder=node_of(source.number, places[0]))

    def _reexport(self, source: SourceFile, name: str) -> Entity | None:
        """Return what a file imports, or renames, under a name."""
        return _nearest(
            self.of_import(source, imported) if imported.module else self.at_top(source, imported.name)
            for imported in source.aliases.get(name, ())
        )


def _given_on(source: SourceFile) -> list[Import]:
    """Return the modules that a file imports whole and gives on to those who import it: of Dart, what it exports."""
    if source.rules.finder != "dart":
        return source.stars
    return [imported for imported in source.stars if imported.flags & ImportFlag.REEXPORT]


def _nearest(entities: Iterable[Entity | None]) -> Entity | None:
    """Return the first of several that is known; a module, or what is outside, only where nothing else has its name."""
    others: list[Entity] = []
    for entity in entities:
        if entity is not None and entity.tag not in ("module", "outside"):
            return entity
        if entity is not None:
            others.append(entity)
    return min(others, key=lambda entity: entity.tag) if others else None


def _without_super(module: str) -> str:
    """Return what a module within a file calls another, as the file itself calls it."""
    if module == "super" or module.startswith("super::"):
        return f"self{module.removeprefix('super')}"
    return module


def _module_at(place: Place) -> Entity | None:
    if place is None:
        return None
    if isinstance(place, str):
        return Entity("package", -1, How.IMPORT, place)
    return Entity("module", node_of(place, -1), How.IMPORT)
