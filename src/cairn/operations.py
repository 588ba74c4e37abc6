"""Carries out the operations of `cairn.protocol` on an opened project: a request in, a JSON document out.

The command line does it in its own process, the daemon for everybody else; so both give the same answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cairn.core_files import CoreFiles
from cairn.errors import NotFoundError, PathError, ProjectError, QueryError, RequestError
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.protocol.documents import (
    ContextDocument,
    ContextItem,
    CoreChangeDocument,
    CoreFileDocument,
    CoreListDocument,
    CoreSuggestionDocument,
    FetchedDocument,
    OutlineDocument,
    SearchDocument,
    answer_to_dict,
    fetched_to_dict,
    graph_to_dict,
    outline_to_dict,
)
from cairn.protocol.requests import (
    DEFAULT_ANSWER_TOKENS,
    MAX_ANSWER_TOKENS,
    ChangeRequest,
    ContextRequest,
    CoreAddRequest,
    CoreListRequest,
    CoreRemoveRequest,
    CoreSuggestRequest,
    FetchRequest,
    ImportersRequest,
    OutlineRequest,
    PathRequest,
    ProjectRequest,
    SearchRequest,
    SymbolRequest,
)
from cairn.source.text import estimate_tokens
from cairn.types import OutlineSymbol
from cairn.workspace import Workspace

Progress = Callable[[int, int], None]
_OVERHEAD_TOKENS = 40  # an estimate of what the fields of an item cost beside its text
_LEAST_CONTEXT_TOKENS = 200
DEFAULT_CORE_TOKENS = 1_500  # they are shown at the start of sessions
_LINE_TOKENS = 2  # of a line's number
_MAX_HEAD_CHARS = 120
_TELLING_KINDS = FUNCTION_KINDS | TYPE_KINDS  # of what a core file defines, these come first


def perform(workspace: Workspace, operation: str, request: ProjectRequest, progress: Progress | None = None) -> Any:  # noqa: ANN401 - JSON
    """Carry out an operation and return its answer as JSON, within the tokens the request gives.

    Args:
        operation: a name in `cairn.protocol.OPERATIONS`.
        request: of the class given there.
        progress: called with (files done, files to do) while files are read.

    Raises:
        CairnError: whatever the workspace raises.
    """
    return _PERFORM[operation](workspace, request, progress)


def search(workspace: Workspace, request: SearchRequest, progress: Progress | None = None) -> SearchDocument:
    """Search the project; see `Workspace.search`."""
    told = workspace.refresh(progress, branch=request.branch) if request.update else ""
    answer = workspace.search(
        request.query,
        branch=request.branch,
        limit=request.limit,
        mode=request.mode,
        kinds=request.kinds,
        languages=request.languages,
        globs=request.globs,
        max_tokens=request.max_tokens,
        explain=request.explain,
        context=request.context,
        expand=request.expand,
        progress=progress,
    )
    if not told and request.update and request.branch is None and workspace.complete_in_background():
        told = f"a run in the background completes them; it writes to {workspace.state.embedding_log}"
    if told:
        answer = replace(answer, notes=(*answer.notes, told))
    return answer_to_dict(answer)


def merge_searches(
    found: Sequence[tuple[str, SearchDocument]], request: SearchRequest, problems: Sequence[str] = ()
) -> SearchDocument:
    """Return one answer out of those of several projects, each given with its name; the most relevant hits first.

    What belongs to one project only (its view, branch and generation) is left empty.

    Args:
        found: the answers.
        request: what was asked.
        problems: why others did not answer, sentences for the reader.

    Raises:
        ProjectError: if no project answered.
    """
    if not found:
        raise ProjectError("; ".join(problems) or "no project is known yet", "cairn index -C FOLDER")
    hits = [{**hit, "project": name} for name, document in found for hit in document["code"]]
    hits.sort(key=lambda hit: -float(str(hit["relevance"])))
    shown = hits[: request.limit or len(hits)]
    documents = [document for _, document in found]
    modes = {document["mode"] for document in documents}
    merged: SearchDocument = {
        "query": documents[0]["query"],
        "mode": modes.pop() if len(modes) == 1 else "auto",
        "view": "",
        "branch": "",
        "generation": 0,
        "code": shown,  # type: ignore[typeddict-item] # the fields of a hit, and `project`
        "memory": [],
        "total_tokens_available": sum(document["total_tokens_available"] for document in documents),
        "omitted": sum(document["omitted"] for document in documents) + len(hits) - len(shown),
        "coverage": {
            "indexed": sum(document["coverage"]["indexed"] for document in documents),
            "eligible": sum(document["coverage"]["eligible"] for document in documents),
            "pending": sum(document["coverage"]["pending"] for document in documents),
        },
        "took_ms": round(sum(document["took_ms"] for document in documents), 2),
    }
    notes = [f"{name}: {text}" for name, document in found for text in document.get("notes", ())]
    if notes or problems:
        merged["notes"] = [*notes, *problems]
    if request.max_tokens is not None:
        _fit(merged, request.max_tokens, "code")  # type: ignore[arg-type] # a TypedDict is a dict
    return merged


def fetch(workspace: Workspace, request: FetchRequest, progress: Progress | None = None) -> list[FetchedDocument]:
    """Get the full texts; beyond the budget they lose lines off their end, counted in `omitted_lines`."""
    documents = [fetched_to_dict(one) for one in workspace.fetch(request.ids, branch=request.branch)]
    if request.skip_lines:
        for one in documents:
            _skip(one, request.skip_lines)
    left = request.max_tokens
    if left is None:
        return documents
    for one in documents:
        left -= _OVERHEAD_TOKENS
        if one["tokens"] > left:
            _cut(one, left)
        left -= one["tokens"] if one["text"] else 0
    return documents


def _skip(document: FetchedDocument, n_lines: int) -> None:
    lines = document["text"].split("\n")
    _set_text(document, lines[n_lines:])
    document["start_line"] = min(document["start_line"] + n_lines, document["end_line"])


def _cut(document: FetchedDocument, max_tokens: int) -> None:
    lines = document["text"].split("\n")
    kept: list[str] = []
    n_bytes = 0
    for line in lines:
        n_bytes += len(line.encode("utf-8", "replace")) + 1
        if max_tokens <= 0 or estimate_tokens(n_bytes) > max_tokens:
            break
        kept.append(line)
    _set_text(document, kept)
    document["omitted_lines"] = len(lines) - len(kept)


def _set_text(document: FetchedDocument, lines: Sequence[str]) -> None:
    document["text"] = "\n".join(lines)
    document["tokens"] = estimate_tokens(len(document["text"].encode("utf-8", "replace")))


def context(workspace: Workspace, request: ContextRequest, progress: Progress | None = None) -> ContextDocument:
    """Lay out what is around results, or around what a search for the task finds, as far as the budget goes.

    Raises:
        RequestError: unless ids, or a task or files are given.
    """
    if bool(request.ids) == bool(request.task or request.files):
        raise RequestError("give ids of results, or a task with or without files", "cairn search QUERY gives ids")
    notes: list[str] = []
    ids = list(request.ids)
    if request.task:
        answer = workspace.search(request.task, limit=request.limit, progress=progress)
        ids = [hit.id for hit in answer.code]
        notes.extend(answer.notes)
        if not ids:
            notes.append(f"Nothing relevant for {answer.query!r} in {answer.coverage.indexed:,} files.")
    wanted: list[Callable[[int], ContextItem]] = [
        lambda budget, file=file: _outline_item(workspace, file, budget)  # type: ignore[misc]
        for file in request.files
    ]
    wanted += [
        lambda budget, one=one: _context_item(workspace, one, budget, progress)  # type: ignore[misc]
        for one in ids[: request.limit]
    ]
    left = max_tokens = DEFAULT_ANSWER_TOKENS if request.max_tokens is None else request.max_tokens
    items: list[ContextItem] = []
    for place, make in enumerate(wanted):
        share = max(_LEAST_CONTEXT_TOKENS, left // (len(wanted) - place))
        item = make(share - _OVERHEAD_TOKENS)
        if item["tokens"] + _OVERHEAD_TOKENS <= left:
            items.append(item)
            left -= item["tokens"] + _OVERHEAD_TOKENS
    omitted = len(wanted) - len(items) + max(0, len(ids) - request.limit)
    return {"items": items, "omitted": omitted, "tokens": max_tokens - left, "notes": notes}


def _context_item(workspace: Workspace, text_id: str, budget: int, progress: Progress | None) -> ContextItem:
    (hit,) = workspace.fetch([text_id])
    text, tokens = hit.text, hit.tokens
    if not hit.revision:  # what is not checked out has no outline
        try:
            around = workspace.outline(
                hit.path, mode="context", symbol=str(hit.start_line), max_tokens=max(1, budget), progress=progress
            )
            text, tokens = around.text, around.text_tokens
        except (NotFoundError, PathError, QueryError):
            pass  # a text without definitions: what is around it is itself
    return {
        "id": hit.id,
        "kind": hit.kind,
        "name": hit.name,
        "filepath": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "text": text,
        "tokens": tokens,
    }


def _outline_item(workspace: Workspace, file: str, budget: int) -> ContextItem:
    found = workspace.outline(file, max_tokens=max(1, budget))
    return {
        "id": "",
        "kind": "file",
        "name": "",
        "filepath": found.path,
        "start_line": 1,
        "end_line": found.lines,
        "text": found.text,
        "tokens": found.text_tokens,
    }


def outline(workspace: Workspace, request: OutlineRequest, progress: Progress | None = None) -> OutlineDocument:
    """List what a file defines; see `Workspace.outline`."""
    found = workspace.outline(
        request.file, mode=request.mode, symbol=request.symbol, max_tokens=request.max_tokens, progress=progress
    )
    return outline_to_dict(found)


def _callers(workspace: Workspace, request: SymbolRequest, progress: Progress | None) -> dict[str, Any]:
    found = workspace.callers(request.symbol, limit=request.limit, progress=progress)
    return _fitted(found, request.max_tokens, "links")


def _callees(workspace: Workspace, request: SymbolRequest, progress: Progress | None) -> dict[str, Any]:
    found = workspace.callees(request.symbol, limit=request.limit, progress=progress)
    return _fitted(found, request.max_tokens, "links")


def _path(workspace: Workspace, request: PathRequest, progress: Progress | None) -> dict[str, Any]:
    found = workspace.call_path(request.source, request.target, progress=progress)
    return _fitted(found, request.max_tokens, "steps")


def _importers(workspace: Workspace, request: ImportersRequest, progress: Progress | None) -> dict[str, Any]:
    found = workspace.importers(request.target, progress=progress)
    return _fitted(found, request.max_tokens, "importers")


def _impact(workspace: Workspace, request: ChangeRequest, progress: Progress | None) -> dict[str, Any]:
    found = workspace.impact(request.symbol, diff=request.diff, limit=request.limit, progress=progress)
    return _fitted(found, request.max_tokens, "affected", "tests", "importers", "changed")


def _tests(workspace: Workspace, request: ChangeRequest, progress: Progress | None) -> dict[str, Any]:
    found = workspace.choose_tests(request.symbol, diff=request.diff, limit=request.limit, progress=progress)
    return _fitted(found, request.max_tokens, "tests", "changed")


def _updated(
    answer: Callable[[Workspace, Any, Progress | None], dict[str, Any]],
) -> Callable[[Workspace, Any, Progress | None], dict[str, Any]]:
    def run(workspace: Workspace, request: Any, progress: Progress | None) -> dict[str, Any]:  # noqa: ANN401
        told = workspace.refresh(progress) if request.update else ""
        document = answer(workspace, request, progress)
        return document | {"notes": [*document["notes"], told]} if told else document

    return run


def _fitted(found: object, max_tokens: int | None, *lists: str) -> dict[str, Any]:
    document: dict[str, Any] = graph_to_dict(found)
    if max_tokens is not None:
        _fit(document, max_tokens, *lists)
    return document


def _fit(document: dict[str, Any], max_tokens: int, *lists: str) -> None:
    """Cut lists of a document off where the budget ends, the first list being the last to lose, and say so."""
    items = {name: document[name] for name in lists}
    left = max_tokens - _tokens_of({**document, **{name: [] for name in lists}})
    n_cut = 0
    for name in lists:
        kept = 0
        for one in items[name]:
            left -= _tokens_of(one)
            if left < 0:
                break
            kept += 1
        n_cut += len(items[name]) - kept
        document[name] = items[name][:kept]
    if n_cut and "omitted" in document:
        document["omitted"] += n_cut
    elif n_cut:
        document["notes"] = [*document["notes"], f"{n_cut} more do not fit {max_tokens} tokens."]


def _tokens_of(value: object) -> int:
    return estimate_tokens(len(json.dumps(value)))


def list_core(workspace: Workspace, request: CoreListRequest, progress: Progress | None = None) -> CoreListDocument:
    """Show each core file with its summary and, as far as the budget goes, the heads of what it defines.

    Every file gets its row first; what is left of the budget is shared evenly among those that follow.
    """
    left = DEFAULT_CORE_TOKENS if request.max_tokens is None else request.max_tokens
    budget = left
    files: list[CoreFileDocument] = []
    marked = CoreFiles(workspace.root).read()
    for one in marked:
        row: CoreFileDocument = {
            "filepath": one.path,
            "summary": one.summary,
            "missing": not os.path.isfile(workspace.root / one.path),
            "symbols": [],
            "omitted": 0,
        }
        if (cost := _tokens_of(row)) > left:
            break
        left -= cost
        files.append(row)
    for place, row in enumerate(files):
        if not row["missing"]:
            left -= _add_symbols(workspace, row, left // (len(files) - place))
    return {"files": files, "omitted": len(marked) - len(files), "tokens": budget - left}


def _add_symbols(workspace: Workspace, row: CoreFileDocument, budget: int) -> int:
    """Add what a core file defines, outermost first, and return what that costs."""
    try:
        symbols = workspace.outline(row["filepath"], max_tokens=DEFAULT_ANSWER_TOKENS).symbols
    except (NotFoundError, PathError):
        return 0  # its language has no definitions, or the file is none that can be read: the row says enough
    used = 0
    kept: list[OutlineSymbol] = []
    for one in sorted(symbols, key=lambda one: (one.depth, one.kind not in _TELLING_KINDS)):
        cost = estimate_tokens(len(_head(one).encode("utf-8", "replace"))) + _LINE_TOKENS
        if used + cost > budget:
            break
        used += cost
        kept.append(one)
    kept.sort(key=lambda one: one.start_line)
    row["symbols"] = [{"line": one.start_line, "signature": _head(one)} for one in kept]
    row["omitted"] = len(symbols) - len(kept)
    return used


def _head(symbol: OutlineSymbol) -> str:
    indent = "  " * symbol.depth
    return indent + (symbol.signature or f"{symbol.kind} {symbol.name}")[:_MAX_HEAD_CHARS]


def _add_core(workspace: Workspace, request: CoreAddRequest, progress: Progress | None) -> CoreChangeDocument:
    file, changed = CoreFiles(workspace.root).add(request.file, request.summary)
    return {"filepath": file.path, "summary": file.summary, "changed": changed}


def _remove_core(workspace: Workspace, request: CoreRemoveRequest, progress: Progress | None) -> CoreChangeDocument:
    file, changed = CoreFiles(workspace.root).remove(request.file)
    return {"filepath": file.path, "summary": file.summary, "changed": changed}


def _suggest_core(
    workspace: Workspace, request: CoreSuggestRequest, progress: Progress | None
) -> list[CoreSuggestionDocument]:
    marked = {one.path for one in CoreFiles(workspace.root).read()}
    ranked = workspace.map(max_tokens=MAX_ANSWER_TOKENS, progress=progress).entries
    return [
        {
            "filepath": one.path,
            "rank": one.rank,
            "symbols": [{"line": line, "signature": head} for line, head in one.symbols],
        }
        for one in [one for one in ranked if one.path not in marked][: request.limit]
    ]


_PERFORM: dict[str, Callable[[Workspace, Any, Progress | None], Any]] = {
    "search": search,
    "fetch": fetch,
    "context": context,
    "outline": outline,
    "graph/callers": _updated(_callers),
    "graph/callees": _updated(_callees),
    "graph/path": _updated(_path),
    "graph/importers": _updated(_importers),
    "graph/impact": _updated(_impact),
    "graph/tests": _updated(_tests),
    "core/list": list_core,
    "core/add": _add_core,
    "core/remove": _remove_core,
    "core/suggest": _suggest_core,
}
