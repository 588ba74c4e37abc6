"""The token budget: the one place that decides what has room in an answer (docs/adr/0028-one-token-budget.md).

`max_tokens` bounds the JSON document that is sent, at 4 bytes a token, frame included. Python, HTTP, the command line
and MCP all come through here, so the same question within the same budget has the same hits everywhere. What has no
room is counted in the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cairn.answers import Answer, CodeHit
from cairn.hints import show
from cairn.protocol.documents import (
    FetchedDocument,
    HitDocument,
    OutlineDocument,
    SearchDocument,
    answer_to_dict,
)
from cairn.source.text import BYTES_PER_TOKEN, estimate_tokens, pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import MemoryDocument

_Item = TypeVar("_Item")
_COMMA_BYTES = 2  # between the items of a list, with the space behind it
_COUNT_BYTES = 24  # of a field that says how many have no room
_WIDEST_CHARACTER = 12  # bytes as JSON, escaped in two halves
_WIDEST_MS = 9_999_999.99  # stands for the time that an answer took, or its digits would decide what has room
# What a hit loses to have room, in order; the place, the name and the id stay.
_EXTRAS = ("neighbours", "captures", "score", "explain")
_BARE = ("id", "kind", "name", "filepath", "start_line", "end_line", "project")


def size_of(value: object) -> int:
    """Return how many bytes a value has as JSON, the comma behind it included."""
    return len(json.dumps(value)) + _COMMA_BYTES


class Budget:
    """What is left of `max_tokens` beside what is sent already.

    Args:
        max_tokens: the whole of it.
        frame: what is sent in any case, with its lists empty and its counts as long as they can get.

    Attributes:
        left: bytes; below zero if the frame alone has more than there is room for.
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
        """Make room for a value, and tell whether there is any."""
        if (size := size_of(value)) > self.left:
            return False
        self.left -= size
        return True

    def take_leading(self, items: Sequence[_Item]) -> list[_Item]:
        """Make room for as many items as fit, from the first on, and return them."""
        for place, item in enumerate(items):
            if not self.take(item):
                return list(items[:place])
        return list(items)


# -- searches ----------------------------------------------------------------------------------------------------------


def fit_answer(answer: Answer, max_tokens: int | None) -> Answer:
    """Return an answer with the hits that its JSON document has room for; its notes stay, for nothing sends them."""
    if max_tokens is None:
        return answer
    document = answer_to_dict(answer)
    fit_search(document, max_tokens)
    hits = tuple(map(_as_in_row, answer.code, document["code"]))  # as many as there are rows
    return replace(answer, code=hits, omitted=document["omitted"])


def _as_in_row(hit: CodeHit, row: HitDocument) -> CodeHit:
    """Return a hit without the texts that its row has lost."""
    return replace(
        hit,
        preview=row.get("preview", ""),
        signature=row.get("signature", ""),
        neighbours=hit.neighbours if "neighbours" in row else None,
        captures=hit.captures if "captures" in row else None,
        explain=hit.explain if "explain" in row else None,
    )


def fit_search(document: SearchDocument, max_tokens: int | None) -> None:
    """Cut the hits off where the room ends, and count them.

    The hit at which it ends is shown in a shorter form if that fits. Where not even the first has room, the notes go.
    """
    if max_tokens is None:
        return
    hits = document["code"]
    document_at_most: dict[str, Any] = {**document, "took_ms": _WIDEST_MS}
    if "notes" in document:
        document_at_most["notes"] = [max(note, show(note, "tools"), key=len) for note in document["notes"]]
    if Budget(max_tokens, document_at_most).left >= 0:
        return
    document_at_most |= {"code": [], "omitted": document["omitted"] + len(hits)}
    kept = _leading_hits(hits, Budget(max_tokens, document_at_most))
    if hits and not kept and (notes := document_at_most.pop("notes", None)):
        kept = _leading_hits(hits, Budget(max_tokens, {**document_at_most, "omitted_notes": len(notes)}))
        if kept:
            del document["notes"]
            document["omitted_notes"] = len(notes)
    document["code"] = kept
    document["omitted"] += len(hits) - len(kept)


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
    """Yield a hit whole and then shorter and shorter."""
    yield hit
    short: Mapping[str, object] = {name: value for name, value in hit.items() if name not in _EXTRAS}
    yield cast("HitDocument", {**short, "preview": ""})
    yield cast("HitDocument", {**short, "preview": "", "signature": ""})
    yield cast("HitDocument", {name: hit[name] for name in _BARE if name in hit})  # type: ignore[literal-required] # these are its fields


