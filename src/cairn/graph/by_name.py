"""Finds what a call of unknown meaning leads to by the name alone, where one definition of the project has it."""

from __future__ import annotations

import posixpath
import re
from functools import cached_property

from cairn.graph.entities import Entity, How
from cairn.graph.evaluate import Evaluator
from cairn.graph.namesakes import MAX_NAMESAKES
from cairn.graph.nodes import file_of, place_of
from cairn.graph.rules import COMMON_NAMES, TYPE_KINDS
from cairn.graph.source_file import SourceFile

_CAPITAL_TYPES = frozenset({"ecmascript", "jvm", "python"})  # families whose types have capital letters
_TYPE = re.compile(r"^(?:\w+\.)*[A-Z]\w*(?![\w(])|\bgetClass\(\d*\)|\bclass$")
_PARTS = re.compile(r"[./]+")  # between the parts of a module's name
WHOLE_NAMES = frozenset({"php", "ruby", "elixir"})  # families in which a name of a type is found or from elsewhere
_SAYS_SO = re.compile(r"(?:^|/)(?:nuxt\.config\.[cm]?[jt]s|auto-imports\.d\.ts)$")
_GIVEN_IN = re.compile(r"(?:^|/)(?:composables|utils|stores|hooks)/")
_UNTYPED = frozenset({"php", "ruby", "python", "ecmascript"})  # families that need not write types
# Types that a language has itself, so that a variable called like one holds rather that.
_BUILT_IN_TYPES = frozenset(
    {"Array", "Class", "Data", "Date", "Error", "Exception", "File", "Hash", "Integer", "Io", "Logger", "Method"}
    | {"Module", "Object", "Proc", "Range", "Set", "String", "Struct", "Symbol", "Thread", "Time", "Value"}
)


class ByName:
    """Finds definitions by names alone."""

    def __init__(self, meaning: Evaluator) -> None:
        self._meaning = meaning
        self._code = meaning.sight.code

    def _of_like_named_type(self, source: SourceFile, head: str, name: str) -> Entity | None:
        """Return the method of the type that a variable is called like, such as `parse_context` for `ParseContext`."""
        variable = head.rpartition(".")[2].partition("(")[0].lstrip("@")
        if not variable.replace("_", "").isalnum() or not variable[0].islower():
            return None
        type_ = "".join(part.capitalize() for part in variable.split("_"))
        if type_ in _BUILT_IN_TYPES:
            return None
        members = {
            member.node: member
            for node in self._meaning.sight.nodes_named(type_)[:MAX_NAMESAKES]
            if self._code.file(file_of(node)).rules.family == source.rules.family
            and self._code.definition(node).kind in TYPE_KINDS
            and (member := self._meaning.inheritance.member(node, name)) is not None
        }
        if len(members) != 1:
            return None
        member = next(iter(members.values()))
        return member.by(How.NAME) if member.tag == "function" else None

    def of_type_named(self, source: SourceFile, text: str, expression: str) -> Entity | None:
        """Return the only function of a name in types with a name, where it is not known which type that is."""
        name = expression.rpartition(".")[2].partition("(")[0]
        owned = f"{text.rpartition('.')[2]}.{name}"
        nodes = [
            node
            for node in self._meaning.sight.nodes_named(name)[:MAX_NAMESAKES]
            if f".{self._code.definition(node).qualified_name}".endswith(f".{owned}")
            and self._code.file(file_of(node)).rules.family == source.rules.family
        ]
        if not nodes or len({self._owner_said(node) for node in nodes}) > 1:
            return None
        return self._meaning.declarations.entity(self._code.main_of(nodes)).by(How.NAME)

    def _owner_said(self, node: int) -> tuple[str, str]:
        """Return what tells apart types of one name: their full names, and where a file is a module, that."""
        other = self._code.file(file_of(node))
        return other.full_name(place_of(node)), other.path if other.rules.package == "file" else ""

    def only_function(self, source: SourceFile, scope: int, expression: str) -> Entity | None:
        """Return the only function with that name in the project, unless the name is a common one."""
        head, _, name = expression.rpartition(".")
        name = name.partition("(")[0]
        # A bare name of Ruby may be a method that something else mixes in.
        may_be_mixed_in = source.rules.family == "ruby" and not self._meaning.scopes.is_variable(source, scope, name)
        if not head and source.rules.family == "ecmascript":
            return self._given_by_framework(source, scope, name)
        if (not head and not may_be_mixed_in) or source.rules.functions_apart:
            return None  # a parameter, a local variable or a built-in; shared names were looked up already
        if source.rules.maker and (member := self._of_like_named_type(source, head, name)) is not None:
            return member
        if (
            name.lower().rstrip("?!=") in COMMON_NAMES
            or len(name) < 4
            or name.startswith("__")
            or head.startswith(('"', "[", "{"))
            or (source.rules.family in _CAPITAL_TYPES and _TYPE.search(head))  # of another library
        ):
            return None
        knows_members = source.rules.family in WHOLE_NAMES or source.rules.family == "csharp"
        if knows_members and head and self._meaning.evaluate(source, scope, head) is not None:
            return None  # what has no such member of its own
        namesake = self._meaning.namesakes.only_function(source, name)
        if namesake is None and source.rules.family in _UNTYPED:
            namesake = self._meaning.roots.find(source, name)
        if namesake is None or not self._may_have(source, head, namesake.node):
            return None
        return self._meaning.declarations.entity_of(namesake)

    def _given_by_framework(self, source: SourceFile, scope: int, name: str) -> Entity | None:
        """Return the function that Nuxt, or a plugin like it, imports by itself where its name is said."""
        if not self._imports_by_itself or self._meaning.scopes.is_variable(source, scope, name):
            return None
        namesake = self._meaning.namesakes.only_function(source, name)
        if namesake is None or not _GIVEN_IN.search(self._code.paths[file_of(namesake.node)]):
            return None
        is_at_top = self._code.definition(namesake.node).parent < 0
        return self._meaning.declarations.entity_of(namesake) if is_at_top else None

    @cached_property
    def _imports_by_itself(self) -> bool:
        """Whether files of the project may use functions of some folders without importing them."""
        return any(map(_SAYS_SO.search, self._code.paths))

    def _may_have(self, source: SourceFile, head: str, node: int) -> bool:
        """Tell whether an object may have a function: one of a module only if the object may be the module.

        What C calls by a field is whatever the field holds.
        """
        if source.language == "c":
            return not head or self._code.definition(node).parent >= 0
        if not source.rules.functions_are_objects or self._code.definition(node).kind != "function":
            return True
        parts = set(posixpath.splitext(self._code.paths[file_of(node)])[0].split("/"))
        imports = source.aliases.get(head) or [one for one in source.facts.imports if one.module == head]
        return any(
            self._meaning.sight.place(source, imported.module) == file_of(node)
            or not parts.isdisjoint((imported.name, *_PARTS.split(imported.module)))
            for imported in imports
        )
