"""`cairn team`: what an operator does, the worker, and the server."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.cli.exchange import write_export
from cairn.cli.memories import ask_to_erase
from cairn.cli.notes import printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.cli.stdin import ask_whether, is_anybody_here
from cairn.config import load_settings
from cairn.errors import CatalogError, ConfigError, NotAvailableError, NotFoundError, ObjectStoreError, RequestError
from cairn.loading import load
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.team.catalog import Catalog, Role
    from cairn.team.login_routes import SignInRoutes
    from cairn.team.memories import OperatorOfMemories
    from cairn.team.objects import Objects
    from cairn.team.operator import Operator
    from cairn.team.people import People
    from cairn.team.worker import Worker

_LOOK_REST = timedelta(seconds=60)  # between two looks for new commits of a branch
_REST_SECONDS = 1.0  # of a worker that has nothing to do
_log = logging.getLogger("cairn.team")


@contextmanager
def open_catalog(options: argparse.Namespace, role: Role | None = None) -> Iterator[Catalog]:
    """Yield the database that was named."""
    if find_spec("psycopg") is None or find_spec("obstore") is None:
        raise NotAvailableError("the team's server needs more than is installed", "uv tool install 'codecairn[team]'")
    address = options.database or os.environ.get("CAIRN_TEAM_DATABASE", "")
    if not address:
        raise ConfigError("no database is named", "set CAIRN_TEAM_DATABASE, such as postgresql://HOST/DATABASE")
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # what fails is told once, as an error of ours
    catalog: Catalog = load("cairn.team.catalog:Catalog")(address, role)
    try:
        yield catalog
    finally:
        catalog.close()


@contextmanager
def _operator(options: argparse.Namespace) -> Iterator[Operator]:
    with open_catalog(options) as catalog:
        operator: Operator = load("cairn.team.operator:Operator")(catalog)
        yield operator


@contextmanager
def _people(options: argparse.Namespace) -> Iterator[People]:
    with open_catalog(options) as catalog:
        people: People = load("cairn.team.people:People")(catalog)
        yield people


def _objects(options: argparse.Namespace) -> Objects:
    url = options.objects or os.environ.get("CAIRN_TEAM_OBJECTS", "")
    if not url:
        raise ConfigError("no object store is named", "set CAIRN_TEAM_OBJECTS, such as s3://BUCKET/PREFIX")
    objects: Objects = load("cairn.team.objects:Objects")(url)
    return objects


def run_migrate(options: argparse.Namespace) -> int:
    """Create or update the tables."""
    with open_catalog(options) as catalog:
        steps = catalog.migrate()
    if options.json:
        emit_json({"steps": steps})
    else:
        emit(f"Made: {', '.join(steps)}." if steps else "The tables are up to date.")
    return EXIT_FOUND


def run_add(options: argparse.Namespace) -> int:
    """Add a project, or another branch of one."""
    load("cairn.source.mirror:Mirror")(Path(), options.url, options.branch)  # which refuses what is not an address
    with _operator(options) as operator:
        operator.add_project(options.project, options.url, options.branch)
    return _done(options, f"{options.project} is published as soon as a worker has looked at it.")


def run_remove(options: argparse.Namespace) -> int:
    """Remove a project; with memories that people shared there only if the operator confirms it."""
    if not options.yes and not _may_remove(options):
        return _done(options, "Nothing was removed.")
    with _operator(options) as operator:
        operator.remove_project(options.project)
    return _done(options, f"{options.project} is gone.")


def _may_remove(options: argparse.Namespace) -> bool:
    """Ask whether to remove a project with the memories of a team, which nothing makes again; yes if it has none.

    Raises:
        RequestError: if there is nobody to ask.
    """
    with open_catalog(options) as catalog:
        memories = load("cairn.team.memories:OperatorOfMemories")(catalog, options.project, "")
        try:
            n_shared = sum(not row["erased"] for row in memories.rows())
        except NotFoundError:  # removing says so, too, and how projects are named
            n_shared = 0
    if not n_shared:
        return True
    count = pluralize(n_shared, "memory that is", "memories that are")
    if options.json or not is_anybody_here():
        raise RequestError(
            f"{count} shared in {options.project} would be gone for ever, and nobody is here to be asked",
            f"keep them with: cairn team memories {options.project} --export FILE, then confirm it with --yes",
        )
    return bool(ask_whether(f"Remove {options.project} with {count} shared there? This cannot be undone."))


def run_publish(options: argparse.Namespace) -> int:
    """Have a project published again."""
    with _operator(options) as operator:
        operator.publish_again(options.project)
    return _done(options, f"{options.project} is published again by the next worker.")


def run_token(options: argparse.Namespace) -> int:
    """Make a token for a person, or revoke one of theirs, or all."""
    with _operator(options) as operator:
        if options.revoke == "all":
            n_revoked = operator.revoke_tokens(options.person)
            return _done(options, f"Tokens revoked: {n_revoked}.", {"revoked": n_revoked})
        if options.revoke is None:
            token = operator.new_token(
                options.person,
                options.days,
                options.scopes or ["read"],
                name=options.name,
                is_service=options.service,
            )
            return _done(options, token, {"token": token})
    with _people(options) as people:
        people.revoke_token(options.person, options.revoke)
    return _done(options, "Tokens revoked: 1.", {"revoked": 1})


def run_tokens(options: argparse.Namespace) -> int:
    """List tokens."""
    with _people(options) as people:
        rows = people.tokens(options.person)
    if options.json:
        emit_json({"tokens": rows})
        return EXIT_FOUND if rows else EXIT_NONE
    for row in rows:
        name = f" ({row['name']})" if row["name"] else ""
        used = f"used on {row['used_on']}" if row["used_on"] else "never used"
        emit(printable(f"{row['id']} {row['person']}{name}: {', '.join(row['scopes'])}"))
        emit(f"  {row['state']}, until {str(row['expires_at'])[:10]}, {used}")
    if not rows:
        emit("There are no tokens.")
    return EXIT_FOUND if rows else EXIT_NONE


def run_person(options: argparse.Namespace) -> int:
    """Show all that is kept of a person, or change what they may do, or delete it."""
    with _people(options) as people:
        if options.delete:
            people.delete(options.person)
            return _done(options, f"Nothing is kept of {options.person} any more.")
        if options.allow:
            people.let_sign_in(options.person)
            return _done(options, f"{options.person} may sign in again.")
        if options.operator or options.no_operator:
            people.set_operator(options.person, is_operator=options.operator)
            may = "operates the server once they sign in again" if options.operator else "no longer operates the server"
            return _done(options, f"{options.person} {may}.")
        if options.revoke:
            people.revoke_everything(options.person)
            return _done(options, f"{options.person} may no longer read anything.")
        emit_json(people.everything(options.person))
    return EXIT_FOUND


def run_audit(options: argparse.Namespace) -> int:
    """Show who asked what, and what operators did."""
    since = load("cairn.operations.periods:start_of")(options.since)
    with open_catalog(options) as catalog:
        rows = load("cairn.team.audit:read_audit")(
            catalog, person=options.person, project=options.project, since=since, limit=options.limit
        )
    if options.json:
        emit_json({"audit": rows})
        return EXIT_FOUND if rows else EXIT_NONE
    for row in rows:
        whom = " ".join(filter(None, (row["about"], row["project"])))
        deed = f"{row['operation']} {whom}".rstrip()
        emit(printable(f"{row['at'][:19]} {row['actor']}: {deed} ({row['outcome']})"))
        if row["query"]:
            emit(printable(f"  {row['query']}"))
    if not rows:
        emit("Nothing was noted.")
    return EXIT_FOUND if rows else EXIT_NONE


def run_grant(options: argparse.Namespace) -> int:
    """Let a person read a project."""
    with _operator(options) as operator:
        operator.grant(options.person, options.project, may_write=options.write)
    may = "read and write memories of" if options.write else "read"
    return _done(options, f"{options.person} may {may} {options.project}.")


def run_revoke(options: argparse.Namespace) -> int:
    """Let a person no longer read a project."""
    with _operator(options) as operator:
        operator.revoke(options.person, options.project)
    return _done(options, f"{options.person} may no longer read {options.project}.")


@contextmanager
def _sign_in(options: argparse.Namespace) -> Iterator[SignInRoutes | None]:
    """Yield where people sign in, None if they do not."""
    kind, url, client, secret, webhook = (
        os.environ.get(f"CAIRN_TEAM_{name}", "")
        for name in ("SIGN_IN", "SIGN_IN_URL", "SIGN_IN_CLIENT", "SIGN_IN_SECRET", "WEBHOOK_SECRET")
    )
    if not kind:
        yield None
        return
    provider = load("cairn.team.providers:provider_of")(kind, url, client, secret)
    with open_catalog(options, "cairn_login") as catalog:
        sign_in = load("cairn.team.sign_in:SignIn")(catalog, provider)
        routes: SignInRoutes = load("cairn.team.login_routes:SignInRoutes")(sign_in, webhook)
        yield routes


def _done(options: argparse.Namespace, text: str, document: dict[str, object] | None = None) -> int:
    if options.json:
        emit_json({"done": True} if document is None else document)
    else:
        emit(text)
    return EXIT_FOUND


def run_memories(options: argparse.Namespace) -> int:
    """List, export or erase shared memories of a project or a person."""
    if options.erase and not (options.project or options.person):
        raise RequestError("all memories of the team would be erased", "name a project or a --person")
    with open_catalog(options) as catalog:
        memories = load("cairn.team.memories:OperatorOfMemories")(catalog, options.project, options.person)
        if options.erase:
            return _erase(options, memories)
        if options.export:
            n_events = write_export(options.export, memories.export())
            return EXIT_FOUND if n_events else EXIT_NONE
        rows = memories.rows()
    if options.json:
        emit_json({"memories": rows})
    for row in [] if options.json else rows:
        emit(_shared_memory(row))
    if not rows and not options.json:
        emit("No memories are shared.")
    return EXIT_FOUND if rows else EXIT_NONE


def _shared_memory(row: Mapping[str, Any]) -> str:
    state = "erased" if row["erased"] else "taken back" if row["taken_back"] else "shared"
    people = printable(", ".join(row["people"]) or "nobody any more")
    return f"{row['project']} {row['memory']}: {state}, {pluralize(row['events'], 'event')} by {people}"


def _erase(options: argparse.Namespace, memories: OperatorOfMemories) -> int:
    """Erase memories, if the operator confirms it, or say which would be."""
    rows = [row for row in memories.rows() if not row["erased"]]
    count = pluralize(len(rows), "memory", "memories")
    for row in [] if options.yes or options.json else rows:
        emit(_shared_memory(row))
    if options.dry_run:
        return _done(options, f"Would erase {count}.", {"memories": rows})
    if rows and not options.yes and not _confirm(options, len(rows)):
        return _done(options, "Nothing was erased.", {"erased": 0})
    n_erased = memories.erase(time.time())
    return _done(options, f"Erased {pluralize(n_erased, 'memory', 'memories')}.", {"erased": n_erased})


def _confirm(options: argparse.Namespace, n_memories: int) -> bool:
    """Ask the operator whether to erase memories.

    Raises:
        RequestError: if there is nobody to ask.
    """
    if options.json or not is_anybody_here():
        raise RequestError(
            f"{pluralize(n_memories, 'memory', 'memories')} would be gone for ever, and nobody is here to be asked",
            "see which with --dry-run, then confirm it with --yes",
        )
    return ask_to_erase(n_memories)


def run_worker(options: argparse.Namespace) -> int:
    """Publish what is wanted, until a signal says to stop; a branch that was begun is finished by another worker."""
    load("cairn.team.logs:start_log")()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    name = options.name or f"{socket.gethostname()}-{os.getpid()}"
    with open_catalog(options, "cairn_worker") as catalog:
        folder, lease = Path(options.folder).absolute(), timedelta(seconds=options.lease)
        make: Callable[..., Worker] = load("cairn.team.worker:Worker")
        worker = make(catalog, _objects(options), folder, name, load_settings(None), lease)
        if options.metrics_port is not None:
            load("cairn.team.metrics:serve_worker_metrics")(catalog, options.metrics_host, options.metrics_port)
        if options.once:
            _publish(worker, stop, once=True)
        else:
            with closing(load("cairn.team.state:Presence")(catalog, "worker", name, worker.figures)):
                _publish(worker, stop, once=False)
    return EXIT_FOUND


def _publish(worker: Worker, stop: threading.Event, *, once: bool) -> None:
    """Publish what is wanted: until it is told to stop, or all that is there once."""
    begun = time.monotonic()
    while not stop.is_set():
        # Once: each branch is looked at, even if another worker has just done so.
        rest = timedelta(seconds=time.monotonic() - begun) if once else _LOOK_REST
        try:
            is_busy = worker.look(rest) | worker.work()
        except (CatalogError, ObjectStoreError) as error:
            if once:
                raise
            _log.warning("%s", error)
            is_busy = False
        if not is_busy and once:
            break
        if not is_busy:
            stop.wait(_REST_SECONDS)


def run_serve(options: argparse.Namespace) -> int:
    """Serve until a signal says to stop."""
    load("cairn.team.logs:start_log")()
    with open_catalog(options, "cairn_node") as catalog, _sign_in(options) as sign_in:
        load("cairn.team.serving:serve")(
            catalog,
            _objects(options),
            Path(options.folder).absolute(),
            options.host,
            options.port,
            max_open=options.projects,
            name=options.name,
            keeps_queries=options.audit_queries,
            sign_in=sign_in,
        )
    return EXIT_FOUND


def run_collect(options: argparse.Namespace) -> int:
    """Delete objects that no published project needs."""
    with open_catalog(options, "cairn_worker") as catalog:
        n_deleted = load("cairn.team.worker:collect")(catalog, _objects(options), timedelta(hours=options.grace_hours))
    return _done(options, f"Objects deleted: {n_deleted}.", {"deleted": n_deleted})


def run_doctor(options: argparse.Namespace) -> int:
    """Look what is wrong with the server."""
    with open_catalog(options) as catalog:
        found = list(load("cairn.team.doctor:examine")(catalog, _objects(options)))
    problems = [look for look in found if look.problem]
    if options.json:
        emit_json({"looks": [{"name": look.name, "problem": look.problem, "hint": str(look.hint)} for look in found]})
    else:
        for look in found:
            emit(printable(f"{look.name}: {look.problem or 'as it should be'}"))
            if look.problem:
                emit(f"  {look.hint}")
    return EXIT_NONE if problems else EXIT_FOUND
