"""How the whole of a team's server is: branches by freshness, the queue, nodes, workers, and what goes wrong.

Nodes and workers say every few seconds that they are there; the database keeps the last word of each.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cairn import __version__
from cairn.team.catalog import Catalog, require_scope, storable
from cairn.team.recurring import Recurring

if TYPE_CHECKING:
    from typing import LiteralString

REST_SECONDS = 15.0
_MAX_KINDS, _MAX_MESSAGE_CHARS = 20, 300  # of problems
MAX_BRANCHES = 1_000  # of an answer over HTTP

Part = Literal["node", "worker"]
_HEAR: Mapping[Part, LiteralString] = {
    "node": "SELECT hear_node(%s, %s, %s, %s)",
    "worker": "SELECT hear_worker(%s, %s, %s, %s)",
}


def read_state(catalog: Catalog) -> Any:  # noqa: ANN401 - JSON
    """Return how the whole is, with all branches, those in need first, as JSON.

    Args:
        catalog: without a role.

    Raises:
        CatalogError: as `Catalog.transaction`.
    """
    with catalog.transaction() as connection:
        row = connection.execute("SELECT state(NULL)").fetchone()
    assert row is not None  # it is a function
    return row[0]


def read_parts(catalog: Catalog, part: Part) -> Any:  # noqa: ANN401 - JSON
    """Return the nodes or the workers of it alone.

    Raises:
        CatalogError: as `Catalog.transaction`.
    """
    with catalog.transaction() as connection:
        row = connection.execute("SELECT state(0) -> %s", (f"{part}s",)).fetchone()
    assert row is not None  # it is a function
    return row[0]


def show_state(catalog: Catalog, token: bytes, limit: int) -> Any:  # noqa: ANN401 - JSON
    """Return the same to the bearer of a token with the scope `admin`.

    Args:
        catalog: with the role of a node.
        token: its hash.
        limit: how many branches to name at most.

    Raises:
        CatalogError: as `Catalog.transaction`.
        AccessError, ScopeError: as `require_scope`.
    """
    with catalog.transaction(token) as connection:
        require_scope(connection, "admin")
        row = connection.execute("SELECT show_state(%s)", (min(limit, MAX_BRANCHES),)).fetchone()
    assert row is not None
    return row[0]


class _Problem(NamedTuple):
    code: str
    message: str
    times: int
    last_at: str


class Problems:
    """What went wrong in this process, by its code: how often, and the last of each in words. Threads may share it."""

    def __init__(self) -> None:
        self._noting = threading.Lock()
        self._last: dict[str, _Problem] = {}
        self.count = 0

    def note(self, code: str, message: str) -> None:
        """Note a problem; the kind that is longest ago gives way to a new one if there are very many."""
        with self._noting:
            self.count += 1
            before = self._last.pop(code, None)
            while len(self._last) >= _MAX_KINDS:
                del self._last[next(iter(self._last))]
            now = datetime.now(UTC).isoformat(timespec="seconds")
            times = 1 if before is None else before.times + 1
            self._last[code] = _Problem(code, storable(message[:_MAX_MESSAGE_CHARS]), times, now)

    def rows(self) -> list[Mapping[str, object]]:
        """Return them as JSON, the last first."""
        with self._noting:
            return [problem._asdict() for problem in reversed(self._last.values())]


class Presence:
    """Says that a node or a worker is there, from a thread of its own; close it when that ends in order.

    Args:
        catalog: with its role.
        part: what it is.
        name: what it is called, apart from all others of its kind.
        figures: returns what it says of itself, as JSON.
    """

    def __init__(self, catalog: Catalog, part: Part, name: str, figures: Callable[[], Mapping[str, object]]) -> None:
        self._catalog = catalog
        self._part = part
        self._name = storable(name[:200])
        self._figures = figures
        self._begun = time.monotonic()
        self._recurring = Recurring(
            lambda is_last: self.tell(None if is_last else self._figures()),
            REST_SECONDS,
            "cairn-presence",
            f"operators are not told how this {part} is",
            at_once=True,
        )

    def tell(self, figures: Mapping[str, object] | None) -> None:
        """Write what it says of itself, None if it ends.

        Raises:
            CatalogError: if the database cannot be reached.
        """
        age = timedelta(seconds=time.monotonic() - self._begun)
        said = None if figures is None else json.dumps(figures, ensure_ascii=False)
        with self._catalog.transaction() as connection:
            connection.execute(_HEAR[self._part], (self._name, __version__, age, said))

    def close(self) -> None:
        """Take it out, if that can be done."""
        self._recurring.close()
