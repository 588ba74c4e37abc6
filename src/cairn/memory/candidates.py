"""Decides on the candidates of a session that no rule was sure of: makes memories of them, or drops them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cairn.errors import CairnError
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.links import link_to
from cairn.memory.store import By, MemoryStore
from cairn.memory.summaries import UnsureMemory
from cairn.storage.memory import candidate_db, session_db
from cairn.storage.memory.rows import CapturedCandidate, CodeLink

_MAX_LINKS = 5


class CandidateReview:
    """The candidates of the sessions of a project, for whoever decides on them; an `UnsureMemories`.

    Args:
        store: the memory.
        lifecycle: makes memories.
        root: of the project.
    """

    def __init__(self, store: MemoryStore, lifecycle: Lifecycle, root: Path) -> None:
        self._store, self._lifecycle, self._root = store, lifecycle, root

    def of_session(self, session: str) -> Sequence[UnsureMemory]:
        """Return those of a session that nobody decided on, the surest first."""
        rows = sorted(self._rows(session), key=lambda row: -row.confidence)
        return [UnsureMemory(row.number, row.type, row.text) for row in rows]

    def settle(self, session: str, id: int, type: str | None, by: By) -> None:
        """Make a memory of a type of a candidate; None drops it. One that is no longer there is left alone.

        Raises:
            StoreError: if it cannot be written.
        """
        with self._store.writing() as connection:
            row = next((row for row in self._rows(session) if row.number == id), None)
            if row is None:
                return
            if type is None:
                candidate_db.delete(connection, [id])
                return
            origin = session_db.find(connection, session)
            draft = NewMemory(
                text=row.text,
                type=type,
                importance=row.importance,
                links=tuple(self._links(row)),
                origin="captured",
                session=session,
                branch="" if origin is None else origin.branch,
                revision="" if origin is None else origin.revision,
            )
            made = self._lifecycle.remember(draft, by).observation
            candidate_db.save(connection, row._replace(text="", paths=(), observation=made.id))

    def _rows(self, session: str) -> list[CapturedCandidate]:
        with self._store.reading() as connection:
            return candidate_db.of_session(connection, session)

    def _links(self, row: CapturedCandidate) -> list[CodeLink]:
        links: list[CodeLink] = []
        for path in row.paths[:_MAX_LINKS]:
            try:
                links.append(link_to(self._root, path))
            except CairnError:  # gone since, or not a text
                continue
        return links
