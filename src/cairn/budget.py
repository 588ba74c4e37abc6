"""The token budget: the only place that decides what fits into an answer (docs/adr/0028-one-token-budget.md).

`max_tokens` bounds the JSON document that is sent, frame included, at 4 bytes per token. Python, HTTP, the command line
and MCP all come through here, so the same question with the same budget gets the same hits everywhere. Whatever does
not fit is counted in the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cairn.answers import Answer, CodeHit
from cairn.hints import show
from cairn.protocol.documents import (
    FetchedDocument,
    HitDocument,
    MemoryHitDocument,
    OutlineDocument,
    SearchDocument,
    answer_to_dict,
)
from cairn.source.text import BYTES_PER_TOKEN, estimate_tokens, pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import MemoryDocument, RecallDocument, WholeSessionDocument

_Item = TypeVar("_Item")
_Document = TypeVar("_Document", "MemoryDocument", "WholeSessionDocument")
_COMMA_BYTES = 2  # bytes of the comma and space between the items of a list
_COUNT_BYTES = 24  # bytes of a field that counts what did not fit
_WIDEST_CHARACTER = 12  # bytes in JSON, escaped as a surrogate pair
_WIDEST_MS = 9_999_999.99  # replaces the time that an answer took, whose digits must not decide what fits
# What a hit loses, in this order, to fit; its place, name and id stay.
_EXTRAS = ("neighbours", "captures", "score", "explain")
_BARE_MEMORY = ("id", "type", "status", "summary", "files", "check", "source", "project")
# What an answer gives up, in this order, if not even its best hit fits: notes, and the share of memories.
_WAYS = ((False, 0.25), (False, 0.0), (True, 0.25), (True, 0.0))
_BARE = ("id", "kind", "name", "filepath", "start_line", "end_line", "project")


def size_of(value: object) -> int:
    """Return the size of a value in JSON, including the comma after it."""
    return len(json.dumps(value)) + _COMMA_BYTES


class Budget:
    """What is left of `max_tokens`.

    Args:
        max_tokens: the whole budget.
        frame: what is sent in any case, with empty lists and the longest possible counts.

    Attributes:
        left: in bytes; negative if the frame alone exceeds the budget.
    """

    def __init__(self, max_tokens: int, frame: object) -> None:
        self.left = BYTES_PER_TOKEN * (max_tokens + 1) - 1 + _COMMA_BYTES - size_of(frame)

    @property
    def tokens(self) -> int:
        """How many tokens are left."""
        return self.left // BYTES_PER_TOKEN

    def has(self, value: object) -> bool:
        """Tell whether a value still fits."""
        return size_of(value) <= self.left

    def take(self, value: object) -> bool:
        """Reserve room for a value, and return whether there was enough."""
        if (size := size_of(value)) > self.left:
            return False
        self.left -= size
        return True

    def take_leading(self, items: Sequence[_Item]) -> list[_Item]:
        """Reserve room for as many leading items as fit, and return them."""
        for place, item in enumerate(items):
            if not self.take(item):
                return list(items[:place])
        return list(items)


# -- searches ----------------------------------------------------------------------------------------------------------


def fit_answer(answer: Answer, max_tokens: int | None) -> Answer:
    """Return an answer with the hits that fit into its JSON document; its notes stay, since they are not sent."""
    if max_tokens is None:
        return answer
    document = answer_to_dict(answer)
    fit_search(document, max_tokens)
    hits = tuple(map(_as_in_row, answer.code, document["code"]))  # as many as there are rows
    memory, omitted_memory = answer.memory[: len(document["memory"])], document.get("omitted_memory", 0)
    return replace(answer, code=hits, omitted=document["omitted"], memory=memory, omitted_memory=omitted_memory)


def _as_in_row(hit: CodeHit, row: HitDocument) -> CodeHit:
    """Return a hit without the texts that its row has lost."""
    return hit._replace(
        preview=row.get("preview", ""),
        signature=row.get("signature", ""),
        neighbours=hit.neighbours if "neighbours" in row else None,
        captures=hit.captures if "captures" in row else None,
        explain=hit.explain if "explain" in row else None,
    )


def fit_search(document: SearchDocument, max_tokens: int | None) -> None:
    """Cut off the hits that do not fit, and count them.

    If there are hits, memories take at most a quarter of the room. The first hit or memory that does not fit is shown
    in a shorter form if that does. If not even the first one fits, memories are dropped, then notes.
    """
    if max_tokens is None:
        return
    hits = document["code"]
    document_at_most: dict[str, Any] = {**document, "took_ms": _WIDEST_MS}
    if "notes" in document:
        document_at_most["notes"] = [max(note, show(note, "tools"), key=len) for note in document["notes"]]
    if Budget(max_tokens, document_at_most).left >= 0:
        return
    memories = document["memory"]
    frame = document_at_most | {"code": [], "omitted": document["omitted"] + len(hits)}
    if memories:
        frame |= {"memory": [], "omitted_memory": len(memories)}
    for without_notes, share in _WAYS:
        if without_notes and (notes := frame.pop("notes", None)):
            frame["omitted_notes"] = len(notes)
        room = Budget(max_tokens, frame)
        kept_memories = take_memories(memories, room, share if hits else 1.0)
        kept = _leading_hits(hits, room)
        if kept or (kept_memories and not hits):
            break
    else:
        frame = document_at_most
    if "omitted_notes" in frame:
        del document["notes"]
        document["omitted_notes"] = frame["omitted_notes"]
    document["code"] = kept
    document["omitted"] += len(hits) - len(kept)
    if len(kept_memories) < len(memories):
        document["omitted_memory"] = len(memories) - len(kept_memories)
    document["memory"] = kept_memories


def take_memories(rows: Sequence[MemoryHitDocument], room: Budget, share: float = 1.0) -> list[MemoryHitDocument]:
    """Reserve room for the leading memories that fit into a share of what is left, and return them.

    The first one that does not fit is shown in a shorter form if that does.
    """
    least = room.left - int(room.left * share)
    room.left -= least
    kept: list[MemoryHitDocument] = []
    for row in rows:
        shown = next(filter(room.take, _row_forms(row)), None)
        if shown is not None:
            kept.append(shown)
        if shown is not row:
            break
    room.left += least
    return kept


def _row_forms(row: MemoryHitDocument) -> Iterator[MemoryHitDocument]:
    """Yield a memory in full, then without its text, then bare."""
    yield row
    if "text" in row:
        yield cast("MemoryHitDocument", {name: value for name, value in row.items() if name != "text"})
    yield cast("MemoryHitDocument", {name: row[name] for name in _BARE_MEMORY if name in row})  # type: ignore[literal-required] # these are its fields


def _leading_hits(hits: Sequence[HitDocument], room: Budget) -> list[HitDocument]:
    kept: list[HitDocument] = []
    for hit in hits:
        shown = next(filter(room.take, _forms(hit)), None)
        if shown is not None:
            kept.append(shown)
        if shown is not hit:
            break
    return kept


def _forms(hit: HitDocument) -> Iterator[HitDocument]:
    """Yield a hit in full, then in shorter and shorter forms."""
    yield hit
    short: Mapping[str, object] = {name: value for name, value in hit.items() if name not in _EXTRAS}
    yield cast("HitDocument", {**short, "preview": ""})
    yield cast("HitDocument", {**short, "preview": "", "signature": ""})
    yield cast("HitDocument", {name: hit[name] for name in _BARE if name in hit})  # type: ignore[literal-required] # these are its fields


# -- lists -------------------------------------------------------------------------------------------------------------


def fit_lists(document: dict[str, Any], max_tokens: int, lists: Sequence[str]) -> None:
    """Cut a document's lists to fit, the first one last, and record the counts."""
    if Budget(max_tokens, document).left >= 0:
        return
    items = {name: document[name] for name in lists}
    n_items = sum(map(len, items.values()))
    room = Budget(max_tokens, {**document, **{name: [] for name in lists}, **_count(document, n_items, max_tokens)})
    n_kept = 0
    for name in lists:
        kept = room.take_leading(items[name])
        if len(kept) < len(items[name]):
            room.left = 0
        document[name] = kept
        n_kept += len(kept)
    document.update(_count(document, n_items - n_kept, max_tokens))


