"""Undoes earlier changes to a document, even if others have edited the file since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cairn.documents.document import Document, Edit
from cairn.documents.nodes import MISSING, Names, Splice, apply_splices
from cairn.documents.values import from_plain, same, to_plain, value_at, with_value
from cairn.errors import ConfigError

_MAX_PLACES = 20

_At = tuple[str | int, ...]


def undo(document: Document, edits: Sequence[Edit], is_ours: Callable[[Any], bool] | None = None) -> Document:
    """Return a document without changes.

    Unchanged edits are reverted byte for byte, so that an otherwise unedited file is restored exactly. Otherwise the
    values are removed, and what was created for them if it is empty. Others' changes stay.

    Args:
        document: of the file as it is now.
        edits: those of the document that was written, in its order.
        is_ours: tells whether an item of a list changed by others is the one that was added.

    Raises:
        ConfigError: if the file cannot be edited any more.
    """
    for edit in reversed(edits):
        path = _place_of(document, edit, is_ours)
        if path is not None:
            document = _respliced(document, edit, path) or _restructured(document, edit, path)
    return document


def _place_of(document: Document, edit: Edit, is_ours: Callable[[Any], bool] | None) -> _At | None:
    """Return where the value of a change is now; None if others removed it, or changed our replacement of theirs."""
    current = value_at(document.values, edit.path)
    if current is MISSING:
        return None
    wanted = from_plain(edit.value)
    if edit.kind == "set":
        return edit.path
    if edit.kind == "replace":
        return edit.path if same(current, wanted) else None
    items = current if isinstance(current, list) and not isinstance(current, Names) else []
    equal = [index for index, item in enumerate(items) if same(item, wanted)]
    ours = equal or [index for index, item in enumerate(items) if is_ours and is_ours(to_plain(item))]
    return (*edit.path, ours[-1]) if ours else None


def _respliced(document: Document, edit: Edit, path: _At) -> Document | None:
    """Return the document with the passages of a change reverted, None if they cannot be found."""
    if edit.kind == "replace":
        accepted = [with_value(document.values, path, from_plain(edit.previous))]
    else:
        accepted = [with_value(document.values, path, MISSING)]
        for length in range(len(path) - 1, len(path) - 1 - _created(edit), -1):
            prefix = path[: max(length, 0)]
            if value_at(accepted[-1], prefix) == []:
                accepted.append(with_value(accepted[-1], prefix, MISSING))
        around = path[: max(len(path) - 1 - _created(edit), 0)]
        if value_at(accepted[-1], around) == []:  # in YAML it may have been a key without a value
            accepted.append(with_value(accepted[-1], around, None))
    for body in _bodies_before(document.body, edit.splices):
        try:
            before = document.with_body(body)
        except ConfigError:
            continue
        if any(before.says(values) for values in accepted):
            return before
    return None


def _restructured(document: Document, edit: Edit, path: _At) -> Document:
    """Return the document without the value of a change, wherever it is now."""
    if edit.kind == "replace":
        return document.set(path, edit.previous)
    return document.remove(path, 1 + _created(edit))


def _created(edit: Edit) -> int:
    """Return how many mappings and lists were created around a value."""
    return edit.created if edit.kind == "append" else max(edit.created - 1, 0)


def _bodies_before(body: bytes, splices: Sequence[Splice]) -> Iterator[bytes]:
    """Yield the possible texts before a change, likeliest first."""
    if not splices:
        return
    places: list[int] = []
    moved = 0
    for splice in splices:
        places.append(splice.at + moved)
        moved += len(splice.inserted.encode()) - len(splice.removed.encode())
    largest = max(range(len(splices)), key=lambda index: len(splices[index].inserted))
    for place in _places(body, splices[largest].inserted.encode(), places[largest]):
        shift = place - places[largest]
        back = [Splice(at + shift, splice.inserted, splice.removed) for at, splice in zip(places, splices, strict=True)]
        if all(splice.at >= 0 and body.startswith(splice.removed.encode(), splice.at) for splice in back):
            yield apply_splices(body, back)


def _places(body: bytes, passage: bytes, home: int) -> list[int]:
    """Return the positions of a passage, nearest to where it was written first.

    An empty passage, from a mere removal, is where it was.
    """
    if not passage:
        return [home]
    places: list[int] = []
    at = body.find(passage)
    while at >= 0 and len(places) < _MAX_PLACES:
        places.append(at)
        at = body.find(passage, at + 1)
    return sorted(places, key=lambda place: abs(place - home))
