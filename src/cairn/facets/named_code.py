"""What questions to the history need of the search: the terms of a query, and the definitions that it names."""

from __future__ import annotations

from typing import NamedTuple

from cairn.answers import CodeHit
from cairn.facets.project_index import ProjectIndex
from cairn.history.score import Weighted
from cairn.protocol.requests import SearchRequest
from cairn.search.answer import respond
from cairn.search.query import understand


class NamedDefinitions(NamedTuple):
    """The definitions that a query names, the best first. `is_cut`: there may be more."""

    definitions: list[CodeHit]
    is_cut: bool


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
        return understand(query).named is not None and self._index.writer.is_indexed(self._index.views.checkout)

    def definitions_of(self, name: str, most: int) -> NamedDefinitions:
        """Return the definitions that a query names as a whole; none if it is not a name, or nothing is indexed.

        Args:
            name: the query.
            most: how many hits are looked at.
        """
        query = understand(name)
        if query.named is None or not self.may_name(name):
            return NamedDefinitions([], is_cut=False)
        request = SearchRequest(query=name, type="code", limit=most)
        hits = self._index.answer(lambda library: respond(library, query, request)).code
        own = [hit for hit in hits if hit.name.rpartition(".")[2] == query.named.last]
        if not own or own[0] is not hits[0]:  # something else fits the words better
            return NamedDefinitions([], is_cut=False)
        return NamedDefinitions(own, len(hits) >= most)
