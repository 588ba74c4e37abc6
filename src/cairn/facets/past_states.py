"""Earlier states of a project, so that commits can be asked of the code that they found."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from cairn.errors import CairnError, StoreError
from cairn.facets.history import HistoryFacet
from cairn.facets.project_index import ProjectIndex
from cairn.index.gc import add_passing_view, drop_passing_views, is_passing, learning_lock
from cairn.index.views import View
from cairn.optimize.examples import Example
from cairn.optimize.from_history import MOST_COMMITS, examples_from_history
from cairn.optimize.run import PastState
from cairn.search.library import Library
from cairn.search.past import PastOfView
from cairn.storage.lock import file_lock

_log = logging.getLogger("cairn.optimize")
STATES = 4  # of which the newest ones answer to what is held out
_FEWEST_OF_STATE = 25
# In a larger project, commits are asked of today's code: each state may have to read most of its files.
MAX_FILES = 20_000
_HISTORY_SECONDS = 30.0


class PastStates:
    """Earlier states of a project; they are in its index until the block ends.

    If the process is killed in the block, they go with the next block that ends, or when garbage is collected.

    Args:
        index: of the project.
        seconds: after that no further state is indexed.
    """

    def __init__(self, index: ProjectIndex, seconds: float) -> None:
        self._index = index
        self._until = time.monotonic() + seconds
        self._held = ExitStack()
        self._has_added = False
        self.found: list[PastState] = []

    def __enter__(self) -> PastStates:
        return self

    def __exit__(self, *_: object) -> None:
        with self._held:
            if not self._has_added:
                return
            try:
                drop_passing_views(self._index.state, self._index.settings.lock_timeout_seconds)
            except StoreError as error:
                _log.warning("the states that a run indexed could not be dropped: %s", error)

    def examples(self, view: View, most: int = MOST_COMMITS) -> list[Example]:
        """Return examples of the newest commits behind a view, oldest first, and add the states they are asked of.

        There may be some more than `most`, or fewer where there is no time for all states.
        Call it before a state of the index is read, for within that there would be no new states.

        Raises:
            StoreLockedError: if another process asks earlier states of the project, and goes on for long.
        """
        with self._index.reading(view) as library:
            past, n_files = library.past, len(library.snapshot.files.paths)
        if past is None:
            return []
        plain = examples_from_history(past.past, past.folder, most)
        if n_files > MAX_FILES:
            return plain
        state, timeout_seconds = self._index.state, self._index.settings.lock_timeout_seconds
        self._held.enter_context(file_lock(learning_lock(state), timeout_seconds, "CAIRN_STATE_DIR"))
        size = max(_FEWEST_OF_STATE, -(-len(plain) // STATES))
        found = list[Example]()
        while len(self.found) < STATES and len(found) < most:
            block = self._block(past, size, {example.group for example in found})
            older = self._add(block, past) if block else None
            if older is None and len(block) > 1:  # the first commit of all has no state before it
                block = block[1:]
                older = self._add(block, past)
            if older is None:
                break
            found, past = [*block, *found], older
        return found or plain

    @staticmethod
    def _block(past: PastOfView, size: int, known: set[str]) -> list[Example]:
        newest = examples_from_history(past.past, past.folder, most=size)
        return [example for example in newest if example.group not in known]

    def _add(self, block: list[Example], past: PastOfView) -> PastOfView | None:
        """Add the state before the oldest of some examples; return its history, None if there is no such state."""
        if time.monotonic() > self._until:
            return None
        try:
            revision = f"{block[0].before}^1"
            view = self._index.views.find(revision)
            with closing(view):
                self._add_view(view)
            HistoryFacet(self._index).update(_HISTORY_SECONDS, branch=view.revision)

            @contextmanager
            def opened() -> Iterator[Library]:
                with self._index.reading(self._index.views.find(view.revision)) as library:
                    yield library._replace(past=past)

            with self._index.reading(view) as library:
                older = library.past
        except (CairnError, OSError) as error:
            _log.info("no state before %s is asked: %s", block[0].before, error)
            return None
        self.found.append(PastState(opened, frozenset(example.group for example in block)))
        return older

    def _add_view(self, view: View) -> None:
        """Index a view, which goes with this unless somebody else had it indexed before."""
        state, writer = self._index.state, self._index.writer
        if not writer.is_indexed(view) or is_passing(state, view.name):
            add_passing_view(state, view.name, self._index.settings.lock_timeout_seconds)
            self._has_added = True
        writer.update(view)
