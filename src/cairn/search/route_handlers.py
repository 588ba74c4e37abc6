"""Finds what handles a route that only names it: a function, a class, or an action of a controller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.search.exact import LineMatch
from cairn.search.library import Library, line_at
from cairn.search.query import SCOPE_MARK
from cairn.search.request_text import METHODS, RequestLine
from cairn.search.route_templates import LEADING, MAX_LINE
from cairn.source.roles import FOREIGN, Role
from cairn.storage.index import chunk_db

_MAX_NAMESAKES, _MAX_LINES = 100, 6  # definitions of a name, and lines of the statement that declares a route
_MAX_NAMES = 20  # that may be those of a handler
_ASIDE = int(Role.TEST | Role.EXAMPLE | Role.DOCS | FOREIGN)

# How routes name actions: `'articles#show'`, `'Articles@show'`, `[Articles::class, 'show']`, `Articles, :show`.
_ACTION = re.compile(
    r"[\"'](?:\w+[/\\])*(?P<owner>\w+)[#@:](?P<name>\w+)[\"']"
    r"|\b(?P<class>[A-Z]\w*)(?:::class)?\s*,\s*(?:[\"'](?P<method>\w+)[\"']|:(?P<atom>\w+))"
)
_CONTROLLER = re.compile(r"\b([A-Z]\w*(?:Controller|ViewSet))\b")
_OF_CONTROLLER = re.compile(r"\b([A-Z]\w*(?:Controller|ViewSet))(?:\.|::)(?!(?:class|as_view|bind)\b)(\w+)")
_RESOURCE = re.compile(r"\b(?:apiR|r)esource(s?)\b")
# The usual names of the actions of a resource.
_UPDATE, _DELETE = ("update", "partial_update"), ("destroy", "delete")
_OF_ONE = {"GET": ("show", "retrieve"), "PUT": _UPDATE[:1], "PATCH": _UPDATE[::-1], "DELETE": _DELETE}
_OF_ALL = {"GET": ("index", "list"), "POST": ("create", "store")}
_INLINE = re.compile(r"\bfunction\b|=>|->\s*\{|\bfunc\s*\(|\bfn\s*\(|\blambda\b|\bdo\s*(?:\||$)|\{\s*$")
_IN_QUOTES = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)\w+)*(?![\w.]|\s*(?:=(?!=)|:(?!:)))")  # but for the name of an argument
_VERBS = frozenset(METHODS.split("|"))
_WRAPPERS = frozenset({"as_view", "bind", "class", "to"})
_PLAIN = re.compile(r"[^a-z0-9]")


class _Handler(NamedTuple):
    """A handler as a route names it; `owner` is what stands before its name, or around it.

    `is_usual`: only the owner is named, so that it must be where the handler is.
    """

    owner: str
    name: str
    is_usual: bool = False


def handler_of(library: Library, route: LineMatch, lines: Sequence[str], request: RequestLine) -> LineMatch | None:
    """Return the line that defines what handles a route, None if the route has it in itself or does not tell.

    Args:
        library: of the project.
        route: the line that declares it.
        lines: of its file.
        request: what fits the route.
    """
    if not request.segments:
        return None
    for handler in islice(_named_in(_statement(lines, route.start_line), request), _MAX_NAMES):
        if (line := _definition(library, route.file, handler)) is not None:
            return line
    return None


def _statement(lines: Sequence[str], number: int) -> str:
    """Return a line with those after it that belong to its brackets."""
    text = lines[number - 1][:MAX_LINE]
    for line in lines[number : number + _MAX_LINES]:
        n_open = text.count("(") - text.count(")")
        if n_open < 0 or (n_open == 0 and (")" in text or not text.rstrip().endswith(","))):
            break
        text = f"{text}\n{line[:MAX_LINE]}"
    return text


def _named_in(statement: str, request: RequestLine) -> Iterator[_Handler]:
    """Yield what may handle a request by the statement that declares its route, the most probable first."""
    for match in _ACTION.finditer(statement):
        yield _Handler(match["owner"] or match["class"], match["name"] or match["method"] or match["atom"])
    yield from (_Handler(owner, name) for owner, name in _OF_CONTROLLER.findall(statement))
    controllers, resource = _CONTROLLER.findall(statement), _RESOURCE.search(statement)
    if controllers or resource:
        is_of_all = re.search(rf"\b{re.escape(request.segments[-1])}\b", statement, re.IGNORECASE) is not None
        usual = _OF_ONE if not is_of_all else _OF_ALL if resource is None or resource[1] else {**_OF_ALL, **_OF_ONE}
        names = usual.get(request.method or "GET", ())
        owners = [*controllers, *(one for one in request.segments[::-1] if not LEADING.fullmatch(one))]
        yield from (_Handler(owner, name, True) for owner in owners for name in names)
        yield from (_Handler("", name) for name in controllers)
    elif not _INLINE.search(statement):
        plain = _IN_QUOTES.sub(" ", statement)
        if request.method and (own := re.search(rf"(?i)\b{request.method}\(\s*({_DOTTED.pattern})", plain)):
            yield _dotted(own[1])
        handlers = map(_dotted, reversed(_DOTTED.findall(plain)))
        yield from (each for each in handlers if each.name.upper() not in _VERBS)  # of the call that declares the route


def _dotted(text: str) -> _Handler:
    parts = [part for part in re.split(r"\.|::", text) if part not in _WRAPPERS] or [""]
    return _Handler(parts[-2] if len(parts) > 1 else "", parts[-1])


def _definition(library: Library, file: int, handler: _Handler) -> LineMatch | None:
    """Return the first line of the only definition that a handler may mean, of several the one in its folder."""
    snapshot = library.snapshot
    named = chunk_db.definitions_called(library.connection, handler.name, _MAX_NAMESAKES)
    rows = snapshot.rows_of_chunks(np.array([one.chunk_id for one in named], dtype=np.int64)).tolist()
    found = [
        (int(snapshot.file_of_row[row]), one)
        for row, one in zip(rows, named, strict=True)
        if row >= 0 and one.kind in FUNCTION_KINDS | TYPE_KINDS
    ]
    found = [(own, one) for own, one in found if own >= 0 and not int(snapshot.files.roles[own]) & _ASIDE]
    if handler.owner:
        owner = _folded(handler.owner)
        around = [
            (own, one)
            for own, one in found
            if owner in _folded(".".join([snapshot.files.paths[own], *SCOPE_MARK.split(one.qualified_name)[:-1]]))
        ]
        may_be_variable = handler.owner[0].islower() and not handler.is_usual and len(found) == 1
        found = around or (found if may_be_variable else [])
    folder = snapshot.files.paths[file].rpartition("/")[0]
    beside = [each for each in found if snapshot.files.paths[each[0]].rpartition("/")[0] == folder]
    found = [each for each in beside if each[0] == file] or beside or found
    if len(found) != 1:
        return None
    number, definition = found[0]
    at = chunk_db.definitions_at(library.connection, [definition.id])[definition.id]
    return line_at(library, number, at.span.start_line)


def _folded(name: str) -> str:
    """Return a name as it is compared: its letters and digits, one thing for several."""
    return _PLAIN.sub("", name.lower().removesuffix("s"))
