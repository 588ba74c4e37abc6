"""Finds the definitions that a query names, and puts those that are probably meant first."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.index.snapshot import Snapshot
from cairn.kernels.grouping import group
from cairn.search.file_finder import MAX_ALIKE, finder_of, has_known_ending, module_parts, parts_of_path
from cairn.search.filters import Filtered
from cairn.search.likely_files import files_like
from cairn.search.query import MINOR_KINDS, SCOPE_MARK, Name, Query, looks_named
from cairn.search.relations import KINDS
from cairn.search.subject import NAME_BIT
from cairn.source.roles import ASIDE, Role
from cairn.source.terms import known_hash, terms_of_word
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import NamedDefinition

if TYPE_CHECKING:
    from cairn.search.score import Scope, Scores

MAX_NAMESAKES = 200
MAX_MINOR_NAMESAKES = 3
_MAX_UNSURE = 3  # definitions of a plain word that come first where the word may be meant as prose
_DECIMALS = 5  # a difference that only comes from the order of summing is a tie, which the path decides
_FURTHER_KINDS = frozenset({"impl", "extension", "constructor", "destructor"})  # they belong to a type of that name
_HEADER, _TYPINGS = re.compile(r"\.(h|hh|hpp|hxx)$"), re.compile(r"\.(pyi|d\.[mc]?ts)$")
_BETWEEN_PARTS = re.compile(r"[/.]")
_HOLDERS = frozenset({"enum", "constant", "variable"})  # of members that are no definitions
_VALUES, _MEMBERS = frozenset({"constant", "variable"}), frozenset({"method", "callback"})
_DEEPEST = 1_000  # folders; no file is as deep
_FEWEST = 2  # definitions, of which one can be meant rather than the others
_MAIN, _VALUE, _MEMBER, _MINOR = range(4)
# `Client#push` is a method of objects, and in Ruby `Client.push` one of the class; how one of a class is defined.
_OF_OBJECTS, _OF_CLASS = re.compile(r"\w#\w+[?!=]?(?:\(\))?$"), re.compile(r"\w(?:\.|::)[a-z_]\w*[?!=]?(?:\(\))?$")
_DEFINES_FOR_CLASS = re.compile(r"\s*(?:def \w+\.|(?:\w+ ){0,3}static\b)")
_INSIDE, _IN_MODULE, _OUTSIDE = range(3)


Lack = Literal["", "name", "scope", "file"]


class NamedRow(NamedTuple):
    """A row with a definition that is named, by its number in its file; None if the file is named.

    `is_likely`: it is more than a field, and not in a test or the like.
    """

    row: int
    file: int
    definition: int | None
    is_likely: bool = False


class NamedRows(NamedTuple):
    """What a query names, best first, and what of it is not there: the name, only its scope around it, or the file."""

    rows: list[NamedRow]
    lacks: Lack = ""

    @property
    def n_meant(self) -> int:
        """How many of the first one of them may be: those that are likely, if the first is, else all."""
        return next((place for place, one in enumerate(self.rows) if not one.is_likely), 0) or len(self.rows)


def named_rows(
    snapshot: Snapshot, connection: sqlite3.Connection, query: Query, filters: Filtered, scope: Scope, scores: Scores
) -> NamedRows:
    """Return what the query names as a whole: the files of a path, then the definitions of a name, or of all listed."""
    if query.listed:
        return NamedRows(_listed_rows(snapshot, connection, query, filters, scope, scores))
    if not filters.kinds and (called := _files_called(snapshot, connection, query)):
        return NamedRows(_first_rows(called, scope, scores))
    defined, lacks = _definitions(snapshot, connection, query, filters, scope, scores)
    if filters.kinds:
        return NamedRows(defined, lacks)
    numbers = _files(snapshot, query, is_defined=bool(defined)) or _files_documented(snapshot, query, defined)
    if not numbers and (not defined or lacks == "scope"):
        like = files_like(finder_of(snapshot), query.path)
        if like or (_is_path_of_file(query.path) and not query.path.startswith("/")):  # that may be a route
            return NamedRows(_first_rows(like, scope, scores), "file")
    files = _first_rows(numbers, scope, scores)
    if files and lacks == "scope":  # `options.go` is no method `go` of something else
        defined = []
    shown = {one.file for one in files}
    return NamedRows([*files, *(one for one in defined if one.file not in shown)], "" if files else lacks)


def _files_called(snapshot: Snapshot, connection: sqlite3.Connection, query: Query) -> list[int]:
    """Return the files that can only be meant: that of a whole path, or those with a name such as `Dockerfile`.

    What is defined counts more than a name without an ending, and the project's own files more than those of tests.
    """
    finder = finder_of(snapshot)
    if query.path:
        return finder.exactly(query.path.removeprefix("./"))
    if query.named is None or query.named.scope or not (files := finder.files_by_name.get(query.named.last)):
        return []
    found = chunk_db.find_definitions(connection, query.named.last, snapshot.are_shown)
    if any(one.name == query.named.last for one in found):
        return []
    roles, paths = snapshot.files.roles, snapshot.files.paths
    aside = int((ASIDE & ~Role.CONFIG) & ~query.wants)
    likelihood = {file: (bool(int(roles[file]) & aside), paths[file].count("/")) for file in files}
    best = min(likelihood.values())
    return sorted(
        (file for file in files if len(files) <= MAX_ALIKE or likelihood[file] == best), key=likelihood.__getitem__
    )[:MAX_ALIKE]


def _listed_rows(
    snapshot: Snapshot, connection: sqlite3.Connection, query: Query, filters: Filtered, scope: Scope, scores: Scores
) -> list[NamedRow]:
    """Return the definitions of listed names by turns. A list of mere capitals is one of types, or it is prose."""
    asked = [query._replace(named=name, listed=()) for name in query.listed]
    found = [_definitions(snapshot, connection, one, filters, scope, scores).rows for one in asked]
    if "`" not in query.text and not any(looks_named(name.last) for name in query.listed):
        types = [_types(snapshot, connection, name, scope) for name in query.listed]
        found = [
            [one for one in rows if (one.row, one.definition) in own] for rows, own in zip(found, types, strict=True)
        ]
        if not all(found):
            return []
    listed = dict.fromkeys(one for turn in zip_longest(*found) for one in turn if one is not None)
    members = _members(snapshot, connection, query.listed, scope)
    return sorted(listed, key=lambda one: (one.row, one.definition) not in members)


def _types(snapshot: Snapshot, connection: sqlite3.Connection, name: Name, scope: Scope) -> set[tuple[int, int | None]]:
    """Return the types of exactly a name in the project's own code."""
    found = namesakes(snapshot, connection, name, scope)
    of_name = [(row, one) for row, one in found if one.kind in TYPE_KINDS and one.name == name.last]
    roles = snapshot.files.roles
    return {(row, one.ordinal) for row, one in of_name if not roles[scope.file_of_row[row]] & int(ASIDE)}


