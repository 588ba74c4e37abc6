"""Finds the symbol that a text names: `name`, `Class.method`, `path:name`, `path#name`, `path:line` or a path."""

from __future__ import annotations

import os
import posixpath
import re
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from cairn.errors import AmbiguousError, UnknownSymbolError
from cairn.graph.alike import lengths_alike, names_like
from cairn.graph.broken import name_in_half_typed
from cairn.graph.code import Code
from cairn.graph.full_names import find_by_full_name, without_signature
from cairn.graph.leads import definition_at
from cairn.graph.linkage import keeps_to_itself
from cairn.graph.modules.places import n_shared_folders
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, VALUE_KINDS
from cairn.graph.source_file import SourceFile, is_of_platform
from cairn.graph.values import Symbol
from cairn.hints import Hint
from cairn.source.frames import TracebackFrame, file_among, is_place, read_frames
from cairn.source.roles import foreign_word
from cairn.source.text import pluralize
from cairn.storage.index import blob_db, chunk_db
from cairn.types import ON_REST

_MAX_LISTED, _MAX_NEAR = 12, 5
_MOST_NAMESAKES = 50  # that one question is answered for
_MOST_COMPARED = 500  # definitions of one name, to find the counterparts of some of them
_MAX_MARKS = 8  # in a text, behind which it is looked whether what is before them is a path
_Shared = tuple[str, str, bool]  # full name, family of languages, whether it is Kotlin
_BEHIND_PATH = re.compile(r"::?|#")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")
_SEPARATORS = re.compile(r"::|\.|(?<=\w)#|->|\\")  # a private name of JavaScript begins with `#`


def symbol_of(code: Code, node: int) -> Symbol:
    """Return a node as answers show it."""
    source = code.file(file_of(node))
    origin = foreign_word(int(code.snapshot.files.roles[file_of(node)]))
    if place_of(node) < 0:
        return Symbol(source.path, 1, 1, "file", "", source.stale, origin)
    definition = source.definitions[place_of(node)]
    return Symbol(
        source.path,
        definition.span.start_line,
        definition.span.end_line,
        definition.kind,
        definition.qualified_name,
        source.stale,
        origin,
    )


def find_symbol(
    code: Code, connection: sqlite3.Connection, text: str, likely: Collection[str] = frozenset()
) -> list[int]:
    """Return the definitions that a text names: one, or several that are one symbol, such as overloads.

    Args:
        likely: the kinds that are meant where a name has definitions of these and of others.

    Raises:
        UnknownSymbolError: if there is no such symbol; the hint offers the nearest names.
        AmbiguousError: if several symbols match; the message lists them.
    """
    return _the_only(code, text, _known_symbols(code, connection, text, likely))


def _the_only(code: Code, text: str, symbols: list[list[int]]) -> list[int]:
    if len(symbols) > 1:
        raise _ambiguous(code, text, symbols)
    return symbols[0]


def find_namesakes(
    code: Code, connection: sqlite3.Connection, text: str, likely: Collection[str] = frozenset()
) -> list[list[int]]:
    """Return every symbol that a text names, each as its definitions; arguments as for `find_symbol`.

    Raises:
        UnknownSymbolError: as `find_symbol`.
        AmbiguousError: if several files match, or more symbols than one answer can be about.
    """
    return _few(code, text, _known_symbols(code, connection, text, likely))


def find_if_known(code: Code, text: str, likely: Collection[str] = frozenset()) -> list[list[int]]:
    """Return what `find_namesakes` does, nothing if there is no such symbol: to find names like it takes much longer.

    Raises:
        AmbiguousError: as `find_namesakes`.
    """
    return _few(code, text, only_likely(code, find_symbols(code, text), likely))


def _few(code: Code, text: str, symbols: list[list[int]]) -> list[list[int]]:
    """Return some symbols if one answer can be about all of them."""
    is_of_files = any(place_of(node) < 0 for nodes in symbols for node in nodes)
    if len(symbols) > _MOST_NAMESAKES or (is_of_files and len(symbols) > 1):
        raise _ambiguous(code, text, symbols)
    return symbols


def _known_symbols(code: Code, connection: sqlite3.Connection, text: str, likely: Collection[str]) -> list[list[int]]:
    text = text.strip().strip("`")
    symbols = only_likely(code, find_symbols(code, text), likely)
    if not symbols and _is_typed(text):
        file_named(code, text.rpartition(":")[0])
    if not symbols:
        raise UnknownSymbolError(
            f"nothing is called {text!r} here{_said_half_typed(code, text) or _said_of_rest(connection)}",
            _offer(code, connection, text),
        )
    return symbols


