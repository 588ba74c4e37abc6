"""The context of a task or of results: definitions with their surroundings, packed into a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cairn import waiting
from cairn.budget import Budget, shorten_text, size_of, take_memories
from cairn.errors import NotFoundError, PathError, QueryError, RequestError, StoreError
from cairn.graph.patience import shared_time
from cairn.hints import Hint, HintStyle, show
from cairn.memory.targets import target_below
from cairn.protocol.documents import (
    ContextDocument,
    ContextItem,
    MemoryHitDocument,
    fetched_to_dict,
    memory_hit_to_dict,
)
from cairn.protocol.requests import DEFAULT_ANSWER_TOKENS, ContextRequest, SearchRequest
from cairn.source.roles import asks_for_changes_made, is_changelog
from cairn.source.text import BYTES_PER_TOKEN, pluralize
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_OVERHEAD_TOKENS = 40  # estimated tokens of an item's fields besides its text
_MEMORY_SHARE = 0.25  # largest share of the room for memories beside definitions
_MOST_MEMORIES = 3  # memories for the task, and as many for the files at hand
_LEAST_CONTEXT_TOKENS = 200
_LEAST_RELEVANCE = 0.1  # hits less likely to matter for a task are left out


def context(workspace: Workspace, request: ContextRequest, progress: Progress | None = None) -> ContextDocument:
    """Lay out the surroundings of results, or of a task's search hits, as far as the budget goes.

    Earlier items may take most of the budget. Results in one definition share an item.

    Raises:
        RequestError: unless ids, or a task or files are given.
    """
    if bool(request.ids) == bool(request.task or request.files):
        raise RequestError("give ids of results, or a task with or without files", Hint.of("context", task=None))
    needs_index = bool(request.ids or request.task)
    news = (workspace.refresh(progress) if request.update and needs_index else "", workspace.take_notice())
    ids = list(request.ids)
    notes: list[str] = []
    if request.task:
        ids, notes = _ids_for(workspace, request, progress)
    memories, problem = _memories(workspace, request, ids[: request.limit])
    wanted: list[Callable[[int], ContextItem]] = [
        partial(_outline_item, workspace, file, request.hints) for file in request.files
    ]
    wanted += [partial(_context_item, workspace, text_id, request.hints, progress) for text_id in ids[: request.limit]]
    notes += filter(None, (*news, problem))
    max_tokens = DEFAULT_ANSWER_TOKENS if request.max_tokens is None else request.max_tokens
    document: ContextDocument = {
        "items": [],
        "memory": [],
        "omitted": len(ids),
        "tokens": max_tokens,
        "notes": notes,
    }
    if memories:
        document["omitted_memory"] = len(memories)
    room = Budget(max_tokens, document)
    document["memory"] = take_memories(memories, room, _MEMORY_SHARE if wanted else 1.0)
    with shared_time(len(wanted)):
        document["items"], omitted = _pack(wanted, room)
    document["omitted"] = omitted + max(0, len(ids) - request.limit)
    document["tokens"] = sum(map(size_of, (*document["memory"], *document["items"]))) // BYTES_PER_TOKEN
    if n_left_out := len(memories) - len(document["memory"]):
        document["omitted_memory"] = n_left_out
    else:
        document.pop("omitted_memory", None)
    return document


def _memories(workspace: Workspace, request: ContextRequest, ids: Sequence[str]) -> tuple[list[MemoryHitDocument], str]:
    """Return what earlier sessions learned about the task and the files at hand, or why that is missing."""
    if not workspace.has_memory:
        return [], ""
    paths = {target_below(workspace.root, file).path for file in request.files}
    paths |= {fetched.path for fetched in workspace.fetch(ids)} - {""}
    try:
        found = workspace.memory.answers.find(request.task, _MOST_MEMORIES) if request.task else ()
        likely = [hit for hit in found if hit.confidence != "low"]
        about = [hit for hit in workspace.memory.answers.about(paths) if hit.id not in {hit.id for hit in likely}]
    except StoreError as error:
        return [], error.hint.after(f"memories are left out: {error}")
    return [memory_hit_to_dict(hit, whole=True) for hit in (*likely, *about[:_MOST_MEMORIES])], ""


def _pack(wanted: Sequence[Callable[[int], ContextItem]], room: Budget) -> tuple[list[ContextItem], int]:
    """Return the items that fit, and how many do not.

    Args:
        wanted: functions that make each item within some tokens.
        room: of the answer.
    """
    items: dict[tuple[str, str, int, int], ContextItem] = {}
    n_left_out = 0
    for place, make in enumerate(wanted):
        waiting.check()
        share = max(_LEAST_CONTEXT_TOKENS, 2 * room.tokens // (len(wanted) - place + 1))
        item = make(share - _OVERHEAD_TOKENS)
        if not room.has(item):  # JSON escapes some characters
            item = make(share * room.left // size_of(item) - _OVERHEAD_TOKENS)
        key = item["kind"], item["filepath"], item["start_line"], item["end_line"]
        if key in items:
            continue
        if room.take(item):
            items[key] = item
        else:
            n_left_out += 1
    return list(items.values()), n_left_out


def _ids_for(workspace: Workspace, request: ContextRequest, progress: Progress | None) -> tuple[list[str], list[str]]:
    """Return the ids of a task's search hits, without unlikely ones, and notes."""
    answer = workspace.code.search(SearchRequest(query=request.task, limit=request.limit), progress)
    notes = list(answer.notes)
    current = [hit for hit in answer.code if not is_changelog(hit.path)]
    hits = current if current and not asks_for_changes_made(request.task) else answer.code
    if n_past := len(answer.code) - len(hits):
        notes.append(f"Left out as lists of former changes: {n_past}; a search shows them.")
    likely = [hit for place, hit in enumerate(hits) if place == 0 or hit.relevance >= _LEAST_RELEVANCE]
    if n_unlikely := len(hits) - len(likely):
        notes.append(f"Left out as unlikely: {n_unlikely}; a search shows them.")
    if not likely:
        notes.append(f"Nothing relevant for {answer.query!r} in {pluralize(answer.coverage.indexed, 'file')}.")
    return [hit.id for hit in likely], notes


