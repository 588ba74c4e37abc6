"""Finds the files that may import a file: those whose text says a name of it, or imports something without a name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from cairn.graph.code import Code
from cairn.graph.graph import Graph
from cairn.graph.mentions import stem_of
from cairn.graph.rules import TYPE_KINDS
from cairn.graph.sightings import looks_imported

# Imports of the folder around, by its family: what they say, and the files that stand for a folder.
_OF_A_FOLDER = {
    "python": (re.compile(rb"\bfrom[ \t]+\.+[ \t]+import\b"), "__init__"),
    "ecmascript": (re.compile(rb"[\"']\.{1,2}(?:/\.{1,2})*/?[\"']"), "index"),
}


class MayImport(NamedTuple):
    """What may import a file: files that may say a name of it or its folder, and what tells whether one does.

    `names` are these names. `is_likely` tells whether one says a name of the file itself in an import.
    """

    names: frozenset[str]
    files: set[int]
    says: Callable[[int], bool]
    is_likely: Callable[[int], bool]


def may_import(graph: Graph, number: int) -> MayImport:
    """Return the files that may import a file.

    Those are the files whose text contains its name, its folder's, or one that a package has for it, and what may
    import it without a name.
    """
    code = graph.code
    path = code.paths[number]
    source = code.file(number)
    own = {stem_of(path)} | code.modules.names_of(number, source.rules.finder)
    if source.rules.package in ("package", "all"):
        own |= {
            definition.name
            for definition in source.definitions
            if definition.parent < 0 or definition.kind in TYPE_KINDS
        }
    own.discard("")
    by_path = source.rules.package != "package"  # else an import names what the file defines
    names = frozenset(own | ({path.rpartition("/")[0].rpartition("/")[2]} - {""} if by_path else set()))
    likely = frozenset(own)
    sure = _importing_unnamed(code, number)
    if (known := graph.connections.known) is not None:
        sure.update(known.network.importers(number))
    files = {other for name in names for other in code.mentions.may_mention(name)}

    def says(other: int) -> bool:
        return other in sure or code.mentions.mentions(other, names)

    def is_likely(other: int) -> bool:
        return bool(likely) and looks_imported(code.checkout.read(other) or b"", likely)

    return MayImport(names, (files | sure) - {number}, says, is_likely)


def _importing_unnamed(code: Code, number: int) -> set[int]:
    """Return files that may import one without its name.

    Of Rust, these may do so with `super`; of Go, they import what is in the top folder; of Python and JavaScript, what
    is below a folder imports that as `.` or `..`.
    """
    source = code.file(number)
    folder, language = source.path.rpartition("/")[0], source.language
    if language == "go" and not folder:
        return {other for other, kind in enumerate(code.languages) if kind == language}
    pattern, stem = _OF_A_FOLDER.get(source.rules.finder, (None, ""))
    if language != "rust" and (pattern is None or stem_of(source.path) != stem):
        return set()
    below = {other for other, path in enumerate(code.paths) if path.startswith(f"{folder}/" if folder else "")}
    if pattern is None:
        return below
    return {other for other in below if pattern.search(code.checkout.read(other) or b"")}
