"""The index of one project as answers read it: the newest generation of each view, kept open between questions."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cairn import waiting
from cairn.config import Settings
from cairn.embedding.static import StaticModel
from cairn.embedding.static import bundled_model as bundled_model
from cairn.errors import (
    DerivedFileError,
    IndexLockedError,
    IndexMissingError,
    IndexMovedError,
    NotFoundError,
    PathError,
)
from cairn.hints import Hint
from cairn.index.limits import limits_of
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.index.views import View, Views
from cairn.search.fetch import fetch_one
from cairn.search.hits import FileReader
from cairn.search.library import Library
from cairn.search.past import Pasts
from cairn.search.shown import ShownCode
from cairn.search.tuning import tunings_of
from cairn.sharing import Shared
from cairn.source.git import remote_url
from cairn.source.origins import repository_identity
from cairn.storage.connection import Kept, is_frozen, reading, store_errors
from cairn.storage.index import meta_db, view_db
from cairn.storage.index.schema import INDEX

if TYPE_CHECKING:
    from cairn.answers import Fetched
    from cairn.graph.graph import Graph
    from cairn.index.limits import Progress
    from cairn.search.meaning import Meanings


_ATTEMPTS = 20  # to read one state of an index that changes all the time
_MAX_IDLE = 8  # connections that are kept open for later questions
_LOOK_SECONDS = 0.1  # how often a question that waits for the symbol graph checks whether its asker is still there


class _Opened(NamedTuple):
    """The newest known generation of a view, the reader of its files, and what answers from it have shown."""

    snapshot: Snapshot
    reader: FileReader
    shown: ShownCode

    def close(self) -> None:
        self.reader.view.close()


class _ReadContext:
    """What one question holds while it is answered, in one thread.

    Attributes:
        connection: used by no other question in the meantime.
        opened: the views that are being read, by name.
        has_graph: whether this question holds the symbol graph.
        afterwards: runs when the question has been answered.
    """

    def __init__(self, connection: sqlite3.Connection, afterwards: ExitStack) -> None:
        self.connection = connection
        self.opened: dict[str, _Opened] = {}
        self.has_graph = False
        self.afterwards = afterwards


class _ThreadContext(threading.local):
    """The question that this thread is answering."""

    question: _ReadContext | None = None


class OpenIndex:
    """An open index; `close` it.

    Threads may share it: each question has a connection of its own, all share the views, and questions to the symbol
    graph are answered one at a time. After `close`, things stay open until the last question that uses them ends.

    Args:
        root: the folder that is indexed.
        views: the views of that folder; only the checkout has a symbol graph.
        load_model: returns the bundled model.
        redo: rebuilds the derived files of a view.
        is_followed: tells whether all that was saved before is in the index, so that no file need be compared.
    """

    def __init__(
        self,
        state: StateDir,
        settings: Settings,
        root: Path,
        views: Views,
        load_model: Callable[[], StaticModel],
        redo: Callable[[View], object],
        is_followed: Callable[[], bool] = lambda: False,
    ) -> None:
        self._state = state
        self._settings = settings
        self._helpers = limits_of(settings, background=False).helpers
        self._root = root
        self._project_views = views
        self._load_model = load_model
        self._redo = redo
        self._is_followed = is_followed
        self._idle = [state.open_for_reading()]
        self._is_frozen = is_frozen(self._idle[0])
        self._last_state: Kept[meta_db.State] = Kept()
        self._file = _identity_of(state.database)
        self._views: dict[str, Shared[_Opened]] = {}  # by name
        self._opening = threading.Lock()  # of views
        self._graph: Graph | None = None
        self._asking_graph = threading.Lock()
        self._own = _ThreadContext()
        self._pasts = Pasts(state, views.folder, root.name)
        self._tunings = tunings_of(state, settings.memory)
        self._in_use = Shared(self, OpenIndex._release)
        self.meanings: Meanings | None = None
        if settings.chain:
            from cairn.search.meaning import Meanings  # noqa: PLC0415 - start-up time: most projects need no other

            self.meanings = Meanings(settings.chain, state)

    def tuning_number(self, text: str) -> int:
        """Return the number of the tuning that answers a question; 0 for the shipped values."""
        return self._tunings.open().for_question(text).number

    def close(self) -> None:
        """Release the database and the readers of files as soon as no question uses them."""
        self._in_use.retire()

    def _release(self) -> None:
        while self._idle:
            self._idle.pop().close()
        if self.meanings is not None:
            self.meanings.close()
        with self._opening:
            while self._views:
                self._views.popitem()[1].retire()

    @property
    def is_replaced(self) -> bool:
        """Whether another database may have taken the place of this one: it was moved aside, or its folder was deleted.

        So it may where this one was opened as if it never changed, and somebody can write to it.
        """
        may_change = self._is_frozen and os.access(self._state.path, os.W_OK)
        return may_change or _identity_of(self._state.database) != self._file

    @property
    def has_cut_answers(self) -> bool:
        """Whether the symbol graph gave answers that were cut for want of time and can be gone on with."""
        return self._graph is not None and self._graph.answers.are_cut

    @contextmanager
    def reading(self, view: View, progress: Progress | None = None) -> Iterator[Library]:
        """Yield the newest generation of a view; the block reads this one state of the database throughout.

        A block inside such a block of the same thread reads the same state.

        Args:
            view: the checkout or a branch.
            progress: called with (files done, files to do) while the symbol graph reads files.

        Raises:
            IndexMissingError: if the view was not indexed yet.
            IndexMovedError: from the block, when it has extracted so many facts that they were stored; see `Code`.
                Also when the index changed while the block waited for the symbol graph.
            GiveWay: from the block, when another question holds the symbol graph; see `cairn.waiting.give_way`.
        """
        with self._question() as question:
            if (opened := question.opened.get(view.name)) is not None:
                yield self._library(question, opened, view, progress)
                return
            stale = None
            for _ in range(_ATTEMPTS):
                shared = stale = self._current(question.connection, view, stale)
                with shared.use() as opened, reading(question.connection):
                    if self._state_of(question.connection) == opened.snapshot.state:
                        question.opened[view.name] = opened
                        try:
                            yield self._library(question, opened, view, progress)
                        finally:
                            del question.opened[view.name]
                        return
        raise IndexLockedError("the index changes faster than it can be read", "run the command again")

    def _state_of(self, connection: sqlite3.Connection) -> meta_db.State:
        """Return the state that a connection reads, mostly without reading it again: nothing has changed since."""
        return self._last_state.get(connection, None, lambda: meta_db.state(connection))

    def fetch(self, text_id: str, branch: str | None) -> Fetched:
        """Return the text that a hit's id names, from `branch` or from any view that has it; see `Workspace.fetch`.

        Raises:
            NotFoundError, IndexMissingError: if it is not there. The error is about the checkout, or the `branch`.
        """
        with self._question() as question:
            try:
                with self.reading(self._project_views.find(branch)) as library:
                    return fetch_one(library, text_id)
            except (NotFoundError, IndexMissingError):
                rows = view_db.read_views(question.connection) if branch is None else ()
                for view in self._project_views.of_revisions(rows):
                    with suppress(NotFoundError), self.reading(view) as library:
                        return fetch_one(library, text_id)
                raise

    # -- questions side by side ----------------------------------------------------------------------------------------

    @contextmanager
    def _question(self) -> Iterator[_ReadContext]:
        """Yield the question that this thread is answering, or begin one."""
        if (current := self._own.question) is not None:
            yield current
            return
        with self._in_use.use():
            try:
                connection = self._idle.pop()
            except IndexError:  # all connections are in use
                connection = self._state.open_for_reading()
            try:
                with ExitStack() as afterwards:
                    self._own.question = _ReadContext(connection, afterwards)
                    try:
                        yield self._own.question
                    finally:
                        self._own.question = None
            finally:
                if connection.in_transaction or len(self._idle) >= _MAX_IDLE:
                    connection.close()
                else:
                    self._idle.append(connection)

    def _library(self, question: _ReadContext, opened: _Opened, view: View, progress: Progress | None) -> Library:
        open_graph = None if view.revision else partial(self._graph_of, question, opened.snapshot, progress)
        past = self._pasts.open(view.name) if self._settings.history else None
        return Library(
            opened.snapshot,
            question.connection,
            opened.reader,
            opened.shown,
            self._load_model(),
            open_graph,
            self.meanings,
            past,
            self._tunings.open(),
            cache(self._repository_name),
            self._helpers,
            {},
        )

    def _repository_name(self) -> str:
        """Return what the repository that the project was cloned from is called, empty if that is not known."""
        try:
            return repository_identity(remote_url(self._root)).rpartition("/")[2]
        except (OSError, PathError):
            return ""

    # -- the symbol graph ----------------------------------------------------------------------------------------------

    def _graph_of(self, question: _ReadContext, snapshot: Snapshot, progress: Progress | None) -> Graph:
        from cairn.graph.graph import Graph  # noqa: PLC0415 - start-up time: searching does not need it

        if not question.has_graph:
            self._take_graph(question, snapshot)
        if self._graph is None:
            self._project_views.checkout.ensure_on_disk()
            self._graph = Graph(self._state, self._root, self._project_views.checkout.name, self._settings)
        self._graph.progress = progress
        if is_current := self._is_followed():
            _check_newest(question.connection, snapshot)  # what the index holds by now is what was saved before
        with store_errors(self._state.database, INDEX):
            self._graph.refresh(snapshot, question.connection, is_current=is_current)
        return self._graph

    def _take_graph(self, question: _ReadContext, snapshot: Snapshot) -> None:
        """Hold the symbol graph until this question has been answered.

        Work that nobody waits for lets go of it soon.
        """
        is_free = self._asking_graph.acquire(blocking=False)
        if not is_free:
            is_behind = self._graph is not None and self._graph.patience.is_behind
            if not is_behind or not self._asking_graph.acquire(timeout=_LOOK_SECONDS):
                waiting.give_way()
                while not self._asking_graph.acquire(timeout=_LOOK_SECONDS):
                    waiting.check()
        question.has_graph = True
        question.afterwards.callback(self._asking_graph.release)
        question.afterwards.callback(self._store_facts)
        if not is_free:
            _check_newest(question.connection, snapshot)  # or the graph would go back to an older state

    def _store_facts(self) -> None:
        if self._graph is not None:  # a question that was given up may be asked again
            self._graph.store_facts()

    # -- views ---------------------------------------------------------------------------------------------------------

    def _current(self, connection: sqlite3.Connection, view: View, stale: Shared[_Opened] | None) -> Shared[_Opened]:
        """Return an open view; it is opened again if what is open is `stale`."""
        current = self._views.get(view.name)
        if current is not None and current is not stale:
            return current
        with self._opening:
            current = self._views.get(view.name)
            if current is not None and current is not stale:
                return current  # another question opened it meanwhile
            with store_errors(self._state.database, INDEX):
                last = None if current is None else current.thing
                opened = Shared(self._open(connection, view, last), _Opened.close)
            if current is not None:
                current.retire()
            self._views[view.name] = opened
        return opened

    def _open(self, connection: sqlite3.Connection, view: View, last: _Opened | None) -> _Opened:
        """Open the newest generation of a view; a damaged derived file is rebuilt on the spot."""
        try:
            snapshot = Snapshot.open(connection, self._state, view.name, None if last is None else last.snapshot)
        except DerivedFileError:
            self._redo(view)
            snapshot = Snapshot.open(connection, self._state, view.name)
        except IndexMissingError as error:
            if not view.revision:
                raise
            raise IndexMissingError(
                f"{view.branch} is not indexed yet", Hint.of("index", branch=view.branch)
            ) from error
        if last is not None and last.reader.view.revision == snapshot.revision:
            return _Opened(snapshot, last.reader, ShownCode())
        if snapshot.revision != view.revision:  # the branch has moved: answers are about what was indexed
            view = self._project_views.at_commit(view.name, snapshot.branch, snapshot.revision)
        return _Opened(snapshot, FileReader(view), ShownCode())


def _check_newest(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Make sure that a snapshot is of the newest state, and read that state from now on.

    Raises:
        IndexMovedError: if it is not.
    """
    if connection.in_transaction:
        connection.execute("COMMIT")
        connection.execute("BEGIN")
    if meta_db.state(connection) != snapshot.state:
        raise IndexMovedError("another process changed the index meanwhile", "run the command again")


def _identity_of(file: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from another that takes its place, None if there is no file."""
    try:
        status = os.stat(file)  # a third of the time of `Path.stat`
    except OSError:
        return None
    return status.st_dev, status.st_ino
