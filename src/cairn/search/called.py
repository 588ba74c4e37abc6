"""Finds the methods that the frames of a trace name without a file: by the class and the name of each."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

import numpy as np

from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.search.exact import LineMatch
from cairn.search.file_finder import module_parts
from cairn.search.library import Library, line_at, read_files
from cairn.search.query import SCOPE_MARK
from cairn.source.frames import CallFrame
from cairn.source.roles import FOREIGN, Role
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import NamedDefinition
from cairn.types import Definition

_MAX_READ = 1_000  # of a name's definitions, in all views
_MAX_NAMESAKES = 100  # files, each read for its package; with more no one is meant
_CLASS_ONLY = 0.5
_ALONE = 0.7  # of a function without a class or a module before it
_ASIDE = Role.TEST | Role.EXAMPLE | Role.DOCS | FOREIGN
_ACCESSOR = re.compile(r"(?:get|set|add|remove)_(\w+)")  # of a property or an event in .NET
_PACKAGE = re.compile(
    rb"^(?:(?:package|namespace)[ \t]+([\w.]+)|\(ns\s{1,20}(?:\^\S{1,200}\s{1,20}){0,5}([^\s()^]+))", re.MULTILINE
)
_ARITY = re.compile(r"`(\d+)")
_WORD = re.compile(r"\w+")
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]")


class _MethodMeant(NamedTuple):
    """A definition that a frame may mean; the least is the most probable."""

    n_missing: int
    n_commas: int
    is_prototype: bool  # as headers of C have it
    is_aside: bool
    file: int
    line: int


def line_of_call(library: Library, call: CallFrame, inside: Container[int] | None) -> tuple[LineMatch | None, float]:
    """Return the first line of the method that a frame means, or of its class where that does not spell it out.

    With it comes how sure that is; None if the project has no such class. All names before the method must be those of
    classes, packages and folders around it, so a class of another package is none of the project. None is meant if
    several files are equally probable.

    Args:
        inside: the files in scope, None if all are.
    """
    names = [call.method, *_ACCESSOR.findall(call.method)] if call.method else [call.owners[-1]]
    for name in names:
        kinds = None if call.method else frozenset({"constructor"})
        if found := _candidates(library, call, (*call.owners, name), kinds, inside):
            share = 1.0 if call.owners else _ALONE
            break
    else:
        found = _candidates(library, call, call.owners, TYPE_KINDS, inside) if call.owners else []
        share = _CLASS_ONLY if call.method else 1.0
    if not found or any(one[:4] == found[0][:4] and one.file != found[0].file for one in found):
        return None, 0.0
    return line_at(library, found[0].file, found[0].line), share


def _candidates(
    library: Library,
    call: CallFrame,
    names: tuple[str, ...],
    kinds: frozenset[str] | None,
    inside: Container[int] | None,
) -> list[_MethodMeant]:
    """Return the definitions with some names around them, the last being their own, the most probable first."""
    snapshot, connection = library.snapshot, library.connection
    defined = chunk_db.definitions_called(connection, names[-1], _MAX_READ)
    rows = snapshot.rows_of_chunks(np.array([one.chunk_id for one in defined], dtype=np.int64))
    meant: list[tuple[int, NamedDefinition]] = []
    files: set[int] = set()
    for row, one in zip(rows.tolist(), defined, strict=True):
        file = int(snapshot.file_of_row[row]) if row >= 0 else -1
        if file < 0 or (inside is not None and file not in inside) or (kinds is not None and one.kind not in kinds):
            continue
        if not _ends_with(names, one):
            continue
        files.add(file)
        if len(files) > _MAX_NAMESAKES:
            return []
        if _is_called(library, file, one, names):
            meant.append((file, one))
    definitions = chunk_db.definitions_at(connection, [one.id for _, one in meant])
    return sorted(_method_meant(library, call, file, definitions[one.id]) for file, one in meant)


def _method_meant(library: Library, call: CallFrame, file: int, definition: Definition) -> _MethodMeant:
    is_aside = int(library.snapshot.files.roles[file]) & int(_ASIDE) > 0
    unlike = _unlike(call.parameters, definition.signature) if definition.kind in FUNCTION_KINDS else (0, 0)
    is_prototype = definition.signature.endswith(";")
    return _MethodMeant(*unlike, is_prototype, is_aside, file, definition.span.start_line)


def _ends_with(names: tuple[str, ...], one: NamedDefinition) -> bool:
    own = tuple(SCOPE_MARK.split(one.qualified_name))
    return own == names[max(0, len(names) - len(own)) :]


def _is_called(library: Library, file: int, one: NamedDefinition, names: tuple[str, ...]) -> bool:
    """Tell whether what names say before those of a definition is the folders or the package of its file.

    A file may be in other folders than its package says, as in Kotlin, or in .NET.
    """
    before = names[: max(0, len(names) - len(SCOPE_MARK.split(one.qualified_name)))]
    path = library.snapshot.files.paths[file]
    folders = path.rpartition("/")[0].replace(".", "/").split("/")
    if not before or tuple(folders[-len(before) :]) == before:
        return True
    if path.endswith(".rs"):  # a module below the crate
        modules = before[1:]
        return bool(modules) and tuple(module_parts(path)[-len(modules) :]) == modules
    return declares(library, file, ".".join(before))


def declares(library: Library, file: int, package: str) -> bool:
    """Tell whether a file says that it is of a package or a namespace."""
    name = package.encode("utf-8", "surrogatepass")
    return any(name in found for found in _PACKAGE.findall(read_files(library, [file])[file].data))


def _unlike(parameters: str, signature: str) -> tuple[int, int]:
    """Return how many parameters of a frame a signature lacks, and by how many commas, also of types, it is longer."""
    if not parameters:
        return 0, 0
    plain = _IN_BRACKETS.sub("", parameters)
    words = set(_WORD.findall(signature))
    n_missing = sum(part.split()[-1] not in words for part in plain.split(",") if part.strip())
    n_commas = plain.count(",") + sum(int(number) - 1 for number in _ARITY.findall(plain))
    return n_missing, abs(signature.count(",") - n_commas)
