"""One file as the symbol graph needs it: what it defines and what it refers to, arranged for looking names up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cairn.graph.rules import NAMESPACE_KINDS, Rules
from cairn.source.imports import Import
from cairn.source.references import KINDS, Facts
from cairn.types import Definition

_BASE_KINDS = frozenset({KINDS.index("inherit"), KINDS.index("implement")})
_SELF_KINDS = frozenset({"class", "interface", "struct", "trait", "impl", "enum", "record", "object", "extension"}) | {
    "union",
    "protocol",
    "contract",
    "module",
}


@dataclass(slots=True)
class SourceFile:
    """One file: what it defines and what it refers to.

    Attributes:
        members: {qualified name of the enclosing definition: {name: places}}; the empty key is the file's top level.
        stale: whether the file changed since it was indexed and was read from disk.
    """

    number: int
    path: str
    language: str
    definitions: Sequence[Definition]
    facts: Facts
    rules: Rules
    stale: bool = False
    members: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    aliases: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    values: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    attributes: dict[tuple[int, str], list[tuple[int, str]]] = field(default_factory=dict)
    bases: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._add_definitions()
        for imported in self.facts.imports:
            if imported.name == "*":
                self.stars.append(imported)
            if imported.alias:
                self.aliases.setdefault(imported.alias, []).append(imported)
        self._add_values()
        facts = self.facts
        for kind, expression, scope in zip(facts.kinds, facts.expressions, facts.scopes, strict=True):
            if kind in _BASE_KINDS:
                self.bases.setdefault(scope, []).append(facts.texts[expression])

    def _add_definitions(self) -> None:
        spaces = {""}
        for place, definition in enumerate(self.definitions):
            owner = definition.qualified_name[: -len(definition.name) - 1]
            self.members.setdefault(owner, {}).setdefault(definition.name, []).append(place)
            if definition.kind in NAMESPACE_KINDS and self.rules.open_namespaces:
                spaces.add(definition.qualified_name)
        if len(spaces) > 1:
            top: dict[str, list[int]] = {}
            for space in sorted(spaces):
                for name, places in self.members.get(space, {}).items():
                    top.setdefault(name, []).extend(places)
            self.members[""] = top

    def _add_values(self) -> None:
        prefixes = tuple(f"{word}." for word in self.rules.this)
        for scope, variable, value in self.facts.values:
            if self.rules.prefix and variable.startswith(self.rules.prefix):
                attribute = variable.lstrip(self.rules.prefix)
            elif prefixes and variable.startswith(prefixes):
                attribute = variable.partition(".")[2]
            else:
                self.values.setdefault((scope, variable), []).append(value)
                continue
            if "." not in attribute:
                self.attributes.setdefault((self.enclosing_type(scope), attribute), []).append((scope, value))

    @property
    def n_bytes(self) -> int:
        """Roughly how much memory the file takes."""
        return 2_000 + 900 * len(self.definitions) + weigh_facts(self.facts)

    def full_name(self, place: int) -> str:
        """Return the qualified name of a definition with the package of the file."""
        own = self.definitions[place].qualified_name.replace("\\", ".")
        package = self.facts.package.replace("\\", ".")
        return f"{package}.{own}" if package and not own.startswith(f"{package}.") else own

    def enclosing_type(self, scope: int) -> int:
        """Return the innermost type around a scope, the scope itself included; -1 for none."""
        while scope >= 0 and self.definitions[scope].kind not in _SELF_KINDS:
            scope = self.definitions[scope].parent
        return scope

    def around(self, scope: int) -> Iterator[int]:
        """Yield a definition and those around it, from the inside out."""
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


def weigh_facts(facts: Facts) -> int:
    """Return roughly how many bytes of memory facts take, with what `SourceFile` derives from them."""
    return 1_000 + 90 * len(facts.texts) + 20 * len(facts.kinds) + 500 * len(facts.imports) + 400 * len(facts.values)