# -- lists -------------------------------------------------------------------------------------------------------------


def fit_lists(document: dict[str, Any], max_tokens: int, lists: Sequence[str]) -> None:
    """Cut lists of a document off where the room ends, the first list being the last to lose, and say so."""
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
    """Return the field of a document that says how many items were cut."""
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
    """Return the tokens that the text of an outline may have, laid out with all of them, beside what is around it."""
    excess = -_room_beside_text(document, max_tokens).left
    # Marks that JSON writes in two bytes cost something, too.
    return max_tokens if excess <= 0 else max(1, max_tokens - estimate_tokens(excess) - _SPARE_TOKENS)


def fit_outline(document: OutlineDocument, max_tokens: int) -> None:
    """Cut the lists beside an outline's text off where the room ends, and count what they lose."""
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
    """Return fetched texts without the lines, and where even the rows have no room without the rows, that do not fit.

    The first row is there in any case.
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
    """Cut the last lines off a fetched text, so that it has so many bytes as JSON at most."""
    lines = document["text"].split("\n")
    kept: list[str] = []
    for line in lines:
        n_bytes -= _size_of_text(line) + _COMMA_BYTES  # a line break is escaped: two bytes, too
        if n_bytes < 0:
            break
        kept.append(line)
    set_text(document, kept)
    document["omitted_lines"] = len(lines) - len(kept)


def set_text(document: FetchedDocument, lines: Sequence[str]) -> None:
    """Give a fetched text other lines."""
    document["text"] = "\n".join(lines)
    document["tokens"] = estimate_tokens(len(document["text"].encode("utf-8", "replace")))


def _size_of_text(text: str) -> int:
    return len(json.dumps(text)) - len('""')


# -- memories ----------------------------------------------------------------------------------------------------------


def fit_memories(documents: Sequence[MemoryDocument], max_tokens: int) -> list[MemoryDocument]:
    """Return memories as far as they have room: without their history, then with less text, then none.

    The first row is there in any case.
    """
    room = Budget(max_tokens, [])
    if Budget(max_tokens, documents).left >= 0:
        return list(documents)
    room.left -= _COUNT_BYTES
    shown: list[MemoryDocument] = []
    for document in documents:
        forms = _memory_forms(document, room.left)
        form = next(filter(room.take, forms), None)
        if form is None and not shown:
            form = _without_text(document, 0)
        if form is None:
            break
        shown.append(form)
    if n_rest := len(documents) - len(shown):
        shown[-1]["omitted_ids"] = n_rest
    return shown


def _memory_forms(document: MemoryDocument, n_bytes: int) -> Iterator[MemoryDocument]:
    yield document
    yield _without_history(document)
    spare = n_bytes - size_of(_without_text(document, 0))
    if spare > 0:
        yield _without_text(document, spare)


def _without_history(document: MemoryDocument) -> MemoryDocument:
    return {**document, "history": [], "omitted_events": len(document["history"])}


def _without_text(document: MemoryDocument, n_bytes: int) -> MemoryDocument:
    """Return a memory with as much of its text as so many bytes hold, and without its history."""
    text = document["text"]
    kept = text[:n_bytes]
    while (excess := _size_of_text(kept) - n_bytes) > 0 and kept:
        kept = kept[: -max(1, excess // _WIDEST_CHARACTER)]
    return {**_without_history(document), "text": kept, "omitted_chars": len(text) - len(kept)}
