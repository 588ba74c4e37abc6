"""Answers about memories: JSON documents, and how observations become them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from cairn.types import MemoryStatus, MemoryType


class MemoryRowDocument(TypedDict):
    """A memory as a row of a list. `summary` is how it begins; `tokens` is an estimate for the whole text."""

    id: str
    type: MemoryType
    status: MemoryStatus
    summary: str
    files: list[str]
    importance: int
    tags: list[str]
    created: str
    tokens: int
    superseded_by: NotRequired[str]
    session: NotRequired[str]
    branch: NotRequired[str]
    shared: NotRequired[bool]


class MemoryListDocument(TypedDict):
    """Memories, the newest first: some of `total` that meet the conditions; `omitted` of the page had no room."""

    memories: list[MemoryRowDocument]
    total: int
    omitted: int


class MemoryEventDocument(TypedDict):
    """Something that happened to a memory: when, who did it, what, and its details, such as the reason."""

    time: str
    actor: str
    authority: Literal["rule", "agent", "person"]
    kind: Literal["created", "set", "status", "link", "unlink", "redact"]
    value: dict[str, Any]


class MemoryDocument(TypedDict):
    """A memory as a whole. `uuid` is its full id; `omitted_chars` were cut off its text, `omitted_events` its history.

    `omitted_ids` is in the last one: of so many ids behind it, not even a row had room.
    """

    id: str
    uuid: str
    type: MemoryType
    status: MemoryStatus
    superseded_by: str
    text: str
    files: list[str]
    importance: int
    tags: list[str]
    shared: bool
    origin: Literal["captured", "agent", "person", "imported"]
    actor: str
    session: str
    branch: str
    revision: str
    created: str
    changed: str
    tokens: int
    history: list[MemoryEventDocument]
    omitted_chars: NotRequired[int]
    omitted_events: NotRequired[int]
    omitted_ids: NotRequired[int]


class RememberedDocument(TypedDict):
    """What was kept. `is_new` is false where an active memory says the same: that one is kept, with the new links."""

    id: str
    is_new: bool
    memory: MemoryRowDocument
    notes: list[str]


class ChangedMemoriesDocument(TypedDict):
    """Memories as they are after a change."""

    memories: list[MemoryRowDocument]


class ForgottenDocument(TypedDict):
    """The memories whose text was erased."""

    ids: list[str]
