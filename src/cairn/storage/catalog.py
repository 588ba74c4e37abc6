"""Lists every store that a state folder may hold; all of them are protected, examined and measured."""

from __future__ import annotations

from cairn.storage.history.schema import HISTORY
from cairn.storage.index.schema import INDEX
from cairn.storage.memory.schema import MEMORY
from cairn.storage.store import Store

STORES: tuple[Store, ...] = (INDEX, MEMORY, HISTORY)
