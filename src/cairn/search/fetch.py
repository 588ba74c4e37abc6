"""Fetches the full text of a hit by its id, as it stands now."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cairn.answers import Fetched
from cairn.errors import NotFoundError
from cairn.hints import Hint
from cairn.index.snapshot import Snapshot
from cairn.search.hits import Focus, focus_on
from cairn.search.ids import HitId, path_mark
from cairn.search.library import Library
from cairn.search.mend import Mender
from cairn.source.text import estimate_tokens
from cairn.storage.index import chunk_db, view_db
from cairn.storage.index.chunk_db import ChunkRow
from cairn.types import Span


def fetch_one(library: Library, text_id: str) -> Fetched:
    """Return the text a hit id names.

    Raises:
        NotFoundError: if the id is malformed or no longer in the index.
    """
    snapshot, connection, reader = library.snapshot, library.connection, library.reader
    wanted = HitId.parse(text_id)
    if wanted is None:
        raise NotFoundError(
            f"{text_id!r} is no id of a result",
            Hint("name a definition as PATH#NAME, or take an id from an answer", "search", query=None),
        )
    rows = chunk_db.chunks_by_key(connection, wanted.key)
    found = sorted(((row, path) for row in rows for path in _paths_of(snapshot, row)), key=_by_place)
    if not found:
        raise NotFoundError(
            f"{text_id} is not in the index any more: the code changed", Hint("search again", "search", query=None)
        )
    # The same text in two files has one key; the path's part of the id tells them apart while the file stays there.
    exact = [item for item in found if path_mark(item[1]) == wanted.path]
    row, path = (exact or found)[0]
    focus = _focus(row, wanted.place)
    source = reader.read(path, view_db.file_stamps(connection, reader.view.name, {path: row.blob_id}).get(path))
    if (now := Mender(connection).find(path, source, row, focus.place)) is not None:
        row, place = now
        focus, source = _focus(row, place), replace(source, stale=False)
    span = row.chunk.span if wanted.place is None else focus.span
    text = b"\n".join(source.lines(span.start_line, span.end_line)).decode("utf-8", "replace")
    return Fetched(
        id=text_id,
        kind=focus.kind,
        name=focus.name,
        path=path,
        start_line=span.start_line,
        end_line=span.end_line,
        language=_language(snapshot, path),
        text=text,
        tokens=estimate_tokens(len(text.encode("utf-8"))),
        stale=source.stale,
        revision=reader.view.revision,
    )


def _by_place(found: tuple[ChunkRow, str]) -> tuple[str, Span]:
    return found[1], found[0].chunk.span


def _focus(row: ChunkRow, place: int | None) -> Focus:
    return focus_on(row, frozenset(), None if place is None else row.chunk.definitions[0] + place)


def _paths_of(snapshot: Snapshot, row: ChunkRow) -> list[str]:
    return [snapshot.files.paths[number] for number in np.flatnonzero(snapshot.files.blob_ids == row.blob_id)]


def _language(snapshot: Snapshot, path: str) -> str:
    number = int(snapshot.files.languages[snapshot.files.paths.index(path)])
    return snapshot.files.language_names[number]
