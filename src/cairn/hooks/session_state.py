"""Remembers of each session what matters for the next answer: what it was shown, read and edited."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

SEARCH_SECONDS = 30.0  # how long a search tells what the next read is about
MOST_SESSIONS = 200
_MOST_PATHS = 400  # values of each kind in a session
_MOST_USES = 100
_MOST_LATE = 3
_MOST_PATTERNS = 4

V = TypeVar("V")


class SearchTarget(NamedTuple):
    """A definition that a search was about.

    Attributes:
        path: of its file, relative to the root.
        symbol: its qualified name; empty for the file as a whole.
        line: on which it begins, 0 if unknown.
    """

    path: str
    symbol: str = ""
    line: int = 0


class LastSearch(NamedTuple):
    """A search and its targets, best first."""

    pattern: str
    targets: tuple[SearchTarget, ...]
    seconds: float


class Known(Generic[V]):
    """A bounded dictionary that forgets its oldest values."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, V] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str) -> V | None:
        """Return a value, None if there is none."""
        with self._lock:
            return self._values.get(name)

    def put(self, name: str, value: V) -> None:
        """Store a value."""
        with self._lock:
            self._values[name] = value
            self._values.move_to_end(name)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def put_new(self, name: str, value: V) -> V:
        """Store a value unless there is one, and return the stored one."""
        with self._lock:
            kept = self._values.setdefault(name, value)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
            return kept

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._values.clear()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return len(self._values)


def _paths() -> Known[str]:
    return Known(_MOST_PATHS)


@dataclass(slots=True)
class SessionState:
    """The state of one session or one of its sub-agents. Threads may share it.

    Attributes:
        shown: by path, the hash of each file whose outline it was shown.
        read: by path, the hash of each file that it has read entirely.
        replaced: by path, the hash of each file that was replaced by something else.
        waiting: by path, whether it has not yet read such a file; its next read passes, whatever the file holds by
            then.
        edited: files that the session or its sub-agents edited.
        named: what else it was told once, such as the callers of a definition.
        replies: answers by use id, since an agent may ask twice.
        asked: the uses that could be answered before the tool ran.
        late: answers that were not ready in time and are still good at the next use; see `cairn.hooks.occasion.Offer`.
        tokens: how many it was shown without asking.
        search: its last search.
        patterns: its recent searches as regular expressions, latest last.
        is_restored: whether its part of the ledger was read.
    """

    shown: Known[str] = field(default_factory=_paths)
    read: Known[str] = field(default_factory=_paths)
    replaced: Known[str] = field(default_factory=_paths)
    waiting: Known[bool] = field(default_factory=lambda: Known(_MOST_PATHS))
    edited: Known[bool] = field(default_factory=lambda: Known(_MOST_PATHS))
    named: Known[bool] = field(default_factory=lambda: Known(_MOST_PATHS))
    replies: Known[Any] = field(default_factory=lambda: Known(_MOST_USES))
    asked: Known[bool] = field(default_factory=lambda: Known(_MOST_USES))
    late: deque[Any] = field(default_factory=lambda: deque(maxlen=_MOST_LATE))
    tokens: int = 0
    search: LastSearch | None = None
    patterns: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_PATTERNS))
    is_restored: bool = False

    def last_search(self, seconds: float) -> LastSearch | None:
        """Return the last search, unless it is older than `SEARCH_SECONDS`."""
        search = self.search
        return search if search is not None and 0 <= seconds - search.seconds <= SEARCH_SECONDS else None

    def forget(self) -> None:
        """Forget what the agent no longer has, as after a compaction, but not what it was denied and what it did."""
        for known in (self.shown, self.read, self.named):
            known.clear()
        self.late.clear()
        self.search = None
        self.patterns.clear()


class SessionStates:
    """The states of a project's sessions; the least recently used are forgotten.

    Args:
        most: how many sessions and sub-agents to remember.
    """

    def __init__(self, most: int = MOST_SESSIONS) -> None:
        self._states: OrderedDict[str, SessionState] = OrderedDict()
        self._edited: OrderedDict[str, Known[bool]] = OrderedDict()
        self._lock = Lock()
        self._most = most

    def of(self, session: str, ledger: str) -> SessionState:
        """Return the state of a session or sub-agent; all of them share the set of edited files."""
        with self._lock:
            state = self._states.get(ledger)
            if state is None:
                edited = self._edited.setdefault(session, Known(_MOST_PATHS))
                state = self._states[ledger] = SessionState(edited=edited)
            self._states.move_to_end(ledger)
            if session in self._edited:
                self._edited.move_to_end(session)
            for kept in (self._states, self._edited):
                while len(kept) > self._most:
                    kept.popitem(last=False)
            return state

    def forget(self, ledger: str) -> None:
        """Forget what an agent was shown, because it no longer has it."""
        with self._lock:
            state = self._states.get(ledger)
        if state is not None:
            state.forget()

    def drop(self, session: str, ledger: str) -> None:
        """Forget a session with its sub-agents, or one sub-agent."""
        with self._lock:
            if ledger != session:
                self._states.pop(ledger, None)
                return
            self._edited.pop(session, None)
            for name in [name for name in self._states if name == session or name.startswith(f"{session}/")]:
                del self._states[name]

    def __len__(self) -> int:
        return len(self._states)
