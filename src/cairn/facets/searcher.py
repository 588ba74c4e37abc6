"""Answers queries from the index of a project."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from cairn.answers import Answer
from cairn.facets.project_index import ProjectIndex
from cairn.hints import Hint
from cairn.search.answer import respond, with_outdated_note
from cairn.search.any_length import understand_text
from cairn.search.exact_answer import Effort
from cairn.search.filters import canonical_kinds, canonical_languages
from cairn.search.query import EXACT_MODES

if TYPE_CHECKING:
    from cairn.index.limits import Progress
    from cairn.protocol.requests import SearchRequest, SimilarRequest
    from cairn.search.library import Library


_Request = TypeVar("_Request", "SearchRequest", "SimilarRequest")


def _with_canonical_names(request: _Request) -> _Request:
    """Return a request whose kinds and languages are called what the index calls them."""
    if not request.kinds and not request.languages:
        return request
    kinds, languages = canonical_kinds(request.kinds), canonical_languages(request.languages)
    return replace(request, kinds=kinds, languages=languages)


class Searcher:
    """Searches a project; see `CodeFacet`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    def search(self, request: SearchRequest, progress: Progress | None) -> Answer:
        """Return what the index holds for a query, best first."""
        request = _with_canonical_names(request)
        query = understand_text(request.query, request.mode)
        view = self._index.find_view(request.branch)
        has_past = True

        def respond_now(library: Library) -> Answer:
            nonlocal has_past
            has_past = library.past is not None
            return respond(library, query, request)

        answer = with_outdated_note(self._index.answer(respond_now, view, progress), view)
        if not answer.code and not has_past and self._index.has_history and answer.mode not in EXACT_MODES:
            note = Hint("No commits were read yet, and they count, too; read them", "index")
            answer = replace(answer, notes=(*answer.notes, note))
        if self._index.consent_request is not None and answer.mode not in EXACT_MODES:
            answer = replace(answer, notes=(*answer.notes, self._index.consent_request.note))
        return self._with_notice(answer)

    def look(self, request: SearchRequest, effort: Effort) -> Answer:
        """Return what the index holds for a query, without notices; see `CodeFacet.look`."""
        query = understand_text(request.query, request.mode)
        return self._index.answer(lambda library: respond(library, query, request, effort=effort))

    def similar(self, request: SimilarRequest) -> Answer:
        """Return code that does the same as a sample, copies first."""
        from cairn.search.similar import answer_similar  # noqa: PLC0415 - start-up time: a search needs no parser

        request = _with_canonical_names(request)
        root, max_bytes = self._index.root_on_disk, self._index.settings.max_file_bytes
        return self._with_notice(self._index.answer(lambda library: answer_similar(library, request, root, max_bytes)))

    def _with_notice(self, answer: Answer) -> Answer:
        notice = self._index.state.take_notice()
        return replace(answer, notes=(*answer.notes, notice)) if notice else answer
