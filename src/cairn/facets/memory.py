"""What earlier sessions learned of a project: kept, recalled, and put in order."""

from __future__ import annotations

import time
from functools import cached_property

from cairn.facets.project_index import ProjectIndex
from cairn.memory.derived import derive
from cairn.memory.inbox import Inbox, Taken
from cairn.memory.lifecycle import Lifecycle
from cairn.memory.moments import Moment
from cairn.memory.recall import Recall
from cairn.memory.sessions import Sessions
from cairn.memory.spool import Spool
from cairn.memory.store import MemoryStore
from cairn.memory.usage import MemoryUsage, erase_words


class MemoryFacet:
    """The memory of a project; get it as `Workspace.memory`. Nothing is on disk until something is kept."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    @cached_property
    def store(self) -> MemoryStore:
        """Events, and what they say now."""
        return MemoryStore(self._index.state, derive, forget=erase_words)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """What can be done with a memory."""
        return Lifecycle(self.store)

    @cached_property
    def recall(self) -> Recall:
        """Finds memories by what they say."""
        return Recall(self.store, self._index.root, self._index.repository)

    @cached_property
    def sessions(self) -> Sessions:
        """What agents did. Whatever reacts to that is a listener here."""
        listeners = [self.usage.hear]
        return Sessions(self.store, self._index.root, listeners, keeps=self._index.settings.memory_capture)

    @cached_property
    def usage(self) -> MemoryUsage:
        """What was shown and asked, and who reports events."""
        return MemoryUsage(self.store)

    @cached_property
    def inbox(self) -> Inbox:
        """Takes in what agents report."""
        return Inbox(self.sessions, self.store, Spool(self._index.root), self._index.repository)

    def take(self, moment: Moment) -> Taken:
        """Take in what an agent reports, and return what to show it.

        Raises:
            StoreError: if it can neither be taken in nor wait on disk.
        """
        begun = time.perf_counter()
        moment = self.inbox.locate(moment)
        is_captured = self.inbox.take_in(moment)
        context = self.inject(moment)
        self.usage.note_time(moment, 1000 * (time.perf_counter() - begun))
        return Taken(is_captured, context)

    def inject(self, moment: Moment) -> str:
        """Return what to show an agent at a moment, empty for nothing."""
        return ""

    def close(self) -> None:
        """Release the database; it reopens by itself."""
        if "store" in self.__dict__:
            self.store.close()
