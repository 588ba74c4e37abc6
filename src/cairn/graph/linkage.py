"""Tells which definitions of C and C++ no other file sees, so that others of the same name are something else."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.graph.rules import TYPE_KINDS
from cairn.graph.source_file import SourceFile
from cairn.source.references import HIDDEN

SOURCES_OF_C = (".c", ".cc", ".cpp", ".cxx", ".c++")


def keeps_to_itself(source: SourceFile, place: int) -> bool:
    """Tell whether a definition in a source file of C is seen only there, and where that file is included.

    That is a macro, a type with its members, and what is static or in a namespace without a name.
    """
    return source.path.endswith(SOURCES_OF_C) and any(_is_own(source, around) for around in _around(source, place))


def are_apart(source: SourceFile, place: int, other: SourceFile, other_place: int) -> bool:
    """Tell whether two definitions of one name are not one symbol, as a file keeps one of them to itself.

    A type that a header only declares may be the one that a source file defines.
    """
    if source.number == other.number:
        return False
    is_kept, is_other_kept = keeps_to_itself(source, place), keeps_to_itself(other, other_place)
    if is_kept and is_other_kept:
        return True
    return (is_kept and not _is_only_declared(other, other_place)) or (
        is_other_kept and not _is_only_declared(source, place)
    )


def _is_only_declared(source: SourceFile, place: int) -> bool:
    definition = source.definitions[place]
    return definition.kind in TYPE_KINDS and not source.members.get(definition.qualified_name)


def _is_own(source: SourceFile, place: int) -> bool:
    definition = source.definitions[place]
    is_own = definition.kind == "macro" or "static " in definition.signature or (place, HIDDEN) in source.values
    return is_own or (definition.kind in TYPE_KINDS and _is_in_what_is_around(source, place))


def _is_in_what_is_around(source: SourceFile, place: int) -> bool:
    """Tell whether a type is written in what it belongs to; a header declares what goes on as `struct Type::Part {`."""
    definition = source.definitions[place]
    outer = source.definitions[definition.parent].qualified_name if definition.parent >= 0 else ""
    return definition.qualified_name == f"{outer}.{definition.name}".lstrip(".")


def _around(source: SourceFile, place: int) -> Iterator[int]:
    """Yield a definition, those around it, and the types of the file to which it belongs as `Type::name`."""
    yield from source.around(place)
    definition = source.definitions[place]
    outer, _, owner = definition.qualified_name[: -len(definition.name) - 1].rpartition(".")
    if owner:
        yield from source.members.get(outer, {}).get(owner, ())
