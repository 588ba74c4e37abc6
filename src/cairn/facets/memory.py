"""What earlier sessions learned of a project: kept, recalled, and put in order."""

from __future__ import annotations

from functools import cached_property

from cairn.facets.project_index import ProjectIndex
from cairn.memory.capture import Capture
from cairn.memory.derived import derive
from cairn.memory.lifecycle import Lifecycle
from cairn.memory.recall import Recall
from cairn.memory.sessions import Sessions
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
        listeners = [self.usage.hear, self.capture.hear]
        return Sessions(self.store, self._index.root, listeners, keeps=self._index.settings.memory_capture)

    @cached_property
    def capture(self) -> Capture:
        """Makes memories of what happens in sessions."""
        return Capture(self.store, self.lifecycle, self._index.root)

    @cached_property
    def usage(self) -> MemoryUsage:
        """What was shown and asked, and who reports events."""
        return MemoryUsage(self.store)

    def close(self) -> None:
        """Release the database; it reopens by itself."""
        if "store" in self.__dict__:
            self.store.close()
