"""What the memory's tables hold, as values."""

from __future__ import annotations

from typing import NamedTuple


class EventRow(NamedTuple):
    """An event as it is stored: what SQL asks for, beside its canonical body.

    Attributes:
        id: the SHA-256 of the body, 64 hexadecimal digits.
        observation: which it changes.
        other: the observation that supersedes it by this event, else empty.
        time: when, so that texts sort as times do.
        kind: what it does.
        body: canonical JSON.
    """

    id: str
    observation: str
    other: str
    time: str
    kind: str
    body: str


class CodeLink(NamedTuple):
    """What an observation speaks of.

    Attributes:
        path: of a file, relative to the root, with slashes.
        symbol: the qualified name of a definition in it, empty for the file as a whole.
        hash: of the content linked to, when it was linked; empty if it was not there.
    """

    path: str
    symbol: str = ""
    hash: str = ""


class Observation(NamedTuple):
    """One memory, as its events leave it.

    Attributes:
        id: a UUIDv7 in hexadecimal with dashes.
        type: `gotcha`, `decision`, `bug_fix`, `discovery`, `trade_off` or `session_summary`.
        text: empty once it was redacted.
        importance: 1 to 10.
        tags: sorted.
        origin: `captured`, `agent`, `person` or `imported`.
        session: which it was made in, empty for none.
        branch: which was checked out then, empty outside git.
        revision: which commit was checked out then, empty outside git.
        is_shared: it may leave this machine.
        status: `active`, `resolved`, `superseded` or `archived`.
        superseded_by: the observation that took its place, while `superseded`.
        links: sorted.
        actor: who made it, as `agent:claude-code`.
        created, changed: the times of its first and of its last event that counts.
        is_redacted: its text was erased for ever.
    """

    id: str
    type: str
    text: str
    importance: int
    tags: tuple[str, ...]
    origin: str
    session: str
    branch: str
    revision: str
    is_shared: bool
    status: str
    superseded_by: str
    links: tuple[CodeLink, ...]
    actor: str
    created: str
    changed: str
    is_redacted: bool = False
