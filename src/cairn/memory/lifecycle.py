"""What can happen to a memory: it is made, edited, linked, resolved, superseded, archived, reopened, and erased."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from cairn.errors import AuthorityError, NotFoundError, RequestError
from cairn.hints import Hint
from cairn.memory.events import MAX_TEXT_CHARS, TYPES, Event
from cairn.memory.handles import handle_of
from cairn.memory.ids import new_id
from cairn.memory.redaction import redact
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CodeLink, Observation

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff]")


_MAX_LINE_CHARS = 500
_WHO = {"rule": "a rule", "agent": "an agent", "person": "a person"}


class NewMemory(NamedTuple):
    """A memory to be made; see `Observation` for what the fields mean."""

    text: str
    type: str = "discovery"
    importance: int = 5
    tags: tuple[str, ...] = ()
    links: tuple[CodeLink, ...] = ()
    origin: str = "agent"
    session: str = ""
    branch: str = ""
    revision: str = ""
    is_shared: bool = False


class Remembered(NamedTuple):
    """A memory, whether it was made just now, else it was there already, and what it takes the place of."""

    observation: Observation
    is_new: bool
    replaced: tuple[Observation, ...] = ()


class Lifecycle:
    """Changes the memories of a store. Every change says who made it, and can be undone, except erasing.

    Args:
        store: that holds them.
        now: the machine's clock, in seconds since the epoch.
        after_created: is called with each new memory, in the transaction that makes it; returns what it takes the
            place of.
    """

    def __init__(
        self,
        store: MemoryStore,
        now: Callable[[], float] = time.time,
        after_created: Callable[[Observation], Sequence[Observation]] | None = None,
    ) -> None:
        self._store, self._now, self._after_created = store, now, after_created

    def remember(self, draft: NewMemory, by: By) -> Remembered:
        """Keep a memory, its secrets taken out. An active one that says the same is kept instead, with the new links.

        Raises:
            RequestError: if there is nothing to remember, or no such type.
            StoreError: if it cannot be written.
        """
        text = clean(draft.text)
        if not text:
            raise RequestError("there is nothing to remember: the text is empty")
        if draft.type not in TYPES:
            raise RequestError(f"`type` must be one of {', '.join(TYPES)}")
        with self._store.writing():
            if (same := self._same(text, draft.type)) is not None:
                missing = [link for link in draft.links if link not in same.links]
                changed = self._store.record([_link(same.id, link) for link in missing], by)
                return Remembered(changed[0] if changed else same, False)
            id = new_id(self._now())
            fields = draft._asdict()
            links: Sequence[CodeLink] = fields.pop("links")
            fields.update(text=text, tags=_clean_tags(draft.tags))
            changes = [MemoryChange(id, "created", fields), *(_link(id, link) for link in links)]
            (made,) = self._store.record(changes, by)
            replaced = () if self._after_created is None else tuple(self._after_created(made))
            return Remembered(made, True, replaced)

    def _same(self, text: str, type: str) -> Observation | None:
        wanted = " ".join(text.lower().split())
        for observation in self._store.select(
            Conditions(statuses=("active",), types=(type,), text=max(text.split(), key=len))
        ):
            if " ".join(observation.text.lower().split()) == wanted:
                return observation
        return None

    def edit(self, id: str, by: By, **fields: Any) -> Observation:  # noqa: ANN401 - of any kind that a field has
        """Change fields of a memory, such as `text`, `type`, `importance`, `tags` or `is_shared`.

        Raises:
            AuthorityError: if a person wrote the words that are to change, and this is none.
        """
        if fields.keys() & {"text", "type"}:
            self._check_author(id, by, "change what it says")
        if "text" in fields:
            fields["text"] = clean(fields["text"])
        if "tags" in fields:
            fields["tags"] = _clean_tags(fields["tags"])
        with self._store.writing():
            for part in _parts(fields):
                observation = self._change(id, "set", part, by)
            return observation

    def link(self, id: str, link: CodeLink, by: By) -> Observation:
        """Tie a memory to a file or definition."""
        return self._change(id, "link", link._asdict(), by)

    def unlink(self, id: str, path: str, symbol: str, by: By) -> Observation:
        """Untie a memory from a file or definition."""
        return self._change(id, "unlink", {"path": path, "symbol": symbol}, by)

    def resolve(self, id: str, by: By, reason: str = "") -> Observation:
        """Say that what a memory warns of is no longer so."""
        return self._status(id, "resolved", by, reason)

    def archive(self, id: str, by: By, reason: str = "") -> Observation:
        """Put a memory out of sight."""
        return self._status(id, "archived", by, reason)

    def reopen(self, id: str, by: By, reason: str = "") -> Observation:
        """Make a memory active again."""
        return self._status(id, "active", by, reason)

    def supersede(self, id: str, successor: str, by: By, reason: str = "") -> Observation:
        """Say that another memory takes the place of one.

        Raises:
            RequestError: if it is the same.
        """
        old, new = self._store.observations([id, successor])
        if old.id == new.id:
            raise RequestError("a memory cannot take its own place")
        value = {"status": "superseded", "superseded_by": new.id}
        return self._change(old.id, "status", value | _reason(reason), by)

    def undo(self, id: str, by: By) -> Observation:
        """Undo the last change of a memory: of its status, of what it says, or of what it is tied to.

        Undoing twice is doing it again. A memory that nobody changed is as it was made, and stays so.

        Raises:
            AuthorityError: if a person wrote the words that are to change, or decided on the status, and this is none.
        """
        observation = self._store.observation(id)
        history = self._store.history(observation.id)
        changes = [
            event for event in history[_n_making(history) :] if event.kind != "status" or _counts(event, history)
        ]
        if not changes or changes[-1].kind == "status":
            before = _status_before(observation, history)
            value = {"status": "active"} if before is None else dict(before.value)
            return self._change(observation.id, "status", value, by)
        last = changes[-1]
        earlier = history[: history.index(last)]
        if last.kind == "set":
            return self.edit(observation.id, by, **_fields_before(last, earlier))
        path, symbol = last.value["path"], last.value["symbol"]
        linked = _link_before(path, symbol, earlier)
        return (
            self.unlink(observation.id, path, symbol, by) if linked is None else self.link(observation.id, linked, by)
        )

    def erase(self, id: str, by: By) -> Observation:
        """Erase the text of a memory for ever, here and, through sharing, elsewhere. This cannot be undone.

        Raises:
            AuthorityError: if a person made it, and this is none.
        """
        self._check_author(id, by, "erase it")
        return self._change(id, "redact", {}, by)

    def _check_author(self, id: str, by: By, what: str) -> None:
        """Let nobody but a person touch the words of a person."""
        observation = self._store.observation(id)
        if observation.actor.startswith("person:") and by.authority != "person":
            raise AuthorityError(
                f"{handle_of(observation.id)} was made by a person; {_WHO[by.authority]} cannot {what}",
                Hint("settle it instead", "resolve", ids=(handle_of(observation.id),)),
            )

    def _status(self, id: str, status: str, by: By, reason: str) -> Observation:
        return self._change(id, "status", {"status": status} | _reason(reason), by)

    def _change(self, id: str, kind: str, value: dict[str, Any], by: By) -> Observation:
        with self._store.writing():
            before = self._store.observation(id)
            if before.is_redacted and kind != "redact":
                raise NotFoundError(f"the memory {handle_of(before.id)} was erased", Hint("find them", "memories"))
            self._store.record([MemoryChange(before.id, kind, value)], by)
            now = self._store.observation(before.id)
            if kind == "status" and now.status != value["status"]:
                raise AuthorityError(
                    f"{handle_of(now.id)} is {now.status} because {_WHO[self._decider(now)]} said so; "
                    f"{_WHO[by.authority]} cannot change that",
                    Hint("see why, and who may", "memories show", ids=(handle_of(now.id),)),
                )
            return now

    def _decider(self, observation: Observation) -> str:
        statuses = [event for event in self._store.history(observation.id) if event.kind == "status"]
        return max(statuses, key=lambda event: event.rank).authority


def _n_making(history: Sequence[Event]) -> int:
    """Return how many events made a memory: the links that came with it are not changes of it."""
    n_events = 1
    while n_events < len(history) and history[n_events].kind == "link" and history[n_events].actor == history[0].actor:
        n_events += 1
    return n_events


def _counts(event: Event, history: Iterable[Event]) -> bool:
    """Tell whether the event of a status was of enough authority to count."""
    earlier = [other for other in history if other.kind == "status" and (other.time, other.id) < (event.time, event.id)]
    return all(event.rank >= other.rank for other in earlier)


def _fields_before(change: Event, earlier: Iterable[Event]) -> dict[str, Any]:
    """Return what the fields that an event set were before it."""
    fields: dict[str, Any] = {}
    for event in earlier:
        if event.kind in ("created", "set"):
            fields.update((name, value) for name, value in event.value.items() if name in change.value)
    return fields


def _link_before(path: str, symbol: str, earlier: Iterable[Event]) -> CodeLink | None:
    """Return the link to some code as it was before an event, None if there was none."""
    link = None
    for event in earlier:
        if event.kind in ("link", "unlink") and (event.value["path"], event.value["symbol"]) == (path, symbol):
            link = CodeLink(**event.value) if event.kind == "link" else None
    return link


def _status_before(observation: Observation, history: Iterable[Event]) -> Event | None:
    """Return the event of the status before the present one, None if it was as it was made.

    What was only said again is not another status, and what had too little authority never was one.
    """
    counted: list[Event] = []
    for event in history:
        if event.kind == "status" and (not counted or event.rank >= counted[-1].rank):
            counted.append(event)
    present = (observation.status, observation.superseded_by)
    while counted and _status_of(counted[-1]) == present:
        counted.pop()
    return counted[-1] if counted else None


def _status_of(event: Event) -> tuple[str, str]:
    return event.value["status"], event.value.get("superseded_by", "")


def clean(text: str) -> str:
    """Return a text as it may be kept: without secrets, control characters and half characters, at most so long."""
    whole = redact(_CONTROL.sub("", text.replace("\r\n", "\n").encode("utf-8", "replace").decode())).text.strip()
    return whole if len(whole) <= MAX_TEXT_CHARS else whole[: MAX_TEXT_CHARS - 1] + "…"


def _parts(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Return fields as events have them: what is said once a memory is shared no more must not go with the event."""
    rest = {name: value for name, value in fields.items() if name != "is_shared"}
    if not rest or "is_shared" not in fields:
        return [fields]
    sharing = {"is_shared": fields["is_shared"]}
    return [rest, sharing] if sharing["is_shared"] else [sharing, rest]


def one_line(text: str) -> str:
    """Return a text as names and reasons are kept: on one line, of characters that show, at most 500."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(shown.split())[:_MAX_LINE_CHARS]


def _clean_tags(tags: Iterable[str]) -> list[str]:
    return sorted({one_line(clean(tag)) for tag in tags} - {""})


def _link(id: str, link: CodeLink) -> MemoryChange:
    return MemoryChange(id, "link", link._asdict())


def _reason(reason: str) -> dict[str, str]:
    words = one_line(clean(reason))
    return {"reason": words} if words else {}