def _context_item(
    workspace: Workspace, text_id: str, hints: HintStyle, progress: Progress | None, budget: int
) -> ContextItem:
    (hit,) = workspace.fetch([text_id])
    shown = fetched_to_dict(hit)
    item: ContextItem = {
        "id": hit.id,
        "kind": hit.kind,
        "name": hit.name,
        "filepath": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "text": hit.text,
        "tokens": hit.tokens,
    }
    if hit.name and not hit.revision:  # code outside of definitions or of the checkout has no outline
        try:
            around = workspace.code.outline(
                hit.path,
                mode="context",
                symbol=str(hit.start_line),
                max_tokens=max(1, budget),
                hints=hints,
                progress=progress,
            )
        except (NotFoundError, PathError, QueryError):
            pass  # a text without definitions has no surroundings
        else:
            item["text"], item["tokens"] = around.text, around.text_tokens
            if (focus := around.focus) is not None:  # a result may be a part of it only
                item["kind"], item["name"] = focus.kind, focus.name
                item["start_line"], item["end_line"] = focus.start_line, focus.end_line
            return item
    if hit.tokens > budget:
        shorten_text(shown, BYTES_PER_TOKEN * (budget - _OVERHEAD_TOKENS))
        rest = Hint(f"+{pluralize(shown['omitted_lines'], 'line')}", "fetch", ids=(hit.id,))
        item["text"], item["tokens"] = f"{shown['text']}\n({show(rest, hints)})", shown["tokens"] + _OVERHEAD_TOKENS
    return item


def _outline_item(workspace: Workspace, file: str, hints: HintStyle, budget: int) -> ContextItem:
    outline = workspace.code.outline(file, max_tokens=max(1, budget), hints=hints)
    return {
        "id": "",
        "kind": "file",
        "name": "",
        "filepath": outline.path,
        "start_line": 1,
        "end_line": outline.lines,
        "text": outline.text,
        "tokens": outline.text_tokens,
    }


PERFORM = {"context": context}
