"""Finds the names that a query of one word may mean where nothing has that name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cairn.hints import Hint
from cairn.loading import load
from cairn.search.file_finder import finder_of
from cairn.search.library import Library
from cairn.search.named import means_name
from cairn.search.query import Query
from cairn.source.terms import terms_of_word
from cairn.storage.index import chunk_db, view_db

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest

_MAX_COMPARED = 40_000  # rows of a project whose names are compared with one that nothing has: 0.03 s in 23,000
_MAX_MEANT, _LEAST_ALIKE = 5, 0.7  # names that a misspelt word may mean, and how like it they are, 0 to 1
_SURELY_ALIKE = 0.8  # of a name whose definitions are shown


class NamesMeant(NamedTuple):
    """The word that a query is, empty if it is none or filters hide names, and the names that are like it."""

    word: str
    near: list[str]

    @property
    def surely(self) -> list[str]:
        """The first of the names, if it is so much like the word that its definitions are shown."""
        like: list[str] = load("cairn.graph.alike:names_like")(self.near[:1], self.word, 1, _SURELY_ALIKE)
        return like


def names_meant(library: Library, query: Query, request: SearchRequest) -> NamesMeant:
    """Return what a query of one word may mean if nothing has that name."""
    word = query.named.last if query.named else query.text
    view = view_db.find_view(library.connection, library.reader.view.name)
    if view is None or not word.isidentifier() or request.kinds or request.languages or request.globs:
        return NamesMeant("", [])
    if library.snapshot.n_rows > _MAX_COMPARED:
        return NamesMeant(word, [])
    lengths = load("cairn.graph.alike:lengths_alike")(word, _LEAST_ALIKE)
    every = chunk_db.definition_names(library.connection, view.id, lengths)
    names = [name for name in every if name[:1].isidentifier() and " " not in name]
    names += sorted(finder_of(library.snapshot).files_by_module)
    like: list[str] = load("cairn.graph.alike:names_like")(names, word, _MAX_MEANT, _LEAST_ALIKE)
    near = [name for name in like if _may_be_typed_for(name, word)]
    is_there = word in near or query.text in near  # of another kind than the query says, or a key with dots
    return NamesMeant("", []) if is_there else NamesMeant(word, near)


def _may_be_typed_for(name: str, word: str) -> bool:
    """Tell whether somebody who types a word may mean a name that is like it: few err in the first letter.

    Names with a word in common may be meant as well, but not `Plugin` for `login`.
    """
    is_begun_so = name.lstrip("_$@")[:1].lower() == word.lstrip("_$@")[:1].lower()
    return is_begun_so or not set(terms_of_word(name)[0]).isdisjoint(terms_of_word(word)[0])


def notes_on_names_meant(query: Query, meant: NamesMeant) -> list[str]:
    """Return a note that nothing is called like a query of one word, with the names that are like it."""
    if meant.near:
        words = f"The index has no definition called {meant.word!r}; like it are {', '.join(meant.near)}"
        return [Hint(words, "search", query=meant.near[0])]
    says_all = meant.word and query.named and means_name(query)
    return [f"The index has no definition called {meant.word!r}."] if says_all else []
