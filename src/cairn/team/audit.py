"""The audit log: who asked what about which project, written in batches in the background, and read by operators."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC
from typing import NamedTuple

from cairn.team.catalog import Catalog, Connection, storable
from cairn.team.recurring import Recurring

REST_SECONDS = 2.0  # between two batches, which is what a killed node loses
_UPKEEP_SECONDS = 6 * 3600.0
_MAX_WAITING = 50_000  # rows kept while the database is away
_MAX_BATCH = 1_000
# The table's limit, since a question may be as long as a request.
_MAX_OPERATION_CHARS, _MAX_PROJECT_CHARS, _MAX_QUERY_CHARS = 100, 250, 2_000


class _Row(NamedTuple):
    asked_at: float
    token: bytes
    operation: str
    project: str
    outcome: str
    query: str | None


class AuditLog:
    """Records questions and writes them in its own thread. Close it when done.

    Args:
        catalog: with the role of a node.
        keeps_queries: whether to keep the words of questions too.
    """

    def __init__(self, catalog: Catalog, *, keeps_queries: bool = False) -> None:
        self._catalog = catalog
        self.keeps_queries = keeps_queries
        self._waiting: deque[_Row] = deque()
        self._writing = threading.Lock()
        self._kept_at = float("-inf")
        self.n_lost = 0
        self._recurring = Recurring(self._work, REST_SECONDS, "cairn-audit", "the audit waits")

    def add(self, token: bytes, operation: str, project: str, outcome: str, query: str = "") -> None:
        """Record a question from the bearer of a token; returns at once.

        Args:
            token: its hash.
            operation: the operation.
            project: the project; empty for none.
            outcome: `ok`, or the code of an error.
            query: their words, dropped unless `keeps_queries`.
        """
        if len(self._waiting) >= _MAX_WAITING:
            self.n_lost += 1
            return
        words = storable(query[:_MAX_QUERY_CHARS]) if self.keeps_queries and query else None
        what, where = storable(operation[:_MAX_OPERATION_CHARS]), storable(project[:_MAX_PROJECT_CHARS])
        self._waiting.append(_Row(time.monotonic(), token, what, where, outcome, words))

    def write(self) -> None:
        """Write all waiting rows.

        Raises:
            CatalogError: if the database cannot be reached; the rows are kept.
        """
        with self._writing:
            while batch := [self._waiting[place] for place in range(min(len(self._waiting), _MAX_BATCH))]:
                now = time.monotonic()
                rows = [
                    {**row._asdict(), "token": row.token.hex(), "age": now - row.asked_at, "asked_at": None}
                    for row in batch
                ]
                with self._catalog.transaction() as connection:
                    connection.execute("SELECT record(%s)", (json.dumps(rows),))
                for _ in batch:
                    self._waiting.popleft()

    def close(self) -> None:
        """Write the waiting rows, if possible, and stop."""
        self._recurring.close()

    def _work(self, _is_last: bool) -> None:
        self._keep()
        self.write()

    def _keep(self) -> None:
        """Create the tables for the next months, and drop the oldest."""
        if time.monotonic() - self._kept_at >= _UPKEEP_SECONDS:
            with self._catalog.transaction() as connection:
                connection.execute("SELECT keep_audit()")
            self._kept_at = time.monotonic()


def note_deed(connection: Connection, deed: str, project: str = "", about: str = "") -> None:
    """Record an operator's action, in the same transaction.

    Args:
        connection: of an owner.
        deed: the name of the action.
        project: the one concerned; empty for none.
        about: the person concerned; empty for none.
    """
    connection.execute(
        """INSERT INTO audit (at, actor, operation, project, about, outcome)
           VALUES (now(), 'operator ' || session_user, %s, %s, %s, 'ok')""",
        (deed, project, about),
    )


def read_audit(
    catalog: Catalog, *, person: str | None = None, project: str | None = None, since: str = "", limit: int = 1_000
) -> list[Mapping[str, object]]:
    """Return what was asked and done as JSON, newest first.

    Args:
        catalog: without a role.
        person: only their questions, and operators' actions about them.
        project: only what concerns it.
        since: only from this time on, such as `2026-01-31T12:00:00`, in UTC.
        limit: the maximal number of rows.

    Raises:
        CatalogError: as `Catalog.transaction`.
    """
    with catalog.transaction() as connection:
        rows = connection.execute(
            """SELECT at, actor, token_id, operation, project, about, outcome, query FROM audit
               WHERE at >= %s::timestamp AT TIME ZONE 'UTC' AND (%s::text IS NULL OR about = %s
                       OR person_id = (SELECT id FROM person WHERE name = %s))
                   AND (%s::text IS NULL OR project = %s)
               ORDER BY at DESC LIMIT %s""",
            (since or "-infinity", person, person, person, project, project, limit),
        ).fetchall()
    names = ("at", "actor", "token", "operation", "project", "about", "outcome", "query")
    return [dict(zip(names, (row[0].astimezone(UTC).isoformat(), *row[1:]), strict=True)) for row in rows]
