"""Finds the files that may import a file, or use it without importing it.

The first say a name of it in their text, or import something without a name.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from cairn import waiting
from cairn.graph.code import Code
from cairn.graph.graph import Graph
from cairn.graph.mentions import stem_of
from cairn.graph.nodes import file_of, node_of
from cairn.graph.reader import Reader
from cairn.graph.resolve import ALL_KINDS
from cairn.graph.rules import NAMESPACE_KINDS, TYPE_KINDS, resolves_imports, rules_of
from cairn.graph.sightings import IMPORTING, first_line_saying, is_line_of_comment, looks_imported, names_pattern
from cairn.graph.source_file import SourceFile
from cairn.graph.tally import LineTally
from cairn.graph.values import Unresolved
from cairn.source.languages import BY_NAME

_MOST_FILES = 400  # read for a name; more only while no line says it
_MOST_TYPES = 30  # of a file, whose names are looked for
_NAMELESS = frozenset({"__init__", "index", "mod", "lib", "main", "init"})  # files that go by the name of their folder

_BY_PATTERN = b"import.meta.glob"
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
    patterned = _importing_by_pattern(code)
    sure = _importing_unnamed(code, number) | patterned
    if (known := graph.connections.known) is not None:
        sure.update(known.network.importers(number))
    files = {other for name in names for other in code.mentions.may_mention(name)}

    def says(other: int) -> bool:
        return other in sure or code.mentions.mentions(other, names)

    def is_likely(other: int) -> bool:
        return other in patterned or (bool(likely) and looks_imported(code.checkout.read(other) or b"", likely))

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


def _importing_by_pattern(code: Code) -> set[int]:
    """Return the files that import others by a pattern of Vite."""
    files = code.mentions.may_mention("glob") if "ecmascript" in map(_finder_of, set(code.languages)) else set()
    scripts = (number for number in files if _finder_of(code.languages[number]) == "ecmascript")
    return {number for number in scripts if _BY_PATTERN in (code.checkout.read(number) or b"")}


def _finder_of(language: str) -> str:
    return rules_of(language).finder


def users_of(graph: Graph, number: int, importers: Collection[str], reader: Reader) -> dict[str, int]:
    """Return the files that use what a file defines and are none of its importers, each with the first line of that.

    They are looked for where an answer would be misleading without them, because nothing imports the file, or its
    language needs no import for that; and as far as there is time. There, a type that no other file defines is used
    where its name stands.
    """
    source = graph.code.file(number)
    needs_none = source.rules.package != "file"
    if (importers and not needs_none) or (reader.is_patient and not graph.is_prepared):
        return {}
    lines: dict[int, int] = {}
    for edge in graph.incoming(graph.within([node_of(number, -1)]), ALL_KINDS, reader):
        lines.setdefault(file_of(edge.source), edge.line)
    if needs_none and (names := _own_types(graph.code, number)):
        others = {other for name in names for other in graph.code.mentions.may_mention(name)}
        for other in reader.look_at(sorted(others - lines.keys()), lambda other: _is_akin(graph.code, other, number)):
            data = graph.code.checkout.read(other) or b""
            if line := first_line_saying(data, names, graph.code.languages[other]):
                lines[other] = line
    paths = graph.code.paths
    return {paths[other]: lines[other] for other in sorted(lines) if other != number and paths[other] not in importers}


def _is_akin(code: Code, number: int, other: int) -> bool:
    return code.file(number).rules.family == code.file(other).rules.family


def _others_with(code: Code, number: int, name: str) -> set[int]:
    return {file_of(node) for node in code.nodes_named(name)} - {number}


def _own_types(code: Code, number: int) -> frozenset[str]:
    """Return the names of the types of a file by which no other one of its languages defines anything."""
    definitions = code.file(number).definitions
    places = [place for place, one in enumerate(definitions) if one.kind in TYPE_KINDS | NAMESPACE_KINDS]
    outer = {-1, *(place for place in places if definitions[place].kind in NAMESPACE_KINDS)}
    names = [definitions[place].name for place in places if definitions[place].parent in outer]
    own = (
        name for name in names if not any(_is_akin(code, other, number) for other in _others_with(code, number, name))
    )
    return frozenset(islice(dict.fromkeys(own), _MOST_TYPES))


def names_of_file(graph: Graph, number: int) -> frozenset[str]:
    """Return what an import says of a file: its name, that of a package, or else of the folder that it stands for."""
    folder, base = posixpath.split(graph.code.paths[number])
    stem = base.partition(".")[0]
    if stem not in _NAMELESS:
        return frozenset({stem} - {""})
    rules = graph.code.file(number).rules
    return graph.code.modules.names_of(number, rules.finder) or frozenset({posixpath.basename(folder)} - {""})


def unresolved_imports(
    graph: Graph,
    number: int,
    names: frozenset[str],
    files: Iterable[int],
    says: Callable[[int], bool],
    reader: Reader,
) -> Unresolved | None:
    """Return the lines of some files that may import a file, going by its name; None if there are none.

    Args:
        graph: the graph.
        number: the file.
        names: what an import of it says.
        files: those that may import it.
        says: tells from the text of one whether it may.
        reader: as for `unresolved_calls`.
    """
    own_names = names_of_file(graph, number)
    if not own_names:
        return None
    tally = LineTally("import", own_names)
    texts = [name.encode("utf-8", "surrogateescape") for name in own_names]
    for n_files, other in enumerate(reader.look_at(files, says)):
        waiting.check()
        if n_files >= _MOST_FILES and tally.lines:
            tally.is_least = True
            break
        if BY_NAME[graph.code.languages[other]].group != "code":
            continue
        data = graph.code.checkout.read(other) or b""
        if not any(text in data for text in texts):
            continue
        source = graph.code.file(other)
        edges = reader.look_up(partial(graph.connections.imports, other, names))
        if edges is None or any(edge.target == number for edge in edges):
            continue
        for line in _import_lines(source, data, own_names, {edge.line for edge in edges}):
            tally.add(source.path, line, is_confirmed=False)
    tally.is_least = tally.is_least or reader.lines_left
    return tally.result()


def _import_lines(source: SourceFile, data: bytes, names: frozenset[str], resolved: Collection[int]) -> Iterator[int]:
    """Yield the lines of a file that import something by some names, without statements known to mean some file."""
    statements = sorted(imported.line for imported in source.facts.imports)
    has_statements = resolves_imports(source.language)  # then other lines are none
    pattern = names_pattern(names)
    for line, text in enumerate(data.split(b"\n"), 1):
        keyword = IMPORTING.search(text)
        if keyword is None or not pattern.search(text, keyword.end()) or is_line_of_comment(text, source.language):
            continue
        begun = statements[: bisect_right(statements, line)]
        # The module may stand at the end of a statement of several lines.
        is_statement = bool(begun) and (begun[-1] == line or text.lstrip().startswith((b"}", b")")))
        if begun[-1] not in resolved if is_statement else not has_statements:
            yield line