def _members(
    snapshot: Snapshot, connection: sqlite3.Connection, names: Sequence[Name], scope: Scope
) -> set[tuple[int, int | None]]:
    """Return the definitions that a list of two names means if the second is a member of the first: `Store load`."""
    owner, last = names[0], names[-1].last
    member = Name(last, ".".join(filter(None, [owner.scope, owner.last])))
    found = namesakes(snapshot, connection, member, scope) if len(names) == 2 else []
    return {(row, one.ordinal) for row, one in found if is_within_scope(one.qualified_name, member)}


def _definitions(
    snapshot: Snapshot, connection: sqlite3.Connection, query: Query, filters: Filtered, scope: Scope, scores: Scores
) -> NamedRows:
    """Return the definitions of a name: one of each file first, and of these the ones that are most probably meant.

    First come those in the scope that the name gives; types and functions before fields; code before tests, generated
    and vendored files; bodies before declarations; types before functions, such as their constructors; the file that is
    called like the name. Then the score decides. When a plain word names many fields or keys, they are probably not
    what is meant, and only their scores count. A member that is no definition itself stands in its enum.
    """
    if (name := query.named) is None:
        return NamedRows([])
    aside = int(ASIDE & ~query.wants)
    namesake = namesakes(snapshot, connection, name, scope)
    if query.kinds == KINDS["interface"] and query.asked is not None and not name.scope:  # as C# and others call them
        namesake += namesakes(snapshot, connection, Name(f"I{name.last}"), scope)
    within = _placed(snapshot, namesake, name, scope)
    if name.scope:  # in another style, a name means what is in its scope alone
        namesake = [each for each in namesake if each in within or each[1].name.lower() == name.last.lower()]
    found = _kept(namesake, query, name, filters, scores)
    roles, files = snapshot.files.roles, scope.file_of_row
    if not looks_named(name.last) and all(int(roles[files[row]]) & aside for row, _ in found):
        # The `resolver` of a test does not hide the class `Resolver`.
        own = [(row, one) for row, one in namesake if not int(roles[files[row]]) & aside]
        found = _kept(own, query, name, filters, scores) or found
    if name.scope and not any(one.kind != "section" for _, one in within):
        owner = owner_of(name)
        owners = _kept(namesakes(snapshot, connection, owner, scope), query, owner, filters, scores)
        holders = _holders(snapshot, owners, name, scope)
        if found:  # the `app` of a test, or of another scope, does not hide the method that `web.app.route` means
            holders = _placed(snapshot, holders, owner, scope)
            holders = [each for each in holders if not int(snapshot.files.roles[scope.file_of_row[each[0]]]) & aside]
        if holders:
            found, name, namesake = holders, owner, holders
    entries: list[_Entry] = []
    of_others = _of_class_or_objects(snapshot, connection, query, found, scope) if name.scope else frozenset()
    for row, definition in found:
        file = int(scope.file_of_row[row])
        path = snapshot.files.paths[file]
        likelihood = (
            _place_in_scope(path, definition.qualified_name, name),
            (int(snapshot.files.roles[file]) & aside) > 0 or _is_in_tests(definition.qualified_name, query),
            _kind_order(definition.kind, is_asked=query.asked is not None),
            definition.id in of_others,
            definition.kind in _FURTHER_KINDS or _is_in_namesake(definition),
            _only_declares(path, definition),
            definition.kind not in TYPE_KINDS,
            path.count("/") if _is_called_like(path, name) else _DEEPEST,
            -round(float(scores.total[row]), _DECIMALS),
            file,
        )
        is_likely = not likelihood[1] and likelihood[2] < _MINOR
        entries.append(_Entry(likelihood, NamedRow(row, file, definition.ordinal, is_likely)))
    entries = sorted(_without_others(entries, query, name))
    rows = _one_of_each_file([entry.named for entry in entries], alone=query.asked is not None)
    if not namesake:
        return NamedRows(rows, "name")
    return NamedRows(rows, "scope" if entries and entries[0].likelihood[0] == _OUTSIDE else "")


