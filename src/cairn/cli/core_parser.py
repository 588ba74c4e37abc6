"""The part of the parser about core files."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from cairn import fields
from cairn.cli.flags import add_field
from cairn.cli.parser import Parser


def add_core_commands(
    commands: argparse._SubParsersAction[Parser], common: Parser, of_action: Parser, lazy: Callable[[str], object]
) -> None:
    """Add `core`; arguments as for `cairn.cli.memory_parser.add_memory_commands`."""
    core = commands.add_parser("core", parents=[common], help="mark the files to know first, and list them")
    actions = core.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    add = actions.add_parser("add", parents=[of_action], help="mark a file, or change its summary")
    add.add_argument("path", metavar="PATH", help="a file of the project")
    add_field(add, "--summary", rule=fields.SUMMARY, metavar="S")
    add.set_defaults(run=lazy("cairn.cli.core:run_add"))
    remove = actions.add_parser("remove", parents=[of_action], help="unmark a file")
    remove.add_argument("path", metavar="PATH", help="a core file")
    remove.set_defaults(run=lazy("cairn.cli.core:run_remove"))
    listing = actions.add_parser(
        "list", parents=[of_action], help="show each file with its summary and what it defines"
    )
    add_field(listing, "--max-tokens", rule=fields.TOKENS, shown_default=fields.DEFAULT_CORE_TOKENS, metavar="N")
    listing.set_defaults(run=lazy("cairn.cli.core:run_list"))
    suggest = actions.add_parser("suggest", parents=[of_action], help="show the most central files that are not marked")
    add_field(suggest, "-n", "--limit", rule=fields.SUGGEST_LIMIT, default=10)
    suggest.set_defaults(run=lazy("cairn.cli.core:run_suggest"))
