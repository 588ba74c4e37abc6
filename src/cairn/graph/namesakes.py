"""Finds definitions by their names alone: in a folder, in a package, or anywhere in the project."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from typing import NamedTuple

from cairn.graph.entities import How
from cairn.graph.global_usings import GlobalUsings
from cairn.graph.includes import Includes
from cairn.graph.nodes import file_of, place_of
from cairn.graph.recent import Recent
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, TYPE_KINDS
from cairn.graph.sight import Sight
from cairn.graph.source_file import SourceFile
from cairn.graph.used_modules import UsedModules
from cairn.types import Definition

MAX_NAMESAKES = 60  # a name with more definitions says nothing by itself
MAX_OWNED = 5 * MAX_NAMESAKES  # the same for members of types


class Namesake(NamedTuple):
    """A definition, and how it was found."""

    node: int
    how: How


class Namesakes:
    """Looks up names that files share without an import."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._code = sight.code
        self._full_names: Recent[str, dict[tuple[str, str], list[int]]] = Recent(
            self._code.room.names, lambda found: len(found) + 8
        )
        self._includes = Includes(sight)
        self.global_usings = GlobalUsings(sight)
        self.used_modules = UsedModules(sight, self._module_called)

    def only_function(self, source: SourceFile, name: str) -> Namesake | None:
        """Return the only function with a name in all files whose language can call it."""
        kin = source.rules.family or source.language
        none: list[int] = []
        nodes = self._sight.memo.recall(("functions", name, kin), none, lambda: self.functions(source, name))
        seen = [node for node in nodes if self.may_see(source, node)] if len(nodes) > 1 else nodes
        return self._only(seen, How.NAME)

    def may_see(self, source: SourceFile, node: int) -> bool:
        """Tell whether a file may see a definition, which a file of C may keep to itself."""
        return place_of(node) < 0 or self._includes.may_see(source, self._code.file(file_of(node)), place_of(node))

    def functions(self, source: SourceFile, name: str) -> list[int]:
        """Return the functions with a name that a call in a file may mean, none where they are many."""
        nodes = self._sight.nodes_named(name)
        functions = []
        for node in nodes if len(nodes) <= MAX_NAMESAKES else ():
            other = self._code.file(file_of(node))
            definition = other.definitions[place_of(node)]
            nested = definition.parent >= 0 and other.definitions[definition.parent].kind in FUNCTION_KINDS
            callable_ = definition.kind in FUNCTION_KINDS and definition.kind not in ("macro", "test")
            if callable_ and not nested and are_kin(source, other) and not _needs_its_type(other, definition):
                functions.append(node)
        return functions

    def _only(self, nodes: Sequence[int], how: How) -> Namesake | None:
        """Return the definition that stands for all of some, None if they are not one symbol."""
        if not nodes:
            return None
        first = self._full_name(nodes[0])
        if any(self._full_name(node) != first for node in nodes[1:]):
            return None
        if len({file_of(node) for node in nodes}) > 2:  # a header and its source are two
            return None
        return Namesake(self._code.main_of(nodes), how)

    def _full_name(self, node: int) -> str:
        return self._code.file(file_of(node)).full_name(place_of(node))

    def type_called(self, source: SourceFile, name: str) -> Namesake | None:
        """Return the only type of a qualified name, which may leave out namespaces around it."""
        nodes = []
        for node in self._sight.nodes_named(name.rpartition(".")[2])[:MAX_NAMESAKES]:
            definition = self._code.definition(node)
            is_type = definition.kind in TYPE_KINDS and is_one_type(definition.qualified_name, name)
            if is_type and are_kin(source, self._code.file(file_of(node))):
                nodes.append(node)
        own = [node for node in nodes if file_of(node) == source.number]
        if not own and len({file_of(node) for node in nodes}) > 1:
            nodes = [node for node in nodes if self.may_see(source, node)]
        return self._only(own or nodes, How.NAME)

    def in_folder(self, source: SourceFile, folder: str, name: str) -> Namesake | None:
        """Return the definition of a name that the files of a folder share, in the language of a file."""
        nodes = [
            node
            for node in self._sight.nodes_named(name)
            if posixpath.dirname(self._code.paths[file_of(node)]) == folder
            and are_kin(source, self._code.file(file_of(node)))
            and self._is_top(node)
        ]
        return Namesake(self._code.main_of(nodes), How.IMPORT) if nodes else None

    def _is_top(self, node: int) -> bool:
        source = self._code.file(file_of(node))
        definition = source.definitions[place_of(node)]
        return place_of(node) in source.members.get("", {}).get(definition.name, ())

    def in_package(self, source: SourceFile, name: str) -> Namesake | None:
        """Return what a name means by the language's rules for names that files share."""
        package = source.rules.package
        if package == "directory":
            return self.in_folder(source, posixpath.dirname(source.path), name)
        if package == "package":
            name = _with_dots(name)
            named = self._by_full_names(name.rpartition(".")[2])
            for space in self._spaces_seen(source) if named else ():
                if nodes := named.get((source.rules.family, _plain_name(f"{space}.{name}" if space else name)), ()):
                    return self._namesake(source, nodes)
            return self._global_function(source, name) if source.rules.global_functions else None
        if package == "all":
            return self._anywhere(source, name)
        return None

    def _module_called(self, source: SourceFile, name: str) -> int | None:
        namesake = self.with_full_name(source, name)
        return None if namesake is None else namesake.node

    def _global_function(self, source: SourceFile, name: str) -> Namesake | None:
        """Return the function with a name that is outside of all packages."""
        namesake = self.with_full_name(source, name)
        is_function = namesake is not None and self._code.definition(namesake.node).kind == "function"
        return namesake if is_function else None

    def _spaces_seen(self, source: SourceFile) -> list[str]:
        """Return what `spaces` does, in the form of full names, remembered."""

        def find() -> list[str]:
            return list(map(_with_dots, self.spaces(self._sight.file(source.number))))

        return self._sight.memo.recall(("spaces", source.number), [], find)

    def spaces(self, source: SourceFile) -> list[str]:
        """Return the packages whose names are visible in a file, the nearest first."""
        if source.rules.family == "elixir":
            return [*self.used_modules.spaces(source), ""]
        own = [definition.qualified_name for definition in source.definitions if definition.kind in NAMESPACE_KINDS]
        spaces = [source.package, *own]
        if source.rules.outer_packages:
            spaces = [space for inner in spaces if inner for space in _and_outer(inner)]
            stars = [*(imported.module for imported in source.stars), *self.global_usings.stars(source)]
            spaces += [*stars, *(f"{space}.{star}" for space in spaces for star in stars), ""]
        else:
            spaces += [*_package_objects(source), *(imported.module for imported in source.stars)]
        return list(dict.fromkeys(spaces))

    def with_full_name(self, source: SourceFile, text: str, kinds: Collection[str] | None = None) -> Namesake | None:
        """Return the definition with a full name, its package included.

        Args:
            source: the file that says it.
            text: the name.
            kinds: where nothing of these kinds has the last part for a name, there is none; else it may be of any kind.
        """
        text = _plain_name(_with_dots(text))
        if kinds is not None:  # a full name takes the facts of each file that defines its last part
            likely = self._sight.nodes_named(text.rpartition(".")[2])[:MAX_NAMESAKES]
            if not any(self._code.definition(node).kind in kinds for node in likely):
                return None
        nodes = self._by_full_names(text.rpartition(".")[2]).get((source.rules.family, text), ())
        return self._namesake(source, nodes) if nodes else None

    def _namesake(self, source: SourceFile, nodes: Sequence[int]) -> Namesake:
        how = How.EXACT if all(file_of(node) == source.number for node in nodes) else How.IMPORT
        types = [node for node in nodes if self._code.definition(node).kind in TYPE_KINDS]
        return Namesake(self._code.main_of(types or nodes), how)

    def _by_full_names(self, name: str) -> dict[tuple[str, str], list[int]]:
        """Return the definitions of a name by the families of their languages and their full names."""
        nodes = self._sight.nodes_named(name)
        if (found := self._full_names.get(name)) is None:
            found = {}
            for node in nodes[:MAX_NAMESAKES]:
                other = self._code.file(file_of(node))
                found.setdefault((other.rules.family, other.full_name(place_of(node))), []).append(node)
            self._full_names.put(name, found)
        return found

    def _anywhere(self, source: SourceFile, name: str) -> Namesake | None:
        """Return the definition of a name that all files share: one in an included file, or the only one."""
        nodes = self._sight.nodes_named(name)
        if name in source.rules.built_in:
            nodes = [node for node in nodes if file_of(node) == source.number]
        if not nodes or len(nodes) > MAX_NAMESAKES:
            return None
        near = []
        for node in nodes:
            other, place = self._code.file(file_of(node)), place_of(node)
            if not are_kin(source, other) or not self._is_top(node):
                continue
            if other.definitions[place].kind != "constant" and self._includes.sees(source, other, place):
                near.append(node)
        if not near:
            return None
        if included := self._includes.choose(source, near):
            return Namesake(self._code.main_of(included), How.IMPORT)
        types = [node for node in near if self._code.definition(node).kind != "extension"]
        extends = len(types) < len(near)
        if extends and not types:  # they stand for a type of another library
            return Namesake(self._code.main_of(near), How.NAME)
        return self._only(types, How.IMPORT if extends else How.NAME)


