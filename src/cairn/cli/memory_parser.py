"""The commands about memories, as the command line takes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from cairn import fields
from cairn.cli.flags import add_field
from cairn.cli.parser import add_words

Command = Callable[[argparse.Namespace], int]
_Commands = argparse._SubParsersAction  # of any class of parsers


class _CommandPlace(NamedTuple):
    """Where commands are added, and what all of them have; see `add_memory_commands`."""

    commands: _Commands[Any]
    common: argparse.ArgumentParser
    of_action: argparse.ArgumentParser
    command: Callable[[str], Command]


def add_memory_commands(
    commands: _Commands[Any],
    common: argparse.ArgumentParser,
    action_common: argparse.ArgumentParser,
    command: Callable[[str], Command],
) -> None:
    """Add the commands.

    Args:
        commands: of the program.
        common: the options of every command.
        action_common: the same for actions below a command that has options of its own: without defaults.
        command: returns the command at a place, `module:function`, imported when it runs.
    """
    to = _CommandPlace(commands, common, action_common, command)
    _add_remember(to)
    _add_recall(to)
    _add_memories(to)
    _add_resolve(to)
    _add_forget(to)
    _add_fresh(to)
    _add_savings(to)
    _add_feedback(to)
    _add_sessions(to)


def _add_remember(to: _CommandPlace) -> None:
    remember = to.commands.add_parser("remember", parents=[to.common], help="keep something for later sessions")
    add_words(remember, "text", rule=fields.MEMORY_TEXT, metavar="TEXT")
    add_field(remember, "--type", rule=fields.MEMORY_TYPE, default="discovery")
    add_field(remember, "--file", rule=fields.MEMORY_FILES, dest="files", action="append", default=[], metavar="F")
    add_field(remember, "--importance", rule=fields.IMPORTANCE, default=5, metavar="N")
    add_field(remember, "--tag", rule=fields.TAGS, dest="tags", action="append", default=[], metavar="T")
    add_field(remember, "--shared", rule=fields.SHARED, action="store_true")
    add_field(remember, "--session", rule=fields.MEMORY_SESSION, default="", metavar="S")
    remember.set_defaults(run=to.command("cairn.cli.memories:run_remember"))


def _add_recall(to: _CommandPlace) -> None:
    recall = to.commands.add_parser(
        "recall", parents=[to.common], help="find what earlier sessions learned about something"
    )
    add_words(recall, "query", rule=fields.RECALL_QUERY, metavar="QUERY")
    add_field(recall, "-n", "--limit", rule=fields.RECALL_LIMIT, default=5)
    add_field(recall, "--type", rule=fields.MEMORY_TYPES, dest="types", action="append", default=[])
    add_field(recall, "--include-resolved", rule=fields.INCLUDE_RESOLVED, action="store_true")
    add_field(recall, "--all-branches", rule=fields.ALL_BRANCHES, action="store_true")
    add_field(recall, "--max-tokens", rule=fields.TOKENS, metavar="N")
    recall.set_defaults(run=to.command("cairn.cli.memories:run_recall"))


def _add_resolve(to: _CommandPlace) -> None:
    resolve = to.commands.add_parser("resolve", parents=[to.common], help="say that memories are settled")
    add_field(resolve, "ids", rule=fields.RESOLVED_IDS, nargs="*", metavar="ID")
    add_field(resolve, "--session", rule=fields.RESOLVED_SESSION, default="", metavar="S")
    add_field(resolve, "--reason", rule=fields.REASON, default="", metavar="R")
    resolve.set_defaults(run=to.command("cairn.cli.memories:run_resolve"))


def _add_forget(to: _CommandPlace) -> None:
    forget = to.commands.add_parser("forget", parents=[to.common], help="erase memories for ever")
    add_field(forget, "ids", rule=fields.MEMORY_IDS, nargs="+", metavar="ID")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.set_defaults(run=to.command("cairn.cli.memories:run_forget"))


def _add_fresh(to: _CommandPlace) -> None:
    fresh = to.commands.add_parser(
        "fresh", parents=[to.common], help="start a session that is shown nothing of earlier ones"
    )
    add_field(fresh, "--session", rule=fields.FRESH_SESSION, default="", metavar="S")
    fresh.add_argument("--undo", action="store_true", help="show it what earlier ones learned after all")
    fresh.set_defaults(run=to.command("cairn.cli.fresh:run_fresh"))


def _add_savings(to: _CommandPlace) -> None:
    savings = to.commands.add_parser(
        "savings", parents=[to.common], help="show what answers to tool calls saved, in tokens"
    )
    add_field(savings, "--days", rule=fields.SAVINGS_DAYS, default=30, metavar="N")
    add_field(savings, "--by", rule=fields.SAVINGS_GROUP, default="day")
    savings.set_defaults(run=to.command("cairn.cli.savings:run_savings"))


def _add_feedback(to: _CommandPlace) -> None:
    feedback = to.commands.add_parser(
        "feedback", parents=[to.common], help="list what searches showed and what was used; say what was good"
    )
    add_field(feedback, "--session", rule=fields.OF_SESSION, default="", metavar="S")
    add_field(feedback, "--since", rule=fields.ASKED_SINCE, default="", metavar="DATE")
    add_field(feedback, "--empty", rule=fields.EMPTY_ONLY, action="store_true")
    add_field(feedback, "-n", "--limit", rule=fields.QUESTION_LIMIT, default=20)
    feedback.set_defaults(run=to.command("cairn.cli.feedback:run_feedback"))
    verdicts = feedback.add_subparsers(title="actions", metavar="[ACTION]", parser_class=type(feedback))
    for verdict, what in (("good", "what helped"), ("bad", "what did not help")):
        mark = verdicts.add_parser(verdict, parents=[to.of_action], help=f"say {what}")
        add_field(mark, "ids", rule=fields.FEEDBACK_IDS, nargs="+", metavar="ID")
        add_field(mark, "--session", rule=fields.FEEDBACK_SESSION, dest="shown_in", default="", metavar="S")
        mark.set_defaults(run=to.command("cairn.cli.feedback:run_mark"), verdict=verdict)


def _add_sessions(to: _CommandPlace) -> None:
    sessions = to.commands.add_parser(
        "sessions",
        parents=[to.common],
        help="list the sessions of agents, and what failed in them; show, mute and forget them",
    )
    add_field(sessions, "--agent", rule=fields.OF_AGENT, default="", metavar="NAME")
    add_field(sessions, "--branch", rule=fields.OF_BRANCH, default="", metavar="B")
    add_field(sessions, "--file", rule=fields.SESSION_FILE, default="", metavar="F")
    add_field(sessions, "--text", rule=fields.SESSION_TEXT, default="", metavar="WORDS")
    add_field(sessions, "--since", rule=fields.HEARD_SINCE, default="", metavar="DATE")
    add_field(sessions, "-n", "--limit", rule=fields.SESSION_LIMIT, default=20)
    add_field(sessions, "--offset", rule=fields.OFFSET, default=0, metavar="N")
    add_field(sessions, "--max-tokens", rule=fields.TOKENS, metavar="N")
    sessions.set_defaults(run=to.command("cairn.cli.sessions:run_sessions"))
    actions = sessions.add_subparsers(title="actions", metavar="[ACTION]", parser_class=type(sessions))
    show = actions.add_parser("show", parents=[to.of_action], help="print what was asked, done and learned")
    add_field(show, "ids", rule=fields.SESSION_IDS, nargs="+", metavar="ID")
    show.set_defaults(run=to.command("cairn.cli.sessions:run_show"))
    failures = actions.add_parser("failures", parents=[to.of_action], help="list the tool calls that failed")
    add_field(failures, "--agent", rule=fields.OF_AGENT, default="", metavar="NAME")
    add_field(failures, "--since", rule=fields.FAILED_SINCE, default="", metavar="DATE")
    add_field(failures, "-n", "--limit", rule=fields.FAILED_LIMIT, default=20)
    failures.set_defaults(run=to.command("cairn.cli.sessions:run_failures"))
    mute = actions.add_parser("mute", parents=[to.of_action], help="keep nothing of them from now on")
    add_field(mute, "ids", rule=fields.SESSION_IDS, nargs="+", metavar="ID")
    mute.add_argument("--undo", action="store_true", help="keep what happens in them again")
    mute.add_argument("--yes", action="store_true", help="do not ask before what was kept is deleted")
    mute.set_defaults(run=to.command("cairn.cli.sessions:run_mute"))
    forget_session = actions.add_parser("forget", parents=[to.of_action], help="delete what was done in them")
    add_field(forget_session, "ids", rule=fields.SESSION_IDS, nargs="+", metavar="ID")
    forget_session.add_argument("--yes", action="store_true", help="do not ask")
    forget_session.set_defaults(run=to.command("cairn.cli.sessions:run_forget"))


def add_memory_filter(command: argparse.ArgumentParser, *, below: bool = False) -> None:
    """Add the options that choose memories.

    Args:
        command: the parser that takes them.
        below: the command above it has them as well: without defaults, so that what was given there stays.
    """

    def add(flag: str, rule: fields.Rule, dest: str = "", **options: Any) -> None:  # noqa: ANN401 - of `add_argument`
        default = argparse.SUPPRESS if below else [] if dest else ""
        add_field(
            command, flag, rule=rule, default=default, **({"dest": dest, "action": "append"} if dest else options)
        )

    add("--type", fields.MEMORY_TYPES, "types")
    add("--status", fields.MEMORY_STATUSES, "statuses")
    add("--origin", fields.MEMORY_ORIGINS, "origins")
    add("--file", fields.OF_FILE, metavar="F")
    add("--session", fields.OF_SESSION, metavar="S")
    add("--tag", fields.OF_TAG, metavar="T")
    add("--branch", fields.OF_BRANCH, metavar="B")
    add("--text", fields.OF_TEXT, metavar="TEXT")
    add("--since", fields.SINCE, metavar="DATE")
    add("--until", fields.UNTIL, metavar="DATE")


def _add_memories(to: _CommandPlace) -> None:
    memories = to.commands.add_parser("memories", parents=[to.common], help="list memories; show and change them")
    add_memory_filter(memories)
    add_field(memories, "-n", "--limit", rule=fields.MEMORY_LIMIT, default=20)
    add_field(memories, "--offset", rule=fields.OFFSET, default=0, metavar="N")
    add_field(memories, "--max-tokens", rule=fields.TOKENS, metavar="N")
    memories.set_defaults(run=to.command("cairn.cli.memories:run_memories"))
    actions = memories.add_subparsers(title="actions", metavar="[ACTION]", parser_class=type(memories))
    _add_show(actions, to)
    _add_edit(actions, to)
    _add_changes_of_status(actions, to)
    _add_change(actions, to)
    _add_upkeep(actions, to)
    _add_sharing(actions, to)
    _add_lists_of_doubt(actions, to)


def _add_show(actions: _Commands[Any], to: _CommandPlace) -> None:
    show = actions.add_parser("show", parents=[to.of_action], help="print memories with their history")
    add_field(show, "ids", rule=fields.MEMORY_IDS, nargs="+", metavar="ID")
    show.set_defaults(run=to.command("cairn.cli.memories:run_show"))


def _add_edit(actions: _Commands[Any], to: _CommandPlace) -> None:
    edit = actions.add_parser("edit", parents=[to.of_action], help="change what a memory says or is tied to")
    add_field(edit, "id", rule=fields.MEMORY_ID, metavar="ID")
    add_field(edit, "--text", rule=fields.NEW_TEXT, dest="new_text", metavar="TEXT")
    add_field(edit, "--type", rule=fields.MEMORY_TYPE, dest="new_type")
    add_field(edit, "--importance", rule=fields.IMPORTANCE, metavar="N")
    shared = edit.add_mutually_exclusive_group()
    shared.add_argument("--shared", action="store_true", default=None, help=fields.SHARED.text)
    shared.add_argument("--not-shared", dest="shared", action="store_false", help="keep it on this machine from now on")
    for flag, rule in (
        ("--tag", fields.ADDED_TAGS),
        ("--remove-tag", fields.REMOVED_TAGS),
        ("--file", fields.ADDED_FILES),
        ("--remove-file", fields.REMOVED_FILES),
    ):
        name = f"edit_{flag.removeprefix('--').replace('-', '_')}s"
        add_field(edit, flag, rule=rule, dest=name, action="append", default=[], metavar=flag[-4].upper())
    edit.set_defaults(run=to.command("cairn.cli.memories:run_edit"))


def _add_changes_of_status(actions: _Commands[Any], to: _CommandPlace) -> None:
    for name, text in (
        ("archive", "put memories out of sight"),
        ("reopen", "make memories active again"),
        ("keep", "say that they are right: tie them to their code as it is now"),
        ("undo", "undo the last change"),
    ):
        action = actions.add_parser(name, parents=[to.of_action], help=text)
        add_field(action, "ids", rule=fields.MEMORY_IDS, nargs="+", metavar="ID")
        if name in ("archive", "reopen"):
            add_field(action, "--reason", rule=fields.REASON, default="", metavar="R")
        action.set_defaults(run=to.command(f"cairn.cli.memories:run_{name}"))

    supersede = actions.add_parser("supersede", parents=[to.of_action], help="say which memory replaces one")
    add_field(supersede, "id", rule=fields.MEMORY_ID, metavar="ID")
    add_field(supersede, "successor", rule=fields.SUCCESSOR, metavar="BY")
    add_field(supersede, "--reason", rule=fields.REASON, default="", metavar="R")
    supersede.set_defaults(run=to.command("cairn.cli.memories:run_supersede"))


def _add_change(actions: _Commands[Any], to: _CommandPlace) -> None:
    change = actions.add_parser("change", parents=[to.of_action], help="do the same with all that a filter finds")
    add_field(change, "action", rule=fields.BULK_ACTION)
    add_memory_filter(change, below=True)
    change.add_argument("--dry-run", action="store_true", help=fields.BULK_DRY_RUN.text)
    change.add_argument("--yes", action="store_true", help="do not ask before memories are erased")
    change.set_defaults(run=to.command("cairn.cli.memory_upkeep:run_change"))


def _add_upkeep(actions: _Commands[Any], to: _CommandPlace) -> None:
    code = actions.add_parser("code", parents=[to.of_action], help="print the code a memory is about, then and now")
    add_field(code, "id", rule=fields.MEMORY_ID, metavar="ID")
    code.set_defaults(run=to.command("cairn.cli.memory_upkeep:run_code"))
    embed = actions.add_parser("embed", parents=[to.of_action], help="embed all memories again")
    embed.add_argument("--dry-run", action="store_true", help=fields.EMBED_DRY_RUN.text)
    embed.set_defaults(run=to.command("cairn.cli.memory_upkeep:run_embed"))


def _add_sharing(actions: _Commands[Any], to: _CommandPlace) -> None:
    join = actions.add_parser("join", parents=[to.of_action], help="share memories with a team through its server")
    join.add_argument(
        "name", nargs="?", default="", metavar="ORGANISATION/NAME", help="by default found by the git remote"
    )
    join.set_defaults(run=to.command("cairn.cli.memory_team:run_join"))
    for name, text in (
        ("leave", "share with the team no longer; drop what it brought"),
        ("sync", "exchange memories with the team now"),
        ("team", "show with which team memories are shared, and what waits"),
    ):
        action = actions.add_parser(name, parents=[to.of_action], help=text)
        action.set_defaults(run=to.command(f"cairn.cli.memory_team:run_{name}"))


def _add_lists_of_doubt(actions: _Commands[Any], to: _CommandPlace) -> None:
    doubtful = actions.add_parser("doubtful", parents=[to.of_action], help="list what may be false or useless by now")
    add_field(doubtful, "-n", "--limit", rule=fields.MEMORY_LIMIT, default=20, metavar="N")
    add_field(doubtful, "--offset", rule=fields.OFFSET, default=0, metavar="N")
    doubtful.set_defaults(run=to.command("cairn.cli.memories:run_doubtful"))

    prune = actions.add_parser("prune", parents=[to.of_action], help="archive what nobody has recalled for long")
    prune.add_argument("--dry-run", action="store_true", help="list what would be archived; write nothing")
    prune.set_defaults(run=to.command("cairn.cli.memories:run_prune"))