def _of_class_or_objects(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    query: Query,
    found: Sequence[tuple[int, NamedDefinition]],
    scope: Scope,
) -> frozenset[int]:
    """Return the ids of methods of a class where a name means one of objects, or the other way around."""
    text = query.asked.name if query.asked else query.text
    of_objects = _OF_OBJECTS.search(text) is not None
    if len(found) < _FEWEST or not (of_objects or _OF_CLASS.search(text)):
        return frozenset()
    names, languages = snapshot.files.language_names, snapshot.files.languages
    own = {one.id for row, one in found if of_objects or names[languages[scope.file_of_row[row]]] == "ruby"}
    definitions = chunk_db.definitions_at(connection, sorted(own))
    return frozenset(
        number for number, one in definitions.items() if bool(_DEFINES_FOR_CLASS.match(one.signature)) == of_objects
    )


def _placed(
    snapshot: Snapshot, found: Sequence[tuple[int, NamedDefinition]], name: Name, scope: Scope
) -> list[tuple[int, NamedDefinition]]:
    """Return those of some definitions that are in the scope of a name, or in a module of it."""
    paths, files = snapshot.files.paths, scope.file_of_row
    return [
        (row, one) for row, one in found if _place_in_scope(paths[files[row]], one.qualified_name, name) != _OUTSIDE
    ]


