"""What questions to the history need of the search: the terms of a query, and the definitions that it names."""

from __future__ import annotations

from typing import NamedTuple

from cairn.answers import CodeHit
from cairn.facets.project_index import ProjectIndex
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.history.score import Weighted
from cairn.protocol.requests import SearchRequest
from cairn.search.answer import respond
from cairn.search.asked_name import is_shaped_name
from cairn.search.query import Query, understand

# What a plain word in lower case may name. Such a word is seldom meant as that of a value.
_NAMED_BY_WORDS = FUNCTION_KINDS | TYPE_KINDS


class NamedDefinitions(NamedTuple):
    """The definitions that a query names, the best first.

    `is_cut`: there may be more. `is_word`: the query is a plain word in lower case, which may be meant as one.
    """

    definitions: list[CodeHit]
    is_cut: bool = False
    is_word: bool = False


class NamedCode:
    """Reads queries to the history of a project."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    def terms_of(self, query: str) -> list[Weighted]:
        """Return the terms of a query, those of them that are kept of a commit's message: no number or single letter.

        Raises:
            QueryError: if it is empty.
        """
        terms = understand(query, "hybrid").terms
        kept = [term for term in terms if len(term.text) > 1 and not term.text.isdigit()]
        return [Weighted(term.hashed, term.weight) for term in kept]

    def may_name(self, query: str) -> bool:
        """Tell whether a query has the form of a name, and there is an index that may know it."""
        return understand(query).named is not None and self._is_indexed

    def needs_index(self, query: str, *, may_be_word: bool) -> bool:
        """Tell whether only an index, which there is not, could know the definition that a query may name.

        Args:
            query: the query.
            may_be_word: whether a plain word counts as a name, too.
        """
        is_name = understand(query).named is not None and (may_be_word or is_shaped_name(query))
        return is_name and not self._is_indexed

    @property
    def _is_indexed(self) -> bool:
        return self._index.writer.is_indexed(self._index.views.checkout)

    def definitions_of(self, name: str, most: int) -> NamedDefinitions:
        """Return the definitions that a query names as a whole; none if it is not a name, or nothing is indexed.

        Args:
            name: the query.
            most: how many hits are looked at.
        """
        query = understand(name)
        if query.named is None or not self.may_name(name):
            return NamedDefinitions([])
        request = SearchRequest(query=name, type="code", limit=most)
        hits = self._index.answer(lambda library: respond(library, query, request)).code
        own = [hit for hit in hits if hit.name.rpartition(".")[2] == query.named.last]
        if not own or own[0] is not hits[0]:  # something else fits the words better
            return NamedDefinitions([])
        own = [hit for hit in own if _is_where_asked(hit, own[0], query)]
        is_word = not query.named.scope and not is_shaped_name(name)
        if is_word:
            own = [hit for hit in own if hit.kind in _NAMED_BY_WORDS]
        return NamedDefinitions(own, len(hits) >= most, is_word)


def _is_where_asked(hit: CodeHit, best: CodeHit, query: Query) -> bool:
    """Tell whether a definition is in the file or the type of the best one, as far as the query says one."""
    place = query.asked.place if query.asked else ""
    own_scope = "." in query.asked.name if query.asked and place else bool(query.named and query.named.scope)
    return (not place or hit.path == best.path) and (not own_scope or hit.qualified_name == best.qualified_name)