def _count(document: Mapping[str, Any], n_cut: int, max_tokens: int) -> dict[str, Any]:
    """Return the field of a document that counts the items that were cut."""
    if "omitted" in document:
        return {"omitted": document["omitted"] + n_cut}
    return {
        "notes": [
            *document.get("notes", ()),
            f"{pluralize(n_cut, 'more does', 'more do')} not fit {pluralize(max_tokens, 'token')}.",
        ]
    }


# -- outlines ----------------------------------------------------------------------------------------------------------

_SPARE_TOKENS = 20  # an outline says at its end what it left out


def tokens_for_outline(document: OutlineDocument, max_tokens: int) -> int:
    """Return the budget for an outline's text, next to the fields around it."""
    excess = -_room_beside_text(document, max_tokens).left
    # Characters that JSON escapes cost an extra byte.
    return max_tokens if excess <= 0 else max(1, max_tokens - estimate_tokens(excess) - _SPARE_TOKENS)


def fit_outline(document: OutlineDocument, max_tokens: int) -> None:
    """Cut the lists beside an outline's text to fit, and count what they lose."""
    if Budget(max_tokens, document).left >= 0:
        return
    room = _room_beside_text(document, max_tokens)
    symbols, imports = room.take_leading(document["symbols"]), room.take_leading(document["imports"])
    document["unlisted"] = len(document["symbols"]) + len(document["imports"]) - len(symbols) - len(imports)
    document["symbols"], document["imports"] = symbols, imports


def _room_beside_text(document: OutlineDocument, max_tokens: int) -> Budget:
    return Budget(max_tokens, {**document, "symbols": [], "imports": [], "unlisted": len(document["symbols"])})


# -- texts -------------------------------------------------------------------------------------------------------------