def _holders(
    snapshot: Snapshot, owners: Sequence[tuple[int, NamedDefinition]], name: Name, scope: Scope
) -> list[tuple[int, NamedDefinition]]:
    """Return the enums and constants that may hold a member that is no definition: their files have its word."""
    owner, files = owner_of(name).last, _files_with(snapshot, name.last)
    return [
        (row, one)
        for row, one in owners
        if one.kind in _HOLDERS and one.name == owner and int(scope.file_of_row[row]) in files
    ]


def means_name(query: Query) -> bool:
    """Tell whether a query can only mean a definition: it asks for one, or no word of prose is written like it."""
    if query.named is None:
        return False
    if query.asked is not None:
        return query.asked.is_sure
    return looks_named(query.named.last) or query.named.scope[:1].isupper() or "::" in query.text


def _files_with(snapshot: Snapshot, word: str) -> set[int]:
    """Return the files in which a word stands, as far as the index knows."""
    terms = terms_of_word(word)[1]
    return set(snapshot.file_of_row[snapshot.term_rows([known_hash(terms[-1])]).rows].tolist()) if terms else set()


def _files(snapshot: Snapshot, query: Query, *, is_defined: bool) -> list[int]:
    """Return the files that the query names by its folder or path, as a module, or without its ending.

    The last two count if nothing defines them.
    """
    finder, paths = finder_of(snapshot), snapshot.files.paths
    parts = parts_of_path(query.path)
    if not parts:
        if query.named is None or is_defined:
            return []
        if looks_named(query.named.last):
            return finder.by_stem(query.named.last)
        own = [] if query.named.scope or query.asked else _code_called(snapshot, query.named.last)
        return own if len(own) == 1 else []
    roles, aside = snapshot.files.roles, int(ASIDE & ~query.wants)
    files = finder.exactly(query.path) or finder.in_folder(query.path)
    if not files:
        files = [
            file
            for file in finder.by_path(query.path)
            if (common := finder.n_common(query.path, file)) == len(parts) or 1 < common == paths[file].count("/") + 1
        ]
        files = sorted(files, key=lambda file: (bool(int(roles[file]) & aside), paths[file].count("/")))
    if not files and not is_defined and not _is_path_of_file(query.path):
        files = finder.by_module(query.path.replace("/", ".")) or finder.by_stem(query.path)
        if not _BETWEEN_PARTS.search(query.path):  # what code says as `content-type` is not what a document is about
            files = [file for file in files if not int(roles[file]) & aside]
    return files


def _files_documented(snapshot: Snapshot, query: Query, defined: Sequence[NamedRow]) -> list[int]:
    """Return the files of code that are called like a plain name which only documents have, such as a command."""
    roles = snapshot.files.roles
    if query.named is None or query.named.scope or not defined:
        return []
    if not all(int(roles[one.file]) & int(Role.DOCS) for one in defined):
        return []
    return _code_called(snapshot, query.named.last)


def _code_called(snapshot: Snapshot, stem: str) -> list[int]:
    """Return the project's own files that are called so but for their ending, none that is aside."""
    return [file for file in finder_of(snapshot).by_stem(stem) if not int(snapshot.files.roles[file]) & int(ASIDE)]


def _is_path_of_file(path: str) -> bool:
    return "/" in path and "://" not in path and has_known_ending(path)


def _first_rows(files: Sequence[int], scope: Scope, scores: Scores) -> list[NamedRow]:
    if not files:
        return []
    rows = np.flatnonzero(np.isin(scope.file_of_row, files))
    of_files, places, _ = group(scope.file_of_row[rows])
    first = dict(zip(of_files.tolist(), rows[places].tolist(), strict=True))
    scores.settle(rows=np.array(list(first.values()), dtype=np.int64))
    return [NamedRow(first[file], file, None) for file in files if file in first]


