"""Fetches the full text of a hit by its id, as it stands now."""

from __future__ import annotations

import numpy as np

from cairn.answers import Fetched
from cairn.errors import NotFoundError
from cairn.hints import Hint
from cairn.index.snapshot import Snapshot
from cairn.search.hits import Focus, focus_on, only_closes
from cairn.search.ids import HitId, path_mark
from cairn.search.library import Library
from cairn.search.mend import Mender
from cairn.source.text import estimate_tokens, shown_text
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
        if text_id in snapshot.files.paths:
            hint = Hint("list what it defines, or name lines of it as PATH:LINE", "outline", file=text_id)
            raise NotFoundError(f"{text_id} is a whole file", hint)
        raise NotFoundError(
            f"{text_id!r} is not the id of a result",
            Hint("name a definition as PATH#NAME or PATH:LINE, or take an id from an answer", "search", query=None),
        )
    rows = chunk_db.chunks_by_key(connection, wanted.key)
    places = sorted(((row, path) for row in rows for path in _paths_of(snapshot, row)), key=_by_place)
    if not places:
        raise NotFoundError(
            f"{text_id} is no longer in the index: the code changed", Hint("search again", "search", query=None)
        )
    # Equal texts in two files have the same key; the id's part for the path tells them apart until the file moves.
    in_its_file = [place for place in places if path_mark(place[1]) == wanted.path]
    row, path = (in_its_file or places)[0]
    focus = _focus(row, wanted.place)
    source = reader.read(path, view_db.file_stamps(connection, reader.view.name, {path: row.blob_id}).get(path))
    if (now := Mender(connection).find(path, source, row, focus.place)) is not None:
        row, place = now
        focus, source = _focus(row, place), source._replace(stale=False)
    span = row.chunk.span if wanted.place is None and not only_closes(row) else focus.span
    text = shown_text(b"\n".join(source.lines(span.start_line, span.end_line)))
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


def _by_place(place: tuple[ChunkRow, str]) -> tuple[str, Span]:
    row, path = place
    return path, row.chunk.span


def _focus(row: ChunkRow, place: int | None) -> Focus:
    return focus_on(row, frozenset(), None if place is None else row.chunk.definitions[0] + place)


def _paths_of(snapshot: Snapshot, row: ChunkRow) -> list[str]:
    return [snapshot.files.paths[number] for number in np.flatnonzero(snapshot.files.blob_ids == row.blob_id)]


def _language(snapshot: Snapshot, path: str) -> str:
    number = int(snapshot.files.languages[snapshot.files.paths.index(path)])
    return snapshot.files.language_names[number]
