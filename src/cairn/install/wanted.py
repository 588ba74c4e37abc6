"""What agents want in a file, and the resulting content."""

from __future__ import annotations

import json
from typing import NamedTuple

from cairn.hooks.adapter import Block, Change, FileEntry, Item
from cairn.install.record import Kind, Piece

_KINDS: dict[type, Kind] = {FileEntry: "entry", Item: "item", Block: "block"}


class Wanted(NamedTuple):
    """A change, and the agents that need it."""

    agents: tuple[str, ...]
    change: Change

    def piece(self) -> Piece:
        """Return the piece for it, as if it already existed."""
        change = self.change
        kind = _KINDS.get(type(change), "whole")
        if isinstance(change, FileEntry | Item):
            is_default = isinstance(change, FileEntry) and change.is_default
            value = json.loads(json.dumps(change.value))  # as parsed from a file: no tuples
            return Piece(self.agents, kind, change.path, value, is_default)
        return Piece(self.agents, kind, (), change.text)


class Edited(NamedTuple):
    """The result of editing a file.

    Attributes:
        content: None for no file.
        pieces: our parts of it.
        notes: what is left alone although it is not as wanted, in sentences.
        conflicts: what is in the way, in sentences.
        base: the content without our parts.
    """

    content: bytes | None
    pieces: tuple[Piece, ...] = ()
    notes: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    base: bytes | None = None
