"""`cairn init`, `cairn install` and `cairn uninstall`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from cairn.cli.index import index_project
from cairn.cli.install_text import (
    change_row,
    emit_agents,
    emit_changes,
    emit_results,
    emit_steps,
    note_problems,
    plan_row,
)
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE, EXIT_USAGE
from cairn.cli.render import emit, emit_json
from cairn.cli.stdin import ask_whether, is_anybody_here
from cairn.client import ensure
from cairn.errors import CairnError, PathError
from cairn.hints import Hint
from cairn.install.apply import Outcome
from cairn.install.diff import unified_diff
from cairn.install.place import home_folder
from cairn.install.selftest import SelfTest, SelfTestResult
from cairn.install.setup import SetupPlan, plan_init, plan_uninstall
from cairn.runtime import StateFolder
from cairn.source.text import pluralize
from cairn.workspace import Workspace

_NOTHING = Outcome((), ())


def run_init(options: argparse.Namespace) -> int:
    """Tell the agents in use of Cairn, index the project, and try what was set up."""
    root, is_project = _root(options)
    if not options.user and (not is_project or root == home_folder()):
        raise PathError(
            f"{root} is not a project", Hint("name one, or set up agents for all of them", "init", user=True)
        )
    plan = plan_init(root, "user" if options.user else "project", options.agents)
    if options.dry_run:
        return _show_diff(plan, as_json=options.json)
    if not options.json:
        emit_agents(plan)
        emit_changes(plan)
    if plan.to_write and not (options.yes or _consents(plan, options)):
        if options.json:
            emit_json(plan_row(plan, _NOTHING))
        note_problems(plan.problems)
        return EXIT_USAGE
    outcome = plan.carry_out()
    if not options.json:
        _say_what_was_done(plan, outcome, options)
    note_problems([*plan.problems, *outcome.failed])
    document: dict[str, Any] = plan_row(plan, outcome)
    code = EXIT_FOUND
    if is_project:
        document["index"], code = index_project(_for_index(options))
    results = [] if options.no_daemon or options.state_dir else _try_all(plan, options)
    document["tests"] = [result._asdict() for result in results]
    failed = plan.problems or outcome.failed or any(not result.works for result in results)
    if options.json:
        emit_json(document)
    elif outcome.written and results and not failed:
        emit(f"Start an agent {'in any project' if options.user else 'here'}. What it does and learns: cairn ui")
    return EXIT_USAGE if failed else code


def _root(options: argparse.Namespace) -> tuple[Path, bool]:
    """Return the project's folder, and whether it is to be indexed."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        return workspace.root, not workspace.is_unnamed


def _for_index(options: argparse.Namespace) -> argparse.Namespace:
    given = vars(options) | {"path": None, "branch": None, "full": False, "skipped": False, "ask": False}
    return argparse.Namespace(**given)


def _show_diff(plan: SetupPlan, *, as_json: bool) -> int:
    diff = unified_diff(plan.changes)
    if as_json:
        emit_json(plan_row(plan, _NOTHING) | {"diff": diff})
    else:
        sys.stdout.write(diff)
        if not diff:
            emit("Nothing would change.")
    note_problems(plan.problems)
    return EXIT_USAGE if plan.problems else EXIT_FOUND


def _consents(plan: SetupPlan, options: argparse.Namespace) -> bool:
    """Ask once, on a terminal, whether to write; else say how to go on."""
    number = pluralize(len(plan.to_write), "file")
    if options.json or not is_anybody_here():
        agents = "".join(f" --agent {name}" for name in options.agents)
        again = f"cairn init{agents}{_place_flags(options)} --yes"
        note(f"Nothing was written, because nobody can be asked.\n  try: {again}   (--dry-run shows every line)")
        return False
    if ask_whether(f"Write {number}? (--dry-run shows every line)"):
        return True
    note("Nothing was written.")
    return False


def _say_what_was_done(plan: SetupPlan, outcome: Outcome, options: argparse.Namespace) -> None:
    if outcome.written:
        number = pluralize(len(outcome.written), "file")
        emit(f"Wrote {number}. To take it back: cairn uninstall{_place_flags(options)}")
        emit_steps(plan, outcome)
    if outcome.failed:
        names = ", ".join(printable(change.shown) for change in outcome.failed)
        emit(f"{pluralize(len(outcome.failed), 'file')} could not be written: {names}")
    elif not outcome.written and not plan.problems:
        emit("Every file is as it should be; nothing was written.")


def _place_flags(options: argparse.Namespace) -> str:
    """Return the flags that make a command about the same files as this one."""
    folder = "" if options.project == os.curdir else f" -C {shlex.quote(options.project)}"
    return f"{' --user' if options.user else ''}{folder}"


def _try_all(plan: SetupPlan, options: argparse.Namespace) -> list[SelfTestResult]:
    """Start the daemon, and try what agents would do."""
    try:
        ensure(StateFolder.of_user())
    except CairnError as error:
        note(f"error[{error.code}]: {error}\n  try: {error.hint}")
    results, trial = [], SelfTest(plan.place)
    for found in plan.agents:
        new = trial.try_agent(found.adapter)
        if not options.json:
            emit_results(found.adapter.title, new)
        results += new
    return results


def run_uninstall(options: argparse.Namespace) -> int:
    """Take what was written for agents out of their files again, byte for byte."""
    root, _ = _root(options)
    plan = plan_uninstall(root, "user" if options.user else "project", options.agents)
    if options.dry_run:
        return _show_diff(plan, as_json=options.json)
    outcome = plan.carry_out()
    problems = [*plan.problems, *outcome.failed]
    if options.json:
        emit_json({"root": str(root), "files": [change_row(change, outcome) for change in plan.changes]})
    else:
        emit_changes(plan)
        _say_what_is_left(plan, outcome)
    note_problems(problems)
    if not plan.changes:
        note("Nothing of Cairn's is in the files of agents here.")
        return EXIT_NONE
    return EXIT_USAGE if problems else EXIT_FOUND


def _say_what_is_left(plan: SetupPlan, outcome: Outcome) -> None:
    """Say of which files everything is gone: not of those that keep something of the user's, or that failed."""
    if not outcome.written:
        return
    if any(not change.notes for change in outcome.written):
        is_all = not outcome.failed and not any(change.notes for change in plan.changes)
        emit(f"Nothing of Cairn's is left in {'these' if is_all else 'the other'} files.")
    emit("The index and the memories stay in .cairn.")
