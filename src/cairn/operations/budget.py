"""Keeps answers within the tokens asked for, counted in the JSON that is sent; what has no room is counted in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cairn.protocol.documents import FetchedDocument
from cairn.source.text import BYTES_PER_TOKEN, counted, estimate_tokens

_COMMA_BYTES = 2  # between the items of a list, with the space behind it
_COUNT_BYTES = 24  # of a field that tells how many have no room


def size_of(value: object) -> int:
    """Return how many bytes a value has as JSON, the comma behind it included."""
    return len(json.dumps(value)) + _COMMA_BYTES


def room_of(max_tokens: int) -> int:
    """Return how many bytes of JSON are estimated to cost at most so many tokens."""
    return BYTES_PER_TOKEN * (max_tokens + 1) - 1 + _COMMA_BYTES


def count_fitting(items: Sequence[object], room: int) -> int:
    """Return how many items, from the first on, have room in so many bytes."""
    for place, one in enumerate(items):
        room -= size_of(one)
        if room < 0:
            return place
    return len(items)


def fit_lists(document: dict[str, Any], max_tokens: int, lists: Sequence[str]) -> None:
    """Cut lists of a document off where the room ends, the first list being the last to lose, and say so."""
    room = room_of(max_tokens)
    if size_of(document) <= room:
        return
    items = {name: document[name] for name in lists}
    n_items = sum(map(len, items.values()))
    room -= size_of({**document, **{name: [] for name in lists}, **_told(document, n_items, max_tokens)})
    n_kept = 0
    for name in lists:
        kept = items[name][: count_fitting(items[name], room)]
        room = room - sum(map(size_of, kept)) if len(kept) == len(items[name]) else 0
        document[name] = kept
        n_kept += len(kept)
    document.update(_told(document, n_items - n_kept, max_tokens))


def _told(document: Mapping[str, Any], n_cut: int, max_tokens: int) -> dict[str, Any]:
    """Return the field of a document that says how many items were cut."""
    if "omitted" in document:
        return {"omitted": document["omitted"] + n_cut}
    return {
        "notes": [
            *document.get("notes", ()),
            f"{counted(n_cut, 'more does', 'more do')} not fit {counted(max_tokens, 'token')}.",
        ]
    }


def fit_texts(documents: Sequence[FetchedDocument], max_tokens: int) -> list[FetchedDocument]:
    """Return fetched texts without the lines, and where even the rows have no room without the rows, that do not fit.

    The first row is there in any case.
    """
    room = room_of(max_tokens) - size_of([])
    if size_of(documents) <= room:
        return list(documents)
    rows = [{**one, "text": "", "omitted_lines": one["text"].count("\n") + 1} for one in documents]
    shown = list(documents)
    if count_fitting(rows, room) < len(rows):
        shown = shown[: max(1, count_fitting(rows, room - _COUNT_BYTES))]
        shown[-1]["omitted_ids"] = len(documents) - len(shown)
        room -= _COUNT_BYTES
    room -= sum(map(size_of, rows[: len(shown)]))
    for one in shown:
        if (size := _size_of_text(one["text"])) > room:
            cut_text(one, room)
            size = _size_of_text(one["text"])
        room -= size
    return shown


def cut_text(document: FetchedDocument, room: int) -> None:
    """Cut the last lines off a fetched text, so that it has so many bytes as JSON at most."""
    lines = document["text"].split("\n")
    kept: list[str] = []
    for line in lines:
        room -= _size_of_text(line) + _COMMA_BYTES  # a line break is escaped: two bytes, too
        if room < 0:
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
