"""What an operator sees, revokes and deletes of a person: their tokens, and everything that is kept of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from cairn.errors import NotFoundError
from cairn.hints import Hint
from cairn.team.audit import note_deed, read_audit
from cairn.team.catalog import Catalog

_MOST_ROWS = 1_000_000
_SEE_TOKENS = Hint("list the tokens", "team tokens")


class People:
    """Shows and deletes what is kept of people; its methods raise `CatalogError` if the database cannot be reached.

    Args:
        catalog: without a role.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def tokens(self, person: str | None = None) -> list[dict[str, Any]]:
        """Return the tokens of one person or of all, those made last first, as JSON; nobody can use what it shows."""
        names = ("id", "person", "service", "name", "scopes", "created_at", "expires_at", "used_on", "state")
        with self._catalog.transaction() as connection:
            rows = connection.execute(
                """SELECT token.id, person.name, is_service, token.name, scopes, token.created_at, expires_at, used_on,
                       CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
                           ELSE 'valid' END
                   FROM token JOIN person ON person.id = person_id
                   WHERE %s::text IS NULL OR person.name = %s ORDER BY token.id DESC""",
                (person, person),
            ).fetchall()
        return [_document(names, row) for row in rows]

    def revoke_token(self, person: str, number: int) -> None:
        """Revoke one token.

        Raises:
            NotFoundError: if this person has no such token that is not revoked.
        """
        with self._catalog.transaction() as connection:
            found = connection.execute(
                """UPDATE token SET revoked_at = now() FROM person
                   WHERE person.id = person_id AND person.name = %s AND token.id = %s AND revoked_at IS NULL
                   RETURNING 1""",
                (person, number),
            ).fetchone()
            if found is None:
                raise NotFoundError(f"{person} has no token {number}", _SEE_TOKENS)
            note_deed(connection, "revoke token", about=person)

    def everything(self, person: str) -> Mapping[str, object]:
        """Return all that is kept of a person, as JSON.

        Raises:
            NotFoundError: if there is nobody of this name.
        """
        with self._catalog.transaction() as connection:
            row = connection.execute(
                "SELECT id, name, is_service, is_operator, created_at FROM person WHERE name = %s", (person,)
            ).fetchone()
            if row is None:
                raise _nobody(person)
            projects = connection.execute(
                """SELECT organisation || '/' || project.name, may_write
                   FROM access JOIN project ON project.id = project_id
                   WHERE person_id = %s AND NOT is_denied ORDER BY 1""",
                row[:1],
            ).fetchall()
            identities = connection.execute(
                "SELECT provider, subject, verified_at, is_blocked FROM identity WHERE person_id = %s", row[:1]
            ).fetchall()
        return {
            **_document(("person", "service", "operator", "created_at"), row[1:]),
            "identities": [
                _document(("provider", "subject", "verified_at", "blocked"), identity) for identity in identities
            ],
            "tokens": self.tokens(person),
            "projects": [_document(("project", "may_write"), project) for project in projects],
            "audit": read_audit(self._catalog, person=person, limit=_MOST_ROWS),
        }

    def revoke_everything(self, person: str) -> None:
        """Let a person read nothing any more: all their tokens and grants go, and they cannot sign in.

        What an operator denied stays denied when they may sign in again.

        Raises:
            NotFoundError: if there is nobody of this name.
        """
        with self._catalog.transaction() as connection:
            row = connection.execute("SELECT id FROM person WHERE name = %s", (person,)).fetchone()
            if row is None:
                raise _nobody(person)
            connection.execute("UPDATE token SET revoked_at = now() WHERE person_id = %s AND revoked_at IS NULL", row)
            connection.execute("DELETE FROM access WHERE person_id = %s AND NOT is_denied", row)
            connection.execute("UPDATE identity SET is_blocked = true WHERE person_id = %s", row)
            connection.execute("UPDATE person SET is_operator = false WHERE id = %s", row)
            note_deed(connection, "revoke everything", about=person)

    def let_sign_in(self, person: str) -> None:
        """Let a person sign in again after everything of theirs was revoked.

        Raises:
            NotFoundError: if nobody of this name has signed in before.
        """
        with self._catalog.transaction() as connection:
            found = connection.execute(
                """UPDATE identity SET is_blocked = false FROM person
                   WHERE person.id = person_id AND person.name = %s RETURNING 1""",
                (person,),
            ).fetchone()
            if found is None:
                raise _nobody(person)
            note_deed(connection, "let sign in", about=person)

    def set_operator(self, person: str, *, is_operator: bool) -> None:
        """Let a person who signs in do what operators do over HTTP, or no longer.

        Raises:
            NotFoundError: if nobody of this name has signed in before.
        """
        with self._catalog.transaction() as connection:
            found = connection.execute(
                """UPDATE person SET is_operator = %s
                   WHERE name = %s AND EXISTS (SELECT FROM identity WHERE person_id = person.id) RETURNING 1""",
                (is_operator, person),
            ).fetchone()
            if found is None:
                raise NotFoundError(f"nobody called {person} has signed in", _SEE_TOKENS)
            note_deed(connection, "make operator" if is_operator else "end operator", about=person)

    def delete(self, person: str) -> None:
        """Delete all that is kept of a person.

        Raises:
            NotFoundError: if there is nobody of this name.
        """
        with self._catalog.transaction() as connection:
            row = connection.execute("DELETE FROM person WHERE name = %s RETURNING id", (person,)).fetchone()
            if row is None:
                raise _nobody(person)
            connection.execute("DELETE FROM audit WHERE person_id = %s OR about = %s", (row[0], person))
            note_deed(connection, "delete a person")


def _nobody(person: str) -> NotFoundError:
    return NotFoundError(f"the team has nobody called {person}", _SEE_TOKENS)


def _document(names: tuple[str, ...], row: tuple[object, ...]) -> dict[str, Any]:
    """Return a row as JSON."""
    values = (value.isoformat() if isinstance(value, datetime | date) else value for value in row)
    return dict(zip(names, values, strict=True))