class _Entry(NamedTuple):
    """A definition with what tells how probably it is meant: the least is the most probable.

    `likelihood` has the place in the scope, whether the file is a minor one, the order of the kind, and more.
    """

    likelihood: tuple[float, ...]
    named: NamedRow

    @property
    def is_minor(self) -> bool:
        return self.likelihood[2] >= _MINOR

    @property
    def is_aside(self) -> bool:
        return bool(self.likelihood[1])


def _kind_order(kind: str, *, is_asked: bool) -> int:
    """Return which kinds are meant before others; who asks where a name is defined means no member first."""
    if kind in MINOR_KINDS:
        return _VALUE if is_asked and kind in _VALUES else _MINOR
    return _MEMBER if is_asked and kind in _MEMBERS else _MAIN


def _kept(
    found: Sequence[tuple[int, NamedDefinition]], query: Query, name: Name, filters: Filtered, scores: Scores
) -> list[tuple[int, NamedDefinition]]:
    """Return those of some definitions that can be meant; a question may have the wrong kind, a name the wrong case."""
    scores.settle(rows=np.array([row for row, _ in found], dtype=np.int64))
    found = [
        (row, one)
        for row, one in found
        if np.isfinite(scores.total[row]) and (not filters.kinds or one.kind in filters.kinds)
    ]
    exact = [
        (row, one)
        for row, one in found
        if one.name == name.last or (name.scope and is_within_scope(one.qualified_name, name, any_case=True))
    ]
    of_kinds = [(row, one) for row, one in found if one.kind in query.kinds]
    if query.asked is not None and not query.asked.is_sure:  # `the response class` is `Response`
        if query.kinds and name.last.islower():
            return of_kinds
        return [one for one in exact if not query.kinds or one in of_kinds]
    exact_of_kinds = [one for one in of_kinds if one in exact]
    if exact and (exact_of_kinds or not query.kinds or not name.last.islower()):  # `the plugin interface` is `Plugin`
        found, of_kinds = exact, exact_of_kinds
    return of_kinds if query.kinds and (of_kinds or query.asked is None) else list(found)


def _without_others(entries: list[_Entry], query: Query, name: Name) -> list[_Entry]:
    """Leave out what a name with a scope, or a plain word, does not mean."""
    if name.scope:  # `Other.name` is not what `Scope.name` asks for
        best = min((entry.likelihood[0] for entry in entries), default=_OUTSIDE)
        is_strict = not query.asked.is_sure if query.asked else bool(query.kinds)
        if best < _OUTSIDE or is_strict:
            entries = [entry for entry in entries if entry.likelihood[0] == best < _OUTSIDE]
    is_plain_word = not name.scope and not looks_named(name.last)
    if is_plain_word and sum(entry.is_minor for entry in entries) > MAX_MINOR_NAMESAKES:
        entries = [entry for entry in entries if not entry.is_minor]
    if query.asked is not None and not query.asked.is_sure:
        entries = sorted(entry for entry in entries if not entry.is_minor and not entry.is_aside)[:_MAX_UNSURE]
    return entries


def _one_of_each_file(rows: Sequence[NamedRow], *, alone: bool) -> list[NamedRow]:
    """Put the first of each file first, then all others unless the first ones are to stand alone."""
    first: dict[int, NamedRow] = {}
    for one in rows:
        first.setdefault(one.file, one)
    return list(first.values()) if alone else [*first.values(), *(one for one in rows if first[one.file] != one)]


def _place_in_scope(path: str, qualified_name: str, name: Name) -> int:
    """Return whether a definition is inside the scope of a name, at least in a module or folder of it, or outside."""
    if is_within_scope(qualified_name, name, any_case=True):
        return _INSIDE
    parts = (*module_parts(path), *SCOPE_MARK.split(qualified_name)[:-1])
    around = iter([_folded(piece) for part in parts for piece in part.split(".")])
    return _IN_MODULE if all(_folded(part) in around for part in name.scope.split(".") if part) else _OUTSIDE