def _ambiguous(code: Code, text: str, symbols: list[list[int]]) -> AmbiguousError:
    words = f"{text.strip()!r} may be any of {len(symbols)}: {_options(code, symbols)}"
    return AmbiguousError(words, "name one by its place, as PATH:LINE")


def on_namesakes(text: str, symbols: Sequence[Sequence[int]], n_listed: int | None = None) -> tuple[Hint, ...]:
    """Return what to say of an answer that is about several symbols of a name, of which so many are listed."""
    if len(symbols) < 2:
        return ()
    listed = "" if not n_listed else f", of which {n_listed:,} {'has' if n_listed == 1 else 'have'} any"
    words = f"This is about all {len(symbols):,} definitions called {text.strip()}{listed}; name one as PATH:LINE"
    return (Hint(f"{words} to ask about it alone"),)


def with_counterparts(code: Code, nodes: Sequence[int]) -> list[int]:
    """Return some definitions with those that are the same to whoever uses them.

    A function that C declares has its bodies for counterparts, and what Kotlin declares with `expect` or `actual` has
    the same on the other platforms. Of a name with very many definitions only the nearest files are looked at.
    """
    sought: dict[str, dict[_Shared, int]] = {}
    for node in nodes:
        source, place = code.file(file_of(node)), place_of(node)
        if place >= 0 and (is_of_platform(source, place) or _is_prototype(source, place)):
            sought.setdefault(source.definitions[place].name, {}).setdefault(_shared(source, place), node)
    found = dict.fromkeys(nodes)
    for name, wanted in sought.items():
        for other in _nearest(code, code.nodes_named(name), next(iter(wanted.values()))):
            source, place = code.file(file_of(other)), place_of(other)
            if _shared(source, place) in wanted and _may_be_counterpart(source, place):
                found[other] = None
    return list(found)


def _nearest(code: Code, nodes: Sequence[int], node: int) -> Sequence[int]:
    """Return those of some definitions whose files share most folders with that of a node, all unless they are many."""
    if len(nodes) <= _MOST_COMPARED:
        return nodes
    path = code.paths[file_of(node)]
    nearest = sorted(nodes, key=lambda other: -n_shared_folders(code.paths[file_of(other)], path))
    return sorted(nearest[:_MOST_COMPARED])


def _shared(source: SourceFile, place: int) -> _Shared:
    """Return what counterparts have in common."""
    return source.full_name(place), source.rules.family, source.language == "kotlin"


def _is_prototype(source: SourceFile, place: int) -> bool:
    definition = source.definitions[place]
    is_declared = definition.kind in FUNCTION_KINDS and definition.signature.endswith(";")
    return source.rules.family == "c" and is_declared and not keeps_to_itself(source, place)


def _may_be_counterpart(source: SourceFile, place: int) -> bool:
    if source.language == "kotlin":
        return is_of_platform(source, place)
    return source.definitions[place].kind in FUNCTION_KINDS and not keeps_to_itself(source, place)


def only_likely(code: Code, symbols: list[list[int]], likely: Collection[str]) -> list[list[int]]:
    """Return those of some symbols that are of some kinds, all if none is."""
    fitting = [nodes for nodes in symbols if any(symbol_of(code, node).kind in likely for node in nodes)]
    return fitting or symbols


def find_symbols(code: Code, text: str) -> list[list[int]]:
    """Return all symbols that a text may name, each as its definitions, those of tests and of others' code last.

    The less likely ones are left out.
    """
    text = text.strip().strip("`")
    nodes = _by_place(code, text)
    if nodes is None:
        nodes = _by_name(code, text) or _by_name(code, without_signature(text)) or find_by_full_name(code, text)
        nodes = [node for node in nodes if not _is_section(code, node)]  # the heading of a document defines nothing
    own = _kept_apart(code, nodes)
    groups: dict[tuple[int | str, str], list[int]] = {}
    for node in nodes:
        groups.setdefault(_identity(code, node, own), []).append(node)
    if len(groups) > 1:
        groups = _leave_out_unlikely(code, groups)
    return sorted((_members(code, nodes) for nodes in groups.values()), key=lambda nodes: _is_aside(code, nodes[0]))


def _is_aside(code: Code, node: int) -> bool:
    """Tell whether a definition is of a test, or of code that is generated or of others."""
    number = file_of(node)
    return bool(code.tests[number]) or bool(foreign_word(int(code.snapshot.files.roles[number])))


