"""Finds what deleted files of a revision defined, and what still refers to it by name, since no edge leads there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cairn import waiting
from cairn.errors import UnparsableError
from cairn.graph.graph import Graph
from cairn.graph.nodes import node_of, place_of
from cairn.graph.rules import rules_of
from cairn.graph.source_file import SourceFile
from cairn.graph.values import Deleted, Mention
from cairn.index.isolation import run_isolated
from cairn.index.reading import HEAD_BYTES
from cairn.source.content import check_content, normalize
from cairn.source.languages import detect_language
from cairn.source.objects import ObjectReader, TreeEntry
from cairn.source.walk import MAX_FILE_BYTES
from cairn.types import Definition

_MAX_READ = 100  # deleted files whose content is read; of the others only the path is shown
_MAX_NAMES = 300  # looked for, over all deleted files
_MAX_MENTIONS = 50  # of one deleted file
_LAST_NAME = re.compile(r"([@$\w]+[?!]?)(?:\(\d*\)|\[\]|\{\})*$")
_NAMELESS = frozenset({"__init__", "index", "mod", "main"})


class Leftovers(NamedTuple):
    """What is left of deleted files: what each defined, and the definitions and files that still refer to one."""

    deleted: tuple[Deleted, ...] = ()
    nodes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


NOTHING_LEFT = Leftovers()


def find_leftovers(graph: Graph, root: Path, gone: Sequence[TreeEntry]) -> Leftovers:
    """Return what refers to files of a revision that are gone.

    Only definitions at the top of a file are looked for, since the names of members say little.

    Args:
        graph: of the files as they are now.
        root: the folder that paths are relative to.
        gone: the files, as git has them.
    """
    found, nodes = [], dict[int, None]()
    n_names = 0
    with ObjectReader(root) as reader:
        for place, entry in enumerate(gone):
            waiting.check()
            top = list(_top_names(reader, entry)) if place < _MAX_READ else []
            sought = top[: max(0, _MAX_NAMES - n_names)]
            n_names += len(sought)
            mentions = dict(_mentions(graph, entry.path, sought)) if place < _MAX_READ else {}
            nodes |= dict.fromkeys(mentions.values())
            shown = sorted(mentions)[:_MAX_MENTIONS]
            found.append(Deleted(entry.path, tuple(top), tuple(shown), len(mentions) - len(shown)))
    beyond = len(gone) > _MAX_READ or n_names >= _MAX_NAMES
    note = "Many files were deleted: only some of the references to them were looked for." if beyond else ""
    return Leftovers(tuple(found), tuple(nodes), (note,) if note else ())


def _top_names(reader: ObjectReader, entry: TreeEntry) -> Iterator[str]:
    """Yield what a file of a revision defined at its top, each name once; nothing if it cannot be read."""
    try:
        data = normalize(reader.read(entry.object_id, MAX_FILE_BYTES))
    except OSError:  # not fetched, or too large
        return
    language = detect_language(entry.path, data[:HEAD_BYTES])
    if check_content(data, entry.path) or not language.has_references:
        return
    definitions: Sequence[Definition] = ()
    with suppress(UnparsableError):
        definitions, _ = run_isolated("cairn.index.facts:definitions_and_facts", data, language.name)
    yield from dict.fromkeys(definition.name for definition in definitions if definition.parent < 0)


def _mentions(graph: Graph, path: str, names: Sequence[str]) -> Iterator[tuple[Mention, int]]:
    """Yield each mention of a deleted file or of what it defined, with the definition it is in."""
    family, stem = rules_of(detect_language(path, b"").name).family, _stem(path)
    sought: dict[int, set[str]] = defaultdict(set)
    for name in {stem, *names} - {""}:
        for number in graph.code.mentions.mentioning(name):
            sought[number].add(name)
    graph.code.load(sought, graph.progress)
    for number in sorted(sought):
        waiting.check()
        source = graph.code.file(number)
        if family and source.rules.family == family:
            yield from _imports_in(graph, source, sought[number].intersection(names), stem)
            yield from _references_in(graph, source, sought[number].intersection(names))


def _imports_in(graph: Graph, source: SourceFile, names: set[str], stem: str) -> Iterator[tuple[Mention, int]]:
    """Yield the imports of a deleted file, and of names that it defined, that lead to no other file."""
    code = graph.code
    leading = {(edge.line, _stem(code.paths[edge.target])) for edge in graph.connections.imports(source.number)}
    bound = _names_from_imports(graph, source)
    for imported in source.facts.imports:
        node = node_of(source.number, source.at_line(imported.line))
        if imported.name in names - bound:
            yield Mention(source.path, imported.line, imported.name), node
        elif stem in (_last_part(imported.module), imported.name) and (imported.line, stem) not in leading:
            yield Mention(source.path, imported.line, stem), node


def _references_in(graph: Graph, source: SourceFile, names: set[str]) -> Iterator[tuple[Mention, int]]:
    """Yield the references to names that a deleted file defined, and that nothing else explains."""
    code, facts = graph.code, source.facts
    names = names - source.members.get("", {}).keys() - _names_from_imports(graph, source)
    edges = graph.connections.edges(source.number) if names else []
    found = {(edge.line, code.definition(edge.target).name) for edge in edges if place_of(edge.target) >= 0}
    for expression, scope, line in zip(facts.expressions, facts.scopes, facts.lines, strict=True):
        last = _LAST_NAME.search(facts.texts[expression])
        if last is not None and last[1] in names and (line, last[1]) not in found:
            yield Mention(source.path, line, last[1]), node_of(source.number, scope)


def _names_from_imports(graph: Graph, source: SourceFile) -> set[str]:
    """Return the names that a file imports from files that are there."""
    return {graph.code.definition(node).name for node in graph.resolver.symbols_of_imports(source.number)}


def _last_part(module: str) -> str:
    """Return what an import calls the file itself: `util` of `.lib.util`, `./lib/util.js` and `util.h`."""
    if "/" in module or module.endswith((".h", ".hpp")):
        return module.rpartition("/")[2].partition(".")[0]
    return module.rpartition(".")[2].rpartition(":")[2].rpartition("\\")[2]


def _stem(path: str) -> str:
    """Return what imports call a file: its name without extension, or its folder's for such as `index.js`."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _NAMELESS and folder else stem
