"""The part of the parser that asks the history."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from cairn import fields
from cairn.cli.flags import add_field
from cairn.cli.parser import Parser, project_option


def add_history_commands(
    commands: argparse._SubParsersAction[Parser], common: Parser, lazy: Callable[[str], object]
) -> None:
    """Add the commands that ask the history.

    Args:
        commands: of the program.
        common: the options of every command.
        lazy: returns what runs a command, by its place.
    """
    asking = Parser(add_help=False, parents=[common, project_option()])
    asking.add_argument("--no-update", action="store_true", help="answer without reading new commits first")
    history = commands.add_parser("history", parents=[asking], help="show which commits solved something like this")
    history.add_argument(
        "query",
        nargs="+",
        metavar="QUERY",
        help=f"{fields.HISTORY_QUERY.text}; the text of @FILE, or of stdin for -",
    )
    add_field(history, "-n", "--limit", rule=fields.HISTORY_LIMIT, default=5)
    history.set_defaults(run=lazy("cairn.cli.history:run_history"))
    related = commands.add_parser("related", parents=[asking], help="show which files change together with a file")
    related.add_argument("file", metavar="FILE", help="a file of the project")
    add_field(related, "-n", "--limit", rule=fields.HISTORY_LIMIT, default=10)
    related.set_defaults(run=lazy("cairn.cli.history:run_related"))
    why = commands.add_parser("why", parents=[asking], help="show which commits shaped some lines")
    add_field(why, "place", rule=fields.SHAPED, metavar="FILE:LINE")
    add_field(why, "-n", "--limit", rule=fields.HISTORY_LIMIT, default=5)
    why.set_defaults(run=lazy("cairn.cli.history:run_why"))