def _members(code: Code, nodes: Iterable[int]) -> list[int]:
    """Return the nodes with their overloads; thousands may share a name, so each is looked at once."""
    found: set[int] = set()
    for node in nodes:
        if node not in found:
            found.update(code.group(node))
    return sorted(found)


def _kept_apart(code: Code, nodes: Iterable[int]) -> set[int]:
    """Return those of some definitions that files of C keep to themselves, if several do.

    What a single file has is taken for the body of what a header declares.
    """
    own = {node for node in nodes if place_of(node) >= 0 and keeps_to_itself(code.file(file_of(node)), place_of(node))}
    return own if len({file_of(node) for node in own}) > 1 else set()


def _identity(code: Code, node: int, own: Collection[int]) -> tuple[int | str, str]:
    """Return what identifies a symbol: overloads share it, as do the parts of a type that is split over files.

    Args:
        own: definitions that their files keep to themselves.
    """
    if place_of(node) < 0:
        return file_of(node), ""
    source = code.file(file_of(node))
    name = source.definitions[place_of(node)].qualified_name
    whole = source.rules.open_types and source.rules.package in ("all", "package") and node not in own
    return (source.rules.family if whole else file_of(node)), name


def _leave_out_unlikely(
    code: Code, groups: dict[tuple[int | str, str], list[int]]
) -> dict[tuple[int | str, str], list[int]]:
    """Leave out unlikely meanings, such as variables, headings and prototypes, where there are functions or types.

    A value of the project's own code stays where only tests and code of others have a function or type of its name.
    """
    minor = VALUE_KINDS | NAMESPACE_KINDS | {"impl", "section", "test"}
    major = {key: nodes for key, nodes in groups.items() if not all(_is_of(code, node, minor) for node in nodes)}
    if major and all(_is_aside(code, nodes[0]) for nodes in major.values()):
        own = {key: nodes for key, nodes in groups.items() if not _is_aside(code, nodes[0])}
        major |= {key: nodes for key, nodes in own.items() if all(_is_of(code, node, VALUE_KINDS) for node in nodes)}
    return _without_makers(code, major) or major or groups


def _is_of(code: Code, node: int, kinds: Collection[str]) -> bool:
    return place_of(node) >= 0 and code.definition(node).kind in kinds


def _without_makers(
    code: Code, groups: dict[tuple[int | str, str], list[int]]
) -> dict[tuple[int | str, str], list[int]]:
    """Leave out the constructors that have the name of their type where the type is there as well."""
    types = {node for nodes in groups.values() for node in nodes}

    def makes_one(node: int) -> bool:
        if place_of(node) < 0 or code.definition(node).kind != "constructor":
            return False
        return node_of(file_of(node), code.definition(node).parent) in types

    return {key: nodes for key, nodes in groups.items() if not all(map(makes_one, nodes))}


def _options(code: Code, symbols: list[list[int]]) -> str:
    shown = []
    for nodes in symbols[:_MAX_LISTED]:
        symbol = symbol_of(code, nodes[0])
        what = f":{symbol.line} ({symbol.kind} {symbol.name})" if symbol.name else ""
        shown.append(f"{symbol.path}{what}")
    more = len(symbols) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _is_section(code: Code, node: int) -> bool:
    return place_of(node) >= 0 and code.definition(node).kind == "section"


def find_file(code: Code, text: str) -> int | None:
    """Return the file that a path names, whole or by its unambiguous end; None if there is none."""
    files = _files_named(code, text)
    return files[0] if len(files) == 1 else None


def _files_named(code: Code, text: str) -> list[int]:
    """Return the file that a path names, else all whose paths end in it: the project's own if there are any."""
    path = text.removeprefix("./").rstrip("/")
    if path not in code.numbers:  # whose names may have a backslash
        path = path.replace("\\", "/").removeprefix("./").rstrip("/")
    if path in code.numbers or not path:
        return [code.numbers[path]] if path else []
    called = code.called.get(posixpath.basename(path), [])
    files = [number for number in called if code.paths[number].endswith(f"/{path}")]
    own = [number for number in files if not foreign_word(int(code.snapshot.files.roles[number]))]
    return own or files


def file_named(code: Code, text: str) -> int:
    """Return the file that a path names, as `find_file` does.

    Raises:
        UnknownSymbolError: if there is none.
    """
    if (number := find_file(code, text)) is None:
        raise UnknownSymbolError(
            f"no indexed file is called {text!r}", Hint("see what is skipped", "index", skipped=True)
        )
    return number


