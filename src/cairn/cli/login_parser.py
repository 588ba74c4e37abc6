"""The part of the parser for whoever uses a team's server."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from cairn.cli.parser import Parser


def add_login_commands(
    commands: argparse._SubParsersAction[Parser], common: Parser, _of_action: Parser, lazy: Callable[[str], object]
) -> None:
    """Add `login` and `logout`.

    Args:
        commands: of the program.
        common: the options of every command.
        _of_action: not needed: these have no actions.
        lazy: returns what runs a command, by its place.
    """
    login = commands.add_parser("login", parents=[common], help="sign in to a team's server, or list those you are in")
    login.add_argument("url", nargs="?", metavar="URL", help="of the server: https://HOST; without it, all are listed")
    login.add_argument("--token-stdin", action="store_true", help="read a token that an operator made from stdin")
    login.set_defaults(run=lazy("cairn.cli.login:run_login"))
    logout = commands.add_parser("logout", parents=[common], help="forget a team's server and its token")
    logout.add_argument("url", metavar="URL", help="of the server")
    logout.set_defaults(run=lazy("cairn.cli.login:run_logout"))