def _with_dots(name: str) -> str:
    return name.replace("\\", ".").replace("::", ".")


def _plain_name(name: str) -> str:
    """Return a name with dots as full names have it: a companion of Kotlin is no part of them."""
    return name.replace(".Companion.", ".").strip(".")


def _needs_its_type(source: SourceFile, definition: Definition) -> bool:
    """Tell whether a function can only be called on the type that it is in."""
    mark = source.rules.extension
    return bool(mark) and "static" in definition.signature.split("(")[0].split()


def _package_objects(source: SourceFile) -> list[str]:
    """Return the packages of Scala that a file gives more members to, which see all that is in these."""
    if source.language != "scala":
        return []
    definitions = enumerate(source.definitions)
    return [source.full_name(place) for place, one in definitions if one.signature.startswith("package object ")]


def _and_outer(package: str) -> list[str]:
    """Return a package and those around it, the nearest first."""
    parts = package.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def is_one_type(name: str, other: str) -> bool:
    """Tell whether two qualified names may mean one type: one may leave out namespaces around it."""
    return name == other or name.endswith(f".{other}") or other.endswith(f".{name}")


def are_kin(source: SourceFile, other: SourceFile) -> bool:
    """Tell whether two files see each other's definitions by their languages."""
    if source.rules.family:
        return other.rules.family == source.rules.family
    return other.language == source.language