def may_be_named(path: str, qualified_name: str, name: Name) -> bool:
    """Tell whether a definition of the last part of a name may be what all of it means, and is not elsewhere."""
    return not name.scope or _place_in_scope(path, qualified_name, name) != _OUTSIDE


def is_within_scope(qualified_name: str, name: Name, *, any_case: bool = False) -> bool:
    """Tell whether a qualified name ends in the scope and the name, in whole parts, or in any case or style."""
    wanted, parts = [*filter(None, name.scope.split(".")), name.last], SCOPE_MARK.split(qualified_name)
    if any_case:
        wanted, parts = list(map(_folded, wanted)), list(map(_folded, parts))
    return not name.scope or parts[-len(wanted) :] == wanted


def owner_of(name: Name) -> Name:
    """Return the name that the scope of a name is."""
    scope, _, last = name.scope.rpartition(".")
    return Name(last, scope)


def _is_in_tests(qualified_name: str, query: Query) -> bool:
    """Tell whether a definition stands in a module of tests beside the code, as in Rust."""
    return "tests" in SCOPE_MARK.split(qualified_name)[:-1] and not query.wants & Role.TEST


def _is_in_namesake(definition: NamedDefinition) -> bool:
    """Tell whether a function stands right in one of its own name, such as the middleware that `cors` returns."""
    return definition.kind in FUNCTION_KINDS and SCOPE_MARK.split(definition.qualified_name)[-2:-1] == [definition.name]


def _only_declares(path: str, definition: NamedDefinition) -> bool:
    """Tell whether a function stands in a header, where its body seldom is, or anything in typings."""
    return _TYPINGS.search(path) is not None or (definition.kind in FUNCTION_KINDS and _HEADER.search(path) is not None)


def _is_called_like(path: str, name: Name) -> bool:
    own = _folded(module_parts(path)[-1])
    return own in {_folded(part) for part in (name.last, *name.scope.split(".")[-1:])}


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def namesakes(
    snapshot: Snapshot, connection: sqlite3.Connection, name: Name, scope: Scope
) -> list[tuple[int, NamedDefinition]]:
    """Return the definitions in scope that have a name, in upper or lower case, each with its row.

    Where nothing has it, those that have it in another style: `get_user_name` is also `getUserName`.

    Those inside the scope that the name gives come first, then those in the same case, then the rest, by path. With
    more than `MAX_NAMESAKES` no single one can be meant; which ones are dropped does not depend on other views.
    """
    definitions = chunk_db.find_definitions(connection, name.last, snapshot.are_shown)
    definitions = definitions or _in_another_style(snapshot, connection, name)
    if not definitions:
        return []
    rows = snapshot.rows_of_chunks(np.array([definition.chunk_id for definition in definitions], dtype=np.int64))
    files = np.where(rows >= 0, scope.file_of_row[rows], -1)
    order = [
        (
            not is_within_scope(definition.qualified_name, name),
            definition.name != name.last,
            file,
            definition.ordinal,
            row,
            definition,
        )
        for definition, row, file in zip(definitions, rows.tolist(), files.tolist(), strict=True)
        if file >= 0
    ]
    return [entry[-2:] for entry in sorted(order)[:MAX_NAMESAKES]]


def _in_another_style(snapshot: Snapshot, connection: sqlite3.Connection, name: Name) -> list[NamedDefinition]:
    """Return the definitions whose names differ from one in nothing but case and underscores."""
    folded = "".join(terms_of_word(name.last)[0])
    found = snapshot.term_rows([known_hash(folded)])
    rows = found.rows[(found.fields & NAME_BIT) > 0][:MAX_NAMESAKES]
    return [
        NamedDefinition(row.id, row.chunk.definitions[0] + place, one.kind, one.name, one.qualified_name)
        for row in chunk_db.read_chunks(connection, snapshot.chunk_ids(rows.tolist())).values()
        for place, one in enumerate(row.definitions)
        if _folded(one.name) == folded
    ]
