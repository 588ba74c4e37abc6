"""The part of the parser that tunes a project and scores questions."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from cairn import fields
from cairn.cli.flags import add_field
from cairn.cli.parser import Parser


def add_optimize_commands(
    commands: argparse._SubParsersAction[Parser], common: Parser, of_action: Parser, lazy: Callable[[str], object]
) -> None:
    """Add `optimize` and `eval`; arguments as for `cairn.cli.memory_parser.add_memory_commands`."""
    optimize = commands.add_parser("optimize", parents=[common], help="tune answers to this project, if that helps")
    actions = optimize.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    run = actions.add_parser("run", parents=[of_action], help="learn from history and use; keep what passes the test")
    add_field(run, "--seed", rule=fields.SEED, default=1, metavar="N")
    add_field(run, "--seconds", rule=fields.TUNING_SECONDS, default=150, metavar="N")
    add_field(run, "--text-calls", rule=fields.TEXT_CALLS, default=200, metavar="N")
    run.add_argument("--propose", action="store_true", help="only propose a version, without using it")
    run.set_defaults(run=lazy("cairn.cli.optimize:run_run"))
    status = actions.add_parser(
        "status", parents=[of_action], help="show what is used, and what there is to learn from"
    )
    status.set_defaults(run=lazy("cairn.cli.optimize:run_status"))
    check = actions.add_parser("check", parents=[of_action], help="judge the version on trial by what was asked since")
    check.set_defaults(run=lazy("cairn.cli.optimize:run_check"))
    apply = actions.add_parser("apply", parents=[of_action], help="use a version")
    add_field(apply, "version", rule=fields.TUNING_VERSION, metavar="NUMBER")
    apply.set_defaults(run=lazy("cairn.cli.optimize:run_apply"))
    rollback = actions.add_parser("rollback", parents=[of_action], help="use the version before")
    rollback.set_defaults(run=lazy("cairn.cli.optimize:run_rollback"))
    history = actions.add_parser("history", parents=[of_action], help="list the versions with their evidence")
    history.set_defaults(run=lazy("cairn.cli.optimize:run_history"))
    diff = actions.add_parser("diff", parents=[of_action], help="show what differs between two versions")
    add_field(diff, "before", rule=fields.TUNING_VERSION, metavar="BEFORE")
    add_field(diff, "after", rule=fields.TUNING_VERSION, metavar="AFTER")
    diff.set_defaults(run=lazy("cairn.cli.optimize:run_diff"))
    _add_eval(commands, common, of_action, lazy)


def _add_eval(
    commands: argparse._SubParsersAction[Parser], common: Parser, of_action: Parser, lazy: Callable[[str], object]
) -> None:
    evaluation = commands.add_parser("eval", parents=[common], help="score answers to questions whose files are known")
    actions = evaluation.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=Parser)
    run = actions.add_parser("run", parents=[of_action], help="score the questions of a file in JSON Lines")
    run.add_argument("questions", metavar="QUESTIONS", help='a line each: {"query": "…", "files": […], "symbols": […]}')
    tool = run.add_mutually_exclusive_group()
    tool.add_argument("--command", metavar="C", help="score a program that prints paths; {query} stands for the query")
    tool.add_argument(
        "--results", metavar="FILE", help='score what another tool found: {"query": "...", "paths": [...]}'
    )
    run.set_defaults(run=lazy("cairn.cli.evaluation:run_run"))
    compare = actions.add_parser("compare", parents=[of_action], help="compare two scores that eval wrote with --json")
    compare.add_argument("before", metavar="A", help="what `cairn eval run --json` printed before")
    compare.add_argument("after", metavar="B", help="what it printed after")
    compare.set_defaults(run=lazy("cairn.cli.evaluation:run_compare"))
    history = actions.add_parser("from-history", parents=[of_action], help="score the subjects of the newest commits")
    add_field(history, "-n", "--limit", rule=fields.EVAL_LIMIT, default=100)
    history.set_defaults(run=lazy("cairn.cli.evaluation:run_history"))
