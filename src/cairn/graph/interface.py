"""Tells whether an edit of a file can change what references in other files lead to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cairn.graph.code import Code
from cairn.graph.namesakes import MAX_OWNED
from cairn.graph.nodes import node_of
from cairn.graph.source_file import SourceFile
from cairn.source.references import HIDDEN, RESULT

_HEAD = re.compile(r"[.(\[{]")  # what ends the first name of an expression


def same_interface(code: Code, old: SourceFile, new: SourceFile) -> bool:
    """Tell whether two contents of a file look the same to all other files.

    The longest of several definitions of a name stands for all of them, so their order by length must not change.
    """
    if _shape(old) != _shape(new):
        return False
    return all(
        _order(code, old, place) == _order(code, new, place)
        for place, (before, after) in enumerate(zip(old.definitions, new.definitions, strict=True))
        if before.span.end_byte - before.span.start_byte != after.span.end_byte - after.span.start_byte
    )


def find_changed_names(old: SourceFile, new: SourceFile) -> set[str]:
    """Return the names whose definitions differ between two contents of a file."""
    before, after = _definitions_by_name(old), _definitions_by_name(new)
    whole = (old.language, old.facts.package) != (new.language, new.facts.package)
    return {name for name in {*before, *after} if whole or before.get(name) != after.get(name)}


def _definitions_by_name(source: SourceFile) -> dict[str, list[tuple[object, ...]]]:
    """Return, by name, what a look-up of that name anywhere sees of the definitions."""
    found: dict[str, list[tuple[object, ...]]] = {}
    top = source.members.get("", {})
    for place, definition in enumerate(source.definitions):
        around = source.definitions[definition.parent].kind if definition.parent >= 0 else ""
        seen = (
            definition.kind,
            definition.qualified_name,
            definition.signature,
            around,
            place in top.get(definition.name, ()),
            (place, HIDDEN) in source.values,
        )
        found.setdefault(definition.name, []).append((*seen, definition.span.end_byte - definition.span.start_byte))
    return found


def _shape(source: SourceFile) -> tuple[object, ...]:
    """Return all that resolution in other files may look at, apart from positions."""
    definitions = [
        (definition.kind, definition.name, definition.qualified_name, definition.signature, definition.parent)
        for definition in source.definitions
    ]
    imports = [
        (imported.module, imported.name, imported.alias, int(imported.flags)) for imported in source.facts.imports
    ]
    values = _telling_values(source)
    return source.language, source.facts.package, definitions, imports, values, source.bases


def _telling_values(source: SourceFile) -> list[tuple[int, str, str]]:
    """Return the values that other files may see.

    Those are values at the top of the file or in a type, what a function returns or assigns to an attribute, and the
    variables that these pass through.
    """
    prefixes = tuple(f"{word}." for word in source.rules.this) + ((source.rules.prefix,) if source.rules.prefix else ())
    found: list[tuple[int, str, str]] = []
    inner: list[tuple[int, str, str]] = []
    for entry in source.facts.values:
        scope, variable, _ = entry
        seen = (
            source.enclosing_type(scope) == scope
            or variable in (RESULT, HIDDEN)
            or variable.startswith(prefixes or " ")
        )
        (found if seen else inner).append(entry)
    needed = {(scope, _HEAD.split(value.lstrip(":"), maxsplit=1)[0]) for scope, _, value in found}
    while True:
        more = [entry for entry in inner if entry[:2] in needed]
        if not more:
            return found
        inner = [entry for entry in inner if entry[:2] not in needed]
        found += more
        needed |= {(scope, _HEAD.split(value, maxsplit=1)[0]) for scope, _, value in more}


def _order(code: Code, source: SourceFile, place: int) -> Sequence[int]:
    """Return the definitions of a name by length, as if the file had the given content."""
    own = source.definitions[place]

    def length(node: int) -> int:
        inner = node - node_of(source.number, 0)
        here = 0 <= inner < len(source.definitions)
        span = (source.definitions[inner] if here else code.definition(node)).span
        return span.end_byte - span.start_byte

    owner = own.qualified_name[: -len(own.name) - 1]
    nodes = [node_of(source.number, other) for other in source.members.get(owner, {}).get(own.name, ())]
    others = code.nodes_named(own.name)
    if len(others) <= MAX_OWNED:  # a name that is defined more often leads to no other file
        nodes = others
    return sorted(nodes, key=lambda node: (-length(node), node)) if len(nodes) > 1 else ()
