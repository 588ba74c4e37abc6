"""Searches: of one project, of several, for code that is similar."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.answers import MEMORIES_BESIDE
from cairn.budget import fit_search
from cairn.errors import ProjectError
from cairn.hints import Hint
from cairn.protocol.documents import SearchDocument, answer_to_dict
from cairn.protocol.requests import SearchRequest, SimilarRequest

if TYPE_CHECKING:
    from cairn.index.limits import Progress
    from cairn.workspace import Workspace

_SCORED = {"hybrid", "semantic"}  # modes whose hits one ranker scores
_MAX_NAMED = 5  # projects that a note of all of them names


def search(workspace: Workspace, request: SearchRequest, progress: Progress | None = None) -> SearchDocument:
    """Search the project and its memory; see `Workspace.search`."""
    if request.type == "memory":
        return answer_to_dict(workspace.answer(request))
    note = workspace.refresh(progress, branch=request.branch) if request.update else ""
    answer = workspace.answer(replace(request, max_tokens=None), progress)
    is_incomplete = request.update and request.branch is None and workspace.code.lacks_vectors
    if not note and is_incomplete and workspace.upkeep.complete_in_background():
        note = f"a run in the background completes them; it writes to {workspace.state.embedding_log}"
    if note:
        answer = replace(answer, notes=(*answer.notes, note))
    return _fit(answer_to_dict(answer), request.max_tokens)


def for_merging(request: SearchRequest) -> SearchRequest:
    """Return what each of several projects is asked: without the budget, which is that of all answers together."""
    return replace(request, max_tokens=None, explain=True)


def merge_searches(
    searches: Sequence[tuple[str, SearchDocument]], request: SearchRequest, problems: Sequence[str] = ()
) -> SearchDocument:
    """Return one answer out of those of several projects, each given with its name; the best hits first.

    What belongs to one project only (its view, branch and generation) is left empty.

    Args:
        searches: the answers to `for_merging`.
        request: what was asked. Its budget is that of the one answer.
        problems: why others did not answer, sentences for the reader.

    Raises:
        ProjectError: if no project answered.
    """
    if not searches:
        raise ProjectError("; ".join(problems) or "no project is known yet", Hint.of("index", project=None))
    documents = [document for _, document in searches]
    modes = {document["mode"] for document in documents}
    hits = _hits_of_all(searches, modes, is_explained=request.explain)
    shown = hits[: request.limit or len(hits)]
    rows = [{**row, "project": name} for name, document in searches for row in document["memory"]]
    rows.sort(key=lambda row: -float(str(row["relevance"])))
    merged: SearchDocument = {
        "query": documents[0]["query"],
        "mode": modes.pop() if len(modes) == 1 else "auto",
        "view": "",
        "branch": "",
        "generation": 0,
        "code": shown,  # type: ignore[typeddict-item] # the fields of a hit, and `project`
        "memory": rows[: (request.limit or len(rows)) if request.type == "memory" else MEMORIES_BESIDE],  # type: ignore[typeddict-item] # as above
        "total_tokens_available": sum(document["total_tokens_available"] for document in documents),
        "omitted": sum(document["omitted"] for document in documents) + len(hits) - len(shown),
        "coverage": {
            "indexed": sum(document["coverage"]["indexed"] for document in documents),
            "eligible": sum(document["coverage"]["eligible"] for document in documents),
            "pending": sum(document["coverage"]["pending"] for document in documents),
        },
        "took_ms": round(sum(document["took_ms"] for document in documents), 2),
    }
    if any("searched" in document for document in documents):
        merged["searched"] = sum(document.get("searched", document["coverage"]["indexed"]) for document in documents)
    notes = _notes_by_project(searches)
    if notes or problems:
        merged["notes"] = [*notes, *problems]
    return _fit(merged, request.max_tokens)


def _hits_of_all(
    searches: Sequence[tuple[str, SearchDocument]], modes: Set[str], *, is_explained: bool
) -> list[dict[str, object]]:
    """Return the hits of several projects, each with its project, best first."""
    hits = [{**hit, "project": name} for name, document in searches for hit in document["code"]]
    # Scores of one ranker compare across projects, better than relevances; see bench/README.md.
    by_score = len(modes) == 1 and modes <= _SCORED and all("score" in hit for hit in hits)
    hits.sort(key=lambda hit: -float(str(hit["score" if by_score else "relevance"])))
    if not is_explained:
        for hit in hits:
            hit.pop("score", None)
            hit.pop("explain", None)
    return hits


def _notes_by_project(searches: Sequence[tuple[str, SearchDocument]]) -> list[str]:
    """Return the notes of several projects, each once, behind the projects that it is of."""
    projects: dict[str, list[str]] = {}
    for name, document in searches:
        for text in document.get("notes", ()):
            projects.setdefault(text, []).append(name)
    return [
        note.with_prefix(f"{_project_list(names)}: ") if isinstance(note, Hint) else f"{_project_list(names)}: {note}"
        for note, names in projects.items()
    ]


def _project_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def similar(workspace: Workspace, request: SimilarRequest, progress: Progress | None = None) -> SearchDocument:
    """Find code like that of a place, or like a text; see `CodeFacet.similar`."""
    note = workspace.refresh(progress) if request.update else ""
    answer = workspace.code.similar(replace(request, max_tokens=None))
    document = answer_to_dict(replace(answer, notes=(*answer.notes, note)) if note else answer)
    return _fit(document, request.max_tokens)


def _fit(document: SearchDocument, max_tokens: int | None) -> SearchDocument:
    fit_search(document, max_tokens)
    return document


PERFORM = {"search": search, "similar": similar}
