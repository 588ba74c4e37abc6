"""The index that the facets of a project share: kept up to date, read one state at a time, repaired when damaged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TypeVar

from cairn.config import Settings
from cairn.errors import DerivedFileError, IndexDamagedError, IndexMissingError, IndexMovedError, PathError
from cairn.hints import Hint
from cairn.index.state_dir import StateDir
from cairn.index.views import View, Views
from cairn.index.writer import Writer, import_what_follows
from cairn.sharing import OneForAll
from cairn.source.git import Repository, head_revision
from cairn.storage.connection import store_errors
from cairn.storage.index.schema import INDEX
from cairn.types import IndexReport

if TYPE_CHECKING:
    from cairn.answers import Fetched
    from cairn.graph.graph import Graph
    from cairn.index.limits import Progress
    from cairn.model_choice import ConsentRequest
    from cairn.search.library import Library
    from cairn.search.opened import OpenIndex

_T = TypeVar("_T")
_ATTEMPTS = 20  # to answer from an index that changes all the time
_UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Follower(Protocol):
    """Somebody who keeps the index up to date all the time."""

    def catch_up(self, *, waits: bool = True) -> str | None:
        """Wait until all that was saved before is in the index; return a note if that takes too long.

        None if the files have to be compared to know.

        Args:
            waits: whether to wait at all.
        """


class _ProjectReading:
    """What `ProjectIndex.reading` returns: a class, because every question enters one and a generator takes longer."""

    __slots__ = ("_context", "_index", "_progress", "_view")

    def __init__(self, index: ProjectIndex, view: View, progress: Progress | None) -> None:
        self._index = index
        self._view = view
        self._progress = progress
        self._context: AbstractContextManager[Library]

    def __enter__(self) -> Library:
        try:
            return self._enter()
        except IndexMissingError:
            if self._view.revision or not self._index.writer.appears(self._view):
                raise
        return self._enter()

    def _enter(self) -> Library:
        self._context = self._index.open_index().reading(self._view, self._progress)
        return self._context.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._context.__exit__(kind, error, trace)


class ProjectIndex:
    """The index of an opened project, as its facets use it.

    Args:
        root: the folder, absolute.
        state: the folder of its index.
        repository: the checkout it belongs to, None outside git.
        consent_request: what the project's file asks for and the user has not answered yet.
    """

    def __init__(
        self,
        root: Path,
        state: StateDir,
        repository: Repository | None,
        settings: Settings,
        consent_request: ConsentRequest | None,
    ) -> None:
        self.root = root
        self.state = state
        self.repository = repository
        self.settings = settings
        self.consent_request = consent_request
        self.views = Views(root, repository, settings.max_file_bytes, import_what_follows)
        self.writer = Writer(root, state, settings)
        self.opened: OpenIndex | None = None
        self.follower: Follower | None = None
        self._opening, self._mending = Lock(), Lock()
        self._n_replaced = 0  # how often a damaged database was replaced
        self._refreshing: OneForAll[str] = OneForAll()
        self.is_unnamed = (
            False  # whether this is the home folder or `/`, which are indexed only when the user names them
        )

    @property
    def has_history(self) -> bool:
        """Whether the project is in a repository with commits that are to be read."""
        return self.settings.history and self.repository is not None and head_revision(self.repository) is not None

    @property
    def root_on_disk(self) -> Path:
        """The root, once all files are on disk, for code that reads them there by itself."""
        self.views.checkout.ensure_on_disk()
        return self.root

    def close(self) -> None:
        """Release the database; the next question opens it again."""
        with self._opening:
            opened, self.opened = self.opened, None
        if opened is not None:
            opened.close()  # as soon as no other thread reads from it

    def check_named(self) -> None:
        """Make sure that the home folder and `/` are not indexed by mistake.

        Raises:
            PathError: if this is one of them, and the user did not name it.
        """
        if self.is_unnamed:
            raise PathError(
                f"{self.root} is indexed only when you name it, since it may hold much more than a project",
                Hint("name the folder you mean", "index", path=str(self.root)),
            )

    def update(
        self,
        *,
        background: bool = False,
        changed: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the checkout; see `Workspace.index` and `Writer.update`."""
        self.check_named()
        with closing(self.views.checkout) as view:
            return self.writer.update(view, background=background, changed=changed, progress=progress)

    def refresh(self, progress: Progress | None = None, *, branch: str | None = None) -> str:
        """Bring the index up to date for an answer; see `Workspace.refresh`. One thread does it for all that ask."""
        self.check_named()
        if branch is None and (note := self._catch_up()) is not None:
            return note
        with closing(self.views.find(branch)) as view:
            if branch is not None:
                return self.writer.refresh(view, progress)
            return self._refreshing.run(lambda: self.writer.refresh(view, progress))

    def _catch_up(self, *, waits: bool = True) -> str | None:
        """Return what the follower says, None if there is none, or nothing that it could have kept up to date."""
        opened, follower = self.opened, self.follower
        if follower is None or opened is None or opened.is_replaced:
            return None
        return follower.catch_up(waits=waits)

    def _is_followed(self) -> bool:
        """Tell whether a follower says that the index holds all that was saved before."""
        return self._catch_up(waits=False) == ""

    # -- answers ------------------------------------------------------------------------------------------------------

    def answer(self, answer: Callable[[Library], _T], view: View | None = None, progress: Progress | None = None) -> _T:
        """Answer from one state of the index: the newest generation of a view, by default of the checkout."""

        def answer_once() -> _T:
            with self.reading(view or self.views.checkout, progress) as library:
                return answer(library)

        return self.with_repair(answer_once)

    def find_view(self, branch: str | None) -> View:
        """Return the view that answers about a branch, for None the checkout.

        That is the checkout, too, for the branch that is checked out unless that was indexed as a branch.

        Raises:
            RevisionError: if there is no such branch.
        """
        view, checkout = self.views.find(branch), self.views.checkout
        if branch is None or view.branch != checkout.branch or self.writer.is_indexed(view):
            return view
        view.close()
        return checkout

    def reading(self, view: View, progress: Progress | None = None) -> AbstractContextManager[Library]:
        """Return a context that reads one state of a view.

        While another process builds the first index, it waits for its first part.
        """
        return _ProjectReading(self, view, progress)

    @property
    def lacks_vectors(self) -> bool:
        """Whether the configured models lacked vectors for the last answer."""
        return self.opened is not None and self.opened.meanings is not None and self.opened.meanings.incomplete

    @contextmanager
    def open_graph(self, progress: Progress | None) -> Iterator[Graph]:
        """Read the symbol graph of one state of the checkout."""
        with self.reading(self.views.checkout, progress) as library:
            assert library.open_graph is not None  # of a checkout there is one
            yield library.open_graph()

    def fetch(self, text_id: str, branch: str | None = None) -> Fetched:
        """Return the text of a hit; see `OpenIndex.fetch`. A damaged index is not repaired here."""
        if branch is not None and self.find_view(branch) is self.views.checkout:
            branch = None
        return self.open_index().fetch(text_id, branch)

    def open_index(self) -> OpenIndex:
        """Return the open index, which is opened again if another one has taken its place."""
        self.state.check_tracked()  # a pull may have brought other files since
        if (opened := self.opened) is not None and opened.is_replaced:
            self.close()
        with self._opening:
            if self.opened is None:
                from cairn.search.opened import OpenIndex, bundled_model  # noqa: PLC0415 - start-up time: numpy

                redo = partial(self.writer.update, verify=True)
                self.opened = OpenIndex(
                    self.state, self.settings, self.root, self.views, bundled_model, redo, self._is_followed
                )
            return self.opened

    # -- repair -------------------------------------------------------------------------------------------------------

    def with_repair(self, answer: Callable[[], _T]) -> _T:
        """Answer; if the database turns out to be damaged, move it aside, build a new one, and answer from that.

        Raises:
            IndexMovedError: if the index changes all the time.
        """
        for _ in range(_ATTEMPTS):
            try:
                return self._answer_or_repair(answer)
            except IndexMovedError:
                continue
        return self._answer_or_repair(answer)

    def _answer_or_repair(self, answer: Callable[[], _T]) -> _T:
        n_replaced = self._n_replaced
        try:
            with store_errors(self.state.database, INDEX):
                return answer()
        except IndexMissingError:
            with self._mending:  # another thread may be replacing it
                if self._n_replaced == n_replaced:
                    raise
        except DerivedFileError:
            self.close()  # a writer may have replaced the file meanwhile; a damaged one is rebuilt when it is opened
        except IndexDamagedError:
            self._replace_database(n_replaced)
        except _UNFIT:
            # Values have the right type when they are stored. If they no longer have it, the database is damaged;
            # otherwise this is a bug.
            if not self._replace_database(n_replaced, only_damaged=True):
                raise
        with store_errors(self.state.database, INDEX):
            return answer()

    def _replace_database(self, n_replaced: int, *, only_damaged: bool = False) -> bool:
        """Move a damaged database aside and build a new one; return whether this or another thread did."""
        with self._mending:
            if self._n_replaced == n_replaced:
                if only_damaged and not self.writer.is_damaged():
                    return False
                self.close()
                self.writer.set_aside()
                self.update()
                self._n_replaced += 1
            return True
