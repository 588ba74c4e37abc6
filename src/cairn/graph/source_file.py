"""One file as the symbol graph needs it: what it defines and what it refers to, arranged for looking names up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property

from cairn.graph.rules import NAMESPACE_KINDS, TYPE_KINDS, Rules
from cairn.source.closures import Closure
from cairn.source.facts import NO_FACTS, Facts
from cairn.source.imports import Import
from cairn.source.languages import BY_NAME, load_reference_text
from cairn.source.references import KINDS
from cairn.types import Definition

_WORD = re.compile(r"\w+")
_BASE_KINDS = frozenset({KINDS.index("inherit"), KINDS.index("implement")})
_SELF_KINDS = frozenset({"class", "interface", "struct", "trait", "impl", "enum", "record", "object", "extension"}) | {
    "union",
    "mixin",
    "protocol",
    "contract",
    "module",
}


class SourceFile:
    """One file: what it defines and what it refers to.

    Most files are looked at for their definitions alone, so everything else is found when it is first asked for.

    Attributes:
        stale: whether the file changed since it was indexed and was read from disk.
    """

    def __init__(
        self,
        number: int,
        path: str,
        language: str,
        definitions: Sequence[Definition],
        facts: Facts | Callable[[SourceFile], Facts],
        rules: Rules,
        *,
        stale: bool = False,
    ) -> None:
        self.number = number
        self.path = path
        self.language = language
        self.definitions = definitions
        self.rules = rules
        self.stale = stale
        self._facts = facts

    @property
    def facts(self) -> Facts:
        """What the file refers to."""
        if not isinstance(self._facts, Facts):
            facts = self._facts(self)
            self._facts = facts if _are_about(facts, len(self.definitions)) else NO_FACTS
        return self._facts

    @property
    def package(self) -> str:
        """What the whole file belongs to, empty in languages without that."""
        return self.facts.package if _names_package(self.language) else ""

    def take_over(self, other: SourceFile) -> Facts:
        """Become the same file as it is on disk, which was found to have changed, and return its facts."""
        self.__dict__ = dict(other.__dict__)
        return other.facts

    # -- arranged for looking names up --------------------------------------------------------------------------------

    @cached_property
    def members(self) -> dict[str, dict[str, list[int]]]:
        """{qualified name of the enclosing definition: {name: places}}; the empty key is the file's top level.

        Without tests, which have names and labels of their own: nothing calls them by these.
        """
        members: dict[str, dict[str, list[int]]] = {}
        spaces = {""}
        for place, definition in enumerate(self.definitions):
            if definition.kind == "test":
                continue
            owner = definition.qualified_name[: -len(definition.name) - 1]
            members.setdefault(owner, {}).setdefault(definition.name, []).append(place)
            if definition.kind in NAMESPACE_KINDS and self.rules.open_namespaces:
                spaces.add(definition.qualified_name)
        if len(spaces) > 1:
            top: dict[str, list[int]] = {}
            for space in sorted(spaces):
                for name, places in members.get(space, {}).items():
                    top.setdefault(name, []).extend(places)
            members[""] = top
        return members

    @cached_property
    def aliases(self) -> dict[str, list[Import]]:
        """What is imported, by the name it has here."""
        aliases: dict[str, list[Import]] = {}
        for imported in self.facts.imports:
            if imported.alias:
                aliases.setdefault(imported.alias, []).append(imported)
        return aliases

    @cached_property
    def stars(self) -> list[Import]:
        """The imports of all that a module has."""
        return [imported for imported in self.facts.imports if imported.name == "*"]

    @cached_property
    def enclosed(self) -> dict[int, int]:
        """The closures that definitions stand in, by the places of these."""
        return dict(self.facts.enclosed)

    @cached_property
    def bases(self) -> dict[int, list[str]]:
        """What types name as their bases, by their places."""
        bases: dict[int, list[str]] = {}
        facts = self.facts
        for kind, expression, scope in zip(facts.kinds, facts.expressions, facts.scopes, strict=True):
            if kind in _BASE_KINDS:
                bases.setdefault(scope, []).append(facts.texts[expression])
        return bases

    @property
    def values(self) -> dict[tuple[int, str], list[str]]:
        """What variables hold, by their scopes and names."""
        return self._holding[0]

    @property
    def attributes(self) -> dict[tuple[int, str], list[tuple[int, str]]]:
        """What attributes hold, by the type and their names: each value with the scope where it is assigned."""
        return self._holding[1]

    @cached_property
    def _holding(self) -> tuple[dict[tuple[int, str], list[str]], dict[tuple[int, str], list[tuple[int, str]]]]:
        """The values of variables and of attributes."""
        values: dict[tuple[int, str], list[str]] = {}
        attributes: dict[tuple[int, str], list[tuple[int, str]]] = {}
        prefixes = tuple(f"{word}." for word in self.rules.this)
        for scope, variable, value in self.facts.values:
            if self.rules.prefix and variable.startswith(self.rules.prefix):
                attribute = variable.lstrip(self.rules.prefix)
            elif prefixes and variable.startswith(prefixes):
                attribute = variable.partition(".")[2]
            else:
                values.setdefault((scope, variable), []).append(value)
                continue
            if "." not in attribute:
                attributes.setdefault((self.enclosing_type(scope), attribute), []).append((scope, value))
        return values, attributes

    @property
    def n_bytes(self) -> int:
        """Roughly how much memory the file takes, as far as it was read."""
        of_facts = weigh_facts(self._facts) if isinstance(self._facts, Facts) else 0
        return 2_000 + 900 * len(self.definitions) + of_facts

    def full_name(self, place: int) -> str:
        """Return the qualified name of a definition with the package of the file."""
        own = self.definitions[place].qualified_name.replace("\\", ".")
        package = self.package.replace("\\", ".")
        return f"{package}.{own}" if package and not own.startswith(f"{package}.") else own

    def closure(self, scope: int) -> Closure:
        """Return the closure that a scope is, whose number is not that of a definition."""
        return self.facts.closures[scope - len(self.definitions)]

    def definition_around(self, scope: int) -> int:
        """Return the innermost definition around a scope, the scope itself if it is not a closure; -1 for none."""
        while scope >= len(self.definitions):
            scope = self.closure(scope).scope
        return scope

    def around_of(self, scope: int) -> int:
        """Return the scope around a scope."""
        if scope >= len(self.definitions):
            return self.closure(scope).scope
        return self.enclosed.get(scope, self.definitions[scope].parent)

    def enclosing_type(self, scope: int) -> int:
        """Return the innermost type around a scope, the scope itself included; -1 for none."""
        scope = self.definition_around(scope)
        while scope >= 0 and self.definitions[scope].kind not in _SELF_KINDS:
            scope = self.definitions[scope].parent
        return scope

    def around(self, scope: int) -> Iterator[int]:
        """Yield a definition and those around it, from the inside out."""
        scope = self.definition_around(scope)
        while scope >= 0:
            yield scope
            scope = self.definitions[scope].parent

    def at_line(self, line: int) -> int:
        """Return the innermost definition around a line, -1 for none."""
        best = -1
        for place, definition in enumerate(self.definitions):
            inside = definition.span.start_line <= line <= definition.span.end_line
            if inside and (best < 0 or definition.span.start_line >= self.definitions[best].span.start_line):
                best = place
        return best


@cache
def _names_package(language: str) -> bool:
    """Tell whether files of a language say what they belong to."""
    return "@package" in load_reference_text(BY_NAME[language])


def _are_about(facts: Facts, n_definitions: int) -> bool:
    """Tell whether facts fit so many definitions; another version may have divided the file in another way."""
    n_scopes = n_definitions + len(facts.closures)
    return max(facts.scopes, default=-1) < n_scopes and all(entry[0] < n_scopes for entry in facts.values)


def weigh_facts(facts: Facts) -> int:
    """Return roughly how many bytes of memory facts take, with what `SourceFile` derives from them."""
    return 1_000 + 90 * len(facts.texts) + 28 * len(facts.kinds) + 500 * len(facts.imports) + 400 * len(facts.values)


def declaration_of(definition: Definition) -> tuple[str, str, str]:
    """Return what definitions of a file share that are one declaration, as those in the branches of an `#if`."""
    return definition.kind, definition.qualified_name, definition.signature


def imports_saying(source: SourceFile, names: frozenset[str]) -> list[Import]:
    """Return the imports of a file that say one of some names as a whole word, or take all names of a package."""
    imports = source.facts.imports
    return [
        one for one in imports if one.name == "*" or not names.isdisjoint(_WORD.findall(f"{one.module}.{one.name}"))
    ]


def runs_when_made(source: SourceFile, place: int) -> bool:
    """Tell whether a definition runs where its type is called; constructors of Dart with other names do not."""
    definition = source.definitions[place]
    owner = source.definitions[definition.parent] if definition.parent >= 0 else None
    if owner is None or owner.kind not in TYPE_KINDS:
        return False
    if definition.kind == "constructor":
        return source.rules.family != "dart" or definition.name == owner.name
    return definition.name == source.rules.constructor


def is_of_platform(source: SourceFile, place: int) -> bool:
    """Tell whether Kotlin declares a definition, or what is around it, for all platforms or as the body for one."""
    return source.language == "kotlin" and any(
        not {"actual", "expect"}.isdisjoint(source.definitions[each].signature.partition("(")[0].split())
        for each in source.around(place)
    )