def fit_texts(documents: Sequence[FetchedDocument], max_tokens: int) -> list[FetchedDocument]:
    """Return fetched texts without the lines that do not fit, and if need be without whole rows.

    The first row is always kept.
    """
    room = Budget(max_tokens, [])
    if Budget(max_tokens, documents).left >= 0:
        return list(documents)
    rows = [{**document, "text": "", "omitted_lines": document["text"].count("\n") + 1} for document in documents]
    shown = list(documents)
    left = room.left
    if len(room.take_leading(rows)) < len(rows):
        room.left = left - _COUNT_BYTES
        n_rows = len(room.take_leading(rows))
        shown = shown[: max(1, n_rows)]
        room.left = room.left if n_rows else 0
        shown[-1]["omitted_ids"] = len(documents) - len(shown)
    for document in shown:
        if (size := _size_of_text(document["text"])) > room.left:
            shorten_text(document, room.left)
            size = _size_of_text(document["text"])
        room.left -= size
    return shown


def shorten_text(document: FetchedDocument, n_bytes: int) -> None:
    """Cut the last lines off a fetched text, so that it takes at most `n_bytes` in JSON."""
    lines = document["text"].split("\n")
    kept: list[str] = []
    for line in lines:
        n_bytes -= _size_of_text(line) + _COMMA_BYTES  # a line break takes two bytes in JSON, too
        if n_bytes < 0:
            break
        kept.append(line)
    set_text(document, kept)
    document["omitted_lines"] = len(lines) - len(kept)


def set_text(document: FetchedDocument, lines: Sequence[str]) -> None:
    """Replace the lines of a fetched text."""
    document["text"] = "\n".join(lines)
    document["tokens"] = estimate_tokens(len(document["text"].encode("utf-8", "replace")))


def _size_of_text(text: str) -> int:
    return len(json.dumps(text)) - len('""')


# -- memories ----------------------------------------------------------------------------------------------------------


def fit_recall(document: RecallDocument, max_tokens: int) -> None:
    """Cut off the memories that do not fit, and count them; the last one may lose its text."""
    at_most: dict[str, Any] = {**document, "took_ms": _WIDEST_MS}
    if Budget(max_tokens, at_most).left >= 0:
        return
    rows = document["memory"]
    document["memory"] = take_memories(rows, Budget(max_tokens, {**at_most, "memory": [], "omitted": len(rows)}))
    document["omitted"] = len(rows) - len(document["memory"])


def fit_memories(documents: Sequence[MemoryDocument], max_tokens: int) -> list[MemoryDocument]:
    """Return memories as far as they fit: without their history, then with less text, then none.

    The first row is there in any case.
    """
    return _fit_documents(documents, max_tokens, _memory_forms)


def fit_sessions(documents: Sequence[WholeSessionDocument], max_tokens: int) -> list[WholeSessionDocument]:
    """Return sessions as far as they fit: with less and less of what was shown and done, then of what was learned.

    The first row is there in any case.
    """
    return _fit_documents(documents, max_tokens, _session_forms)


def _fit_documents(
    documents: Sequence[_Document], max_tokens: int, forms: Callable[[_Document, int], Iterator[_Document]]
) -> list[_Document]:
    """Return documents, each in the first form that fits; the first document at least in its shortest form."""
    if Budget(max_tokens, documents).left >= 0:
        return list(documents)
    room = Budget(max_tokens, [])
    room.left -= _COUNT_BYTES
    shown: list[_Document] = []
    for document in documents:
        shortest = document
        for shortest in forms(document, room.left):
            if room.take(shortest):
                shown.append(shortest)
                break
        else:
            shown += [] if shown else [shortest]
            break
    if n_rest := len(documents) - len(shown):
        shown[-1] = cast("_Document", {**shown[-1], "omitted_ids": n_rest})
    return shown


def _memory_forms(document: MemoryDocument, n_bytes: int) -> Iterator[MemoryDocument]:
    yield document
    yield _without_history(document)
    spare = n_bytes - size_of(_without_text(document, 0))
    yield _without_text(document, max(0, spare))


def _without_history(document: MemoryDocument) -> MemoryDocument:
    return {**document, "shown": [], "history": [], "omitted_events": len(document["history"])}


def _without_text(document: MemoryDocument, n_bytes: int) -> MemoryDocument:
    """Return a memory without its history, and with as much text as fits into some bytes."""
    text = document["text"]
    kept = text[:n_bytes]
    while (excess := _size_of_text(kept) - n_bytes) > 0 and kept:
        kept = kept[: -max(1, excess // _WIDEST_CHARACTER)]
    return {**_without_history(document), "text": kept, "omitted_chars": len(text) - len(kept)}


def _session_forms(document: WholeSessionDocument, n_bytes: int) -> Iterator[WholeSessionDocument]:
    yield document
    batches = document["batches"]
    n_kept = len(batches)
    while n_kept:
        n_kept //= 2
        document = {**document, "shown": []}
        yield {**document, "batches": batches[:n_kept], "omitted_batches": len(batches) - n_kept}
    yield {**document, "batches": [], "shown": [], "learned": [], "omitted_batches": len(batches)}
