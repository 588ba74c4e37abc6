"""The part of the parser for operators of a team's server."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from cairn.cli.flags import number_within, real_within
from cairn.cli.parser import Parser
from cairn.fields import Rule

_Add = Callable[[str, str], Parser]  # an action, by its name and what it does
_PROJECT = "ORGANISATION/NAME"
_PORT = Rule(least=0, most=65_535)
_DAYS = Rule(least=0.001, most=36_500)
_HOURS = Rule(least=0, most=24 * 36_500)
_LEASE_SECONDS = Rule(least=1, most=86_400)
_COUNT = Rule(least=1, most=1_000_000_000)


def add_team_commands(
    commands: argparse._SubParsersAction[Parser], common: Parser, of_action: Parser, lazy: Callable[[str], object]
) -> None:
    """Add `team`; arguments as for `cairn.cli.memory_parser.add_memory_commands`."""
    team = commands.add_parser("team", parents=[common], help="serve many repositories to many people")
    actions = team.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    of_database = Parser(add_help=False, parents=[of_action])
    of_database.add_argument(
        "--database", metavar="ADDRESS", default="", help="of PostgreSQL; by default $CAIRN_TEAM_DATABASE"
    )
    of_objects = Parser(add_help=False, parents=[of_database])
    of_objects.add_argument(
        "--objects", metavar="URL", default="", help="s3://BUCKET/PREFIX or file:///FOLDER; $CAIRN_TEAM_OBJECTS"
    )

    def add(name: str, text: str, parent: Parser = of_database) -> Parser:
        action = actions.add_parser(name, parents=[parent], help=text)
        action.set_defaults(run=lazy(f"cairn.cli.team:run_{name}"))
        return action

    add("migrate", "create or update the tables; run it as their owner")
    _add_projects(add)
    _add_people(add)
    _add_grants(add)
    _add_memories(add)
    status = add("status", "show what is published, what waits, what failed, and which nodes and workers there are")
    status.set_defaults(run=lazy("cairn.cli.team_state:run_status"))
    add("doctor", "look what is wrong with the database, the store, or what was published", of_objects)
    _add_worker(add("worker", "index new commits and publish them, until it is stopped", of_objects))
    _add_serve(add("serve", "answer questions about published projects over HTTP", of_objects))
    collect = add("collect", "delete objects that no published project needs", of_objects)
    collect.add_argument(
        "--grace-hours",
        type=real_within(_HOURS),
        default=24.0,
        metavar="N",
        help="only those older than this; by default 24",
    )


def _add_projects(add: _Add) -> None:
    added = add("add", "add a project, or another branch of one")
    added.add_argument("project", metavar=_PROJECT)
    added.add_argument("url", metavar="URL", help="where workers fetch it from: https, ssh or file")
    added.add_argument("--branch", metavar="NAME", default="main", help="by default main")
    removed = add("remove", "remove a project with all that is published of it")
    removed.add_argument("project", metavar=_PROJECT)
    removed.add_argument("--yes", action="store_true", help="do not ask where people shared memories")
    add("publish", "have a project published again").add_argument("project", metavar=_PROJECT)


def _add_grants(add: _Add) -> None:
    for name, text in (("grant", "let a person read a project"), ("revoke", "let a person no longer read a project")):
        granted = add(name, text)
        granted.add_argument("person", metavar="PERSON")
        granted.add_argument("project", metavar=_PROJECT)
        if name == "grant":
            granted.add_argument("--write", action="store_true", help="and write memories of it")


def _add_memories(add: _Add) -> None:
    memories = add("memories", "list shared memories; export or erase them")
    memories.add_argument("project", metavar=_PROJECT, nargs="?", default="", help="by default all projects")
    memories.add_argument(
        "--person", metavar="NAME", default="", help="only those whose text this person wrote or changed"
    )
    either = memories.add_mutually_exclusive_group()
    either.add_argument("--export", metavar="FILE", default="", help="write all that happened to them; - is stdout")
    either.add_argument("--erase", action="store_true", help="erase them for ever, on every machine that shares them")
    memories.add_argument("--dry-run", action="store_true", help="only say which would be erased")
    memories.add_argument("--yes", action="store_true", help="do not ask before they are erased")


def _add_worker(worker: Parser) -> None:
    worker.add_argument("--folder", metavar="F", required=True, help="where it keeps repositories")
    worker.add_argument("--name", metavar="NAME", default="", help="what it is called; by default the machine's name")
    worker.add_argument(
        "--metrics-port", metavar="PORT", type=number_within(_PORT), help="where Prometheus asks; by default nowhere"
    )
    worker.add_argument("--metrics-host", metavar="ADDRESS", default="127.0.0.1", help="by default 127.0.0.1")
    worker.add_argument(
        "--lease",
        type=real_within(_LEASE_SECONDS),
        default=60.0,
        metavar="N",
        help="seconds until another one takes over; by default 60",
    )
    worker.add_argument("--once", action="store_true", help="look at each branch once, and end when all is published")


def _add_serve(serve: Parser) -> None:
    serve.add_argument("--folder", metavar="F", required=True, help="where it keeps copies; emptied at the start")
    serve.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="to listen at; by default 127.0.0.1")
    serve.add_argument(
        "--port", type=number_within(_PORT), metavar="N", default=37_700, help="by default 37700; 0 for any"
    )
    serve.add_argument("--name", metavar="NAME", default="", help="what it is called; by default machine and port")
    serve.add_argument(
        "--projects", type=number_within(_COUNT), metavar="N", default=64, help="open at once; by default 64"
    )
    serve.add_argument("--audit-queries", action="store_true", help="note in the audit also what was asked for")


def _add_people(add: _Add) -> None:
    token = add("token", "make a token for a person or a service, or revoke theirs")
    token.add_argument("person", metavar="PERSON")
    token.add_argument(
        "--days", type=real_within(_DAYS), default=90.0, metavar="N", help="how long it holds; by default 90"
    )
    token.add_argument(
        "--scope",
        dest="scopes",
        action="append",
        choices=("read", "write", "admin"),
        help="what it is good for, once or several times: read projects (by default), write memories, or admin",
    )
    token.add_argument("--name", metavar="TEXT", default="", help="what it is called in lists")
    token.add_argument("--service", action="store_true", help="it is for a program that is nobody's own")
    token.add_argument(
        "--revoke",
        nargs="?",
        const="all",
        type=_token_number,
        metavar="ID",
        help="revoke this token instead, without ID all of theirs",
    )
    tokens = add("tokens", "list tokens: whose, for what, until when, and when they were last used")
    tokens.add_argument("--person", metavar="NAME", default=None, help="only theirs")
    audit = add("audit", "show who asked what of which project, and what operators did")
    audit.add_argument(
        "--person", metavar="NAME", default=None, help="only what they asked, or what was done about them"
    )
    audit.add_argument("--project", metavar=_PROJECT, default=None, help="only what concerns it")
    audit.add_argument(
        "--since", metavar="DATE", default="", help="only since: a date as 2026-01-31 (UTC), or 12h, 7d, 4w ago"
    )
    audit.add_argument(
        "-n", "--limit", type=number_within(_COUNT), default=1_000, metavar="N", help="at most so many; by default 1000"
    )
    person = add("person", "show all that is kept of a person, as JSON")
    person.add_argument("person", metavar="PERSON")
    either = person.add_mutually_exclusive_group()
    either.add_argument(
        "--revoke", action="store_true", help="revoke all their tokens and grants instead; they cannot sign in"
    )
    either.add_argument("--allow", action="store_true", help="let them sign in again instead, after --revoke")
    either.add_argument("--operator", action="store_true", help="let them operate the server when they sign in instead")
    either.add_argument("--no-operator", action="store_true", help="end that instead")
    either.add_argument("--delete", action="store_true", help="delete all of it instead")


def _token_number(text: str) -> int | str:
    return text if text == "all" else number_within(_COUNT)(text)