def _by_place(code: Code, text: str) -> list[int] | None:
    """Return what a path, with a line or a name behind it, means; None if the text begins with no path."""
    files = _files_named(code, text)
    if files and (len(files) == 1 or not _by_name(code, text)):
        return [node_of(number, -1) for number in files]
    for mark in islice(_BEHIND_PATH.finditer(text), _MAX_MARKS):
        if files := _files_named(code, text[: mark.start()]):
            return [node for number in files for node in _in_file(code, number, text[mark.end() :])]
    if _is_typed(text) and not _ABSOLUTE.match(text):  # no frame of a trace: what is not here is no other file
        return None
    meant = ((file_among(frame.path, code.numbers), frame) for frame in read_frames(text))
    found = next(((path, frame) for path, frame in meant if path), None)
    if found is None or _is_another(code, *found):
        return None
    return _by_place(code, f"{found[0]}:{found[1].line}")


def _is_typed(text: str) -> bool:
    """Tell whether a text is `PATH:LINE` and nothing else, as somebody types it."""
    return is_place(text) and not any(mark in text for mark in ' "(')


def _is_another(code: Code, path: str, frame: TracebackFrame) -> bool:
    """Tell whether a frame is of a file on this machine that is not the one with that path in the project."""
    if not _ABSOLUTE.match(frame.path) or not os.path.exists(frame.path):
        return False
    own = code.checkout.root / path
    return not own.exists() or not os.path.samefile(own, frame.path)


def _in_file(code: Code, number: int, text: str) -> list[int]:
    """Return the definitions of a file that a name means, or the innermost on a line."""
    source = code.file(number)
    if text.isdigit():
        place = definition_at(code, source, int(text))
        return [node_of(number, place)] if place >= 0 or int(text) > 0 else []
    return [
        node_of(number, place)
        for place, definition in enumerate(source.definitions)
        if _ends_in(definition.qualified_name, text)
    ]


def _by_name(code: Code, text: str) -> list[int]:
    name = text if not _SEPARATORS.search(text.strip(".")) else _SEPARATORS.split(text)[-1]
    found = (code.nodes_named(name), code.nodes_named(name, are_tests=True))
    fitting = ([node for node in nodes if _ends_in(code.definition(node).qualified_name, text)] for nodes in found)
    return next(filter(None, fitting), [])


def _ends_in(qualified: str, text: str) -> bool:
    wanted = [part for part in _SEPARATORS.split(text) if part]
    return _SEPARATORS.split(qualified)[-len(wanted) :] == wanted or qualified == text


def _last_name(text: str) -> str:
    return _SEPARATORS.split(without_signature(text).rpartition(":")[2])[-1]


def _said_half_typed(code: Code, text: str) -> str:
    """Return where a name stands that a file may define, as it is not understood there; empty for nowhere."""
    name = _last_name(text)
    if not name.isidentifier() or code.nodes_named(name) or (said := name_in_half_typed(code, name)) is None:
        return ""
    return f"; {said.path}:{said.line} says it, in a file whose syntax is not understood from line {said.error_line} on"


def _said_of_rest(connection: sqlite3.Connection) -> str:
    """Return that not all definitions of some files are known, empty if all are."""
    count = blob_db.count_noted(connection, ON_REST)
    return f"; of {pluralize(count, 'file')} {ON_REST.replace('its', 'the')}" if count else ""


def _offer(code: Code, connection: sqlite3.Connection, text: str) -> str:
    name = _last_name(text)
    namesakes = code.nodes_named(name)
    if near_by := [node for node in namesakes if not _is_section(code, node)][:_MAX_NEAR]:
        return Hint(
            f"did you mean {_options(code, [[node] for node in near_by])}? Or look for it", "search", query=name
        )
    if namesakes:
        place, count = symbol_of(code, namesakes[0]), pluralize(len(code.mentions.saying(name)), "file")
        words = f"only documents have a part of that name, such as {place.path}:{place.line}; list the lines of {count}"
        return Hint(f"{words} that say it", "search", query=name, mode="literal")
    names = chunk_db.definition_names(connection, code.view_id, lengths_alike(name))
    if _looks_like_file(code, text):
        name, names = posixpath.basename(text), list({posixpath.basename(path) for path in code.paths})
    if near := names_like(names, name, _MAX_NEAR):
        return Hint(f"did you mean {', '.join(near)}? Or look for it", "search", query=name or text)
    return Hint("look for it", "search", query=name or text)


def _looks_like_file(code: Code, text: str) -> bool:
    """Tell whether a text ends as the names of some files do."""
    ending = posixpath.splitext(text)[1]
    return bool(ending) and any(path.endswith(ending) for path in code.paths)
