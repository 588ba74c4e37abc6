"""What an operator does: adds projects, and lets people read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import LiteralString, NamedTuple

from cairn.errors import NotFoundError, RequestError
from cairn.hints import Hint
from cairn.registry import is_team_name
from cairn.source.origins import repository_identity
from cairn.team.audit import note_deed
from cairn.team.catalog import Catalog, Connection, Scope
from cairn.team.tokens import new_token, token_hash


class _Deed(NamedTuple):
    """What an operator does, as the audit tells it."""

    name: str
    project: str
    about: str = ""


class Operator:
    """Changes what is wanted and who may read it; every change is one transaction.

    Its methods raise `CatalogError` if the database cannot be reached or refuses.

    Args:
        catalog: without a role.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def add_project(self, project: str, url: str, branch: str) -> None:
        """Add a project with its default branch, or another branch of a project that is there.

        Raises:
            RequestError: if the project has another address: who may read that one may not read this one.
        """
        organisation, name = _parts(project)
        with self._catalog.transaction() as connection:
            connection.execute(
                """INSERT INTO project (organisation, name, url, repository) VALUES (%s, %s, %s, %s)
                   ON CONFLICT DO NOTHING""",
                (organisation, name, url, repository_identity(url)),
            )
            row = connection.execute(
                "SELECT id FROM project WHERE organisation = %s AND name = %s AND url = %s FOR UPDATE",
                (organisation, name, url),
            ).fetchone()
            if row is None:
                raise RequestError(f"there is a project {project} with another address", _remove_it(project))
            connection.execute(
                """INSERT INTO branch (project_id, name, is_default)
                   VALUES (%s, %s, NOT EXISTS (SELECT FROM branch WHERE project_id = %s AND is_default))
                   ON CONFLICT (project_id, name) DO NOTHING""",
                (row[0], branch, row[0]),
            )
            note_deed(connection, "add", project)

    def remove_project(self, project: str) -> None:
        """Remove a project with all that is published of it; its objects go after the grace period.

        Raises:
            NotFoundError: if there is none.
        """
        statement: LiteralString = "DELETE FROM project WHERE organisation = %s AND name = %s RETURNING 1"
        self._change(_Deed("remove", project), statement, *_parts(project))

    def publish_again(self, project: str) -> None:
        """Have all branches of a project published again, each object stored once more; nodes answer meanwhile.

        Whoever is at work on one has lost it.

        Raises:
            NotFoundError: if there is none.
        """
        self._change(
            _Deed("publish", project),
            """UPDATE branch SET again = true, wanted_at = now(), retry_at = '-infinity', looked_at = '-infinity',
                   worker = NULL, leased_until = NULL, fence = fence + 1, n_failures = 0, problem = '' FROM project
               WHERE project.id = project_id AND organisation = %s AND project.name = %s RETURNING 1""",
            *_parts(project),
        )

    def new_token(
        self,
        person: str,
        days: float,
        scopes: Sequence[Scope] = ("read",),
        *,
        name: str = "",
        is_service: bool = False,
    ) -> str:
        """Return a token, which can be shown only now.

        Args:
            person: whom it stands for; may be new.
            days: until it expires.
            scopes: what it is good for.
            name: by which they know it among theirs.
            is_service: that this is not a human being.

        Raises:
            RequestError: if it is a service and was none before, or the other way round.
        """
        token = new_token()
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO person (name, is_service) VALUES (%s, %s) ON CONFLICT DO NOTHING", (person, is_service)
            )
            made = connection.execute(
                """INSERT INTO token (hash, person_id, expires_at, scopes, name)
                   SELECT %s, id, now() + %s, %s, %s FROM person WHERE name = %s AND is_service = %s RETURNING 1""",
                (token_hash(token), timedelta(days=days), list(scopes), name, person, is_service),
            ).fetchone()
            if made is None:
                kind = "a person, and no service" if is_service else "a service, and no person"
                raise RequestError(f"{person} is {kind}", "take another name")
            note_deed(connection, "token", about=person)
        return token

    def revoke_tokens(self, person: str) -> int:
        """Revoke all tokens of a person, and return how many there were; nodes know within seconds."""
        with self._catalog.transaction() as connection:
            note_deed(connection, "revoke tokens", about=person)
            return connection.execute(
                """UPDATE token SET revoked_at = now() FROM person
                   WHERE person.id = person_id AND person.name = %s AND revoked_at IS NULL""",
                (person,),
            ).rowcount

    def grant(self, person: str, project: str, *, may_write: bool = False) -> None:
        """Let a person read a project.

        Args:
            person: who.
            project: which.
            may_write: memories of it, too.

        Raises:
            NotFoundError: if there is no such person or project.
        """
        self._change(
            _Deed("grant", project, person),
            """INSERT INTO access (person_id, project_id, may_write) SELECT person.id, project.id, %s
               FROM person, project WHERE person.name = %s AND organisation = %s AND project.name = %s
               ON CONFLICT (person_id, project_id) DO UPDATE
                   SET may_write = excluded.may_write, from_provider = false, is_denied = false RETURNING 1""",
            may_write,
            person,
            *_parts(project),
        )

    def revoke(self, person: str, project: str) -> None:
        """Let a person no longer read a project, whatever their provider says.

        Raises:
            NotFoundError: if they could not.
        """
        self._change(
            _Deed("revoke", project, person),
            """UPDATE access SET is_denied = true FROM person, project
               WHERE person.id = person_id AND project.id = project_id AND NOT is_denied
                   AND person.name = %s AND organisation = %s AND project.name = %s RETURNING 1""",
            person,
            *_parts(project),
        )

    def _change(self, deed: _Deed, statement: LiteralString, *values: object) -> None:
        with self._catalog.transaction() as connection:
            if connection.execute(statement, values).fetchone() is None:
                raise _lack(connection, deed)
            note_deed(connection, *deed)


def _lack(connection: Connection, deed: _Deed) -> NotFoundError:
    """Return what a deed that changed nothing lacks: the person, the project, or what it would have ended."""
    known = "SELECT 1 FROM person WHERE name = %s"
    if deed.about and connection.execute(known, (deed.about,)).fetchone() is None:
        hint = "people are there once they have signed in or have a token"
        return NotFoundError(f"the team has nobody called {deed.about}", Hint(hint, "team token", person=deed.about))
    known = "SELECT 1 FROM project WHERE organisation = %s AND name = %s"
    if deed.about and connection.execute(known, _parts(deed.project)).fetchone() is not None:
        return NotFoundError(f"{deed.about} may not read {deed.project}", "there is nothing to revoke")
    return NotFoundError(f"the team has no project {deed.project}", Hint("list what there is", "team status"))


def _remove_it(project: str) -> Hint:
    return Hint("take another name, or remove it with its memories and grants", "team remove", team_project=project)


def _parts(project: str) -> tuple[str, str]:
    if not is_team_name(project):
        raise RequestError(f"{project!r} is not the name of a team's project", "name it like ORGANISATION/NAME")
    organisation, _, name = project.partition("/")
    return organisation, name
