"""What earlier sessions learned of a project: kept, recalled, and put in order."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from cairn.facets.project_index import ProjectIndex

if TYPE_CHECKING:
    from cairn.memory.lifecycle import Lifecycle
    from cairn.memory.store import MemoryStore


class MemoryFacet:
    """The memory of a project; get it as `Workspace.memory`. Nothing is on disk until something is kept."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    @cached_property
    def store(self) -> MemoryStore:
        """Events, and what they say now."""
        from cairn.memory.store import MemoryStore  # noqa: PLC0415 - start-up time: a search of code needs none of it

        return MemoryStore(self._index.state)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """What can be done with a memory."""
        from cairn.memory.lifecycle import Lifecycle  # noqa: PLC0415 - start-up time: as above

        return Lifecycle(self.store)

    def close(self) -> None:
        """Release the database; it reopens by itself."""
        if "store" in self.__dict__:
            self.store.close()
