"""The index of one project as answers read it: the newest generation of each view that was asked about, kept open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.config import Settings
from cairn.embedding.static import StaticModel
from cairn.errors import DerivedFileError, IndexLockedError, IndexMissingError, NotFoundError
from cairn.hints import Hint
from cairn.index.snapshot import Snapshot
from cairn.index.store import StateDir
from cairn.index.views import View, Views
from cairn.search.answer import Library
from cairn.search.hits import Reader
from cairn.storage import meta_db, view_db
from cairn.storage.connection import mapped_errors
from cairn.storage.rows import reading

if TYPE_CHECKING:
    from cairn.graph.graph import Graph
    from cairn.index.limits import Progress
    from cairn.search.meaning import Meanings
    from cairn.types import Fetched


_ATTEMPTS = 20  # to read one state of an index that changes all the time


class OpenIndex:
    """What is open of an index; `close` it.

    Args:
        root: the folder it is of.
        views: the views of that folder; the symbol graph is known of the checkout only.
        load_model: returns the bundled model.
        redo: mends the derived files of a view.
    """

    def __init__(
        self,
        state: StateDir,
        settings: Settings,
        root: Path,
        views: Views,
        load_model: Callable[[], StaticModel],
        redo: Callable[[View], object],
    ) -> None:
        self._state = state
        self._settings = settings
        self._root = root
        self._project_views = views
        self._load_model = load_model
        self._redo = redo
        self.connection = state.open_for_reading()
        self._file = _identity_of(state.database)
        self._views: dict[str, tuple[Snapshot, Reader]] = {}  # by name
        self._graph: Graph | None = None
        self.meanings: Meanings | None = None
        if settings.chain:
            from cairn.search.meaning import Meanings  # noqa: PLC0415 - start-up time: most projects need no other

            self.meanings = Meanings(settings.chain, state)

    def close(self) -> None:
        """Release the database and what reads files."""
        self.connection.close()
        if self.meanings is not None:
            self.meanings.close()
        for _, reader in self._views.values():
            reader.view.close()
        self._views.clear()

    @property
    def is_replaced(self) -> bool:
        """Tell whether another database is where this one was: a damaged one was moved aside, or the folder deleted."""
        return _identity_of(self._state.database) != self._file

    @contextmanager
    def reading(self, view: View, progress: Progress | None = None) -> Iterator[Library]:
        """Yield the newest generation of a view; all that the block reads of the database is of this one state.

        Args:
            view: of the checkout or of a branch.
            progress: as for `graph`.

        Raises:
            IndexMissingError: if the view was not indexed yet.
            IndexMovedError: from the block, where it finds so many facts that they are stored; see `Code`.
        """
        for _ in range(_ATTEMPTS):
            opened = self._views.get(view.name) or self._renew(view)
            try:
                with reading(self.connection):
                    if meta_db.state(self.connection) == opened[0].state:
                        yield self._library(opened, view, progress)
                        return
            finally:  # whoever gave up asks again, perhaps
                if self._graph is not None:
                    self._graph.store_facts()
            self._renew(view)
        raise IndexLockedError("the index changes faster than it can be read", "run the command again")

    def fetch(self, text_id: str, branch: str | None) -> Fetched:
        """Return the text that a hit's id names, without a `branch` wherever the index has it; see `Workspace.fetch`.

        Raises:
            NotFoundError, IndexMissingError: if it is not there. What is said is about the checkout, or the `branch`.
        """
        from cairn.search.fetch import fetch_one  # noqa: PLC0415 - start-up time: searching does not need it

        try:
            with self.reading(self._project_views.named(branch)) as library:
                return fetch_one(library, text_id)
        except (NotFoundError, IndexMissingError):
            rows = view_db.read_views(self.connection) if branch is None else ()
            for view in self._project_views.of_revisions(rows):
                with suppress(NotFoundError), self.reading(view) as library:
                    return fetch_one(library, text_id)
            raise

    def _library(self, opened: tuple[Snapshot, Reader], view: View, progress: Progress | None) -> Library:
        snapshot, reader = opened
        open_graph = None if view.revision else partial(self._graph_of, snapshot, progress)
        return Library(snapshot, self.connection, reader, self._load_model(), open_graph, self.meanings)

    def _graph_of(self, snapshot: Snapshot, progress: Progress | None) -> Graph:
        from cairn.graph.graph import Graph  # noqa: PLC0415 - start-up time: searching does not need it

        if self._graph is None:
            self._graph = Graph(self._state, self._root, self._project_views.checkout.name, self._settings)
        self._graph.progress = progress
        with mapped_errors(self._state.database):
            self._graph.refresh(snapshot, self.connection)
        return self._graph

    def _renew(self, view: View) -> tuple[Snapshot, Reader]:
        """Open the newest generation of a view in the place of the one that is open."""
        with mapped_errors(self._state.database):
            opened = self._views[view.name] = self._open(view, self._views.get(view.name))
        return opened

    def _open(self, view: View, last: tuple[Snapshot, Reader] | None) -> tuple[Snapshot, Reader]:
        """Open the newest generation of a view; a damaged derived file is rebuilt on the spot, for it can be."""
        try:
            snapshot = Snapshot.open(self.connection, self._state, view.name)
        except DerivedFileError:
            self._redo(view)
            snapshot = Snapshot.open(self.connection, self._state, view.name)
        except IndexMissingError as error:
            if not view.revision:
                raise
            raise IndexMissingError(
                f"{view.branch} is not indexed yet", Hint.of("index", branch=view.branch)
            ) from error
        if last is not None and last[1].view.revision == snapshot.revision:
            return snapshot, last[1]
        if last is not None:
            last[1].view.close()
        if snapshot.revision != view.revision:  # the branch has moved since: answers are about what was indexed
            view = self._project_views.at_commit(view.name, snapshot.branch, snapshot.revision)
        return snapshot, Reader(view)


def _identity_of(file: Path) -> tuple[int, int] | None:
    """Return what tells one file from another that took its place, None if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
