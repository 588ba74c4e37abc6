"""The commands about Cairn itself, as the command line takes them: settings, completions, help."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Command = Callable[[argparse.Namespace], int]
_Commands = argparse._SubParsersAction  # of any class of parsers


def add_about_commands(
    commands: _Commands[Any],
    common: argparse.ArgumentParser,
    action_common: argparse.ArgumentParser,
    command: Callable[[str], Command],
) -> None:
    """Add the commands; arguments as for `cairn.cli.memory_parser.add_memory_commands`."""
    config = commands.add_parser("config", parents=[common], help="show settings, and change them")
    actions = config.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=type(config))
    get = actions.add_parser("get", parents=[action_common], help="print the value of a setting")
    get.add_argument("name", metavar="NAME", help="such as memory.capture")
    get.set_defaults(run=command("cairn.cli.config:run_get"))
    change = actions.add_parser("set", parents=[action_common], help="change a setting in a file, and nothing besides")
    change.add_argument("name", metavar="NAME", help="such as memory.capture")
    change.add_argument("values", nargs="+", metavar="VALUE", help="what it is from now on; several for a list")
    change.add_argument("--append", action="store_true", help="add the values at the end of a list")
    change.set_defaults(run=command("cairn.cli.config:run_set"))
    unset = actions.add_parser("unset", parents=[action_common], help="take a setting out of a file")
    unset.add_argument("name", metavar="NAME", help="such as memory.capture")
    unset.add_argument("values", nargs="*", default=[], metavar="VALUE", help="of a list, take out only these")
    unset.set_defaults(run=command("cairn.cli.config:run_unset"))
    for action in (change, unset):
        action.add_argument(
            "--shared", action="store_true", help="in the project's file, for everybody who works on it; not in yours"
        )
    show = actions.add_parser("show", parents=[action_common], help="print all settings, and where each comes from")
    show.set_defaults(run=command("cairn.cli.config:run_show"))

    completions = commands.add_parser(
        "completions", parents=[common], help="print what a shell completes, or the manual page"
    )
    completions.add_argument(
        "shell",
        metavar="SHELL",
        choices=("bash", "zsh", "fish", "man"),
        help="bash, zsh or fish; man for the manual page",
    )
    completions.set_defaults(run=command("cairn.cli.completions:run_completions"))

    help_command = commands.add_parser("help", help="print the help of a command")
    # `cairn.cli.parser.in_order` makes `--help` of it before it is parsed.
    help_command.add_argument("command", nargs="*", metavar="COMMAND", help="a command; without one, all are listed")
