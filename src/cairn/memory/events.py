"""Events: what happened to observations, immutable and named by their content. What comes from outside is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from sqlite3 import DatabaseError
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from cairn.errors import EventError
from cairn.hints import Hint
from cairn.memory.clock import is_time
from cairn.storage.memory.rows import EventRow

TYPES = ("gotcha", "decision", "bug_fix", "discovery", "trade_off", "session_summary")
STATUSES = ("active", "resolved", "superseded", "archived")
ORIGINS = ("captured", "agent", "person", "imported")
AUTHORITIES = ("rule", "agent", "person")  # the weakest first
ACTORS = ("rule", "agent", "person", "machine")

Kind = Literal["created", "set", "status", "link", "unlink", "redact"]

MAX_TEXT_CHARS = 10_000
MAX_BODY_BYTES = 100_000
MAX_NAME_CHARS = 500
_MAX_TAGS = 20
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ACTOR = re.compile(rf"({'|'.join(ACTORS)}):[^\x00-\x1f\x7f]{{0,200}}")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME_CHARS and value.isprintable()


def _is_path(value: object) -> bool:
    return _is_name(value) and value != "" and not str(value).startswith("/") and ".." not in str(value).split("/")


def _is_tags(value: object) -> bool:
    return isinstance(value, list) and len(value) <= _MAX_TAGS and all(map(_is_name, value))


def _is_importance(value: object) -> bool:
    return type(value) is int and 1 <= value <= 10


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_TEXT_CHARS


def _is_one_of(*names: str) -> Callable[[object], bool]:
    return lambda value: value in names


# What may be said of an observation, and what a value of it has to be.
FIELDS: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "type": _is_one_of(*TYPES),
        "text": _is_text,
        "importance": _is_importance,
        "tags": _is_tags,
        "origin": _is_one_of(*ORIGINS),
        "session": _is_name,
        "branch": _is_name,
        "revision": _is_name,
        "is_shared": lambda value: isinstance(value, bool),
    }
)
_REASON: Mapping[str, Callable[[object], bool]] = {"reason": _is_name}
# Of each kind: the fields that must be there, and those that may.
_VALUES: Mapping[str, tuple[Mapping[str, Callable[[object], bool]], Mapping[str, Callable[[object], bool]]]] = {
    "created": (FIELDS, {}),
    "set": ({}, {**FIELDS, **_REASON}),
    "status": (
        {"status": _is_one_of(*STATUSES)},
        {"superseded_by": lambda value: is_observation_id(value), **_REASON},
    ),
    "link": ({"path": _is_path, "symbol": _is_name, "hash": _is_name}, {}),
    "unlink": ({"path": _is_path, "symbol": _is_name}, {}),
    "redact": ({}, {}),
}
_BODY_FIELDS = ("actor", "authority", "kind", "observation", "project", "time", "value")


class _Fields(NamedTuple):
    observation: str
    project: str
    time: str
    actor: str
    authority: str
    kind: str
    value: Mapping[str, Any]


class Event(_Fields):
    """Something that happened to one observation.

    Attributes:
        observation: its id.
        project: the project it belongs to.
        time: of a `HybridClock`.
        actor: who did it, as `person:ada` or `rule:supersede`.
        authority: `rule`, `agent` or `person`; nothing that a person decided is undone by less.
        kind: what happened.
        value: the details; see `_VALUES`.
    """

    @cached_property
    def body(self) -> str:
        """The canonical form: JSON without spaces, keys in order."""
        return json.dumps(self._asdict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @cached_property
    def id(self) -> str:
        """The SHA-256 of the canonical form, in hexadecimal."""
        return sha256(self.body.encode()).hexdigest()

    @property
    def rank(self) -> int:
        """How much authority it has, higher is more."""
        return AUTHORITIES.index(self.authority)

    def row(self) -> EventRow:
        """Return what is stored of it."""
        other = self.value.get("superseded_by", "")
        return EventRow(self.id, self.observation, other, self.time, self.kind, self.body)


def is_observation_id(value: object) -> bool:
    """Tell whether a value is a UUIDv7 in its usual form."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def parse_event(body: str) -> Event:
    """Return the event that a canonical body says.

    Raises:
        EventError: if it is not an event of this version, or not in the canonical form.
    """
    if len(body) > MAX_BODY_BYTES:
        raise _refusal(f"it is longer than {MAX_BODY_BYTES} characters")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _refusal("it is not JSON") from error
    if not isinstance(document, dict) or sorted(document) != sorted(_BODY_FIELDS):
        raise _refusal(f"its fields are not {', '.join(_BODY_FIELDS)}")
    event = Event(**document)
    check_event(event)
    try:
        is_canonical = event.body == body and body.encode() != b""
    except UnicodeEncodeError as error:
        raise _refusal("it holds half a character") from error
    if not is_canonical:
        raise _refusal("it is not in the canonical form")
    return event


def check_event(event: Event) -> None:
    """Make sure that each part of an event is what it has to be.

    Raises:
        EventError: if one is not.
    """
    if not is_observation_id(event.observation):
        raise _refusal("`observation` is not a UUIDv7")
    if not _is_name(event.project):
        raise _refusal("`project` is not a name")
    if not (isinstance(event.time, str) and is_time(event.time)):
        raise _refusal("`time` is not a time")
    if not (isinstance(event.actor, str) and _ACTOR.fullmatch(event.actor)):
        raise _refusal("`actor` is not KIND:NAME")
    if event.authority not in AUTHORITIES:
        raise _refusal(f"`authority` is not one of {', '.join(AUTHORITIES)}")
    if not (isinstance(event.kind, str) and event.kind in _VALUES):
        raise _refusal("`kind` is not known to this version")
    _check_value(event.kind, event.value)


def _check_value(kind: str, value: object) -> None:
    required, optional = _VALUES[kind]
    if not isinstance(value, dict):
        raise _refusal("`value` is not an object")
    if missing := [name for name in required if name not in value]:
        raise _refusal(f"`{kind}` needs `{missing[0]}`")
    for name, content in value.items():
        if (check := required.get(name) or optional.get(name)) is None:
            raise _refusal(f"`{kind}` has no field {name[:50]!r}")
        if not check(content):
            raise _refusal(f"`{name}` of `{kind}` is not valid")
    if kind == "status" and (value["status"] == "superseded") != ("superseded_by" in value):
        raise _refusal("`superseded_by` goes with the status `superseded`")


def _refusal(reason: str) -> EventError:
    return EventError(f"an event cannot be read: {reason}", Hint.of("doctor"))


def parse_stored(id: str, body: str) -> Event:
    """Return an event as the memory keeps it.

    Raises:
        sqlite3.DatabaseError: if it is not what its id says: then the database is damaged.
    """
    try:
        event = parse_event(body)
    except (EventError, TypeError) as error:
        raise DatabaseError(f"database disk image is malformed: {error}") from error
    if event.id != id:
        raise DatabaseError("database disk image is malformed: an event is not what its id says")
    return event
